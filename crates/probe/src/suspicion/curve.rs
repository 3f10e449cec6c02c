//! The cumulative arrival curve of a train, and its knee.

use super::clumps::Clumps;
use crate::train::{Passage, Train};

/// The steep part of a knee is at least this many times as steep as the flat one.
const LEAST_RATIO: f64 = 2.0;
/// Packets on either side of the knee, and in the bucket, at least.
const LEAST_SIDE: usize = 10;
/// A side is straight if no point of it is further from its chord than this share of its octets.
const STRAIGHT: f64 = 0.1;

/// A packet that arrived, in the order of arrival.
#[derive(Clone, Copy)]
struct Point {
    /// Since the first arrival, in seconds.
    at_s: f64,
    /// When it left, since the first of them left, in seconds; may be negative for reordered ones.
    sent_s: f64,
    /// Octets of all that came after the first, up to this one.
    octets: f64,
    /// Octets of all that left up to this one, lost ones too.
    sent_octets: f64,
    number: u32,
}

pub(super) struct Curve {
    points: Vec<Point>,
}

/// Where a steep curve becomes flat.
pub(super) struct Knee {
    /// The last packet of the steep part.
    pub(super) at: usize,
    /// Rate before; none when it took no time.
    pub(super) before_bps: Option<f64>,
    pub(super) after_bps: f64,
    /// Octets that came before, less what came at the rate after meanwhile.
    pub(super) depth: f64,
}

fn rate(octets: f64, seconds: f64) -> Option<f64> {
    let bps = octets * 8.0 / seconds;
    (octets > 0.0 && seconds > 0.0 && bps.is_finite()).then_some(bps)
}

fn seconds(later: u64, earlier: u64) -> f64 {
    (i128::from(later) - i128::from(earlier)) as f64 / 1e9
}

/// Octets up to each probe of a train.
fn sent_octets(train: &Train) -> Vec<f64> {
    let mut octets = 0.0;
    let sums = train.probes.iter().map(|probe| {
        octets += f64::from(probe.octets);
        octets
    });
    sums.collect()
}

impl Curve {
    pub(super) fn of(train: &Train, passage: &Passage) -> Self {
        let mut arrivals = passage.arrivals.clone();
        arrivals.sort_by_key(|arrival| arrival.arrived_ns);
        let (mut octets, mut points) = (0.0, Vec::with_capacity(arrivals.len()));
        let Some(first) = arrivals.first().copied() else {
            return Self { points };
        };
        let sent = sent_octets(train);
        for arrival in arrivals {
            let place = usize::try_from(arrival.number).unwrap_or(usize::MAX);
            let Some((probe, sent_octets)) = train.probes.get(place).zip(sent.get(place)) else {
                continue;
            };
            if !points.is_empty() {
                octets += f64::from(probe.octets);
            }
            points.push(Point {
                at_s: seconds(arrival.arrived_ns, first.arrived_ns),
                sent_s: seconds(arrival.sent_ns, first.sent_ns),
                octets,
                sent_octets: *sent_octets,
                number: arrival.number,
            });
        }
        Self { points }
    }

    pub(super) const fn len(&self) -> usize {
        self.points.len()
    }

    pub(super) fn times_s(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.at_s).collect()
    }

    pub(super) fn sent_s(&self) -> Vec<f64> {
        let mut sent: Vec<f64> = self.points.iter().map(|point| point.sent_s).collect();
        sent.sort_unstable_by(f64::total_cmp);
        sent
    }

    /// From the first departure to the last of those that arrived, and from the first arrival to the last, in seconds.
    pub(super) fn spans_s(&self) -> (f64, f64) {
        let sent = self.sent_s();
        let span = sent.last().unwrap_or(&0.0) - sent.first().unwrap_or(&0.0);
        (span, self.points.last().map_or(0.0, |last| last.at_s))
    }

    /// Whether the first and the last probe of the train are among them.
    pub(super) fn is_whole(&self, train: &Train) -> bool {
        let has = |number: usize| {
            let mut numbers = self.points.iter().map(|point| point.number);
            numbers.any(|other| usize::try_from(other) == Ok(number))
        };
        has(0) && has(train.probes.len().saturating_sub(1))
    }

    /// Rate at which they left, lost ones between them included, in bit/s.
    pub(super) fn sent_rate(&self) -> Option<f64> {
        let by_sent = |a: &&Point, b: &&Point| a.sent_s.total_cmp(&b.sent_s);
        let first = self.points.iter().min_by(by_sent)?;
        let last = self.points.iter().max_by(by_sent)?;
        rate(
            last.sent_octets - first.sent_octets,
            last.sent_s - first.sent_s,
        )
    }

    /// Rate from one packet to another, in bit/s.
    pub(super) fn rate_between(&self, from: usize, to: usize) -> Option<f64> {
        let (from, to) = (self.points.get(from)?, self.points.get(to)?);
        rate(to.octets - from.octets, to.at_s - from.at_s)
    }

    /// Rates at which those up to and after a packet left, lost ones included, in bit/s.
    pub(super) fn sent_bps(&self, at: usize) -> (Option<f64>, Option<f64>) {
        let rate = |from: Option<&Point>, to: Option<&Point>| {
            let (from, to) = (from?, to?);
            rate(to.sent_octets - from.sent_octets, to.sent_s - from.sent_s)
        };
        let (first, knee, last) = (self.points.first(), self.points.get(at), self.points.last());
        (rate(first, knee), rate(knee, last))
    }

    /// The point that is furthest above the straight line from the first to the last, if it is a knee.
    pub(super) fn knee(&self) -> Option<Knee> {
        let last = self.points.last()?;
        let above = |point: &Point| point.octets / last.octets - point.at_s / last.at_s;
        let places = self.points.iter().enumerate();
        let (at, knee) = places.max_by(|a, b| above(a.1).total_cmp(&above(b.1)))?;
        let (before, after) = (self.points.get(..=at)?, self.points.get(at..)?);
        let before_bps = rate(knee.octets, knee.at_s);
        // The last tokens of the burst help the next packet, so what follows is counted from that one on.
        let after_bps = self.rate_between(at + 1, self.points.len() - 1)?;
        let depth = knee.octets - after_bps * knee.at_s / 8.0;
        let least_depth = LEAST_SIDE as f64 * last.octets / self.points.len() as f64;
        let is_steep = before_bps.is_none_or(|before| before >= LEAST_RATIO * after_bps);
        let is_long = before.len() > LEAST_SIDE && after.len() > LEAST_SIDE && depth >= least_depth;
        let is_knee = is_steep && is_long && is_straight(before) && is_straight(after);
        let after: Vec<f64> = after.iter().map(|point| point.at_s).collect();
        (is_knee && Clumps::of(&after).is_none()).then_some(Knee {
            at,
            before_bps,
            after_bps,
            depth,
        })
    }
}

/// Whether no point is far from the straight line between the first and the last.
fn is_straight(points: &[Point]) -> bool {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return false;
    };
    let (octets, seconds) = (last.octets - first.octets, last.at_s - first.at_s);
    if seconds <= 0.0 {
        return true;
    }
    points.iter().all(|point| {
        let share = (point.octets - first.octets) / octets;
        (share - (point.at_s - first.at_s) / seconds).abs() <= STRAIGHT
    })
}
