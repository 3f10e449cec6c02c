//! What of a replay this machine can do, found out before it is asked to: `isobath replay calibrate`.
//!
//! An instrument that was itself the bottleneck measured itself. So one component after the other is pushed past what it can
//! do, and experiments stay well below that (D, section 4.2). Each trial is a real replay of made vectors in the dumbbell,
//! through the same code, monitors and capture included; its load is doubled until a criterion breaks, and then sought between.
//!
//! | component | vectors of a trial |
//! |---|---|
//! | [`Component::Starts`] | connections of one exchange of single octets, without delay |
//! | [`Component::Open`] | connections that exchange one octet and then wait, opened at half the rate found |
//! | [`Component::Packets`] | some hundred connections of many exchanges of single octets |
//! | [`Component::Rate`] | responses of half a megabyte |
//!
//! ```text
//! search (which load next) -> script (its vectors) -> trial (play them) -> criterion (what broke) -> found -> a file
//! forecast of a replay, and what was measured of it -> margin -> refused, or invalid
//! ```
//!
//! [`search`], [`script`], [`criterion`] and [`margin`] compute; [`trial`] and [`mod@file`] do.

pub mod criterion;
pub mod file;
pub mod margin;
pub mod scorecard;
pub mod script;
pub mod search;
pub mod trial;

use criterion::Criterion;
use jiff::Timestamp;
use record::Warning;
use serde::{Deserialize, Serialize};

/// A part of the instrument that has a limit.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// Connections opened a second.
    Starts,
    /// Connections open at once.
    Open,
    /// Packets a second through the emulated link, both directions.
    Packets,
    /// 10^6 bit/s through the emulated link, both directions, IP headers included.
    Rate,
}

impl Component {
    /// All, in the order in which they are pushed: how fast connections may be opened must be known to have many open.
    pub const ALL: [Self; 4] = [Self::Starts, Self::Open, Self::Packets, Self::Rate];

    /// As the file and the scorecard name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starts => "starts",
            Self::Open => "open",
            Self::Packets => "packets",
            Self::Rate => "rate",
        }
    }

    /// A figure of it with its unit.
    pub fn words(self, figure: f64) -> String {
        let unit = match self {
            Self::Starts => "connections/s",
            Self::Open => "open connections",
            Self::Packets => "packets/s",
            Self::Rate => "Mbit/s",
        };
        format!("{figure:.0} {unit}")
    }
}

/// One load that was tried.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Trial {
    /// The load that was asked for, in the component's unit.
    pub asked: f64,
    /// The load that there was.
    pub carried: f64,
    /// What broke; empty when the machine held the load.
    pub broke: Vec<Criterion>,
    /// How late connections were opened, 99th percentile.
    pub start_late_p99_ms: f64,
    /// How late the emulator was in its worse direction, 99th percentile.
    pub emulator_late_p99_ms: f64,
    /// How busy all processors were on average; null when the trial was too short to tell.
    pub cpu_pct: Option<f64>,
}

/// Why a load was the largest that was tried although nothing broke.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// This process may have no more file descriptors.
    Descriptors,
    /// More would take more than half of the free memory.
    Memory,
    /// More would have taken more time, or more trials, than a calibration has.
    Time,
}

impl Bound {
    const fn words(self) -> &'static str {
        match self {
            Self::Descriptors => {
                "nothing broke, and more file descriptors are not allowed (ulimit -n)"
            }
            Self::Memory => "nothing broke, and more would take half of the free memory",
            Self::Time => "nothing broke; more was not tried",
        }
    }
}

/// What was found of a component.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Found {
    /// What was loaded.
    pub component: Component,
    /// The largest load that was held, as it was measured; zero when none was.
    pub limit: f64,
    /// The smallest load beyond at which something broke; null when nothing did.
    pub broke_at: Option<f64>,
    /// What broke there.
    pub broke: Vec<Criterion>,
    /// Why nothing larger was tried, when nothing broke.
    pub bound: Option<Bound>,
    /// All trials, in their order.
    pub trials: Vec<Trial>,
}

