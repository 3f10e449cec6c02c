//! What every measurement does before it begins: its record's folder, and what is known of hosts and path.

use crate::host;
use crate::options::{Output, Towards};
use crate::place::Place;
use crate::usage::Usage;
use jiff::Timestamp;
use lab::Network;
use record::{Endpoint, LabInfo, LabLink, Label, PathInfo, RecordWriter, Run};
use serde::{Deserialize, Serialize};
use serde_json::json;
use session::Client;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

/// A record that has been begun.
pub struct Opened {
    /// Takes the rows and the end of the run.
    pub writer: RecordWriter,
    folder: PathBuf,
    /// Whether the folder was made for it.
    is_ours: bool,
}

impl Opened {
    /// Begins the record of `run` in `out`, or in a new folder named after the run and what it measures `towards`.
    ///
    /// # Errors
    /// When the folder cannot be made, or holds something else.
    pub fn create(out: Option<&Path>, towards: &str, run: &Run) -> anyhow::Result<Self> {
        let folder = match out {
            Some(out) => out.to_owned(),
            None => new_folder(&run.test, towards, run.started)?,
        };
        let is_ours = out.is_none_or(|out| !out.exists());
        Ok(Self {
            writer: create(&folder, run)?,
            folder,
            is_ours,
        })
    }

    /// The run could not go on. If nothing has been measured, what was just made is removed; else the record stays, incomplete as it is.
    pub fn undo(&self) {
        if self.writer.has_rows() {
            return;
        }
        let _ = std::fs::remove_file(self.folder.join("run.json"));
        if self.is_ours {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

/// Begins the record; naming a folder that holds something else is a mistake of the command line.
///
/// # Errors
/// When the folder holds something else (a mistake of the command line), or cannot be written.
pub fn create(folder: &Path, run: &Run) -> anyhow::Result<RecordWriter> {
    RecordWriter::create(folder, run).map_err(|error| match error {
        record::Error::NotEmpty { .. } => Usage::of(error),
        _ => error.into(),
    })
}

fn new_folder(verb: &str, towards: &str, started: Timestamp) -> anyhow::Result<PathBuf> {
    let name = record::folder_name(started, verb, towards);
    Ok(record::new_folder(Path::new("isobath-runs"), &name)?)
}

/// What is known before a run of `test`: its plan with the user's note, between whom, and of which hosts.
///
/// # Errors
/// When the plan cannot be written as JSON.
pub fn new_run(
    test: &str,
    plan: &impl Serialize,
    towards: &Towards,
    place: &Place,
    output: &Output,
) -> anyhow::Result<Run> {
    let mut run = output.begun(test, plan)?;
    let peer = place.client.peer;
    let family = if peer.is_ipv6() { 6 } else { 4 };
    let lab = towards.lab.as_deref().zip(place.network.as_ref());
    run.path = path_info(&[peer], vec![family], lab);
    run.hosts = hosts([&place.client]);
    Ok(run)
}

/// Between whom: this host and the far ends at `servers`.
pub fn path_info(
    servers: &[SocketAddr],
    families: Vec<u8>,
    lab: Option<(&str, &Network)>,
) -> PathInfo {
    let mut own: Vec<IpAddr> = servers
        .iter()
        .filter_map(|peer| own_address(*peer))
        .collect();
    own.dedup();
    PathInfo {
        client: Endpoint {
            addresses: own,
            seen_as: Vec::new(),
        },
        server: Endpoint {
            addresses: servers.iter().map(SocketAddr::ip).collect(),
            seen_as: Vec::new(),
        },
        families,
        lab: lab.map(|(name, network)| lab_info(name, network)),
    }
}

/// This host and those of the far ends.
pub fn hosts<'a>(clients: impl IntoIterator<Item = &'a Client>) -> Vec<record::Host> {
    let mut hosts = vec![host::facts("client")];
    for (index, client) in clients.into_iter().enumerate() {
        // A server of another version may say less of itself.
        let facts: Option<record::Host> = Deserialize::deserialize(&client.welcome.host).ok();
        hosts.extend(facts.map(|facts| record::Host {
            role: server_role(index).into_owned(),
            ..facts
        }));
    }
    hosts
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

/// The emulated network, as a record has it.
pub fn lab_info(name: &str, network: &Network) -> LabInfo {
    let links = network.topology().links.iter().map(|link| LabLink {
        name: link.between.join("-"),
        up: json!(link.up),
        down: json!(link.down),
    });
    LabInfo {
        name: name.to_owned(),
        links: links.collect(),
        congestion_control: Some(network.congestion().stated.clone()),
        programs_congestion_control: Some(network.congestion().default.clone()),
    }
}

/// What tables and records call the server of this number, from 0.
pub fn server_role(server: usize) -> Label {
    match server {
        0 => "server".into(),
        other => format!("server-{other}").into(),
    }
}
