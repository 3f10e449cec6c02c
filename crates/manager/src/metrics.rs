//! The counters for Prometheus, in its text format, version 0.0.4.

use super::counters::Count;
use super::service::{Answer, Survey};
use super::snapshot::{PeerSnapshot, Snapshot};
use std::fmt::Write as _;

/// All counters; those of peers bear the peer's name, which has no character that would have to be escaped.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for (name, help, count) in &snapshot.counts {
        head(&mut text, name, help, "counter");
        line(&mut text, name, "", *count);
    }
    head(
        &mut text,
        "peer_linked",
        "Whether there is a session with the peer",
        "gauge",
    );
    for peer in &snapshot.peers {
        let linked = u64::from(peer.address.is_some());
        line(&mut text, "peer_linked", &label(peer), linked);
    }
    for (place, (name, help, _)) in first(snapshot).iter().enumerate() {
        let name = format!("peer_{name}");
        head(&mut text, &name, help, "counter");
        for peer in &snapshot.peers {
            // All peers have the same counters.
            let count = peer.counts.get(place).map_or(0, |count| count.2);
            line(&mut text, &name, &label(peer), count);
        }
    }
    text
}

/// What the estimation service counts, and the latest estimate of each estimator.
pub(crate) fn of_service(survey: &Survey) -> String {
    let mut text = String::new();
    let counters = &survey.counters;
    let figures = [
        (
            "queries",
            "Queries that the estimation service took",
            "counter",
            counters.queries,
        ),
        (
            "queries_refused",
            "Queries that it refused, at once or later",
            "counter",
            counters.refused,
        ),
        (
            "queries_shared",
            "Answers that needed no measurement of their own",
            "counter",
            counters.shared,
        ),
        (
            "measurements",
            "Measurements that it began",
            "counter",
            counters.measurements,
        ),
        (
            "queries_open",
            "Queries that are open",
            "gauge",
            survey.open as u64,
        ),
        (
            "measuring",
            "Measurements under way",
            "gauge",
            survey.measuring as u64,
        ),
    ];
    for (name, help, kind, figure) in figures {
        head(&mut text, name, help, kind);
        let _ = writeln!(text, "{} {figure}", full(name, kind));
    }
    let paths = survey.paths.nodes.first().map_or(&[][..], |own| &own.paths);
    let answers: Vec<&Answer> = paths.iter().flat_map(|path| &path.latest).collect();
    head(
        &mut text,
        "estimate",
        "The latest estimate, in its unit",
        "gauge",
    );
    for answer in &answers {
        if let Some(value) = answer.value {
            let _ = writeln!(
                text,
                "{}{} {value}",
                full("estimate", "gauge"),
                of_answer(answer)
            );
        }
    }
    head(
        &mut text,
        "estimate_age_seconds",
        "Age of the latest estimate",
        "gauge",
    );
    for answer in answers.iter().filter(|answer| answer.value.is_some()) {
        let name = full("estimate_age_seconds", "gauge");
        let _ = writeln!(
            text,
            "{name}{} {:.3}",
            of_answer(answer),
            answer.quality.age_s
        );
    }
    text
}

fn of_answer(answer: &Answer) -> String {
    format!(
        "{{peer=\"{}\",what=\"{}\",estimator=\"{}\",unit=\"{}\"}}",
        answer.to,
        answer.what.name(),
        answer.estimator.name(),
        answer.unit
    )
}

fn first(snapshot: &Snapshot) -> &[Count] {
    let first = snapshot.peers.first();
    first.map_or(&[], |peer| peer.counts.as_slice())
}

fn label(peer: &PeerSnapshot) -> String {
    format!("{{peer=\"{}\"}}", peer.name)
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let name = full(name, kind);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, label: &str, count: u64) {
    let kind = if name == "peer_linked" {
        "gauge"
    } else {
        "counter"
    };
    let _ = writeln!(text, "{}{label} {count}", full(name, kind));
}

fn full(name: &str, kind: &str) -> String {
    let end = if kind == "counter" { "_total" } else { "" };
    format!("isobath_manager_{name}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_as_prometheus_reads_them() {
        let peer = PeerSnapshot {
            name: "m5".to_owned(),
            source: [10, 99, 0, 2].into(),
            marked: Vec::new(),
            address: None,
            mtu: None,
            way: None,
            linked_s: None,
            note: None,
            counts: vec![("riders".to_owned(), "Probes that carried", 7)],
            buckets: Vec::new(),
        };
        let snapshot = Snapshot {
            name: "m3".to_owned(),
            running_s: 1.0,
            clients: 0,
            counts: vec![("read".to_owned(), "Packets", 3)],
            peers: vec![peer],
        };
        let told = text(&snapshot);
        let lines: Vec<_> = told.lines().collect();
        assert_eq!(
            lines,
            [
                "# HELP isobath_manager_read_total Packets.",
                "# TYPE isobath_manager_read_total counter",
                "isobath_manager_read_total 3",
                "# HELP isobath_manager_peer_linked Whether there is a session with the peer.",
                "# TYPE isobath_manager_peer_linked gauge",
                "isobath_manager_peer_linked{peer=\"m5\"} 0",
                "# HELP isobath_manager_peer_riders_total Probes that carried.",
                "# TYPE isobath_manager_peer_riders_total counter",
                "isobath_manager_peer_riders_total{peer=\"m5\"} 7",
            ]
        );
    }
}
