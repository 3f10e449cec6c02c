//! Where on the path delay under load begins.

use super::view::View;
use probe::hops::{self, Phase, Row};
use schema::rrul::{HopFigures, PathFigures, Trace};
use std::net::IpAddr;

impl View<'_> {
    pub(super) fn path(&self) -> Option<PathFigures> {
        let [up, down] = ["up", "down"].map(|direction| hops::Trace::of(&self.rows(direction)));
        if up.is_none() && down.is_none() {
            return None;
        }
        let link = up
            .as_ref()
            .zip(down.as_ref())
            .and_then(|(up, down)| hops::between(up, down));
        let name = |address: Option<IpAddr>, end: &str| {
            address.map_or_else(|| end.to_owned(), |address| address.to_string())
        };
        Some(PathFigures {
            between: link.map(|link| [name(link.near, "the client"), name(link.far, "the server")]),
            up: up.as_ref().map(figures).unwrap_or_default(),
            down: down.as_ref().map(figures).unwrap_or_default(),
        })
    }

    fn rows(&self, direction: &str) -> Vec<Row> {
        let phase = |t_ns: u64| {
            if self.idle.contains(&t_ns) {
                return Some(Phase::Idle);
            }
            self.loaded.contains(&t_ns).then_some(Phase::Loaded)
        };
        let rows = self.tables.hops.iter();
        rows.filter(|hop| hop.direction == direction)
            .filter_map(|hop| {
                Some(Row {
                    ttl: hop.ttl,
                    address: hop.address.as_deref().and_then(|text| text.parse().ok()),
                    phase: phase(hop.t_ns)?,
                    rtt_ns: hop.rtt_ns,
                    is_end: hop.is_end,
                })
            })
            .collect()
    }
}

fn figures(trace: &hops::Trace) -> Trace {
    let found = trace.finding.bottleneck();
    let median = |answers: &hops::Answers| answers.rtt_ms.map(|rtt| rtt.p50);
    let hops = trace.hops.iter().map(|hop| HopFigures {
        hop: hop.ttl,
        is_end: trace.end == Some(hop.ttl),
        address: hop.address.map(|address| address.to_string()),
        answered_idle_pct: hop.idle.answered_pct(),
        answered_loaded_pct: hop.loaded.answered_pct(),
        idle_ms: median(&hop.idle),
        loaded_ms: median(&hop.loaded),
    });
    Trace {
        hop: found.map(|found| found.hop),
        rise_ms: found.map(|found| found.rise_ms),
        hops: hops.collect(),
    }
}
