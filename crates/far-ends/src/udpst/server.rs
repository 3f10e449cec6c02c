//! How a server takes a test on: who may have one, and on which terms.

use super::auth::{self, Claim, Invalid, Keys};
use super::client::{ACCEPTED, SharedKey, refusal};
use super::control::{Activation, Algorithm, Setup, Terms, null};
use super::rates::SendingRate;
use super::wire::{Direction, VERSION};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// The response to an activation request that is not granted.
const BAD_PARAMETER: u8 = 2;
/// Most connections of a test that a client may speak of.
const MOST_CONNECTIONS: u8 = 24;
/// What terms may be; what is outside becomes the usual.
const TRIAL_MS: RangeInclusive<u16> = 5..=250;
const SUB_INTERVAL_MS: RangeInclusive<u16> = 100..=10_000;
const THRESHOLD_MS: RangeInclusive<u16> = 1..=10_000;
const LEAST_TEST_S: u16 = 5;
/// Signed requests that are remembered; more than clients with a key have reason to send in that time.
const MOST_TAKEN: usize = 4_096;

impl Terms {
    /// The usual ones (TR-471), for a test of `test_s` seconds.
    pub const fn usual(direction: Direction, test_s: u16) -> Self {
        Self {
            direction,
            thresholds_ms: (30, 90),
            trial_ms: 50,
            test_s,
            dscp_ecn: 0,
            row: None,
            one_way: false,
            fast_rows: 10,
            slow_threshold: 3,
            losses_allowed: 10,
            ignore_reordered: true,
            random_payload: true,
            algorithm: Algorithm::B,
            sub_interval_ms: 1_000,
        }
    }

    /// Whether a client can have a test on these where it asked for `asked`.
    pub fn are_sound(&self, asked: &Self) -> bool {
        self.direction == asked.direction
            && TRIAL_MS.contains(&self.trial_ms)
            && SUB_INTERVAL_MS.contains(&self.sub_interval_ms)
    }

    /// These, where they can be met by a server whose tests last `longest_s` at most; else the usual ones in their place.
    #[must_use]
    pub fn policed(mut self, longest_s: u16) -> Self {
        let usual = Self::usual(self.direction, longest_s);
        let (low, upper) = self.thresholds_ms;
        if !THRESHOLD_MS.contains(&low) || !THRESHOLD_MS.contains(&upper) || low > upper {
            self.thresholds_ms = usual.thresholds_ms;
        }
        if !TRIAL_MS.contains(&self.trial_ms) {
            self.trial_ms = usual.trial_ms;
        }
        if !SUB_INTERVAL_MS.contains(&self.sub_interval_ms) {
            self.sub_interval_ms = usual.sub_interval_ms;
        }
        if self.fast_rows == 0 {
            self.fast_rows = usual.fast_rows;
        }
        if self.slow_threshold == 0 {
            self.slow_threshold = usual.slow_threshold;
        }
        self.test_s = self.test_s.clamp(LEAST_TEST_S.min(longest_s), longest_s);
        self
    }
}

/// Whom a server serves.
#[derive(Clone, Debug)]
pub struct Server {
    keys: Vec<SharedKey>,
    longest_s: u16,
    /// Digests of signed requests of late, the oldest first: each is taken once.
    taken: VecDeque<(u64, [u8; auth::DIGEST])>,
}

/// What comes of a setup request.
#[derive(Debug)]
pub enum Taken {
    /// This is sent back.
    Refused(Vec<u8>),
    /// There is to be a test.
    Admitted(Box<Admitted>),
}

impl Server {
    /// For whoever has one of these keys; tests last `longest_s` at most.
    pub const fn new(keys: Vec<SharedKey>, longest_s: u16) -> Self {
        Self {
            keys,
            longest_s,
            taken: VecDeque::new(),
        }
    }

