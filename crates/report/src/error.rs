//! What can go wrong with a report.

use std::path::PathBuf;
use thiserror::Error;

/// Why a report could not be made. Each message is one line that says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// Nothing to report.
    #[error("no run to report - name the folder of at least one run")]
    NoRuns,
    /// More runs than one page can tell apart.
    #[error(
        "{runs} runs are too many for one page - name at most {}",
        crate::MOST_RUNS
    )]
    TooManyRuns {
        /// How many there were.
        runs: usize,
    },
    /// A monitor's folder without a run.
    #[error("the history in {} has no run yet - wait for the first to end", path.display())]
    NoHistory {
        /// The monitor's folder.
        path: PathBuf,
    },
    /// A table could not be read.
    #[error("cannot report {}: {source}", path.display())]
    Record {
        /// The record's folder.
        path: PathBuf,
        /// What was the matter with it; says what to do.
        source: record::Error,
    },
    /// The figures could not be written as JSON.
    #[error(
        "cannot write the report's figures: {0} - this is a fault in Isobath, please report it"
    )]
    Json(serde_json::Error),
    /// A part of an experiment or of a description that no page can show.
    #[error("cannot draw the part {part:?}: it has {what} - change what makes it")]
    Experiment {
        /// Which part.
        part: String,
        /// What is the matter with it.
        what: String,
    },
    /// A file that holds something else.
    #[error(
        "not an experiment: {0} - give the experiment.json that `isobath experiment run` wrote"
    )]
    NotAnExperiment(serde_json::Error),
    /// The page that is built into the program has no place for figures.
    #[error(
        "the page built into this program is damaged - run scripts/ui.sh build, then build the program again"
    )]
    Page,
}
