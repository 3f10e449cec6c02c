//! Where the queue is.

use probe::hops::{self, Hop, Trace};
use schema::estimate::Finding;
use serde_json::{Value, json};
use std::net::IpAddr;

/// From a trace before and under load.
pub(in super::super) fn of_trace(trace: Option<&Trace>) -> Finding {
    let Some(trace) = trace else {
        return Finding::none(
            "nobody answered: routers here do not say when a packet's hops are used up",
        );
    };
    let finding = match trace.finding {
        hops::Finding::Found(found) => {
            let hop = f64::from(found.hop);
            Finding {
                value: Some(hop),
                low: Some(f64::from(found.before_hop) + 1.0),
                high: Some(hop),
                conclusive: true,
                says: format!(
                    "packets wait in front of {}, behind {}: {:.1} ms longer under load",
                    found.at,
                    name(found.before),
                    found.rise_ms
                ),
                details: Value::Null,
            }
        }
        hops::Finding::TooFewAnswers => {
            Finding::none("too few routers answered, before the load or under it")
        }
        hops::Finding::NoRise { rise_ms, noise_ms } => Finding::none(format!(
            "no queue grew: {rise_ms:.1} ms under load, and {noise_ms:.1} ms is noise - the hosts, or --most, may be slower than the path"
        )),
    };
    Finding {
        details: json!({
            "end_hop": trace.end,
            "hops": trace.hops.iter().map(hop).collect::<Vec<_>>(),
        }),
        ..finding
    }
}

fn name(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "this host".to_owned(), |address| address.to_string())
}

fn hop(hop: &Hop) -> Value {
    json!({
        "hop": hop.ttl,
        "address": hop.address,
        "idle_ms": hop.idle.rtt_ms.map(|rtt| rtt.p50),
        "loaded_ms": hop.loaded.rtt_ms.map(|rtt| rtt.p50),
        "rise_ms": hop.rise_ms(),
    })
}
