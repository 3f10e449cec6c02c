//! The far end of a measurement in a lab.

use super::usage::Usage;
use anyhow::Context;
use lab::{Network, profiles};
use serde::Deserialize;
use session::AccessKey;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::{clock, process};

/// How long a process may take to end when asked to.
const ENDING: Duration = Duration::from_secs(2);
/// How often a child is looked after.
const LOOK: Duration = Duration::from_millis(50);

/// The far end of a measurement in a lab: `isobath serve` on the lab's server host. Ends when dropped.
pub struct Far {
    child: Child,
    address: SocketAddr,
    other: Option<SocketAddr>,
    key: AccessKey,
}

/// What `isobath serve --json` prints first.
#[derive(Deserialize)]
struct Announcement {
    address: SocketAddr,
    key: String,
}

impl Far {
    /// Starts the far ends on the lab's servers, and moves the calling thread (and those it will start) to the client host.
    ///
    /// # Errors
    ///
    /// When one does not come up.
    pub fn start_all(network: &Network, v6: bool) -> anyhow::Result<Vec<Self>> {
        let servers = network.topology().servers();
        let all = servers
            .iter()
            .map(|server| Self::start(network, server, v6));
        let all = all.collect::<anyhow::Result<_>>()?;
        client_host(network)?;
        Ok(all)
    }

    /// Starts a far end on host `server`.
    ///
    /// # Errors
    ///
    /// When it does not come up.
    pub fn start(network: &Network, server: &str, v6: bool) -> anyhow::Result<Self> {
        let mut command = Command::new(process::this_program());
        command
            .args(["serve", "--ephemeral", "--json", "--quiet", "--cc"])
            .arg(&network.congestion().stated)
            .stdout(Stdio::piped());
        // It is ended by us, in order; the terminal's Ctrl-C is not for it.
        process::set_apart(&mut command);
        let mut child = network.spawn(server, command)?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("the far end has no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let said: Announcement = serde_json::from_str(&line)
            .with_context(|| format!("the far end in the lab did not start (it said '{line}')"))?;
        let at = |v6| {
            let ip = network.address(server, v6)?;
            Some(SocketAddr::new(ip, said.address.port()))
        };
        let version = if v6 { 6 } else { 4 };
        Ok(Self {
            child,
            address: at(v6).with_context(|| {
                format!("host '{server}' has no IPv{version} address in this lab")
            })?,
            other: at(!v6),
            key: said.key.parse()?,
        })
    }

    /// Its address by the other version of IP, where it has one.
    pub const fn other(&self) -> Option<SocketAddr> {
        self.other
    }

    /// Its address and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Its access key.
    pub const fn key(&self) -> &AccessKey {
        &self.key
    }

    /// Ends it.
    pub fn stop(&mut self) {
        end(&mut self.child);
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The lab of this name, in which one of its nodes measures towards another: those that were asked for, or its own.
///
/// # Errors
///
/// When there is no such lab or node, or it cannot be brought up.
pub fn between(name: &str, ends: [Option<&str>; 2], seed: u64) -> anyhow::Result<Network> {
    let mut topology = profiles::find(name).map_err(Usage::of)?;
    if ends.iter().any(Option::is_some) {
        topology = topology.between(ends).map_err(Usage::of)?;
    }
    Ok(Network::up(topology, seed)?)
}

/// Moves the calling thread (and those it will start) to the client host of a lab.
///
/// # Errors
///
/// When the process may not enter it.
pub fn client_host(network: &Network) -> anyhow::Result<()> {
    Ok(network.node(&network.topology().client)?.enter()?)
}

/// Asks a child to end, and makes it.
pub fn end(child: &mut Child) {
    process::terminate(child);
    let deadline = clock::now() + ENDING;
    while clock::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        clock::sleep_until(clock::now() + LOOK);
    }
    // Nothing is left to do for one that is gone.
    let _ = child.kill();
    let _ = child.wait();
}
