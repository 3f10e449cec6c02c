use super::*;
use crate::loss::Counts;
use crate::sequential::{Hypotheses, Rule, Ruling, Sprt};
use crate::stream::PatternReport;
use std::time::Duration;
use units::Instant;

fn options() -> JudgeOptions {
    let sprt = Sprt::new(Hypotheses::for_run_length(363, 0.05, 0.05)).unwrap();
    JudgeOptions {
        ruling: Ruling::new(Rule::Sequential, sprt),
        packets_per_s: 1_000.0,
        is_self_clocked: false,
        by_tcp: false,
        needs_stretch: false,
        rate_window: Duration::ZERO,
        growth_limit: Duration::from_secs(5),
        time_limit: Duration::from_secs(60),
    }
}

fn pattern(kept: bool) -> PatternReport {
    PatternReport {
        burst_packets: 1,
        headway_ns: Some(1_000_000),
        bursts: 100,
        late: if kept { 0 } else { 50 },
        smeared: 0,
        lateness_allowed_ns: 1_000_000,
        lateness_max_ns: 7_000_000,
        kept,
    }
}

/// Judges a stream that is observed every 10 ms: packets sent, arrived and marked in each interval, and what else there is.
fn judge(
    options: JudgeOptions,
    seen: impl Fn(u64) -> (u64, u64, u64),
    change: impl Fn(u64, &mut Observation),
) -> Judge {
    let mut judge = Judge::new(options, Instant::ZERO);
    let mut observation = Observation::default();
    for tick in 1..=10_000 {
        let (sent, arrived, ce) = seen(tick);
        observation.sent += sent;
        observation.arrived += arrived;
        observation.settled.packets += sent;
        observation.settled.lost += sent.saturating_sub(arrived);
        observation.settled.ce += ce;
        change(tick, &mut observation);
        if judge
            .observe(&observation, Instant::from_millis(10 * tick))
            .is_some()
        {
            break;
        }
    }
    judge
}

fn verdict(judge: &Judge) -> (Outcome, Reason) {
    let verdict = judge.verdict().unwrap();
    (verdict.outcome, verdict.reason)
}

const fn nothing(_: u64, _: &mut Observation) {}

/// Holds mbm/evidence, mbm/growth-period.
#[test]
fn a_good_path_passes_after_the_growth_period() {
    let judge = judge(options(), |_| (10, 10, 0), nothing);
    assert_eq!(verdict(&judge), (Outcome::Pass, Reason::LossLow));
    let figures = judge.figures();
    // Growth lasts the second over which rates are measured; 354 packets pass.
    assert_eq!(figures.growth_ns, Some(1_010_000_000));
    assert_eq!((figures.counts.packets, figures.least_packets), (360, 354));
    assert_eq!(figures.walk.points.last().unwrap().n, 360);
    assert!(figures.preconditions.iter().all(|c| c.held == Some(true)));
    assert_eq!(judge.phase(), Phase::Over);
    assert!(judge.verdict().unwrap().would_change.contains("would fail"));
}

/// Holds mbm/marks, mbm/table-3-1.
#[test]
fn a_lossy_path_fails_and_so_does_one_that_marks() {
    let lossy = judge(options(), |_| (20, 19, 0), nothing);
    assert_eq!(verdict(&lossy), (Outcome::Fail, Reason::LossHigh));
    let marking = judge(options(), |_| (20, 20, 1), nothing);
    assert_eq!(verdict(&marking), (Outcome::Fail, Reason::LossHigh));
    assert_eq!(
        marking.figures().counts.ce,
        marking.figures().counts.marks()
    );
}

/// Holds mbm/rate-not-attained, mbm/table-3-1.
#[test]
fn a_path_that_does_not_carry_the_rate_fails_whatever_the_losses() {
    let judge = judge(options(), |_| (10, 8, 0), nothing);
    assert_eq!(verdict(&judge), (Outcome::Fail, Reason::RateLow));
    assert_eq!(judge.figures().test_ns, None);
    let silent = self::judge(options(), |_| (10, 0, 0), nothing);
    assert_eq!(verdict(&silent), (Outcome::Fail, Reason::Silence));
}

/// Holds mbm/preconditions, mbm/table-3-1.
#[test]
fn a_sender_that_is_too_slow_is_an_error_and_is_named() {
    let judge = judge(options(), |_| (8, 8, 0), nothing);
    assert_eq!(verdict(&judge), (Outcome::Error, Reason::SenderRate));
    assert!(judge.verdict().unwrap().says.contains("the sender"));
    let late = self::judge(
        options(),
        |_| (10, 10, 0),
        |_, seen| seen.pattern = Some(pattern(false)),
    );
    assert_eq!(verdict(&late), (Outcome::Error, Reason::SenderPattern));
    // Of a stream that the path clocks, the path is to blame.
    let clocked = JudgeOptions {
        is_self_clocked: true,
        ..options()
    };
    let judge = self::judge(clocked, |_| (8, 8, 0), nothing);
    assert_eq!(verdict(&judge), (Outcome::Fail, Reason::RateLow));
}

