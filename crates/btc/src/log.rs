//! What a transfer leaves behind at one end, row by row: every datagram passes here once when it leaves and once when it
//! arrives, and so does every change of the window.

use super::tables::{EventRow, RoundTrip, WindowRow};
use schema::tables::Cpu;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use transport::wire::Datagram;
use transport::{Ack, Cause, Event, PacketId, Segment, Sender, Snapshot};
use units::{Ecn, Instant};

/// Datagrams of a transfer that are kept at each end.
pub const MOST_PASSED: u64 = 200_000;
/// Rows of the window are at least so far apart, cuts excepted.
const WINDOW_EVERY: Duration = Duration::from_millis(1);
/// How long rows wait here.
const HAND_OVER: Duration = Duration::from_millis(200);

/// A row of an end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Row {
    /// How busy this end's host was since its previous row.
    Cpu(Cpu),
    /// A cut of the window, its undoing, the end of a recovery, or a violation.
    Event(EventRow),
    /// A datagram that left or arrived.
    Passed(Passed),
    /// A round trip that the sender took.
    RoundTrip(RoundTrip),
    /// The sender's window at one moment.
    Window(WindowRow),
}

/// A datagram that left or arrived: as short as its JSON can be, because a far end has many to tell.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Passed {
    /// When, after the run's start.
    #[serde(rename = "t")]
    pub t_ns: u64,
    /// Which transfer.
    #[serde(rename = "n")]
    pub transfer: u16,
    /// Whether this is the sending end of the transfer.
    #[serde(rename = "s")]
    pub at_sender: bool,
    /// ECN field of its IP header, 0 to 3.
    #[serde(rename = "e")]
    pub ecn: u8,
    /// What kind of datagram it was, and its fields.
    #[serde(flatten)]
    pub what: What,
}

/// What it was, as much of it as the table has room for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// An acknowledgement.
    #[serde(rename = "a")]
    Ack {
        /// Identifier of the packet that caused it.
        #[serde(rename = "i")]
        id: u64,
        /// Number of the segment that the receiver expects next.
        #[serde(rename = "a")]
        ack: u32,
        /// Segments that the receiver has room for beyond `ack`.
        #[serde(rename = "w")]
        window: u32,
        /// SACK blocks `[first, end)` of segment numbers; unused ones are `[0, 0]`.
        #[serde(rename = "b")]
        blocks: [[u32; 2]; 4],
    },
    /// An ICMP error, which acknowledges one packet.
    #[serde(rename = "i")]
    Answer {
        /// Identifier of the packet that it acknowledges.
        #[serde(rename = "i")]
        id: u64,
    },
    /// A copy of a segment, or a probe of the window.
    #[serde(rename = "d")]
    Data {
        /// Identifier of this copy.
        #[serde(rename = "i")]
        id: u64,
        /// Number of its segment, the same in every copy.
        #[serde(rename = "q")]
        seq: u32,
        /// Octets of payload.
        #[serde(rename = "l")]
        len: u16,
        /// Whether it is a probe of the window.
        #[serde(rename = "p")]
        probe: bool,
    },
}

/// Takes rows from any thread.
pub trait Sink: Send + Sync {
    /// Takes all of `rows`, which is empty then.
    fn take(&self, rows: &mut Vec<Row>);
}

/// The log of one transfer at one end.
pub struct Log<'a> {
    sink: &'a dyn Sink,
    origin: Instant,
    transfer: u16,
    at_sender: bool,
    rows: Vec<Row>,
    handed_over: Instant,
    window_at: Instant,
    last_window: Option<Snapshot>,
    passed: u64,
    most_passed: u64,
}

impl<'a> Log<'a> {
    /// A log for `transfer` of a run that began at `origin`, with room for `most_passed` datagrams.
    pub fn new(
        sink: &'a dyn Sink,
        origin: Instant,
        transfer: u16,
        at_sender: bool,
        most_passed: u64,
    ) -> Self {
        Self {
            sink,
            origin,
            transfer,
            at_sender,
            rows: Vec::new(),
            handed_over: Instant::ZERO,
            window_at: Instant::ZERO,
            last_window: None,
            passed: 0,
            most_passed: most_passed.min(MOST_PASSED),
        }
    }

