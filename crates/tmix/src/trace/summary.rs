//! What came of captures, in figures and in lines.

use super::extract::Found;
use capture::dissect::Reason;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use vectors::extract::Count;

/// The summary of `isobath trace extract`.
pub fn summary(found: &Found) -> Value {
    let counters = &found.counters;
    let others = Reason::ALL.map(|reason| (name(reason), others(found, reason)));
    let mut not_tcp: Map<String, Value> = Map::from_iter([("udp".to_owned(), json!(found.udp))]);
    not_tcp.extend(others.map(|(name, count)| (name.to_owned(), json!(count))));
    json!({
        "packets": found.packets,
        "bytes": found.bytes,
        "connections": {
            "sequential": counters.sequential.connections,
            "concurrent": counters.concurrent.connections,
            "complete": counters.complete.connections,
            "incomplete": counters.incomplete.connections,
        },
        "kept": {
            "sequential": figures(counters.sequential),
            "concurrent": figures(counters.concurrent),
            "complete": figures(counters.complete),
            "incomplete": figures(counters.incomplete),
        },
        "discarded": {
            "no_data": figures(counters.no_data),
            "one_way": figures(counters.one_way),
        },
        "late": loose(counters.late),
        "refused": loose(counters.refused),
        "strange_packets": counters.strange,
        "udp": {
            "flows": counters.udp.exchange.connections + counters.udp.isochronous.connections,
            "exchange": flows(counters.udp.exchange),
            "isochronous": flows(counters.udp.isochronous),
            "one_way": flows(counters.udp.one_way),
            "no_data": flows(counters.udp.no_data),
            "refused": loose(counters.udp.refused),
            "most_open": found.most_flows,
        },
        "not_tcp": not_tcp,
        "most_open": found.most_open,
        "seconds": found.seconds,
        "packets_per_s": per_second(found),
    })
}

fn per_second(found: &Found) -> f64 {
    found.packets as f64 / found.seconds.max(1e-9)
}

fn figures(count: Count) -> Value {
    let Count {
        connections,
        packets,
        bytes,
    } = count;
    json!({ "connections": connections, "packets": packets, "bytes": bytes })
}

fn flows(count: Count) -> Value {
    json!({ "flows": count.connections, "packets": count.packets, "bytes": count.bytes })
}

/// Packets of no connection.
fn loose(count: Count) -> Value {
    json!({ "packets": count.packets, "bytes": count.bytes })
}

fn others(found: &Found, reason: Reason) -> u64 {
    found.others.get(&reason).copied().unwrap_or_default()
}

const fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::Link => "unknown_link",
        Reason::NotIp => "not_ip",
        Reason::Protocol => "other_protocol",
        Reason::Fragment => "fragment",
        Reason::Cut => "cut",
        Reason::Malformed => "malformed",
    }
}

/// The same for people.
pub fn scorecard(found: &Found) -> String {
    let counters = &found.counters;
    let mut card = String::new();
    let tcp = counters.all.packets;
    let rest = found.packets.saturating_sub(tcp + found.udp);
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(card, "{text}");
    };
    line(format!(
        "packets       {}: {tcp} of TCP, {} of UDP, {rest} others, {} octets",
        found.packets, found.udp, found.bytes
    ));
    for (name, count) in [
        ("sequential", counters.sequential),
        ("concurrent", counters.concurrent),
        ("complete", counters.complete),
        ("incomplete", counters.incomplete),
        ("no data", counters.no_data),
        ("one way", counters.one_way),
    ] {
        let Count {
            connections,
            packets,
            bytes,
        } = count;
        let kind = if matches!(name, "no data" | "one way") {
            "discarded"
        } else {
            "kept"
        };
        line(format!(
            "{name:<13} {connections} connections {kind}, {packets} packets, {bytes} octets"
        ));
    }
    for (name, count) in [
        ("exchanges", counters.udp.exchange),
        ("isochronous", counters.udp.isochronous),
    ] {
        if count.connections > 0 {
            line(format!(
                "{name:<13} {} flows of UDP kept, {} packets, {} octets",
                count.connections, count.packets, count.bytes
            ));
        }
    }
    let mut refused = counters.refused;
    refused += counters.udp.refused;
    for (name, count) in [("late", counters.late), ("refused", refused)] {
        if count.packets > 0 {
            line(format!(
                "{name:<13} {} packets of no connection",
                count.packets
            ));
        }
    }
    line(format!(
        "open          {} connections and {} flows at once at most",
        found.most_open, found.most_flows
    ));
    line(format!(
        "time          {:.2} s, {:.2} million packets/s",
        found.seconds,
        per_second(found) / 1e6
    ));
    card
}
