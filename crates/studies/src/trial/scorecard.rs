//! The end of a trial on a terminal, from `run.json` alone.

use super::summary::{Estimates, Summary};
use kit::scorecard;
use record::Run;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![scorecard::title_over_tcp(run, "trial"), String::new()];
    let riding = if summary.riding { "on" } else { "off" };
    lines.push(format!(
        "probes        {}, riding {riding}",
        summary.probes.name()
    ));
    if let Some(source) = &summary.source {
        lines.push(format!(
            "application   {:.2} Mbit/s of {:.2}; {:.0} % of {} s within 5 % of that, {:.0} % below",
            source.mean_mbps, source.target_mbps, source.within_pct, summary.seconds, source.below_pct
        ));
        lines.push(format!(
            "              5, 25, 50, 75, 95 % of seconds up to {:.2}, {:.2}, {:.2}, {:.2}, {:.2} Mbit/s",
            source.p05_mbps, source.p25_mbps, source.p50_mbps, source.p75_mbps, source.p95_mbps
        ));
    }
    if let Some(of) = &summary.throughput_mbps {
        lines.push(format!(
            "bottleneck    source {:.2}, riders {:.2}, probes {:.2}, others {:.2} Mbit/s",
            of.source, of.rider, of.probe, of.cross
        ));
    }
    if summary.trains > 0 {
        lines.push(format!(
            "probes        {} in {} trains; {} lost, {} of them with something of the application's",
            summary.probes_sent, summary.trains, summary.probes_lost, summary.riders_lost
        ));
    }
    lines.extend(summary.estimates.iter().flat_map(estimates));
    lines.push(String::new());
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn estimates(of: &Estimates) -> Vec<String> {
    let seconds =
        |time: Option<f64>| time.map_or_else(|| "never".to_owned(), |time| format!("{time:.1} s"));
    let percent = |error: Option<f64>| {
        error.map_or_else(|| "unknown".to_owned(), |error| format!("{error:.0} %"))
    };
    vec![
        format!(
            "estimates     {} of {} completed: a quarter in {}, half in {}, three quarters in {}",
            of.completed,
            of.n,
            seconds(of.p25_s),
            seconds(of.p50_s),
            seconds(of.p75_s)
        ),
        format!(
            "accuracy      wrong by {} (median; {} without regard to riders)",
            percent(of.error_pct),
            percent(of.error_uncorrected_pct)
        ),
    ]
}
