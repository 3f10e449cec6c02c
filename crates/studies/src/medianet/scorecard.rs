//! The end of a run on a terminal, from `run.json` alone.

use super::summary::{Estimates, Summary};
use kit::scorecard;
use record::Run;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![scorecard::title_over_tcp(run, super::TEST)];
    lines.push(format!(
        "three streams {}, told by {}, for {:.0} s",
        summary.carried(),
        summary.probes.told_by(),
        summary.seconds
    ));
    lines.push(String::new());
    lines.push(format!(
        "decoded       {:.2} frames/s, {:.2} Mbit/s",
        summary.decoded_per_s, summary.decoded_mbps
    ));
    let frames = summary.frames;
    let pct =
        |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |pct| format!("{pct:.2} %"));
    lines.push(format!(
        "failed        {} of frames: {} dropped before they were sent, {} arrived and could not be decoded",
        pct(summary.failed_pct),
        frames.dropped,
        frames.undecodable
    ));
    for (number, stream) in summary.streams.iter().enumerate() {
        lines.push(format!(
            "stream {}      {:.2} frames/s, {:.2} Mbit/s; {:.0} % of the time at the high level, {:.0} % at the medium one",
            number + 1,
            stream.decoded_per_s,
            stream.decoded_mbps,
            stream.high_pct,
            stream.medium_pct
        ));
    }
    lines.push(format!(
        "adapted       {} times; {} of {} reports told of drops",
        summary.reconfigurations, summary.reports_failed, summary.reports
    ));
    lines.extend(summary.delay_ms.map(|delay| {
        format!(
            "delay         {:.0} ms median, {:.0} ms at the 95th percentile",
            delay.p50, delay.p95
        )
    }));
    lines.extend(summary.estimates.as_ref().map(estimates));
    lines.push(String::new());
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn estimates(estimates: &Estimates) -> String {
    let found = match (estimates.seconds, estimates.error_mbps) {
        (Some(seconds), Some(error)) => format!(
            ", in {:.1} s (median), off by {:.2} Mbit/s (median)",
            seconds.p50, error.p50
        ),
        _ => String::new(),
    };
    format!(
        "estimates     {} of {} completed{found}; probing added {:.2} Mbit/s",
        estimates.completed, estimates.asked, estimates.overhead_mbps
    )
}
