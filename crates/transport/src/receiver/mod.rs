//! The receiver: which acknowledgement goes back when.
//!
//! [`assembly`] knows what has arrived and what SACK says of it, [`delay`] when an acknowledgement is due, [`compression`] which duplicates go
//! without one, [`offer`] how the window grows, [`order`] who came late. The rest is here:
//! what of a segment can be true, which time is echoed (RFC 7323 section 4.3), marks (RFC 3168) and the window.
//!
//! Segments before the next one expected are duplicates, segments beyond the window are refused. Nothing is remembered of a
//! refused one, neither its name nor its time; an acknowledgement says where things stand.
//!
//! Where RFCs leave freedom this does what the Linux kernel does ([`delay`]). Known differences: the delay has a fixed length, where the kernel's follows the intervals of arrivals above 40 ms;
//! nothing is coalesced before it is counted (its GRO); the window that a sender keeps to is constant.

mod assembly;
mod compression;
mod delay;
mod offer;
mod order;

use crate::rarely::{Rarely, Rest};
use crate::segment::MAX_BLOCKS;
use crate::{Ack, Options, PacketId, Recovery, Segment, Seq};
use assembly::{Assembly, Placed};
use delay::Delay;
use offer::Offer;
use order::Order;
use std::sync::Arc;
use std::time::Duration;
use units::{Ecn, Instant, Span};

/// SACK blocks that TCP's options have room for beside time stamps (RFC 2018 section 3).
const BLOCKS_BESIDE_TIMESTAMPS: usize = 3;

/// The receiving end of a transfer.
#[derive(Debug)]
pub struct Receiver {
    options: Arc<Options>,
    assembly: Assembly,
    delay: Delay,
    /// The application has read everything before this number, and reads no more; `u64::MAX` while it does.
    held_at: u64,
    /// End of the window that was offered last.
    edge: u64,
    latest: PacketId,
    /// The number after the highest that has arrived, and the packet that brought that one.
    highest_end: u64,
    highest: PacketId,
    order: Order,
    /// `TS.Recent`, and when it arrived.
    echo: Instant,
    echo_arrived: Instant,
    /// `Last.ACK.sent`.
    acked: u64,
    /// Congestion is echoed until the sender has answered.
    echoes_mark: bool,
    packets: u64,
    acks: u64,
    trouble: Rarely<Trouble>,
}

/// What a receiver whose packets all come once and in order never needs.
#[derive(Debug)]
struct Trouble {
    /// The latest duplicate, to be reported once.
    duplicate: Option<u64>,
    receipts: Receipts,
}

impl Rest for Trouble {
    const REST: Self = Self {
        duplicate: None,
        receipts: Receipts {
            packets: 0,
            segments: 0,
            bytes: 0,
            duplicates: 0,
            reordered: 0,
            reordered_by_3: 0,
            most_overtaking: 0,
            marked: 0,
            refused: 0,
            acks: 0,
        },
    };
    const AT_REST: &'static Self = &Self::REST;
}

/// What has arrived.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Receipts {
    /// Packets, copies among them.
    pub packets: u64,
    /// Segments in order.
    pub segments: u64,
    /// Octets of payload in order.
    pub bytes: u64,
    /// Packets whose segment had arrived already.
    pub duplicates: u64,
    /// Packets that arrived after one that was sent later (RFC 4737 section 3.3, by packet counters).
    pub reordered: u64,
    /// Those of them that at least three of these had overtaken: of a TCP receiver's duplicate acknowledgements, enough for a fast
    /// retransmit (RFC 5681 section 3.2).
    pub reordered_by_3: u64,
    /// Most packets that overtook one, as far as 1,024 are remembered.
    pub most_overtaking: u32,
    /// Packets marked CE.
    pub marked: u64,
    /// Packets beyond the window, or otherwise impossible; dropped.
    pub refused: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

impl Receiver {
    /// A receiver for a transfer by `options`.
    pub fn new(options: &Options) -> Self {
        Self::by(Arc::new(options.clone()))
    }

