//! IP-layer capacity among the measurements: its records, and how they end.

use crate::run::Outcome;
use crate::scorecard;
use crate::summary::summarise;
use kit::instrument::{self, Measured, of_client};
use kit::measurement::{Figure, Measurement, figure};
use kit::warnings::List;
use record::{Record, Run};
use schema::udpst::{Plan, Summary, Way};

/// IP-layer capacity by UDP.
pub struct Udpst;

impl Measurement for Udpst {
    const TESTS: &'static [&'static str] = &["udpst"];
    const FIGURES: &'static [Figure] = &[
        figure("capacity down", "Mbit/s", "/down/capacity_mbps"),
        figure("capacity up", "Mbit/s", "/up/capacity_mbps"),
        figure("mean down", "Mbit/s", "/down/mean_mbps"),
        figure("mean up", "Mbit/s", "/up/mean_mbps"),
        figure("loss down", "%", "/down/loss_pct"),
        figure("loss up", "%", "/up/loss_pct"),
        figure("RTT down, least", "ms", "/down/least_rtt_ms"),
        figure("RTT up, least", "ms", "/up/least_rtt_ms"),
        figure("RTT var. down", "ms", "/down/rtt_variation_ms/p50"),
        figure("RTT var. up", "ms", "/up/rtt_variation_ms/p50"),
    ];
    type Summary = Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        Ok(summarise(&record.rows()?, &record.rows()?))
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }
}

/// A capacity that was reached in the last of its sub-intervals may be larger.
fn warn(list: &mut List, name: &str, way: &Way, lasted_s: f64) {
    let is_late = way
        .reached_s
        .is_some_and(|reached| reached > lasted_s * 0.8);
    if is_late && way.intervals > 2 {
        list.add(
            "still_rising",
            format!("the rate {name} was still rising when the time was over: the capacity may be larger"),
            "give a longer --duration, or the other --algorithm",
        );
    }
}

/// Turns what was found into the run's conclusion; its summary is returned, to be put into the run.
pub fn conclude(run: &mut Run, plan: &Plan, outcome: &Outcome) -> Summary {
    let summary = summarise(&outcome.trials, &outcome.intervals);
    run.instrument = of_client(&outcome.cpu);
    let mut list = List::default();
    list.ending(&outcome.ending, "the figures are of the time before");
    list.instrument(&run.instrument, &outcome.cpu, &[]);
    if outcome.overflows > 0 {
        list.add(
            "overflows",
            format!(
                "this host's kernel had no room for {} datagrams: they count as lost on the path",
                outcome.overflows
            ),
            "close other programs, and allow larger buffers: sysctl net.core.rmem_max",
        );
    }
    if !outcome.changed.is_empty() {
        list.add(
            "terms_changed",
            format!("the server has other terms: {}", outcome.changed.join(", ")),
            "compare only runs on the same terms, or ask for these",
        );
    }
    let ways = [("down", &summary.down), ("up", &summary.up)];
    for (name, way) in ways {
        if let Some(way) = way {
            let lasted_s = f64::from(way.intervals) * plan.sub_interval.0.as_secs_f64();
            warn(&mut list, name, way, lasted_s);
        }
    }
    run.warnings = list.0;
    let figures = [&summary.down, &summary.up].into_iter().flatten();
    let measured = figures.filter(|way| way.capacity_mbps.is_some()).count();
    let measured = Measured::of(measured, plan.ways.directions().len());
    run.status = instrument::status(&outcome.ending, measured, &run.warnings, &["overflows"]);
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_rises_to_the_end_is_warned_of() {
        let codes = |reached_s| {
            let way = Way {
                reached_s: Some(reached_s),
                intervals: 10,
                ..Way::default()
            };
            let mut list = List::default();
            warn(&mut list, "down", &way, 10.0);
            list.0.len()
        };
        assert_eq!((codes(4.0), codes(9.0)), (0, 1));
    }
}