impl Found {
    /// What `trials` say; no load beyond `bound` was to be tried.
    pub fn of(component: Component, trials: Vec<Trial>, bound: Bound) -> Self {
        let held = trials.iter().filter(|trial| trial.broke.is_empty());
        let held = held.max_by(|one, other| one.asked.total_cmp(&other.asked));
        let (asked, limit) = held.map_or((0.0, 0.0), |trial| (trial.asked, trial.carried));
        let beyond = trials
            .iter()
            .filter(|trial| !trial.broke.is_empty() && trial.asked > asked);
        let first = beyond.min_by(|one, other| one.asked.total_cmp(&other.asked));
        Self {
            component,
            limit,
            broke_at: first.map(|trial| trial.asked),
            broke: first.map(|trial| trial.broke.clone()).unwrap_or_default(),
            bound: first.is_none().then_some(bound),
            trials,
        }
    }
}

/// The machine that limits were found on: on another they say nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Machine {
    /// Its name, as it calls itself.
    pub host: String,
    /// Release of its kernel.
    pub kernel: String,
    /// Processors that may be used.
    pub cpus: usize,
    /// The version of this program.
    pub isobath: String,
}

impl Machine {
    /// This one.
    pub fn this() -> Self {
        let this = sys::proc::Host::this();
        Self {
            host: this.hostname,
            kernel: this.kernel,
            cpus: this.cpus,
            isobath: session::VERSION.to_owned(),
        }
    }
}

/// The limits of a machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Limits {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Where they were found.
    pub machine: Machine,
    /// When they were found.
    pub taken: Timestamp,
    /// Whether a few loads were tried only: then more may be possible.
    pub quick: bool,
    /// Of each component.
    pub components: Vec<Found>,
    /// What the reader should know of the machine meanwhile.
    pub warnings: Vec<Warning>,
}

/// The schema that this version writes and reads.
pub const SCHEMA: &str = "isobath.replay-limits/1";

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn trial(asked: f64, broke: &[Criterion]) -> Trial {
        Trial {
            asked,
            carried: asked - 1.0,
            broke: broke.to_vec(),
            start_late_p99_ms: 0.5,
            emulator_late_p99_ms: 0.2,
            cpu_pct: Some(50.0),
        }
    }

    pub(crate) fn found(component: Component, limit: f64) -> Found {
        Found::of(component, vec![trial(limit + 1.0, &[])], Bound::Time)
    }

    /// Holds tmix/calibration.
    #[test]
    fn the_limit_is_the_largest_load_held_and_what_broke_is_of_the_next() {
        let late = Criterion::StartsLate;
        let trials = vec![
            trial(1_000.0, &[]),
            trial(2_000.0, &[late]),
            trial(2_000.0, &[late, Criterion::Processors]),
            trial(1_400.0, &[]),
            trial(1_700.0, &[Criterion::Emulator]),
        ];
        let found = Found::of(Component::Starts, trials, Bound::Time);
        assert!((found.limit - 1_399.0).abs() < 1e-9);
        assert_eq!(found.broke_at, Some(1_700.0));
        assert_eq!(found.broke, [Criterion::Emulator]);
        assert_eq!(found.bound, None);
    }

    #[test]
    fn a_load_that_broke_once_and_was_held_then_is_held() {
        let trials = vec![
            trial(1_000.0, &[Criterion::StartsLate]),
            trial(1_000.0, &[]),
        ];
        let found = Found::of(Component::Starts, trials, Bound::Descriptors);
        assert!((found.limit - 999.0).abs() < 1e-9);
        assert_eq!(
            (found.broke_at, found.bound),
            (None, Some(Bound::Descriptors))
        );
    }

    #[test]
    fn where_nothing_was_held_the_limit_is_nothing() {
        let found = Found::of(
            Component::Rate,
            vec![trial(10.0, &[Criterion::Refused])],
            Bound::Time,
        );
        assert!(found.limit.abs() < 1e-9);
        assert_eq!(found.broke_at, Some(10.0));
    }
}
