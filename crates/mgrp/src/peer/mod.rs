//! One peer: what goes to it, what comes from it, and what is measured on the way.
//!
//! # Sending
//!
//! Applications' packets are [offered](Peer::offer) and wait in a [buffer](crate::buffer); tools' transactions are [begun](Peer::begin) and
//! wait in a queue, of which one at a time is under way. [`Peer::poll_transmit`] says what leaves. A probe leaves
//! when the plan says so, whatever else there is to send, and takes with it what waits as far as the [`Policy`] lets it;
//! a packet that finds no probe leaves a constant time after it came, and at once where none is to be expected ([`Hold`]). Nothing that was accepted is lost here: when a
//! train is over or called off, packets go on leaving as they would have without it.
//!
//! # Receiving
//!
//! [`Peer::handle`] takes a datagram if its tag is right and it has not come before, and says what was in it.
//!
//! # Calling order
//!
//! After every call, and at [`Peer::next_timeout`]: [`Peer::poll_transmit`] until it says nothing, with [`Transmit::seal`]
//! right before a datagram is sent and [`Peer::sent`] right after if it has a probe; then [`Peer::poll_finished`].
//!
//! # Bounds
//!
//! Octets that wait, transactions that wait or are not yet fetched, packets in the making, and numbers that are
//! remembered are bounded by [`Config`] or by constants. What is beyond is refused and [counted](Counters).

mod budget;
mod counters;
mod policy;
mod receiving;
mod sending;
#[cfg(test)]
mod tests;
mod train;
mod window;

pub use budget::Budget;
pub use counters::Counters;
pub use policy::{Hold, Policy};
pub use receiving::{Received, Unread};
pub use sending::{Dropped, Transmit};

use crate::buffer::{Buffer, Cargo};
use crate::envelope::Carrier;
use crate::packet::MOST_UNIT;
use crate::reassembly::{self, Reassembly};
use crate::transaction::{Outcome, Refusal, Request};
use budget::Bucket;
use core::net::IpAddr;
use std::collections::VecDeque;
use std::time::Duration;
use train::Train;
use units::Instant;
use window::Window;

/// After a train another is to be expected for this long: tools pause between their trains, pathload for a round trip or for nine
/// times a stream (T section 5.1), and to the applications a delay that comes and goes with each train is worse than one that stays.
const EXPECTED: Duration = Duration::from_secs(1);

/// What is agreed with a peer, and how much it may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What carries datagrams to it.
    pub carrier: Carrier,
    /// The session's number, which both ends write and expect.
    pub session: u64,
    /// The peer, by which pieces of its packets are found; it need not be where its datagrams come from.
    pub source: IpAddr,
    /// Octets of the longest IP packet that may leave; where the path takes less, [`Peer::set_path_mtu`] says so.
    pub mtu: u16,
    /// How long packets wait for probes.
    pub delay: Duration,
    /// When they do.
    pub hold: Hold,
    /// Octets of packets that may wait for probes, and again as many that leave at once and have not been fetched.
    pub waiting_octets: usize,
    /// What may ride.
    pub policy: Policy,
    /// Transactions that may wait, be under way, or be over and not fetched.
    pub transactions: usize,
    /// What probing may take from the path; none for all it asks.
    pub budget: Option<Budget>,
    /// How much of packets in the making may be kept.
    pub reassembly: reassembly::Limits,
}

impl Config {
    /// With a delay of 10 ms (T section 5.1) while somebody probes, an Ethernet's packets, a megabyte that waits, 16 transactions, and no budget.
    pub fn new(carrier: Carrier, session: u64, source: IpAddr) -> Self {
        Self {
            carrier,
            session,
            source,
            mtu: 1_500,
            delay: Duration::from_millis(10),
            hold: Hold::default(),
            waiting_octets: 1 << 20,
            policy: Policy::default(),
            transactions: 16,
            budget: None,
            reassembly: reassembly::Limits::default(),
        }
    }

    /// Octets of the longest application's packet: the MTU of the interface through which they come.
    pub fn longest_packet(&self) -> usize {
        let room = usize::from(self.mtu).saturating_sub(self.carrier.overhead());
        room.min(MOST_UNIT)
    }
}

/// A transaction that is over.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finished {
    /// Its number, as [`Peer::begin`] gave it.
    pub number: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// All that belongs to one peer; see the [module](self).
#[derive(Debug)]
pub struct Peer {
    config: Config,
    buffer: Buffer,
    /// What the path takes, which is no more than was agreed upon.
    path_mtu: u16,
    /// What is left of a packet that is longer than that.
    remainder: Option<Cargo>,
    /// Packets that leave at once, and their octets.
    prompt: VecDeque<Cargo>,
    prompt_octets: usize,
    /// The first one may be under way.
    trains: VecDeque<Train>,
    finished: VecDeque<Finished>,
    bucket: Option<Bucket>,
    /// The number of the next packet.
    sequence: u64,
    /// The number of the next transaction.
    number: u64,
    window: Window,
    reassembly: Reassembly,
    counters: Counters,
    /// What applications' packets that were offered and not dropped take on the wire by themselves.
    taken_octets: u64,
    /// Until when another train is to be expected.
    expects: Instant,
}

