//! Trains of probes: what every active measurement sends, and what comes of it.
//!
//! Whatever a tool infers, it sends groups of packets: from one or two to hundreds, each of a size of its own, with exact gaps,
//! and one group has nothing to do with the next (Papageorgiou 2008, section 2.1, "the probe group primitive"). So an
//! estimator here is a machine that says which [`Train`] it wants next and is told what came of it ([`Passage`]); who
//! sends it, by which clock, over a socket or in virtual time, it does not know.
//!
//! Where applications' packets ride on probes, a train may be theirs as well: [`Extent`].
//!
//! # Calling order
//!
//! [`Estimator::next`] until it says [`Step::Done`]. Each [`Step::Train`] is sent, not before the moment that comes with it, and
//! answered by one call of [`Estimator::handle`] once the receiver has told or given up.

use crate::riders::Riders;
use std::time::Duration;
use units::Instant;

/// A probe to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// Octets of the packet, IP header included.
    pub octets: u32,
    /// Time since the probe before it left; of no meaning for the first.
    pub gap: Duration,
    /// Whether it may carry a packet of an application instead of padding.
    pub may_carry: bool,
}

/// How much of a train leaves (Papageorgiou 2008, section 8.3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// So many probes; the others one by one as long as packets of applications fill them (*semi-elastic*). With 0 the train
    /// begins when there is a packet, and has no probe without one (*elastic*).
    AtLeast(u32),
    /// Packets of applications themselves are the probes, of whatever size and as they leave; consecutive ones are no further apart
    /// than this. Of what the train asks for only the number counts, which is the most (*opportunistic*).
    Packets(Duration),
}

/// Probes that are sent together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Train {
    /// In the order in which they leave.
    pub probes: Vec<Probe>,
    /// Whether the receiver is to send each one back at once, as long as it is.
    pub echo: bool,
    /// Whether all of them leave.
    pub extent: Extent,
}

impl Train {
    /// `count` probes of `octets` each, `gap` apart.
    pub fn periodic(count: usize, octets: u32, gap: Duration) -> Self {
        Self {
            probes: vec![
                Probe {
                    octets,
                    gap,
                    may_carry: true
                };
                count
            ],
            ..Self::default()
        }
    }

    /// Up to `most` packets of applications, no further apart than `gap`.
    pub fn packets(most: usize, gap: Duration) -> Self {
        Self::periodic(most, 0, gap).of(Extent::Packets(gap))
    }

    /// The same, of which so much leaves.
    #[must_use]
    pub fn of(self, extent: Extent) -> Self {
        Self { extent, ..self }
    }

    /// The same, of which the receiver sends each probe back.
    #[must_use]
    pub fn echoed(self) -> Self {
        Self { echo: true, ..self }
    }

    /// From the first probe to the last, if all leave.
    pub fn duration(&self) -> Duration {
        self.duration_of(self.probes.len())
    }

    /// From the first probe to the last of so many.
    pub fn duration_of(&self, count: usize) -> Duration {
        let gaps = self.probes.iter().take(count).skip(1);
        let gaps = gaps.map(|probe| probe.gap);
        gaps.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Octets of all probes, if all leave.
    pub fn octets(&self) -> u64 {
        let octets = self.probes.iter().map(|probe| u64::from(probe.octets));
        octets.sum()
    }
}

/// A probe that has arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival {
    /// Its place in the train, from 0.
    pub number: u32,
    /// When it left, on the sender's clock.
    pub sent_ns: u64,
    /// When it arrived, on the receiver's, which may differ from it in time.
    pub arrived_ns: u64,
    /// Its way back, where the train was to be echoed; an echo that was lost leaves no trace of its probe.
    pub back: Option<Back>,
}

/// The way back of a probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Back {
    /// When the receiver sent it back, on its clock.
    pub left_ns: u64,
    /// When it was back, on the sender's clock.
    pub returned_ns: u64,
}

impl Arrival {
    /// Its one-way delay, in nanoseconds; all of a train are off by the same offset of the two clocks.
    pub fn delay_ns(&self) -> i64 {
        difference(self.arrived_ns, self.sent_ns)
    }

    /// The way back's one-way delay in nanoseconds, off by the same offset with the other sign; none without an echo.
    pub fn back_ns(&self) -> Option<i64> {
        let back = self.back?;
        Some(difference(back.returned_ns, back.left_ns))
    }

    /// Time on the way there and back, in nanoseconds, without what the receiver took; none without an echo.
    pub fn round_trip_ns(&self) -> Option<i64> {
        Some(self.delay_ns().saturating_add(self.back_ns()?))
    }
}

/// `later - earlier` of two clocks, which may be decades apart.
fn difference(later: u64, earlier: u64) -> i64 {
    let difference = i128::from(later) - i128::from(earlier);
    let bound = if difference < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(difference).unwrap_or(bound)
}

/// What came of a train.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Passage {
    /// Probes that left.
    pub sent: u32,
    /// Their octets, IP headers included.
    pub octets: u64,
    /// How long that took: from the first probe to the last, as it was and not as it was asked for.
    pub lasted: Duration,
    /// Probes that arrived, in the order of their numbers, each once.
    pub arrivals: Vec<Arrival>,
    /// What they carried.
    pub riders: Riders,
}

