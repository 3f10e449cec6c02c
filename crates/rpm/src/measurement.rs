//! Responsiveness among the measurements: its records, and how they end.

use crate::run::Outcome;
use crate::scorecard;
use crate::summary::summarise;
use kit::instrument::{self, Measured, of_client};
use kit::measurement::{Figure, Measurement, figure, read};
use kit::warnings::List;
use record::{Record, Run};
use schema::rpm::{Plan, Summary, Way};

/// Responsiveness under working conditions.
pub struct Rpm;

impl Measurement for Rpm {
    const TESTS: &'static [&'static str] = &["rpm"];
    const FIGURES: &'static [Figure] = &[
        figure("RPM down", "1/min", "/down/rpm"),
        figure("RPM up", "1/min", "/up/rpm"),
        figure("RPM idle", "1/min", "/idle_rpm"),
        figure("goodput down", "Mbit/s", "/down/goodput_mbps"),
        figure("goodput up", "Mbit/s", "/up/goodput_mbps"),
        figure("TCP idle p50", "ms", "/idle/tcp_ms/p50"),
        figure("TCP down p50", "ms", "/down/foreign/tcp_ms/p50"),
        figure("TCP up p50", "ms", "/up/foreign/tcp_ms/p50"),
        figure("HTTP down p50", "ms", "/down/self_ms/p50"),
        figure("HTTP up p50", "ms", "/up/self_ms/p50"),
    ];
    type Summary = Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        let plan: Plan = read(&record.run().plan, "plan")?;
        Ok(summarise(&plan, &record.rows()?, &record.rows()?))
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }
}

/// More requests than one in so many came to nothing: what the others took is not what users of this path and server meet.
const MOST_FAILED: u64 = 20;

/// What there is to say of a direction with so many requests.
fn warn(list: &mut List, name: &str, way: &Way, asked: u64) {
    if way.rpm_confidence != "high" {
        list.add(
            "unsettled",
            format!(
                "the responsiveness {name} has {} confidence: it did not settle",
                way.rpm_confidence
            ),
            "give a longer --most, or compare several runs",
        );
    }
    if way.failed * MOST_FAILED > asked {
        list.add(
            "requests_failed",
            format!(
                "{} of {asked} requests under load {name} came to nothing: the figures are of the others",
                way.failed
            ),
            "see whether the server limits connections or requests",
        );
    }
}

/// Turns what was found into the run's conclusion; its summary is returned, to be put into the run.
pub fn conclude(run: &mut Run, plan: &Plan, outcome: &Outcome) -> Summary {
    let summary = summarise(plan, &outcome.probes, &outcome.intervals);
    run.instrument = of_client(&outcome.cpu);
    let mut list = List::default();
    list.ending(&outcome.ending, "the figures are of the time before");
    list.instrument(&run.instrument, &outcome.cpu, &[]);
    let ways = [("down", &summary.down), ("up", &summary.up)];
    for (name, way) in ways {
        let asked = outcome.probes.iter().filter(|probe| probe.load == name);
        if let Some(way) = way {
            warn(&mut list, name, way, asked.count() as u64);
        }
    }
    run.warnings = list.0;
    let figures = [&summary.down, &summary.up].into_iter().flatten();
    let measured = figures.filter(|way| way.rpm.is_some()).count();
    let measured = Measured::of(measured, plan.ways.directions().len());
    run.status = instrument::status(&outcome.ending, measured, &run.warnings, &[]);
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_of_which_more_than_a_twentieth_failed_is_warned_of() {
        let codes = |failed| {
            let way = Way {
                rpm_confidence: "high".to_owned(),
                failed,
                ..Way::default()
            };
            let mut list = List::default();
            warn(&mut list, "down", &way, 200);
            list.0.into_iter().map(|warning| warning.code)
        };
        assert_eq!(codes(10).count(), 0);
        assert_eq!(codes(11).collect::<Vec<_>>(), ["requests_failed"]);
    }
}
