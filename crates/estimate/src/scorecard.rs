//! The end of a run on a terminal, from `run.json` alone.

use super::finding::words;
use super::plan::What;
use kit::scorecard;
use packet::ETHERNET_MTU;
use record::Run;
use schema::estimate::Summary;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![scorecard::title(run, "estimate"), String::new()];
    let finding = &summary.finding;
    let doubt = if finding.conclusive {
        ""
    } else {
        "  INCONCLUSIVE"
    };
    lines.push(format!(
        "{:14}{}{doubt}",
        summary.what.name(),
        words(summary.what, finding)
    ));
    lines.push(format!("              {}", finding.says));
    lines.push(format!("direction     {}", way(summary)));
    lines.push(format!(
        "by            {} in {:.1} s: {} trains of {} probes in all, {}",
        summary.estimator.name(),
        summary.seconds,
        summary.trains,
        summary.probes,
        octets(summary.overhead_bytes)
    ));
    if let Some(octets) = summary.path_mtu.filter(|octets| *octets < ETHERNET_MTU) {
        lines.push(format!("packets       of at most {octets} octets pass"));
    }
    if summary.rider_bytes > 0 {
        lines.push(format!(
            "riders        {} of applications inside probes",
            octets(summary.rider_bytes)
        ));
    }
    lines.push(String::new());
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn way(summary: &Summary) -> &'static str {
    match (summary.what, summary.direction.as_str()) {
        (What::Rtt, _) => "there and back",
        (_, "down") => "from the far end to here",
        _ => "from here to the far end",
    }
}

fn octets(octets: u64) -> String {
    match octets {
        0..10_000 => format!("{octets} B"),
        10_000..10_000_000 => format!("{:.0} kB", octets as f64 / 1e3),
        _ => format!("{:.1} MB", octets as f64 / 1e6),
    }
}
