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
            self.left = more * OPPORTUNITY_BYTES - beyond;
        }
        self.now_at()
    }
}
