use super::*;
use crate::outcome::Times;
use serde_json::{Value, json};

pub(crate) fn summary(
    what: &str,
    direction: &str,
    value: f64,
    half: f64,
    conclusive: bool,
) -> Value {
    json!({
        "what": what, "direction": direction, "estimator": "isochronous", "unit": "ms",
        "value": value, "low": value - half, "high": value + half, "conclusive": conclusive,
        "says": "it came to no end", "details": {}, "seconds": 2.0, "trains": 1, "probes": 20,
        "probes_lost": 0, "overhead_bytes": 20_000, "rider_bytes": 0, "links": [],
    })
}

pub(crate) fn outcome(measure: &str, second: u64, summary: Value) -> Outcome {
    let ended = Moment::from_millis(1_800_000_000_000 + second * 1_000);
    let run = format!("f.{measure}.a.b.{}", ended.compact());
    let times = Times {
        planned: ended,
        began: Some(ended),
        ended,
    };
    let outcome = Outcome::without_record(
        run.parse().unwrap(),
        None,
        times,
        Became::Complete,
        String::new(),
    );
    Outcome {
        test: Some("estimate".to_owned()),
        summary,
        ..outcome
    }
}

fn asked(what: What, ends: [&str; 2]) -> Asked {
    Asked {
        what,
        ends: ends.map(|end| end.parse().unwrap()),
        fleet: None,
        max_age: Duration::from_secs(60),
        within_pct: None,
    }
}

pub(crate) fn now() -> Moment {
    Moment::from_millis(1_800_000_100_000)
}

fn now_less(seconds: u64) -> Moment {
    Moment::from_millis(now().as_millis() - seconds * 1_000)
}

#[test]
fn the_last_estimate_that_is_new_and_accurate_enough_is_the_answer() {
    let mut estimates = Estimates::default();
    for (measure, second, half) in [("fast", 90, 4.0), ("fine", 50, 0.2), ("fine", 30, 0.1)] {
        estimates.take(
            &outcome(measure, second, summary("rtt", "up", 20.0, half, true)),
            now(),
        );
    }
    let mut asked = asked(What::Rtt, ["a", "b"]);
    let answer = estimates.answer(&asked, now()).unwrap();
    assert_eq!((answer.value, answer.quality.age_s), (Some(20.0), 10.0));
    assert_eq!(answer.quality.interval_pct, Some(20.0));
    asked.within_pct = Some(5.0);
    let answer = estimates.answer(&asked, now()).unwrap();
    assert_eq!(answer.run.measure.as_str(), "fine");
    assert_eq!(answer.measured, now_less(50));
    assert!(
        answer
            .words()
            .contains("20.00 ms (19.80 to 20.20); 50 s old")
    );
    // That one is too old now, and the other one not accurate enough.
    asked.max_age = Duration::from_secs(40);
    let refused = estimates.answer(&asked, now()).unwrap_err().to_string();
    assert!(
        refused.contains("is 10 s old and within 20.0 %"),
        "{refused}"
    );
    asked.fleet = Some("g".parse().unwrap());
    let refused = estimates.answer(&asked, now()).unwrap_err().to_string();
    assert!(refused.contains("plan an 'estimate'"), "{refused}");
    asked.fleet = None;
    asked.what = What::Loss;
    let refused = estimates.answer(&asked, now()).unwrap_err().to_string();
    assert!(refused.contains("known of this pair: rtt"), "{refused}");
    assert_eq!(estimates.all(now()).count(), 3);
    estimates.forget(now_less(40));
    assert_eq!(estimates.all(now()).count(), 1);
}

#[test]
fn what_is_not_conclusive_has_no_value_and_comes_last() {
    let mut estimates = Estimates::default();
    estimates.take(
        &outcome("x", 90, summary("rtt", "up", 20.0, 0.1, false)),
        now(),
    );
    let asked = asked(What::Rtt, ["a", "b"]);
    let answer = estimates.answer(&asked, now()).unwrap();
    assert_eq!((answer.value, answer.conclusive), (None, false));
    assert!(answer.words().contains("none: it came to no end"));
    estimates.take(
        &outcome("y", 80, summary("rtt", "up", 20.0, 0.1, true)),
        now(),
    );
    assert!(estimates.answer(&asked, now()).unwrap().conclusive);
}

#[test]
fn a_later_estimate_that_is_worse_leaves_the_one_before() {
    let mut estimates = Estimates::default();
    for (second, half, conclusive) in [(50, 0.2, true), (60, 4.0, true), (70, 0.1, false)] {
        let summary = summary("rtt", "up", 20.0, half, conclusive);
        estimates.take(&outcome("x", second, summary), now());
    }
    let mut asked = asked(What::Rtt, ["a", "b"]);
    assert_eq!(
        estimates.answer(&asked, now()).unwrap().measured,
        now_less(40)
    );
    asked.within_pct = Some(2.0);
    assert_eq!(
        estimates.answer(&asked, now()).unwrap().measured,
        now_less(50)
    );
    // One that is as good and later takes the place of all of them.
    estimates.take(
        &outcome("x", 80, summary("rtt", "up", 20.0, 0.1, true)),
        now(),
    );
    assert_eq!(estimates.all(now()).count(), 1);
    // What is only worse and worse is not kept for ever.
    for second in 0_u32..200 {
        let summary = summary("rtt", "up", 20.0, 0.2 + f64::from(second) / 100.0, true);
        estimates.take(&outcome("y", u64::from(second) / 2, summary), now());
    }
    assert!(estimates.all(now()).count() <= MOST_OF_EACH + 1);
}

#[test]
fn a_clock_that_is_ahead_makes_nothing_new_for_ever() {
    let mut estimates = Estimates::default();
    let summary = || summary("rtt", "up", 20.0, 0.1, true);
    estimates.take(&outcome("x", 100_000_000, summary()), now());
    assert_eq!(estimates.all(now()).count(), 0);
    estimates.take(&outcome("x", 600, summary()), now());
    assert_eq!(estimates.all(now()).next().unwrap().measured, now());
}

#[test]
fn what_came_from_the_far_end_is_of_the_path_back() {
    let mut estimates = Estimates::default();
    estimates.take(
        &outcome("x", 90, summary("owd", "down", 20.0, 0.1, true)),
        now(),
    );
    assert!(
        estimates
            .answer(&asked(What::Owd, ["b", "a"]), now())
            .is_ok()
    );
    let refused = estimates.answer(&asked(What::Owd, ["a", "b"]), now());
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("plan an 'estimate' of this pair"),
        "{refused}"
    );
}

#[test]
fn other_runs_and_unreadable_figures_are_no_estimates() {
    let mut estimates = Estimates::default();
    let good = outcome("x", 90, summary("rtt", "up", 20.0, 0.1, true));
    let others = [
        Outcome {
            test: Some("btc".to_owned()),
            ..good.clone()
        },
        Outcome {
            status: Became::Invalid,
            ..good.clone()
        },
        Outcome {
            summary: json!({ "what": "rtt", "value": "much" }),
            ..good
        },
    ];
    for outcome in others {
        estimates.take(&outcome, now());
    }
    assert_eq!(estimates.all(now()).count(), 0);
}
