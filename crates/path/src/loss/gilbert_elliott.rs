//! Loss in bursts.

use super::LossProcess;
use crate::random::Dice;

/// Two states, good and bad, each with a loss probability of its own; before each packet the
/// process moves from good to bad with probability `p` and from bad to good with `r` (E. N.
/// Gilbert, Bell System Technical Journal 39, 1960; E. O. Elliott, 42, 1963).
///
/// The share of time in the bad state is p / (p + r), so the mean loss is
/// (p `loss_bad` + r `loss_good`) / (p + r); a stay in the bad state lasts 1 / r packets on
/// average. With the defaults `loss_good` = 0 and `loss_bad` = 1 that is the mean length of a loss
/// burst. The process begins in the good state.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    p: f64,
    r: f64,
    loss_good: f64,
    loss_bad: f64,
    bad: bool,
    dice: Dice,
}

impl GilbertElliott {
    /// The process with transition probabilities `p` (good to bad) and `r` (bad to good), and the
    /// loss probability in each state; all from 0 to 1.
    pub fn new(p: f64, r: f64, loss_good: f64, loss_bad: f64, seed: u64) -> Self {
        Self {
            p,
            r,
            loss_good,
            loss_bad,
            bad: false,
            dice: Dice::new(seed),
        }
    }
}

impl LossProcess for GilbertElliott {
    fn loses(&mut self) -> bool {
        let leave = if self.bad { self.r } else { self.p };
        self.bad ^= self.dice.chance(leave);
        let loss = if self.bad {
            self.loss_bad
        } else {
            self.loss_good
        };
        self.dice.chance(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIALS: usize = 1_000_000;

    /// Packets lost, and bursts (runs of losses) that they came in.
    fn losses_and_bursts(mut process: GilbertElliott) -> (f64, f64) {
        let (mut lost, mut bursts, mut before) = (0_u32, 0_u32, false);
        for _ in 0..TRIALS {
            let now = process.loses();
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(lost), f64::from(bursts))
    }

    #[test]
    fn mean_loss_and_mean_burst_length_match_the_formulas() {
        for (seed, p, r) in [(1, 0.01, 0.25), (2, 0.002, 0.1), (3, 0.05, 0.5)] {
            let (lost, bursts) = losses_and_bursts(GilbertElliott::new(p, r, 0.0, 1.0, seed));
            let share = lost / TRIALS as f64;
            assert!(
                (share / (p / (p + r)) - 1.0).abs() < 0.08,
                "seed {seed}: loss {share}"
            );
            let length = lost / bursts;
            assert!(
                (length * r - 1.0).abs() < 0.08,
                "seed {seed}: length {length}"
            );
        }
    }

    #[test]
    fn loss_in_both_states_adds_up() {
        let (p, r, good, bad) = (0.02, 0.08, 0.01, 0.4);
        let (lost, _) = losses_and_bursts(GilbertElliott::new(p, r, good, bad, 7));
        let expected = (p * bad + r * good) / (p + r);
        let share = lost / TRIALS as f64;
        assert!(
            (share / expected - 1.0).abs() < 0.05,
            "{share} of {expected}"
        );
    }

    #[test]
    fn without_a_way_into_the_bad_state_nothing_is_lost() {
        let (lost, _) = losses_and_bursts(GilbertElliott::new(0.0, 0.5, 0.0, 1.0, 7));
        assert!(lost < 0.5);
    }
}
