//! How a client comes to a test: setup, and activation where the test is to be (RFC 9946 sections 5 to 7).

use super::auth::{self, Keys};
use super::control::{Activation, Setup, Terms};
use super::rates::SendingRate;
use super::wire::VERSION;

/// The longest key: what `udpst` takes.
const LONGEST_KEY: usize = 64;

/// A key that both ends share.
#[derive(Clone, Eq, PartialEq)]
pub struct SharedKey {
    /// Its number among the server's keys.
    pub id: u8,
    /// The key.
    pub key: Vec<u8>,
}

impl std::str::FromStr for SharedKey {
    type Err = &'static str;

    /// `KEY`, whose number is 0, or `NUMBER:KEY`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbered = text.split_once(':');
        let numbered = numbered.and_then(|(id, key)| Some((id.parse().ok()?, key)));
        let (id, key) = numbered.unwrap_or((0, text));
        if key.is_empty() || key.len() > LONGEST_KEY {
            return Err("a key has 1 to 64 octets");
        }
        Ok(Self {
            id,
            key: key.as_bytes().to_vec(),
        })
    }
}

impl std::fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedKey({}, ..)", self.id)
    }
}

/// What came of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer<T> {
    /// It is granted.
    Granted(T),
    /// It is not, with this response of the server's.
    Refused(u8),
    /// It is signed with another key, or at another time: who knows the key did not send it.
    Forged(auth::Invalid),
}

/// A client's way to a test.
#[derive(Clone, Debug)]
pub struct Client {
    keys: Option<(u8, Keys)>,
    setup_pdu: Vec<u8>,
    setup: Setup,
}

impl Client {
    /// Asks for a test with these modifiers ([`JUMBO`](super::JUMBO) and so on), one connection, at `now_s` (s since 1970).
    pub fn new(
        terms: &Terms,
        modifiers: u8,
        shared: Option<&SharedKey>,
        now_s: u32,
        group: u16,
    ) -> Self {
        let setup = Setup {
            version: VERSION,
            connection: (0, 1),
            group,
            response: None,
            bandwidth_mbps: 0,
            direction: terms.direction,
            test_port: 0,
            modifiers,
        };
        let mut setup_pdu = setup.emit();
        // Keys follow from the time that the request has.
        let keys = shared.map(|shared| (shared.id, Keys::derive(&shared.key, now_s)));
        if let Some((id, keys)) = &keys {
            auth::sign(&mut setup_pdu, &keys.client, *id, now_s);
        }
        Self {
            keys,
            setup_pdu,
            setup,
        }
    }

    /// The setup request, to be sent until it is answered.
    pub fn setup(&self) -> &[u8] {
        &self.setup_pdu
    }

    /// Reads what came from the server's control port: the port of the test. None where it is no answer to the request.
    pub fn handle_setup(&self, pdu: &[u8], now_s: u64) -> Option<Answer<u16>> {
        let told = Setup::parse(pdu)?;
        let response = told.response?;
        if (told.connection, told.group) != (self.setup.connection, self.setup.group) {
            return None;
        }
        // A server that does not know our key cannot sign that it does not.
        if response != ACCEPTED {
            return Some(Answer::Refused(response));
        }
        Some(match self.check(pdu, now_s) {
            Err(invalid) => Answer::Forged(invalid),
            Ok(()) => Answer::Granted(told.test_port),
        })
    }

    /// The activation request, to be sent to the test's port until it is answered.
    pub fn activation(&self, terms: &Terms, now_s: u32) -> Vec<u8> {
        let activation = Activation {
            response: None,
            terms: *terms,
            rate: SendingRate::default(),
        };
        let mut pdu = activation.emit();
        if let Some((id, keys)) = &self.keys {
            auth::sign(&mut pdu, &keys.client, *id, now_s);
        }
        pdu
    }

    /// Reads what came from the test's port: what the server makes of the terms. None where it is no answer to the request.
    pub fn handle_activation(&self, pdu: &[u8], now_s: u64) -> Option<Answer<Activation>> {
        let told = Activation::parse(pdu, true)?;
        Some(match (self.check(pdu, now_s), told.response) {
            (Err(invalid), _) => Answer::Forged(invalid),
            (Ok(()), Some(ACCEPTED)) => Answer::Granted(told),
            (Ok(()), response) => Answer::Refused(response.unwrap_or(0)),
        })
    }

    fn check(&self, pdu: &[u8], now_s: u64) -> Result<(), auth::Invalid> {
        let keys = self.keys.as_ref();
        keys.map_or(Ok(()), |(_, keys)| auth::check(pdu, &keys.server, now_s))
    }
}

/// The response to a request that is granted, of setup and of activation.
pub(super) const ACCEPTED: u8 = 1;

/// Responses to a setup request that is not granted.
pub mod refusal {
    /// Another version of the protocol is wanted.
    pub const VERSION: u8 = 2;
    /// The jumbo flag differs from the server's.
    pub const JUMBO: u8 = 3;
    /// The server knows no keys.
    pub const NO_KEYS: u8 = 4;
    /// A key is wanted.
    pub const KEY_WANTED: u8 = 5;
    /// The mode of authentication is not offered.
    pub const MODE: u8 = 6;
    /// The signature is wrong.
    pub const SIGNATURE: u8 = 7;
    /// The signature is of another time.
    pub const TIME: u8 = 8;
    /// The bandwidth is to be said.
    pub const BANDWIDTH_WANTED: u8 = 9;
    /// The server has no bandwidth left.
    pub const CAPACITY: u8 = 10;
    /// The traditional MTU flag differs from the server's.
    pub const MTU: u8 = 11;
    /// The numbers of connections are wrong.
    pub const CONNECTIONS: u8 = 12;
    /// The server has no place left.
    pub const PLACE: u8 = 13;

    /// What one says, in a sentence's end: `the server ...`.
    pub const fn reason(response: u8) -> &'static str {
        match response {
            VERSION => "speaks another version of the protocol",
            JUMBO => "wants another setting for jumbo frames",
            NO_KEYS => "knows no keys: leave the key out",
            KEY_WANTED => "wants a key: give --udpst-key",
            MODE => "does not offer this mode of authentication",
            SIGNATURE => "does not know this key, or knows it by another number",
            TIME => "has a clock more than 5 s from this host's: set both by NTP",
            BANDWIDTH_WANTED => "wants to be told the bandwidth, which this program does not do",
            CAPACITY => "has no capacity left: try again later",
            MTU => "wants another setting for the MTU",
            CONNECTIONS => "does not take so many connections",
            PLACE => "has no place left: try again later",
            _ => "refused, for a reason that the protocol does not know",
        }
    }
}
