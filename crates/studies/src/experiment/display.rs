//! How an experiment goes, on stderr.

use indicatif::ProgressBar;
use kit::bar;
use kit::pool::words;
use std::time::Duration;

/// A bar if somebody looks at it; lines for what is worth a line.
pub struct Display {
    bar: ProgressBar,
    is_quiet: bool,
}

impl Display {
    /// Nothing to show yet.
    pub fn new(is_quiet: bool) -> Self {
        Self {
            bar: bar::bar("{prefix:24} {wide_bar} {msg}", Some(1), is_quiet),
            is_quiet,
        }
    }

    /// How far things are: `done` of `all` of `what`, and what is expected to remain.
    pub fn progress(&self, what: &str, done: usize, all: usize, left: Duration) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_prefix(format!("{what} {done} of {all}"));
        self.bar.set_message(format!("{} left", words(left)));
    }

    /// A line.
    pub fn say(&self, line: &str) {
        bar::say(&self.bar, line, self.is_quiet);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
