//! The lab of a run: cross traffic in its bottleneck, and a manager on either end.

use super::plan::Plan;
use crate::manager::Manager;
use crate::manager::config::Config;
use crate::manager::snapshot::{Question, StatusAnswer};
use crate::serve::StopOnDrop;
use anyhow::{Context as _, anyhow};
use lab::{Network, Topology};
use path::StageSpec;
use serde::{Deserialize, Serialize};
use session::Identity;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;
use sys::clock;
use tempfile::TempDir;
use units::Rate;

/// Overlay addresses of the near and the far end.
const OVERLAY: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 99, 0, 1), Ipv4Addr::new(10, 99, 0, 2)];
/// Where the far manager listens.
const PORT: u16 = 4_890;
/// How long managers may take to be ready, and to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often they are asked whether they are linked.
const LOOK: Duration = Duration::from_millis(50);
/// Names of the two managers.
const NAMES: [&str; 2] = ["near", "far"];

/// One direction of the link that the run is about.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Bottleneck {
    /// Its name in the lab's books.
    pub(crate) link: String,
    /// `up` or `down` of it.
    pub(crate) direction: String,
    pub(crate) rate: Rate,
}

/// Puts cross traffic into the slowest link from the client to the server.
///
/// # Errors
/// When no link on the way has a constant rate.
pub(crate) fn prepare(topology: &mut Topology, plan: &Plan) -> anyhow::Result<Bottleneck> {
    let way: Vec<String> = topology.way().iter().map(ToString::to_string).collect();
    let mut slowest: Option<(usize, bool, Rate)> = None;
    for (place, link) in topology.links.iter().enumerate() {
        let [a, b] = &link.between;
        for (is_up, spec, hop) in [(true, &link.up, [a, b]), (false, &link.down, [b, a])] {
            let is_on_way = way.windows(2).any(|two| [&two[0], &two[1]] == hop);
            let rate = spec.0.iter().find_map(|stage| match stage {
                StageSpec::Rate { rate, .. } => Some(*rate),
                _ => None,
            });
            if let Some(rate) = rate.filter(|_| is_on_way)
                && slowest.is_none_or(|(_, _, least)| rate < least)
            {
                slowest = Some((place, is_up, rate));
            }
        }
    }
    let none = || anyhow!("no link to the server has a constant rate - try --lab manager-dumbbell");
    let (place, is_up, rate) = slowest.ok_or_else(none)?;
    let link = topology.links.get_mut(place).ok_or_else(none)?;
    let spec = if is_up { &mut link.up } else { &mut link.down };
    for stage in &mut spec.0 {
        if let StageSpec::Rate { cross, .. } = stage {
            *cross = Some(plan.cross());
        }
    }
    Ok(Bottleneck {
        link: link.between.join("-"),
        direction: if is_up { "up" } else { "down" }.to_owned(),
        rate,
    })
}

/// The managers of a run. They end with it.
pub(crate) struct Managers {
    /// Their files.
    folder: TempDir,
    far: IpAddr,
    stop: Arc<AtomicBool>,
    _stop_on_drop: Raised,
}

/// Raises a flag that is shared, when dropped.
struct Raised(Arc<AtomicBool>);

impl Drop for Raised {
    fn drop(&mut self) {
        drop(StopOnDrop(&self.0));
    }
}

impl Managers {
    /// Makes the files of both ends of `network`.
    ///
    /// # Errors
    /// When there is no room for them.
    pub(crate) fn new(network: &Network, plan: &Plan) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("isobath-").tempdir()?;
        let server = network.topology().server.clone();
        let far = network.address(&server, false);
        let far = far.ok_or_else(|| anyhow!("{server} has no IPv4 address in this lab"))?;
        let identity = Identity::load_or_create(&folder.path().join("identity.json"))?;
        let delay = if plan.riding {
            plan.delay.0
        } else {
            Duration::ZERO
        };
        let common = |own: usize| {
            let [socket, service] =
                [socket, service].map(|of| of(folder.path(), own).display().to_string());
            let (name, address) = (NAMES[own], OVERLAY[own]);
            let delay = delay.as_micros();
            format!(
                "name = \"{name}\"\naddresses = [\"{address}/24\"]\nsocket = {socket:?}\nservice = {service:?}\ndelay = \"{delay}us\"\n"
            )
        };
        let peer = |other: usize| {
            let (name, address) = (NAMES[other], OVERLAY[other]);
            format!("[[peer]]\nname = \"{name}\"\nroutes = [\"{address}/32\"]\n")
        };
        let endpoint = SocketAddr::new(far, PORT);
        let key = identity.key();
        let near = format!(
            "{}{}endpoint = \"{endpoint}\"\nkey = \"{key}\"\n",
            common(0),
            peer(1)
        );
        let listening = format!("{}listen = \"0.0.0.0:{PORT}\"\n{}", common(1), peer(0));
        for (name, text) in NAMES.into_iter().zip([near, listening]) {
            let file = folder.path().join(format!("{name}.toml"));
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        Ok(Self {
            folder,
            far,
            _stop_on_drop: Raised(Arc::clone(&stop)),
            stop,
        })
    }

