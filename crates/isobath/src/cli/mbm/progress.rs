//! What is to be seen while tests run.

use super::Measure;
use indicatif::ProgressBar;
use kit::bar;
use live::{self, Display, Wanted};
use mbm_run::Live;

/// Of a monitor's runs nothing is to be seen.
pub(super) fn display(args: &Measure) -> Display<live::Mbm> {
    let wanted = Wanted {
        live: args.live,
        quiet: args.output.quiet || args.every.is_some(),
    };
    let view = live::Mbm::new(args.towards.name());
    Display::start("mbm", wanted, view, bar, show)
}

pub(crate) fn bar(is_quiet: bool) -> ProgressBar {
    bar::bar("mbm {wide_bar}  {msg}", Some(bar::STEPS), is_quiet)
}

pub(crate) fn show(bar: &ProgressBar, live: &Live) {
    let done = live.index as f64 + live.done.min(1.0);
    bar::show(bar, done / live.tests.max(1) as f64);
    bar.set_message(format!(
        "test {} of {}, {}: {} of {} packets lost or marked",
        live.index + 1,
        live.tests,
        live.test,
        live.marks,
        live.packets
    ));
}
