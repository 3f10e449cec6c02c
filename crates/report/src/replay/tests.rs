use super::family::round_end;
use super::*;
use crate::experiment::Experiment;
use serde_json::json;

/// A replay of four connections, as another version may have kept it.
fn member(name: &str, mode: &str, slower: f64) -> Member {
    let v = [100.0, 200.0, 400.0, 8_000.0].map(|v| v * slower);
    let quantity = json!({"n": 4, "mean": 1.0, "min": v[0], "p50": v[1], "p80": v[2], "p90": v[2], "p95": v[3], "p99": v[3], "max": v[3],
        "curve": {"v": v, "p": [0.25, 0.5, 0.75, 1.0]}});
    let octave =
        |j: u32| json!({"octave": j, "n": 1_000, "log2_energy": 0.6 * f64::from(j), "error": 0.1});
    let replay = json!({
        "models": {"structure": null, "rtt": null, "windows": null, "mode": null, "forward": "up", "rate_mbps": null},
        "window_s": [0.0, 1.0], "ends": {}, "duration_ms": quantity, "duration_from_connect_ms": null, "strata": [],
        "start_lateness_ms": null, "response_ms": null, "queue": null, "active": null, "throughput": null,
        "arrivals": {"marginals": [], "bin_s": 0.001, "octaves": [octave(1), octave(2)], "hurst": null, "hurst_from": []},
    });
    Member {
        name: name.into(),
        mode: Some(mode.into()),
        found: serde_json::from_value(replay).unwrap(),
    }
}

#[test]
fn a_family_is_drawn_with_a_curve_for_each_member_and_what_no_one_has_is_left_out() {
    let members = [
        member("a-b", "constrained", 2.0),
        member("a-b", "unconstrained", 1.0),
    ];
    let figures = figures("structure", "the structure", &members);
    let ids: Vec<&str> = figures.iter().map(|figure| &*figure.id).collect();
    assert_eq!(
        ids,
        [
            "structure-durations",
            "structure-durations-fast",
            "structure-durations-tail",
            "structure-spectrum"
        ]
    );
    let titles: Vec<&str> = figures
        .iter()
        .map(|figure| &*figure.title)
        .take(3)
        .collect();
    let expected = [
        "The median duration is 200 ms (a-b, unconstrained) to 400 ms (a-b, constrained)",
        "Up to 500 ms are 50.0 % (a-b, constrained) to 75.0 % (a-b, unconstrained) of connections",
        "One in a hundred is above 8000 ms (a-b, unconstrained) to 16000 ms (a-b, constrained)",
    ];
    assert_eq!(titles, expected);
    let [slow, fast] = &figures[0].series[..] else {
        panic!("two curves")
    };
    assert_eq!(
        (slow.name.as_str(), slow.variant.as_deref()),
        ("a-b", Some("constrained"))
    );
    // Up to the first point beyond 3 s.
    let drawn = [
        (100.0, 0.0),
        (100.0, 25.0),
        (200.0, 50.0),
        (400.0, 75.0),
        (8_000.0, 100.0),
    ];
    assert_eq!(fast.points, drawn.map(|(x, y)| (x, Some(y))));
    let tail = &figures[2].series[1].points;
    assert_eq!(
        *tail,
        [
            (100.0, Some(75.0)),
            (200.0, Some(50.0)),
            (400.0, Some(25.0))
        ]
    );
    assert_eq!(figures[3].series[0].intervals[0], Some((0.404, 0.796)));
    let whole = figures
        .into_iter()
        .fold(Experiment::new("a", "b"), Experiment::figure);
    whole.table(table("all", &members)).check().unwrap();
}

#[test]
fn axes_end_at_round_numbers() {
    for (value, end) in [(1.0, 1.0), (1.1, 2.0), (8_347.4, 10_000.0), (0.03, 0.05)] {
        assert!((round_end(value) / end - 1.0).abs() < 1e-9, "{value}");
    }
}

#[test]
fn shares_are_read_from_the_curves() {
    let found = member("a-b", "constrained", 1.0).found;
    let shares = [50.0, 100.0, 399.0, 1e9].map(|ms| found.durations_up_to_pct(ms));
    assert_eq!(shares, [0.0, 25.0, 50.0, 100.0].map(Some));
    assert_eq!(
        (found.responses_up_to_pct(1.0), found.queue_above_pct(1.0)),
        (None, None)
    );
}
