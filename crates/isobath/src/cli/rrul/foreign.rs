//! `isobath rrul iperf3://HOST` and `ndt7://HOST`: towards a far end of somebody else.

use super::{Args, Measured, Usage, beside, check_ecn, conclude, progress, record};
use far_ends::address::{FarEnd, Protocol};
use kit::options;
use rrul::foreign::{self, Claim, Ndt7, Server};
use rrul::ndjson::Ndjson;
use rrul::run::Context;
use rrul::streams::{Common, StreamPlan};
use schema::rrul::plan::Plan;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::process;

pub(super) fn measure(args: &Args, mut plan: Plan, far_end: &FarEnd) -> anyhow::Result<Measured> {
    let protocol = far_end.protocol;
    check(args, protocol)?;
    let wanted = args.family();
    let port = protocol.port().unwrap_or_default();
    let addresses = session::resolve(&far_end.host, port, wanted)?;
    let to = addresses[0];
    let other = session::other_version(&addresses);
    let elsewhere = |error: anyhow::Error| {
        let line = session::or_other(&error.to_string(), other);
        line.map_or(error, |line| anyhow::anyhow!(line))
    };
    let notes = foreign::fit(&mut plan, protocol, foreign::can_echo(to))
        .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
    check_ecn(&plan)?;
    let interrupt = process::interrupt_flag()?;
    let is_v6 = to.ip().to_canonical().is_ipv6();
    let families = [if is_v6 { 6 } else { 4 }];
    let common = Common {
        families: &families,
        cc: args.cc.as_deref(),
    };
    let beside = beside::find(args, &plan, None)?;
    let mut streams = StreamPlan::all(&plan, &common);
    beside::enter_families(&mut streams, &beside);
    for cc in streams.iter().filter_map(StreamPlan::cc) {
        sys::tcp::try_congestion(cc).map_err(Usage::of)?;
    }
    let server = match protocol {
        Protocol::Ndt7 if plan.load.is_empty() => None,
        Protocol::Ndt7 => {
            let abort = || interrupt.load(Ordering::Relaxed);
            let reached = Ndt7::reach(to, &far_end.host, &args.trust.trust(), &abort);
            Some(Server::Ndt7(reached.map_err(elsewhere)?))
        }
        _ => Claim::make(to, &plan, &streams)
            .map_err(elsewhere)?
            .map(|claim| Server::Iperf3(Box::new(claim))),
    };
    let mut run = record::described(args, &plan, args.cc.as_deref())?;
    run.plan["far_end"] = json!(args.host[0]);
    run.path = kit::begin::path_info(&[to], families.to_vec(), None);
    run.hosts = vec![kit::host::facts("client")];
    let ndjson = args.ndjson.as_deref().map(Ndjson::create).transpose()?;
    let mut opened = record::open(args, &run)?;
    let display = progress::display(args, &plan);
    let context = Context {
        plan: &plan,
        streams: &streams,
        peers: &[],
        beside: &beside,
        pages: None,
        lab: None,
        ndjson,
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = foreign::run(&context, server, to, &mut opened.writer)?;
    display.finish();
    conclude::conclude(&mut run, &plan, &outcome, Duration::ZERO, notes)?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    let status = options::exit_status(&run, &outcome.ending);
    Ok(Measured { run, dir, status })
}

/// What such a far end cannot do, whatever the plan.
fn check(args: &Args, protocol: Protocol) -> anyhow::Result<()> {
    if !protocol.tells().loads {
        return Err(Usage::of(anyhow::anyhow!(
            "a far end of {0}:// takes no load - use iperf3://HOST or ndt7://HOST, or 'isobath estimate rtt {0}://HOST'",
            protocol.scheme()
        )));
    }
    if args.browser.is_some() {
        return Err(Usage::of(anyhow::anyhow!(
            "a far end of {}:// has no pages - leave --browser out",
            protocol.scheme()
        )));
    }
    Ok(())
}
