//! How far apart the packets of a stream left, and how far apart they arrived.

use crate::train::{Arrival, Passage};

/// Of one stream, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spacing {
    /// The mean gap at the sender.
    pub(super) sent_ns: f64,
    /// The mean gap at the receiver, less that.
    pub(super) change_ns: f64,
    /// Standard deviation of what single gaps changed.
    pub(super) deviation_ns: f64,
    /// Gaps from the first packet that arrived to the last.
    pub(super) gaps: u32,
}

impl Spacing {
    /// Of a stream of which at least half arrived; else it says too little (the tool).
    pub(super) fn of(passage: &Passage) -> Option<Self> {
        let (first, last) = (passage.arrivals.first()?, passage.arrivals.last()?);
        let gaps = last
            .number
            .checked_sub(first.number)
            .filter(|gaps| *gaps > 0)?;
        let arrived = passage.arrivals.len() as f64;
        if arrived < f64::from(passage.sent) / 2.0 {
            return None;
        }
        let sent_ns = last.sent_ns.saturating_sub(first.sent_ns) as f64;
        Some(Self {
            sent_ns: sent_ns / f64::from(gaps),
            change_ns: later(last, first) / f64::from(gaps),
            deviation_ns: deviation(&passage.arrivals),
            gaps,
        })
    }

    /// Of the mean gap. What delays one packet makes two gaps err, in opposite directions, so this is rather too much.
    pub(super) fn standard_error_ns(&self) -> f64 {
        self.deviation_ns / f64::from(self.gaps.max(1)).sqrt()
    }

    /// How many packets make the standard error half of `tolerance`, a share of the gap, or of the change if that is larger.
    pub(super) fn packets_for(&self, tolerance: f64) -> usize {
        let told = (tolerance * self.sent_ns).max(self.change_ns.abs());
        let gaps = (2.0 * self.deviation_ns / told.max(1e-3)).powi(2);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and held at a number of packets"
        )]
        let gaps = gaps.ceil().min(1e6) as usize;
        gaps + 1
    }
}

/// By how much one packet was longer on its way than another, in nanoseconds.
fn later(one: &Arrival, other: &Arrival) -> f64 {
    (i128::from(one.delay_ns()) - i128::from(other.delay_ns())) as f64
}

/// Standard deviation of what gaps between neighbours changed; 0 when there are fewer than two.
fn deviation(arrivals: &[Arrival]) -> f64 {
    let pairs = arrivals.windows(2);
    let neighbours = pairs.filter(|pair| pair[1].number.checked_sub(pair[0].number) == Some(1));
    let changes: Vec<f64> = neighbours.map(|pair| later(&pair[1], &pair[0])).collect();
    let count = changes.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = changes.iter().sum::<f64>() / count;
    let squares = changes.iter().map(|change| (change - mean).powi(2));
    (squares.sum::<f64>() / (count - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with gaps of 1 ms whose packets are that many microseconds on their way.
    fn stream(delays_us: &[(u32, u64)], sent: u32) -> Option<Spacing> {
        let arrivals = delays_us.iter().map(|&(number, delay_us)| {
            let sent_ns = u64::from(number) * 1_000_000;
            Arrival {
                number,
                sent_ns,
                arrived_ns: sent_ns + delay_us * 1_000,
                back: None,
            }
        });
        Spacing::of(&Passage {
            sent,
            arrivals: arrivals.collect(),
            ..Passage::default()
        })
    }

    #[test]
    fn a_lost_packet_does_not_stretch_the_gaps() {
        let spacing = stream(&[(0, 100), (1, 110), (3, 130), (4, 140)], 5).unwrap();
        assert!((spacing.sent_ns - 1e6).abs() < 1e-6);
        assert!((spacing.change_ns - 10e3).abs() < 1e-6);
        assert!(spacing.deviation_ns < 1e-6 && spacing.gaps == 4);
        assert_eq!(stream(&[(0, 100), (1, 110)], 5), None, "too few");
        assert_eq!(stream(&[(0, 100)], 1), None, "no gap");
    }

    /// Holds manager/yaz.
    #[test]
    fn a_stream_gets_as_many_packets_as_its_noise_asks_for() {
        // Changes of 10 us up and down: a standard deviation of 20 us over changes of -20 and 20.
        let wave: Vec<_> = (0..101)
            .map(|number| (number, 50 + u64::from(number % 2) * 20))
            .collect();
        let spacing = stream(&wave, 101).unwrap();
        assert!((spacing.deviation_ns / 20e3 - 1.0).abs() < 0.01);
        // (2 * 20 us / (1 % of 1 ms))^2
        assert!((15..=18).contains(&spacing.packets_for(0.01)));
        let steady: Vec<_> = (0..50).map(|number| (number, 100)).collect();
        assert_eq!(stream(&steady, 50).unwrap().packets_for(0.01), 1);
    }
}
