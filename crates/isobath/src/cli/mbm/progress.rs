//! What is to be seen while tests run: a bar on stderr, if somebody looks at it.

use crate::mbm::Live;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps of the bar.
const STEPS: u32 = 1_000;

pub(super) struct Display(ProgressBar);

impl Display {
    pub(super) fn start(quiet: bool) -> Self {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS.into()), target);
        let style = ProgressStyle::with_template("mbm {wide_bar}  {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the bar's steps"
    )]
    pub(super) fn show(&self, live: &Live) {
        let done = (live.index as f64 + live.done.min(1.0)) / live.tests.max(1) as f64;
        self.0.set_position((done * f64::from(STEPS)) as u64);
        self.0.set_message(format!(
            "test {} of {}, {}: {} of {} packets lost or marked",
            live.index + 1,
            live.tests,
            live.test,
            live.marks,
            live.packets
        ));
    }

    pub(super) fn finish(self) {
        self.0.finish_and_clear();
    }
}
