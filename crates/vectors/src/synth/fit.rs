//! A fit, as it is written in a file.

use super::course::{self, Stretch};
use super::marginal::{Curve, Marginal};
use super::{Statement, Statistic};
use crate::describe::Measure;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The fits that are compiled in, by name.
pub const BUILT_IN: [(&str, &str); 2] = [
    ("ibm-2006", include_str!("../../../../mixes/ibm-2006.toml")),
    ("unc-2008", include_str!("../../../../mixes/unc-2008.toml")),
];
/// What a vector is made of.
pub(super) const MEASURES: [Measure; 9] = [
    Measure::Epochs,
    Measure::RequestBytes,
    Measure::ResponseBytes,
    Measure::ConcurrentAdus,
    Measure::ConcurrentAduBytes,
    Measure::IntraEpochMs,
    Measure::InterEpochMs,
    Measure::ConcurrentQuietMs,
    Measure::MinRttMs,
];
/// Those that a capture must last for.
pub(super) const CAPTURED: [Measure; 3] = [
    Measure::IntraEpochMs,
    Measure::InterEpochMs,
    Measure::ConcurrentQuietMs,
];
/// A count is summed up one by one, and a vector holds two ADUs for each epoch ([`crate::MAX_ADUS`]).
pub(super) const MOST_COUNTED: f64 = 5e5;

/// The distributions of a kind of traffic.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub summary: String,
    /// Connections that start in a second, on average.
    pub starts_per_second: f64,
    /// Length of the capture that the figures are of, in seconds: waits as long as that were hardly seen. If none, they were.
    pub capture_s: Option<f64>,
    /// How that changes over time; not at all, if empty.
    #[serde(default)]
    pub course: Vec<Stretch>,
    /// The share of connections that are concurrent.
    pub concurrent_share: f64,
    /// A distribution of each quantity that a vector needs.
    pub marginals: BTreeMap<Measure, Marginal>,
    /// Windows of initiators and acceptors.
    pub windows: Windows,
    /// Segments lost of those that each end sends; none, if empty.
    #[serde(default)]
    pub losses: Losses,
}

/// What either end loses.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Losses {
    /// Initiators.
    #[serde(default)]
    pub initiator: Vec<LossShare>,
    /// Acceptors.
    #[serde(default)]
    pub acceptor: Vec<LossShare>,
}

/// A loss that a share of the ends have; what is left of them has none.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LossShare {
    /// How many, from 0 to 1.
    pub share: f64,
    /// Lost of the segments that are sent, from 0 to 1.
    pub loss: f64,
    /// The section that prints the share, or `assumed`, or `measured`.
    pub from: String,
}

/// The windows of either end.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// Of initiators.
    pub initiator: Vec<Window>,
    /// Of acceptors.
    pub acceptor: Vec<Window>,
}

/// A window that a share of the ends advertise.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// How many, from 0 to 1.
    pub share: f64,
    /// Its size.
    pub octets: u32,
    /// The section that prints the share, or `assumed`.
    pub from: String,
}

/// Why a file is no fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// It is not TOML, or has other fields.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A quantity has no distribution, or one too many.
    #[error("the marginals must be those of {MEASURES:?}")]
    Marginals,
    /// A distribution that is none.
    #[error(
        "{0:?}: values must be above zero and ascend from `least` over the knots to `most`, and shares from 0 to 1; a count is at most 500,000, a wait `capture_s`"
    )]
    Marginal(Measure),
    /// Rate or share out of range.
    #[error("starts_per_second must be above 0, and concurrent_share from 0 to 1")]
    Shares,
    /// Stretches that are no course.
    #[error(
        "the stretches of a course must begin at 0 and follow each other, each with a factor from 0"
    )]
    Course,
    /// Windows whose shares are not all.
    #[error("the shares of the windows of an end must add up to 1")]
    Windows,
    /// Losses that are more than all.
    #[error(
        "the shares of the losses of an end must be from 0 to 1 and no more than 1 together, and so must each loss"
    )]
    Losses,
    /// No such fit.
    #[error("no fit is called `{0}`; there are ibm-2006 and unc-2008")]
    Unknown(String),
}

impl Fit {
    /// The built-in fit of this name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, FitError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| FitError::Unknown(name.to_owned()))?;
        Self::parse(text)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it is no fit.
    pub fn parse(text: &str) -> Result<Self, FitError> {
        let fit: Self = toml::from_str(text)?;
        fit.check()?;
        Ok(fit)
    }

