//! All that the scorecard has no room for: each part of the score with its reasons, each penalty with its evidence.

use super::words::number;
use crate::score::FULL;
use record::Run;
use schema::rrul::Summary;

/// The parts of the score in their order, with the names that people read.
const PARTS: [(&str, &str); 5] = [
    ("web", "web"),
    ("realtime", "realtime"),
    ("voip", "VoIP"),
    ("classification", "classification"),
    ("fairness", "fairness"),
];

/// How the score and the penalties of a run came about, from its own figures.
pub fn explain(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![super::title(run), super::sentence(summary), String::new()];
    lines.extend(score(summary));
    lines.extend(rpm(summary));
    lines.push(String::new());
    lines.push(match summary.penalties.len() {
        0 => "no penalties".to_owned(),
        _ => "penalties".to_owned(),
    });
    for penalty in &summary.penalties {
        lines.push(format!("  {}: {}", penalty.code, penalty.message));
        lines.push(format!("      see {}", penalty.evidence));
    }
    lines.extend(times(summary));
    if !run.warnings.is_empty() {
        lines.push(String::new());
        lines.push("warnings".to_owned());
    }
    for warning in &run.warnings {
        lines.push(format!("  {}: {}", warning.code, warning.message));
        lines.push(format!("      {}", warning.advice));
    }
    lines.join("\n") + "\n"
}

fn score(summary: &Summary) -> Vec<String> {
    let Some(score) = &summary.score else {
        return vec!["no part of the score was measured".to_owned()];
    };
    let values = [
        score.web,
        score.realtime,
        score.voip,
        score.classification,
        score.fairness,
    ];
    let total = score.total.map_or_else(
        || "score: no total, for not all parts were measured".to_owned(),
        |total| format!("score {total:.1} of 100, the sum of"),
    );
    let parts = PARTS.iter().zip(values).map(|((key, name), value)| {
        let why = score.why.get(*key).map_or("not measured", String::as_str);
        format!("  {name:15}{:>5} of {FULL:.0}: {why}", number(value, 1))
    });
    std::iter::once(total).chain(parts).collect()
}

fn rpm(summary: &Summary) -> Option<String> {
    let rpm = summary.rpm.as_ref()?;
    Some(format!(
        "RPM {} under load, {} idle: trimmed means under load TCP {} ms, TLS {} ms, HTTP {} ms, the load's own connections {} ms",
        number(rpm.loaded, 0),
        number(rpm.idle, 0),
        number(rpm.tcp_ms, 1),
        number(rpm.tls_ms, 1),
        number(rpm.http_ms, 1),
        number(rpm.self_ms, 1)
    ))
}

/// When the figures are from, and what was left out.
fn times(summary: &Summary) -> Vec<String> {
    let phases = &summary.phases;
    let named = [
        ("idle", phases.idle),
        ("idle pages", phases.web_idle),
        ("load", phases.load),
        ("loaded", phases.loaded),
    ];
    let mut lines = vec![String::new(), "times, in seconds of the run".to_owned()];
    for (name, span) in named {
        lines.extend(span.map(|[from, to]| format!("  {name:12}{from:7.1} to {to:7.1}")));
    }
    for [from, to] in &phases.discarded {
        let rates = phases
            .boost_mbps
            .map_or_else(String::new, |[before, after]| {
                format!(": {before:.1} Mbit/s before, {after:.1} after")
            });
        lines.push(format!(
            "  discarded   {from:7.1} to {to:7.1}, a burst allowance{rates}"
        ));
    }
    lines
}
