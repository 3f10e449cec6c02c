//! What the models need of a whole set.

use crate::sketch::Sketch;
use core::num::NonZeroU16;
use core::time::Duration;

/// What the discrete approximation cuts off at each end (D, section 3.4 v).
const CUT: f64 = 0.01;

/// The minimum round-trip times of a set, to a thousandth of each. Summaries of parts add up.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// In microseconds.
    known: Sketch,
    unknown: u64,
}

impl Summary {
    /// Enters a connection by its [`min_rtt`](crate::Vector::min_rtt).
    pub fn enter(&mut self, min_rtt: Option<Duration>) {
        match min_rtt {
            Some(rtt) => {
                let us = u64::try_from(rtt.as_micros()).unwrap_or(u64::MAX);
                self.known.record(us);
            }
            None => self.unknown += 1,
        }
    }

    /// Adds the summary of another part of the set.
    pub fn merge(&mut self, other: &Self) {
        self.known.merge(&other.known);
        self.unknown += other.unknown;
    }

    /// Connections without a round-trip time; they count in none of the figures.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The mean, and zero of nothing; so in all figures.
    pub fn mean(&self) -> Duration {
        micros(self.known.mean().unwrap_or_default())
    }

    /// The median.
    pub fn median(&self) -> Duration {
        micros(self.known.quantile(0.5).unwrap_or_default())
    }

    /// The means of equal parts of the distribution, without the first and the last hundredth.
    ///
    /// D's own values are even numbers of ms, for half of each was emulated at each end by a clock of 1 ms. These are not
    /// rounded.
    pub fn discrete_approximation(&self, paths: NonZeroU16) -> Vec<Duration> {
        let means = self.known.bin_means(CUT, 1.0 - CUT, paths.get());
        if means.is_empty() {
            return vec![Duration::ZERO; usize::from(paths.get())];
        }
        means.into_iter().map(micros).collect()
    }

    /// The quantiles 0.1 and 0.9, rounded to whole ms: "approximately the middle 80 %" (D, section 3.4 vi).
    pub fn middle_ms(&self) -> (u32, u32) {
        let ms = |q| {
            let us = self.known.quantile(q).unwrap_or_default();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative, and saturating"
            )]
            let ms = (us / 1_000.0).round() as u32;
            ms
        };
        (ms(0.1), ms(0.9))
    }
}

fn micros(us: f64) -> Duration {
    Duration::try_from_secs_f64(us / 1e6).unwrap_or(Duration::MAX)
}
