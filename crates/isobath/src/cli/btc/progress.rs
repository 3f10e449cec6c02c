//! What is to be seen while transfers run.

use super::Args;
use btc::Live;
use indicatif::ProgressBar;
use kit::bar;
use live::{self, Display, Wanted};

pub(super) fn display(args: &Args) -> Display<live::Btc> {
    let wanted = Wanted {
        live: args.live,
        quiet: args.output.quiet,
    };
    let view = live::Btc::new(args.towards.name());
    Display::start("btc", wanted, view, bar, show)
}

fn bar(is_quiet: bool) -> ProgressBar {
    let template = "btc {wide_bar} {eta_precise} left  {msg}";
    bar::bar(template, Some(bar::STEPS), is_quiet)
}

fn show(bar: &ProgressBar, live: &Live) {
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
