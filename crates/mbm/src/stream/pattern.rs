//! Patterns in time: bursts of bursts, at exact distances.
//!
//! Every open-loop stream of RFC 8337 is bursts of `packets` packets, started every `headway`; within a burst *sets* of packets leave
//! back to back, a `set_headway` apart. One set makes a plain burst, sets of one packet make pacing.

use crate::target::Target;
use std::time::Duration;
use units::Rate;

/// Packets in a set of slow start: a delayed acknowledgement of two packets lets four leave (RFC 8337 section 6.1).
pub const SET: u32 = 4;

const NS_PER_S: u128 = 1_000_000_000;

/// A distance in time as a fraction of nanoseconds, so that any multiple of it is exact.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Beat {
    ns: u128,
    per: u128,
}

impl Beat {
    const NONE: Self = Self { ns: 0, per: 1 };

    /// The time that `octets` last at `rate`.
    fn of(octets: u128, rate: Rate) -> Self {
        Self {
            ns: octets * 8 * NS_PER_S,
            per: u128::from(rate.as_bps()),
        }
    }

    /// `times` of it, rounded down to a nanosecond.
    pub(super) fn times(self, times: u64) -> Duration {
        let ns = self.ns.saturating_mul(u128::from(times)) / self.per.max(1);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// What an open-loop stream looks like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pattern {
    /// Packets in a burst.
    pub(super) packets: u32,
    /// Packets that leave back to back.
    pub(super) set: u32,
    pub(super) headway: Beat,
    pub(super) set_headway: Beat,
}

impl Pattern {
    /// Bursts of `packets` packets, as many as give the data rate `rate` with `target`'s packets: 1 paces single packets.
    pub fn paced(target: &Target, rate: Rate, packets: u32) -> Self {
        let packets = packets.max(1);
        let octets = u128::from(target.payload()) * u128::from(packets);
        Self::bursts(packets, Beat::of(octets, rate))
    }

    /// Slow-start rate without end: bursts of four packets at twice the least capacity that carries the target, or at twice
    /// `bottleneck` where that is known to be more. `line`, the rate of the sender's interface, is the limit (RFC 8337 section 3).
    pub fn slow_start_rate(target: &Target, bottleneck: Option<Rate>, line: Option<Rate>) -> Self {
        Self::bursts(SET, Self::set_beat(target, bottleneck, line))
    }

    /// Slow-start bursts of a target window each, at slow-start rate, every target round trip (RFC 8337 section 8.3.1).
    pub fn slow_start_bursts(
        target: &Target,
        bottleneck: Option<Rate>,
        line: Option<Rate>,
    ) -> Self {
        Self {
            set: SET,
            set_headway: Self::set_beat(target, bottleneck, line),
            ..Self::window_bursts(target, 1.0)
        }
    }

    /// Bursts at the rate of the sender's interface: a target window every target round trip, derated as the target says
    /// (RFC 8337 section 8.5.1, thesis 3.6.1). A burst is rounded to whole packets, and the time to the next follows it, so the
    /// mean is a window a round trip at any derating.
    pub fn sustained_bursts(target: &Target) -> Self {
        Self::window_bursts(target, target.burst_derating())
    }

    /// Bursts of `share` of a target window (up to 2: the peak of Reno's sawtooth, RFC 8337 section 8.4) at the rate of the sender's
    /// interface, each after the path has been idle: one in `rests` times the time that it stands for.
    pub fn sender_rate_bursts(target: &Target, share: f64, rests: u32) -> Self {
        let plain = Self::window_bursts(target, share.clamp(0.0, 2.0));
        let ns = plain.headway.ns * u128::from(rests.max(1));
        Self {
            headway: Beat {
                ns,
                ..plain.headway
            },
            ..plain
        }
    }

    fn window_bursts(target: &Target, share: f64) -> Self {
        let packets = share_of(target.window(), share);
        let headway = Beat {
            ns: target.rtt().as_nanos() * u128::from(packets),
            per: u128::from(target.window()),
        };
        Self::bursts(packets, headway)
    }

    const fn bursts(packets: u32, headway: Beat) -> Self {
        Self {
            packets,
            set: packets,
            headway,
            set_headway: Beat::NONE,
        }
    }

    /// Four packets at slow-start rate.
    fn set_beat(target: &Target, bottleneck: Option<Rate>, line: Option<Rate>) -> Beat {
        let doubled = |rate: Rate| Rate::from_bps(rate.as_bps().saturating_mul(2));
        let wanted = bottleneck
            .and_then(doubled)
            .max(Some(target.slow_start_rate()));
        let rate = wanted.unwrap_or_else(|| target.slow_start_rate());
        let rate = line.map_or(rate, |line| rate.min(line));
        Beat::of(u128::from(target.mtu()) * u128::from(SET), rate)
    }

    /// Packets in a burst.
    pub const fn burst_packets(&self) -> u32 {
        self.packets
    }

    /// From the start of a burst to the start of the next.
    pub fn headway(&self) -> Duration {
        self.headway.times(1)
    }

    /// From the first packet of a burst to its last set; zero where it is one set.
    pub fn span(&self) -> Duration {
        let sets = self.packets.div_ceil(self.set.max(1));
        self.set_headway.times(u64::from(sets.saturating_sub(1)))
    }

    /// Packets per second, on average.
    pub fn packets_per_s(&self) -> f64 {
        f64::from(self.packets) * self.headway.per as f64 * 1e9 / (self.headway.ns as f64).max(1.0)
    }
}

/// `share` of `window`, to the nearest packet, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and twice a window"
)]
fn share_of(window: u32, share: f64) -> u32 {
    ((f64::from(window) * share).round() as u32).max(1)
}
