//! The one value that a page shows: its runs, the sentence over all of them, and how they differ.

use crate::compare::{self, Comparison};
use crate::sentence::{ms, rate};
use crate::told;
use crate::view::{RunView, mbm};
use crate::{Composed, Error, Subject};
use schema::{btc, rrul};
use serde::Serialize;

/// The schema of the value. The number is the major version.
const SCHEMA: &str = "isobath.report/1";

/// All that a page shows.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    schema: &'static str,
    /// Version of the program that made the page.
    isobath: &'static str,
    /// The answer: of the only run, or over all of them.
    sentence: String,
    runs: Vec<RunView>,
    /// How the runs differ; null with one run.
    comparison: Option<Comparison>,
    /// What the runs say of a path of which they are the parts; null when they are none.
    composed: Option<&'a Composed>,
}

impl<'a> Report<'a> {
    pub(crate) fn of(subjects: &[Subject], composed: Option<&'a Composed>) -> Result<Self, Error> {
        let mut runs = Vec::new();
        for subject in subjects {
            let path = subject.record.dir().to_owned();
            let view = RunView::of(subject).map_err(|source| Error::Record { path, source })?;
            runs.push(view);
        }
        tell_apart(&mut runs);
        let sentence = match runs.as_slice() {
            [only] => only.sentence.clone(),
            several => of_several(several),
        };
        let comparison = (runs.len() > 1).then(|| compare::runs(&runs));
        Ok(Self {
            schema: SCHEMA,
            isobath: env!("CARGO_PKG_VERSION"),
            sentence,
            runs,
            comparison,
            composed,
        })
    }
}

/// Runs of the same name get their number behind it.
fn tell_apart(runs: &mut [RunView]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (i, run) in runs.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == run.name).count() > 1 {
            run.name = format!("{} #{}", run.name, i + 1);
        }
    }
}

/// The sentence above several runs: which was the best under load, and by how much.
fn of_several(runs: &[RunView]) -> String {
    let told = of_several_transfers(runs).or_else(|| mbm::sentence::of_several(runs));
    if let Some(told) = told {
        return told;
    }
    let mut loaded: Vec<(&str, f64)> = runs
        .iter()
        .filter_map(|view| {
            let figures: rrul::Summary = told::summary(&view.run)?;
            Some((view.name.as_str(), figures.latency_ms.loaded?.p50))
        })
        .collect();
    loaded.sort_by(|a, b| a.1.total_cmp(&b.1));
    match loaded.as_slice() {
        [best, .., worst] => format!(
            "Of {} runs, {} has the shortest median round trip under load ({}), {} the longest ({}).",
            runs.len(),
            best.0,
            ms(best.1),
            worst.0,
            ms(worst.1)
        ),
        _ => format!("{} runs side by side.", runs.len()),
    }
}

/// Of runs of bulk transfers: which got the most.
fn of_several_transfers(runs: &[RunView]) -> Option<String> {
    let of_run = |view: &RunView| {
        view.btc.as_ref()?;
        let figures: btc::Summary = told::summary(&view.run)?;
        let ours = figures.ours.and_then(|ours| ours.throughput_mbps);
        let mbps = ours.map(|ours| ours.p50).or(figures.throughput_mbps)?;
        Some((mbps, view.name.clone(), rate(mbps)))
    };
    let mut found: Vec<_> = runs.iter().filter_map(of_run).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    match found.as_slice() {
        [(_, best, most), .., (_, worst, least)] => Some(format!(
            "Of {} runs, a bulk transfer gets the most over {best} ({most}), the least over {worst} ({least}).",
            runs.len()
        )),
        _ => None,
    }
}
