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

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.json {
        let all: Vec<_> = Protocol::ALL.into_iter().map(described).collect();
        print(&serde_json::to_string_pretty(&json!({ "far_ends": all }))?)?;
        return Ok(0);
    }
    let mut lines = vec![
        "far end             protocol                      answered by                             reports".to_owned(),
        "HOST[:PORT]         Isobath's own                 'isobath serve'                         everything, both ways".to_owned(),
    ];
    lines.extend(Protocol::ALL.into_iter().map(line));
    print(&lines.join("\n"))?;
    Ok(0)
}

fn line(protocol: Protocol) -> String {
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
    } else {
        "rtt, loss"
    }];
    tells.extend(match (delays, counts) {
        (true, true) => Some("delay, jitter and loss of each way"),
        (true, false) => Some("delay and jitter of each way"),
        (false, _) => None,
    });
    tells.extend(marks.then_some("DSCP that arrived"));
    format!(
        "{address:<20}{:<30}{:<40}{}",
        protocol.name(),
        protocol.answered_by(),
        tells.join(", ")
    )
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