    /// Starts the managers, the far one first. The first packet of the lab is the near one's.
    ///
    /// # Errors
    /// When one cannot run.
    pub(crate) fn start(&self, network: &Network) -> anyhow::Result<()> {
        let topology = network.topology();
        for (name, node) in [(NAMES[1], &topology.server), (NAMES[0], &topology.client)] {
            let (ready, readiness) = mpsc::sync_channel(1);
            let file = self.folder.path().join(format!("{name}.toml"));
            let identity = self.folder.path().join("identity.json");
            let stop = Arc::clone(&self.stop);
            let netns = network.node(node)?;
            // A thread that starts others in its namespace, where the manager's own belong.
            netns.run(|| {
                let work =
                    move || run(&file, (name == NAMES[1]).then_some(identity), &stop, &ready);
                let thread = std::thread::Builder::new().name("manager".to_owned());
                thread.spawn(work).map(drop).map_err(anyhow::Error::from)
            })?;
            let started = readiness.recv_timeout(PATIENCE);
            started
                .context("a manager did not start")?
                .map_err(|what| anyhow!("the manager on {node}: {what}"))?;
        }
        Ok(())
    }

    /// Waits until the two are linked.
    ///
    /// # Errors
    /// When that takes too long; why, if they know.
    pub(crate) fn wait_linked(&self) -> anyhow::Result<()> {
        let deadline = clock::now() + PATIENCE;
        loop {
            let status = self.status()?;
            let peer = status.peers.first();
            if peer.is_some_and(|peer| peer.linked) {
                return Ok(());
            }
            if clock::now() > deadline {
                let reason = peer.and_then(|peer| peer.reason.clone());
                let reason = reason.unwrap_or_else(|| "no reason was told".to_owned());
                anyhow::bail!("the managers were not linked in time: {reason}");
            }
            clock::sleep_until(clock::now() + LOOK);
        }
    }

    fn status(&self) -> anyhow::Result<StatusAnswer> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        writeln!(stream, "{}", Question::Status.word())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// The far manager, as the near one calls it.
    pub(crate) const PEER: &str = NAMES[1];

    /// The near manager's control socket.
    fn socket(&self) -> PathBuf {
        socket(self.folder.path(), 0)
    }

    /// The socket of its estimation service.
    pub(crate) fn service(&self) -> PathBuf {
        service(self.folder.path(), 0)
    }

    /// Where the streams go to.
    pub(crate) const fn sink(&self, plan: &Plan) -> IpAddr {
        if plan.riding {
            IpAddr::V4(OVERLAY[1])
        } else {
            self.far
        }
    }
}

fn socket(folder: &Path, own: usize) -> PathBuf {
    folder.join(format!("{}.sock", NAMES[own]))
}

fn service(folder: &Path, own: usize) -> PathBuf {
    folder.join(format!("{}-estimates.sock", NAMES[own]))
}

/// Runs a manager on this thread's host until `stop`; tells `ready` whether it could begin.
fn run(
    file: &Path,
    identity: Option<PathBuf>,
    stop: &Arc<AtomicBool>,
    ready: &SyncSender<Result<(), String>>,
) {
    let made = || -> anyhow::Result<Manager> {
        let config = Config::load(file).map_err(anyhow::Error::msg)?;
        let identity = identity.map(|path| Identity::load_or_create(&path));
        Manager::new(config, identity.transpose()?)
    };
    match made() {
        Ok(manager) => {
            // Whoever asked has gone only if the run is over.
            let _ = ready.send(Ok(()));
            // One that ends early is seen by what does not arrive any more.
            let _ = manager.run(stop);
        }
        Err(error) => drop(ready.send(Err(format!("{error:#}")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medianet::plan::{Probes, WHOLE};
    use units::Span;

    #[test]
    fn the_slowest_link_on_the_way_is_shared() {
        let mut topology = lab::profiles::find("manager-dumbbell").unwrap();
        let plan = Plan {
            probes: Probes::None,
            riding: false,
            duration: WHOLE,
            delay: Span::from_millis(10),
            interval: Span::from_millis(2_000),
            creep: None,
            patience: Span::from_millis(60_000),
            seed: 1,
        };
        let found = prepare(&mut topology, &plan).unwrap();
        assert_eq!((&*found.link, &*found.direction), ("x1-x2", "up"));
        assert_eq!(found.rate.as_bps(), 10_000_000);
        let shared = |spec: &path::Spec| {
            let mut stages = spec.0.iter();
            stages.any(|stage| matches!(stage, StageSpec::Rate { cross: Some(_), .. }))
        };
        let [link, ..] = &topology.links[..] else {
            panic!("no links")
        };
        assert!(shared(&link.up) && !shared(&link.down));
        assert!(!topology.links[1..].iter().any(|link| shared(&link.up)));
    }
}
