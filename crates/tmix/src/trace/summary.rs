//! What came of captures, in figures and in lines.

use super::extract::Found;
use capture::dissect::Reason;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use vectors::extract::Count;

/// The summary of `isobath trace extract`.
pub fn summary(found: &Found) -> Value {
    let counters = &found.counters;
    let mut not_tcp = BTreeMap::from([("udp", found.udp), ("further", found.more_others)]);
    not_tcp.extend(NAMES.map(|name| (name, 0)));
    for (&reason, count) in &found.others {
        *not_tcp.entry(name(reason)).or_default() += count;
    }
    let unread = unread(found).map(|(reason, count)| (reason.to_string(), json!(count)));
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
        "tunnelled": found.tunnelled,
        "unread": unread.collect::<Map<_, _>>(),
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

/// Frames of kinds that were not read and may have TCP or UDP within.
pub(super) fn unread(found: &Found) -> impl Iterator<Item = (Reason, u64)> {
    let others = found.others.iter();
    others
        .filter(|(reason, _)| reason.may_hide())
        .map(|(&reason, &count)| (reason, count))
}

/// Of reasons.
const NAMES: [&str; 7] = [
    "unknown_link",
    "not_ip",
    "other_protocol",
    "too_deep",
    "fragment",
    "cut",
    "malformed",
];

const fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::Link(_) => "unknown_link",
        Reason::EtherType(_)
        | Reason::Llc(_)
        | Reason::Ppp(_)
        | Reason::Mpls
        | Reason::Version(_) => "not_ip",
        Reason::Protocol(_) | Reason::Gre(_) => "other_protocol",
        Reason::Deep => "too_deep",
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
    if found.tunnelled > 0 {
        line(format!(
            "tunnelled     {} of these packets are within tunnels",
            found.tunnelled
        ));
    }
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
