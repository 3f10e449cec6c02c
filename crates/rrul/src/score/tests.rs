use super::*;
use record::Distribution;
use schema::rrul::{Adaptive, CallFigures, Calls, Heard, LoaderFigures, Phases, WebFigures};

fn always(ms: f64) -> Option<Distribution> {
    Distribution::of([ms])
}

fn phases(idle: f64, loaded: f64) -> Phases {
    Phases {
        idle: always(idle),
        loaded: always(loaded),
    }
}

/// A run in which nothing is wrong.
fn ideal() -> Summary {
    let mut summary = Summary {
        tcp_rr_ms: phases(20.0, 20.0),
        web: Some(WebFigures {
            idle_ms: always(300.0),
            loaded_ms: always(300.0),
            idle_per_page_ms: Some(300.0),
            loaded_per_page_ms: Some(300.0),
            responsiveness: Some(100.0),
            by_loader: [("native h2".to_owned(), LoaderFigures::default())].into(),
            ..WebFigures::default()
        }),
        ..Summary::default()
    };
    for class in ["EF", "CS0", "CS1"] {
        summary
            .latency_ms
            .by_class
            .insert(class.to_owned(), phases(20.0, 20.0));
        let heard = || {
            Some(Heard {
                r: Some(90.0),
                delay_ms: always(10.0),
                ..Heard::default()
            })
        };
        let figures = || CallFigures {
            idle: heard(),
            loaded: heard(),
            ..CallFigures::default()
        };
        let calls = Calls {
            up: figures(),
            down: figures(),
        };
        summary.voip.insert(class.to_owned(), calls);
    }
    let marks = summary.dscp.entry("EF".to_owned()).or_default();
    marks.up.insert("EF".to_owned(), 100);
    for (class, mbps) in [("CS1", 1.0), ("CS0", 45.0), ("CS5", 30.0), ("EF", 24.0)] {
        let rates = &mut summary.throughput_mbps;
        rates.down_by_class.insert(class.to_owned(), mbps);
        rates.up_by_class.insert(class.to_owned(), mbps);
    }
    summary.fairness.like_down = Some(1.0);
    summary.fairness.like_up = Some(1.0);
    summary.fairness.v6_over_v4_down = Some(1.0);
    summary.families = [("v4".to_owned(), 10), ("v6".to_owned(), 10)].into();
    summary
}

/// Holds rrul/score-sum.
#[test]
fn a_run_without_fault_scores_100_and_has_no_penalty() {
    let summary = ideal();
    let score = score(&summary).unwrap();
    assert!((score.total.unwrap() - 100.0).abs() < 1e-9, "{score:?}");
    assert_eq!(score.why.len(), 5);
    let plan = crate::catalogue::find("rrul").unwrap();
    assert!(penalties(&plan, &summary).is_empty());
}

/// Holds rrul/score-relative, rrul/optimum.
#[test]
fn each_part_is_its_loaded_value_relative_to_its_own_idle_one() {
    let mut summary = ideal();
    summary.web.as_mut().unwrap().responsiveness = Some(25.0);
    let calls = summary.voip.values_mut();
    calls.for_each(|calls| calls.up.loaded.as_mut().unwrap().r = Some(0.0));
    for phases in summary.latency_ms.by_class.values_mut() {
        *phases = self::phases(20.0, 200.0);
    }
    summary.tcp_rr_ms = phases(20.0, 200.0);
    summary.loss_pct.loaded = Some(50.0);
    summary.fairness.v6_over_v4_down = Some(2.0);
    let score = score(&summary).unwrap();
    let near = |value: Option<f64>, wanted: f64| (value.unwrap() - wanted).abs() < 1e-9;
    assert!(near(score.web, 5.0), "{score:?}");
    assert!(near(score.voip, 10.0), "{score:?}");
    assert!(near(score.realtime, 1.0), "{score:?}");
    assert!(near(score.fairness, 10.0), "{score:?}");
}