    /// The same by options that many receivers have.
    pub fn by(options: Arc<Options>) -> Self {
        Self {
            assembly: Assembly::default(),
            delay: Delay::new(options.rto_initial.0, options.mss),
            held_at: u64::MAX,
            edge: u64::from(options.receive_window),
            latest: PacketId::default(),
            highest_end: 0,
            highest: PacketId::default(),
            order: Order::new(),
            echo: Instant::ZERO,
            echo_arrived: Instant::ZERO,
            acked: 0,
            echoes_mark: false,
            packets: 0,
            acks: 0,
            trouble: Rarely::new(),
            options,
        }
    }

    /// A segment arrived at `now`, with `ecn` in its IP header.
    pub fn handle_segment(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        self.packets += 1;
        if ecn == Ecn::Ce {
            self.trouble.receipts.marked += 1;
        }
        let Some(number) = self.acceptable(segment) else {
            self.trouble.receipts.refused += 1;
            // Whoever sent it is told where things stand (RFC 9293 section 3.10.7.4).
            if self.highest_end > 0 {
                self.delay.hurry();
            }
            return;
        };
        if let Some(overtaking) = self.order.overtaken_by((segment.id.0 >> 32) as u32) {
            let receipts = &mut self.trouble.receipts;
            receipts.reordered += 1;
            receipts.reordered_by_3 += u64::from(overtaking >= 3);
            receipts.most_overtaking = receipts.most_overtaking.max(overtaking);
        }
        self.note_marks(segment, ecn);
        self.latest = segment.id;
        if segment.flags.probe {
            self.delay.hurry();
            return;
        }
        self.note_time(number, segment.sent, now);
        if self.highest_end <= number {
            (self.highest_end, self.highest) = (number + 1, segment.id);
        }
        self.place(number, segment, now);
    }

    /// The number of `segment` if it can be one of this transfer: not before the first, not beyond the window (RFC 9293
    /// section 3.10.7.4), not longer than agreed.
    fn acceptable(&self, segment: &Segment) -> Option<u64> {
        let next = self.assembly.next();
        let distance = i64::from(segment.seq.minus(self.next()));
        let number = next.checked_add_signed(distance)?;
        if segment.flags.probe {
            return Some(next);
        }
        (number < self.edge && segment.len <= self.options.mss).then_some(number)
    }

    fn place(&mut self, number: u64, segment: &Segment, now: Instant) {
        match self.assembly.place(number, segment.len, segment.flags.last) {
            Placed::InOrder { closed_gap } => {
                let bytes = self.assembly.bytes();
                self.delay
                    .wait(self.options.delayed_ack, segment.len, bytes, now);
                let is_one_further = self.assembly.next() == number + 1;
                if closed_gap && self.assembly.has_gap() && is_one_further {
                    self.miss(false, now);
                } else if closed_gap || segment.flags.last {
                    self.delay.hurry();
                }
            }
            Placed::Beyond { is_far } => self.miss(is_far, now),
            Placed::Duplicate => {
                self.trouble.receipts.duplicates += 1;
                self.trouble.duplicate = Some(number);
                self.delay.be_quick(self.options.delayed_ack);
            }
        }
    }

    /// Something is missing still. `is_far`: what came may soon not fit into an acknowledgement.
    fn miss(&mut self, is_far: bool, now: Instant) {
        let mut rule = self.options.delayed_ack;
        if is_far || self.options.recovery != Recovery::Sack {
            // What waits can be told by SACK alone, and by that only as far as blocks go.
            rule.compression = Span::default();
        }
        self.delay.miss(rule, self.assembly.next(), now);
    }

    /// RFC 3168 section 6.1.3: a mark is echoed at once and until `cwr`.
    fn note_marks(&mut self, segment: &Segment, ecn: Ecn) {
        if segment.flags.cwr {
            self.echoes_mark = false;
        }
        if ecn == Ecn::Ce {
            self.delay.hurry();
            self.echoes_mark = true;
        }
    }

    /// RFC 7323 section 4.3 (2).
    fn note_time(&mut self, number: u64, sent: Instant, now: Instant) {
        if number <= self.acked && sent >= self.echo {
            (self.echo, self.echo_arrived) = (sent, now);
        }
    }

