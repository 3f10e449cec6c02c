use super::*;
use crate::train::Back;
use proptest::prelude::*;
use stats::random::SplitMix64;

/// Two ways of the given delays in milliseconds, and a far clock that is ahead and gains.
struct Ends {
    there: fn(u64, f64) -> Option<f64>,
    back: fn(u64, f64) -> Option<f64>,
    ahead_s: f64,
    skew_ppm: f64,
}

impl Default for Ends {
    fn default() -> Self {
        Self {
            there: |_, noise| Some(10.0 + noise),
            back: |_, noise| Some(10.0 + 2.0 * noise),
            ahead_s: 77.0,
            skew_ppm: 40.0,
        }
    }
}

fn ns(ms: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(ms / 1e3).as_nanos()).unwrap()
}

fn run(options: Options, ends: &Ends) -> (Estimate, Vec<Instant>) {
    let (mut now, mut begun) = (Instant::from_nanos(5_000_000_000), Vec::new());
    let mut stream = Isochronous::new(options, now);
    let (mut random, mut seq) = (SplitMix64::new(1), 0);
    loop {
        let (train, not_before) = match stream.next() {
            Step::Done(estimate) => return (estimate, begun),
            Step::Train(train, not_before) => (train, not_before),
        };
        let at = now.max(not_before);
        let (mut sent, mut arrivals) = (at, Vec::new());
        begun.push(at);
        for (number, probe) in (0..).zip(&train.probes) {
            sent += if number > 0 {
                probe.gap
            } else {
                Duration::ZERO
            };
            seq += 1;
            let [up, down] = [ends.there, ends.back].map(|way| way(seq - 1, random.unit()));
            let (Some(up), Some(down)) = (up, down.or_else(|| (!train.echo).then_some(0.0))) else {
                continue;
            };
            let far = |at: Instant| {
                let seconds = at.since(begun[0]).as_secs_f64();
                at.as_nanos() + ns((ends.ahead_s + seconds * (1.0 + ends.skew_ppm * 1e-6)) * 1e3)
                    - ns(seconds * 1e3)
            };
            let there = sent + Duration::from_nanos(ns(up));
            let left = there + Duration::from_micros(30);
            let returned = left + Duration::from_nanos(ns(down));
            arrivals.push(Arrival {
                number,
                sent_ns: sent.as_nanos(),
                arrived_ns: far(there),
                back: train.echo.then_some(Back {
                    left_ns: far(left),
                    returned_ns: returned.as_nanos(),
                }),
            });
        }
        let passage = Passage {
            sent: u32::try_from(train.probes.len()).unwrap(),
            lasted: train.duration(),
            arrivals,
            ..Passage::default()
        };
        now = at + train.duration() + Duration::from_millis(50);
        stream.handle(&passage, now);
    }
}

fn is_near(figure: f64, expected: f64, off: f64) -> bool {
    (figure - expected).abs() <= off
}

#[test]
fn delays_of_both_ways_are_found_by_clocks_that_do_not_agree() {
    let (estimate, _) = run(Options::default(), &Ends::default());
    assert_eq!(estimate.outcome, Outcome::Conclusive);
    let clock = estimate.clock.unwrap();
    assert!(is_near(clock.skew_ppm, 40.0, 5.0), "{clock:?}");
    let [there, back] = [estimate.there.unwrap(), estimate.back.unwrap()];
    // Uniform noise of 1 and 2 ms above 10 ms, of which the median is half.
    assert!(is_near(there.delay_ms.unwrap().p50, 10.5, 0.2), "{there:?}");
    assert!(is_near(back.delay_ms.unwrap().p50, 11.0, 0.2), "{back:?}");
    assert!(is_near(there.pdv_ms.max, 1.0, 0.1) && is_near(back.pdv_ms.max, 2.0, 0.1));
    let round_trips = estimate.round_trips.unwrap();
    let median = round_trips.median_ms.unwrap();
    assert_eq!(round_trips.ms.n, 500);
    assert!(is_near(median.estimate, 21.5, 0.2) && median.high - median.low < 0.4);
    assert!(median.low <= 21.5 && 21.5 <= median.high);
}

#[test]
fn a_difference_of_both_ways_is_within_the_uncertainty_and_no_more_can_be_known() {
    let ends = Ends {
        there: |_, noise| Some(30.0 + noise),
        ..Ends::default()
    };
    let (estimate, _) = run(Options::default(), &ends);
    let clock = estimate.clock.unwrap();
    let found = estimate.there.unwrap().delay_ms.unwrap().min;
    assert!(
        is_near(found, 20.0, 0.2),
        "both ways are taken for equal: {found}"
    );
    assert!((30.0 - found) * 1e6 <= clock.uncertainty_ns);
}

