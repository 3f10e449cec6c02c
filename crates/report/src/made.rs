//! Plans and summaries for tests: whole ones, of which a test says what matters to it.

use serde_json::{Value, json};

/// `base` with what `patch` says (RFC 7396, but null stays null).
pub(crate) fn with(mut base: Value, patch: Value) -> Value {
    match (&mut base, patch) {
        (Value::Object(base), Value::Object(patch)) => {
            for (key, value) in patch {
                let before = base.remove(&key).unwrap_or(Value::Null);
                base.insert(key, with(before, value));
            }
        }
        (base, patch) => *base = patch,
    }
    base
}

/// A direction of a lab's link.
pub(crate) fn link(
    link: &str,
    direction: &str,
    rate_mbps: Option<f64>,
    carried_mbps: f64,
) -> Value {
    json!({
        "link": link, "direction": direction, "rate_mbps": rate_mbps, "carried_mbps": carried_mbps, "queue_ms": null,
        "dropped_overflow": 0, "dropped_aqm": 0, "dropped_loss": 0, "marked": 0,
        "emulator_late_p50_us": 1.0, "emulator_late_p99_us": 2.0, "unwritten": 0,
    })
}

/// The plan of an `mbm` run: 10 Mbit/s over 80 ms, up.
pub(crate) fn mbm_plan(patch: Value) -> Value {
    let whole = json!({
        "name": null, "target": {"rate": "10Mbit", "rtt": "80ms"}, "model": {"name": "reference"}, "alpha": 0.05, "beta": 0.05,
        "rule": {"kind": "sequential"}, "tests": ["paced-full-rate"], "direction": "up", "class": "CS0", "ecn": false,
        "timeout": "300s", "seed": 1,
    });
    with(whole, patch)
}

/// The summary of an `mbm` run.
pub(crate) fn mbm_summary(patch: Value) -> Value {
    let whole = json!({
        "window_packets": 70, "run_length_packets": 14_700, "formula": "3 W^2", "source": "RFC 8337", "p0": 1e-4, "p1": 4e-4,
        "lines": {"marks_per_packet": 0.0216, "below": 2.08, "above": 2.08},
        "conservativeness": {"p0": 1e-4, "p1": 4e-4, "predictions": []}, "path_rtt_ms": null, "tests": [], "links": [],
    });
    with(whole, patch)
}

/// A test of it.
pub(crate) fn mbm_test(patch: Value) -> Value {
    let whole = json!({
        "test": "paced-full-rate", "verdict": {"outcome": "PASS", "reason": "loss_low", "says": "few", "would_change": "more"},
        "section": "8.1.1", "start_s": 0.0, "seconds": 1.0, "packets_sent": 100, "bytes_sent": 150_000, "rtt_ms": null,
    });
    with(whole, patch)
}

/// The figures of a test that losses decide.
pub(crate) fn mbm_figures(patch: Value) -> Value {
    let whole = json!({
        "hypotheses": {"p0": 0.01, "p1": 0.04, "alpha": 0.05, "beta": 0.05}, "counts": {"packets": 90, "lost": 7, "ce": 0},
        "walk": {"points": []}, "preconditions": [], "growth_ns": null, "test_ns": null, "least_packets": 100,
    });
    with(whole, patch)
}

/// The plan of an `estimate` run.
pub(crate) fn estimate_plan(patch: Value) -> Value {
    let whole = json!({
        "what": "available", "method": "pathload", "direction": "up", "duration": "10s", "most": "100Mbit", "class": "CS0",
        "seed": 1,
    });
    with(whole, patch)
}

/// The summary of an `estimate` run.
pub(crate) fn estimate_summary(patch: Value) -> Value {
    let whole = json!({
        "what": "available", "direction": "up", "estimator": "pathload", "unit": "Mbit/s", "value": null, "low": null,
        "high": null, "conclusive": true, "says": "", "details": {}, "seconds": 2.0, "trains": 1, "probes": 100,
        "probes_lost": 0, "overhead_bytes": 250_000, "rider_bytes": 0, "links": [],
    });
    with(whole, patch)
}

/// The plan of a replay.
pub(crate) fn replay_plan(patch: Value) -> Value {
    let whole = json!({
        "vectors": "v.parquet", "structure": "a-b", "rtt": "usernet", "windows": "empirical", "latencies": {}, "duration": null, "warm_up": "0s",
        "cool_down": "0s", "rtt_at": "both", "bottleneck": null, "constrained": false, "forward": "down",
        "congestion_control": null, "initial_window": null, "capture": false, "seed": 1,
    });
    with(whole, patch)
}

/// The summary of a replay.
pub(crate) fn replay_summary(patch: Value) -> Value {
    let whole = json!({
        "connections": {"planned": 0, "completed": 0, "reset": 0, "refused": 0, "unfinished": 0, "never": 0},
        "bytes": {"planned": 0, "sent": 0}, "goodput_mbps": {"forward": 0.0, "reverse": 0.0},
        "window": {"from_s": 0.0, "to_s": 1.0}, "forward": "down", "links": [],
    });
    with(whole, patch)
}

/// What became of flows of UDP.
pub(crate) fn udp(patch: Value) -> Value {
    let whole = json!({
        "planned": 0, "completed": 0, "broken": 0, "unfinished": 0, "never": 0, "bytes": {"planned": 0, "sent": 0},
        "datagrams": {"sent": 0, "received": 0, "lost": 0}, "start_lateness_ms": null, "send_lateness_ms": null,
    });
    with(whole, patch)
}

/// They are what they stand for.
#[test]
fn whole_ones_are_read() {
    let none = || json!({});
    schema::mbm::Plan::of_record(&mbm_plan(none())).unwrap();
    let figures = json!({"tests": [mbm_test(json!({"figures": mbm_figures(none())}))]});
    serde_json::from_value::<schema::mbm::Summary>(mbm_summary(figures)).unwrap();
    serde_json::from_value::<schema::estimate::Plan>(estimate_plan(none())).unwrap();
    serde_json::from_value::<schema::estimate::Summary>(estimate_summary(none())).unwrap();
    serde_json::from_value::<schema::replay::Plan>(replay_plan(none())).unwrap();
    let links = json!({"links": [link("a-b", "up", None, 1.0)], "udp": udp(none())});
    serde_json::from_value::<schema::replay::Summary>(replay_summary(links)).unwrap();
}
