use super::*;
use core::net::Ipv4Addr;
use proptest::prelude::*;

/// The router at `hop` of the path from the side `side`.
fn address(side: u8, hop: u8) -> IpAddr {
    Ipv4Addr::new(10, side, hop, 1).into()
}

/// Twenty probes of each hop in each phase, with idle and loaded round trips in milliseconds; `None` never answers.
/// The last hop is the end. Round trips vary by up to 0.9 ms.
fn rows(side: u8, hops: &[Option<(u64, u64)>]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (ttl, hop) in (1..).zip(hops) {
        for i in 0..40_u64 {
            let phase = if i % 2 == 0 {
                Phase::Idle
            } else {
                Phase::Loaded
            };
            let rtt = hop.map(|(idle, loaded)| if i % 2 == 0 { idle } else { loaded });
            rows.push(Row {
                ttl,
                address: rtt.map(|_| address(side, ttl)),
                phase,
                rtt_ns: rtt.map(|ms| ms * 1_000_000 + i / 2 % 10 * 100_000),
                is_end: usize::from(ttl) == hops.len() && rtt.is_some(),
            });
        }
    }
    rows
}

fn trace(hops: &[Option<(u64, u64)>]) -> Trace {
    Trace::of(&rows(1, hops)).unwrap()
}

#[track_caller]
fn assert_found(hops: &[Option<(u64, u64)>], hop: u8, before_hop: u8, rise_ms: f64) {
    let trace = trace(hops);
    let found = trace.finding.bottleneck().unwrap();
    assert_eq!(
        (found.hop, found.before_hop),
        (hop, before_hop),
        "{trace:?}"
    );
    assert_eq!(found.at, address(1, hop));
    assert_eq!(
        found.before,
        (before_hop > 0).then(|| address(1, before_hop))
    );
    assert!((found.rise_ms - rise_ms).abs() < 0.5, "{found:?}");
}

/// Holds rrul/bottleneck.
#[test]
fn the_first_hop_from_which_all_have_risen_is_behind_the_queue() {
    assert_found(
        &[Some((1, 1)), Some((5, 85)), Some((9, 90)), Some((12, 93))],
        2,
        1,
        80.0,
    );
    assert_found(
        &[Some((1, 101)), Some((5, 106)), Some((9, 110))],
        1,
        0,
        100.0,
    );
    assert_found(&[Some((1, 1)), Some((5, 5)), Some((9, 49))], 3, 2, 40.0);
}

#[test]
fn a_router_that_answers_slowly_is_no_bottleneck() {
    // Hop 1 is busy under load, hop 2 always slow; the queue is before hop 4.
    let hops = [
        Some((1, 60)),
        Some((80, 90)),
        Some((5, 5)),
        Some((9, 69)),
        Some((12, 72)),
    ];
    assert_found(&hops, 4, 3, 60.0);
}

#[test]
fn a_silent_hop_widens_the_link() {
    assert_found(
        &[Some((1, 1)), None, Some((9, 49)), Some((12, 52))],
        3,
        1,
        40.0,
    );
    assert_found(&[None, None, Some((9, 49))], 3, 0, 40.0);
}

#[test]
fn a_hop_that_answers_rarely_is_passed_over() {
    let mut rows = rows(
        1,
        &[Some((1, 1)), Some((5, 5)), Some((9, 49)), Some((12, 52))],
    );
    let mut answered = 0;
    for row in rows.iter_mut().filter(|row| row.ttl == 2) {
        answered += 1;
        if answered > 8 {
            (row.rtt_ns, row.address) = (None, None);
        }
    }
    let trace = Trace::of(&rows).unwrap();
    assert_eq!(trace.finding.bottleneck().unwrap().before_hop, 1);
    assert_eq!(trace.hops[1].rise_ms(), None, "four answers in each phase");
    assert_eq!(trace.hops[1].idle.answered_pct(), Some(20.0));
}

#[test]
fn the_larger_of_two_queues_is_told() {
    assert_found(
        &[
            Some((1, 21)),
            Some((5, 25)),
            Some((9, 109)),
            Some((12, 112)),
        ],
        3,
        2,
        80.0,
    );
}