    /// All figures that are printed of the trace and concern a distribution, with what the fit makes of them.
    pub fn statements(&self) -> Vec<Statement> {
        let of = |(&measure, marginal)| statements(measure, marginal, self.capture(measure));
        self.marginals.iter().flat_map(of).collect()
    }

    /// The mean number of octets of a sequential and of a concurrent connection: epochs times the sizes of request and
    /// response, and ADUs times theirs.
    pub fn mean_bytes(&self) -> [f64; 2] {
        let mean = |measure| self.curve(measure).mean();
        let epoch = mean(Measure::RequestBytes) + mean(Measure::ResponseBytes);
        [
            mean(Measure::Epochs) * epoch,
            mean(Measure::ConcurrentAdus) * mean(Measure::ConcurrentAduBytes),
        ]
    }

    /// The distribution of one of [`MEASURES`].
    pub(super) fn curve(&self, measure: Measure) -> Curve {
        self.marginals[&measure].curve(self.capture(measure))
    }

    /// The length of the capture in which a measure's values, if they are waits, were seen.
    fn capture(&self, measure: Measure) -> Option<f64> {
        let seconds = self.capture_s.filter(|_| CAPTURED.contains(&measure))?;
        Some(seconds * 1e3)
    }

    fn check(&self) -> Result<(), FitError> {
        if !self.marginals.keys().eq(sorted(MEASURES).iter()) {
            return Err(FitError::Marginals);
        }
        for (&measure, marginal) in &self.marginals {
            let countable = !marginal.whole || marginal.most <= MOST_COUNTED;
            let counted = matches!(measure, Measure::Epochs | Measure::ConcurrentAdus);
            let seen = self
                .capture(measure)
                .is_none_or(|capture| marginal.most <= capture);
            if !marginal.is_sound() || !countable || !seen || marginal.whole != counted {
                return Err(FitError::Marginal(measure));
            }
        }
        let rate = self.starts_per_second;
        if !(rate.is_finite() && rate > 0.0 && (0.0..=1.0).contains(&self.concurrent_share)) {
            return Err(FitError::Shares);
        }
        if !course::is_sound(&self.course) {
            return Err(FitError::Course);
        }
        let whole = |windows: &[Window]| {
            let shares = windows.iter().map(|window| window.share);
            let sum: f64 = shares.clone().sum();
            (sum - 1.0).abs() < 1e-3 && shares.into_iter().all(|share| share >= 0.0)
        };
        if !(whole(&self.windows.initiator) && whole(&self.windows.acceptor)) {
            return Err(FitError::Windows);
        }
        let part = |losses: &[LossShare]| {
            let is_share = |value: f64| (0.0..=1.0).contains(&value);
            let sum: f64 = losses.iter().map(|loss| loss.share).sum();
            let sound = |loss: &LossShare| is_share(loss.share) && is_share(loss.loss);
            sum <= 1.001 && losses.iter().all(sound)
        };
        if !(part(&self.losses.initiator) && part(&self.losses.acceptor)) {
            return Err(FitError::Losses);
        }
        Ok(())
    }
}

fn sorted(mut measures: [Measure; 9]) -> [Measure; 9] {
    measures.sort_unstable();
    measures
}

/// The knots that are printed, the mean, and what else there is.
fn statements(measure: Measure, marginal: &Marginal, capture: Option<f64>) -> Vec<Statement> {
    let curve = marginal.curve(capture);
    let state = |statistic, published, from: &str| {
        let fitted = match statistic {
            Statistic::Deviation => curve.seen_deviation(),
            Statistic::Mean => curve.seen_mean(),
            Statistic::Quantile(q) => curve.seen_exceeded_by(1.0 - q),
            Statistic::ShareFrom(value) => curve.seen_share_from(value),
        };
        Statement {
            measure,
            statistic,
            published,
            fitted,
            from: from.to_owned(),
        }
    };
    let mut statements = Vec::new();
    for knot in marginal.knots.iter().filter(|knot| knot.from != "assumed") {
        statements.push(if marginal.whole {
            state(Statistic::ShareFrom(knot.value), 1.0 - knot.p, &knot.from)
        } else {
            state(Statistic::Quantile(knot.p), knot.value, &knot.from)
        });
    }
    let mean = &marginal.mean;
    statements.push(state(Statistic::Mean, mean.value, &mean.from));
    let checks = marginal.checks.iter();
    statements.extend(checks.map(|check| state(check.statistic, check.value, &check.from)));
    statements
}
