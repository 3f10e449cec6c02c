//! What a trial is to do.

use crate::dumbbell::Riding;
use clap::ValueEnum;
use path::{CrossSpec, Pace, Then};
use probe::pathload::Pause;
use probe::train::Train;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use units::{Rate, Span};

/// The shortest and the longest run.
const SHORTEST: Duration = Duration::from_secs(4);
const LONGEST: Duration = Duration::from_secs(3_600);
/// The longest that a packet may wait for a probe, as in a manager's file.
const LONGEST_DELAY: Duration = Duration::from_secs(1);
/// The most rates that follow each other.
const MOST_STEPS: usize = 64;

/// The recording whose packets' sizes others' packets have.
const RECORDING: &str = "web-page";

/// Who measures beside the application.
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    Eq,
    Hash,
    JsonSchema,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Probes {
    /// No tool.
    None,
    /// pathload with its pauses between streams (pSLOW of the thesis).
    Pathload,
    /// pathload with one RTT between streams (pFAST of the thesis).
    PathloadFast,
    /// Short bursts at 12 Mbit/s, 1.1 Mbit/s on average.
    Pk1,
    /// Trains at 4 Mbit/s, 2 Mbit/s on average.
    Pk2,
    /// Ten packets back to back, 2.4 Mbit/s on average.
    Pk3,
}

/// Trains that are sent again and again, whatever comes of them (T Table 5.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regular {
    /// Octets of a packet, IP header included.
    octets: u32,
    /// Packets of a train.
    probes: usize,
    /// From packet to packet.
    gap: Duration,
    /// From the last packet of a train to the first of the next.
    pause: Duration,
}

impl Regular {
    const fn new(octets: u32, probes: usize, gap_us: u64, pause_ms: u64) -> Self {
        Self {
            octets,
            probes,
            gap: Duration::from_micros(gap_us),
            pause: Duration::from_millis(pause_ms),
        }
    }

    /// One train: evenly spaced probes.
    pub fn train(&self) -> Train {
        Train::periodic(self.probes, self.octets, self.gap)
    }

    /// From the first packet of a train to the first of the next.
    pub fn every(&self) -> Duration {
        self.train().duration() + self.pause
    }
}

impl Probes {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pathload => "pathload",
            Self::PathloadFast => "pathload-fast",
            Self::Pk1 => "pk1",
            Self::Pk2 => "pk2",
            Self::Pk3 => "pk3",
        }
    }

    /// The trains, for those that are sent whatever comes of them.
    pub const fn regular(self) -> Option<Regular> {
        match self {
            Self::Pk1 => Some(Regular::new(300, 10, 200, 20)),
            Self::Pk2 => Some(Regular::new(500, 20, 1_000, 20)),
            Self::Pk3 => Some(Regular::new(300, 10, 0, 10)),
            Self::None | Self::Pathload | Self::PathloadFast => None,
        }
    }

    /// The pauses between streams, for those that estimate.
    pub const fn pause(self) -> Option<Pause> {
        match self {
            Self::Pathload => Some(Pause::Slow),
            Self::PathloadFast => Some(Pause::Fast),
            _ => None,
        }
    }
}

/// What others send through the bottleneck.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(into = "String", try_from = "String")]
pub enum Cross {
    /// Nothing, or what the lab has itself.
    None,
    /// Packets of the link's own at these rates, one after the other, and again.
    Steps(Vec<Rate>),
    /// Connections of the kernel's TCP that come and go.
    Web,
}

impl FromStr for Cross {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self::None),
            "web" => Ok(Self::Web),
            rates => {
                let steps = rates.split(',').map(|rate| rate.trim().parse());
                let steps = steps.collect::<Result<Vec<Rate>, _>>().map_err(|error| {
                    format!("write 'none', 'web', or rates such as 1Mbit,3Mbit: {error}")
                })?;
                if steps.len() > MOST_STEPS {
                    return Err(format!("at most {MOST_STEPS} rates follow each other"));
                }
                Ok(Self::Steps(steps))
            }
        }
    }
}

