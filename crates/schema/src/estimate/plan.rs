//! What a run of `isobath estimate` is to do.

use crate::Direction;
use clap::ValueEnum;
use packet::ETHERNET_MTU;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Dscp, Rate, Span, TrafficClass};

/// The longest run.
const LONGEST: Span = Span(Duration::from_secs(3_600));

/// A property of a path.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Round-trip time, in ms.
    Rtt,
    /// One-way delay, in ms.
    Owd,
    /// Delay variation between consecutive packets, in ms.
    Jitter,
    /// Share of time with packet loss, in percent.
    Loss,
    /// Capacity of the slowest link, in Mbit/s.
    Capacity,
    /// Available bandwidth of the tight link, in Mbit/s.
    Available,
    /// Bottleneck hop: the first behind the queue that grows under load.
    Bottleneck,
}

/// How it is found.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Probes at constant intervals.
    Isochronous,
    /// Three-packet probes in random slots: frequency and duration of loss episodes.
    Badabing,
    /// Dispersion of packet pairs and trains.
    Pathrate,
    /// Self-loading streams, with pauses: a tenth of the rate under test on average.
    Pathload,
    /// pathload without the pauses.
    PathloadFast,
    /// pathload with streams of 40 probes, up to 100 while packets ride; via a manager.
    SemiElastic,
    /// pathload with streams formed of application packets only; via a manager.
    Elastic,
    /// Application bursts, sent unchanged; via a manager.
    Opportunistic,
    /// Mean packet gaps of streams of calibrated length.
    Yaz,
    /// Chirps: trains that sweep all rates.
    Pathchirp,
    /// TTL-limited probes before and during trains that load the path.
    Hops,
}

impl What {
    /// The unit of its figures.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Rtt | Self::Owd | Self::Jitter => "ms",
            Self::Loss => "%",
            Self::Capacity | Self::Available => "Mbit/s",
            Self::Bottleneck => "hop",
        }
    }

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rtt => "rtt",
            Self::Owd => "owd",
            Self::Jitter => "jitter",
            Self::Loss => "loss",
            Self::Capacity => "capacity",
            Self::Available => "available",
            Self::Bottleneck => "bottleneck",
        }
    }

    /// How it is found, unless told otherwise.
    pub const fn usual(self) -> Method {
        self.methods()[0]
    }

    /// How it can be found, the usual way first.
    pub const fn methods(self) -> &'static [Method] {
        match self {
            Self::Rtt | Self::Owd | Self::Jitter => &[Method::Isochronous],
            Self::Loss => &[Method::Badabing, Method::Isochronous],
            Self::Capacity => &[Method::Pathrate],
            Self::Available => &[
                Method::Pathload,
                Method::PathloadFast,
                Method::Yaz,
                Method::Pathchirp,
                Method::SemiElastic,
                Method::Elastic,
                Method::Opportunistic,
            ],
            Self::Bottleneck => &[Method::Hops],
        }
    }
}

impl Method {
    /// How long it measures, unless told otherwise.
    pub const fn usual_duration(self) -> Duration {
        match self {
            Self::Badabing | Self::Yaz | Self::Pathchirp => Duration::from_secs(60),
            Self::Elastic | Self::Opportunistic => Duration::from_secs(30),
            _ => Duration::from_secs(10),
        }
    }

    /// Whether its trains are packets of applications, which only a manager has.
    pub const fn rides(self) -> bool {
        matches!(
            self,
            Self::SemiElastic | Self::Elastic | Self::Opportunistic
        )
    }

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Isochronous => "isochronous",
            Self::Badabing => "badabing",
            Self::Pathrate => "pathrate",
            Self::Pathload => "pathload",
            Self::PathloadFast => "pathload-fast",
            Self::SemiElastic => "semi-elastic",
            Self::Elastic => "elastic",
            Self::Opportunistic => "opportunistic",
            Self::Yaz => "yaz",
            Self::Pathchirp => "pathchirp",
            Self::Hops => "hops",
        }
    }
}

/// A run, as it is agreed on and recorded.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    /// The property that is asked for.
    pub what: What,
    /// How it is found; one of `what.methods()`.
    pub method: Method,
    /// Of the path that is asked about; the probes go this way.
    pub direction: Direction,
    /// How long is measured, where the method does not end by itself.
    pub duration: Span,
    /// No probes faster than this.
    pub most: Rate,
    /// DSCP of the probes.
    pub class: Dscp,
    /// Seed of what is random in probing and in an emulated network.
    pub seed: u64,
}

impl Plan {
    /// Whether a figure is to be tried on a long train. One that is no application's has no place beside those that are.
    pub const fn is_tried(&self) -> bool {
        match self.what {
            What::Capacity => true,
            What::Available => !matches!(self.method, Method::Elastic | Method::Opportunistic),
            _ => false,
        }
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    /// One line for whoever made it.
    pub fn check(&self) -> Result<(), String> {
        let methods = self.what.methods();
        if !methods.contains(&self.method) {
            let names: Vec<_> = methods.iter().map(|method| method.name()).collect();
            return Err(format!(
                "'{}' does not find '{}' - use {}",
                self.method.name(),
                self.what.name(),
                names.join(" or ")
            ));
        }
        if self.duration.0.is_zero() || self.duration.0 > LONGEST.0 {
            return Err(format!(
                "the duration must be above 0s and at most {LONGEST}"
            ));
        }
        Ok(())
    }

    /// Between two of the longest packets at the highest rate, as far as a host keeps it.
    pub fn least_gap(&self) -> Duration {
        const KEPT: Duration = Duration::from_micros(5);
        self.most.time_for(ETHERNET_MTU.into()).max(KEPT)
    }

    /// How probes are marked when they leave.
    pub const fn class(&self) -> TrafficClass {
        TrafficClass {
            dscp: self.class,
            ecn: units::Ecn::NotEct,
        }
    }
}