impl Peer {
    /// Nothing sent and nothing received yet. Numbers of packets begin at zero, so a session's number must not be used twice with
    /// the same keys.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            buffer: Buffer::new(config.delay, config.waiting_octets),
            path_mtu: config.mtu,
            remainder: None,
            prompt: VecDeque::new(),
            prompt_octets: 0,
            trains: VecDeque::new(),
            finished: VecDeque::new(),
            bucket: config.budget.map(Bucket::new),
            sequence: 0,
            number: 0,
            window: Window::new(),
            reassembly: Reassembly::new(config.reassembly),
            counters: Counters::default(),
            taken_octets: 0,
            expects: Instant::ZERO,
        }
    }

    /// A transaction, which took `handover` to be handed over. It begins as soon as those before it are over, and has the number that
    /// is returned. One that waits for packets lets those go first that do not.
    ///
    /// # Errors
    /// [`Refusal`], counted; nothing of it is sent.
    pub fn begin(
        &mut self,
        request: impl Into<Request>,
        handover: Duration,
        now: Instant,
    ) -> Result<u64, Refusal> {
        let request = request.into();
        self.admit(&request, now)
            .inspect_err(|reason| self.counters.refuse_transaction(*reason))?;
        let number = self.number;
        self.number += 1;
        self.counters.accepted += 1;
        let train = Train::new(number, request, handover, now);
        let patient = self.trains.iter().position(Train::waits);
        let place = patient.filter(|_| !train.waits());
        self.trains
            .insert(place.unwrap_or(self.trains.len()), train);
        self.expect(now);
        Ok(number)
    }

    /// Sends no more of a transaction; false when there is none of this number that is not over. What its probes cut leaves at once, and what waits
    /// goes on waiting.
    pub fn call_off(&mut self, number: u64) -> bool {
        let place = self
            .trains
            .iter()
            .position(|train| train.number() == number);
        let train = place.and_then(|place| self.trains.remove(place));
        let Some(train) = train else {
            return false;
        };
        self.finish(train);
        true
    }

    /// Sends no more of any: the peer is gone, or nobody is there to be told.
    pub fn call_off_all(&mut self) {
        while let Some(train) = self.trains.pop_front() {
            self.finish(train);
        }
    }

    /// The next transaction that is over.
    pub fn poll_finished(&mut self) -> Option<Finished> {
        self.finished.pop_front()
    }

    /// What has been counted.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// From now on this may ride. What waits goes on waiting.
    pub const fn set_policy(&mut self, policy: Policy) {
        self.config.policy = policy;
    }

    /// From now on the path takes packets of so many octets, which is never believed to be more than was agreed upon. Probes that are longer are
    /// refused, and applications' packets that do not fit leave as two or more.
    pub fn set_path_mtu(&mut self, octets: u16) {
        self.path_mtu = octets.min(self.config.mtu);
    }

    /// What the path takes, in octets.
    pub const fn path_mtu(&self) -> u16 {
        self.path_mtu
    }

    /// Whether a probe is to leave at a moment of a train's own, so that whoever drives this should be there in time.
    pub fn keeps_time(&self) -> bool {
        self.trains.iter().any(Train::keeps_time)
    }

    /// What it was made with, and the policy of now.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    fn admit(&mut self, request: &Request, now: Instant) -> Result<(), Refusal> {
        request.check(self.config.carrier.overhead(), self.path_mtu)?;
        let waiting = self.trains.len() + self.finished.len();
        if waiting >= self.config.transactions {
            return Err(Refusal::Queue(u32::try_from(waiting).unwrap_or(u32::MAX)));
        }
        let bucket = self.bucket.as_mut();
        bucket.map_or(Ok(()), |bucket| {
            let taken = bucket.take(request.octets(), now);
            taken.map_err(Refusal::Budget)
        })
    }

    /// Takes note that there are trains, if so: the next may follow.
    fn expect(&mut self, now: Instant) {
        if !self.trains.is_empty() {
            self.expects = now + EXPECTED;
        }
    }

    /// Whether packets wait for probes now.
    fn holds(&self, now: Instant) -> bool {
        let is_probed = !self.trains.is_empty() || now < self.expects;
        is_probed || self.config.hold == Hold::Always
    }

    /// Takes away the train under way once its last probe has left.
    fn settle(&mut self) {
        if self.trains.front().is_some_and(Train::is_over)
            && let Some(train) = self.trains.pop_front()
        {
            self.finish(train);
        }
    }

    fn finish(&mut self, train: Train) {
        let is_called_off = !train.is_over();
        if is_called_off {
            self.counters.called_off += 1;
        } else {
            self.counters.completed += 1;
        }
        self.finished.push_back(Finished {
            number: train.number(),
            outcome: train.finish(is_called_off, self.taken_octets),
        });
    }
}
