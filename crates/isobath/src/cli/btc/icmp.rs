//! `isobath btc --icmp`: towards a host that does not cooperate.

use super::super::begin::Opened;
use super::super::{Usage, lab::client_host};
use super::progress::Display;
use super::{Args, Context, conclude, network, new_run, report};
use crate::btc::{Plan, icmp};
use anyhow::Context as _;
use lab::Network;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use sys::process;

/// Where nobody listens, as traceroute has it.
const PORT: u16 = 33_434;

pub(super) fn run(args: &Args, mut plan: Plan) -> anyhow::Result<u8> {
    // The lab comes first: it may have to change this process before there are other threads.
    let network = args.lab.as_deref().map(|name| network(name, args.seed));
    let network = network.transpose()?;
    let interrupt = process::interrupt_flag()?;
    let to = match &network {
        Some(network) => in_lab(args, network)?,
        None => resolve(args)?,
    };
    plan.fit(to);
    let mut run = new_run(args, &plan, to, None, network.as_ref())?;
    let towards = args.lab.as_ref().or(args.host.as_ref());
    let towards = towards.map_or("", String::as_str);
    let mut opened = Opened::create(args.out.as_deref(), towards, &run)?;
    let display = Display::start(args.quiet);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = icmp::run::run(&context, to, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    report(args, &run, &outcome, &dir)
}

/// The lab's server, from the lab's client.
fn in_lab(args: &Args, network: &Network) -> anyhow::Result<SocketAddr> {
    client_host(network)?;
    let server = &network.topology().server;
    let version = if args.ipv6 { 6 } else { 4 };
    let address = network.address(server, args.ipv6);
    let address =
        address.with_context(|| format!("host '{server}' has no IPv{version} address in this lab"));
    Ok(SocketAddr::new(address?, PORT))
}

/// The address of the host, with the port if it has one.
fn resolve(args: &Args) -> anyhow::Result<SocketAddr> {
    let host = args.host.as_deref().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let fits = |address: &SocketAddr| match (args.ipv4, args.ipv6) {
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
