//! What the counters of a lab say of the property that was asked for.
//!
//! Only what they really tell is told. The **capacity** is the least of the configured rates on the way. What is **available** is
//! the least of what is left of them, where the counters know all that was on the links: nothing is told of a link with traffic of
//! its own making, whose counters do not count it, nor of one whose rate changes. Of links with other traffic it is a mean over the
//! run; an estimator that saw another part of it may differ and be right.

use crate::number::short;
use record::Run;
use schema::LinkTruth;
use schema::estimate::Summary;
use schema::estimate::plan::What;
use serde::Serialize;
use serde_json::Value;

/// Others that carried less than this share of a link's rate were not there: acknowledgements, and the talk of the two ends.
const NOBODY: f64 = 0.02;

/// The truth, in the unit of the answer.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Truth {
    value: f64,
    /// Where it is from.
    says: String,
}

impl Truth {
    /// Of a run whose probes went `way`; `None` where the counters do not tell it.
    pub(super) fn of(run: &Run, summary: &Summary, way: &str) -> Option<Self> {
        let booked = summary.links.as_slice();
        let is_known = is_chain(booked) && went(booked, way);
        let rated: Vec<(&LinkTruth, f64)> = booked
            .iter()
            .filter(|link| link.direction == way)
            .filter_map(|link| Some((link, link.rate_mbps?)))
            .collect();
        let stages = |link: &LinkTruth| stages(run, &link.link, way);
        let is_fixed =
            |link: &LinkTruth| stages(link).is_some_and(|stages| has_fixed_rate(&stages));
        if !is_known || !rated.iter().all(|(link, _)| is_fixed(link)) {
            return None;
        }
        match summary.what {
            What::Capacity => least(rated.iter().map(|(link, rate)| capacity(link, *rate))),
            What::Available => {
                let is_shared = |link: &LinkTruth| stages(link).is_none_or(|all| has_cross(&all));
                let is_shared = rated.iter().any(|(link, _)| is_shared(link));
                let own = own_mbps(summary).filter(|_| !is_shared)?;
                least(rated.iter().map(|(link, rate)| left(link, *rate, own)))
            }
            _ => None,
        }
    }
}

fn least(all: impl Iterator<Item = Truth>) -> Option<Truth> {
    all.min_by(|one, other| one.value.total_cmp(&other.value))
}

fn capacity(link: &LinkTruth, rate: f64) -> Truth {
    Truth {
        value: short(rate),
        says: format!("the rate of {}", link.link),
    }
}

fn left(link: &LinkTruth, rate: f64, own_mbps: f64) -> Truth {
    let others = (link.carried_mbps - own_mbps).max(0.0);
    if others < NOBODY * rate {
        return Truth {
            says: format!("the rate of {}, which carried nothing else", link.link),
            ..capacity(link, rate)
        };
    }
    Truth {
        value: short((rate - others).max(0.0)),
        says: format!(
            "the rate of {}, {} Mbit/s, less {} Mbit/s that others sent over it (mean over the run)",
            link.link,
            short(rate),
            short(others)
        ),
    }
}

/// What probing itself put on each link: what was lost on the way is not on the links behind.
fn own_mbps(summary: &Summary) -> Option<f64> {
    let octets = (summary.overhead_bytes + summary.rider_bytes) as f64;
    let arrived = 1.0 - summary.probes_lost as f64 / summary.probes.max(1) as f64;
    (summary.seconds > 0.0).then(|| octets * arrived * 8e-6 / summary.seconds)
}

/// Whether the links are one way from end to end, all of them in the same sense.
fn is_chain(booked: &[LinkTruth]) -> bool {
    let links = booked.iter().filter(|link| link.direction == "up");
    let ends: Option<Vec<(&str, &str)>> = links.map(|link| link.link.split_once('-')).collect();
    let Some(ends) = ends.filter(|ends| !ends.is_empty()) else {
        return false;
    };
    let next = |from: &str| {
        let mut next = ends.iter().filter(|(a, _)| *a == from);
        next.next().filter(|_| next.next().is_none())
    };
    let starts = ends
        .iter()
        .filter(|(a, _)| ends.iter().all(|(_, b)| a != b));
    let Some((start, _)) = starts.into_iter().next() else {
        return false;
    };
    let way = std::iter::successors(next(start), |(_, to)| next(to));
    way.take(ends.len() + 1).count() == ends.len()
}

/// Whether the links carried more this way than the other: the client is where `up` begins.
fn went(booked: &[LinkTruth], way: &str) -> bool {
    let carried = |wanted: bool| {
        let links = booked.iter();
        let links = links.filter(|link| (link.direction == way) == wanted);
        links.map(|link| link.carried_mbps).sum::<f64>()
    };
    carried(true) > carried(false)
}

/// What packets meet on a link this way, as the topology describes it.
fn stages(run: &Run, link: &str, way: &str) -> Option<Vec<Value>> {
    let lab = run.path.lab.as_ref()?;
    let link = lab.links.iter().find(|one| one.name == link)?;
    let stages = if way == "up" { &link.up } else { &link.down };
    stages.as_array().cloned()
}

fn has_fixed_rate(stages: &[Value]) -> bool {
    let rated: Vec<&Value> = stages.iter().filter(|s| !s["rate"].is_null()).collect();
    matches!(rated.as_slice(), [only] if only["kind"] == "rate")
}

fn has_cross(stages: &[Value]) -> bool {
    stages.iter().any(|stage| !stage["cross"].is_null())
}
