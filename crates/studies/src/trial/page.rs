//! The page of one run: what the bottleneck carried of whom, what the application got, and what was estimated.

use super::figures::{Trial, accuracy, losses, throughput};
use super::summary::{Estimates, Summary, Tables, counts};
use super::tables::EstimateRow;
use super::{Plan, SECOND_NS, SIMULATED, TEST};
use record::{Record, Run};
use report::description::Description;
use report::experiment::{Axis, Cell, Figure, Series, Table};
use serde::Deserialize;

/// The page of `record`, whose summary stands in `run`.
///
/// # Errors
/// When a table or the summary cannot be read.
pub fn page(record: &Record, run: &Run) -> anyhow::Result<String> {
    let plan = Plan::deserialize(&run.plan)?;
    let summary: Summary = Deserialize::deserialize(&run.summary)?;
    // Nothing else is drawn: what else is damaged is in nobody's way.
    let tables = Tables {
        throughput: record.rows()?,
        source: record.rows()?,
        estimates: record.rows()?,
        ..Tables::default()
    };
    let riding = if summary.riding { "on" } else { "off" };
    let trial = Trial {
        id: "run".to_owned(),
        name: format!("{}, riding {riding}", summary.probes.name()),
        summary: &summary,
        tables: &tables,
    };
    let figures = [
        throughput(&trial),
        read(&plan, &summary, &tables),
        accuracy(&trial),
        losses("losses", "Where trains lose probes", &summary.by_tenth),
    ];
    let description = Description {
        name: kit::scorecard::title_over_tcp(run, TEST),
        made_by: made_by(run).to_owned(),
        sentence: summary.sentence.clone(),
        summary: Vec::new(),
        tiles: tiles(&summary),
        families: Vec::new(),
        figures: figures.into_iter().flatten().collect(),
        tables: estimations(&tables.estimates).into_iter().collect(),
        notes: kit::scorecard::closing(run),
        plan: run.plan.clone(),
    };
    Ok(report::description_page(&description)?)
}

/// What makes such a run.
fn made_by(run: &Run) -> &'static str {
    if run.test == SIMULATED {
        "isobath sim trial"
    } else {
        "isobath manager trial"
    }
}

fn tiles(summary: &Summary) -> Vec<[String; 3]> {
    let tile = |name: &str, value: String, more: String| [name.to_owned(), value, more];
    let source = summary.source.map(|of| {
        let more = format!(
            "on average, of {:.2}; {:.0} % of the seconds within 5 %",
            of.target_mbps, of.within_pct
        );
        tile(
            "Application reads",
            format!("{:.2} Mbit/s", of.mean_mbps),
            more,
        )
    });
    let added = summary.throughput_mbps.map(|of| {
        let more = format!("beside {:.2} Mbit/s of riders", of.rider);
        tile("Measuring adds", format!("{:.2} Mbit/s", of.probe), more)
    });
    let lost = (summary.probes_sent > 0).then(|| {
        let more = format!(
            "of {}; {} carried something",
            summary.probes_sent, summary.riders_lost
        );
        tile("Probes lost", summary.probes_lost.to_string(), more)
    });
    let estimates = summary.estimates.map(|of| {
        let more = format!("completed of {}{}", of.n, error(&of));
        tile("Estimates", of.completed.to_string(), more)
    });
    [source, added, lost, estimates]
        .into_iter()
        .flatten()
        .collect()
}

fn error(of: &Estimates) -> String {
    let error = of.error_pct;
    error.map_or_else(String::new, |error| format!("; {error:.0} % off (median)"))
}

/// What the application read in each second that counts.
fn read(plan: &Plan, summary: &Summary, tables: &Tables) -> Option<Figure> {
    let target = summary.source?.target_mbps;
    let rows = tables.source.iter().filter(|row| counts(plan, row.t_ns));
    let figure = Figure::new("source", "What the application reads")
        .caption("Distribution of the seconds.")
        .how_to("The best curve is a vertical line at the rate at which the application writes.")
        .how_to("To the left of it are seconds in which packets were lost or waited, to the right those in which they caught up.")
        .x(Axis::new("read in a second", "Mbit/s").range(0.0, 2.0 * target))
        .y(Axis::new("share of seconds", "%").range(0.0, 100.0));
    let seconds = rows.map(|row| row.bytes as f64 * 8e-6);
    Some(figure.series(Series::cdf("application", seconds)))
}

/// Every estimation; none where nobody estimated.
fn estimations(rows: &[EstimateRow]) -> Option<Table> {
    let mut table = Table::new("Every estimation")
        .column("ended at", "s")
        .column("took", "s")
        .column("ended", "")
        .column("low", "Mbit/s")
        .column("high", "Mbit/s")
        .column("subtracted for riders", "Mbit/s")
        .column("was available", "Mbit/s")
        .column("trains", "");
    for row in rows {
        let took = row.end_ns.saturating_sub(row.t_ns);
        table = table.row([
            Cell::from(row.end_ns as f64 / SECOND_NS),
            Cell::from(took as f64 / SECOND_NS),
            row.outcome.to_string().into(),
            row.low_mbps.into(),
            row.high_mbps.into(),
            row.spared_mbps.into(),
            row.truth_mbps.into(),
            row.trains.into(),
        ]);
    }
    (!rows.is_empty()).then_some(table)
}
