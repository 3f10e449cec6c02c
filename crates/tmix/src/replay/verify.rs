//! Whether a replay was what was asked for: its own capture, extracted again and held against its vectors (D, section 4.3).
//!
//! The vectors are read and modelled once more, as the replay did; the connections in the capture are told apart by their
//! ports, which the replay wrote down. Connections that were cut are left out on both sides. D judges by eye; here the
//! distributions of what applications say must be as good as the same, and the distances too.

mod udp;

use super::capture::CAPTURE;
use super::plan::Plan;
use super::tables::{Connection, Flow};
use super::workload::{Host, Part, Workload};
use crate::trace::Captures;
use anyhow::{Context, ensure};
use record::{Distribution, Record, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::time::Duration;
use vectors::describe::{Describer, Difference, Measure};
use vectors::extract::Options;
use vectors::{Side, Transport, Vector};

/// The largest distance of two distributions of sizes or epochs.
const MOST_DISTANCE: f64 = 0.02;
/// The largest median difference of round-trip times.
const MOST_RTT_MS: f64 = 0.3;
/// Fewer values than this say nothing of a distribution.
const FEWEST: u64 = 100;
/// What is judged by [`MOST_DISTANCE`].
const JUDGED: [Measure; 5] = [
    Measure::ConnectionBytes,
    Measure::Epochs,
    Measure::RequestBytes,
    Measure::ResponseBytes,
    Measure::ConcurrentAduBytes,
];
/// What else is shown.
const SHOWN: [Measure; 2] = [Measure::ConcurrentAdus, Measure::MinRttMs];

/// What a verification found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Fidelity {
    /// Whether all that is judged is close enough.
    pub verdict: Verdict,
    /// Complete connections of the replay.
    pub connections: u64,
    /// Those of them that were found in the capture.
    pub found: u64,
    /// Those of them whose ADUs are, in order and size, those of the vector.
    pub same_adus: u64,
    /// Concurrent connections among those found whose ends did not overlap on the wire: what says that nothing was under way in
    /// both directions at once is a sequential connection to whoever captures it. They have no part in the distributions.
    pub not_overlapping: u64,
    /// Distributions as played (first) and as captured (second).
    pub distributions: Vec<Difference>,
    /// Round-trip time in the capture, less the one that was asked for.
    pub rtt_error_ms: Option<Distribution>,
    /// Start in the capture, less the planned one and the median of these differences.
    pub start_error_ms: Option<Distribution>,
    /// Waits that were played, as they are in the capture, less what was asked for and the answering host's part of the round
    /// trip, which the capture sees as part of the wait.
    pub wait_error_ms: Option<Distribution>,
    /// Of flows of UDP; null where there are none.
    pub udp: Option<udp::Udp>,
}

/// Both sets.
pub struct Sets {
    /// The vectors as they were to be played.
    pub played: Describer,
    /// Those extracted from the capture.
    pub captured: Describer,
}

/// Errors, one for each connection or wait, in milliseconds.
#[derive(Default)]
struct Errors {
    rtt: Vec<f64>,
    start: Vec<f64>,
    wait: Vec<f64>,
}

/// Verifies the replay whose record is in `folder`.
///
/// # Errors
/// When it is no record of a replay, has no capture, or its vectors are no more what they were.
pub fn verify(folder: &Path) -> anyhow::Result<(Fidelity, Sets)> {
    let record = Record::open(folder)?;
    let run = record.run();
    ensure!(
        matches!(run.test.as_str(), "replay" | "sim-replay"),
        "{} is a record of '{}' - give that of a replay",
        folder.display(),
        run.test
    );
    let plan: Plan = Deserialize::deserialize(&run.plan).context("run.json has another plan")?;
    let capture = folder.join(CAPTURE);
    ensure!(
        capture.exists(),
        "{} has no {CAPTURE} - replay without --no-capture, or in virtual time with --capture",
        folder.display()
    );
    let duration = plan.duration.map(|duration| duration.0);
    let mut workload = Workload::read(&plan.vectors, &plan.models, duration, plan.seed)?;
    if !plan.udp {
        workload.leave_out_udp();
    }
    let rows: Vec<Connection> = record.rows()?;
    let flows: Vec<Flow> = record.rows()?;
    let planned = run.summary["connections"]["planned"].as_u64();
    let planned_flows = run.summary["udp"]["planned"].as_u64();
    ensure!(
        planned == Some(workload.connections()) && planned_flows.unwrap_or(0) == workload.flows(),
        "{} has other vectors than when it was replayed - replay it again",
        plan.vectors.display()
    );
    compare(&plan, &workload, &rows, &flows, &capture)
}

