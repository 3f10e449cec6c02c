//! The two lines of the sequential test (RFC 8337 section 7.2).

use crate::number::short;
use serde::{Deserialize, Serialize};

/// What was asked of the losses, as the record has it.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Hypotheses {
    p0: f64,
    p1: f64,
    alpha: f64,
    beta: f64,
}

/// Two parallel lines: `marks_per_packet n - below` passes, `marks_per_packet n + above` fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Lines {
    marks_per_packet: f64,
    below: f64,
    above: f64,
}

impl Lines {
    /// `None` when the hypotheses cannot be told apart.
    pub(super) fn of(asked: &Hypotheses) -> Option<Self> {
        let Hypotheses {
            p0,
            p1,
            alpha,
            beta,
        } = *asked;
        let good = (-p0).ln_1p() - (-p1).ln_1p();
        let k = (p1 / p0).ln() + good;
        let lines = Self {
            marks_per_packet: good / k,
            below: short(((1.0 - alpha) / beta).ln() / k),
            above: short(((1.0 - beta) / alpha).ln() / k),
        };
        let all = [lines.marks_per_packet, lines.below, lines.above];
        all.iter()
            .all(|x| x.is_finite() && *x > 0.0)
            .then_some(lines)
    }
}

/// The way of a test through packets, and losses and marks.
#[derive(Serialize)]
pub(super) struct Walk {
    packets: Vec<u64>,
    marks: Vec<u64>,
    /// Null when the record does not say what was asked of the losses.
    lines: Option<Lines>,
    /// Fewest packets that would have passed.
    least_packets: Option<u64>,
}

#[derive(Deserialize)]
struct Point {
    n: u64,
    m: u64,
}

impl Walk {
    /// Of the figures of a test; `None` for one that its losses do not decide.
    pub(super) fn of(figures: &serde_json::Value) -> Option<Self> {
        let points: Vec<Point> = super::piece(&figures["walk"]["points"])?;
        let asked: Option<Hypotheses> = super::piece(&figures["hypotheses"]);
        Some(Self {
            packets: points.iter().map(|point| point.n).collect(),
            marks: points.iter().map(|point| point.m).collect(),
            lines: asked.as_ref().and_then(Lines::of),
            least_packets: figures["least_packets"].as_u64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(p0: f64, p1: f64) -> Hypotheses {
        Hypotheses {
            p0,
            p1,
            alpha: 0.05,
            beta: 0.05,
        }
    }

    #[test]
    fn the_lines_are_those_of_the_rfc() {
        // The example of RFC 8337 section 9: a run length of 363 packets.
        let lines = Lines::of(&asked(1.0 / 363.0, 4.0 / 363.0)).unwrap();
        assert!(
            (lines.below - 2.111_4).abs() < 1e-3,
            "{lines:?}: ln 19 over k, k = ln 4 and a little"
        );
        assert!(lines.above.to_bits() == lines.below.to_bits(), "{lines:?}");
        let least = lines.below / lines.marks_per_packet;
        assert!((350.0..360.0).contains(&least), "{least}");
    }

    #[test]
    fn what_cannot_be_told_apart_has_no_lines() {
        for (p0, p1) in [(0.0, 0.1), (0.1, 0.1), (0.2, 1.0), (f64::NAN, 0.1)] {
            assert_eq!(Lines::of(&asked(p0, p1)), None, "{p0} {p1}");
        }
    }
}
