//! What a verdict will cost, before anything is sent: time, packets, octets.
//!
//! A sequential test has no fixed length. Without a loss it passes after about 0.98 run lengths; at the good loss rate it takes
//! 1.7 on average, in between up to 2.6, at the bad one 1.2 (with alpha = beta = 0.05). A run length grows with the square of rate and round trip,
//! so the time grows with the rate and the square of the round trip: for 100 Mbit/s over 50 ms (a run length of 570,288) a path without losses passes in 64 s.

use crate::diagnostic::{Decider, Setup, Test};
use crate::sequential::{Expectation, Rule, Ruling};
use crate::stream::Growth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Beyond this a person should be asked first.
const ASK_SECONDS: f64 = 60.0;
/// Beyond this too, octets.
const ASK_BYTES: u64 = 1_000_000_000;
/// Loss rates between the good one and the bad one at which the mean length is looked up, for the longest.
const BETWEEN: u32 = 8;

/// A cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Cost {
    /// Packets.
    pub packets: u64,
    /// Octets on the link, headers included.
    pub bytes: u64,
    /// Seconds, the growth period included.
    pub seconds: f64,
}

/// What one test will cost.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TestPlan {
    /// Which test.
    pub test: Test,
    /// Without a loss: the quickest PASS. Of a scan or slow-start rounds: all of it.
    pub least: Cost,
    /// On average at the loss rate that is still good; null of tests that losses do not decide.
    pub good: Option<Cost>,
    /// On average at the loss rate that is too high; null likewise.
    pub bad: Option<Cost>,
    /// On average at the worst loss rate, between the two; null likewise.
    pub worst: Option<Cost>,
}

impl TestPlan {
    /// What it costs with so many streams side by side: as much time, and as many packets of each.
    #[must_use]
    pub fn times(self, streams: u16) -> Self {
        let cost = |cost: Cost| Cost {
            packets: cost.packets.saturating_mul(streams.into()),
            bytes: cost.bytes.saturating_mul(streams.into()),
            ..cost
        };
        Self {
            test: self.test,
            least: cost(self.least),
            good: self.good.map(cost),
            bad: self.bad.map(cost),
            worst: self.worst.map(cost),
        }
    }

    /// Whether a person should be asked first: more than 60 s or 1 GB at best.
    pub fn is_long(&self) -> bool {
        self.least.seconds > ASK_SECONDS || self.least.bytes > ASK_BYTES
    }
}

/// What `test` by `setup` and `ruling` will cost. Nothing for the passive test.
pub fn plan(setup: &Setup<'_>, test: Test, ruling: &Ruling) -> TestPlan {
    let sending = Sending::of(setup, test, ruling);
    let mut plan = TestPlan {
        test,
        least: Cost::default(),
        good: None,
        bad: None,
        worst: None,
    };
    match test.decider() {
        Decider::Losses => {
            let asked = *ruling.sprt().hypotheses();
            let at = |p: f64| mean_packets(ruling, p);
            let (good, bad) = (at(asked.p0), at(asked.p1));
            let step = (asked.p1 / asked.p0).powf(1.0 / f64::from(BETWEEN));
            let between = (1..BETWEEN.cast_signed()).map(|k| at(asked.p0 * step.powi(k)));
            let worst = between.fold(good.max(bad), f64::max);
            plan.least = sending.cost(ruling.least_packets() as f64);
            plan.good = Some(sending.cost(good));
            plan.bad = Some(sending.cost(bad));
            plan.worst = Some(sending.cost(worst));
        }
        Decider::Scan => plan.least = scan(setup),
        Decider::Rounds => plan.least = rounds(setup),
        Decider::Counts => {}
    }
    plan
}

/// Mean length of the test at loss rate `p`, under its rule.
fn mean_packets(ruling: &Ruling, p: f64) -> f64 {
    let mean = Expectation::exact(ruling.sprt(), p).map_or(f64::INFINITY, |e| e.packets);
    match ruling.rule() {
        Rule::Sequential => mean,
        Rule::AtLeast { packets } => mean.max(packets as f64),
        Rule::Fixed { packets } => packets as f64,
    }
}

/// How fast a test sends.
struct Sending {
    packets_per_s: f64,
    growth_s: f64,
    mtu: u32,
}

