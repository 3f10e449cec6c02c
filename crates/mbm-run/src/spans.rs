//! How much longer bursts take to arrive than to leave.
//!
//! A burst that arrives as fast as it left met no bottleneck slower than itself, so it was no test of one
//! (RFC 8337 section 8.3.1 asks for twice the time).

use std::collections::VecDeque;
use units::Instant;

/// Bursts that are remembered at a time.
const MOST: usize = 64;

/// First and last departure and arrival of one burst.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    burst: u64,
    sent: Option<(Instant, Instant)>,
    arrived: Option<(Instant, Instant)>,
}

impl Span {
    /// Time to arrive over time to leave.
    fn ratio(&self) -> Option<f64> {
        let lasted = |ends: Option<(Instant, Instant)>| {
            ends.map(|(first, last)| last.since(first).as_secs_f64())
        };
        let (sent, arrived) = (lasted(self.sent)?, lasted(self.arrived)?);
        (sent > 0.0).then(|| arrived / sent)
    }
}

/// The bursts of a stream, `packets` each.
#[derive(Clone, Debug)]
pub(crate) struct Spans {
    packets: u64,
    open: VecDeque<Span>,
    /// Sum and number of the ratios of those that are over.
    sum: f64,
    count: u32,
}

impl Spans {
    pub(crate) fn new(packets: u32) -> Self {
        Self {
            packets: u64::from(packets.max(1)),
            open: VecDeque::new(),
            sum: 0.0,
            count: 0,
        }
    }

    /// Packet `seq` left at `at`.
    pub(crate) fn sent(&mut self, seq: u64, at: Instant) {
        if let Some(span) = self.span(seq) {
            widen(&mut span.sent, at);
        }
    }

    /// Packet `seq` arrived at `at`, on any clock that is always the same.
    pub(crate) fn arrived(&mut self, seq: u64, at: Instant) {
        if let Some(span) = self.span(seq) {
            widen(&mut span.arrived, at);
        }
    }

    /// Mean ratio of the bursts that are over; `None` before the first.
    pub(crate) fn stretch(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    /// The burst of packet `seq`, unless it is too old.
    fn span(&mut self, seq: u64) -> Option<&mut Span> {
        if self.packets < 2 {
            return None;
        }
        let burst = seq / self.packets;
        if self.open.back().is_none_or(|last| last.burst < burst) {
            self.open.push_back(Span {
                burst,
                ..Span::default()
            });
            if self.open.len() > MOST
                && let Some(ratio) = self.open.pop_front().and_then(|span| span.ratio())
            {
                self.sum += ratio;
                self.count += 1;
            }
        }
        self.open.iter_mut().rev().find(|span| span.burst == burst)
    }

    /// No burst is under way any more that is older than this one: for streams with long rests.
    pub(crate) fn settle(&mut self, seq: u64) {
        let burst = seq / self.packets;
        while self.open.front().is_some_and(|span| span.burst < burst) {
            if let Some(ratio) = self.open.pop_front().and_then(|span| span.ratio()) {
                self.sum += ratio;
                self.count += 1;
            }
        }
    }
}

fn widen(ends: &mut Option<(Instant, Instant)>, at: Instant) {
    *ends = Some(ends.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    #[test]
    fn a_burst_that_arrives_at_half_the_rate_takes_twice_the_time() {
        let mut spans = Spans::new(4);
        for seq in 0..12 {
            spans.sent(seq, us(seq * 10));
            spans.arrived(seq, us(5_000 + seq * 20));
        }
        assert_eq!(spans.stretch(), None);
        spans.settle(11);
        assert!((spans.stretch().unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn single_packets_have_no_length_and_old_bursts_are_let_go() {
        let mut single = Spans::new(1);
        single.sent(0, us(0));
        single.settle(5);
        assert_eq!(single.stretch(), None);
        let mut many = Spans::new(2);
        (0..10_000).for_each(|seq| {
            many.sent(seq, us(seq));
            many.arrived(seq, us(seq * 3));
        });
        many.arrived(1, us(1));
        assert!(many.open.len() <= MOST + 1);
        assert!((many.stretch().unwrap() - 3.0).abs() < 1e-9);
    }
}
