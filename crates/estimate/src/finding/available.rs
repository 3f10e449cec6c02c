//! What estimators of the available bandwidth found.

use super::mbps;
use probe::riders::Competing;
use probe::spread::Spread;
use probe::{chirp, harvest, pathload, yaz};
use schema::estimate::Finding;
use serde_json::{Value, json};

/// What the edges of a range say where the range could not be left.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Edge {
    Within,
    AtLeast,
    AtMost,
}

/// A range whose end is more than so many times its beginning is no answer.
const WIDEST: f64 = 3.0;

/// By pathload: less what its last fleet was spared by riders, and wider by the uncertainty of that.
pub(in super::super) fn of_pathload(estimate: &pathload::Estimate) -> Finding {
    use pathload::Outcome;
    let found = [estimate.low_bps, estimate.high_bps];
    let [low, high] = estimate.competing.beside(found).map(mbps);
    let range = format!("{low:.2} to {high:.2} Mbit/s");
    let (conclusive, says) = match estimate.outcome {
        Outcome::Conclusive => (true, format!("{range} are available")),
        Outcome::Grey if high > WIDEST * low => (
            false,
            format!("what is available varied too much for a figure: {range}"),
        ),
        Outcome::Grey => (
            true,
            format!("what is available varied while it was measured: {range}"),
        ),
        Outcome::AtLeast => (false, at_least(low)),
        Outcome::Unfinished => (
            false,
            format!("streams contradicted each other; {range} were not excluded"),
        ),
        Outcome::Starved if estimate.high_bps.is_finite() => {
            (false, format!("{TOO_LITTLE}; {range} were not excluded"))
        }
        Outcome::Starved if low > 0.0 => (false, format!("{TOO_LITTLE}; at least {low:.2} Mbit/s")),
        Outcome::Starved => (false, TOO_LITTLE.to_owned()),
        Outcome::Untimed => (false, UNTIMED.to_owned()),
    };
    let edge = match estimate.outcome {
        Outcome::AtLeast => Edge::AtLeast,
        Outcome::Starved if estimate.high_bps.is_infinite() => Edge::AtLeast,
        _ => Edge::Within,
    };
    let known = estimate.outcome != Outcome::Untimed && (high.is_finite() || low > 0.0);
    let figures = |[low, high]: [f64; 2]| {
        let middle = if high.is_finite() {
            f64::midpoint(low, high)
        } else {
            low
        };
        known.then_some([middle, low, high])
    };
    let raw = figures(found.map(mbps));
    let figures = figures([low, high]);
    let mut finding = with(figures, edge, conclusive, says);
    finding.details = json!({
        "streams": estimate.streams,
        "grey_mbps": estimate.grey_bps.map(|grey| grey.map(mbps)),
    });
    tell(&mut finding, estimate.competing, raw);
    finding
}

/// By what applications sent.
pub(in super::super) fn of_harvest(estimate: &harvest::Estimate) -> Finding {
    use harvest::Outcome;
    let [low, high] = [estimate.low_bps, estimate.high_bps].map(|bps| bps.map(mbps));
    let bound = |bound: Option<f64>| bound.unwrap_or(0.0);
    let range = format!("{:.2} to {:.2} Mbit/s", bound(low), bound(high));
    let says = match estimate.outcome {
        Outcome::Conclusive => format!("{range} are available, with what applications send"),
        Outcome::Between => format!("{range} are available: nothing was sent at a rate between"),
        Outcome::Varying => format!("bursts contradicted each other between {range}"),
        Outcome::AtLeast => {
            let low = bound(low);
            format!("at least {low:.2} Mbit/s: applications sent no faster, or seldom")
        }
        Outcome::AtMost => {
            let high = bound(high);
            format!("at most {high:.2} Mbit/s: every burst was faster than what is available")
        }
        Outcome::Nothing => TOO_LITTLE.to_owned(),
    };
    let value = match (low, high) {
        (Some(low), Some(high)) => Some(f64::midpoint(low, high)),
        (low, high) => low.or(high),
    };
    Finding {
        value,
        low,
        high,
        conclusive: estimate.outcome == Outcome::Conclusive,
        says,
        details: json!({
            "trains": estimate.trains,
            "judged": estimate.judged,
            "rising": estimate.rising,
            "rates_mbps": estimate.rates_bps.map(|rates| rates.map(mbps)),
        }),
    }
}

