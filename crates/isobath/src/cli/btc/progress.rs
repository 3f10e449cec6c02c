//! What is to be seen while transfers run: a bar on stderr, if somebody looks at it.

use crate::btc::Live;
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
        let style = ProgressStyle::with_template("btc {wide_bar} {eta_precise} left  {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the bar's steps"
    )]
    pub(super) fn show(&self, live: &Live) {
        self.0.set_position((live.done * f64::from(STEPS)) as u64);
        let cwnd = live
            .cwnd
            .map_or_else(String::new, |cwnd| format!(", cwnd {cwnd:.0}"));
        let copies = live.retransmits as f64 / live.packets.max(1) as f64 * 100.0;
        self.0.set_message(format!(
            "{:.1} Mbit/s{cwnd}, {copies:.2} % sent again",
            live.mbps
        ));
    }

    pub(super) fn finish(self) {
        self.0.finish_and_clear();
    }
}
