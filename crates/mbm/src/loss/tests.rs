use super::*;
use proptest::prelude::*;
use stats::random::SplitMix64;
use std::time::Duration;
use units::Instant;

const PATIENCE: Duration = Duration::from_millis(10);

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Holds mbm/marks, mbm/reordering-tolerated, mbm/loss-events.
#[test]
fn a_packet_is_given_up_when_a_later_one_has_waited() {
    let mut ledger = Ledger::new(PATIENCE);
    assert_eq!(ledger.handle_arrival(0, false, at(0)), Arrival::New);
    assert_eq!(ledger.handle_arrival(2, true, at(2)), Arrival::New);
    assert_eq!(ledger.next_timeout(), Some(at(12)));
    ledger.handle_timeout(at(11));
    assert_eq!(ledger.counts().packets, 1);
    ledger.handle_timeout(at(12));
    assert_eq!(
        *ledger.counts(),
        Counts {
            packets: 3,
            lost: 1,
            ce: 1
        }
    );
    assert_eq!(ledger.counts().marks(), 2);
    assert_eq!(ledger.next_timeout(), None);
    assert_eq!(ledger.handle_arrival(1, false, at(13)), Arrival::Late);
    assert_eq!(ledger.handle_arrival(1, false, at(14)), Arrival::Duplicate);
    assert_eq!(ledger.handle_arrival(2, false, at(15)), Arrival::Duplicate);
    assert_eq!((ledger.late(), ledger.duplicates()), (1, 2));
}

/// Holds mbm/reordering-measured.
#[test]
fn what_was_overtaken_is_delivered_and_its_extent_is_known() {
    let mut ledger = Ledger::new(PATIENCE);
    for seq in [0, 2, 3, 4, 1, 5, 7, 6] {
        ledger.handle_arrival(seq, false, at(1));
    }
    assert_eq!(
        *ledger.counts(),
        Counts {
            packets: 8,
            lost: 0,
            ce: 0
        }
    );
    let report = ledger.reordering().report();
    // Packet 1 came 3 arrivals after packet 2, packet 6 one after packet 7.
    assert_eq!(
        (
            report.reordered,
            report.max_extent,
            report.beyond_dup_thresh
        ),
        (2, 3, 1)
    );
    assert!(
        (report.mean_extent - 2.0).abs() < 1e-12 && (report.reordered_pct - 25.0).abs() < 1e-12
    );
}

/// Holds mbm/reordering-history.
#[test]
fn an_extent_beyond_the_history_is_told_as_that() {
    let extent = |later: u64| {
        let mut reordering = Reordering::default();
        (1..=later).for_each(|seq| reordering.arrive(seq));
        reordering.arrive(0);
        reordering.report().max_extent
    };
    assert_eq!(extent(4_095), 4_095);
    assert_eq!(extent(4_096), 4_096);
    assert_eq!(extent(10_000), 4_096);
}

#[test]
fn the_end_settles_all_that_was_sent() {
    let mut ledger = Ledger::new(PATIENCE);
    ledger.handle_arrival(0, false, at(0));
    ledger.handle_arrival(3, false, at(0));
    ledger.close(6);
    assert_eq!(
        *ledger.counts(),
        Counts {
            packets: 6,
            lost: 4,
            ce: 0
        }
    );
    ledger.close(0);
    assert_eq!(ledger.counts().packets, 6);
}

#[test]
fn a_number_out_of_reach_costs_no_memory() {
    let mut ledger = Ledger::new(PATIENCE);
    assert_eq!(
        ledger.handle_arrival(u64::MAX, false, at(0)),
        Arrival::Implausible
    );
    assert_eq!(
        ledger.handle_arrival(MAX_OPEN, false, at(0)),
        Arrival::Implausible
    );
    assert_eq!(ledger.implausible(), 2);
    assert_eq!(ledger.counts().packets, 0);
    ledger.close(u64::MAX);
    assert_eq!(ledger.counts().packets, MAX_OPEN);
}

fn runs(marks: impl IntoIterator<Item = bool>) -> Runs {
    let mut counters = Independence::default();
    for mark in marks {
        counters.add(mark);
    }
    counters.report()
}

/// Holds mbm/independence.
#[test]
fn runs_are_those_of_a_worked_example() {
    let marks = [
        1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0,
    ]
    .map(|x| x == 1);
    // 10 marks in 4 bursts, 12 others, 8 runs: the mean is 1 + 2*10*12/22, the variance 240*(240-22)/(22^2*21).
    let report = runs(marks);
    assert_eq!(
        (report.bursts, report.longest_burst, report.longest_good),
        (4, 4, 4)
    );
    assert_eq!(report.burst_lengths[..4], [1, 1, 1, 1]);
    let (mean, variance): (f64, f64) = (1.0 + 240.0 / 22.0, 240.0 * 218.0 / (484.0 * 21.0));
    assert!(
        (report.z.unwrap() - (8.0 - mean) / variance.sqrt()).abs() < 1e-9,
        "{report:?}"
    );
    assert_eq!(report.mean_burst, Some(2.5));
}

/// Holds mbm/independence.
#[test]
fn chance_looks_independent_and_bursts_do_not() {
    let mut random = SplitMix64::new(5);
    let independent = (0..200)
        .filter(|_| runs((0..5_000).map(|_| random.unit() < 0.01)).independent == Some(false));
    let wrong = independent.count();
    assert!(wrong <= 10, "{wrong} of 200 at 1 %");
    let bursty = runs((0..5_000).map(|n| n % 500 < 5));
    assert_eq!(bursty.independent, Some(false));
    assert!(
        bursty.says.contains("bursts") && bursty.z.unwrap() < -5.0,
        "{bursty:?}"
    );
    let rhythmic = runs((0..5_000).map(|n| n % 3 == 0));
    assert!(rhythmic.says.contains("rhythm"), "{rhythmic:?}");
    assert_eq!(runs([true, false]).independent, None);
    assert_eq!(runs([]).mean_burst, None);
}

#[test]
fn a_report_without_packets_has_no_share() {
    assert_eq!(LossReport::of_counts(Counts::default()).loss, None);
    let impossible = Counts {
        packets: 1,
        lost: 1,
        ce: 1,
    };
    assert!(LossReport::of_counts(impossible).loss.is_some());
    let share = Share::of(3, 363).unwrap();
    assert!((share.low_pct - 0.170_758).abs() < 1e-5 && (share.high_pct - 2.396_1).abs() < 1e-4);
}

proptest! {
    #[test]
    fn every_packet_has_one_fate(
        arrivals in prop::collection::vec((0_u64..300, any::<bool>(), 0_u64..3), 0..600),
    ) {
        let mut ledger = Ledger::new(PATIENCE);
        let (mut now, mut new, mut late) = (Instant::ZERO, 0, 0);
        for (seq, ce, gap) in arrivals {
            now += Duration::from_millis(gap);
            match ledger.handle_arrival(seq, ce, now) {
                Arrival::New => new += 1,
                Arrival::Late => late += 1,
                _ => {}
            }
            prop_assert!(ledger.next_timeout().is_none_or(|due| due > now));
        }
        ledger.close(300);
        let counts = ledger.counts();
        prop_assert_eq!(counts.packets, 300);
        prop_assert_eq!(counts.delivered(), new);
        prop_assert_eq!(ledger.late(), late);
        prop_assert_eq!(ledger.reordering().report().arrived, new);
    }
}
