//! The record of a run before it has begun.

use super::Args;
use super::far_ends::FarEnds;
use kit::begin::{self, Opened};
use lab::Network;
use record::Run;
use schema::rrul::Plan;
use serde_json::json;
use std::net::SocketAddr;

/// Begins the record.
pub(super) fn open(args: &Args, run: &Run) -> anyhow::Result<Opened> {
    let towards = args.lab.as_ref().or_else(|| args.host.first());
    let towards = towards.map_or("", String::as_str);
    args.output.open(towards, run)
}

/// The plan of a run, with what else was asked for.
pub(super) fn described(args: &Args, plan: &Plan, cc: Option<&str>) -> anyhow::Result<Run> {
    let mut run = args.output.begun("rrul", plan)?;
    run.plan["cc"] = json!(cc);
    run.plan["seed"] = json!(args.seed);
    Ok(run)
}

/// What is known before the run.
pub(super) fn new_run(
    args: &Args,
    plan: &Plan,
    cc: Option<&str>,
    ends: &FarEnds,
    network: Option<&Network>,
) -> anyhow::Result<Run> {
    let mut run = described(args, plan, cc)?;
    let addresses = ends
        .families
        .iter()
        .flat_map(|family| ends.peers.iter().filter_map(|peer| peer.address(*family)));
    let servers: Vec<SocketAddr> = addresses.collect();
    let lab = args.lab.as_deref().zip(network);
    run.path = begin::path_info(&servers, ends.families.clone(), lab);
    run.hosts = begin::hosts(&ends.clients);
    Ok(run)
}
