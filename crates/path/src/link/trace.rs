//! A link as it was recorded.
//!
//! A trace in the format of mahimahi (Netravali et al., USENIX ATC 2015) has one line for each
//! *delivery opportunity*: the time, in ms from the start, at which the recorded link could have
//! delivered [`OPPORTUNITY_BYTES`]. A time may stand on several lines. The last line is also the
//! trace's length, after which it repeats.
//!
//! An opportunity is used by the packets that wait at its instant, several small ones together, a
//! large one over several opportunities, leaving with the last; what nobody uses is lost. The first
//! packet that arrives starts the trace.

use super::Service;
use crate::Error;
use std::str::FromStr;
use std::time::Duration;
use units::{Instant, Rate};

/// Octets that one delivery opportunity carries: an IP packet of 1,500 and 4 octets of framing by
/// the tunnel device with which mahimahi's traces were recorded.
pub const OPPORTUNITY_BYTES: u32 = 1_504;

const NS_PER_MS: u64 = 1_000_000;

/// A recorded sequence of delivery opportunities; never empty, and longer than no time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trace {
    /// Times in ms from the start, rising or equal.
    times: Vec<u64>,
}

impl Trace {
    /// The time after which the trace repeats.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period_ms())
    }

    /// The rate that the trace carries on average; `None` when it does not fit.
    pub fn mean_rate(&self) -> Option<Rate> {
        let bytes = self.times.len() as u64 * u64::from(OPPORTUNITY_BYTES);
        Rate::from_transfer(bytes, self.period())
    }

    fn period_ms(&self) -> u64 {
        self.times.last().copied().unwrap_or(1)
    }

    /// Time from the start, in ns, of opportunity `index` of the endless repetition.
    fn time_ns(&self, index: u64) -> u64 {
        let count = self.times.len() as u64;
        let (round, place) = (index / count, index % count);
        let ms = usize::try_from(place).map_or(0, |place| self.times[place]);
        round
            .saturating_mul(self.period_ms())
            .saturating_add(ms)
            .saturating_mul(NS_PER_MS)
    }

    /// The first opportunity at `ns` from the start or later.
    fn first_from(&self, ns: u64) -> u64 {
        let ms = ns.div_ceil(NS_PER_MS);
        // The last opportunities of a round are at the same instant as the start of the next.
        let round = ms.saturating_sub(1) / self.period_ms();
        let within = ms - round * self.period_ms();
        let place = self.times.partition_point(|&time| time < within) as u64;
        round
            .saturating_mul(self.times.len() as u64)
            .saturating_add(place)
    }
}

impl FromStr for Trace {
    type Err = Error;

    /// Reads one time a line; empty lines are skipped.
    ///
    /// # Errors
    ///
    /// [`Error::TraceLine`] names the first line that is no whole number, or falls behind the line
    /// before; [`Error::TraceEmpty`] when no time above zero is left.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut times = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_text = line.trim();
            if line_text.is_empty() {
                continue;
            }
            let time = line_text.parse().ok();
            let rising = time.filter(|time| times.last().is_none_or(|last| last <= time));
            times.push(rising.ok_or_else(|| Error::TraceLine {
                line: index + 1,
                text: line_text.chars().take(40).collect(),
            })?);
        }
        if times.last().is_none_or(|&last| last == 0) {
            return Err(Error::TraceEmpty);
        }
        Ok(Self { times })
    }
}

/// Sends when a trace has an opportunity.
#[derive(Clone, Debug)]
pub struct TraceRate {
    trace: Trace,
    /// When the trace began: the first packet's arrival.
    epoch: Option<Instant>,
    /// The opportunity in use or to be used next.
    index: u64,
    /// What it still carries.
    left: u32,
}

impl TraceRate {
    /// A link that follows `trace`.
    pub const fn new(trace: Trace) -> Self {
        Self {
            trace,
            epoch: None,
            index: 0,
            left: OPPORTUNITY_BYTES,
        }
    }

    fn now_at(&self) -> Instant {
        let epoch = self.epoch.unwrap_or(Instant::ZERO);
        epoch + Duration::from_nanos(self.trace.time_ns(self.index))
    }

    fn move_to(&mut self, index: u64) {
        self.index = index;
        self.left = OPPORTUNITY_BYTES;
    }
}

impl Service for TraceRate {
    fn start(&mut self, ready: Instant) -> Instant {
        let epoch = *self.epoch.get_or_insert(ready);
        if self.left == 0 {
            self.move_to(self.index.saturating_add(1));
        }
        if self.now_at() < ready {
            let elapsed = ready.since(epoch).as_nanos();
            let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
            self.move_to(self.trace.first_from(elapsed));
        }
        self.now_at()
    }

    fn finish(&mut self, size: u32, _: Instant) -> Instant {
        let beyond = size.saturating_sub(self.left);
        if beyond == 0 {
            self.left -= size;
        } else {
            let more = beyond.div_ceil(OPPORTUNITY_BYTES);
            self.move_to(self.index.saturating_add(u64::from(more)));
            let used = beyond % OPPORTUNITY_BYTES;
            self.left = (OPPORTUNITY_BYTES - used) % OPPORTUNITY_BYTES;
        }
        self.now_at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Fifo, Limit, Link, Packet};
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use units::{Ecn, FlowId};

