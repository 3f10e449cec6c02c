//! Who measures whom, when, and with what.

use schema::btc::plan::Tool;
use serde::{Deserialize, Serialize};
use stats::random::SplitMix64;
use std::time::Duration;

/// A measurement that is to be made.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Planned {
    /// Its number, from 0.
    pub(super) number: usize,
    /// When it starts, after the first could.
    pub(super) start: Duration,
    /// The host that sends.
    pub(super) from: String,
    /// The host that receives.
    pub(super) to: String,
    /// What carries the two transfers.
    pub(super) tools: [Tool; 2],
}

/// `count` measurements between `hosts`: times between starts are exponential with this mean; the two hosts are different and
/// otherwise as likely as any; each tool is one of two, whatever the other is.
pub(super) fn draw(hosts: &[String], count: usize, mean: Duration, seed: u64) -> Vec<Planned> {
    let mut chance = SplitMix64::new(seed);
    let mut start = Duration::ZERO;
    let tools = [Tool::Ours, Tool::Kernel];
    let planned = |number| {
        start += Duration::from_secs_f64(chance.exponential(mean.as_secs_f64()));
        let from = chance.below(hosts.len());
        let step = 1 + chance.below(hosts.len() - 1);
        Planned {
            number,
            start,
            from: hosts[from].clone(),
            to: hosts[(from + step) % hosts.len()].clone(),
            tools: [tools[chance.below(2)], tools[chance.below(2)]],
        }
    };
    (0..count).map(planned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const MEAN: Duration = Duration::from_secs(30);

    fn drawn() -> Vec<Planned> {
        let hosts = ["a", "b", "c"].map(str::to_owned);
        draw(&hosts, 6_000, MEAN, 1)
    }

    /// Holds btc/cap-mesh, btc/cap-tool-choice.
    #[test]
    fn every_ordered_pair_of_hosts_and_of_tools_is_as_likely_as_any() {
        let mut pairs = BTreeMap::<_, u32>::new();
        let mut tools = BTreeMap::<_, u32>::new();
        for plan in drawn() {
            assert_ne!(plan.from, plan.to);
            *pairs.entry((plan.from, plan.to)).or_default() += 1;
            *tools.entry(plan.tools.map(Tool::label)).or_default() += 1;
        }
        assert_eq!((pairs.len(), tools.len()), (6, 4));
        assert!(
            pairs.values().all(|&n| (900..1_100).contains(&n)),
            "{pairs:?}"
        );
        assert!(
            tools.values().all(|&n| (1_350..1_650).contains(&n)),
            "{tools:?}"
        );
    }

    /// Holds btc/cap-schedule.
    #[test]
    fn starts_are_a_poisson_process() {
        let drawn = drawn();
        let gaps: Vec<f64> = drawn
            .windows(2)
            .map(|two| two[1].start.as_secs_f64() - two[0].start.as_secs_f64())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((29.0..31.0).contains(&mean), "{mean}");
        // The standard deviation of an exponential distribution is its mean.
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (28.0..32.0).contains(&variance.sqrt()),
            "{}",
            variance.sqrt()
        );
        assert_eq!(drawn, self::drawn());
    }
}
