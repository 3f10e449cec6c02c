//! How an experiment goes, on stderr.

use crate::batch::display::words;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write as _;
use std::time::Duration;

/// How often a second the bar is drawn: seldom enough not to disturb.
const FRAMES: u8 = 2;

/// A bar if somebody looks at it; lines for what is worth a line.
pub(crate) struct Display {
    bar: ProgressBar,
    is_quiet: bool,
}

impl Display {
    /// Nothing to show yet.
    pub(crate) fn new(is_quiet: bool) -> Self {
        let target = if is_quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(FRAMES)
        };
        let style = ProgressStyle::with_template("{prefix:24} {wide_bar} {msg}");
        let bar = ProgressBar::with_draw_target(Some(1), target);
        Self {
            bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())),
            is_quiet,
        }
    }

    /// How far things are: `done` of `all` of `what`, and what is expected to remain.
    pub(crate) fn progress(&self, what: &str, done: usize, all: usize, left: Duration) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_prefix(format!("{what} {done} of {all}"));
        self.bar.set_message(format!("{} left", words(left)));
    }

    /// A line.
    pub(crate) fn say(&self, line: &str) {
        if self.is_quiet {
            return;
        }
        if self.bar.is_hidden() {
            // With stderr closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
