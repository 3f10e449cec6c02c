//! What is to be seen while trains run.

use super::Args;
use estimate::Live;
use indicatif::ProgressBar;
use kit::bar;
use live::{self, Display, Wanted};
use schema::estimate::Plan;

pub(super) fn display(args: &Args, plan: &Plan) -> Display<live::Estimate> {
    let wanted = Wanted {
        live: args.live,
        quiet: args.output.quiet,
    };
    let view = live::Estimate::new(plan.what.name(), args.towards.name());
    Display::start("estimate", wanted, view, bar, show)
}

fn bar(is_quiet: bool) -> ProgressBar {
    bar::bar("estimate {wide_bar}  {msg}", Some(bar::STEPS), is_quiet)
}

fn show(bar: &ProgressBar, live: &Live) {
    bar::show(bar, live.done.unwrap_or(0.0));
    bar.set_message(format!(
        "{}: {} trains, {} probes, {:.1} MB",
        live.doing,
        live.trains,
        live.probes,
        live.octets as f64 / 1e6
    ));
}
