//! How a replay goes, on stderr.

use super::args::Play;
use indicatif::ProgressBar;
use kit::bar;
use kit::bar::STEPS;
use live::{self, Display, Wanted};
use schema::replay::plan::Plan;
use tmix::replay::Live;

pub(super) fn display(args: &Play, plan: &Plan, place: &str) -> Display<live::Replay> {
    let wanted = Wanted {
        live: args.live,
        quiet: args.output.quiet,
    };
    let vectors = plan.vectors.file_name().unwrap_or_default();
    let view = live::Replay::new(&vectors.to_string_lossy(), place);
    Display::start("replay", wanted, view, bar, show)
}

pub(crate) fn bar(is_quiet: bool) -> ProgressBar {
    bar::bar("{bar:30} {elapsed}/{prefix} {msg}", Some(STEPS), is_quiet)
}

/// While the vectors are read: an hour of a busy link takes a minute.
pub(crate) fn reading(is_quiet: bool) -> ProgressBar {
    bar::bar("{spinner} reading the vectors  {elapsed}", None, is_quiet)
}

pub(crate) fn show(bar: &ProgressBar, live: &Live) {
    let planned = live.planned.as_secs_f64();
    bar.set_prefix(format!("{planned:.0}s"));
    bar.set_message(format!(
        "{} of {} connections begun, {} open, {} over",
        live.begun, live.parts, live.open, live.ended
    ));
    bar::show(bar, live.elapsed.as_secs_f64() / planned.max(1e-9));
}
