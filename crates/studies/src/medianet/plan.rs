//! What a run is to do, and what crosses it.

use super::frames::Kind;
use super::global::Options;
use crate::dumbbell::{Place, Riding};
use clap::ValueEnum;
use path::{CrossSpec, Pace, Then};
use schema::estimate::plan::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Rate, Span};

/// How long the thesis's runs last.
pub const WHOLE: Span = Span(Duration::from_secs(336));
/// The cross traffic of T, figure 6.3 and the text of 6.3.3: for how many seconds how many Mbit/s, 240 s in all.
pub const STEPS: [(u32, u64); 7] = [
    (30, 4),
    (30, 8),
    (50, 4),
    (25, 7),
    (50, 4),
    (25, 8),
    (30, 4),
];
/// Seconds before its first step, in which the streams are alone.
pub const ALONE: u32 = 40;
/// What stands for nobody, in bit/s: a packet each 0.12 s.
const QUIET: u64 = 100_000;
/// From the first packet, with which cross traffic begins, to the first frame: in it the managers are linked.
pub const LINKING: Duration = Duration::from_secs(3);
/// Least and greatest length of a run.
const LENGTHS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(3_600)];
/// The fastest creep, in bits a second each second.
const MOST_CREEP: Rate = match Rate::from_bps(1_000_000) {
    Some(rate) => rate,
    None => unreachable!(),
};
/// Octets of IP and TCP headers with time stamps, and what a packet outside has of a segment over the overlay beside them.
const HEADERS: [f64; 2] = [52.0, 80.0];
/// Octets of a packet.
const PACKET: f64 = 1_500.0;

/// How the available bandwidth is estimated.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Probes {
    /// None: adapt by reports alone, as in the original.
    None,
    /// pathload with its pauses (pSLOW of the thesis).
    Pathload,
    /// pathload without the pauses (pFAST of the thesis).
    PathloadFast,
}

impl Probes {
    /// The estimator.
    pub const fn method(self) -> Option<Method> {
        match self {
            Self::None => None,
            Self::Pathload => Some(Method::Pathload),
            Self::PathloadFast => Some(Method::PathloadFast),
        }
    }

    /// What the global scheduler is told by, in words.
    pub const fn told_by(self) -> &'static str {
        match self {
            Self::None => "reports alone",
            Self::Pathload => "reports and pathload",
            Self::PathloadFast => "reports and pathload without pauses",
        }
    }

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pathload => "pathload",
            Self::PathloadFast => "pathload-fast",
        }
    }
}

/// A run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    /// How the available bandwidth is estimated.
    pub probes: Probes,
    /// Whether the streams go over the overlay and ride on probes; else they go beside it.
    pub riding: bool,
    /// How long frames are sent.
    pub duration: Span,
    /// How long packets wait for probes, where they ride.
    pub delay: Span,
    /// How long the local scheduler's intervals are.
    pub interval: Span,
    /// By how much the view creeps up each second.
    pub creep: Option<Rate>,
    /// How long an estimation may take.
    pub patience: Span,
    /// Seed of what is random.
    pub seed: u64,
}

/// The direction of a link that all share.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Bottleneck {
    /// Its name in the lab's counters.
    pub link: String,
    /// `up` or `down` of it.
    pub direction: String,
    /// Its configured rate.
    pub rate: Rate,
}

impl From<&Place> for Bottleneck {
    fn from(place: &Place) -> Self {
        Self {
            link: place.bottleneck.link.clone(),
            direction: place.bottleneck.direction.to_owned(),
            rate: place.rate,
        }
    }
}

impl Plan {
    /// What is wrong with it, if anything.
    ///
    /// # Errors
    /// One line for whoever made it.
    pub fn check(&self) -> Result<(), String> {
        let [least, most] = LENGTHS;
        if !(least..=most).contains(&self.duration.0) {
            return Err("a run lasts 5s to 1h - write another --duration".to_owned());
        }
        if self.delay.0.is_zero() || self.delay.0 > Duration::from_secs(1) {
            return Err(
                "packets wait for more than 0s and at most 1s - use --riding off for no wait"
                    .to_owned(),
            );
        }
        if self.interval.0 < Duration::from_millis(100) || self.interval.0 > self.duration.0 {
            return Err(
                "the report interval is 100ms to the whole run - write another --interval"
                    .to_owned(),
            );
        }
        if self.creep > Some(MOST_CREEP) {
            return Err(
                "the view rises by at most 1Mbit each second - write a lower --creep".to_owned(),
            );
        }
        Ok(())
    }

