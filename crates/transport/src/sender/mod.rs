//! The sender: which segment leaves when.
//!
//! One state machine, a file for each concern, in the order in which an acknowledgement meets them: [`verify`] (can it be
//! true), [`ack`] (what it covers), [`measure`] (how long it took), [`rack`]
//! and [`detect`] (what is lost), [`alert`] (what state follows: disorder, recovery,
//! loss), [`undo`] (was the last cut needless), [`cut`] (how far the window falls, and PRR); then [`transmit`] and [`rescue`] (what
//! may leave now), [`timer`] and [`tail`] (what happens when nothing comes back).
//!
//! RFCs to read before editing: 5681, 6298, 6582, 6675, 6937, 8985, 3168. Where they leave freedom, this does what the
//! Linux kernel does, because agreement with it is what is asked of `btc`. Known differences: segments, not octets, are
//! counted; nothing is paced or coalesced; and since every copy has a name, RACK is never in doubt which copy arrived.

mod ack;
mod alert;
mod cut;
mod detect;
mod measure;
mod progress;
mod rack;
mod repair;
mod report;
mod rescue;
mod supply;
mod tail;
mod timer;
mod transmit;
mod undo;
mod verify;

use crate::controller::{Controller, NO_THRESHOLD, Window};
use crate::ident::Idents;
use crate::rarely::Rarely;
use crate::rtt::RoundTrips;
use crate::scoreboard::Scoreboard;
use crate::{Ack, Options, PacketId, Recovery, Segment, SegmentFlags, Seq};
use rack::Rack;
use repair::Repair;
pub use report::{Cause, Event, Sent, Snapshot, Violation};
use report::{Events, Regular};
use std::sync::Arc;
use std::time::Duration;
use supply::Supply;
use tail::Tail;
use timer::Timer;
use units::Instant;

/// What the sender believes of the network (the kernel's names).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum State {
    /// Nothing is wrong.
    Open,
    /// Something is missing; it may only be late.
    Disorder,
    /// The window is being cut for a mark or a tail loss.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// A timeout is being repaired.
    Loss,
}

/// The sending end of a transfer.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a small state of its own"
)]
pub struct Sender {
    options: Arc<Options>,
    idents: Idents,
    board: Scoreboard,
    supply: Supply,
    is_closed: bool,
    window: Window,
    controller: Controller,
    round_trips: RoundTrips,
    rack: Rack,
    state: State,
    /// `recover` (RFC 6582), `RecoveryPoint` (RFC 6675): what was sent before the cut ends here.
    high: u64,
    repair: Rarely<Repair>,
    tail: Tail,
    timer: Timer,
    /// Timeouts in a row.
    retries: u32,
    /// Forward RTO-recovery is under way (RFC 5682).
    frto: bool,
    /// The next packet is a new segment, if there is one (RFC 5682 section 3.1 step 2b).
    prefers_new: bool,
    /// Nothing is sent again before the next acknowledgement.
    holds: bool,
    /// One segment is sent again whatever the window says (RFC 5681 section 3.2 step 3).
    forced: bool,
    /// End of the receiver's window.
    edge: u64,
    /// The next new segment says that congestion was answered.
    owes_cwr: bool,
    usage: transmit::Usage,
    sent: Regular,
    events: Events,
}

impl Sender {
    /// A sender by `options` with nothing to send; its packet identifiers come from `seed`, which for a receiver that may lie
    /// must be a secret.
    pub fn new(options: &Options, seed: u64) -> Self {
        Self::by(Arc::new(options.clone()), seed)
    }

    /// The same by options that many senders have.
    pub fn by(options: Arc<Options>, seed: u64) -> Self {
        Self {
            idents: Idents::new(seed),
            board: Scoreboard::default(),
            supply: Supply::default(),
            is_closed: false,
            window: Window::new(&options),
            controller: Controller::by(&options),
            round_trips: RoundTrips::new(&options),
            rack: Rack::default(),
            state: State::Open,
            high: 0,
            repair: Rarely::new(),
            tail: Tail::default(),
            timer: Timer::default(),
            retries: 0,
            frto: false,
            prefers_new: false,
            holds: false,
            forced: false,
            edge: u64::from(options.receive_window),
            owes_cwr: false,
            usage: transmit::Usage::default(),
            sent: Regular::default(),
            events: Events::default(),
            options,
        }
    }