/// Holds mbm/losses-decide.
#[test]
fn a_low_rate_of_tcp_is_the_paths_and_bursts_it_held_back_pass_nothing() {
    let by_tcp = JudgeOptions {
        by_tcp: true,
        ..options()
    };
    let slow = judge(by_tcp, |_| (8, 8, 0), nothing);
    assert_eq!(verdict(&slow), (Outcome::Fail, Reason::RateLow));
    // Of `per_100` bursts of the test period TCP held so many back; in the growth period all.
    let held = |per_100: u64, lost: u64| {
        let judge = judge(
            by_tcp,
            move |_| (10, 10 - lost.min(1), 0),
            move |tick, seen| {
                let counted = tick.saturating_sub(100);
                seen.pattern = Some(PatternReport {
                    bursts: tick * 100,
                    smeared: tick.min(100) * 100 + counted * per_100,
                    ..pattern(true)
                });
            },
        );
        verdict(&judge)
    };
    assert_eq!(held(20, 0), (Outcome::Pass, Reason::LossLow));
    assert_eq!(held(50, 0), (Outcome::Error, Reason::SenderPattern));
    // Too many losses are too many all the same.
    assert_eq!(held(50, 1), (Outcome::Fail, Reason::LossHigh));
    let late = judge(
        by_tcp,
        |_| (10, 10, 0),
        |_, seen| seen.pattern = Some(pattern(false)),
    );
    assert_eq!(verdict(&late), (Outcome::Error, Reason::SenderPattern));
}

/// A packet is missing when the preconditions hold: whether it is lost is known four looks later, and it was sent in the growth period.
#[test]
fn a_test_period_does_not_begin_at_a_gap() {
    let judged = |ticks: u64| {
        let change = move |tick: u64, observation: &mut Observation| {
            if tick == 100 {
                observation.arrived -= 1;
                observation.settled.packets -= 10;
            } else if tick == 100 + ticks {
                observation.settled.packets += 10;
                observation.settled.lost += 1;
            }
        };
        judge(options(), |_| (10, 10, 0), change).figures()
    };
    let figures = judged(4);
    assert_eq!(figures.growth_ns, Some(1_040_000_000));
    assert_eq!((figures.counts.lost, figures.counts.packets), (0, 360));
    // It is not waited for without end.
    assert_eq!(judged(400).growth_ns, Some(2_010_000_000));
}

/// Holds mbm/preconditions, mbm/growth-period.
#[test]
fn preconditions_count_during_the_test_too() {
    let rule = Ruling::new(Rule::AtLeast { packets: 100_000 }, *options().ruling.sprt());
    let long = JudgeOptions {
        ruling: rule,
        ..options()
    };
    let slow = judge(
        long,
        |tick| if tick < 500 { (10, 10, 0) } else { (10, 5, 0) },
        nothing,
    );
    assert_eq!(verdict(&slow), (Outcome::Fail, Reason::RateLow));
    assert!(slow.figures().growth_ns.is_some());
    let stepped = judge(
        long,
        |_| (10, 10, 0),
        |tick, seen| seen.clock_stepped = tick > 300,
    );
    assert_eq!(verdict(&stepped), (Outcome::Error, Reason::ClockStep));
    let late = judge(
        long,
        |_| (10, 10, 0),
        |tick, seen| seen.pattern = Some(pattern(tick < 300)),
    );
    assert_eq!(verdict(&late), (Outcome::Error, Reason::SenderPattern));
}

/// Holds mbm/undecided, mbm/table-3-1.
#[test]
fn time_that_runs_out_is_inconclusive_and_says_how_far_it_got() {
    // 1 loss in 170 packets stays between the lines, whose slope is 1 in 167.6.
    let judge = judge(
        JudgeOptions {
            time_limit: Duration::from_secs(20),
            ..options()
        },
        |tick| {
            if tick % 17 == 0 {
                (10, 9, 0)
            } else {
                (10, 10, 0)
            }
        },
        nothing,
    );
    assert_eq!(verdict(&judge), (Outcome::Inconclusive, Reason::Timeout));
    assert!(
        judge
            .verdict()
            .unwrap()
            .would_change
            .contains("without a loss would pass")
    );
    assert_eq!(judge.next_timeout(), None);
    let short = JudgeOptions {
        time_limit: Duration::from_millis(500),
        ..options()
    };
    let judge = self::judge(short, |_| (10, 10, 0), nothing);
    assert_eq!(verdict(&judge), (Outcome::Error, Reason::Timeout));
}

/// Holds mbm/full-window-slow-start.
#[test]
fn a_burst_must_be_faster_than_the_bottleneck_where_that_is_asked_for() {
    let stretched = JudgeOptions {
        needs_stretch: true,
        ..options()
    };
    let slow = judge(
        stretched,
        |_| (10, 10, 0),
        |_, seen| seen.stretch = Some(1.0),
    );
    assert_eq!(verdict(&slow), (Outcome::Inconclusive, Reason::BurstSlow));
    let fast = judge(
        stretched,
        |_| (10, 10, 0),
        |_, seen| seen.stretch = Some(2.0),
    );
    assert_eq!(verdict(&fast), (Outcome::Pass, Reason::LossLow));
}

/// Holds mbm/fixed-sample.
#[test]
fn a_fixed_sample_ends_with_its_last_packet() {
    let sprt = *options().ruling.sprt();
    let fixed = JudgeOptions {
        ruling: Ruling::new(Rule::Fixed { packets: 1_000 }, sprt),
        ..options()
    };
    let judge = judge(fixed, |_| (10, 10, 0), nothing);
    assert_eq!(verdict(&judge), (Outcome::Pass, Reason::LossLow));
    assert_eq!(
        judge.figures().counts,
        Counts {
            packets: 1_000,
            lost: 0,
            ce: 0
        }
    );
}

#[test]
fn outcomes_are_written_as_the_thesis_writes_them() {
    assert_eq!(
        serde_json::to_string(&Outcome::Inconclusive).unwrap(),
        "\"INCONCLUSIVE\""
    );
    assert_eq!(Outcome::Pass.to_string(), "PASS");
}