/// By chirps.
pub(in super::super) fn of_chirp(estimate: &chirp::Estimate) -> Finding {
    use chirp::Outcome;
    let figures = spread(estimate.available, estimate.competing);
    let (conclusive, edge, says) = match estimate.outcome {
        Outcome::Conclusive => (true, Edge::Within, mean(figures)),
        Outcome::AtLeast => (false, Edge::AtLeast, at_least(value(figures))),
        Outcome::AtMost => (false, Edge::AtMost, at_most(value(figures))),
        Outcome::TooFewArrivals => (false, Edge::Within, LOST.to_owned()),
        Outcome::Unfinished => (false, Edge::Within, MORE_TIME.to_owned()),
        Outcome::Untimed => (false, Edge::Within, UNTIMED.to_owned()),
    };
    let history = estimate.history.iter().map(|second| mbps(second.value_bps));
    let mut finding = with(figures, edge, conclusive, says);
    finding.details = json!({ "history_mbps": history.collect::<Vec<_>>() });
    tell(
        &mut finding,
        estimate.competing,
        spread(estimate.available, Competing::default()),
    );
    finding.details["chirps"] = json!(estimate.chirps);
    finding
}

/// By yaz.
pub(in super::super) fn of_yaz(estimate: &yaz::Estimate) -> Finding {
    use yaz::Outcome;
    let figures = spread(estimate.available, estimate.competing);
    let (conclusive, edge, says) = match estimate.outcome {
        Outcome::Conclusive => (true, Edge::Within, mean(figures)),
        Outcome::Varying => (
            false,
            Edge::Within,
            "estimates did not agree: what is available varies".to_owned(),
        ),
        Outcome::AtLeast => (false, Edge::AtLeast, at_least(value(figures))),
        Outcome::AtMost => (false, Edge::AtMost, at_most(value(figures))),
        Outcome::TooFewArrivals => (false, Edge::Within, LOST.to_owned()),
        Outcome::Unfinished => (false, Edge::Within, MORE_TIME.to_owned()),
    };
    let history = estimate.history.iter().map(|moment| mbps(moment.value_bps));
    let mut finding = with(figures, edge, conclusive, says);
    finding.details = json!({ "history_mbps": history.collect::<Vec<_>>() });
    tell(
        &mut finding,
        estimate.competing,
        spread(estimate.available, Competing::default()),
    );
    finding.details["streams"] = json!(estimate.streams);
    finding
}

const UNTIMED: &str = "the sender could not keep its gaps - use a host that does less";
const TOO_LITTLE: &str = "applications sent too few bursts, or too slow ones, to tell";
const LOST: &str = "too many probes were lost to tell anything";
const MORE_TIME: &str = "there was no time for an estimate - give it more with --duration";

fn at_least(mbps: f64) -> String {
    format!("at least {mbps:.2} Mbit/s, about the fastest that was sent - see --most")
}

fn at_most(mbps: f64) -> String {
    format!("at most {mbps:.2} Mbit/s, about the slowest that was sent")
}

fn mean(figures: Option<[f64; 3]>) -> String {
    format!("about {:.2} Mbit/s are available", value(figures))
}

fn value(figures: Option<[f64; 3]>) -> f64 {
    figures.map_or(0.0, |figures| figures[0])
}

fn spread(spread: Option<Spread>, competing: Competing) -> Option<[f64; 3]> {
    let Spread {
        value_bps,
        low_bps,
        high_bps,
    } = spread?;
    let [low_bps, high_bps] = competing.beside([low_bps, high_bps]);
    let value_bps = (value_bps - competing.spared_bps).max(0.0);
    Some([value_bps, low_bps, high_bps].map(mbps))
}

