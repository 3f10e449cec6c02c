//! `isobath far-ends`: what there is to measure towards, and what each kind reports.

use far_ends::address::{Protocol, Tells};
use kit::usage::print;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the table as JSON.
    #[arg(long)]
    json: bool,
}

/// Address, protocol, who answers, what is reported: all that no scheme of `estimate` and `rrul` stands for.
const OTHERS: [[&str; 4]; 4] = [
    ["far end", "protocol", "answered by", "reports"],
    [
        "HOST[:PORT]",
        "Isobath's own",
        "'isobath serve'",
        "everything, both ways",
    ],
    [
        "https://HOST[:PORT]",
        "responsiveness (draft 09)",
        "'... serve --also rpm', web servers",
        "round trips a minute under load in 'isobath rpm'",
    ],
    [
        "HOST[:PORT]",
        "UDPSTP (RFC 9946)",
        "'udpst', '... serve --also udpst'",
        "IP-layer capacity both ways in 'isobath udpst'",
    ],
];

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.json {
        let all: Vec<_> = Protocol::ALL.into_iter().map(described).collect();
        print(&serde_json::to_string_pretty(&json!({ "far_ends": all }))?)?;
        return Ok(0);
    }
    let of_schemes: Vec<[String; 4]> = Protocol::ALL.into_iter().map(row).collect();
    let of_schemes = of_schemes
        .iter()
        .map(|row| row.each_ref().map(String::as_str));
    let (first, last) = OTHERS.split_at(2);
    let rows = first
        .iter()
        .copied()
        .chain(of_schemes)
        .chain(last.iter().copied());
    let lines = rows.map(|[address, protocol, by, tells]| {
        format!("{address:<22}{protocol:<31}{by:<41}{tells}")
    });
    print(&lines.collect::<Vec<_>>().join("\n"))?;
    Ok(0)
}

fn row(protocol: Protocol) -> [String; 4] {
    let address = match protocol.port() {
        Some(_) => format!("{}://HOST[:PORT]", protocol.scheme()),
        None => format!("{}://HOST", protocol.scheme()),
    };
    let Tells {
        delays,
        counts,
        marks,
        loads,
    } = protocol.tells();
    let mut tells = vec![if loads {
        "TCP load both ways in 'isobath rrul'"
    } else if protocol.is_reliable() {
        "rtt"
    } else {
        "rtt, loss"
    }];
    tells.extend(match (delays, counts) {
        (true, true) => Some("delay, jitter and loss of each way"),
        (true, false) => Some("delay and jitter of each way"),
        (false, _) => None,
    });
    tells.extend(marks.then_some("DSCP that arrived"));
    [
        address,
        protocol.name().to_owned(),
        protocol.answered_by().to_owned(),
        tells.join(", "),
    ]
}

fn described(protocol: Protocol) -> serde_json::Value {
    let Tells {
        delays,
        counts,
        marks,
        loads,
    } = protocol.tells();
    json!({
        "scheme": protocol.scheme(),
        "protocol": protocol.name(),
        "port": protocol.port(),
        "answered_by": protocol.answered_by(),
        "delay_of_each_way": delays,
        "loss_of_each_way": counts,
        "dscp_that_arrived": marks,
        "load": loads,
        "least_interval_ms": protocol.least_interval().as_secs_f64() * 1e3,
    })
}
