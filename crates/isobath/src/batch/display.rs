//! How a batch goes, on stderr.

use super::runner::Event;
use super::state::{Entry, State};
use indicatif::ProgressBar;
use kit::bar;
use kit::pool::words;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Shows how the batch goes, on stderr: a bar if somebody looks at it, and a line for each run.
pub(crate) struct Display {
    pub(crate) bar: ProgressBar,
    is_quiet: bool,
    expected: Duration,
    cells: usize,
}

impl Display {
    /// Begins: says where the batch is and in which order it goes.
    pub(crate) fn new(state: &State, expected: Duration, dir: &Path, is_quiet: bool) -> Self {
        let template = "{prefix:16} {wide_bar} {msg}";
        let display = Self {
            bar: bar::bar(template, Some(millis(expected)), is_quiet),
            is_quiet,
            expected,
            cells: state.cells.len(),
        };
        let order = shuffled(state.seed);
        display.say(&format!(
            "{}: {} cells, {order}",
            dir.display(),
            display.cells
        ));
        display
    }

    /// Shows what happens.
    pub(crate) fn show(&self, event: &Event<'_>) {
        match event {
            Event::Begins { position, entry } => {
                self.bar
                    .set_prefix(format!("cell {position} of {}", self.cells));
                self.bar.set_message(entry.cell.title());
            }
            Event::Goes { entry, left } => {
                let title = entry.cell.title();
                self.bar
                    .set_message(format!("{} left  {title}", words(*left)));
                self.bar
                    .set_position(millis(self.expected.saturating_sub(*left)));
            }
            Event::Ended { position, entry } => self.say(&self.ended(*position, entry)),
        }
    }

    fn ended(&self, position: usize, entry: &Entry) -> String {
        let seconds = Duration::from_secs_f64(entry.seconds.unwrap_or_default());
        let mut line = format!(
            "{position} of {}  {}: {} in {}",
            self.cells,
            entry.cell.title(),
            entry.state.word(),
            words(seconds)
        );
        if let Some(reason) = &entry.reason {
            let _ = write!(line, " - {reason}");
        }
        line
    }

    fn say(&self, line: &str) {
        bar::say(&self.bar, line, self.is_quiet);
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// In which order the cells are run, in words.
pub(crate) fn shuffled(seed: Option<u64>) -> String {
    seed.map_or_else(
        || "in the order of the file".to_owned(),
        |seed| format!("order shuffled with --seed {seed}"),
    )
}
