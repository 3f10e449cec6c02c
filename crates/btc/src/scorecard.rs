//! The end of a run on a terminal, from `run.json` alone.

use super::plan::{Limit, Mode, Plan};
use kit::scorecard;
use record::{Distribution, Run};
use schema::btc::{Side, Summary};

/// Pairs for which there is room.
const MOST_PAIRS: usize = 10;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let plan: Option<Plan> = Plan::of_record(&run.plan).ok();
    let mut lines = vec![
        scorecard::title(run, "btc"),
        sentence(summary),
        String::new(),
    ];
    lines.extend(plan.as_ref().map(describe));
    lines.extend(figures(summary));
    lines.extend(demands(summary));
    lines.extend(comparison(summary));
    lines.extend(outcomes(summary));
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn sentence(summary: &Summary) -> String {
    let Some(mbps) = summary.throughput_mbps else {
        return "No transfer has a figure.".to_owned();
    };
    let ci = summary
        .throughput_ci_mbps
        .map_or_else(String::new, |[low, high]| {
            format!(" (95 % interval of the mean: {low:.2} to {high:.2})")
        });
    format!("Standard congestion control gets {mbps:.2} Mbit/s of payload over this path{ci}.")
}

fn describe(plan: &Plan) -> String {
    let amount = match plan.limit {
        Limit::Duration(span) => format!("{span}"),
        Limit::Segments(count) => format!("{count} segments"),
    };
    let mode = match plan.mode {
        Mode::Cooperative => "",
        Mode::Icmp => ", by ICMP errors",
        Mode::OneWay => ", by identifiers alone",
    };
    let many = match (plan.parallel, plan.repeat) {
        (1, 1) => String::new(),
        (parallel, repeat) => format!(", {parallel} at once, {repeat} times"),
    };
    format!(
        "transfer      {}, {amount} of {} octets a segment, {}{mode}{many}",
        plan.options.congestion_control.name(),
        plan.options.mss,
        plan.direction.label()
    )
}

fn figures(summary: &Summary) -> Vec<String> {
    let loss = summary
        .loss_pct
        .map_or_else(dash, |pct| format!("{pct:.2} %"));
    let rtt = summary.rtt_ms.map_or_else(dash, |rtt| {
        format!(
            "{:.1} / {:.1} / {:.1} ms (p50, p95, p99)",
            rtt.p50, rtt.p95, rtt.p99
        )
    });
    let seconds = summary.seconds.map_or_else(dash, |s| format!("{s:.2} s"));
    vec![
        format!(
            "acknowledged  {} segments, {seconds} a transfer",
            summary.segments
        ),
        format!(
            "packets       {loss} lost, {} retransmitted, {}, {} duplicate",
            summary.retransmits,
            reordered(summary),
            summary.duplicates
        ),
        format!("round trip    {rtt}"),
    ]
}

fn reordered(summary: &Summary) -> String {
    let count = format!("{} reordered", summary.reordered);
    match summary.most_overtaking {
        Some(most) if summary.reordered > 0 => format!(
            "{count} ({} by 3 packets or more, at most by {most})",
            summary.reordered_by_3
        ),
        _ => count,
    }
}

/// What the buffers and options of a TCP must allow, and windows that were lost whole, where there were any.
fn demands(summary: &Summary) -> Vec<String> {
    let needs: Vec<&str> = summary
        .tcp_needs
        .iter()
        .map(|need| in_words(need))
        .collect();
    let largest = summary.largest_flight.unwrap_or_default();
    let needed = (!needs.is_empty()).then(|| {
        format!(
            "TCP needs     {} for the same: at most {largest} segments were out",
            needs.join(" and ")
        )
    });
    let lost = (summary.lost_windows > 0).then(|| {
        format!(
            "whole windows {} lost, found by timeout",
            summary.lost_windows
        )
    });
    needed.into_iter().chain(lost).collect()
}

fn in_words(need: &str) -> &str {
    match need {
        "window-scaling" => "window scaling",
        "sack" => "SACK",
        other => other,
    }
}

fn comparison(summary: &Summary) -> Vec<String> {
    let (Some(ours), Some(kernel)) = (&summary.ours, &summary.kernel) else {
        return Vec::new();
    };
    let mut lines = vec![
        String::new(),
        format!(
            "{:14}{:>12}{:>12}{:>12}",
            "", "ours", "kernel", "difference"
        ),
    ];
    let shown = summary.pairs.iter().take(MOST_PAIRS);
    lines.extend(shown.map(|pair| {
        format!(
            "pair {:<9}{:>12.2}{:>12.2}{:>11.1} %",
            pair.repeat, pair.ours_mbps, pair.kernel_mbps, pair.difference_pct
        )
    }));
    let hidden = summary.pairs.len().saturating_sub(MOST_PAIRS);
    if hidden > 0 {
        lines.push(format!("and {hidden} more pairs"));
    }
    let median = |side: &Side| {
        side.throughput_mbps
            .map_or_else(dash, |d| format!("{:.2}", d.p50))
    };
    let difference = |d: Distribution| format!("{:.1} %", d.p50);
    lines.push(format!(
        "median Mbit/s {:>12}{:>12}{:>13}",
        median(ours),
        median(kernel),
        summary.difference_pct.map_or_else(dash, difference)
    ));
    let loss = |side: &Side| side.loss_pct.map_or_else(dash, |pct| format!("{pct:.2} %"));
    lines.push(format!(
        "loss          {:>12}{:>12}",
        loss(ours),
        loss(kernel)
    ));
    lines.push(format!(
        "retransmitted {:>12}{:>12}",
        ours.retransmits, kernel.retransmits
    ));
    lines
}

/// How the transfers ended, where not all were carried out.
fn outcomes(summary: &Summary) -> Option<String> {
    let all = |outcome: &str| ["complete", "time"].contains(&outcome);
    if summary.outcomes.keys().all(|outcome| all(outcome)) {
        return None;
    }
    let counts = summary.outcomes.iter();
    let counts: Vec<_> = counts
        .map(|(how, count)| format!("{count} {how}"))
        .collect();
    Some(format!("outcomes      {}", counts.join(", ")))
}

fn dash() -> String {
    "-".to_owned()
}
