//! Where a queue builds up in a chirp, and what that says (the paper's section 4).

use crate::train::{Arrival, Passage, Train};

/// A chirp whose gaps are off by more than this share on average is not counted (the tool).
const UNTIMED: f64 = 0.2;

/// What a chirp that counts says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    /// In bit/s.
    pub(super) available_bps: f64,
    /// Whether its last excursion did not end: the available bandwidth is within its range.
    pub(super) rises: bool,
}

/// What came of a chirp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Chirped {
    Counts(Reading),
    /// It lost packets before its last excursion began.
    Lossy,
    /// The sender did not keep its gaps.
    Untimed,
}

/// How delays are cut into excursions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segmentation {
    pub(super) decrease_factor: f64,
    pub(super) busy_period: usize,
}

/// From a packet to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gap {
    seconds: f64,
    rate: f64,
}

impl Gap {
    fn new(nanoseconds: f64, octets: u32) -> Self {
        let seconds = nanoseconds.max(1.0) / 1e9;
        let rate = f64::from(octets) * 8.0 / seconds;
        Self { seconds, rate }
    }
}

/// Excursions of a chirp.
#[derive(Clone, Debug, Default, PartialEq)]
struct Excursions {
    /// The packets with which those that end begin, and those with which they do.
    ended: Vec<[usize; 2]>,
    /// The packet with which one begins that does not end.
    open: Option<usize>,
}

impl Segmentation {
    /// What `passage` of the chirp `train` says.
    pub(super) fn read(&self, passage: &Passage, train: &Train) -> Chirped {
        let whole = passage.arrivals.iter().zip(0..);
        let whole = whole.take_while(|(arrival, number)| arrival.number == *number);
        let arrivals: Vec<Arrival> = whole.map(|(arrival, _)| *arrival).collect();
        let planned = gaps_of(train);
        let mut gaps = kept(&arrivals, train);
        if is_untimed(&gaps, &planned) || !passage.is_timed(train) {
            return Chirped::Untimed;
        }
        let delays = delays(&arrivals);
        let excursions = self.excursions(&delays);
        let complete = arrivals.len() == train.probes.len();
        if gaps.is_empty() || (excursions.open.is_none() && !complete) {
            return Chirped::Lossy;
        }
        // What was lost would have belonged to the excursion that does not end.
        gaps.extend(planned.iter().skip(gaps.len()));
        Chirped::Counts(excursions.reading(&delays, &gaps))
    }

    /// Cuts queueing delays into excursions.
    fn excursions(&self, delays: &[f64]) -> Excursions {
        let mut found = Excursions::default();
        let mut at = 0;
        while let Some(first) = rise(delays, at) {
            let Some(last) = self.end(delays, first) else {
                found.open = Some(first);
                break;
            };
            if last - first >= self.busy_period {
                found.ended.push([first, last]);
            }
            at = last;
        }
        found
    }

    /// The packet at which the queue that began to build up at `first` is nearly empty again.
    fn end(&self, delays: &[f64], first: usize) -> Option<usize> {
        let base = delays.get(first)?;
        let mut most = 0.0_f64;
        delays
            .iter()
            .skip(first + 1)
            .position(|delay| {
                let above = delay - base;
                most = most.max(above);
                above < most / self.decrease_factor.max(1.0)
            })
            .map(|after| first + 1 + after)
    }
}

/// The first packet from `from` on that waits less than the one after it.
fn rise(delays: &[f64], from: usize) -> Option<usize> {
    let pairs = delays.get(from..)?.windows(2);
    let mut rises = pairs.map(|pair| pair[0] < pair[1]);
    rises.position(|rises| rises).map(|after| from + after)
}

impl Excursions {
    /// The average over all gaps of the available bandwidth that each has.
    fn reading(&self, delays: &[f64], gaps: &[Gap]) -> Reading {
        let last = gaps.len().saturating_sub(1);
        let rate = |number: usize| gaps.get(number).map_or(0.0, |gap| gap.rate);
        let rest = rate(self.open.unwrap_or(last));
        let mut each = vec![rest; gaps.len()];
        for number in self.ended.iter().flat_map(|[first, last]| *first..*last) {
            let pair = delays.get(number).zip(delays.get(number + 1));
            if let (Some(each), Some((one, next))) = (each.get_mut(number), pair)
                && one <= next
            {
                *each = rate(number);
            }
        }
        let seconds: f64 = gaps.iter().map(|gap| gap.seconds).sum();
        let weighted = gaps.iter().zip(each).map(|(gap, each)| gap.seconds * each);
        Reading {
            available_bps: weighted.sum::<f64>() / seconds,
            rises: self.open.is_some(),
        }
    }
}