    /// Time since the run's start, in nanoseconds.
    pub fn since_origin(&self, at: Instant) -> u64 {
        u64::try_from(at.since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Datagrams beyond those that are kept.
    pub const fn left_out(&self) -> u64 {
        self.passed.saturating_sub(self.most_passed)
    }

    /// `datagram` left or arrived at `at` with `ecn` in its IP header: every datagram of a transfer comes here.
    pub fn passed(&mut self, datagram: &Datagram, ecn: Ecn, at: Instant) {
        let what = match datagram {
            Datagram::Ack(ack) => What::of_ack(ack),
            Datagram::Segment(segment) => What::of_segment(segment),
        };
        self.note(what, ecn, at);
    }

    /// An ICMP error said at `at` that packet `id` had come to its end.
    pub fn answered(&mut self, PacketId(id): PacketId, at: Instant) {
        self.note(What::Answer { id }, Ecn::NotEct, at);
    }

    fn note(&mut self, what: What, ecn: Ecn, at: Instant) {
        self.passed += 1;
        if self.passed > self.most_passed {
            return;
        }
        self.rows.push(Row::Passed(Passed {
            t_ns: self.since_origin(at),
            transfer: self.transfer,
            at_sender: self.at_sender,
            ecn: ecn as u8,
            what,
        }));
    }

    /// Takes the sender's events, and its window if that has changed.
    pub fn look(&mut self, sender: &mut Sender, now: Instant) {
        let mut is_cut = false;
        while let Some(event) = sender.poll_event() {
            is_cut |= matches!(event, Event::Cut { .. } | Event::Undone);
            self.rows.extend(self.event(event, now));
        }
        if is_cut || now.since(self.window_at) >= WINDOW_EVERY {
            let window = sender.snapshot();
            if self.last_window != Some(window) {
                self.window_at = now;
                self.last_window = Some(window);
                self.rows.push(Row::Window(self.window(&window, now)));
            }
        }
        if now.since(self.handed_over) >= HAND_OVER {
            self.hand_over(now);
        }
    }

    /// Gives the rows to whoever keeps them.
    pub fn hand_over(&mut self, now: Instant) {
        self.handed_over = now;
        if !self.rows.is_empty() {
            self.sink.take(&mut self.rows);
            self.rows.clear();
        }
    }

    /// The rows wait no longer than they may.
    pub fn tick(&mut self, now: Instant) {
        if now.since(self.handed_over) >= HAND_OVER {
            self.hand_over(now);
        }
    }

    /// A row of the kernel's window.
    pub fn kernel_window(&mut self, row: WindowRow, now: Instant) {
        self.rows.push(Row::Window(row));
        self.tick(now);
    }

    fn event(&self, event: Event, now: Instant) -> Option<Row> {
        let (t_ns, transfer) = (self.since_origin(now), self.transfer);
        let row = |what: &'static str, segments: Option<(f64, f64)>| {
            Row::Event(EventRow {
                t_ns,
                transfer,
                what: what.into(),
                from_segments: segments.map(|(from, _)| from),
                to_segments: segments.map(|(_, to)| to),
            })
        };
        Some(match event {
            Event::RoundTrip(rtt) => Row::RoundTrip(RoundTrip {
                t_ns,
                transfer,
                rtt_ns: u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX),
            }),
            Event::Cut { cause, from, to } => {
                let what = match cause {
                    Cause::Loss => "cut-loss",
                    Cause::Mark => "cut-mark",
                    Cause::Timeout => "cut-timeout",
                };
                row(what, Some((from, to)))
            }
            Event::Undone => row("undone", None),
            Event::Recovered => row("recovered", None),
            Event::Violation(_) => row("violation", None),
            // Which one is in the counters of the receiver: it is the one that never arrived there.
            Event::Lost(_) => return None,
        })
    }

    fn window(&self, window: &Snapshot, now: Instant) -> WindowRow {
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        WindowRow {
            t_ns: self.since_origin(now),
            transfer: self.transfer,
            cwnd: window.cwnd,
            ssthresh: Some(window.ssthresh).filter(|ssthresh| ssthresh.is_finite()),
            flight: window.flight,
            window: window.window,
            srtt_ns: window.srtt.map(nanos),
            rto_ns: nanos(window.rto),
            state: state(window).into(),
        }
    }
}

fn state(window: &Snapshot) -> &'static str {
    if window.in_loss {
        "loss"
    } else if window.in_recovery {
        "recovery"
    } else if window.cwnd < window.ssthresh {
        "slow-start"
    } else {
        "avoidance"
    }
}

impl What {
    fn of_ack(ack: &Ack) -> Self {
        let mut blocks = [[0; 2]; 4];
        for (slot, (first, end)) in blocks.iter_mut().zip(ack.sack.iter()) {
            *slot = [first.0, end.0];
        }
        let PacketId(id) = ack.id;
        Self::Ack {
            id,
            ack: ack.ack.0,
            window: ack.window,
            blocks,
        }
    }

    const fn of_segment(segment: &Segment) -> Self {
        Self::Data {
            id: segment.id.0,
            seq: segment.seq.0,
            len: segment.len,
            probe: segment.flags.probe,
        }
    }
}
