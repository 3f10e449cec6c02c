//! The figures of a run, from its table alone, and how a person reads them.

use crate::tables::Opened;
use kit::scorecard;
use record::Run;
use serde::{Deserialize, Serialize};
use stats::Distribution;

/// What was found.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Summary {
    /// Connections that were begun.
    pub(crate) begun: usize,
    /// Those that opened.
    pub(crate) opened: usize,
    /// Those that arrived, by the far end's count; null when it did not say.
    pub(crate) accepted: Option<u32>,
    /// From SYN to SYN and ACK.
    pub(crate) handshake_ms: Option<Distribution>,
}

/// The summary of these connections.
pub(crate) fn summarise(rows: &[Opened], accepted: Option<u32>) -> Summary {
    let took = rows.iter().filter_map(|row| row.took_ns);
    Summary {
        begun: rows.len(),
        opened: took.clone().count(),
        accepted,
        handshake_ms: Distribution::of(took.map(|ns| ns as f64 / 1e6)),
    }
}

/// The scorecard of `run`.
pub(crate) fn scorecard(run: &Run, summary: &Summary) -> String {
    let figures = summary.handshake_ms.map_or_else(
        || "no connection opened".to_owned(),
        |ms| {
            format!(
                "{:.2} / {:.2} / {:.2} ms (p50, p95, p99)",
                ms.p50, ms.p95, ms.p99
            )
        },
    );
    let mut lines = vec![
        scorecard::title_over_tcp(run, "handshake"),
        String::new(),
        format!("handshake     {figures}"),
        format!(
            "connections   {} of {} opened",
            summary.opened, summary.begun
        ),
    ];
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}
