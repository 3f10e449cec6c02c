use super::*;
use crate::pathload::{Options, Pathload, Pause};
use crate::train::{Arrival, Estimator as _, Step};
use proptest::prelude::*;
use stats::random::SplitMix64;
use std::collections::VecDeque;
use units::Instant;

/// What packets pass, in seconds: when one that comes then has left.
trait Link {
    fn carry(&mut self, at: f64, octets: u32) -> Option<f64>;
}

/// A shaper with a queue of so many packets behind a wire of the peak rate.
struct Bucket {
    rate_bps: f64,
    burst: f64,
    peak_bps: Option<f64>,
    tokens: f64,
    since: f64,
    most: usize,
    waiting: VecDeque<f64>,
}

impl Bucket {
    fn full(rate_bps: f64, burst: f64, peak_bps: Option<f64>) -> Self {
        Self {
            rate_bps,
            burst,
            peak_bps,
            tokens: burst,
            since: 0.0,
            most: 100,
            waiting: VecDeque::new(),
        }
    }
}

impl Link for Bucket {
    fn carry(&mut self, at: f64, octets: u32) -> Option<f64> {
        while self.waiting.front().is_some_and(|left| *left <= at) {
            self.waiting.pop_front();
        }
        if self.waiting.len() >= self.most {
            return None;
        }
        let octets = f64::from(octets);
        let start = self.waiting.back().map_or(at, |last| last.max(at));
        let held = (self.tokens + (start - self.since) * self.rate_bps / 8.0).min(self.burst);
        let wait = (octets - held).max(0.0) * 8.0 / self.rate_bps;
        let wire = self.peak_bps.map_or(0.0, |peak| octets * 8.0 / peak);
        let left = start + wait.max(wire);
        self.tokens = held + (left - start) * self.rate_bps / 8.0 - octets;
        self.since = left;
        self.waiting.push_back(left);
        Some(left)
    }
}

/// A first-in first-out link with Poisson cross traffic of packets of three sizes.
struct Fifo {
    rate_bps: f64,
    load: f64,
    free: f64,
    next: f64,
    random: SplitMix64,
}

impl Fifo {
    fn new(rate_bps: f64, load: f64, seed: u64) -> Self {
        Self {
            rate_bps,
            load,
            free: 0.0,
            next: 0.0,
            random: SplitMix64::new(seed),
        }
    }

    fn send(&mut self, at: f64, octets: f64) -> f64 {
        self.free = self.free.max(at) + octets * 8.0 / self.rate_bps;
        self.free
    }
}

impl Link for Fifo {
    fn carry(&mut self, at: f64, octets: u32) -> Option<f64> {
        while self.load > 0.0 && self.next <= at {
            let other = [1_500.0, 1_500.0, 576.0, 40.0][self.random.below(4)];
            self.send(self.next, other);
            let mean = 904.0 * 8.0 / (self.rate_bps * self.load);
            self.next += self.random.exponential(mean);
        }
        Some(self.send(at, f64::from(octets)))
    }
}

/// A train whose packets leave no faster than `sender_bps`, one second after the link began.
fn passage(train: &Train, sender_bps: f64, link: &mut impl Link) -> Passage {
    passage_at(1.0, train, sender_bps, link)
}

/// The same, so many seconds after the link began.
fn passage_at(begin: f64, train: &Train, sender_bps: f64, link: &mut impl Link) -> Passage {
    let (mut sent, mut free, mut arrivals) = (begin, begin, Vec::new());
    for (number, probe) in (0..).zip(&train.probes) {
        sent += probe.gap.as_secs_f64();
        sent = free.max(sent);
        free = sent + f64::from(probe.octets) * 8.0 / sender_bps;
        if let Some(left) = link.carry(free, probe.octets) {
            arrivals.push(Arrival {
                number,
                sent_ns: ns(sent),
                arrived_ns: ns(left + 0.010) + 5_000_000_000,
                back: None,
            });
        }
    }
    Passage {
        sent: u32::try_from(train.probes.len()).unwrap(),
        lasted: Duration::from_secs_f64(sent - begin),
        arrivals,
        ..Passage::default()
    }
}

fn ns(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap()
}

/// The receiver sees what came only every so many microseconds.
fn coalesced(passage: &Passage, period_us: u64) -> Passage {
    let mut passage = passage.clone();
    let mut before = 0;
    for arrival in &mut passage.arrivals {
        let seen = arrival.arrived_ns.next_multiple_of(period_us * 1_000);
        // It takes the packets of one interrupt a microsecond each.
        before = seen.max(before + 1_000);
        arrival.arrived_ns = before;
    }
    passage
}

fn back_to_back(packets: usize) -> Train {
    Train::periodic(packets, 1_500, Duration::ZERO)
}

