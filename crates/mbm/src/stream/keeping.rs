//! Was the stream sent as planned? Counters of the sender (RFC 8337 section 5.4, thesis 3.5).
//!
//! A verdict about a path is worth nothing when the sender itself was late, or smeared its bursts. So each burst is compared with its plan
//! where it leaves: when it began, and how long it took. What the path makes of it is no concern of these counters.

use super::{Burst, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Instant;

/// Share of bursts that may be late or smeared before the pattern is not the planned one.
const TOLERATED: f64 = 0.05;
/// Share of bursts that TCP's own window may hold back before they are no bursts. Where one packet is lost in a run length of
/// 3 W^2, Reno's window is below W for about W/2 of the 3 W bursts between two losses: a sixth. Twice that is tolerated.
const HELD_BACK: f64 = 1.0 / 3.0;
/// Bursts before which nothing is said.
const LEAST_BURSTS: u64 = 20;

/// The counters of one stream's departures.
#[derive(Clone, Debug)]
pub struct Keeping {
    shape: Shape,
    /// How late a burst may begin.
    lateness: Duration,
    /// How long a burst may take.
    span: Duration,
    bursts: u64,
    late: u64,
    smeared: u64,
    worst: Duration,
}

/// How a stream was kept, in the form of a record.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PatternReport {
    /// Packets in a burst, as planned.
    pub burst_packets: u32,
    /// From the start of a burst to the start of the next, as planned; null for a self-clocked stream.
    pub headway_ns: Option<u64>,
    /// Bursts (or sets of them) that left.
    pub bursts: u64,
    /// Of these, those that began late.
    pub late: u64,
    /// Those that took too long.
    pub smeared: u64,
    /// How late a burst may begin.
    pub lateness_allowed_ns: u64,
    /// How late one began, at worst.
    pub lateness_max_ns: u64,
    /// Whether the stream was the planned one: at most 5 % late and 5 % smeared.
    pub kept: bool,
}

impl PatternReport {
    /// Whether bursts began on time: all that a sender answers for whose transport may hold its packets back.
    pub fn is_punctual(&self) -> bool {
        self.bursts < LEAST_BURSTS || self.late as f64 <= TOLERATED * self.bursts as f64
    }

    /// Whether most bursts since `earlier` left whole: of those that a transport's window held back they are no more than it does on a
    /// path that is just good enough, twice over.
    pub fn is_whole_since(&self, earlier: Option<&Self>) -> bool {
        let (bursts, smeared) = self.held_since(earlier);
        smeared as f64 <= HELD_BACK * bursts as f64
    }

    /// Bursts since `earlier`, and those of them that took too long.
    pub fn held_since(&self, earlier: Option<&Self>) -> (u64, u64) {
        let before = earlier.map_or((0, 0), |earlier| (earlier.bursts, earlier.smeared));
        (
            self.bursts.saturating_sub(before.0),
            self.smeared.saturating_sub(before.1),
        )
    }
}

impl Keeping {
    /// Counters for a stream of `shape` for a target with round trip `rtt`, whose bursts, or sets of them, take `span` when sent as they should.
    ///
    /// A burst may begin late by a tenth of the headway, or by a fiftieth of the round trip if that is more: what is late by that much
    /// adds a fiftieth of a window to a burst. It may take that much longer than `span`.
    pub fn new(shape: Shape, rtt: Duration, span: Duration) -> Self {
        let lateness = (shape.headway.unwrap_or_default() / 10).max(rtt / 50);
        Self {
            shape,
            lateness,
            span: span.saturating_add(lateness),
            bursts: 0,
            late: 0,
            smeared: 0,
            worst: Duration::ZERO,
        }
    }

    /// The packets of `burst` left from `first` to `last`.
    pub fn left(&mut self, burst: &Burst, first: Instant, last: Instant) {
        self.bursts += 1;
        let lateness = first.since(burst.due);
        self.worst = self.worst.max(lateness);
        self.late += u64::from(lateness > self.lateness);
        self.smeared += u64::from(last.since(first) > self.span);
    }

    /// The figures.
    pub fn report(&self) -> PatternReport {
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let most = TOLERATED * self.bursts as f64;
        let is_kept = self.late as f64 <= most && self.smeared as f64 <= most;
        PatternReport {
            burst_packets: self.shape.burst_packets,
            headway_ns: self.shape.headway.map(ns),
            bursts: self.bursts,
            late: self.late,
            smeared: self.smeared,
            lateness_allowed_ns: ns(self.lateness),
            lateness_max_ns: ns(self.worst),
            kept: is_kept || self.bursts < LEAST_BURSTS,
        }
    }
}
