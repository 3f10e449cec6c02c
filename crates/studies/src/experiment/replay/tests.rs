use super::*;
use crate::experiment::{Description, Study};

fn study(name: &str) -> Replays {
    match Description::find(name).unwrap().0.study {
        Study::Replay(replays) => replays,
        _ => panic!("it is that study"),
    }
}

/// Holds tmix/core-grid, tmix/control, tmix/constrained.
#[test]
fn the_core_grid_has_twelve_cells_and_the_other_ten_each_once() {
    for (name, count) in [("replay/structure", 12), ("replay/rtt", 10)] {
        let replays = study(name);
        let told = (&*replays.mix, &*replays.share, replays.repeats);
        assert_eq!(told, ("unc-2008", "1/3", 3), "{name}");
        assert!((replays.capacity - 1.05).abs() < 1e-9, "{name}");
        let cells = replays.cells();
        assert_eq!(cells.len(), count, "{name}");
        assert!(cells.contains(&CONTROL), "{name}");
        let mut names: Vec<String> = cells
            .iter()
            .flat_map(|&cell| Mode::ALL.map(|mode| record(cell, mode, 0)))
            .collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 2 * count, "{names:?}");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(
            names.iter().all(|name| name.chars().all(is_plain)),
            "{names:?}"
        );
    }
}

/// Holds tmix/hour.
#[test]
fn in_virtual_time_the_hour_is_whole() {
    let (found, _) = Description::find("replay/structure").unwrap();
    let (_, text) = found.in_world(World::Sim).unwrap();
    // What is carried out can be read again.
    let Study::Replay(replays) = Description::parse(&text, "again").unwrap().study else {
        panic!("it is that study");
    };
    let at = |scale: &str| {
        let extent = replays.extent(scale.parse().unwrap());
        let seconds = [
            extent.starts,
            extent.longest,
            extent.warm_up,
            extent.cool_down,
        ]
        .map(|span| span.as_secs());
        (extent.repeats, seconds)
    };
    assert_eq!(at("1"), (3, [3_600, 0, 600, 600]));
    assert_eq!(at("0.1"), (1, [1_080, 0, 180, 180]));
    assert_eq!(replays.share(), "1");
    let (other, _) = Description::find("btc/mathis").unwrap();
    let error = other.in_world(World::Sim).unwrap_err().to_string();
    assert!(error.contains("leave --world out"), "{error}");
}

#[test]
fn each_repeat_has_vectors_of_its_own_in_virtual_time_only() {
    let mut replays = study("replay/structure");
    let files = |replays: &Replays, scale: &str| -> Vec<(String, u64)> {
        let hours = replays.hours(scale.parse().unwrap());
        hours
            .map(|hour| (hour.vectors(), hour.seed(u64::MAX)))
            .collect()
    };
    let first = ("vectors.parquet".to_owned(), u64::MAX);
    assert_eq!(files(&replays, "1"), std::slice::from_ref(&first));
    replays.in_world(World::Sim).unwrap();
    let all = [
        first.clone(),
        ("vectors-1.parquet".to_owned(), 0),
        ("vectors-2.parquet".to_owned(), 1),
    ];
    assert_eq!(files(&replays, "1"), all);
    assert_eq!(files(&replays, "0.34"), [first]);
}

#[test]
fn a_smaller_scale_has_fewer_repeats_and_then_shorter_ones() {
    let replays = study("replay/structure");
    let at = |scale: &str| {
        let extent = replays.extent(scale.parse().unwrap());
        (
            extent.repeats,
            extent.starts.as_millis(),
            extent.longest.as_millis(),
            extent.warm_up.as_millis(),
        )
    };
    assert_eq!(at("1"), (3, 45_000, 14_000, 15_000));
    assert_eq!(at("0.34"), (1, 45_000, 14_000, 15_000));
    assert_eq!(at("0.1"), (1, 13_500, 4_200, 4_500));
    assert_eq!(at("0.001"), (1, 6_000, 1_867, 2_000));
    assert_eq!(at("2"), (6, 45_000, 14_000, 15_000));
}

#[test]
fn the_whole_takes_less_than_eighty_minutes_and_a_hundredth_some_minutes() {
    for name in ["replay/structure", "replay/rtt"] {
        let replays = study(name);
        let minutes = |scale: &str| replays.expected(scale.parse().unwrap(), 4).as_secs() / 60;
        assert!((60..80).contains(&minutes("1")), "{name}: {}", minutes("1"));
        assert!(minutes("0.01") < 6, "{name}: {}", minutes("0.01"));
    }
}

#[test]
fn what_cannot_be_replayed_is_refused_in_a_line() {
    let text = include_str!("../../../../../experiments/replay/rtt.toml");
    for (from, to, says) in [
        ("\"1/3\"", "\"a few\"", "share = 'a few'"),
        (
            "starts = \"45s\"",
            "starts = \"1s\"",
            "starts is 6s to a day",
        ),
        (
            "warm_up = \"15s\"",
            "warm_up = \"23s\"",
            "warm_up, with cool_down, is at most half of starts",
        ),
        (
            "longest = \"14s\"",
            "longest = \"16s\"",
            "longest is above 0 and at most warm_up",
        ),
        ("\"usernet\"", "\"mean\"", "has the control"),
        ("repeats = 3", "repeats = 0", "1 to 1000 repeats"),
        ("capacity = 1.05", "capacity = 0", "multiple of the load"),
        ("\"nodelay\"", "\"far\"", "`far` is none of nodelay"),
    ] {
        let text = text.replace(from, to);
        let error = Description::parse(&text, "my").unwrap_err().to_string();
        assert!(
            error.contains(says) && error.lines().count() == 1,
            "{error}"
        );
    }
}
