//! When others send, and how much.

use super::Recording;
use crate::random::{Dice, scatter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{FlowId, Instant, Rate};

/// Flows that others' packets belong to, by chance; queues that tell flows apart see as many.
const FLOWS: u64 = 16;
/// Nobody sends faster: 100 Gbit/s.
const FASTEST: Rate = match Rate::from_bps(100_000_000_000) {
    Some(rate) => rate,
    None => unreachable!(),
};
/// Octets where no size is given.
const FULL: u32 = 1_500;

/// Rates that follow each other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Schedule {
    /// One after the other. Of a recording without rates, none: it goes at its own pace.
    pub rates: Vec<Rate>,
    /// How long each of them lasts.
    pub each: Duration,
    /// Whether the first follows the last; else the last one stays.
    pub repeats: bool,
}

impl Schedule {
    /// The rate so long after the beginning; `None` without any.
    pub fn rate(&self, elapsed: Duration) -> Option<Rate> {
        let last = self.rates.len().checked_sub(1)?;
        let step = elapsed.as_nanos().checked_div(self.each.as_nanos());
        let step = usize::try_from(step.unwrap_or(0)).unwrap_or(usize::MAX);
        let step = if self.repeats {
            step % self.rates.len()
        } else {
            step.min(last)
        };
        self.rates.get(step).copied()
    }
}

/// What decides over the gaps between packets.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Each packet comes as long after the one before as it lasts at the rate: a constant bit rate.
    Even,
    /// A Poisson process: gaps are exponential, whatever the packets' sizes.
    Poisson,
    /// As recorded, faster or slower so that the mean is the rate.
    Recorded,
}

impl Pace {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Poisson => "poisson",
            Self::Recorded => "recorded",
        }
    }
}

/// The sizes of packets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Sizes {
    /// Each equally likely.
    Mix(Vec<u32>),
    /// In the order in which they were recorded.
    Recorded(Recording),
}

impl Sizes {
    /// Octets on average; one at least.
    fn mean(&self) -> f64 {
        let mean = match self {
            Self::Mix(sizes) if sizes.is_empty() => f64::from(FULL),
            Self::Mix(sizes) => {
                let sum: f64 = sizes.iter().copied().map(f64::from).sum();
                sum / sizes.len().max(1) as f64
            }
            Self::Recorded(recording) => recording.mean_octets(),
        };
        mean.max(1.0)
    }
}

/// A packet of others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sent {
    /// When it comes to the queue.
    pub at: Instant,
    /// Octets on the link.
    pub octets: u32,
    /// Its flow.
    pub flow: FlowId,
}

/// A row of packets that its seed determines.
#[derive(Clone, Debug)]
pub struct Source {
    pace: Pace,
    mean_octets: f64,
    /// Rate of the recording by itself.
    own_bps: f64,
    sizes: Sizes,
    schedule: Schedule,
    dice: Dice,
    seed: u64,
    begun: Option<Instant>,
    /// Packets so far.
    count: u64,
    next: Option<Sent>,
}

impl Source {
    /// One that sends at `pace`. [`Pace::Recorded`] takes the gaps of the recording, and without one is even.
    pub fn new(pace: Pace, sizes: Sizes, schedule: Schedule, seed: u64) -> Self {
        let (pace, own) = match &sizes {
            Sizes::Recorded(recording) => (pace, recording.mean_rate()),
            Sizes::Mix(_) if pace == Pace::Recorded => (Pace::Even, None),
            Sizes::Mix(_) => (pace, None),
        };
        Self {
            pace,
            mean_octets: sizes.mean(),
            own_bps: own.map_or(1.0, |rate| rate.as_bps() as f64),
            sizes,
            schedule,
            dice: Dice::new(seed),
            seed,
            begun: None,
            count: 0,
            next: None,
        }
    }

    /// Begins at `at`, unless it has.
    pub fn begin(&mut self, at: Instant) {
        if self.begun.is_none() {
            self.begun = Some(at);
            self.next = self.after(at);
        }
    }

    /// When the next packet comes; `None` before it has begun.
    pub fn due(&self) -> Option<Instant> {
        self.next.map(|next| next.at)
    }

