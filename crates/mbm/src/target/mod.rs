//! The target: what the application needs of the complete path (RFC 8337 section 5.1).
//!
//! A target says nothing of the path under test. Its round-trip time is that of the *complete* path over which the application will
//! run, however short the part under test is; so a test of one link answers for a continent. From rate and round-trip
//! time follows the *target window*: as many packets as must be in flight to carry the rate (RFC 8337 section 5.2).
//!
//! `rate` is what the application gets. Each packet carries `mtu - overhead` octets of it; the link carries all `mtu`, so the rate
//! that a bottleneck must have is higher ([`Target::least_capacity`]).

mod derating;
mod error;
mod named;

pub use derating::Derating;
pub use error::TargetError;
pub use named::NamedTarget;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Rate, Span};

/// Octets of the largest packet unless said otherwise.
pub const MTU: u32 = 1_500;
/// Octets of headers in a packet unless said otherwise (RFC 8337 section 9, table 1; those of IP and TCP by section 3).
pub const OVERHEAD: u32 = 64;
/// The largest target window that is accepted, in packets: 400 Gbit/s over 300 ms with the default packets.
pub const MAX_WINDOW: u32 = 1 << 24;

/// A target as it is written; [`Target::new`] checks it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// Data rate that the application needs, headers apart (`target_rate`).
    pub rate: Rate,
    /// Round-trip time of the complete path (`target_RTT`).
    pub rtt: Span,
    /// Octets of a full packet, headers included (`target_MTU`).
    #[serde(default = "default_mtu")]
    pub mtu: u32,
    /// Octets of headers in it (`header_overhead`); 0 is the thesis's arithmetic.
    #[serde(default = "default_overhead")]
    pub overhead: u32,
    /// By how much the test is made milder than the models say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derating: Option<Derating>,
}

const fn default_mtu() -> u32 {
    MTU
}

const fn default_overhead() -> u32 {
    OVERHEAD
}

/// A target that can be tested: its window is at least two packets. Written as its [`TargetSpec`], and checked when read.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "TargetSpec", into = "TargetSpec")]
#[schemars(with = "TargetSpec")]
pub struct Target {
    spec: TargetSpec,
    window: u32,
}

impl TryFrom<TargetSpec> for Target {
    type Error = TargetError;

    fn try_from(spec: TargetSpec) -> Result<Self, TargetError> {
        Self::new(spec)
    }
}

impl From<Target> for TargetSpec {
    fn from(target: Target) -> Self {
        target.spec
    }
}

impl Target {
    /// Checks `spec`.
    ///
    /// # Errors
    /// [`TargetError`], each with what to do about it, for a target that no path could be tested for.
    pub fn new(spec: TargetSpec) -> Result<Self, TargetError> {
        let span = spec.rtt.0;
        if span.is_zero() {
            return Err(TargetError::NoRoundTrip);
        }
        if spec.mtu <= spec.overhead {
            return Err(TargetError::NoPayload {
                mtu: spec.mtu,
                overhead: spec.overhead,
            });
        }
        if spec.mtu > u32::from(u16::MAX) {
            return Err(TargetError::LongPacket { mtu: spec.mtu });
        }
        if let Some(derating) = &spec.derating {
            derating.check()?;
        }
        let window = window(spec.rate, span, spec.mtu - spec.overhead);
        let rate = spec.rate;
        match u32::try_from(window) {
            Ok(0 | 1) => Err(TargetError::SmallWindow {
                rate,
                rtt: spec.rtt,
                payload: spec.mtu - spec.overhead,
            }),
            Ok(window) if window <= MAX_WINDOW => Ok(Self { spec, window }),
            _ => Err(TargetError::LargeWindow {
                rate,
                rtt: spec.rtt,
            }),
        }
    }

    /// Rate and round trip as prose has them: `10 Mbit/s over 80 ms`.
    pub fn words(&self) -> String {
        format!("{} over {}", self.spec.rate.words(), self.spec.rtt.words())
    }

    /// Refuses what the sender's interface of rate `line` cannot send: the rate with headers must fit.
    ///
    /// # Errors
    /// [`TargetError::OverInterface`].
    pub fn check_interface(&self, line: Rate) -> Result<(), TargetError> {
        let needed = self.least_capacity();
        if needed > line {
            return Err(TargetError::OverInterface { needed, line });
        }
        Ok(())
    }

    /// The target as it was written.
    pub const fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// Data rate, headers apart.
    pub const fn rate(&self) -> Rate {
        self.spec.rate
    }

    /// Round-trip time of the complete path.
    pub const fn rtt(&self) -> Duration {
        self.spec.rtt.0
    }

    /// Octets of a full packet on the link.
    pub const fn mtu(&self) -> u32 {
        self.spec.mtu
    }

    /// Octets of data in a full packet.
    pub const fn payload(&self) -> u32 {
        self.spec.mtu - self.spec.overhead
    }

    /// The target window in packets: `ceil(rate x rtt / (mtu - overhead))` (RFC 8337 section 5.2; thesis equation 3.1
    /// without headers). At least 2.
    pub const fn window(&self) -> u32 {
        self.window
    }

    /// The window that carries the target rate over a path whose own round-trip time is `path_rtt`, in packets:
    /// RFC 8337's `test_window`, at least 1, at most [`MAX_WINDOW`].
    pub fn test_window(&self, path_rtt: Duration) -> u32 {
        let packets = window(self.rate(), path_rtt, self.payload());
        u32::try_from(packets)
            .unwrap_or(MAX_WINDOW)
            .clamp(1, MAX_WINDOW)
    }

    /// The least IP capacity of a bottleneck that carries the target: the rate with its headers (RFC 8337 section 5.2).
    pub fn least_capacity(&self) -> Rate {
        self.on_link(1)
    }

    /// The rate of slow start, on the link: twice the capacity of a bottleneck that just carries the target. RFC 8337 section 3 takes
    /// twice the capacity that returning acknowledgements imply, which is not measured here.
    pub fn slow_start_rate(&self) -> Rate {
        self.on_link(2)
    }

    /// Octets per second on the link, in bit/s, when `times` the target's data rate is sent in full packets.
    fn on_link(&self, times: u128) -> Rate {
        let bits = u128::from(self.rate().as_bps()) * u128::from(self.mtu()) * times;
        let bits = bits.div_ceil(u128::from(self.payload()));
        u64::try_from(bits)
            .ok()
            .and_then(Rate::from_bps)
            .unwrap_or_else(|| self.rate())
    }

    /// Packets per second at the target rate.
    pub fn packets_per_s(&self) -> f64 {
        self.rate().as_bps() as f64 / 8.0 / f64::from(self.payload())
    }

    /// Share of a full burst that a burst test sends at a time, 0 to 1; 1 unless derated (thesis 3.6.1).
    pub fn burst_derating(&self) -> f64 {
        self.spec.derating.as_ref().map_or(1.0, |d| d.burst)
    }

    /// Share of the model's run length that is asked for, 0 to 1; 1 unless derated (RFC 8337 section 5.3).
    pub fn run_length_derating(&self) -> f64 {
        self.spec.derating.as_ref().map_or(1.0, |d| d.run_length)
    }
}

/// `ceil(rate x rtt / payload)` in exact integers; `payload` is above zero.
fn window(rate: Rate, rtt: Duration, payload: u32) -> u128 {
    let bit_ns = u128::from(rate.as_bps()).saturating_mul(rtt.as_nanos());
    bit_ns.div_ceil(u128::from(payload) * 8 * 1_000_000_000)
}

#[cfg(test)]
mod tests;
