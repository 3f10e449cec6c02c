//! Trains that packets of applications make, by way of a manager.
//!
//! The manager is told bounds instead of a list ([`mgrp::transaction::Ranges`]). Its probes have no octets of ours; which of those that
//! arrive are the train's it tells by the numbers of their packets, when the train is over.

use mgrp::transaction::{self, Outcome, Ranges, Sent, Spacing};
use probe::train::{Arrival, Extent, Probe, Train};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a train waits for its first packet: no longer than a run may take too long.
const PATIENCE: Duration = Duration::from_secs(1);
/// Arrivals that are kept until it is known whose they are: two of the longest trains.
const MOST_ARRIVALS: usize = 20_000;

/// The bounds of a train on a channel; none for one that is a list.
pub(super) fn ranges(train: &Train, channel: u8) -> Option<Ranges> {
    let most = u32::try_from(train.probes.len()).unwrap_or(u32::MAX);
    let probe = train.probes.last()?;
    let octets = u16::try_from(probe.octets).unwrap_or(u16::MAX);
    let (least, octets, spacing) = match train.extent {
        Extent::Whole => return None,
        Extent::AtLeast(least) => (least, Some(octets), Spacing::Fixed(probe.gap)),
        Extent::Packets(gap) => (0, None, Spacing::UpTo(gap)),
    };
    Some(Ranges {
        channel,
        count: [least, most],
        octets,
        spacing,
        patience: PATIENCE,
    })
}

/// What has come of such a train so far.
#[derive(Default)]
pub(super) struct Loose {
    /// Probes without octets of ours that have arrived, by the numbers of their packets.
    arrived: BTreeMap<u64, [u64; 2]>,
    /// Those that left, once the train is over.
    sent: Vec<Sent>,
}

impl Loose {
    /// A train begins.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    /// A probe without octets of ours has arrived.
    pub(super) fn arrive(&mut self, arrival: &transaction::Arrival) {
        if self.arrived.len() < MOST_ARRIVALS {
            let times = [arrival.sent_ns, arrival.arrived_ns];
            self.arrived.entry(arrival.sequence).or_insert(times);
        }
    }

    /// The manager says which packets the train was.
    pub(super) fn tell(&mut self, sent: Vec<Sent>) {
        self.sent = sent;
    }

    /// Whether all of the train has arrived.
    pub(super) fn is_whole(&self) -> bool {
        let mut sent = self.sent.iter();
        sent.all(|sent| self.arrived.contains_key(&sent.sequence))
    }

    /// The train as it left.
    pub(super) fn train(&self, asked: &Train, outcome: &Outcome) -> Train {
        let probes = self.sent.iter().zip(&outcome.gaps);
        let probes = probes.map(|(sent, gap)| Probe {
            octets: sent.octets.into(),
            gap: gap.planned,
            may_carry: true,
        });
        Train {
            probes: probes.collect(),
            ..*asked
        }
    }

    /// The arrivals of the train.
    pub(super) fn arrivals(&self) -> Vec<Arrival> {
        let arrival = |(number, sent): (u32, &Sent)| {
            let [sent_ns, arrived_ns] = *self.arrived.get(&sent.sequence)?;
            Some(Arrival {
                number,
                sent_ns,
                arrived_ns,
                back: None,
            })
        };
        (0..).zip(&self.sent).filter_map(arrival).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_those_of_the_train() {
        let gap = Duration::from_micros(200);
        let train = Train::periodic(100, 300, gap);
        assert_eq!(ranges(&train, 1), None);
        let semi = ranges(&train.clone().of(Extent::AtLeast(40)), 1);
        let semi = semi.map(|ranges| (ranges.count, ranges.octets, ranges.spacing));
        assert_eq!(semi, Some(([40, 100], Some(300), Spacing::Fixed(gap))));
        let packets = ranges(&Train::packets(50, gap), 1);
        let packets = packets.map(|ranges| (ranges.count, ranges.octets, ranges.spacing));
        assert_eq!(packets, Some(([0, 50], None, Spacing::UpTo(gap))));
    }

    #[test]
    fn a_train_is_put_together_by_the_numbers_of_its_packets() {
        let mut loose = Loose::default();
        let arrival = |sequence| transaction::Arrival {
            sequence,
            sent_ns: sequence * 10,
            arrived_ns: sequence * 10 + 7,
            ..transaction::Arrival::default()
        };
        // Number 6 is of a train before, number 9 is still on its way.
        for sequence in [8, 6, 7] {
            loose.arrive(&arrival(sequence));
        }
        loose.tell(
            [7, 8, 9]
                .map(|sequence| Sent {
                    sequence,
                    octets: 500,
                })
                .to_vec(),
        );
        assert!(!loose.is_whole());
        let numbers = |loose: &Loose| {
            let arrivals = loose.arrivals().into_iter();
            arrivals
                .map(|arrival| (arrival.number, arrival.sent_ns))
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers(&loose), [(0, 70), (1, 80)]);
        loose.arrive(&arrival(9));
        assert!(loose.is_whole() && numbers(&loose).len() == 3);
        let outcome = Outcome {
            gaps: vec![transaction::Gap::default(); 3],
            ..Outcome::default()
        };
        let asked = Train::packets(50, Duration::ZERO);
        assert_eq!(loose.train(&asked, &outcome).octets(), 1_500);
        loose.begin();
        assert!(loose.is_whole() && loose.arrivals().is_empty());
    }
}
