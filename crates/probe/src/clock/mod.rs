//! One-way delays from two clocks that agree in neither time nor speed.
//!
//! A one-way delay is stamped by two hosts. If the far clock is ahead of the near one by `offset + skew * t`, the delay up
//! reads too long by that much and the delay down too short. Over a run of a minute an ordinary crystal (50 ppm) drifts by
//! 3 ms: as much as many of the queues that are to be measured. [`ClockLine::fit`] finds the line; [`ClockLine::up`] and
//! [`ClockLine::down`] take it out.
//!
//! # Skew
//!
//! Queues only ever add delay, so what a clock does shows at the *lower envelope* of the delays. Moon, Skelly and Towsley
//! ("Estimation and removal of clock skew from network delay measurements", INFOCOM 1999) take, of all lines below every
//! point, the one with the least sum of distances. It lies on the lower convex hull, along the edge over the mean time,
//! and takes linear time. A loaded middle does not lift it: the edge spans from one idle shoulder to the other.
//!
//! Up and down see the skew with opposite signs, so skew is half the difference of the two slopes. Their *sum* is zero
//! unless an envelope itself rises or falls, as it does when the run ends under load or the route changes. So:
//!
//! 1. [`Basis::Envelopes`]: the sum is within [`CONSISTENT_PPM`], and the slopes agree.
//! 2. [`Basis::QuietProbes`]: else the least-squares line through (up - down) / 2 of the probes with the least round
//!    trips, which no clock touches (as the clock filter of RFC 5905 section 10 picks samples).
//! 3. [`Basis::OffsetOnly`]: for too few probes, too short a time, or a skew that no clock has, none is claimed.
//!
//! # Offset
//!
//! With the skew removed, the offset is half the difference of the least delay up and the least delay down. This takes
//! the least delays of both directions for *equal*. No pair of clocks can tell otherwise: on a path that is longer one
//! way, each direction is wrong by half of the difference, at most by half of the least round trip
//! ([`ClockLine::uncertainty_ns`]). Round trips, delay variation and every comparison of idle with loaded stay right.

/// Largest sum of the slopes of both envelopes, parts per million, that noise explains.
pub const CONSISTENT_PPM: f64 = 1.0;
/// Skew beyond which it is not a clock's: NTP gives up at 500 ppm (RFC 5905, MAXFREQ).
pub const MOST_SKEW_PPM: f64 = 500.0;
/// Probes from which a skew is fitted, at least.
pub const LEAST_PROBES: usize = 16;
/// Time over which a skew is fitted, at least: with noise of 20 us, 1 s gives it to no better than some 10 ppm.
pub const LEAST_SPAN_NS: u64 = 1_000_000_000;
/// Round trips up to this many times as far above the least as the eighth least is are quiet: more than noise, and less
/// than any queue that matters.
const QUIET_FACTOR: f64 = 10.0;
/// Round trips this little above the least are quiet in any case, nanoseconds.
const QUIET_NS: f64 = 50_000.0;

/// A round trip, stamped at both ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RoundTrip {
    /// When it began, in nanoseconds since the run's start on the near clock.
    pub t_ns: u64,
    /// Far clock at arrival less near clock at departure, nanoseconds.
    pub up_ns: i64,
    /// Near clock at arrival less far clock at departure, nanoseconds.
    pub down_ns: i64,
}

/// From what the skew was found.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Basis {
    /// The lower envelopes of both directions, which agree.
    Envelopes,
    /// The probes with the least round trips.
    QuietProbes,
    /// Not at all: it is taken for zero.
    OffsetOnly,
}

/// How far the far clock is ahead of the near one: `offset + skew * t`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockLine {
    /// Nanoseconds at t = 0.
    pub offset_ns: f64,
    /// Parts per million: microseconds in a second.
    pub skew_ppm: f64,
    /// Most that `offset_ns` can be wrong by if the path is asymmetric: half of the least round trip, nanoseconds.
    pub uncertainty_ns: f64,
    /// From what the skew was found.
    pub basis: Basis,
}

impl ClockLine {
    /// The line that these round trips, in any order, show. `None` without any.
    pub fn fit(probes: &[RoundTrip]) -> Option<Self> {
        let base = *probes.first()?;
        // Clocks may be decades apart, and f64 has 53 bits: reckon from the first probe, in integers.
        let base_ns = (i128::from(base.up_ns) - i128::from(base.down_ns)) / 2;
        let mut points: Vec<Point> = probes
            .iter()
            .map(|probe| Point::of(probe, base_ns))
            .collect();
        points.sort_unstable_by(|a, b| a.t.total_cmp(&b.t));
        let (skew, basis) = skew(&points).unwrap_or((0.0, Basis::OffsetOnly));
        let least = |delay: fn(&Point) -> f64, sign: f64| {
            let level = |p: &Point| delay(p) - sign * skew * p.t;
            points.iter().map(level).fold(f64::INFINITY, f64::min)
        };
        let (up, down) = (least(|p| p.up, 1.0), least(|p| p.down, -1.0));
        let round_trip = points
            .iter()
            .map(Point::round_trip)
            .fold(f64::INFINITY, f64::min);
        Some(Self {
            offset_ns: base_ns as f64 + (up - down) / 2.0,
            skew_ppm: skew * 1e6,
            uncertainty_ns: round_trip.max(0.0) / 2.0,
            basis,
        })
    }