fn compare(
    plan: &Plan,
    workload: &Workload,
    rows: &[Connection],
    flows: &[Flow],
    capture: &Path,
) -> anyhow::Result<(Fidelity, Sets)> {
    let mut expected = expected(rows);
    let (mut sets, mut errors) = (
        Sets {
            played: Describer::default(),
            captured: Describer::default(),
        },
        Errors::default(),
    );
    let mut fidelity = Fidelity {
        verdict: Verdict::Inconclusive,
        connections: rows.iter().filter(|row| row.end == "complete").count() as u64,
        found: 0,
        same_adus: 0,
        not_overlapping: 0,
        distributions: Vec::new(),
        rtt_error_ms: None,
        start_error_ms: None,
        wait_error_ms: None,
        udp: None,
    };
    // What was played waits that long or not at all; a wait in the capture may be shorter by the way of an acknowledgement.
    let quiet = plan.models.latencies.threshold.0 / 2;
    let options = Options {
        quiet: quiet.max(Duration::from_millis(1)),
        ..Options::default()
    };
    let (mut extracted, mut datagrams) = (Vec::new(), udp::Captured::default());
    Captures::open(&[capture.to_owned()])?.extract(options, |one| {
        match one.vector.transport {
            Transport::Tcp => extracted.push(one),
            Transport::Udp => datagrams.enter(&one),
        }
        Ok(())
    })?;
    fidelity.udp = datagrams.compare(flows);
    extracted.sort_by_key(|one| one.vector.start);
    for one in &extracted {
        let ports = one.seen.ends.map(|end| end.port());
        let Some(row) = expected.get_mut(&ports).and_then(VecDeque::pop_front) else {
            continue;
        };
        let part = usize::try_from(row.connection)
            .ok()
            .and_then(|number| workload.parts.get(number));
        let Some(part) = part.filter(|_| row.end == "complete") else {
            continue;
        };
        fidelity.found += 1;
        fidelity.same_adus += u64::from(has_adus_of(part, &one.vector));
        errors.enter(plan, part, &one.vector);
        if part.vector.body.is_sequential() != one.vector.body.is_sequential() {
            fidelity.not_overlapping += 1;
            continue;
        }
        sets.played.enter(&part.vector);
        sets.captured.enter(&one.vector);
    }
    let differences = sets.played.compare(&sets.captured);
    let of_interest = |d: &Difference| JUDGED.contains(&d.measure) || SHOWN.contains(&d.measure);
    fidelity.distributions = differences.into_iter().filter(of_interest).collect();
    errors.tell(&mut fidelity);
    fidelity.verdict = match fidelity.udp.map(|udp| udp.verdict()) {
        Some(of_flows) if rows.is_empty() => of_flows,
        Some(Verdict::Fail) => Verdict::Fail,
        _ => verdict(&fidelity),
    };
    Ok((fidelity, sets))
}

/// Connections by their ports, those of the same ports in the order of their starts.
fn expected(rows: &[Connection]) -> HashMap<[u16; 2], VecDeque<&Connection>> {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_key(|row| row.started_ns);
    let mut expected: HashMap<_, VecDeque<_>> = HashMap::new();
    for row in rows {
        if let (Some(source), Some(destination)) = (row.source_port, row.destination_port) {
            expected
                .entry([source, destination])
                .or_default()
                .push_back(row);
        }
    }
    expected
}

fn has_adus_of(part: &Part, captured: &Vector) -> bool {
    let adus = |vector: &Vector| {
        let turns = vector.body.turns().iter();
        turns
            .map(|turn| (turn.side, turn.bytes))
            .collect::<Vec<_>>()
    };
    adus(&part.vector) == adus(captured)
}

