//! What rate a train tells.

use crate::train::{Passage, Train};
use std::time::Duration;

/// Packets must arrive that many times as far apart as they left, or else they tell of the sender.
const SPREAD: f64 = 1.1;

/// Rates are in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dispersion {
    /// The path spread the packets to this rate.
    Path(f64),
    /// The sender or the receiver did: the path is at least that fast.
    Hosts(f64),
    /// Packets were lost.
    Lossy,
}

impl Dispersion {
    /// Of the first packet, or of the second where one leads, and the last; `least_gap` is what the receiver can tell between two.
    pub(super) fn of(passage: &Passage, train: &Train, is_led: bool, least_gap: Duration) -> Self {
        let leaders = usize::from(is_led);
        let ends = passage.arrivals.get(leaders).zip(passage.arrivals.last());
        let Some((first, last)) = ends else {
            return Self::Lossy;
        };
        let gaps = train.probes.len().saturating_sub(1 + leaders);
        if passage.arrivals.len() < train.probes.len() || gaps == 0 {
            return Self::Lossy;
        }
        let octets = train
            .probes
            .iter()
            .skip(1 + leaders)
            .map(|probe| u64::from(probe.octets));
        let bits = octets.sum::<u64>() as f64 * 8.0;
        let received_ns = last.arrived_ns.saturating_sub(first.arrived_ns) as f64;
        let sent_ns = last.sent_ns.saturating_sub(first.sent_ns) as f64;
        let least_ns = least_gap.as_nanos() as f64 * gaps as f64;
        if received_ns <= least_ns.max(1.0) || received_ns < SPREAD * sent_ns {
            let longest_ns = received_ns.max(sent_ns).max(least_ns).max(1.0);
            return Self::Hosts(bits * 1e9 / longest_ns);
        }
        Self::Path(bits * 1e9 / received_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Arrival;

    fn told(sent_ns: [u64; 4], arrived_ns: [u64; 4]) -> Dispersion {
        let train = Train::periodic(4, 1_500, Duration::ZERO);
        let pairs = sent_ns.into_iter().zip(arrived_ns);
        let arrivals = (0..)
            .zip(pairs)
            .map(|(number, (sent_ns, arrived_ns))| Arrival {
                number,
                sent_ns,
                arrived_ns,
                back: None,
            });
        let mut passage = Passage {
            sent: 4,
            arrivals: arrivals.collect(),
            ..Passage::default()
        };
        let told = Dispersion::of(&passage, &train, true, Duration::from_micros(1));
        passage.arrivals.pop();
        let lossy = Dispersion::of(&passage, &train, true, Duration::from_micros(1));
        assert_eq!(lossy, Dispersion::Lossy);
        told
    }

    #[test]
    fn the_slower_of_path_and_hosts_is_told() {
        let path = told([0, 2_000, 4_000, 6_000], [55_000, 60_005, 120_005, 180_005]);
        assert_eq!(
            path,
            Dispersion::Path(200e6),
            "12,000 bits in 60 us, though the leader was late"
        );
        let sender = told([0, 60_000, 120_000, 180_000], [5, 60_005, 120_005, 180_005]);
        assert_eq!(sender, Dispersion::Hosts(200e6));
        let receiver = told([0; 4], [4, 5, 6, 7]);
        assert_eq!(receiver, Dispersion::Hosts(12e9), "12,000 bits in 1 us");
    }
}
