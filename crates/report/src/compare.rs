//! How runs differ, with how sure that is.
//!
//! Round trips that follow each other are alike: a full queue stays full for a while. Taken as independent they would
//! give intervals that are far too narrow. So each phase is cut into 20 blocks of equal length; the medians of the
//! blocks are nearly independent, and their spread tells how much the median of the phase would move if the phase were
//! measured again (the method of batch means; Law, *Simulation Modeling and Analysis*, section 9.5). Two runs are
//! compared by Welch's interval for the difference of the means of their block medians. Web page loads are one value a
//! block.
//!
//! An interval tells what one run is worth. What changes from run to run, such as other traffic on a real path, it
//! cannot tell; for that, measure several times.

use crate::distribution::{block_medians, sorted};
use crate::number::short;
use crate::phases::Phase;
use crate::view::RunView;
use crate::view::btc::Transfer;
use serde::Serialize;

/// Fewer blocks than this give no interval.
const FEWEST_BLOCKS: usize = 4;

/// Each run against the first.
#[derive(Serialize)]
pub(crate) struct Comparison {
    rows: Vec<Row>,
}

/// One figure over all runs.
#[derive(Serialize)]
struct Row {
    what: &'static str,
    unit: &'static str,
    /// Whether less is better.
    less_is_better: bool,
    /// By run; null where it was not measured.
    values: Vec<Option<f64>>,
    /// By run, against the first; null for the first, and where an interval cannot be given.
    differences: Vec<Option<Difference>>,
}

/// A difference and its 95 % confidence interval.
#[derive(Serialize)]
struct Difference {
    by: f64,
    low: f64,
    high: f64,
    /// The same in words.
    words: String,
}

struct What {
    name: &'static str,
    unit: &'static str,
    less_is_better: bool,
    blocks: fn(&RunView) -> Vec<f64>,
    value: fn(&RunView) -> Option<f64>,
}

const WHAT: &[What] = &[
    What {
        name: "UDP round trip, idle (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "udp_rr", Phase::Idle),
        value: |run| median(run, "udp_rr", Phase::Idle),
    },
    What {
        name: "UDP round trip, loaded (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "udp_rr", Phase::Loaded),
        value: |run| median(run, "udp_rr", Phase::Loaded),
    },
    What {
        name: "ICMP round trip, idle (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "icmp_rr", Phase::Idle),
        value: |run| median(run, "icmp_rr", Phase::Idle),
    },
    What {
        name: "ICMP round trip, loaded (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "icmp_rr", Phase::Loaded),
        value: |run| median(run, "icmp_rr", Phase::Loaded),
    },
    What {
        name: "TCP SYN round trip, idle (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "tcp_connect", Phase::Idle),
        value: |run| median(run, "tcp_connect", Phase::Idle),
    },
    What {
        name: "TCP SYN round trip, loaded (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "tcp_connect", Phase::Loaded),
        value: |run| median(run, "tcp_connect", Phase::Loaded),
    },
    What {
        name: "TCP round trip, loaded (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "tcp_rr", Phase::Loaded),
        value: |run| median(run, "tcp_rr", Phase::Loaded),
    },
    What {
        name: "VoIP one-way delay, loaded (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "voip", Phase::Loaded),
        value: |run| median(run, "voip", Phase::Loaded),
    },
    What {
        name: "DNS look-up, loaded (median)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| probes(run, "dns", Phase::Loaded),
        value: |run| median(run, "dns", Phase::Loaded),
    },
    What {
        name: "web page load, idle (mean)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| web(run, Phase::Idle),
        value: |run| mean(&web(run, Phase::Idle)),
    },
    What {
        name: "web page load, loaded (mean)",
        unit: "ms",
        less_is_better: true,
        blocks: |run| web(run, Phase::Loaded),
        value: |run| mean(&web(run, Phase::Loaded)),
    },
    What {
        name: "throughput down (mean)",
        unit: "Mbit/s",
        less_is_better: false,
        blocks: |run| rates(run, "down"),
        value: |run| mean(&rates(run, "down")),
    },
    What {
        name: "throughput up (mean)",
        unit: "Mbit/s",
        less_is_better: false,
        blocks: |run| rates(run, "up"),
        value: |run| mean(&rates(run, "up")),
    },
    What {
        name: "throughput of a bulk transfer (mean)",
        unit: "Mbit/s",
        less_is_better: false,
        blocks: |run| transfers(run, |one| one.throughput_mbps),
        value: |run| mean(&transfers(run, |one| one.throughput_mbps)),
    },
];

fn probes(run: &RunView, kind: &str, phase: Phase) -> Vec<f64> {
    block_medians(&run.probes.blocks(run.streams(), kind, phase))
}

/// The median of the whole phase, as the other figures of the page have it.
fn median(run: &RunView, kind: &str, phase: Phase) -> Option<f64> {
    let blocks = run.probes.blocks(run.streams(), kind, phase);
    stats::quantile(&sorted(&blocks), 0.5)
}

fn web(run: &RunView, phase: Phase) -> Vec<f64> {
    run.web
        .as_ref()
        .and_then(|web| web.times.get(&phase))
        .cloned()
        .unwrap_or_default()
}

/// A figure of each of our transfers.
fn transfers(run: &RunView, what: fn(&Transfer) -> Option<f64>) -> Vec<f64> {
    let all = run.btc.iter().flat_map(|btc| &btc.transfers);
    all.filter(|one| one.tool != "kernel")
        .filter_map(what)
        .collect()
}

