//! Two managers, each in a thread on its host of the lab.

use super::place::Place;
use anyhow::{Context as _, anyhow, bail};
use lab::Network;
use manager::config::Config;
use manager::snapshot::{Question, StatusAnswer};
use manager::{Manager, socket as control};
use session::{DEFAULT_PORT, Identity};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::clock;
use sys::scratch::Scratch;

/// The near manager's address in the overlay.
pub(super) const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 99, 0, 1));
/// The far manager's.
pub const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 99, 0, 2));
/// What the near one calls the other.
pub const PEER: &str = "far";
/// How long the two may take to find each other.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(20);
/// Names of the folders of their sockets begin so.
const PREFIX: &str = "isobath-managers-";

/// What may ride, and how long it waits for that.
#[derive(Clone, Copy, Debug)]
pub struct Riding {
    /// Without any, nothing rides.
    pub delay: Duration,
    /// The first part of each train that may carry, 0 to 1.
    pub ratio: f64,
}

impl Riding {
    /// With packets that wait so long for a probe in the first part of a train; without any where it is off.
    pub const fn new(is_on: bool, delay: Duration, ratio: f64) -> Self {
        let delay = if is_on { delay } else { Duration::ZERO };
        Self { delay, ratio }
    }
}

/// Both, at work; they end when this is dropped.
pub struct Managers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<anyhow::Result<()>>>,
    folder: Scratch,
}

impl Managers {
    /// Starts both, at the place's source and sink, and waits until they are linked.
    ///
    /// # Errors
    /// When one cannot be made, or they do not find each other.
    pub fn start(network: &Network, place: &Place, riding: Riding) -> anyhow::Result<Self> {
        let folder = Scratch::new(PREFIX).context("make a folder for the managers' sockets")?;
        let mut managers = Self {
            stop: Arc::default(),
            threads: Vec::new(),
            folder,
        };
        let identity = Identity::generate()?;
        let address = network
            .address(&place.sink, false)
            .ok_or_else(|| anyhow!("'{}' has no IPv4 address in this lab", place.sink))?;
        let [near, far] = configs(managers.folder.path(), riding, address, &identity)?;
        managers.add(network, &place.sink, far, Some(identity))?;
        managers.add(network, &place.source, near, None)?;
        managers.wait_for_link()?;
        Ok(managers)
    }

    /// Where tools reach the one at the source.
    pub fn socket(&self) -> PathBuf {
        socket(self.folder.path(), "near")
    }

    /// Its estimation service.
    pub fn service(&self) -> PathBuf {
        self.folder.path().join("near-estimates.sock")
    }

    fn add(
        &mut self,
        network: &Network,
        host: &str,
        config: Config,
        identity: Option<Identity>,
    ) -> anyhow::Result<()> {
        // Its interface and sockets belong to the host on which they are made, and so do the threads that it starts.
        let stop = Arc::clone(&self.stop);
        let (made, is_made) = std::sync::mpsc::channel();
        let node = network.node(host)?;
        let thread = node.run(|| -> anyhow::Result<_> {
            let thread = std::thread::Builder::new().name("manager".to_owned());
            Ok(thread.spawn(move || {
                let manager = Manager::new(config, identity)?;
                // Whoever asked for it waits for this.
                let _ = made.send(());
                manager.run(&stop)
            })?)
        })?;
        if is_made.recv().is_err() {
            return match thread.join() {
                Ok(Err(error)) => Err(error.context(format!("the manager of {host}"))),
                _ => bail!("the manager of {host} has ended"),
            };
        }
        self.threads.push(thread);
        Ok(())
    }

    fn wait_for_link(&self) -> anyhow::Result<()> {
        let deadline = clock::now() + PATIENCE;
        loop {
            let status = control::ask(&self.socket(), Question::Status)?;
            let status: StatusAnswer = serde_json::from_str(&status)?;
            let peer = status.peers.first();
            if peer.is_some_and(|peer| peer.linked) {
                return Ok(());
            }
            if clock::now() > deadline {
                let reason = peer.and_then(|peer| peer.reason.clone());
                bail!(
                    "the managers do not find each other: {}",
                    reason.unwrap_or_default()
                );
            }
            clock::sleep_until(clock::now() + LOOK);
        }
    }
}

impl Drop for Managers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // How one ended has been seen on the wire.
            let _ = thread.join();
        }
    }
}

fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// What the files of both say, the near one's first: their sockets are in `folder`, and the far one is at `address` and has this `identity`.
///
/// # Errors
/// When a file could not be one.
pub(super) fn configs(
    folder: &Path,
    riding: Riding,
    address: IpAddr,
    identity: &Identity,
) -> anyhow::Result<[Config; 2]> {
    let parse = |text: &str| Config::parse(text).map_err(anyhow::Error::msg);
    let far = parse(&far(&socket(folder, PEER), riding))?;
    let caller = far.peers.first().context("the far manager has no peer")?;
    let key = caller.key(identity).to_string();
    let near = parse(&near(&socket(folder, "near"), riding, address, &key))?;
    Ok([near, far])
}

fn common(name: &str, own: IpAddr, socket: &Path, riding: Riding) -> String {
    let service = socket.with_file_name(format!("{name}-estimates.sock"));
    let (socket, service) = (socket.display(), service.display());
    let delay = riding.delay.as_micros();
    format!(
        "name = \"{name}\"\naddresses = [\"{own}/24\"]\nsocket = \"{socket}\"\nservice = \"{service}\"\ndelay = \"{delay}us\"\n"
    )
}

/// Only probes that its own tools send carry, so the far end has no need of a policy.
fn far(socket: &Path, riding: Riding) -> String {
    let common = common(PEER, FAR, socket, riding);
    format!(
        "{common}listen = \"0.0.0.0:{DEFAULT_PORT}\"\n[[peer]]\nname = \"near\"\nroutes = [\"{NEAR}/32\"]\n"
    )
}

fn near(socket: &Path, riding: Riding, address: IpAddr, key: &str) -> String {
    let (common, ratio) = (common("near", NEAR, socket, riding), riding.ratio);
    format!(
        "{common}[policy]\nratio = {ratio:?}\n[[peer]]\nname = \"{PEER}\"\nendpoint = \"{address}:{DEFAULT_PORT}\"\nkey = \"{key}\"\nroutes = [\"{FAR}/32\"]\n"
    )
}