    /// Acknowledges at once what a Linux receiver does whose window is at most `bound` octets, or grows with what is read. The sender is
    /// not limited by it. Without this as many are acknowledged at once as the options say.
    pub fn offer(&mut self, bound: Option<u32>, now: Instant) {
        self.delay.set_offer(Offer::new(bound, now));
    }

    /// What this host's own sender knows of the way. When nothing comes for `rto`, its retransmission timeout, the peer begins with a small
    /// window, and wants to hear of every segment; duplicates may wait for a part of `rtt`, its smoothed round trip. Until this is called
    /// the timeout is that without a round trip, and no duplicate waits.
    pub fn set_round_trip(&mut self, rtt: Duration, rto: Duration) {
        self.delay.set_round_trip(rtt, rto);
    }

    /// What has arrived will be answered, with data or with the end of this direction: its acknowledgement waits for that, as long
    /// as one may wait.
    pub const fn take_turns(&mut self) {
        self.delay.take_turns();
    }

    /// What has arrived is acknowledged at once.
    pub const fn hurry(&mut self) {
        self.delay.hurry();
    }

    /// The instant of [`Receiver::next_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.delay.handle_timeout(now);
    }

    /// Stops the application's reading (the window closes as segments arrive), or goes on with it (which is announced).
    pub fn hold(&mut self, is_held: bool, now: Instant) {
        let _ = now;
        if is_held {
            self.held_at = self.held_at.min(self.assembly.next());
        } else if self.held_at < u64::MAX {
            self.held_at = u64::MAX;
            if self.highest_end > 0 {
                self.delay.hurry();
            }
        }
    }

    /// The next acknowledgement to send, if any.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Ack> {
        self.delay.take().then(|| self.acknowledge(now))
    }

    /// The acknowledgement that a segment of this end's own with `len` octets carries: of what has arrived since the last one, whether
    /// it is due already or not. Where data answer data within the delay of acknowledgements these no longer go at once, as
    /// in the kernel's interactive sessions.
    pub fn poll_with_data(&mut self, len: u16, now: Instant) -> Option<Ack> {
        if len > 0 {
            self.delay.answer(self.options.delayed_ack, now);
        }
        self.delay.take_early().then(|| self.acknowledge(now))
    }

    fn acknowledge(&mut self, now: Instant) -> Ack {
        let next = self.assembly.next();
        let read = self.held_at.min(next);
        self.edge = self.edge.max(read + u64::from(self.options.receive_window));
        self.acked = next;
        self.acks += 1;
        let trouble = self.trouble.written();
        let duplicate = trouble.and_then(|trouble| trouble.duplicate.take());
        let most = if self.options.timestamps {
            BLOCKS_BESIDE_TIMESTAMPS
        } else {
            MAX_BLOCKS
        };
        Ack {
            ack: self.seq(next),
            id: self.latest,
            highest: if self.highest_end > 0 {
                self.highest
            } else {
                self.latest
            },
            echo: self.echo,
            delay_ns: u32::try_from(now.since(self.echo_arrived).as_nanos()).unwrap_or(u32::MAX),
            window: u32::try_from(self.edge - next).unwrap_or(u32::MAX),
            ece: self.echoes_mark,
            sack: self
                .assembly
                .blocks(duplicate, most, |number| self.seq(number)),
        }
    }

    /// When to call [`Receiver::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        self.delay.deadline()
    }

    /// Octets of payload in order.
    pub const fn bytes(&self) -> u64 {
        self.assembly.bytes()
    }

    /// The number expected next.
    pub fn next(&self) -> Seq {
        self.seq(self.assembly.next())
    }

    /// Whether the last segment that the sender had been given, and all before it, have arrived.
    pub fn is_complete(&self) -> bool {
        self.assembly.is_complete()
    }

    /// What has arrived so far.
    pub fn receipts(&self) -> Receipts {
        Receipts {
            packets: self.packets,
            acks: self.acks,
            segments: self.assembly.next(),
            bytes: self.assembly.bytes(),
            ..self.trouble.receipts
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
}
