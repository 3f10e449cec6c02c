//! What makes the dispersion of a train lie.
//!
//! # The idea
//!
//! Tools that send packets back to back or fast take the time over which they arrive for what the narrowest link made of
//! them. Three things that many paths have break that, and each leaves a mark of its own in the arrivals:
//!
//! - **A token bucket** lets a burst pass at the rate of the wire and everything after it at the rate that was sold. The
//!   cumulative arrival curve has a knee: steep, then flat, both straight. Before the knee a train measures the wire. With
//!   a bucket of 1 MB trains of 100 packets never come to it.
//! - **Coalescence**: the receiver's card or kernel hands over many packets at once (interrupt moderation, GRO), so
//!   they come in clumps: hardly any time within, a regular pause between. Gaps of single packets mean nothing then; the
//!   time of many clumps still does (Prasad, Jain and Dovrolis, "Effects of interrupt coalescence on network measurements",
//!   PAM 2004).
//! - **The sender**: what arrives as fast as it left says how fast the sender is.
//!
//! [`suspect`] looks at one train, [`bucket_check`] makes one that is long enough to empty a bucket.
//!
//! # When it is wrong
//!
//! - A bucket that the train does not empty, or that was empty already, looks like a plain link. Streams of pathload (150 kB
//!   at most, with pauses) never empty one of 1 MB: it finds 600 Mbit/s, the most that it can send, on a link shaped to
//!   20, and not one of its streams is suspect. So after any tool that sends less than a bucket may hold, send a
//!   [`bucket_check`].
//! - Cross traffic that begins in the middle of a train and takes more than half of the link from then on is told as a
//!   bucket, and is not again when the train is repeated. With Poisson cross traffic of 0 to 80 % on a plain link that happens to
//!   8 of 7,172 streams of pathload, and to none of 2,000 trains back to back or at a constant 30 Mbit/s.
//! - Radio links hand over aggregates of packets at regular times by themselves. They are told as coalescence, which they
//!   are to dispersion.

mod clumps;
mod curve;
#[cfg(test)]
mod tests;

use crate::train::{Passage, Train};
use clumps::Clumps;
use curve::{Curve, Knee};
use std::fmt;
use std::time::Duration;
use units::{Bytes, Rate};

/// Octets of a packet of [`bucket_check`].
const FULL: u32 = 1_500;
/// Arrivals that took at most this much longer than departures say nothing of the path.
const SAME: f64 = 1.05;
/// Fewer arrivals than this tell nothing.
pub const LEAST_ARRIVALS: usize = 20;

/// Why the dispersion of a train is not to be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Suspicion {
    /// A burst passed faster than the rest.
    TokenBucket {
        /// Rate at which the burst arrived, bit/s; `None` when it came at once.
        burst_bps: Option<f64>,
        /// Rate of what came after it, bit/s.
        rate_bps: f64,
        /// Depth of the bucket: octets of the burst less the tokens that came meanwhile.
        burst_octets: f64,
    },
    /// Packets arrived in clumps.
    Coalescence {
        /// Packets of a clump, the median.
        packets: f64,
        /// From the beginning of one to that of the next, the median, in seconds.
        period_s: f64,
        /// Rate over all whole clumps, bit/s: what remains to be trusted.
        rate_bps: f64,
    },
    /// The sender was no faster than what arrived, though the train asked for more.
    SenderLimited {
        /// Rate at which it was to leave, bit/s; `None` for back to back.
        asked_bps: Option<f64>,
        /// Rate at which it left, bit/s.
        sent_bps: f64,
    },
}