impl Passage {
    /// Share of the probes that did not arrive: 0 to 1.
    pub fn loss(&self) -> f64 {
        if self.sent == 0 {
            return 0.0;
        }
        let arrived = self.arrivals.len() as f64;
        (1.0 - arrived / f64::from(self.sent)).max(0.0)
    }

    /// Whether it left as `train` was to: neither its whole length nor the gap between two neighbours that arrived was off by more
    /// than a twentieth of that length, or the sender was interrupted, and what it held up left too fast afterwards.
    pub fn is_timed(&self, train: &Train) -> bool {
        let planned = match train.extent {
            Extent::Whole => train.duration(),
            Extent::AtLeast(_) | Extent::Packets(_) => train.duration_of(self.sent as usize),
        };
        let most = planned / 20;
        let gap_before = |arrival: &Arrival| Some(train.probes.get(arrival.number as usize)?.gap);
        let mut gaps = self.arrivals.windows(2).filter_map(|pair| {
            let left = pair[1].sent_ns.saturating_sub(pair[0].sent_ns);
            let neighbours = pair[1].number == pair[0].number.saturating_add(1);
            let off = Duration::from_nanos(left).abs_diff(gap_before(&pair[1])?);
            neighbours.then_some(off)
        });
        self.lasted.abs_diff(planned) <= most && gaps.all(|off| off <= most)
    }

    /// From the first arrival to the last; zero when fewer than two came.
    pub fn span(&self) -> Duration {
        let ends = self.arrivals.first().zip(self.arrivals.last());
        let span = ends.map(|(first, last)| last.arrived_ns.saturating_sub(first.arrived_ns));
        Duration::from_nanos(span.unwrap_or(0))
    }
}

/// What an estimator wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<E> {
    /// A train, not before this moment.
    Train(Train, Instant),
    /// Nothing more: this is what it found.
    Done(E),
}

/// Infers a property of a path from trains; see the [module](self) for the calling order.
pub trait Estimator {
    /// What it finds.
    type Estimate;

    /// What to do next.
    fn next(&mut self) -> Step<Self::Estimate>;

    /// What came of the train that was asked for; `now` is the moment at which that is known.
    fn handle(&mut self, passage: &Passage, now: Instant);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_lasts_from_its_first_probe_to_its_last() {
        let train = Train::periodic(5, 1_000, Duration::from_millis(1));
        assert_eq!(train.duration(), Duration::from_millis(4));
        assert_eq!(train.octets(), 5_000);
        assert_eq!(Train::default().duration(), Duration::ZERO);
    }

    #[test]
    fn what_did_not_arrive_is_lost() {
        let arrival = |number| Arrival {
            number,
            sent_ns: 5,
            arrived_ns: 3,
            back: None,
        };
        let passage = Passage {
            sent: 4,
            octets: 4_000,
            lasted: Duration::from_millis(10),
            arrivals: vec![arrival(0), arrival(2), arrival(3)],
            riders: Riders::default(),
        };
        assert!((passage.loss() - 0.25).abs() < 1e-12);
        assert_eq!(arrival(0).delay_ns(), -2);
        assert_eq!(Passage::default().loss().to_bits(), 0);
    }

    #[test]
    fn a_sender_that_was_interrupted_is_told() {
        let train = Train::periodic(41, 1_000, Duration::from_millis(1));
        let passage = |held_ns: u64, from: u32| Passage {
            sent: 41,
            octets: 41_000,
            lasted: train.duration(),
            arrivals: (0..41)
                .map(|number| Arrival {
                    number,
                    // What was held up leaves at once with the next.
                    sent_ns: u64::from(number) * 1_000_000
                        + if number == from { held_ns } else { 0 },
                    arrived_ns: 50_000_000,
                    back: None,
                })
                .collect(),
            riders: Riders::default(),
        };
        assert!(passage(0, 0).is_timed(&train));
        assert!(
            passage(1_900_000, 40).is_timed(&train),
            "a twentieth of 40 ms is 2"
        );
        assert!(!passage(2_100_000, 40).is_timed(&train));
        let cut = Passage {
            lasted: Duration::from_millis(37),
            ..passage(0, 0)
        };
        assert!(!cut.is_timed(&train));
        let short = Passage { sent: 38, ..cut };
        let elastic = train.of(Extent::AtLeast(5));
        assert!(short.is_timed(&elastic), "it has as many as it needs");
    }

    #[test]
    fn a_round_trip_knows_neither_the_offset_of_the_clocks_nor_the_time_at_the_receiver() {
        let arrival = Arrival {
            number: 0,
            sent_ns: 1_000_000,
            arrived_ns: 77_003_000,
            back: Some(Back {
                left_ns: 77_010_000,
                returned_ns: 1_012_000,
            }),
        };
        assert_eq!(arrival.round_trip_ns(), Some(3_000 + 2_000));
    }
}