    /// The next packet.
    pub fn take(&mut self) -> Option<Sent> {
        let taken = self.next?;
        self.next = self.after(taken.at);
        Some(taken)
    }

    /// Leaves out what would come before `at`.
    pub fn skip_to(&mut self, at: Instant) {
        if self.due().is_some_and(|due| due < at) {
            self.next = self.after(at);
        }
    }

    /// The packet that follows after `before`; none where time ends.
    fn after(&mut self, before: Instant) -> Option<Sent> {
        let elapsed = before.since(self.begun?);
        let (recorded_gap, octets) = self.size();
        let gap = self.gap(recorded_gap, octets, self.schedule.rate(elapsed));
        self.count = self.count.wrapping_add(1);
        let flow = scatter(self.seed) ^ below(FLOWS, self.dice.unit());
        let at = before + gap;
        (at < Instant::FAR_FUTURE).then_some(Sent {
            at,
            octets,
            flow: FlowId(flow),
        })
    }

    /// Recorded gap and octets of the next packet.
    fn size(&mut self) -> (Duration, u32) {
        let chance = self.dice.unit();
        match &self.sizes {
            Sizes::Recorded(recording) => recording.packet(self.count),
            Sizes::Mix(sizes) => {
                let place = below(sizes.len() as u64, chance);
                let size = usize::try_from(place)
                    .ok()
                    .and_then(|place| sizes.get(place));
                (Duration::ZERO, size.copied().unwrap_or(FULL).max(1))
            }
        }
    }

    fn gap(&mut self, recorded: Duration, octets: u32, rate: Option<Rate>) -> Duration {
        let bps = rate.map(|rate| rate.min(FASTEST).as_bps() as f64);
        let seconds = match (self.pace, bps) {
            (Pace::Recorded, None) => recorded.as_secs_f64(),
            (_, None) => 1.0,
            (Pace::Recorded, Some(bps)) => recorded.as_secs_f64() * self.own_bps / bps,
            (Pace::Poisson, Some(bps)) => {
                -self.mean_octets * 8.0 / bps * (1.0 - self.dice.unit()).ln()
            }
            (Pace::Even, Some(bps)) => f64::from(octets) * 8.0 / bps,
        };
        let least = match self.pace {
            Pace::Recorded => Duration::ZERO,
            Pace::Even | Pace::Poisson => Duration::from_nanos(1),
        };
        let gap = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        gap.max(least)
    }
}

