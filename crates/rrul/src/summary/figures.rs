//! Figures that several parts of the summary are made of, and the run's times.

use super::view::View;
use probe::clock::ClockLine;
use schema::rrul::{ClockFigures, Interval, Times};
use std::collections::BTreeMap;
use std::ops::Range;

/// How the far end's clock runs, in the units of the summary.
pub(super) fn clock(line: ClockLine) -> ClockFigures {
    ClockFigures {
        offset_ms: line.offset_ns / 1e6,
        skew_ppm: line.skew_ppm,
    }
}

impl View<'_> {
    /// The run's times.
    pub(super) fn times(&self) -> Times {
        let plan = self.plan;
        let load = (plan.load_start(), plan.load_end());
        let load = super::view::nanos(load.0)..super::view::nanos(load.1);
        Times {
            idle: span(&self.idle),
            web_idle: span(&self.web_idle),
            load: span(&load).filter(|_| !plan.load.is_empty()),
            loaded: span(&self.loaded),
            discarded: self.discarded.iter().filter_map(span).collect(),
            boost_mbps: self.boost_rates(),
        }
    }

    /// How many streams went by which version of IP.
    pub(super) fn families(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for stream in &self.tables.streams {
            *counts.entry(format!("v{}", stream.family)).or_default() += 1;
        }
        counts
    }
}

/// The interval in seconds; `None` for an empty one.
fn span(range: &Range<u64>) -> Option<Interval> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    (!range.is_empty()).then(|| [seconds(range.start), seconds(range.end)])
}
