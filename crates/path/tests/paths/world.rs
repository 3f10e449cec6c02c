//! Virtual time for an element: packets in, packets out.

use isobath_path::{Assigned, Element, Error, Family, Packet, Pipeline, Spec};
use std::collections::VecDeque;
use units::{Dscp, Ecn, FlowId, Instant};

/// A trace with uneven gaps for paths that name one.
pub(crate) const TRACE: &str = "0\n1\n1\n4\n9\n9\n9\n15\n";

/// Packet number `id`.
pub(crate) fn packet(id: u64, flow: u64, size: u32, at: Instant) -> Packet<u64> {
    Packet {
        size,
        flow: FlowId(flow),
        family: Family::V4,
        dscp: Dscp::CS0,
        ecn: Ecn::NotEct,
        at,
        body: id,
    }
}

/// The path written as TOML: `[{ kind = "delay", delay = "1ms" }]`.
pub(crate) fn spec(toml: &str) -> Spec {
    #[derive(serde::Deserialize)]
    struct Topology {
        path: Spec,
    }
    let topology: Topology = toml::from_str(&format!("path = {toml}")).unwrap();
    topology.path
}

pub(crate) fn build(spec: &Spec, seed: u64) -> Result<Pipeline<u64>, Error> {
    spec.build(seed, &|_| Ok(TRACE.to_owned()), &Assigned::default())
}

/// Sends `arrivals` through `element`, which is called whenever it asks to be: all departures.
pub(crate) fn run(
    element: &mut impl Element<u64>,
    arrivals: impl IntoIterator<Item = Packet<u64>>,
) -> Vec<Packet<u64>> {
    let mut out = VecDeque::new();
    let mut wake = None;
    for packet in arrivals {
        let at = packet.at;
        while let Some(due) = wake.filter(|due| *due < at) {
            wake = element.process(None, due, &mut out);
        }
        wake = element.process(Some(packet), at, &mut out);
    }
    finish(element, wake, &mut out);
    out.into()
}

/// Sends `arrivals` through `element`, which is called between them only when `is_called` says so,
/// however late that is.
pub(crate) fn run_late(
    element: &mut impl Element<u64>,
    arrivals: impl IntoIterator<Item = Packet<u64>>,
    mut is_called: impl FnMut() -> bool,
    mut check: impl FnMut(&dyn Element<u64>),
) -> Vec<Packet<u64>> {
    let mut out = VecDeque::new();
    let mut wake = None;
    let mut before = Instant::ZERO;
    for packet in arrivals {
        let at = packet.at;
        if is_called() {
            let between = Instant::from_nanos(u64::midpoint(before.as_nanos(), at.as_nanos()));
            element.process(None, between, &mut out);
        }
        if is_called() {
            element.process(None, at, &mut out);
        }
        wake = element.process(Some(packet), at, &mut out);
        check(element);
        before = at;
    }
    finish(element, wake, &mut out);
    check(element);
    out.into()
}

fn finish(
    element: &mut impl Element<u64>,
    mut wake: Option<Instant>,
    out: &mut VecDeque<Packet<u64>>,
) {
    while let Some(due) = wake {
        wake = element.process(None, due, out);
        assert!(wake.is_none_or(|next| next > due), "asked twice for {due}");
    }
}