    /// How far the far clock is ahead at `t_ns`, in nanoseconds.
    pub fn ahead_ns(&self, t_ns: u64) -> f64 {
        self.offset_ns + self.skew_ppm * 1e-6 * t_ns as f64
    }

    /// A delay up that was measured at `t_ns`, by one clock; nanoseconds.
    pub fn up(&self, t_ns: u64, up_ns: i64) -> i64 {
        up_ns.saturating_sub(whole(self.ahead_ns(t_ns)))
    }

    /// A delay down that was measured at `t_ns`, by one clock; nanoseconds.
    pub fn down(&self, t_ns: u64, down_ns: i64) -> i64 {
        down_ns.saturating_add(whole(self.ahead_ns(t_ns)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, and NaN is 0")]
fn whole(ns: f64) -> i64 {
    ns.round() as i64
}

/// A probe in nanoseconds, with most of the offset taken out.
#[derive(Clone, Copy)]
struct Point {
    t: f64,
    up: f64,
    down: f64,
}

impl Point {
    fn of(probe: &RoundTrip, base_ns: i128) -> Self {
        Self {
            t: probe.t_ns as f64,
            up: (i128::from(probe.up_ns) - base_ns) as f64,
            down: (i128::from(probe.down_ns) + base_ns) as f64,
        }
    }

    fn round_trip(&self) -> f64 {
        self.up + self.down
    }
}

/// The skew, nanoseconds per nanosecond, of points in order of time; `None` when they show none.
fn skew(points: &[Point]) -> Option<(f64, Basis)> {
    let span = points.last()?.t - points.first()?.t;
    if points.len() < LEAST_PROBES || span < LEAST_SPAN_NS as f64 {
        return None;
    }
    let up = envelope_slope(points, |p| p.up)?;
    let down = envelope_slope(points, |p| p.down)?;
    let (skew, basis) = if (up + down).abs() <= CONSISTENT_PPM * 1e-6 {
        ((up - down) / 2.0, Basis::Envelopes)
    } else {
        (quiet_slope(points)?, Basis::QuietProbes)
    };
    (skew.abs() <= MOST_SKEW_PPM * 1e-6).then_some((skew, basis))
}

/// Slope of the edge of the lower convex hull (Andrew's monotone chain) over the mean time.
fn envelope_slope(points: &[Point], delay: fn(&Point) -> f64) -> Option<f64> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for next in points.iter().map(|p| (p.t, delay(p))) {
        while let [.., before, last] = hull[..] {
            if slope(before, last) < slope(last, next) {
                break;
            }
            hull.pop();
        }
        // Of several at one time only the lowest can be on the hull; a vertical edge has no slope.
        match hull.last_mut() {
            Some(last) if last.0 >= next.0 => last.1 = last.1.min(next.1),
            _ => hull.push(next),
        }
    }
    let mean = points
        .iter()
        .map(|p| p.t / points.len() as f64)
        .sum::<f64>();
    let edge = hull.windows(2).find(|edge| edge[1].0 >= mean)?;
    Some(slope(edge[0], edge[1]))
}

fn slope(a: (f64, f64), b: (f64, f64)) -> f64 {
    (b.1 - a.1) / (b.0 - a.0)
}

/// Slope of the least-squares line through (up - down) / 2 of the quiet probes; `None` when they are too few or lie too
/// close together.
fn quiet_slope(points: &[Point]) -> Option<f64> {
    let quiet = quiet(points)?;
    let n = quiet.len() as f64;
    let (first, last) = quiet
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| {
            (a.min(p.t), b.max(p.t))
        });
    if last - first < LEAST_SPAN_NS as f64 {
        return None;
    }
    let ahead = |p: &Point| (p.up - p.down) / 2.0;
    let mean_t = quiet.iter().map(|p| p.t).sum::<f64>() / n;
    let mean_ahead = quiet.iter().map(ahead).sum::<f64>() / n;
    let (covariance, variance) = quiet.iter().fold((0.0, 0.0), |(c, v), p| {
        let t = p.t - mean_t;
        (c + t * (ahead(p) - mean_ahead), v + t * t)
    });
    Some(covariance / variance)
}

/// The probes with the least round trips; `None` for fewer than [`LEAST_PROBES`].
fn quiet(points: &[Point]) -> Option<Vec<Point>> {
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.round_trip().total_cmp(&b.round_trip()));
    let least = sorted.first()?.round_trip();
    let eighth = sorted.get(LEAST_PROBES / 2)?.round_trip();
    let most = least + (QUIET_FACTOR * (eighth - least)).max(QUIET_NS);
    sorted.truncate(sorted.partition_point(|p| p.round_trip() <= most));
    (sorted.len() >= LEAST_PROBES).then_some(sorted)
}

#[cfg(test)]
mod tests;
