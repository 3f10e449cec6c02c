//! One direction of the stream.

use crate::call::{Call, Datagram, Terms};
use crate::clock::ClockLine;
use crate::train::Arrival;
use stats::Distribution;
use std::time::Duration;

/// RFC 3550 section 6.4.1: a new variation counts for a sixteenth of J.
const GAIN: f64 = 1.0 / 16.0;

/// What happened on one way, to the probes of which it is known. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// One-way delay; `None` without echoes, as the clocks' offset is not known then.
    pub delay_ms: Option<Distribution>,
    /// Interarrival jitter J after the last probe (RFC 3550 section 6.4.1): no more than what the last 16 or so met.
    pub jitter_ms: f64,
    /// The highest that J was.
    pub highest_jitter_ms: f64,
    /// IPDV, negative where a probe was faster than the one before; `None` when no two neighbours arrived.
    pub ipdv_ms: Option<Distribution>,
    /// How much neighbours differ on average, either way; `None` likewise.
    pub mean_ipdv_ms: Option<f64>,
    /// PDV.
    pub pdv_ms: Distribution,
    /// Probes that arrived after one that had left later.
    pub reordered: u64,
}

/// A probe on one way.
#[derive(Clone, Copy)]
struct Trip {
    seq: u64,
    left_ns: u64,
    /// By two clocks, of which the skew and, with echoes, the offset is taken out.
    delay_ns: i64,
}

/// The way there.
pub(super) fn there(
    probes: &[Option<Arrival>],
    clock: Option<&ClockLine>,
    epoch: u64,
) -> Option<Way> {
    let trips = (0..).zip(probes).filter_map(|(seq, probe)| {
        let arrival = probe.as_ref()?;
        let (t_ns, delay_ns) = (arrival.sent_ns.saturating_sub(epoch), arrival.delay_ns());
        Some(Trip {
            seq,
            left_ns: arrival.sent_ns,
            delay_ns: clock.map_or(delay_ns, |clock| clock.up(t_ns, delay_ns)),
        })
    });
    Way::of(&trips.collect::<Vec<_>>(), clock.is_some())
}

/// The way back.
pub(super) fn back(
    probes: &[Option<Arrival>],
    clock: Option<&ClockLine>,
    epoch: u64,
) -> Option<Way> {
    let clock = clock?;
    let trips = (0..).zip(probes).filter_map(|(seq, probe)| {
        let arrival = probe.as_ref()?;
        let t_ns = arrival.sent_ns.saturating_sub(epoch);
        Some(Trip {
            seq,
            left_ns: arrival.back?.left_ns,
            delay_ns: clock.down(t_ns, arrival.back_ns()?),
        })
    });
    Way::of(&trips.collect::<Vec<_>>(), true)
}

impl Way {
    fn of(trips: &[Trip], is_absolute: bool) -> Option<Self> {
        // Of those that leave in another order than they were sent in, the way back has not reordered any.
        let mut leaving = trips.to_vec();
        leaving.sort_by_key(|trip| trip.left_ns);
        let datagrams = (0..).zip(&leaving).map(|(seq, trip)| Datagram {
            seq,
            sent_ns: trip.left_ns,
            delay_ns: Some(trip.delay_ns),
        });
        let terms = Terms {
            interval: Duration::ZERO,
            late_after: Duration::MAX,
            least_ns: None,
        };
        let call = Call::of(&datagrams.collect::<Vec<_>>(), &terms)?;
        let (jitter_ms, highest_jitter_ms) = jitter(trips);
        let delays = trips.iter().map(|trip| trip.delay_ns as f64 / 1e6);
        Some(Self {
            delay_ms: Distribution::of(delays).filter(|_| is_absolute),
            jitter_ms,
            highest_jitter_ms,
            ipdv_ms: Distribution::of(ipdv(trips)),
            mean_ipdv_ms: Distribution::of(ipdv(trips).map(f64::abs)).map(|all| all.mean),
            pdv_ms: Distribution::of(call.pdv_ns.iter().map(|&ns| ns as f64 / 1e6))?,
            reordered: call.reordered,
        })
    }
}

/// In milliseconds.
fn difference(from: &Trip, to: &Trip) -> f64 {
    (i128::from(to.delay_ns) - i128::from(from.delay_ns)) as f64 / 1e6
}

/// J at the end, and the highest J, in milliseconds; in the order of arrival, as the RFC has it.
fn jitter(trips: &[Trip]) -> (f64, f64) {
    let arrival = |trip: &Trip| i128::from(trip.left_ns) + i128::from(trip.delay_ns);
    let mut arrived = trips.to_vec();
    arrived.sort_by_key(arrival);
    let pairs = arrived.iter().zip(arrived.iter().skip(1));
    pairs.fold((0.0, 0.0), |(jitter, highest): (f64, f64), (a, b)| {
        let jitter = jitter + (difference(a, b).abs() - jitter) * GAIN;
        (jitter, highest.max(jitter))
    })
}

/// Between neighbours that both arrived, in milliseconds.
fn ipdv(trips: &[Trip]) -> impl Iterator<Item = f64> {
    let pairs = trips.iter().zip(trips.iter().skip(1));
    let neighbours = pairs.filter(|(a, b)| a.seq + 1 == b.seq);
    neighbours.map(|(a, b)| difference(a, b))
}
