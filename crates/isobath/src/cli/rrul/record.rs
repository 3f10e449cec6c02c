//! The record of a run before it has begun.

use super::far_ends::FarEnds;
use super::{Args, Usage};
use crate::host;
use crate::rrul::Plan;
use jiff::Timestamp;
use lab::Network;
use record::{Endpoint, LabInfo, LabLink, PathInfo, RecordWriter, Run};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

/// A record that has been begun.
pub(super) struct Opened {
    pub(super) writer: RecordWriter,
    folder: PathBuf,
    /// Whether the folder was made for it.
    is_ours: bool,
}

impl Opened {
    pub(super) fn create(args: &Args, run: &Run) -> anyhow::Result<Self> {
        let folder = folder(args, run.started)?;
        let is_ours = args.out.as_ref().is_none_or(|out| !out.exists());
        Ok(Self {
            writer: create(&folder, run)?,
            folder,
            is_ours,
        })
    }

    /// Nothing has been measured: only what was just made is removed.
    pub(super) fn undo(&self) {
        let _ = std::fs::remove_file(self.folder.join("run.json"));
        if self.is_ours {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

/// Begins the record; naming a folder that holds something else is a mistake of the command line.
pub(crate) fn create(folder: &Path, run: &Run) -> anyhow::Result<RecordWriter> {
    RecordWriter::create(folder, run).map_err(|error| match error {
        record::Error::NotEmpty { .. } => Usage::of(error),
        _ => error.into(),
    })
}

fn folder(args: &Args, started: Timestamp) -> anyhow::Result<PathBuf> {
    if let Some(out) = &args.out {
        return Ok(out.clone());
    }
    let towards = args.lab.as_ref().or_else(|| args.host.first());
    let towards = towards.map_or("", String::as_str);
    let name = record::folder_name(started, "rrul", towards);
    Ok(record::new_folder(Path::new("isobath-runs"), &name)?)
}

/// What is known before the run.
pub(super) fn new_run(
    args: &Args,
    plan: &Plan,
    cc: Option<&str>,
    ends: &FarEnds,
    network: Option<&Network>,
) -> anyhow::Result<Run> {
    let mut described = serde_json::to_value(plan)?;
    described["cc"] = json!(cc);
    described["seed"] = json!(args.seed);
    described["note"] = json!(args.note);
    let mut run = Run::new("rrul", Timestamp::now(), described);
    let addresses = ends
        .families
        .iter()
        .flat_map(|family| ends.peers.iter().filter_map(|peer| peer.address(*family)));
    let server: Vec<SocketAddr> = addresses.collect();
    run.path = PathInfo {
        client: Endpoint {
            addresses: server
                .iter()
                .filter_map(|peer| own_address(*peer))
                .collect(),
            seen_as: Vec::new(),
        },
        server: Endpoint {
            addresses: server.iter().map(SocketAddr::ip).collect(),
            seen_as: Vec::new(),
        },
        families: ends.families.clone(),
        lab: network.map(|network| lab_info(args, network)),
    };
    run.path.client.addresses.dedup();
    run.hosts = vec![host::facts("client")];
    for (index, client) in ends.clients.iter().enumerate() {
        // A server of another version may say less of itself.
        let facts: Option<record::Host> = serde_json::from_value(client.welcome.host.clone()).ok();
        run.hosts.extend(facts.map(|facts| record::Host {
            role: crate::rrul::tables::server_role(index).into_owned(),
            ..facts
        }));
    }
    Ok(run)
}

/// The address from which this host reaches `peer`. Connecting a datagram socket sends nothing.
fn own_address(peer: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn lab_info(args: &Args, network: &Network) -> LabInfo {
    let links = network.topology().links.iter().map(|link| LabLink {
        name: link.between.join("-"),
        up: json!(link.up),
        down: json!(link.down),
    });
    LabInfo {
        name: args.lab.clone().unwrap_or_default(),
        links: links.collect(),
    }
}
