//! How much is played, and for how long: in the lab what a machine can play to its end, in virtual time a trace's hour.

use super::Replays;
use crate::experiment::Scale;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Span;

/// The shortest replay that says anything.
pub(super) const LEAST: Duration = Duration::from_secs(6);

/// A trace's whole traffic: nothing is left out, and what is open at the end is cut as a capture cuts it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whole {
    /// As in [`Replays`].
    pub(super) share: String,
    pub(super) starts: Span,
    pub(super) warm_up: Span,
    /// Part of `starts` at its end that figures of links leave out.
    #[serde(default)]
    pub(super) cool_down: Span,
}

/// How much is done at a scale: fewer repeats first, then shorter ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub(super) repeats: usize,
    pub(super) starts: Duration,
    pub(super) longest: Duration,
    pub(super) warm_up: Duration,
    pub(super) cool_down: Duration,
}

impl Extent {
    /// After the last start, for connections to end: one of the longest, and as much again for what the link and the model add.
    /// A run is over when they are.
    pub(super) fn after(&self) -> Duration {
        self.longest * 2
    }

    /// A run's length, and what of it at the beginning and at the end figures of links are not of.
    pub(super) fn times(&self) -> [Duration; 3] {
        let after = self.after();
        [self.starts + after, self.warm_up, self.cool_down + after]
    }

    /// The time of which figures are in the lab: all starts but those of the warm-up.
    pub(super) fn period(&self) -> Duration {
        self.starts.saturating_sub(self.warm_up)
    }
}

impl Replays {
    /// How much of the mix's rate of starts is played.
    pub(super) fn share(&self) -> &str {
        let whole = self.whole.as_ref().filter(|_| self.is_simulated());
        whole.map_or(&self.share, |whole| &whole.share)
    }

    /// How much there is at scale 1.
    pub(super) fn whole_extent(&self) -> Extent {
        let (starts, warm_up, cool_down, longest) = match &self.whole {
            Some(whole) if self.is_simulated() => (
                whole.starts,
                whole.warm_up,
                whole.cool_down.0,
                Duration::ZERO,
            ),
            _ => (self.starts, self.warm_up, Duration::ZERO, self.longest.0),
        };
        Extent {
            repeats: self.repeats,
            starts: starts.0,
            longest,
            warm_up: warm_up.0,
            cool_down,
        }
    }

    /// How much there is at `scale`.
    pub(super) fn extent(&self, scale: Scale) -> Extent {
        let repeats = scale.of(self.repeats, 1);
        let share = (scale.get() * self.repeats as f64 / repeats as f64).min(1.0);
        let whole = self.whole_extent();
        let least = (LEAST.as_secs_f64() / whole.starts.as_secs_f64()).min(1.0);
        let shorter = |span: Duration| {
            let ms = span.as_secs_f64() * share.max(least) * 1e3;
            Duration::from_secs_f64(ms.round() / 1e3)
        };
        Extent {
            repeats,
            starts: shorter(whole.starts),
            longest: shorter(whole.longest),
            warm_up: shorter(whole.warm_up),
            cool_down: shorter(whole.cool_down),
        }
    }
}
