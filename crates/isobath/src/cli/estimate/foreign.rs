//! `isobath estimate rtt stamp://HOST`: towards a far end of somebody else.

use super::{Args, begun, conclude, finish, progress};
use estimate::exchange;
use estimate::run::Context;
use far_ends::address::FarEnd;
use kit::begin::path_info;
use kit::foreign::Found;
use kit::usage::Usage;
use schema::estimate::plan::Method;
use serde_json::json;
use sys::process;

/// Why nobody's certificate can be believed.
pub(super) const NO_CERTIFICATE: &str =
    "--ca and --insecure are for dot://HOST and doh://HOST - leave them out";

pub(super) fn run(args: &Args, far_end: &FarEnd) -> anyhow::Result<u8> {
    let plan = args.asked.plan_by(Method::Isochronous, args.reverse)?;
    let protocol = far_end.protocol;
    let usage = |what: String| Usage::of(anyhow::anyhow!(what));
    exchange::check(&plan, protocol).map_err(usage)?;
    if protocol.is_reliable() {
        far_end.origin().map_err(usage)?;
    } else if args.trust.is_given() {
        return Err(usage(NO_CERTIFICATE.to_owned()));
    }
    let keys = args.keys.keys()?;
    let port = protocol.port().unwrap_or(0);
    let addresses = session::resolve(&far_end.host, port, args.towards.reach.family())?;
    let to = addresses[0];
    let interrupt = process::interrupt_flag()?;
    let mut run = begun(args, &plan)?;
    run.plan["far_end"] = json!(args.towards.host);
    let family = if to.ip().to_canonical().is_ipv6() {
        6
    } else {
        4
    };
    run.path = path_info(&[to], vec![family], None);
    run.hosts = vec![kit::host::facts("client")];
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let display = progress::display(args, &plan);
    let context = Context {
        plan: &plan,
        lab: None,
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let found = Found {
        far_end: far_end.clone(),
        to,
        other: session::other_version(&addresses),
        trust: args.trust.trust(),
        keys,
    };
    let outcome = exchange::run(&context, &found, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, &plan, &outcome, None)?;
    finish(args, &run, &outcome, opened)
}
