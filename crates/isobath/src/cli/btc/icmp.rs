//! `isobath btc --icmp`: towards a host that does not cooperate.

use super::{Args, Context, conclude, network, new_run, progress, scorecard};
use anyhow::Context as _;
use btc::icmp;
use kit::lab_server::client_host;
use lab::Network;
use schema::btc::Plan;
use std::net::SocketAddr;
use sys::process;

/// Where nobody listens, as traceroute has it.
const PORT: u16 = 33_434;

pub(super) fn run(args: &Args, mut plan: Plan) -> anyhow::Result<u8> {
    // The lab comes first: it may have to change this process before there are other threads.
    let network = network(args)?;
    let interrupt = process::interrupt_flag()?;
    let to = if let Some(network) = &network {
        in_lab(args, network)?
    } else {
        let host = args.towards.host.as_deref().unwrap_or_default();
        session::resolve(host, PORT, args.towards.reach.family())?[0]
    };
    plan.fit(to);
    let mut run = new_run(args, &plan, to, None, network.as_ref())?;
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let display = progress::display(args);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = icmp::run::run(&context, to, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    args.output
        .close(&run, &outcome.ending, opened, scorecard::scorecard)
}

/// The lab's server, from the lab's client.
fn in_lab(args: &Args, network: &Network) -> anyhow::Result<SocketAddr> {
    client_host(network)?;
    let server = &network.topology().server;
    let version = if args.towards.reach.is_v6() { 6 } else { 4 };
    let address = network.address(server, args.towards.reach.is_v6());
    let address =
        address.with_context(|| format!("host '{server}' has no IPv{version} address in this lab"));
    Ok(SocketAddr::new(address?, PORT))
}