    fn trace(times: &[u64]) -> Trace {
        let lines: Vec<String> = times.iter().map(u64::to_string).collect();
        lines.join("\n").parse().unwrap()
    }

    /// Departures in microseconds of packets given as (arrival in microseconds, size).
    fn departures(times: &[u64], packets: &[(u64, u32)]) -> Vec<u64> {
        let mut link = Link::new(
            TraceRate::new(trace(times)),
            Box::new(Fifo::new(Limit::default())),
        );
        let mut out = VecDeque::new();
        let mut wake = None;
        for &(us, size) in packets {
            let packet = Packet {
                size,
                flow: FlowId(0),
                family: crate::Family::V4,
                dscp: units::Dscp::CS0,
                ecn: Ecn::NotEct,
                at: Instant::from_nanos(us * 1_000),
                body: (),
            };
            wake = link.process(Some(packet), Instant::from_nanos(us * 1_000), &mut out);
        }
        while let Some(at) = wake {
            wake = link.process(None, at, &mut out);
        }
        out.iter()
            .map(|packet| packet.at.as_nanos() / 1_000)
            .collect()
    }

    /// The same by walking over every opportunity, in the words of the format.
    fn walk(times: &[u64], packets: &[(u64, u32)]) -> Vec<u64> {
        let mut waiting: VecDeque<(u64, u32)> = packets.iter().copied().collect();
        let epoch = packets[0].0;
        let period = times[times.len() - 1];
        let mut left = Vec::new();
        for round in 0.. {
            for time in times {
                let now = epoch + (round * period + time) * 1_000;
                let mut bytes = OPPORTUNITY_BYTES;
                while let Some((arrival, size)) = waiting.front_mut() {
                    let used = bytes.min(*size);
                    if *arrival > now || used == 0 {
                        break;
                    }
                    bytes -= used;
                    *size -= used;
                    if *size == 0 {
                        left.push(now);
                        waiting.pop_front();
                    }
                }
                if waiting.is_empty() {
                    return left;
                }
            }
        }
        left
    }

    #[test]
    fn each_opportunity_carries_one_full_packet() {
        let full = [(0, 1_504); 5];
        assert_eq!(
            departures(&[1, 3, 3, 10], &full),
            [1_000, 3_000, 3_000, 10_000, 11_000]
        );
    }

    #[test]
    fn small_packets_share_and_a_large_one_takes_several() {
        let small = [(0, 500); 4];
        assert_eq!(departures(&[2, 4, 8], &small), [2_000, 2_000, 2_000, 4_000]);
        assert_eq!(
            departures(&[2, 4, 8], &[(0, 3_100), (0, 1_000)]),
            [8_000, 8_000]
        );
    }

    #[test]
    fn what_nobody_uses_is_lost_over_any_time() {
        let packets = [(0, 1_500), (7_500, 100), (3_600_000_001, 1_500)];
        assert_eq!(
            departures(&[2, 4, 8], &packets),
            [2_000, 8_000, 3_600_002_000]
        );
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| text.parse::<Trace>().unwrap_err().to_string();
        assert_eq!(
            error("1\n2\n\nx3\n"),
            "trace line 4: 'x3' is not a time in ms - write one whole number a line, never falling"
        );
        assert!(error("5\n4").starts_with("trace line 2: '4'"));
        assert!(error("99999999999999999999999").starts_with("trace line 1"));
        assert!(error("0\n0\n").starts_with("trace: it is empty"));
        assert!(error("").starts_with("trace: it is empty"));
        assert!(error(&"9".repeat(100)).len() < 140);
    }

    #[test]
    fn the_mean_rate_counts_every_opportunity() {
        // 4 x 1,504 octets in 10 ms.
        assert_eq!(trace(&[1, 3, 3, 10]).mean_rate(), Rate::from_bps(4_812_800));
        assert_eq!(trace(&[1, 3, 3, 10]).period(), Duration::from_millis(10));
    }

    proptest! {
        #[test]
        fn departures_are_those_of_a_walk_over_every_opportunity(
            gaps in proptest::collection::vec(0_u64..30, 1..20),
            packets in proptest::collection::vec((0_u64..60_000, 1_u32..5_000), 1..60),
        ) {
            let sums = |start: &mut u64, gap: &u64| { *start += gap; Some(*start) };
            let mut times: Vec<u64> = gaps.iter().scan(0, sums).collect();
            times.push(times[times.len() - 1] + 1);
            let mut at = 0;
            let packets: Vec<(u64, u32)> = packets
                .iter()
                .map(|&(gap, size)| { at += gap; (at, size) })
                .collect();
            prop_assert_eq!(departures(&times, &packets), walk(&times, &packets));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9 x\\n-]{0,60}") {
            let _ = text.parse::<Trace>();
        }
    }
}