/// A rate in words, to three digits.
fn words(bps: f64) -> String {
    let unit = 10_f64
        .powf(bps.abs().max(1.0).log10().floor() - 2.0)
        .max(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and NaN is 0"
    )]
    let rate = Rate::from_bps(((bps / unit).round() * unit) as u64);
    rate.map_or_else(|| "0 bit/s".to_owned(), Rate::words)
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TokenBucket {
                burst_bps,
                rate_bps,
                burst_octets,
            } => {
                let burst = burst_bps
                    .map_or_else(|| "at once".to_owned(), |bps| format!("at {}", words(bps)));
                let (megabytes, rate) = (burst_octets / 1e6, words(rate_bps));
                write!(
                    f,
                    "token bucket: {megabytes:.2} MB passed {burst}, the rest at {rate}"
                )
            }
            Self::Coalescence {
                packets,
                period_s,
                rate_bps,
            } => {
                let (period_us, rate) = (period_s * 1e6, words(rate_bps));
                write!(
                    f,
                    "coalescence: {packets:.0} packets arrive at once every {period_us:.0} us, together {rate}"
                )
            }
            Self::SenderLimited {
                asked_bps,
                sent_bps,
            } => {
                let asked = asked_bps.map_or_else(|| "back to back".to_owned(), words);
                write!(
                    f,
                    "sender limited: {asked} was asked for, {} left",
                    words(sent_bps)
                )
            }
        }
    }
}

/// Packets back to back that empty a bucket of up to `burst`, and half as many octets more to see what comes after.
pub fn bucket_check(burst: Bytes) -> Train {
    let octets = burst.get().saturating_add(burst.get() / 2).min(1 << 30);
    let packets = (octets / u64::from(FULL)).max(LEAST_ARRIVALS as u64);
    Train::periodic(
        usize::try_from(packets).unwrap_or(LEAST_ARRIVALS),
        FULL,
        Duration::ZERO,
    )
}

/// What makes the dispersion of this train lie; `None` when nothing is seen, or too few arrived.
pub fn suspect(train: &Train, passage: &Passage) -> Option<Suspicion> {
    let curve = Curve::of(train, passage);
    if curve.len() < LEAST_ARRIVALS {
        return None;
    }
    let knee = curve.knee().filter(|knee| !is_senders(&curve, knee));
    let bucket = knee.map(|knee| Suspicion::TokenBucket {
        burst_bps: knee.before_bps,
        rate_bps: knee.after_bps,
        burst_octets: knee.depth,
    });
    let bucket = bucket.or_else(|| coalescence(&curve));
    bucket.or_else(|| limited(train, &curve))
}

/// Whether the sender itself slowed down where the knee is.
fn is_senders(curve: &Curve, knee: &Knee) -> bool {
    let (before, after) = curve.sent_bps(knee.at);
    before
        .zip(after)
        .is_some_and(|(before, after)| before > 1.5 * after)
}

fn coalescence(curve: &Curve) -> Option<Suspicion> {
    let clumps = Clumps::of(&curve.times_s())?;
    let sent = Clumps::of(&curve.sent_s());
    // The sender's own clumps are no work of the receiver.
    if sent.is_some_and(|sent| sent.packets * 2.0 > clumps.packets) {
        return None;
    }
    Some(Suspicion::Coalescence {
        packets: clumps.packets,
        period_s: clumps.period_s,
        rate_bps: curve.rate_between(clumps.first, clumps.last)?,
    })
}

fn limited(train: &Train, curve: &Curve) -> Option<Suspicion> {
    let sent_bps = curve.sent_rate()?;
    let planned_s = train.duration().as_secs_f64();
    let (sent_s, arrived_s) = curve.spans_s();
    let is_fast = train.probes.iter().skip(1).all(|probe| probe.gap.is_zero());
    let is_limited = if is_fast {
        arrived_s <= sent_s * SAME
    } else {
        curve.is_whole(train) && sent_s > planned_s * SAME
    };
    let octets = train.octets() as f64
        - train
            .probes
            .first()
            .map_or(0.0, |first| f64::from(first.octets));
    is_limited.then(|| Suspicion::SenderLimited {
        asked_bps: (!is_fast && planned_s > 0.0).then(|| octets * 8.0 / planned_s),
        sent_bps,
    })
}
