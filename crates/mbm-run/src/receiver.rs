//! What a receiving end counts and when it reports: a machine without clock and socket.

use super::report::Totals;
use super::results::ReceiverResult;
use kit::datagrams::Quality;
use mbm::loss::{Arrival, Ledger, LossReport};
use mbm::stream::Stream;
use std::time::Duration;
use units::Instant;

/// Reports of packets a second, about, where the stream's clock does not need more.
const REPORTS_PER_S: f64 = 2_000.0;
/// What is under way when the sender is done has come after this and two target round trips.
const DRAIN: Duration = Duration::from_millis(100);

/// Which packets of `stream` are to be reported: all that its clock or its judge needs.
pub(super) fn report_every(stream: &dyn Stream, packets_per_s: f64, is_self_clocked: bool) -> u64 {
    if is_self_clocked || stream.shape().burst_packets > 1 {
        return 1;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive ratio"
    )]
    let every = (packets_per_s / REPORTS_PER_S) as u64;
    every.max(1)
}

/// How long after the sender's end packets are waited for, for a target of round trip `rtt`.
pub(super) fn drain(rtt: Duration) -> Duration {
    DRAIN + rtt * 2
}

/// See the module. Whoever carries the packets sends a report with the [totals](Receiver::totals) when one is to be sent, in the
/// name of the last packet.
pub(crate) struct Receiver {
    /// One of so many packets is reported.
    report_every: u64,
    ledger: Ledger,
    arrived: u64,
    /// Number of the latest packet.
    last: u64,
    clock_stepped: bool,
    reported: Totals,
}

impl Receiver {
    /// Of a stream for a target of round trip `rtt`.
    pub(crate) fn new(report_every: u64, rtt: Duration) -> Self {
        Self {
            report_every,
            ledger: Ledger::new(rtt),
            arrived: 0,
            last: 0,
            clock_stepped: false,
            reported: Totals::default(),
        }
    }

    /// Packet `seq` arrived at `now`, marked if `ce`. Whether it is to be reported at once.
    pub(crate) fn handle_packet(&mut self, seq: u64, ce: bool, now: Instant) -> bool {
        let arrival = self.ledger.handle_arrival(seq, ce, now);
        if arrival == Arrival::New {
            self.arrived += 1;
            self.last = self.last.max(seq);
        }
        seq.is_multiple_of(self.report_every) && arrival != Arrival::Implausible
    }

    /// Gives up what is overdue at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.ledger.handle_timeout(now);
    }

    /// When to call [`Receiver::handle_timeout`].
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.ledger.next_timeout()
    }

    /// A clock was set at this end.
    pub(crate) const fn note_clock_step(&mut self) {
        self.clock_stepped = true;
    }

    /// Number of the latest packet.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Whether there is something that no report has said yet.
    pub(crate) fn has_news(&self) -> bool {
        self.totals() != self.reported
    }

    /// What a report says that leaves now.
    pub(crate) fn report(&mut self) -> Totals {
        self.reported = self.totals();
        self.reported
    }

    const fn totals(&self) -> Totals {
        Totals {
            arrived: self.arrived,
            settled: *self.ledger.counts(),
            clock_stepped: self.clock_stepped,
        }
    }

    /// The counters when all that will come has come; `sent` packets were sent, if that is known.
    pub(crate) fn end(mut self, sent: Option<u64>, quality: &Quality) -> ReceiverResult {
        if let Some(sent) = sent {
            self.ledger.close(sent);
        }
        ReceiverResult {
            loss: LossReport::of(&self.ledger),
            quality: Quality {
                refused: quality.refused + self.ledger.implausible(),
                ..quality.clone()
            },
        }
    }
}