    /// What may ride.
    pub(super) const fn carrying(&self) -> Riding {
        Riding::new(self.riding, self.delay.0, 1.0)
    }

    /// How the run's length compares with the thesis's.
    fn share(&self) -> f64 {
        self.duration.0.as_secs_f64() / WHOLE.0.as_secs_f64()
    }

    /// The cross traffic: nobody, the steps, nobody. It begins with the first packet, [`LINKING`] before the first frame.
    pub fn cross(&self) -> CrossSpec {
        let unit = Duration::from_secs(1).mul_f64(self.share());
        let linking = LINKING.as_secs_f64() / unit.as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 3 to some hundred"
        )]
        let alone = ALONE + linking.round() as u32;
        let quiet = (alone, QUIET);
        let steps = STEPS.map(|(seconds, mbps)| (seconds, mbps * 1_000_000));
        let rates = std::iter::once(quiet).chain(steps).chain([(1, QUIET)]);
        let rates = rates.flat_map(|(units, bps)| (0..units).map(move |_| Rate::from_bps(bps)));
        CrossSpec {
            pace: Pace::Even,
            rates: rates.flatten().collect(),
            each: Some(Span(unit)),
            then: Then::Hold,
            sizes: Vec::new(),
            recording: Some("web-page".to_owned()),
            copies: 1,
        }
    }

    /// When, in seconds after the first frame, cross traffic changes to how many Mbit/s.
    pub fn steps(&self) -> Vec<(f64, f64)> {
        let mut at = f64::from(ALONE);
        let mut steps = vec![(0.0, 0.0)];
        for (seconds, mbps) in STEPS {
            steps.push((at * self.share(), mbps as f64));
            at += f64::from(seconds);
        }
        steps.push((at * self.share(), 0.0));
        steps
    }

    /// What the global scheduler is told.
    pub fn options(&self) -> Options {
        let inside: f64 = HEADERS.iter().take(1 + usize::from(self.riding)).sum();
        Options {
            creep: self.creep.map_or(0.0, |rate| rate.as_bps() as f64),
            payload_share: 1.0 - inside / PACKET,
        }
    }
}

/// Mbit/s of so many octets of frames in so many seconds.
pub fn mbps(octets: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        octets as f64 * 8e-6 / seconds
    } else {
        0.0
    }
}

/// The kind of this name.
pub fn kind_of(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seconds: u64) -> Plan {
        Plan {
            probes: Probes::None,
            riding: true,
            duration: Span(Duration::from_secs(seconds)),
            delay: Span::from_millis(10),
            interval: Span::from_millis(2_000),
            creep: None,
            patience: Span::from_millis(60_000),
            seed: 1,
        }
    }

    /// Holds manager/medianet-traffic.
    #[test]
    fn a_whole_run_has_240_s_of_cross_traffic_after_40_s_alone() {
        let cross = plan(336).cross();
        assert_eq!(cross.each, Some(Span::from_millis(1_000)));
        let mbps: Vec<f64> = cross.rates.iter().map(|rate| rate.as_mbps()).collect();
        assert_eq!(mbps.len(), 43 + 240 + 1);
        assert!((mbps[42], mbps[43], mbps[72], mbps[73]) == (0.1, 4.0, 4.0, 8.0));
        assert!(mbps[282] > 3.9 && mbps[283] < 0.2);
        let steps = plan(336).steps();
        assert_eq!(steps[2], (70.0, 8.0));
        assert_eq!(steps.last(), Some(&(280.0, 0.0)));
    }

    #[test]
    fn a_shorter_run_has_the_same_steps_in_less_time() {
        let plan = plan(84);
        assert_eq!(plan.cross().each, Some(Span::from_millis(250)));
        assert_eq!(plan.cross().rates.len(), 40 + 12 + 240 + 1);
        assert_eq!(plan.steps()[1], (10.0, 4.0));
    }

    #[test]
    fn frames_are_less_of_a_packet_over_the_overlay() {
        let on = plan(336).options().payload_share;
        let off = Plan {
            riding: false,
            ..plan(336)
        };
        let off = off.options().payload_share;
        assert!((off - 1_448.0 / 1_500.0).abs() < 1e-9);
        assert!((on - 1_368.0 / 1_500.0).abs() < 1e-9);
    }
}
