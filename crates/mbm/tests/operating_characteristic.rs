//! The statistics by simulation: 20,000 streams of independent losses at each loss rate.
//!
//! Errors must be those that were asked for. The mean number of packets must be Wald's where his approximation holds (small jumps: loss
//! rates close to each other), and that of the exact reckoning everywhere.

use isobath_mbm::sequential::{Decision, Expectation, Hypotheses, Sprt};
use stats::random::SplitMix64;

const STREAMS: u32 = 20_000;

/// What simulation shows of a test at a loss rate.
struct Seen {
    pass: f64,
    packets: f64,
    /// Mean height above the failing line at which tests fail, in units of the logarithm of the likelihood ratio.
    excess: f64,
}

/// Whether a number drawn from all 64-bit ones is a loss.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 2^64"
)]
fn threshold(p: f64) -> u64 {
    (p * 2_f64.powi(64)) as u64
}

fn simulate(sprt: &Sprt, p: f64, seed: u64) -> Seen {
    let mut random = SplitMix64::new(seed);
    let lost = threshold(p);
    let asked = sprt.hypotheses();
    let weight = (asked.p1 / asked.p0).ln() + (-asked.p0).ln_1p() - (-asked.p1).ln_1p();
    let (mut passed, mut packets, mut excess) = (0_u32, 0_u64, 0.0);
    for _ in 0..STREAMS {
        let (mut n, mut m) = (0, 0);
        let decision = loop {
            n += 1;
            m += u64::from(random.draw() < lost);
            match sprt.decide(n, m) {
                Decision::Continue => {}
                end => break end,
            }
        };
        packets += n;
        if decision == Decision::Accept {
            passed += 1;
        } else {
            excess += (m as f64 - sprt.fail_line(n)) * weight;
        }
    }
    let failed = STREAMS - passed;
    Seen {
        pass: f64::from(passed) / f64::from(STREAMS),
        packets: packets as f64 / f64::from(STREAMS),
        excess: excess / f64::from(failed.max(1)),
    }
}

/// Three standard errors of a share.
fn noise(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / f64::from(STREAMS)).sqrt()
}

/// Holds mbm/hypotheses.
#[test]
fn errors_are_at_most_those_asked_for() {
    for (alpha, beta) in [(0.05, 0.05), (0.01, 0.10), (0.10, 0.02)] {
        let asked = Hypotheses::for_run_length(363, alpha, beta);
        let sprt = Sprt::new(asked).unwrap();
        let (good, bad) = (simulate(&sprt, asked.p0, 1), simulate(&sprt, asked.p1, 2));
        println!(
            "alpha {alpha} beta {beta}: P(FAIL|p0) {:.4}, P(PASS|p1) {:.4}",
            1.0 - good.pass,
            bad.pass
        );
        assert!(
            1.0 - good.pass <= alpha + noise(alpha),
            "{}",
            1.0 - good.pass
        );
        assert!(bad.pass <= beta + noise(beta), "{}", bad.pass);
        for (seen, p) in [(good, asked.p0), (bad, asked.p1)] {
            let exact = Expectation::exact(&sprt, p).unwrap();
            assert!(
                (seen.pass - exact.pass).abs() < noise(exact.pass),
                "{} {exact:?}",
                seen.pass
            );
        }
    }
}

#[test]
fn the_sample_number_is_walds_where_jumps_are_small() {
    let asked = Hypotheses {
        p0: 0.10,
        p1: 0.12,
        alpha: 0.05,
        beta: 0.05,
    };
    let sprt = Sprt::new(asked).unwrap();
    for p in [0.10, 0.11, 0.12] {
        let (seen, wald) = (simulate(&sprt, p, 3), Expectation::wald(&sprt, p).unwrap());
        println!(
            "p {p}: {:.1} packets, Wald {:.1} ({:+.2} %)",
            seen.packets,
            wald.packets,
            100.0 * (seen.packets / wald.packets - 1.0)
        );
        assert!((seen.packets / wald.packets - 1.0).abs() < 0.05, "{p}");
        assert!((seen.pass - wald.pass).abs() < 0.02, "{p}");
    }
}

/// With the ratio of 4 that RFC 8337 asks for, one loss is 1.39 of the 2.94 up to the failing line. Wald's closed form is
/// within 5 % at `p0` and not at `p1`; the exact reckoning is everywhere, and so is his identity once the excess is counted.
#[test]
fn the_sample_number_with_the_ratio_of_four_is_the_exact_one() {
    let asked = Hypotheses::for_run_length(363, 0.05, 0.05);
    let sprt = Sprt::new(asked).unwrap();
    let (loss, good) = (
        (asked.p1 / asked.p0).ln(),
        (-asked.p1).ln_1p() - (-asked.p0).ln_1p(),
    );
    for (p, allowed) in [(asked.p0, 0.05), (2.0 * asked.p0, 0.25), (asked.p1, 0.30)] {
        let seen = simulate(&sprt, p, 4);
        let (wald, exact) = (
            Expectation::wald(&sprt, p).unwrap(),
            Expectation::exact(&sprt, p).unwrap(),
        );
        println!(
            "p {:.1} p0: {:.1} packets, Wald {:.1}, exact {:.1}, excess {:.3}",
            p / asked.p0,
            seen.packets,
            wald.packets,
            exact.packets,
            seen.excess
        );
        assert!(
            (seen.packets / exact.packets - 1.0).abs() < 0.02,
            "{p} {exact:?}"
        );
        assert!(
            (seen.packets / wald.packets - 1.0).abs() < allowed,
            "{p} {wald:?}"
        );
        let drift = p * loss + (1.0 - p) * good;
        let end = (1.0 - seen.pass) * (19_f64.ln() + seen.excess) - seen.pass * 19_f64.ln();
        assert!(
            (end / drift / seen.packets - 1.0).abs() < 0.05,
            "{p}: {}",
            end / drift
        );
    }
}