#[test]
fn without_a_rise_the_reason_is_told() {
    let calm = trace(&[Some((1, 1)), Some((5, 6)), Some((9, 10))]);
    let Finding::NoRise { rise_ms, noise_ms } = calm.finding else {
        panic!("{calm:?}");
    };
    assert!((rise_ms - 1.0).abs() < 0.2 && noise_ms >= LEAST_RISE_MS);
    assert_eq!(trace(&[None, None]).finding, Finding::TooFewAnswers);
    assert_eq!(Trace::of(&[]), None);
    let idle_only: Vec<Row> = rows(1, &[Some((1, 1))])
        .into_iter()
        .filter(|r| r.phase == Phase::Idle)
        .collect();
    assert_eq!(
        Trace::of(&idle_only).unwrap().finding,
        Finding::TooFewAnswers
    );
}

/// Under load another router answers at hop 2, 30 ms away: that is a change of path and no queue.
#[test]
fn a_changed_path_is_not_compared() {
    let mut rows = rows(1, &[Some((1, 1)), Some((5, 35)), Some((9, 49))]);
    for row in rows
        .iter_mut()
        .filter(|row| row.ttl == 2 && row.phase == Phase::Loaded)
    {
        row.address = Some(address(9, 2));
    }
    let trace = Trace::of(&rows).unwrap();
    assert_eq!(trace.hops[1].others.len(), 1);
    let found = trace.finding.bottleneck().unwrap();
    assert_eq!((found.hop, found.before_hop), (3, 1));
}

#[test]
fn hops_beyond_the_end_are_the_end() {
    let mut rows = rows(1, &[Some((1, 1)), Some((5, 45))]);
    let beyond: Vec<Row> = rows
        .iter()
        .filter(|r| r.ttl == 2)
        .map(|r| Row { ttl: 3, ..*r })
        .collect();
    rows.extend(beyond);
    let trace = Trace::of(&rows).unwrap();
    assert_eq!((trace.hops.len(), trace.end), (2, Some(2)));
}

/// Client, three routers, server: the queue is on the second link.
#[test]
fn traces_from_both_ends_narrow_the_link_down() {
    let up = [Some((1, 1)), None, Some((9, 49)), Some((12, 52))];
    let down = [Some((1, 1)), Some((4, 4)), Some((9, 49)), Some((12, 52))];
    let (up, down) = (trace(&up), Trace::of(&rows(2, &down)).unwrap());
    let expected = Between {
        near_hop: 1,
        near: Some(address(1, 1)),
        far_hop: 2,
        far: Some(address(2, 2)),
    };
    assert_eq!(between(&up, &down), Some(expected));
}

#[test]
fn traces_that_contradict_each_other_tell_nothing() {
    let first = trace(&[Some((1, 41)), Some((5, 45)), Some((9, 49))]);
    let last = trace(&[Some((1, 1)), Some((5, 5)), Some((9, 49))]);
    assert!(
        between(&first, &last).is_some(),
        "the same link from either end"
    );
    assert_eq!(between(&first, &first), None);
    let longer = trace(&[Some((1, 1)), Some((5, 5)), Some((9, 9)), Some((12, 52))]);
    assert_eq!(between(&first, &longer), None);
    let calm = trace(&[Some((1, 1)), Some((5, 5)), Some((9, 9))]);
    assert_eq!(between(&first, &calm), None);
}

prop_compose! {
    fn any_row()(
        ttl in any::<u8>(), host in proptest::option::of(0_u8..4), loaded: bool, rtt_ns: Option<u64>, is_end: bool,
    ) -> Row {
        Row {
            ttl: ttl % 6,
            address: host.map(|host| address(1, host)),
            phase: if loaded { Phase::Loaded } else { Phase::Idle },
            rtt_ns,
            is_end,
        }
    }
}

proptest! {
    #[test]
    fn any_rows_are_answered(rows in proptest::collection::vec(any_row(), 1..300)) {
        let trace = Trace::of(&rows).unwrap();
        prop_assert!(trace.hops.is_sorted_by_key(|hop| hop.ttl));
        if let Some(found) = trace.finding.bottleneck() {
            prop_assert!(found.before_hop < found.hop || found.before.is_none());
            prop_assert!(found.rise_ms.is_finite() && found.rise_ms > 0.0);
        }
        if let Some(link) = between(&trace, &trace) {
            prop_assert!(link.near_hop < link.far_hop);
        }
    }

    #[test]
    fn a_queue_is_found_wherever_it_is(length in 1_u8..12, at in 0_u8..12, queue in 10_u64..1_000) {
        let at = at % length;
        let hops: Vec<_> = (0..length)
            .map(|i| {
                let idle = u64::from(i) * 3 + 1;
                Some((idle, if i >= at { idle + queue } else { idle }))
            })
            .collect();
        let trace = trace(&hops);
        prop_assert_eq!(trace.finding.bottleneck().map(|found| found.hop), Some(at + 1));
    }
}