impl TryFrom<String> for Cross {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Cross> for String {
    fn from(cross: Cross) -> Self {
        cross.to_string()
    }
}

impl fmt::Display for Cross {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("none"),
            Self::Web => f.pad("web"),
            Self::Steps(rates) => {
                let rates: Vec<_> = rates.iter().map(ToString::to_string).collect();
                f.pad(&rates.join(","))
            }
        }
    }
}

/// A trial, as it is recorded.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Plan {
    /// Who measures beside the application.
    pub probes: Probes,
    /// Whether the application goes by the overlay, where its packets ride.
    pub riding: bool,
    /// How long a packet waits for a probe; nothing waits with riding off.
    pub delay: Span,
    /// The first part of each train that may carry.
    pub ratio: f64,
    /// At which rate the application writes.
    pub source: Rate,
    /// What others send through the bottleneck.
    pub cross: Cross,
    /// How long each rate of others lasts.
    pub each: Span,
    /// How long the application writes.
    pub duration: Span,
    /// Seed of what is random in the lab and in others' connections.
    pub seed: u64,
}

impl Plan {
    /// What may ride.
    pub(super) const fn carrying(&self) -> Riding {
        Riding::new(self.riding, self.delay.0, self.ratio)
    }

    /// What others send without connections.
    pub fn others(&self) -> Option<CrossSpec> {
        let Cross::Steps(rates) = &self.cross else {
            return None;
        };
        Some(CrossSpec {
            pace: Pace::Even,
            rates: rates.clone(),
            each: (rates.len() > 1).then_some(self.each),
            then: Then::Repeat,
            sizes: Vec::new(),
            recording: Some(RECORDING.to_owned()),
            copies: 1,
        })
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    /// One line for whoever made it.
    pub fn check(&self) -> Result<(), String> {
        if !(SHORTEST..=LONGEST).contains(&self.duration.0) {
            return Err("a trial lasts from 4s to 3600s".to_owned());
        }
        if !(0.0..=1.0).contains(&self.ratio) {
            return Err(format!("ratio {} - give a number from 0 to 1", self.ratio));
        }
        if self.riding && (self.delay.0.is_zero() || self.delay.0 > LONGEST_DELAY) {
            return Err(
                "riding packets wait for more than 0s and at most 1s - write another --delay"
                    .to_owned(),
            );
        }
        if self.each.0 < Duration::from_millis(1) {
            return Err("each rate of others lasts 1ms or more".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/table-5-1.
    #[test]
    fn regular_trains_have_the_rates_of_the_table() {
        let trains = [Probes::Pk1, Probes::Pk2, Probes::Pk3].map(|probes| {
            let of = probes.regular().unwrap();
            let (gap, pause) = (of.gap.as_micros(), of.pause.as_millis());
            (of.octets, of.probes, gap, pause)
        });
        let table = [(300, 10, 200, 20), (500, 20, 1_000, 20), (300, 10, 0, 10)];
        assert_eq!(trains, table);
        let rates = |probes: Probes| {
            let regular = probes.regular().unwrap();
            let train = regular.train();
            let bits = train.octets() as f64 * 8.0;
            bits / regular.every().as_secs_f64() / 1e6
        };
        for (probes, mbps) in [(Probes::Pk1, 1.1), (Probes::Pk2, 2.05), (Probes::Pk3, 2.4)] {
            assert!((rates(probes) - mbps).abs() < 0.01, "{probes:?}");
        }
        assert!(Probes::Pathload.regular().is_none() && Probes::Pk1.pause().is_none());
    }

    #[test]
    fn what_others_send_is_read_as_it_is_written() {
        for text in ["none", "web", "1Mbit,3Mbit", "5Mbit"] {
            let cross: Cross = text.parse().unwrap();
            assert_eq!(cross.to_string(), text);
            let json = serde_json::to_string(&cross).unwrap();
            assert_eq!(serde_json::from_str::<Cross>(&json).unwrap(), cross);
        }
        for text in ["", "wobble", "1Mbit,", "1Mbit;2Mbit"] {
            assert!(text.parse::<Cross>().is_err(), "{text}");
        }
    }
}