fn with(figures: Option<[f64; 3]>, edge: Edge, conclusive: bool, says: String) -> Finding {
    let figure = |index: usize| figures.map(|figures| figures[index]);
    Finding {
        value: figure(0),
        low: figure(1).filter(|_| edge != Edge::AtMost),
        high: figure(2).filter(|_| edge != Edge::AtLeast),
        conclusive,
        says,
        details: Value::Null,
    }
}

/// The three rates of riders, the last of which was subtracted, by how much that may be off, and what was found before.
fn tell(finding: &mut Finding, competing: Competing, raw: Option<[f64; 3]>) {
    finding.details["competing_mbps"] = json!([competing.last_bps, competing.mean_bps].map(mbps));
    finding.details["spared_mbps"] = json!(mbps(competing.spared_bps));
    finding.details["spared_within_mbps"] = json!(mbps(competing.error_bps));
    let raw = raw.filter(|_| competing.spared_bps > 0.0);
    let finite = |mbps: f64| mbps.is_finite().then_some(mbps);
    finding.details["uncorrected"] =
        json!(raw.map(|raw| json!({ "value": raw[0], "low": raw[1], "high": finite(raw[2]) })));
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::{harvest, pathload};

    #[test]
    fn one_bound_is_told_as_one_and_not_believed() {
        use harvest::Outcome::{AtLeast, AtMost, Conclusive, Nothing};
        let estimate = |outcome, low_bps, high_bps| harvest::Estimate {
            outcome,
            low_bps,
            high_bps,
            trains: 30,
            judged: 20,
            rising: 20,
            rates_bps: None,
            octets: 1,
        };
        let told = |estimate| {
            let found = of_harvest(&estimate);
            (found.value, found.low, found.high, found.conclusive)
        };
        let at_most = estimate(AtMost, None, Some(9e6));
        assert_eq!(told(at_most), (Some(9.0), None, Some(9.0), false));
        let at_least = estimate(AtLeast, Some(4e6), None);
        assert_eq!(told(at_least), (Some(4.0), Some(4.0), None, false));
        let both = estimate(Conclusive, Some(8e6), Some(9e6));
        assert_eq!(told(both), (Some(8.5), Some(8.0), Some(9.0), true));
        assert_eq!(
            told(estimate(Nothing, None, None)),
            (None, None, None, false)
        );
    }

    #[test]
    fn a_grey_range_is_believed_unless_it_is_wide_or_riders_made_it_so() {
        let told = |low_bps, high_bps, spared_bps| {
            let found = of_pathload(&pathload::Estimate {
                outcome: pathload::Outcome::Grey,
                low_bps,
                high_bps,
                grey_bps: Some([low_bps, high_bps]),
                competing: Competing {
                    spared_bps,
                    ..Competing::default()
                },
                streams: 100,
                octets: 1,
            });
            (found.low, found.high, found.conclusive)
        };
        assert_eq!(told(3e6, 8e6, 0.0), (Some(3.0), Some(8.0), true));
        assert_eq!(told(2e6, 8e6, 0.0), (Some(2.0), Some(8.0), false));
        assert_eq!(told(3e6, 8e6, 3e6), (Some(0.0), Some(5.0), false));
    }

    #[test]
    fn streams_that_starved_tell_what_was_not_excluded() {
        let told = |low_bps, high_bps| {
            let found = of_pathload(&pathload::Estimate {
                outcome: pathload::Outcome::Starved,
                low_bps,
                high_bps,
                grey_bps: None,
                competing: Competing::default(),
                streams: 100,
                octets: 1,
            });
            assert!(!found.conclusive && found.says.contains("too few bursts"));
            (found.value, found.low, found.high)
        };
        assert_eq!(told(0.0, f64::INFINITY), (None, None, None));
        assert_eq!(told(4e6, f64::INFINITY), (Some(4.0), Some(4.0), None));
        assert_eq!(told(4e6, 6e6), (Some(5.0), Some(4.0), Some(6.0)));
    }
}