impl Sending {
    fn of(setup: &Setup<'_>, test: Test, ruling: &Ruling) -> Self {
        let judge = setup.judge(test, *ruling, Duration::MAX);
        Self {
            packets_per_s: judge.packets_per_s,
            growth_s: judge.rate_window.as_secs_f64().max(1.0),
            mtu: setup.target.mtu(),
        }
    }

    /// Of `packets` in the test period; those of the growth period come on top.
    fn cost(&self, packets: f64) -> Cost {
        let packets = packets + self.growth_s * self.packets_per_s;
        total(packets, self.mtu, packets / self.packets_per_s)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn total(packets: f64, mtu: u32, seconds: f64) -> Cost {
    let packets = packets.ceil().max(0.0) as u64;
    Cost {
        packets,
        bytes: packets.saturating_mul(u64::from(mtu)),
        seconds,
    }
}

/// A scan up to its largest window, on a path that carries just the target.
fn scan(setup: &Setup<'_>) -> Cost {
    let options = setup.scan();
    let (from, to) = (f64::from(options.from), f64::from(options.to));
    let windows = to - from + 1.0;
    let packets = match options.growth {
        Growth::Reno => windows * (from + to),
        Growth::Every { packets } => windows * f64::from(packets),
    };
    let rate = setup.target.packets_per_s();
    // A window below the pipe size sends less than the rate.
    total(
        packets,
        setup.target.mtu(),
        (packets / rate).max(2.0 * windows * setup.path_rtt.as_secs_f64()),
    )
}

/// Rounds of slow start until the queue is twice the target round trip long, each with its drain.
fn rounds(setup: &Setup<'_>) -> Cost {
    let target = setup.target;
    let window = f64::from(target.test_window(setup.path_rtt.saturating_add(target.rtt() * 2)));
    let count = f64::from(setup.rounds.max(1));
    // Half of what is sent at twice the rate waits.
    let seconds = window / target.packets_per_s() * 2.0 + setup.path_rtt.as_secs_f64();
    total(2.0 * window * count, target.mtu(), seconds * count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::sequential::{Hypotheses, Sprt};
    use crate::target::NamedTarget;

    fn planned(name: &str, test: Test, rule: Rule) -> TestPlan {
        let target = NamedTarget::find(name).unwrap().target;
        let run = Model::Reference.run_length(&target).unwrap();
        let sprt = Sprt::new(Hypotheses::for_run_length(run.packets, 0.05, 0.05)).unwrap();
        plan(
            &Setup::new(&target, Duration::from_millis(10)),
            test,
            &Ruling::new(rule, sprt),
        )
    }

    #[test]
    fn a_hundred_megabits_over_fifty_milliseconds_take_64_seconds() {
        let plan = planned("backup-100M", Test::PacedFullRate, Rule::Sequential);
        let growth = 1.0;
        assert!((plan.least.seconds - growth - 64.3).abs() < 0.1, "{plan:?}");
        assert!(plan.is_long());
        let (good, bad, worst) = (plan.good.unwrap(), plan.bad.unwrap(), plan.worst.unwrap());
        assert!((good.seconds / 65.515 - 1.7).abs() < 0.05, "{good:?}");
        assert!((bad.seconds / 65.515 - 1.24).abs() < 0.05, "{bad:?}");
        assert!(
            worst.seconds > good.seconds && worst.seconds < 3.0 * 65.515,
            "{worst:?}"
        );
        // 852 MB at 104 Mbit/s on the link.
        assert_eq!(plan.least.bytes, plan.least.packets * 1_500);
    }

    #[test]
    fn a_video_costs_little() {
        let plan = planned("video-rfc8337", Test::SustainedBurst, Rule::Sequential);
        assert!(plan.least.seconds < 4.0 && !plan.is_long(), "{plan:?}");
        let fixed = planned(
            "video-rfc8337",
            Test::SustainedBurst,
            Rule::Fixed { packets: 10_000 },
        );
        assert_eq!(fixed.least, fixed.worst.unwrap());
    }

    #[test]
    fn every_test_has_a_finite_cost() {
        for name in NamedTarget::names() {
            for test in Test::ALL {
                let plan = planned(name, test, Rule::Sequential);
                for cost in [Some(plan.least), plan.good, plan.bad, plan.worst]
                    .into_iter()
                    .flatten()
                {
                    assert!(
                        cost.seconds.is_finite() && cost.packets < 1_u64 << 40,
                        "{name} {plan:?}"
                    );
                }
                assert_eq!(plan.least.packets == 0, test == Test::Passive);
            }
        }
    }
}
