//! What is to be seen while a run goes on.

use super::Args;
use indicatif::ProgressBar;
use live::{self, Display, Wanted};
use rrul::Live;
use schema::rrul::Plan;

pub(super) fn display(args: &Args, plan: &Plan) -> Display<live::Rrul> {
    let wanted = Wanted {
        live: args.live,
        quiet: args.output.quiet,
    };
    let bar = |is_hidden| bar(plan, is_hidden);
    Display::start("rrul", wanted, live::Rrul::new(plan), bar, show)
}

fn show(bar: &ProgressBar, live: &Live) {
    bar.set_prefix(live.phase);
    bar.set_position(u64::try_from(live.elapsed.as_millis()).unwrap_or(u64::MAX));
    let rtt = live
        .rtt_ms
        .map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"));
    bar.set_message(format!(
        "down {:.1} up {:.1} Mbit/s, rtt {rtt}",
        live.down_mbps, live.up_mbps
    ));
}

fn bar(plan: &Plan, is_hidden: bool) -> ProgressBar {
    let total = u64::try_from(plan.total().as_millis()).unwrap_or(u64::MAX);
    let template = "{prefix:10} {wide_bar} {eta_precise} left  {msg}";
    kit::bar::bar(template, Some(total), is_hidden)
}