/// Holds rrul/optimum, rrul/penalties.
#[test]
fn classes_that_are_all_alike_or_all_ef_lose_what_the_specification_asks_of_them() {
    let mut summary = ideal();
    let set = |summary: &mut Summary, rates: [f64; 4]| {
        let names = ["CS1", "CS0", "CS5", "EF"];
        let rates = names.into_iter().map(str::to_owned).zip(rates);
        summary.throughput_mbps.down_by_class = rates.clone().collect();
        summary.throughput_mbps.up_by_class = rates.collect();
    };
    set(&mut summary, [25.0; 4]);
    let alike = score(&summary).unwrap().classification.unwrap();
    assert!((alike - 20.0 * 0.7).abs() < 1e-9, "{alike}");
    set(&mut summary, [1.0, 1.0, 1.0, 97.0]);
    let all_ef = score(&summary).unwrap().classification.unwrap();
    assert!((all_ef - 20.0 * 0.7).abs() < 1e-9, "{all_ef}");
    let codes = penalties(&crate::catalogue::find("rrul").unwrap(), &summary);
    let codes: Vec<_> = codes.iter().map(|penalty| penalty.code.as_str()).collect();
    assert!(codes.contains(&"ef_dominates"), "{codes:?}");
    assert!(codes.contains(&"cs1_as_best_effort"), "{codes:?}");
}

/// Holds rrul/penalties.
#[test]
fn background_that_gets_as_much_as_best_effort_is_told_whoever_else_fares_well() {
    let mut summary = ideal();
    let rates = [("CS1", 1.21), ("CS0", 0.97), ("CS5", 1.4), ("EF", 1.3)];
    let rates = rates.map(|(class, rate)| (class.to_owned(), rate));
    summary.throughput_mbps.up_by_class = rates.into();
    let list = penalties(&crate::catalogue::find("rrul").unwrap(), &summary);
    let codes: Vec<_> = list.iter().map(|penalty| penalty.code.as_str()).collect();
    assert_eq!(codes, ["cs1_as_best_effort"]);
    assert!(list[0].message.contains("1.21"), "{list:?}");
}

/// Holds rrul/penalties.
#[test]
fn streams_of_either_version_of_ip_that_share_unequally_are_told() {
    let mut summary = ideal();
    for (ratio, told) in [(1.4, false), (2.2, true), (0.7, false), (0.45, true)] {
        summary.fairness.v6_over_v4_up = Some(ratio);
        let list = penalties(&crate::catalogue::find("rrul").unwrap(), &summary);
        let codes = list.iter().map(|penalty| penalty.code.as_str());
        assert_eq!(codes.eq(["unequal_versions"]), told, "{ratio}: {list:?}");
    }
}

#[test]
fn a_bad_call_scores_above_a_worse_one() {
    let part = |adaptive: f64| {
        let mut summary = ideal();
        for calls in summary.voip.values_mut() {
            for figures in [&mut calls.up, &mut calls.down] {
                let [idle, loaded] = [&mut figures.idle, &mut figures.loaded];
                let rated = |r| {
                    Some(Adaptive {
                        r: Some(r),
                        ..Adaptive::default()
                    })
                };
                idle.as_mut().unwrap().adaptive = rated(90.0);
                let loaded = loaded.as_mut().unwrap();
                (loaded.r, loaded.adaptive) = (Some(-20.0), rated(adaptive));
            }
        }
        score(&summary).unwrap().voip.unwrap()
    };
    // All of it is late for the specification's buffer.
    assert!((part(90.0) - 10.0).abs() < 1e-9);
    assert!((part(45.0) - 5.0).abs() < 1e-9);
    assert!(part(-20.0).abs() < 1e-9);
}

/// Holds rrul/penalties.
#[test]
fn bad_behaviour_is_told_by_name() {
    let mut summary = ideal();
    summary.slew_ms = always(1_040.0);
    summary.fairness.like_up = Some(0.5);
    summary.families.remove("v6");
    for calls in summary.voip.values_mut() {
        calls.up.loaded.as_mut().unwrap().delay_ms = always(250.0);
    }
    let list = penalties(&crate::catalogue::find("rrul").unwrap(), &summary);
    let codes: Vec<_> = list.iter().map(|penalty| penalty.code.as_str()).collect();
    assert_eq!(
        codes,
        ["bad_slew", "unequal_streams", "delay_up", "ipv6_missing"]
    );
    assert!(list.iter().all(|penalty| !penalty.evidence.is_empty()));
    let single = penalties(&crate::catalogue::find("tcp_upload").unwrap(), &summary);
    assert!(
        single.iter().all(|p| p.code != "ipv6_missing"),
        "it was not asked for"
    );
}

#[test]
fn what_was_not_measured_has_no_part_and_no_total() {
    assert!(score(&Summary::default()).is_none());
    let mut summary = ideal();
    summary.web = None;
    let score = score(&summary).unwrap();
    assert_eq!((score.web, score.total), (None, None));
    assert!(score.realtime.is_some());
}
