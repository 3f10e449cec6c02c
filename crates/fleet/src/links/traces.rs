//! Path traces, as runs of `rrul` and `estimate bottleneck` have them.

use crate::outcome::{Became, Outcome};
use crate::{Name, RunId};
use schema::rrul::{PathFigures, Trace};
use serde::Deserialize;
use std::net::IpAddr;

/// Hops of a trace that are looked at.
const MOST_HOPS: usize = 64;

/// A path as the host at its beginning saw it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traced {
    /// Where it begins, and where it ends.
    pub(crate) ends: [Name; 2],
    /// The routers that answered with their numbers as hops, from near to far; the host at its end is not among them.
    pub(crate) routers: Vec<(u8, IpAddr)>,
    pub(crate) rise: Option<Rise>,
}

/// Where delay under load begins to rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rise {
    /// The first hop behind the queue.
    pub(crate) at: IpAddr,
    /// By how much more than at the hop before it.
    pub(crate) ms: f64,
}

/// A hop that answered.
struct Hop {
    number: u8,
    address: IpAddr,
    /// By how much its median round trip is longer under load; nothing where it answered too seldom.
    rise_ms: Option<f64>,
}

/// The traces that a run has: of its path, and with `rrul` of the way back. A machine that was too busy knows the routers all the same, but
/// not who was late.
pub(crate) fn traces(outcome: &Outcome) -> Vec<Traced> {
    if !matches!(outcome.status, Became::Complete | Became::Invalid) {
        return Vec::new();
    }
    let RunId { from, to, .. } = &outcome.run;
    let there = [from.clone(), to.clone()];
    let back = [to.clone(), from.clone()];
    let mut traced = match outcome.test.as_deref() {
        Some("rrul") => {
            let path = outcome.summary.get("bottleneck");
            let path = path.and_then(|path| PathFigures::deserialize(path).ok());
            let path = path.unwrap_or_default();
            vec![of_rrul(there, &path.up), of_rrul(back, &path.down)]
        }
        Some("estimate") => Vec::from_iter(of_estimate(there, &outcome.summary)),
        _ => Vec::new(),
    };
    traced.retain(|trace| !trace.routers.is_empty());
    if outcome.status == Became::Invalid {
        for trace in &mut traced {
            trace.rise = None;
        }
    }
    traced
}

fn of_rrul(ends: [Name; 2], trace: &Trace) -> Traced {
    let hops = trace.hops.iter().filter(|hop| !hop.is_end).take(MOST_HOPS);
    let hops = hops.filter_map(|hop| {
        Some(Hop {
            number: hop.hop,
            address: hop.address.as_ref()?.parse().ok()?,
            rise_ms: hop
                .loaded_ms
                .zip(hop.idle_ms)
                .map(|(loaded, idle)| loaded - idle),
        })
    });
    traced(ends, hops.collect(), trace.hop)
}

/// What `estimate bottleneck` says of the hops; see docs/output.md.
#[derive(Deserialize)]
struct Details {
    end_hop: Option<u8>,
    hops: Vec<Told>,
}

#[derive(Deserialize)]
struct Told {
    hop: u8,
    address: Option<IpAddr>,
    rise_ms: Option<f64>,
}

fn of_estimate(ends: [Name; 2], summary: &serde_json::Value) -> Option<Traced> {
    if summary.get("estimator")?.as_str()? != "hops" {
        return None;
    }
    let details = Details::deserialize(summary.get("details")?).ok()?;
    let is_router = |told: &&Told| details.end_hop.is_none_or(|end| told.hop < end);
    let hops = details.hops.iter().filter(is_router).take(MOST_HOPS);
    let hops = hops.filter_map(|told| {
        Some(Hop {
            number: told.hop,
            address: told.address?,
            rise_ms: told.rise_ms,
        })
    });
    let is_conclusive = summary.get("conclusive")?.as_bool()?;
    let found = summary.get("value")?.as_f64().filter(|_| is_conclusive);
    let first = found.and_then(|found| (1..=u8::MAX).find(|hop| f64::from(*hop) >= found));
    Some(traced(ends, hops.collect(), first))
}

/// The trace of these hops, of which delay rises first at `first`. If the one before it has answered too seldom, the queue may be before
/// that one as well, and nothing is said of it.
fn traced(ends: [Name; 2], mut hops: Vec<Hop>, first: Option<u8>) -> Traced {
    hops.sort_by_key(|hop| hop.number);
    hops.dedup_by_key(|hop| hop.number);
    let hop = |number: u8| hops.iter().find(|hop| hop.number == number);
    let rise = first.and_then(|first| {
        let (here, before) = (hop(first)?, hop(first.checked_sub(1)?)?);
        Some(Rise {
            at: here.address,
            ms: here.rise_ms? - before.rise_ms?,
        })
    });
    Traced {
        ends,
        rise: rise.filter(|rise| rise.ms.is_finite()),
        routers: hops.iter().map(|hop| (hop.number, hop.address)).collect(),
    }
}