#[test]
fn a_shaper_is_told_with_both_rates_and_its_depth() {
    let train = bucket_check(Bytes::new(1_000_000));
    assert_eq!(train.octets(), 1_500_000);
    let mut link = Bucket::full(20e6, 1e6, Some(1e9));
    let suspicion = suspect(&train, &passage(&train, 1e9, &mut link));
    let Some(Suspicion::TokenBucket {
        burst_bps,
        rate_bps,
        burst_octets,
    }) = suspicion
    else {
        panic!("{suspicion:?}")
    };
    assert!(
        (burst_bps.unwrap() / 1e9 - 1.0).abs() < 0.01,
        "{burst_bps:?}"
    );
    assert!((rate_bps / 20e6 - 1.0).abs() < 0.01, "{rate_bps}");
    assert!((burst_octets / 1e6 - 1.0).abs() < 0.01, "{burst_octets}");
    let words = suspicion.unwrap().to_string();
    assert_eq!(
        words,
        "token bucket: 1.00 MB passed at 1 Gbit/s, the rest at 20 Mbit/s"
    );
}

#[test]
fn a_train_that_the_bucket_holds_measures_the_wire_and_nothing_is_told() {
    let train = back_to_back(100);
    let mut link = Bucket::full(20e6, 1e6, Some(1e9));
    let passage = passage(&train, 10e9, &mut link);
    assert_eq!(suspect(&train, &passage), None);
    let curve = Curve::of(&train, &passage);
    let dispersion = curve.rate_between(0, 99).unwrap();
    assert!(
        (dispersion / 1e9 - 1.0).abs() < 0.01,
        "{dispersion}: 50 times what is sold"
    );
}

/// What pathload finds on a link, in Mbit/s, and what is suspected of its streams.
fn pathload(link: &mut impl Link, pause: Pause) -> ([f64; 2], Vec<Option<Suspicion>>) {
    let options = Options {
        pause,
        ..Options::default()
    };
    let (mut now, mut suspicions) = (Instant::from_millis(1_000), Vec::new());
    let mut pathload = Pathload::new(options, now);
    loop {
        match pathload.next() {
            Step::Done(found) => {
                // The train before the search has no gaps, and says how fast the sender is.
                let streams = suspicions
                    .into_iter()
                    .filter(|stream: &(Duration, _)| !stream.0.is_zero());
                let found = [found.low_bps / 1e6, found.high_bps / 1e6];
                return (found, streams.map(|(_, suspicion)| suspicion).collect());
            }
            Step::Train(train, not_before) => {
                let at = now.max(not_before);
                let passage = passage_at(at.as_nanos() as f64 / 1e9, &train, 1e9, link);
                suspicions.push((train.duration(), suspect(&train, &passage)));
                now = at + train.duration() + Duration::from_millis(40);
                pathload.handle(&passage, now);
            }
        }
    }
}

#[test]
fn a_tool_that_a_shaper_deceives_is_told_by_a_train_that_empties_it() {
    for pause in [Pause::Slow, Pause::Fast] {
        let mut link = Bucket::full(20e6, 1e6, Some(1e9));
        let (found, suspicions) = pathload(&mut link, pause);
        // What the bucket earns between streams is enough for all of them, at the highest rate that the tool can send.
        assert!(
            found.iter().all(|mbps| (mbps - 600.0).abs() < 1.0),
            "{found:?}"
        );
        assert!(suspicions.iter().all(Option::is_none));
        let train = bucket_check(Bytes::new(1_000_000));
        let suspicion = suspect(&train, &passage_at(3_600.0, &train, 1e9, &mut link));
        assert!(matches!(suspicion, Some(Suspicion::TokenBucket { .. })));
    }
}

#[test]
fn streams_of_a_tool_on_a_plain_link_are_hardly_ever_suspected() {
    let (mut all, mut wrong) = (0, 0);
    for seed in 0..40_u32 {
        let load = 0.2 * f64::from(seed % 5);
        let mut link = Fifo::new(20e6, load, seed.into());
        let (_, suspicions) = pathload(&mut link, Pause::Fast);
        all += suspicions.len();
        wrong += suspicions.iter().flatten().count();
    }
    // One in a thousand: a figure is doubted after a train of its own, never because of a stream.
    assert!(all > 6_000 && wrong * 500 <= all, "{wrong} of {all}");
}

