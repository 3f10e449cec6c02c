//! What is to be seen while trains run.

use estimate::Live;
use indicatif::ProgressBar;
use kit::bar;

pub(super) fn bar(is_quiet: bool) -> ProgressBar {
    bar::bar("estimate {wide_bar}  {msg}", Some(bar::STEPS), is_quiet)
}

pub(super) fn show(bar: &ProgressBar, live: &Live) {
    bar::show(bar, live.done.unwrap_or(0.0));
    bar.set_message(format!(
        "{}: {} trains, {} probes, {:.1} MB",
        live.doing,
        live.trains,
        live.probes,
        live.octets as f64 / 1e6
    ));
}
