//! What is to be seen while something takes its time: a bar on stderr, if somebody looks at it.

use crate::usage::plain;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write as _;

/// How often a second a bar is drawn: seldom enough not to disturb what is measured.
const FRAMES: u8 = 4;
/// Steps of a bar that shows a share.
pub const STEPS: u64 = 1_000;

/// A bar of `length` steps drawn by indicatif's `template`; without a length it only says that something goes on.
pub fn bar(template: &str, length: Option<u64>, is_quiet: bool) -> ProgressBar {
    let target = if is_quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(FRAMES)
    };
    let style = ProgressStyle::with_template(template);
    ProgressBar::with_draw_target(length, target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Moves a bar of [`STEPS`] to the `share`, 0 to 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the bar's steps"
)]
pub fn show(bar: &ProgressBar, share: f64) {
    bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
}

/// A line on stderr, above the bar if there is one.
pub fn say(bar: &ProgressBar, line: &str, is_quiet: bool) {
    if is_quiet {
        return;
    }
    if bar.is_hidden() {
        // With stderr closed there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "{}", plain(line));
    } else {
        bar.println(plain(line));
    }
}