#[test]
fn shapers_of_many_kinds_are_told() {
    for (rate_bps, burst, peak_bps) in [
        (20e6, 100e3, Some(1e9)),
        (20e6, 50e3, None),
        (50e6, 500e3, Some(200e6)),
        (5e6, 250e3, Some(20e6)),
        (300e6, 2e6, Some(1e9)),
    ] {
        let train = bucket_check(Bytes::new(2 * ns(burst / 1e9)));
        let mut link = Bucket::full(rate_bps, burst, peak_bps);
        let wire_bps = peak_bps.unwrap_or(1e9);
        let suspicion = suspect(&train, &passage(&train, wire_bps, &mut link));
        let Some(Suspicion::TokenBucket {
            rate_bps: found,
            burst_octets,
            ..
        }) = suspicion
        else {
            panic!("{rate_bps} {burst} {peak_bps:?}: {suspicion:?}")
        };
        assert!(
            (found / rate_bps - 1.0).abs() < 0.05,
            "{found} for {rate_bps}"
        );
        assert!(
            (burst_octets / burst - 1.0).abs() < 0.1,
            "{burst_octets} for {burst}"
        );
    }
}

/// How many of 100 trains through a plain link of 20 Mbit/s are suspected.
fn suspected(train: &Train, load: f64) -> usize {
    let is_suspected = |seed: &u64| {
        let mut link = Fifo::new(20e6, load, *seed);
        suspect(train, &passage(train, 1e9, &mut link)).is_some()
    };
    (0..100).filter(is_suspected).count()
}

#[test]
fn a_plain_link_with_cross_traffic_is_not_suspected() {
    for load in [0.0, 0.2, 0.4, 0.6, 0.8] {
        let fast = Train::periodic(100, 1_500, Duration::from_micros(400));
        for train in [
            back_to_back(30),
            back_to_back(100),
            back_to_back(1_000),
            fast,
        ] {
            assert_eq!(suspected(&train, load), 0, "{load} {}", train.probes.len());
        }
    }
}

#[test]
fn a_receiver_that_coalesces_is_told() {
    let train = back_to_back(500);
    let plain = passage(&train, 10e9, &mut Fifo::new(1e9, 0.0, 1));
    assert_eq!(suspect(&train, &plain), None);
    for period_us in [60, 125, 250] {
        let suspicion = suspect(&train, &coalesced(&plain, period_us));
        let Some(Suspicion::Coalescence {
            packets,
            period_s,
            rate_bps,
        }) = suspicion
        else {
            panic!("{period_us}: {suspicion:?}")
        };
        let expected = period_us as f64 / 12.0;
        assert!((packets - expected).abs() <= 1.0, "{packets}");
        assert!((period_s * 1e6 / period_us as f64 - 1.0).abs() < 0.01);
        assert!((rate_bps / 1e9 - 1.0).abs() < 0.05, "{rate_bps}");
    }
    let words = suspect(&train, &coalesced(&plain, 120))
        .unwrap()
        .to_string();
    assert_eq!(
        words,
        "coalescence: 10 packets arrive at once every 120 us, together 1 Gbit/s"
    );
}

#[test]
fn a_sender_slower_than_the_path_is_told() {
    let train = back_to_back(100);
    let suspicion = suspect(
        &train,
        &passage(&train, 545e6, &mut Fifo::new(10e9, 0.0, 1)),
    );
    let words = suspicion.unwrap().to_string();
    assert_eq!(
        words,
        "sender limited: back to back was asked for, 545 Mbit/s left"
    );
    // 1,500 octets in 10 us are 1.2 Gbit/s.
    let paced = Train::periodic(100, 1_500, Duration::from_micros(10));
    let suspicion = suspect(
        &paced,
        &passage(&paced, 545e6, &mut Fifo::new(10e9, 0.0, 1)),
    );
    let words = suspicion.unwrap().to_string();
    assert_eq!(
        words,
        "sender limited: 1200 Mbit/s was asked for, 545 Mbit/s left"
    );
    let kept = Train::periodic(100, 1_500, Duration::from_micros(100));
    assert_eq!(
        suspect(&kept, &passage(&kept, 545e6, &mut Fifo::new(10e9, 0.0, 1))),
        None
    );
}

proptest! {
    #[test]
    fn no_train_makes_it_fail(
        arrivals in prop::collection::vec((0_u32..60, any::<u64>(), any::<u64>()), 0..60),
        near in prop::collection::vec((0_u32..60, 0_u64..100, 0_u64..100), 0..60),
        gap_us in 0_u64..3,
    ) {
        let train = Train::periodic(50, 1_500, Duration::from_micros(gap_us));
        for arrivals in [arrivals, near] {
            let arrivals = arrivals.into_iter().map(|(number, sent_ns, arrived_ns)| Arrival {
                number,
                sent_ns,
                arrived_ns,
                back: None,
            });
            let passage = Passage { sent: 50, arrivals: arrivals.collect(), ..Passage::default() };
            if let Some(suspicion) = suspect(&train, &passage) {
                let words = suspicion.to_string();
                prop_assert!(!words.contains("inf") && !words.contains("NaN"), "{}", words);
            }
        }
    }
}
