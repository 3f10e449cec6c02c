//! The page of one run: what arrived, and how the streams followed what the path had for them.

use super::figures::Course;
use super::summary::Summary;
use super::{SIMULATED, TEST};
use record::{Record, Run};
use report::description::Description;
use report::experiment::Table;
use serde::Deserialize;

/// The page of `record`, whose summary stands in `run`.
///
/// # Errors
/// When a table or the summary cannot be read.
pub fn page(record: &Record, run: &Run) -> anyhow::Result<String> {
    let summary: Summary = Deserialize::deserialize(&run.summary)?;
    let course = Course::read(record, summary.name(), "run".to_owned())?;
    let figures = course.all().into_iter().chain([course.cross()]);
    let description = Description {
        name: kit::scorecard::title_over_tcp(run, TEST),
        made_by: made_by(run).to_owned(),
        sentence: format!(
            "Three streams, {}, told by {}: {:.1} frames a second could be decoded, {:.2} Mbit/s.",
            summary.carried(),
            summary.probes.told_by(),
            summary.decoded_per_s,
            summary.decoded_mbps
        ),
        summary: Vec::new(),
        tiles: tiles(&summary),
        families: Vec::new(),
        figures: figures.collect(),
        tables: vec![streams(&summary)],
        notes: kit::scorecard::closing(run),
        plan: run.plan.clone(),
    };
    Ok(report::description_page(&description)?)
}

/// What makes such a run.
fn made_by(run: &Run) -> &'static str {
    if run.test == SIMULATED {
        "isobath sim medianet"
    } else {
        "isobath manager medianet"
    }
}

fn tiles(summary: &Summary) -> Vec<[String; 3]> {
    let tile = |name: &str, value: String, more: String| [name.to_owned(), value, more];
    let failed = summary.failed_pct.map(|failed| {
        let frames = summary.frames;
        let more = format!(
            "{} dropped, {} not to be decoded",
            frames.dropped, frames.undecodable
        );
        tile("Frames that failed", format!("{failed:.2} %"), more)
    });
    let delay = summary.delay_ms.map(|delay| {
        let more = format!("median; {:.0} ms at the 95th percentile", delay.p95);
        tile("Delay of frames", format!("{:.0} ms", delay.p50), more)
    });
    let estimates = summary.estimates.as_ref().map(|of| {
        let more = format!(
            "completed of {}; probing added {:.2} Mbit/s",
            of.asked, of.overhead_mbps
        );
        tile("Estimates", of.completed.to_string(), more)
    });
    let adapted = tile(
        "Levels changed",
        summary.reconfigurations.to_string(),
        format!("utility {:.2} of 3 on average", summary.utility),
    );
    let tiles = [failed, delay, Some(adapted), estimates];
    tiles.into_iter().flatten().collect()
}

fn streams(summary: &Summary) -> Table {
    let table = Table::new("Stream by stream")
        .column("stream", "")
        .column("decoded", "frames/s")
        .column("decoded", "Mbit/s")
        .column("at the high level", "% of the time")
        .column("at the medium level", "% of the time");
    let streams = summary.streams.iter().enumerate();
    streams.fold(table, |table, (number, stream)| {
        table.row([
            (number + 1) as f64,
            stream.decoded_per_s,
            stream.decoded_mbps,
            stream.high_pct,
            stream.medium_pct,
        ])
    })
}
