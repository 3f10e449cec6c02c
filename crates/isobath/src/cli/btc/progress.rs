//! What is to be seen while transfers run.

use btc::Live;
use indicatif::ProgressBar;
use kit::bar;

pub(super) fn bar(is_quiet: bool) -> ProgressBar {
    let template = "btc {wide_bar} {eta_precise} left  {msg}";
    bar::bar(template, Some(bar::STEPS), is_quiet)
}

pub(super) fn show(bar: &ProgressBar, live: &Live) {
    bar::show(bar, live.done);
    let cwnd = live
        .cwnd
        .map_or_else(String::new, |cwnd| format!(", cwnd {cwnd:.0}"));
    let copies = live.retransmits as f64 / live.packets.max(1) as f64 * 100.0;
    bar.set_message(format!(
        "{:.1} Mbit/s{cwnd}, {copies:.2} % sent again",
        live.mbps
    ));
}
