//! `isobath btc --icmp`: towards a host that does not cooperate.

use super::{Args, Context, conclude, network, new_run, progress, report};
use anyhow::Context as _;
use btc::icmp;
use kit::lab_server::client_host;
use kit::usage::Usage;
use lab::Network;
use schema::btc::Plan;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use sys::process;

/// Where nobody listens, as traceroute has it.
const PORT: u16 = 33_434;

pub(super) fn run(args: &Args, mut plan: Plan) -> anyhow::Result<u8> {
    // The lab comes first: it may have to change this process before there are other threads.
    let network = network(args)?;
    let interrupt = process::interrupt_flag()?;
    let to = match &network {
        Some(network) => in_lab(args, network)?,
        None => resolve(args)?,
    };
    plan.fit(to);
    let mut run = new_run(args, &plan, to, None, network.as_ref())?;
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let bar = progress::bar(args.output.quiet);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| progress::show(&bar, live),
    };
    let outcome = icmp::run::run(&context, to, &mut opened.writer)?;
    bar.finish_and_clear();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    report(args, &run, &outcome, &dir)
}

/// The lab's server, from the lab's client.
fn in_lab(args: &Args, network: &Network) -> anyhow::Result<SocketAddr> {
    client_host(network)?;
    let server = &network.topology().server;
    let version = if args.towards.reach.ipv6 { 6 } else { 4 };
    let address = network.address(server, args.towards.reach.ipv6);
    let address =
        address.with_context(|| format!("host '{server}' has no IPv{version} address in this lab"));
    Ok(SocketAddr::new(address?, PORT))
}

/// The address of the host, with the port if it has one.
fn resolve(args: &Args) -> anyhow::Result<SocketAddr> {
    let host = args.towards.host.as_deref().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let fits = |address: &SocketAddr| match (args.towards.reach.ipv4, args.towards.reach.ipv6) {
        (true, _) => address.is_ipv4(),
        (_, true) => address.is_ipv6(),
        _ => true,
    };
    let found: Vec<SocketAddr> = if let Ok(ip) = bare.parse::<IpAddr>() {
        vec![(ip, PORT).into()]
    } else {
        let named = if host.contains(':') {
            host.to_socket_addrs()
        } else {
            (host, PORT).to_socket_addrs()
        };
        named
            .with_context(|| format!("'{host}' is no host - check its name"))?
            .collect()
    };
    let address = found.into_iter().find(fits);
    address.ok_or_else(|| {
        Usage::of(anyhow::anyhow!(
            "{host} has no address of that version of IP - leave out -4 or -6"
        ))
    })
}
