//! What a run of `isobath estimate` is to do.

use clap::ValueEnum;
use kit::direction::Direction;
use kit::path_mtu::MTU;
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
    /// Time of a round trip, in ms.
    Rtt,
    /// One-way delay, in ms.
    Owd,
    /// How much the delay of one packet differs from that of the next, in ms.
    Jitter,
    /// Share of the time in which packets get lost, in percent.
    Loss,
    /// What the slowest link carries, in Mbit/s.
    Capacity,
    /// What is left of the link that has least to give, in Mbit/s.
    Available,
    /// The link behind whose queue packets wait when there are more than it carries.
    Bottleneck,
}

/// How it is found.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Probes at even intervals.
    Isochronous,
    /// Three-packet probes in slots chosen at random: congestion's frequency and duration.
    Badabing,
    /// Dispersion of pairs and trains.
    Pathrate,
    /// Streams that load the path themselves, a tenth of the time.
    Pathload,
    /// The same without pauses.
    PathloadFast,
    /// Pathload's streams, 40 probes long, and up to 100 where packets ride; by way of a manager.
    SemiElastic,
    /// Pathload's streams, of nothing but packets that applications send; by way of a manager.
    Elastic,
    /// Bursts that applications send, as they are; by way of a manager.
    Opportunistic,
    /// Streams whose length is found by calibration.
    Yaz,
    /// Chirps: all rates in one train.
    Pathchirp,
    /// Datagrams that live for a few hops, before and under trains.
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
            return Err(format!("a run lasts up to {LONGEST}, and not no time"));
        }
        Ok(())
    }

    /// Between two of the longest packets at the highest rate, as far as a host keeps it.
    pub fn least_gap(&self) -> Duration {
        const KEPT: Duration = Duration::from_micros(5);
        self.most.time_for(MTU.into()).max(KEPT)
    }

    /// How probes are marked when they leave.
    pub const fn class(&self) -> TrafficClass {
        TrafficClass {
            dscp: self.class,
            ecn: units::Ecn::NotEct,
        }
    }
}