#[test]
fn jitter_of_delays_that_alternate_is_their_difference() {
    let ends = Ends {
        there: |seq, _| Some(if seq % 2 == 0 { 10.0 } else { 12.0 }),
        back: |_, _| Some(10.0),
        skew_ppm: 0.0,
        ..Ends::default()
    };
    let (estimate, _) = run(Options::default(), &ends);
    let [there, back] = [estimate.there.unwrap(), estimate.back.unwrap()];
    // J comes nearer to 2 ms by a sixteenth each time.
    let expected = 2.0 * (1.0 - (15.0_f64 / 16.0).powi(499));
    assert!(is_near(there.jitter_ms, expected, 1e-3), "{there:?}");
    assert!(is_near(back.jitter_ms, 0.0, 1e-3), "{back:?}");
    let ipdv = there.ipdv_ms.unwrap();
    assert!(is_near(ipdv.min, -2.0, 1e-3) && is_near(ipdv.max, 2.0, 1e-3));
    assert!(is_near(there.pdv_ms.mean, 1.0, 1e-3));
    assert_eq!((ipdv.n, there.reordered), (499, 0));
}

#[test]
fn losses_are_counted_with_their_runs_and_an_interval() {
    let ends = Ends {
        there: |seq, _| (seq % 50 < 48).then_some(10.0),
        ..Ends::default()
    };
    let (estimate, _) = run(Options::default(), &ends);
    let loss = estimate.loss.unwrap();
    assert!(is_near(loss.estimate, 0.04, 1e-12));
    assert!(loss.low < 0.03 && loss.high > 0.05 && loss.high < 0.07);
    let call = estimate.call.unwrap();
    assert_eq!((call.sent, call.lost), (500, 20));
    assert_eq!(call.lost_runs.lengths, vec![2; 10]);
}

#[test]
fn a_probe_that_is_overtaken_is_reordered_on_its_way_only() {
    let ends = Ends {
        there: |seq, _| Some(if seq == 100 { 35.0 } else { 10.0 }),
        back: |_, _| Some(10.0),
        ..Ends::default()
    };
    let (estimate, _) = run(Options::default(), &ends);
    assert_eq!(estimate.there.unwrap().reordered, 1);
    assert_eq!(estimate.back.unwrap().reordered, 0);
}

#[test]
fn one_way_trains_have_variation_and_loss_and_no_delay() {
    let options = Options {
        echo: false,
        ..Options::default()
    };
    let ends = Ends {
        there: |seq, noise| (seq != 7).then_some(10.0 + noise),
        skew_ppm: 0.0,
        ..Ends::default()
    };
    let (estimate, _) = run(options, &ends);
    let there = estimate.there.unwrap();
    assert_eq!(there.delay_ms, None);
    assert!(is_near(there.pdv_ms.max, 1.0, 0.05), "{there:?}");
    assert_eq!(
        (estimate.clock, estimate.back, estimate.round_trips),
        (None, None, None)
    );
    assert_eq!(estimate.call.unwrap().lost, 1);
}

#[test]
fn trains_go_on_in_one_rhythm() {
    let (estimate, begun) = run(Options::default(), &Ends::default());
    assert_eq!((estimate.trains, estimate.octets), (10, 100_000));
    for pair in begun.windows(2) {
        let apart = pair[1].since(pair[0]);
        // 50 probes, and three intervals until the end of the train is known, 50 ms after it.
        assert_eq!(apart, Duration::from_millis(1_040));
    }
}

#[test]
fn nothing_that_comes_back_is_told() {
    let ends = Ends {
        there: |_, _| None,
        ..Ends::default()
    };
    let (estimate, _) = run(Options::default(), &ends);
    assert_eq!(estimate.outcome, Outcome::Nothing);
    assert_eq!((estimate.there, estimate.round_trips), (None, None));
    let loss = estimate.loss.unwrap();
    assert!(loss.low > 0.99 && is_near(loss.estimate, 1.0, 1e-12));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answer_of_the_path_makes_it_fail(
        stamps in prop::collection::vec((0_u32..80, any::<[u64; 4]>(), any::<bool>()), 0..60),
        sent in 0_u32..80,
        interval_us in 0_u64..3_000_000,
        lasted_ms in 0_u64..5_000,
        echo: bool,
    ) {
        let interval = Duration::from_micros(interval_us);
        let options = Options { interval, duration: interval * 60, echo, ..Options::default() };
        let mut stream = Isochronous::new(options, Instant::FAR_FUTURE);
        let arrivals = stamps.iter().map(|&(number, [sent_ns, arrived_ns, left_ns, returned_ns], back)| Arrival {
            number,
            sent_ns,
            arrived_ns,
            back: back.then_some(Back { left_ns, returned_ns }),
        });
        let passage = Passage {
            sent,
            lasted: Duration::from_millis(lasted_ms),
            arrivals: arrivals.collect(),
            ..Passage::default()
        };
        let estimate = loop {
            match stream.next() {
                Step::Done(estimate) => break estimate,
                Step::Train(..) => stream.handle(&passage, Instant::FAR_FUTURE),
            }
        };
        for way in [estimate.there, estimate.back].into_iter().flatten() {
            prop_assert!(way.jitter_ms.is_finite() && way.pdv_ms.max.is_finite());
        }
    }
}