    /// The same sender, which keeps no events for [`Sender::poll_event`].
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.events.turn_off();
        self
    }

    /// The same sender, for a receiver that cannot lie, such as a simulated one: packet identifiers are counters and prove
    /// nothing, which costs less.
    #[must_use]
    pub fn trusting(mut self) -> Self {
        self.idents.make_plain();
        self
    }

    /// The handshake before the transfer took `rtt`: the first sample of the round trip (RFC 6298 section 2.2). None where nobody can tell,
    /// because it was sent more than once: then the first timeout is 3 s (section 5.7). To be told before anything is sent.
    pub fn handle_handshake(&mut self, rtt: Option<Duration>, now: Instant) {
        let Some(rtt) = rtt else {
            return self.round_trips.be_cautious(&self.options);
        };
        self.round_trips.sample_min(rtt, now);
        self.round_trips.sample(&self.options, rtt, 0, 0);
    }

    /// Gives the sender `segments` full segments more to send (any number: `u32::MAX` at a time).
    pub fn supply(&mut self, segments: u32) {
        self.supply.add(segments, self.options.mss);
    }

    /// Gives the sender one segment of `len` octets (at most the full size) to send after what it has.
    pub fn supply_one(&mut self, len: u16) {
        self.supply.add(1, len.min(self.options.mss));
    }

    /// Whether something that was supplied has not been sent yet.
    pub fn has_supply(&self) -> bool {
        !self.supply.is_empty()
    }

    /// Whether nothing is out or waits to be sent: only an application can change that.
    pub fn is_idle(&self) -> bool {
        self.supply.is_empty() && self.board.out() == 0
    }

    /// Takes back what has not been sent yet, and marks the end: the transfer is done when all that was sent is acknowledged.
    pub fn close(&mut self) {
        self.supply.clear();
        self.is_closed = true;
    }

    /// An acknowledgement arrived.
    pub fn handle_ack(&mut self, ack: &Ack, now: Instant) {
        match self.verify(ack) {
            Ok(claim) => {
                self.sent.acks += 1;
                self.take_ack(ack, claim, now);
            }
            Err(violation) => {
                self.repair.sent.violations += 1;
                self.events.push(Event::Violation(violation));
            }
        }
    }

    /// What happened, oldest first; at most the last few thousand are kept.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// When to call [`Sender::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        self.timer.deadline()
    }

    /// Whether all that was supplied has been acknowledged and [`Sender::close`] was called.
    pub fn is_done(&self) -> bool {
        self.is_closed && self.supply.is_empty() && self.board.out() == 0
    }

    /// The segment of which `id` is a copy, if `id` is one of the packets that may still come back. This is what one-way
    /// emulation needs: an identifier that came back is fed to a receiver at this side.
    pub fn find(&self, id: PacketId) -> Option<Segment> {
        let copy = self.board.copy(self.idents.counter(id)?)?;
        let entry = self.board.get(copy.number)?;
        Some(Segment {
            seq: self.seq(copy.number),
            id,
            len: entry.len,
            flags: SegmentFlags {
                last: self.is_last(copy.number),
                ..SegmentFlags::default()
            },
            sent: copy.sent,
        })
    }

    /// What has been done so far.
    pub fn sent(&self) -> Sent {
        self.sent.with(self.repair.sent)
    }

    /// Octets of payload acknowledged in order.
    pub const fn acked_bytes(&self) -> u64 {
        self.sent.acked_bytes
    }

    /// Segments acknowledged in order.
    pub const fn acked(&self) -> u64 {
        self.sent.acked
    }

    /// The least round trip of the last minutes.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.round_trips.min()
    }

    /// The smoothed round trip, after the first sample (RFC 6298).
    pub fn srtt(&self) -> Option<Duration> {
        self.round_trips.srtt()
    }

    /// The retransmission timeout, backed off as it is.
    pub const fn rto(&self) -> Duration {
        self.round_trips.rto()
    }

    /// How things stand.
    pub fn snapshot(&self) -> Snapshot {
        let window = &self.window;
        Snapshot {
            cwnd: f64::from(window.cwnd),
            ssthresh: match window.ssthresh {
                NO_THRESHOLD => f64::INFINITY,
                segments => f64::from(segments),
            },
            flight: self.board.in_flight(),
            una: self.seq(self.board.una()),
            next: self.seq(self.board.next()),
            window: u32::try_from(self.edge.saturating_sub(self.board.una())).unwrap_or(u32::MAX),
            srtt: self.round_trips.srtt(),
            rttvar: self.round_trips.rttvar(),
            rto: self.round_trips.rto(),
            min_rtt: self.round_trips.min(),
            in_recovery: self.state == State::Recovery,
            in_loss: self.state == State::Loss,
        }
    }

    /// The number on the wire of segment `number`.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "numbers on the wire are modulo 2^32"
    )]
    fn seq(&self, number: u64) -> Seq {
        Seq(self.options.first_seq).plus(number as u32)
    }

    /// Whether nothing is to follow segment `number` as far as is known.
    fn is_last(&self, number: u64) -> bool {
        self.supply.is_empty() && number + 1 == self.board.next()
    }

    fn has_sack(&self) -> bool {
        self.options.recovery == Recovery::Sack
    }

    /// RACK needs SACK (RFC 8985 section 5).
    fn has_rack(&self) -> bool {
        self.options.rack && self.has_sack()
    }
}
