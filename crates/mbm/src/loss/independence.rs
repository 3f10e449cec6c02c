//! Do losses come by themselves?
//!
//! The models, the sequential test and composition all take it that each packet is lost or not regardless of the others (thesis
//! 5.2). Full queues drop in bursts; then there are fewer *runs* (of packets that are all marked, or all not) than chance
//! would make. The test of A. Wald and J. Wolfowitz ("On a test whether two samples are from the same population", 1940)
//! compares their number with its mean `1 + 2 m g/n` and variance `2 m g (2 m g - n)/(n^2 (n - 1))` for m marks and g others among n.
//!
//! When independence does not hold, losses of one burst are one signal to a real transport, so the count of marks is too severe,
//! and a confidence interval too narrow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::proportion::normal_cdf;

/// Marks from which the question can be answered, at least.
pub const LEAST_MARKS: u64 = 10;
/// Probability below which chance is not believed.
pub const SIGNIFICANCE: f64 = 0.01;
/// Lengths of bursts that are told apart; longer ones count as the last.
const LENGTHS: usize = 16;

/// The counters of runs, in the order of sending.
#[derive(Clone, Debug, Default)]
pub struct Independence {
    packets: u64,
    marks: u64,
    /// Bursts: runs of marked packets.
    bursts: u64,
    runs: u64,
    /// Whether the last packet was marked, and how many before it without change.
    last: Option<(bool, u64)>,
    longest: u64,
    longest_good: u64,
    lengths: [u64; LENGTHS],
}

/// What the runs say, in the form of a record.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Runs {
    /// Bursts: marked packets with nothing unmarked between.
    pub bursts: u64,
    /// Packets in the longest burst.
    pub longest_burst: u64,
    /// Packets in the mean burst; 1/(1 - p) when independent; null without a mark.
    pub mean_burst: Option<f64>,
    /// Bursts of 1, 2, ... 15 packets, and of 16 or more.
    pub burst_lengths: Vec<u64>,
    /// Packets between two marks, at most.
    pub longest_good: u64,
    /// Standard deviations by which the number of runs differs from that of independent marks; negative when marks cluster; null with
    /// fewer than 10 marks.
    pub z: Option<f64>,
    /// Probability of so few or so many runs by chance (two-sided); null likewise.
    pub p: Option<f64>,
    /// Whether marks are as independent as the models assume; null when there are too few to tell.
    pub independent: Option<bool>,
    /// The same in words.
    pub says: String,
}

impl Independence {
    /// The next packet was marked, or not.
    pub fn add(&mut self, is_mark: bool) {
        self.packets += 1;
        self.marks += u64::from(is_mark);
        let length = match self.last {
            Some((before, length)) if before == is_mark => length + 1,
            _ => {
                self.end_run();
                self.runs += 1;
                self.bursts += u64::from(is_mark);
                1
            }
        };
        self.last = Some((is_mark, length));
        if is_mark {
            self.longest = self.longest.max(length);
        } else {
            self.longest_good = self.longest_good.max(length);
        }
    }

    fn end_run(&mut self) {
        if let Some((true, length)) = self.last {
            count_length(&mut self.lengths, length);
        }
    }

    /// The figures.
    pub fn report(&self) -> Runs {
        let mut lengths = self.lengths;
        if let Some((true, length)) = self.last {
            count_length(&mut lengths, length);
        }
        let z = self.deviation();
        let p = z.map(|z| 2.0 * normal_cdf(-z.abs()));
        let independent = p.map(|p| p >= SIGNIFICANCE);
        Runs {
            bursts: self.bursts,
            longest_burst: self.longest,
            mean_burst: (self.bursts > 0).then(|| self.marks as f64 / self.bursts as f64),
            burst_lengths: lengths.to_vec(),
            longest_good: self.longest_good,
            z,
            p,
            independent,
            says: self.in_words(independent, z),
        }
    }

    /// Standard deviations between the number of runs and its mean.
    fn deviation(&self) -> Option<f64> {
        let good = self.packets - self.marks;
        if self.marks < LEAST_MARKS || good < LEAST_MARKS {
            return None;
        }
        let n = self.packets as f64;
        let pairs = 2.0 * self.marks as f64 * (good as f64 / n);
        let variance = pairs * (pairs - 1.0) / (n - 1.0);
        (variance > 0.0).then(|| (self.runs as f64 - 1.0 - pairs) / variance.sqrt())
    }

    fn in_words(&self, independent: Option<bool>, z: Option<f64>) -> String {
        match (independent, z) {
            (Some(true), _) => "losses look independent, as the models assume".to_owned(),
            (Some(false), Some(z)) if z < 0.0 => format!(
                "losses come in bursts ({} in {} bursts, the longest of {}): the models assume that they do not, and count each packet of a burst",
                self.marks, self.bursts, self.longest
            ),
            (Some(false), _) => "losses keep a distance from each other: something drops in a rhythm, and the models assume chance".to_owned(),
            (None, _) => format!(
                "{} losses are too few to tell whether they are independent; {LEAST_MARKS} are needed",
                self.marks
            ),
        }
    }
}

fn count_length(lengths: &mut [u64; LENGTHS], length: u64) {
    let index = usize::try_from(length).unwrap_or(LENGTHS).clamp(1, LENGTHS) - 1;
    lengths[index] += 1;
}