/// A number below `bound` for a chance in [0, 1); 0 when `bound` is.
fn below(bound: u64, chance: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to the bound, which is small"
    )]
    let below = (chance * bound as f64) as u64;
    below.min(bound.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rates: &[&str], repeats: bool) -> Schedule {
        Schedule {
            rates: rates.iter().map(|rate| rate.parse().unwrap()).collect(),
            each: Duration::from_secs(10),
            repeats,
        }
    }

    fn sent(source: &mut Source, seconds: u64) -> Vec<Sent> {
        let end = Instant::from_millis(1_000 * (seconds + 5));
        source.begin(Instant::from_millis(5_000));
        let packets = std::iter::from_fn(|| source.take());
        packets.take_while(|sent| sent.at < end).collect()
    }

    /// Mbit/s in each `seconds`.
    fn rates(packets: &[Sent], seconds: u64) -> Vec<f64> {
        let mut rates = Vec::new();
        for packet in packets {
            let place = (packet.at.as_nanos() / 1_000_000_000 - 5) / seconds;
            let place = usize::try_from(place).unwrap();
            rates.resize(rates.len().max(place + 1), 0.0);
            rates[place] += f64::from(packet.octets) * 8.0 / 1e6 / seconds as f64;
        }
        rates
    }

    fn is_near(found: &[f64], expected: &[f64], off: f64) -> bool {
        let near = found
            .iter()
            .zip(expected)
            .all(|(a, b)| (a / b - 1.0).abs() < off);
        found.len() == expected.len() && near
    }

    fn recording() -> Recording {
        "1000 1500\n10 40\n5000 576\n200 1500\n".parse().unwrap()
    }

    #[test]
    fn every_pace_has_the_rates_that_follow_each_other() {
        let mix = Sizes::Mix(vec![40, 576, 1_500, 1_500]);
        for (pace, sizes, off) in [
            (Pace::Even, mix.clone(), 0.01),
            (Pace::Poisson, mix, 0.05),
            (Pace::Even, Sizes::Recorded(recording()), 0.01),
            (Pace::Recorded, Sizes::Recorded(recording()), 0.01),
        ] {
            let schedule = schedule(&["2Mbit", "6Mbit", "4Mbit"], true);
            let mut source = Source::new(pace, sizes, schedule, 1);
            let rates = rates(&sent(&mut source, 40), 10);
            assert!(
                is_near(&rates, &[2.0, 6.0, 4.0, 2.0], off),
                "{pace:?} {rates:?}"
            );
        }
    }

    #[test]
    fn the_last_rate_stays_where_none_follows() {
        let schedule = schedule(&["2Mbit", "6Mbit"], false);
        let mut source = Source::new(Pace::Even, Sizes::Mix(vec![1_500]), schedule, 1);
        let rates = rates(&sent(&mut source, 40), 10);
        assert!(is_near(&rates, &[2.0, 6.0, 6.0, 6.0], 0.01), "{rates:?}");
    }

    #[test]
    fn gaps_of_a_poisson_process_scatter_as_much_as_they_are_long() {
        let schedule = schedule(&["12Mbit"], true);
        let mut source = Source::new(Pace::Poisson, Sizes::Mix(vec![1_500]), schedule, 7);
        let packets = sent(&mut source, 40);
        let gaps = packets
            .windows(2)
            .map(|pair| pair[1].at.since(pair[0].at).as_secs_f64());
        let (sum, squares) = gaps.fold((0.0, 0.0), |(s, q), gap| (s + gap, q + gap * gap));
        let count = (packets.len() - 1) as f64;
        let mean = sum / count;
        let variation = (squares / count - mean * mean).sqrt() / mean;
        assert!(
            (variation - 1.0).abs() < 0.03 && (mean - 0.001).abs() < 3e-5,
            "{variation} {mean}"
        );
    }

    #[test]
    fn a_recording_keeps_its_own_gaps_without_a_rate_and_scales_them_with_one() {
        let times = |rates: &[&str]| {
            let schedule = schedule(rates, true);
            let mut source = Source::new(Pace::Recorded, Sizes::Recorded(recording()), schedule, 1);
            let packets = sent(&mut source, 1);
            let begin = Instant::from_millis(5_000);
            let times = packets.iter().map(|sent| sent.at.since(begin).as_micros());
            times.take(5).collect::<Vec<_>>()
        };
        assert_eq!(times(&[]), [1_000, 1_010, 6_010, 6_210, 7_210]);
        // 3,616 octets in 6,210 us are 4.658 Mbit/s.
        assert_eq!(times(&["46582931bit"]), [100, 101, 601, 621, 721]);
    }

    #[test]
    fn values_that_make_no_sense_make_no_endless_row_at_one_instant() {
        let schedule = |bits| Schedule {
            rates: Rate::from_bps(bits).into_iter().collect(),
            each: Duration::ZERO,
            repeats: true,
        };
        for sizes in [vec![], vec![0], vec![u32::MAX]] {
            for (pace, bits) in [(Pace::Even, u64::MAX), (Pace::Even, 0), (Pace::Poisson, 1)] {
                let mut source = Source::new(pace, Sizes::Mix(sizes.clone()), schedule(bits), 1);
                source.begin(Instant::ZERO);
                let last = (0..1_000).filter_map(|_| source.take()).last();
                assert!(
                    last.is_some_and(|sent| sent.at > Instant::ZERO),
                    "{sizes:?} {bits}"
                );
            }
        }
        let mut source = Source::new(Pace::Even, Sizes::Mix(vec![]), schedule(1), 1);
        source.begin(Instant::from_nanos(u64::MAX - 1));
        assert_eq!(source.take(), None, "time ends");
    }
}
