//! Model based metrics with several streams at once.

use crate::mbm::{lab, tested, verdicts};
use crate::support::{Machine, folder, number, rows, run, values};
use schema::mbm::tables::Arrival;

/// 6 Mbit/s over 20 ms: a window of 11 packets. Three of these fit into 20 Mbit/s, four do not.
const TARGET: [&str; 4] = ["--rate", "6Mbit", "--rtt", "20ms"];

/// Holds mbm/streams-stated.
#[test]
fn quiet_a_path_that_carries_three_at_once_may_not_carry_four() {
    let Some(_machine) = Machine::alone() else {
        return;
    };
    let place = folder(&[("good.toml", &lab(""))]);
    let test = ["--test", "paced-full-rate"];
    let three = [&test[..], &["--streams", "3"]].concat();
    let Some(found) = tested(place.path(), "good.toml", &TARGET, &three, 0, "three") else {
        return;
    };
    assert_eq!(found["verdict"], "PASS");
    assert_eq!(verdicts(&found), [("paced-full-rate", "PASS"); 3]);
    let streams: Vec<_> = values(&found["summary"]["tests"])
        .map(|test| test["stream"].as_u64().unwrap())
        .collect();
    assert_eq!(streams, [1, 2, 3]);
    // Each has its own packets.
    let arrivals = rows::<Arrival>(&place.path().join("three"));
    for (index, test) in (0..).zip(values(&found["summary"]["tests"])) {
        let own = arrivals.iter().filter(|row| row.test == index);
        assert_eq!(own.clone().map(|row| row.seq).min(), Some(0));
        assert!(own.count() as f64 <= number(test, "/packets_sent"));
    }
    let four = [&test[..], &["--streams", "4"]].concat();
    let Some(found) = tested(place.path(), "good.toml", &TARGET, &four, 1, "four") else {
        return;
    };
    assert_eq!(found["verdict"], "FAIL");
    let shown = run(place.path(), &["show", "four"]);
    let card = &shown.ended(0).stdout;
    assert!(
        card.contains("does not carry 4 x 6 Mbit/s over 20 ms at once"),
        "{card}"
    );
    assert!(card.contains("of 4 streams at once "), "{card}");
    let composed = run(place.path(), &["mbm", "compose", "three", "four"]);
    assert!(
        composed.refused(2).contains("concurrent streams"),
        "{composed:?}"
    );
}

/// Holds mbm/streams-concurrent.
#[test]
fn quiet_streams_from_the_far_end_begin_together_and_are_told_apart() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[("good.toml", &lab(""))]);
    let more = [
        "--reverse",
        "--streams",
        "2",
        "--test",
        "sustained-burst,windowed-full-rate",
    ];
    let Some(found) = tested(place.path(), "good.toml", &TARGET, &more, 0, "r") else {
        return;
    };
    assert_eq!(
        verdicts(&found),
        [
            ("sustained-burst", "PASS"),
            ("sustained-burst", "PASS"),
            ("windowed-full-rate", "PASS"),
            ("windowed-full-rate", "PASS")
        ]
    );
    // Bursts are 20 ms apart, and the first of both leave together.
    let arrivals = rows::<Arrival>(&place.path().join("r"));
    let first = |test| {
        let packets = arrivals.iter().filter(|row| row.test == test);
        packets.map(|row| row.t_ns).min().unwrap()
    };
    let apart = first(0).abs_diff(first(1));
    assert!(apart < 10_000_000, "{apart} ns apart");
}
