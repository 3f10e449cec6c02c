//! What is to be seen while a run goes on: a progress bar, or the full screen.

use super::Args;
use crate::live::Screen;
use indicatif::{ProgressBar, ProgressDrawTarget};
use rrul::Live;
use schema::rrul::Plan;
use std::cell::RefCell;

/// A bar on stderr, if somebody looks at it, and the full screen before it while it is open.
pub(super) struct Display {
    bar: ProgressBar,
    screen: RefCell<Option<Screen>>,
}

impl Display {
    pub(super) fn start(args: &Args, plan: &Plan) -> Self {
        // A terminal that cannot do it shows the bar instead.
        let screen = args.live.then(|| Screen::open(plan).ok()).flatten();
        let hidden = args.output.quiet || screen.is_some();
        let display = Self {
            bar: bar(plan, hidden),
            screen: RefCell::new(screen),
        };
        if args.live && display.screen.borrow().is_none() {
            display.bar.println(
                "rrul: --live needs a terminal of at least 60 x 16 - showing the bar instead",
            );
        }
        display
    }

    pub(super) fn show(&self, live: &Live) {
        let mut screen = self.screen.borrow_mut();
        if let Some(open) = screen.as_mut() {
            if open.draw(live) {
                return;
            }
            // Left by the user: the run goes on, the bar takes over.
            *screen = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_prefix(live.phase);
        self.bar
            .set_position(u64::try_from(live.elapsed.as_millis()).unwrap_or(u64::MAX));
        let rtt = live
            .rtt_ms
            .map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"));
        self.bar.set_message(format!(
            "down {:.1} up {:.1} Mbit/s, rtt {rtt}",
            live.down_mbps, live.up_mbps
        ));
    }

    pub(super) fn finish(self) {
        drop(self.screen.into_inner());
        self.bar.finish_and_clear();
    }
}

fn bar(plan: &Plan, is_hidden: bool) -> ProgressBar {
    let total = u64::try_from(plan.total().as_millis()).unwrap_or(u64::MAX);
    let template = "{prefix:10} {wide_bar} {eta_precise} left  {msg}";
    kit::bar::bar(template, Some(total), is_hidden)
}