fn rates(run: &RunView, direction: &str) -> Vec<f64> {
    run.tcp.blocks.get(direction).cloned().unwrap_or_default()
}

/// Compares `runs` with their first.
pub(crate) fn runs(runs: &[RunView]) -> Comparison {
    Comparison {
        rows: WHAT.iter().filter_map(|what| row(what, runs)).collect(),
    }
}

fn row(what: &What, runs: &[RunView]) -> Option<Row> {
    let blocks: Vec<Vec<f64>> = runs.iter().map(what.blocks).collect();
    let (base, others) = blocks.split_first()?;
    let differences = others.iter().map(|other| difference(base, other, what));
    let values: Vec<Option<f64>> = runs
        .iter()
        .map(|run| (what.value)(run).map(short))
        .collect();
    values.iter().any(Option::is_some).then(|| Row {
        what: what.name,
        unit: what.unit,
        less_is_better: what.less_is_better,
        values,
        differences: std::iter::once(None).chain(differences).collect(),
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn difference(base: &[f64], other: &[f64], what: &What) -> Option<Difference> {
    let (by, half) = welch(base, other)?;
    let (low, high) = (by - half, by + half);
    Some(Difference {
        by: short(by),
        low: short(low),
        high: short(high),
        words: words(low, high, what),
    })
}

fn words(low: f64, high: f64, what: &What) -> String {
    let unit = what.unit;
    let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    if low <= 0.0 && high >= 0.0 {
        return format!("no difference seen (within {} {unit})", figure(most));
    }
    let word = match (low > 0.0, what.less_is_better) {
        (true, true) => "longer",
        (false, true) => "shorter",
        (true, false) => "more",
        (false, false) => "less",
    };
    format!("{} to {} {unit} {word}", figure(least), figure(most))
}

fn figure(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// The difference of the means of two samples and half of its 95 % confidence interval (Welch 1947).
fn welch(base: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    if base.len().min(other.len()) < FEWEST_BLOCKS {
        return None;
    }
    let (mean_base, error_base) = mean_and_error(base)?;
    let (mean_other, error_other) = mean_and_error(other)?;
    let error = error_base + error_other;
    let freedom = if error > 0.0 {
        let part = |error: f64, n: usize| error.powi(2) / (n - 1) as f64;
        error.powi(2) / (part(error_base, base.len()) + part(error_other, other.len()))
    } else {
        1.0
    };
    Some((mean_other - mean_base, student_t(freedom) * error.sqrt()))
}

/// The mean and the square of its standard error.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = mean(values)?;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean, variance / n))
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom: from the table for 1 to 9, from there on by the
/// expansion in the normal quantile (Abramowitz and Stegun 26.7.5), right to three digits.
pub(crate) fn student_t(freedom: f64) -> f64 {
    const TABLE: [f64; 9] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
    ];
    const NORMAL: f64 = 1.959_964;
    if freedom < 10.0 {
        // The degrees of freedom of Welch are not whole; fewer are on the safe side.
        let most = (2..=9_u8).filter(|&k| f64::from(k) <= freedom).count();
        return TABLE[most];
    }
    let x = NORMAL;
    let g1 = (x.powi(3) + x) / 4.0;
    let g2 = (5.0 * x.powi(5) + 16.0 * x.powi(3) + 3.0 * x) / 96.0;
    let g3 = (3.0 * x.powi(7) + 19.0 * x.powi(5) + 17.0 * x.powi(3) - 15.0 * x) / 384.0;
    x + g1 / freedom + g2 / freedom.powi(2) + g3 / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: What = What {
        name: "",
        unit: "ms",
        less_is_better: true,
        blocks: |_| Vec::new(),
        value: |_| None,
    };

    #[test]
    fn students_t_is_that_of_the_tables() {
        for (freedom, expected) in [
            (1.0, 12.706),
            (4.0, 2.776),
            (5.0, 2.571),
            (10.0, 2.228),
            (38.0, 2.024),
            (1e6, 1.960),
        ] {
            assert!(
                (student_t(freedom) - expected).abs() < 2e-3,
                "{freedom}: {}",
                student_t(freedom)
            );
        }
    }

    /// `scipy.stats.ttest_ind(b, a, equal_var=False).confidence_interval()` of scipy 1.17 for these samples.
    #[test]
    fn intervals_are_welchs() {
        let a: Vec<f64> = (0..20_u8).map(|i| 20.0 + f64::from(i % 7)).collect();
        let b: Vec<f64> = (0..20_u8).map(|i| 25.0 + f64::from((i * 3) % 11)).collect();
        let (by, half) = welch(&a, &b).unwrap();
        assert!((by - 7.0).abs() < 1e-12);
        assert!((half - 1.766_68).abs() < 1e-3, "{half}");
    }

    #[test]
    fn differences_are_said_in_words() {
        assert_eq!(
            words(-1.0, 0.4, &LATENCY),
            "no difference seen (within 1.00 ms)"
        );
        assert_eq!(words(180.4, 190.6, &LATENCY), "180 to 191 ms longer");
        assert_eq!(words(-12.34, -2.5, &LATENCY), "2.50 to 12.3 ms shorter");
    }

    #[test]
    fn too_few_blocks_give_no_interval() {
        assert!(welch(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).is_none());
    }
}