/// Delays above the least, in nanoseconds, so that no offset of clocks costs precision.
fn delays(arrivals: &[Arrival]) -> Vec<f64> {
    let least = arrivals.iter().map(Arrival::delay_ns).min().unwrap_or(0);
    let above = |arrival: &Arrival| i128::from(arrival.delay_ns()) - i128::from(least);
    arrivals
        .iter()
        .map(|arrival| above(arrival) as f64)
        .collect()
}

fn gaps_of(train: &Train) -> Vec<Gap> {
    let probes = train.probes.iter().skip(1);
    probes
        .map(|probe| Gap::new(probe.gap.as_nanos() as f64, probe.octets))
        .collect()
}

/// The gaps that the sender kept.
fn kept(arrivals: &[Arrival], train: &Train) -> Vec<Gap> {
    let pairs = arrivals.windows(2).zip(train.probes.iter().skip(1));
    pairs
        .map(|(pair, probe)| {
            let gap_ns = pair[1].sent_ns.saturating_sub(pair[0].sent_ns);
            Gap::new(gap_ns as f64, probe.octets)
        })
        .collect()
}

fn is_untimed(kept: &[Gap], planned: &[Gap]) -> bool {
    let pairs = kept.iter().zip(planned);
    let off = pairs.map(|(kept, planned)| (kept.seconds / planned.seconds - 1.0).abs());
    off.sum::<f64>() > UNTIMED * kept.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAPER: Segmentation = Segmentation {
        decrease_factor: 1.5,
        busy_period: 5,
    };

    /// Gaps of 1 s, 1/2 s, and so on, of packets of which one in a second is 8 bit/s.
    fn gaps(count: i32) -> Vec<Gap> {
        let seconds = (0..count).map(|number| 0.5_f64.powi(number));
        seconds.map(|seconds| Gap::new(seconds * 1e9, 1)).collect()
    }

    #[test]
    fn an_excursion_ends_when_the_queue_is_down_by_the_factor() {
        let delays = [0.0, 3.0, 6.0, 5.0, 4.5, 4.0, 3.9, 0.0, 1.0, 2.0];
        let found = PAPER.excursions(&delays);
        // 6 / 1.5 is 4: the seventh packet is the first below it.
        assert_eq!(found.ended, [[0, 6]]);
        assert_eq!(found.open, Some(7));
        let long = Segmentation {
            busy_period: 7,
            ..PAPER
        };
        assert_eq!(long.excursions(&delays).ended, Vec::<[usize; 2]>::new());
    }

    #[test]
    fn each_gap_has_its_own_rate_only_while_a_queue_builds_up_that_empties_again() {
        let delays = [0.0, 3.0, 6.0, 5.0, 4.5, 4.0, 3.9, 0.0, 1.0, 2.0];
        let gaps = gaps(9);
        let reading = PAPER.excursions(&delays).reading(&delays, &gaps);
        // 8 bit/s for a second, 16 for half a second, the rate of the eighth gap for the rest of the time.
        let all: f64 = gaps.iter().map(|gap| gap.seconds).sum();
        let expected = (8.0 + 8.0 + 1_024.0 * (all - 1.5)) / all;
        assert!((reading.available_bps - expected).abs() < 1e-6);
        assert!(reading.rises);
    }

    #[test]
    fn a_chirp_that_fills_no_queue_says_its_highest_rate() {
        let reading = PAPER.excursions(&[5.0; 6]).reading(&[5.0; 6], &gaps(5));
        assert!((reading.available_bps - 128.0).abs() < 1e-9 && !reading.rises);
    }

    proptest! {
        #[test]
        fn what_a_chirp_says_lies_between_its_rates(
            delays in prop::collection::vec(0_u32..1_000_000, 2..80),
            decrease_factor in 0.0_f64..10.0,
            busy_period in 0_usize..20,
        ) {
            let delays: Vec<f64> = delays.into_iter().map(f64::from).collect();
            let gaps = gaps(i32::try_from(delays.len()).unwrap().min(25) - 1);
            let cut = Segmentation { decrease_factor, busy_period };
            let reading = cut.excursions(&delays).reading(&delays, &gaps);
            let highest = gaps.last().unwrap().rate;
            prop_assert!((0.0..=highest * 1.000_001).contains(&reading.available_bps));
        }
    }
}
