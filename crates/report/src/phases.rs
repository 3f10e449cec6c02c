//! Which stretches of a run count as idle and which as loaded.
//!
//! The summary says so (`phases`). A record that was made before it did, or by another program, is read by its plan.

use crate::told;
use crate::view::{estimate, mbm, replay};
use record::Run;
use schema::rrul;
use serde::Serialize;
use std::time::Duration;

/// Stretches of a run, in seconds since its start; what did not take place is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Phases {
    /// Nothing but probes.
    pub(crate) idle: Option<(f64, f64)>,
    /// Web pages were loaded without other load.
    pub(crate) web_idle: Option<(f64, f64)>,
    /// From the first load stream's start to the end of the load.
    pub(crate) load: Option<(f64, f64)>,
    /// The part of it that counts.
    pub(crate) loaded: Option<(f64, f64)>,
    /// What was left out of it.
    pub(crate) discarded: Vec<(f64, f64)>,
}

/// A phase in which values count.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    Idle,
    Loaded,
}

impl Phases {
    /// Of a run, whose last row is at `end_s`.
    pub(crate) fn of(run: &Run, end_s: f64) -> Self {
        match Self::told(run) {
            Some(told) if told != Self::default() => told,
            // Of bulk transfers, test streams, trains and what somebody else does nothing is idle, and each is looked at by itself.
            _ if matches!(
                run.test.as_str(),
                "btc" | "sim-btc" | "lab run" | mbm::TEST | mbm::SIMULATED | estimate::TEST
            ) =>
            {
                Self::default()
            }
            _ if replay::is_replay(run) => Self::counted(replay::window_s(run), end_s),
            _ => Self::planned(rrul::Plan::of_record(&run.plan).ok().as_ref(), end_s),
        }
    }

    /// What the summary of a run of the RRUL family says.
    fn told(run: &Run) -> Option<Self> {
        let times = told::summary::<rrul::Summary>(run)?.phases;
        let pair = |[from, to]: [f64; 2]| (from, to);
        Some(Self {
            idle: times.idle.map(pair),
            web_idle: times.web_idle.map(pair),
            load: times.load.map(pair),
            loaded: times.loaded.map(pair),
            discarded: times.discarded.into_iter().map(pair).collect(),
        })
    }

    /// Of a run of which one stretch counts and the rest is left out.
    fn counted(window: Option<(f64, f64)>, end_s: f64) -> Self {
        let Some((from, to)) = window else {
            return Self::default();
        };
        let outside = [(0.0, from), (to, end_s)];
        Self {
            discarded: outside.into_iter().filter(|(a, b)| a < b).collect(),
            ..Self::default()
        }
    }

    fn planned(plan: Option<&rrul::Plan>, end_s: f64) -> Self {
        let Some(plan) = plan.filter(|plan| !plan.load.is_empty()) else {
            return Self {
                idle: (end_s > 0.0).then_some((0.0, end_s)),
                ..Self::default()
            };
        };
        let seconds = |(from, to): (Duration, Duration)| {
            (from < to).then_some((from.as_secs_f64(), to.as_secs_f64()))
        };
        Self {
            idle: seconds(plan.idle()),
            web_idle: seconds(plan.web_idle()),
            load: seconds((plan.load_start(), plan.load_end())),
            loaded: seconds(plan.loaded()),
            discarded: Vec::new(),
        }
    }

    /// The phase to which an instant belongs, and how much of it is over (0 to 1).
    pub(crate) fn at(&self, t_ns: u64) -> Option<(Phase, f64)> {
        let t = t_ns as f64 / 1e9;
        let share =
            |(from, to): (f64, f64)| (from <= t && t < to).then(|| (t - from) / (to - from));
        if let Some(share) = self.idle.and_then(share) {
            return Some((Phase::Idle, share));
        }
        let share = self.loaded.and_then(share)?;
        let is_left_out = self.discarded.iter().any(|&(from, to)| from <= t && t < to);
        (!is_left_out).then_some((Phase::Loaded, share))
    }

    /// As [`Phases::at`] for web page loads, which may have an idle phase of their own.
    pub(crate) fn at_web(&self, t_ns: u64) -> Option<Phase> {
        let t = t_ns as f64 / 1e9;
        let is_in = |(from, to): (f64, f64)| from <= t && t < to;
        if self.web_idle.is_some_and(is_in) {
            return Some(Phase::Idle);
        }
        self.at(t_ns).map(|(phase, _)| phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn run(plan: Value, summary: Value) -> Run {
        let mut run = Run::new("rrul", "2026-11-21T07:29:11Z".parse().unwrap(), plan);
        run.summary = summary;
        run
    }

    fn rrul() -> Value {
        json!({"summary": "a test", "idle_before": "5s", "duration": "60s", "settle": "2s", "idle_after": "5s",
               "load": [{"direction": "both"}, {"direction": "both", "start": "600ms"}]})
    }

    #[test]
    fn the_summary_is_believed_first() {
        let told = json!({"phases": {"idle": [1.0, 4.0], "web_idle": null, "load": [5.0, 20.0],
                                     "loaded": [8.0, 20.0], "discarded": [[10.0, 12.0]]}});
        let phases = Phases::of(&run(rrul(), told), 70.0);
        assert_eq!(phases.idle, Some((1.0, 4.0)));
        assert_eq!(phases.at(2_500_000_000), Some((Phase::Idle, 0.5)));
        assert_eq!(phases.at(11_000_000_000), None, "discarded");
        assert_eq!(phases.at(14_000_000_000), Some((Phase::Loaded, 0.5)));
    }

    #[test]
    fn without_it_the_plan_tells() {
        let phases = Phases::of(&run(rrul(), json!({})), 70.0);
        assert_eq!(phases.load, Some((5.0, 65.0)));
        assert_eq!(phases.loaded, Some((7.6, 65.0)));
        let ping = Phases::of(
            &run(
                json!({"summary": "a test", "idle_before": "5s", "load": []}),
                json!({}),
            ),
            70.0,
        );
        assert_eq!((ping.idle, ping.loaded), (Some((0.0, 70.0)), None));
        let other = Phases::of(&run(Value::Null, json!({"phases": 5})), 0.0);
        assert_eq!(other, Phases::default());
    }
}
