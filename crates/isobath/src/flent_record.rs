//! Records of Flent's data files: RRUL's figures as far as there are any, and the means that Flent itself shows.

use kit::measurement::{Figure, Measurement, read};
use record::{Record, Run};
use rrul::Rrul;
use rrul::scorecard::scorecard;
use schema::rrul::Summary;
use serde_json::Value;

/// A record that 'isobath import' has made.
pub(crate) struct FlentRecord;

impl Measurement for FlentRecord {
    const TESTS: &'static [&'static str] = &["flent"];
    const FIGURES: &'static [Figure] = <Rrul as Measurement>::FIGURES;
    type Summary = Summary;

    /// An import is made whole or not at all.
    fn summary(&self, record: &Record) -> anyhow::Result<Summary> {
        read(&record.run().summary, "summary")
    }

    fn scorecard(&self, run: &Run, summary: &Summary) -> String {
        scorecard(run, summary) + &series(run)
    }
}

/// The mean and the median of each series of a file of Flent's, as Flent's own summary has them.
fn series(run: &Run) -> String {
    let Some(series) = run.summary["series"].as_object() else {
        return String::new();
    };
    let mut page = format!("\n{:32}{:>12}{:>12}\n", "series", "mean", "median");
    for (name, figures) in series {
        let unit = figures["unit"].as_str().unwrap_or_default();
        let number = |value: &Value| {
            value
                .as_f64()
                .map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
        };
        let (mean, median) = (&figures["mean"], &figures["distribution"]["p50"]);
        let line = format!("{name:32}{:>12}{:>12} {unit}", number(mean), number(median));
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page.push('\n');
    page
}