impl Errors {
    fn enter(&mut self, plan: &Plan, part: &Part, captured: &Vector) {
        let ms = |one: Duration, other: Duration| (one.as_secs_f64() - other.as_secs_f64()) * 1e3;
        let asked = part.vector.min_rtt.unwrap_or_default();
        // A capture at the end of the path sees a segment after the sender's part of the round trip.
        let way = plan.rtt_at.split(asked);
        let way = |side| {
            let host = if part.side(Host::Client) == side {
                Host::Client
            } else {
                Host::Server
            };
            way[host as usize]
        };
        self.rtt.extend(captured.min_rtt.map(|rtt| ms(rtt, asked)));
        let start = part.vector.start + way(Side::Initiator);
        self.start.push(ms(captured.start, start));
        let same_kind = part.vector.body.is_sequential() == captured.body.is_sequential();
        if !same_kind || !has_adus_of(part, captured) {
            return;
        }
        let turns = part.vector.body.turns();
        let is_sequential = part.vector.body.is_sequential();
        for (place, (asked, seen)) in turns.iter().zip(captured.body.turns()).enumerate() {
            let before = place.checked_sub(1).and_then(|before| turns.get(before));
            let answers = is_sequential && before.is_some_and(|before| before.side != asked.side);
            let way = if answers {
                way(asked.side)
            } else {
                Duration::ZERO
            };
            if !asked.wait.is_zero() {
                self.wait.push(ms(seen.wait, asked.wait + way));
            }
        }
    }

    fn tell(self, fidelity: &mut Fidelity) {
        let median = Distribution::of(self.start.iter().copied()).map_or(0.0, |of| of.p50);
        let start = self.start.iter().map(|error| error - median);
        fidelity.start_error_ms = Distribution::of(start);
        fidelity.rtt_error_ms = Distribution::of(self.rtt);
        fidelity.wait_error_ms = Distribution::of(self.wait);
    }
}

fn verdict(fidelity: &Fidelity) -> Verdict {
    let Some(rtt) = fidelity.rtt_error_ms else {
        return Verdict::Inconclusive;
    };
    if fidelity.found < FEWEST {
        return Verdict::Inconclusive;
    }
    let mut judged = fidelity.distributions.iter();
    if judged.all(|d| !is_too_far(d)) && rtt.p50.abs() <= MOST_RTT_MS {
        Verdict::Pass
    } else {
        Verdict::Fail
    }
}

fn is_too_far(d: &Difference) -> bool {
    let counts = d.counts[0].min(d.counts[1]);
    JUDGED.contains(&d.measure) && counts >= FEWEST && d.distance > MOST_DISTANCE
}

/// What was found, for a terminal.
pub fn words(fidelity: &Fidelity) -> String {
    let mut lines = vec![
        match fidelity.verdict {
            Verdict::Pass => "PASS: what was replayed is what was asked for.".to_owned(),
            Verdict::Fail => "FAIL: what was replayed is not what was asked for.".to_owned(),
            _ => "INCONCLUSIVE: too little is in the capture.".to_owned(),
        },
        String::new(),
        format!(
            "connections   {} complete, {} found in the capture, {} with the same ADUs, {} without overlap",
            fidelity.connections, fidelity.found, fidelity.same_adus, fidelity.not_overlapping
        ),
        String::new(),
        format!(
            "{:24}{:>10} {:>12} {:>12} {:>10}",
            "", "values", "mean asked", "mean seen", "distance"
        ),
    ];
    lines.extend(fidelity.distributions.iter().map(|d| {
        let name = serde_json::to_value(d.measure).unwrap_or_default();
        let name = name.as_str().unwrap_or_default().replace('_', " ");
        let mark = match d.counts[0].min(d.counts[1]) {
            0..FEWEST => "  too few to judge",
            _ if is_too_far(d) => "  too far",
            _ => "",
        };
        format!(
            "{name:24}{:>10} {:>12.1} {:>12.1} {:>10.4}{mark}",
            d.counts[1], d.means[0], d.means[1], d.distance
        )
    }));
    lines.push(String::new());
    let errors = [
        ("round trip", fidelity.rtt_error_ms),
        ("start", fidelity.start_error_ms),
        ("waits", fidelity.wait_error_ms),
    ];
    lines.extend(errors.iter().filter_map(|(name, error)| {
        let error = (*error)?;
        Some(format!(
            "{name:14}off by {:.3} ms (median), {:.3} ms (90 %), {:.3} ms (99 %)",
            error.p50, error.p90, error.p99
        ))
    }));
    lines.extend(fidelity.udp.map(|udp| udp.words()));
    lines.push(format!(
        "good is       distance up to {MOST_DISTANCE}, round trip up to {MOST_RTT_MS} ms off in the median"
    ));
    lines.join("\n") + "\n"
}