    /// Reads what came to the control port at `now_s`. None where it is no setup request. Without a place in it a client is
    /// refused, if it could have had one.
    pub fn handle(&mut self, pdu: &[u8], now_s: u64, has_room: bool) -> Option<Taken> {
        let setup = Setup::parse(pdu).filter(|setup| setup.response.is_none())?;
        let claim = auth::claim(pdu)?;
        let refused = |response, keys: Option<&Keys>| {
            let answer = Setup {
                version: VERSION,
                response: Some(response),
                ..setup
            };
            let mut pdu = answer.emit();
            if let Some(keys) = keys {
                sign(&mut pdu, keys, claim, now_s);
            }
            Some(Taken::Refused(pdu))
        };
        if setup.version != VERSION {
            return refused(refusal::VERSION, None);
        }
        let keys = match self.keys_of(pdu, claim, now_s) {
            Ok(keys) => keys,
            Err(response) => return refused(response, None),
        };
        let (index, count) = setup.connection;
        if !(1..=MOST_CONNECTIONS).contains(&count) || index >= count {
            return refused(refusal::CONNECTIONS, Some(&keys));
        }
        if !self.is_new(auth::digest(pdu)?, now_s) {
            return None;
        }
        if !has_room {
            return refused(refusal::PLACE, Some(&keys));
        }
        Some(Taken::Admitted(Box::new(Admitted {
            setup,
            claim,
            keys,
            longest_s: self.longest_s,
        })))
    }

    /// Whether a request with this digest is seen for the first time. One that is too old has another time.
    fn is_new(&mut self, digest: [u8; auth::DIGEST], now_s: u64) -> bool {
        let is_old = |taken: &(u64, _)| taken.0 + 2 * auth::WINDOW_S < now_s;
        while self.taken.front().is_some_and(is_old) || self.taken.len() > MOST_TAKEN {
            self.taken.pop_front();
        }
        let is_new = self.taken.iter().all(|(_, other)| *other != digest);
        if is_new {
            self.taken.push_back((now_s, digest));
        }
        is_new
    }

    /// The keys of a test that was asked for with this claim.
    fn keys_of(&self, pdu: &[u8], claim: Claim, now_s: u64) -> Result<Keys, u8> {
        match claim.mode {
            0 => return Err(refusal::KEY_WANTED),
            auth::MODE => {}
            _ => return Err(refusal::MODE),
        }
        let shared = self.keys.iter().find(|shared| shared.id == claim.key_id);
        let keys = Keys::derive(&shared.ok_or(refusal::SIGNATURE)?.key, claim.time_s);
        match auth::check(pdu, &keys.client, now_s) {
            Ok(()) => Ok(keys),
            Err(Invalid::Time) => Err(refusal::TIME),
            Err(_) => Err(refusal::SIGNATURE),
        }
    }
}

fn sign(pdu: &mut [u8], keys: &Keys, claim: Claim, now_s: u64) {
    let now_s = u32::try_from(now_s).unwrap_or(u32::MAX);
    auth::sign(pdu, &keys.server, claim.key_id, now_s);
}

/// A test that is to be activated.
#[derive(Clone, Debug)]
pub struct Admitted {
    setup: Setup,
    claim: Claim,
    keys: Keys,
    longest_s: u16,
}

impl Admitted {
    /// The setup response: the test is at `port`.
    pub fn response(&self, port: u16, now_s: u64) -> Vec<u8> {
        let setup = Setup {
            response: Some(ACCEPTED),
            test_port: port,
            ..self.setup
        };
        self.signed(setup.emit(), now_s)
    }

    /// The setup response where the test cannot be had after all.
    pub fn no_place(&self, now_s: u64) -> Vec<u8> {
        let setup = Setup {
            response: Some(refusal::PLACE),
            ..self.setup
        };
        self.signed(setup.emit(), now_s)
    }

    /// What is sent from the test's port at once.
    pub fn null(&self, now_s: u64) -> Vec<u8> {
        self.signed(null(), now_s)
    }

    fn signed(&self, mut pdu: Vec<u8>, now_s: u64) -> Vec<u8> {
        sign(&mut pdu, &self.keys, self.claim, now_s);
        pdu
    }

    /// Reads what came to the test's port: the response, and what is to be done, if it is granted. None where it is no activation request
    /// of the client's.
    pub fn handle(&self, pdu: &[u8], now_s: u64) -> Option<(Vec<u8>, Option<Terms>)> {
        let mut activation = Activation::parse(pdu, false)?;
        auth::check(pdu, &self.keys.client, now_s).ok()?;
        let terms = activation.terms.policed(self.longest_s);
        // A rate that is not searched for from nothing does not care what it does to others.
        let is_granted = terms.row.is_none();
        activation.terms = terms;
        activation.response = Some(if is_granted { ACCEPTED } else { BAD_PARAMETER });
        if terms.direction == Direction::Upstream && is_granted {
            activation.rate = SendingRate::row(0);
        }
        let response = self.signed(activation.emit(), now_s);
        Some((response, is_granted.then_some(terms)))
    }
}
