//! A lab at work: namespaces, interfaces, and the thread that serves the links.

use crate::monitor::{self, Log, Monitor, SharedLog};
use crate::node::{self, Node};
use crate::runner::{Direction, Runner};
use crate::{Congestion, Error, Options, Topology, profiles};
use packet::Frame;
use path::{Assigned, Pipeline};
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::{cgroup, clock, netns, process};

/// Environment variable by which every process of a lab is known, with the owner's mark as its value.
pub const OWNER: &str = "ISOBATH_LAB_OWNER";

/// Networks that this process has brought up.
static NETWORKS: AtomicU64 = AtomicU64::new(0);

/// A running network. Dropping it takes everything down.
#[derive(Debug)]
pub struct Network {
    topology: Topology,
    nodes: HashMap<String, Node>,
    links: Vec<Link>,
    stop: Arc<AtomicBool>,
    runner: Option<JoinHandle<()>>,
    cpu_ns: Arc<AtomicU64>,
    /// By which the processes of this lab are known.
    mark: String,
    congestion: Congestion,
}

/// One direction of one link, as its user sees it.
#[derive(Debug)]
pub struct Link {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    log: SharedLog,
}

impl Link {
    /// Takes what has been logged since the last call.
    pub fn take_log(&self) -> Log {
        monitor::take(&self.log)
    }
}

impl Network {
    /// Brings `topology` up as it is. Everything random on its links follows from `seed`.
    ///
    /// First it sweeps what labs of dead processes left running, and makes sure of the privilege to make networks (which is
    /// possible only before this process has other threads).
    ///
    /// # Errors
    ///
    /// When this user may not make networks, there is no TUN driver, or a link is ill described; nothing is left behind.
    pub fn up(topology: Topology, seed: u64) -> Result<Self, Error> {
        Self::up_with(topology, seed, &Options::default())
    }

    /// The same, with what `options` ask for.
    ///
    /// # Errors
    ///
    /// As [`Network::up`].
    pub fn up_with(topology: Topology, seed: u64, options: &Options) -> Result<Self, Error> {
        // Before this process moves into a user namespace: from there it could not look into those of earlier labs.
        process::sweep_orphans(OWNER);
        cgroup::sweep();
        netns::gain_privilege()?;
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}.{number}", process::owner_mark()?);
        let delays = options.delays.clone().unwrap_or_default();
        let paths = pipelines(&topology, seed, &delays)?;
        let congestion = Congestion::choose(options.congestion_control.as_deref())?;
        let nodes = node::all(&topology, &mark, options, &congestion)?;
        let (links, directions) = wire(&topology, &nodes, paths, options)?;
        let (stop, cpu_ns) = (Arc::default(), Arc::default());
        let runner = start(
            Runner::new(directions)?,
            Arc::clone(&stop),
            Arc::clone(&cpu_ns),
        )?;
        Ok(Self {
            topology,
            nodes,
            links,
            stop,
            runner: Some(runner),
            cpu_ns,
            mark,
            congestion,
        })
    }

    /// What this network looks like.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Which congestion control TCP has on its nodes.
    pub const fn congestion(&self) -> &Congestion {
        &self.congestion
    }

    /// Every direction of every link, `up` before `down`, in the topology's order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Node `name`.
    ///
    /// # Errors
    ///
    /// When there is no such node; the message lists those that there are.
    pub fn node(&self, name: &str) -> Result<&Node, Error> {
        self.nodes.get(name).ok_or_else(|| Error::Node {
            name: name.to_owned(),
            known: self.topology.nodes().collect::<Vec<_>>().join(", "),
        })
    }

    /// The address of node `name`: IPv6 if `v6`, else IPv4. `None` when there is no such node, or no IPv6 in this lab.
    pub fn address(&self, name: &str, v6: bool) -> Option<IpAddr> {
        let mut addresses = self.topology.addresses(name)?.into_iter();
        addresses.find(|address| address.is_ipv6() == v6)
    }

    /// CPU time that serving the links has taken so far.
    pub fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }

    /// Starts `command` on node `name`. Every node can be reached by its name there, if this machine has an `/etc/hosts`. The process is killed when the calling
    /// thread ends; should it escape, the next lab sweeps it.
    ///
    /// # Errors
    ///
    /// When there is no such node or program.
    pub fn spawn(&self, name: &str, mut command: Command) -> Result<Child, Error> {
        // A root with nothing but this program in it has no such file, and no folder to make one in.
        let hosts = Path::new("/etc/hosts").exists();
        let hosts = hosts.then(|| self.hosts_file()).transpose()?;
        command.env(OWNER, &self.mark);
        let path = hosts.as_ref().and_then(|file| file.path().to_str());
        Ok(self.node(name)?.spawn(command, path)?)
    }

    /// A file in the form of `/etc/hosts` with the names of all nodes. The child holds it once it has started.
    fn hosts_file(&self) -> Result<tempfile::NamedTempFile, Error> {
        let make = || -> io::Result<_> {
            let mut file = tempfile::Builder::new()
                .prefix("isobath-hosts-")
                .tempfile()?;
            // Programs that drop privileges want to find names too.
            sys::files::let_all_read(file.path())?;
            writeln!(file, "127.0.0.1 localhost\n::1 localhost")?;
            for name in self.topology.nodes() {
                for address in self.topology.addresses(name).into_iter().flatten() {
                    writeln!(file, "{address} {name}")?;
                }
            }
            Ok(file)
        };
        make().map_err(|e| sys::Error::io("write", "a temporary hosts file", e).into())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(runner) = self.runner.take() {
            // A runner that panicked has printed why.
            let _ = runner.join();
        }
        // What the commands have left running: with it the namespaces would stay.
        process::sweep_own(OWNER, &self.mark);
    }
}

/// The pipelines of all links, `up` before `down`, in the topology's order.
pub(crate) fn pipelines(
    topology: &Topology,
    seed: u64,
    delays: &Assigned,
) -> Result<Vec<Pipeline<Frame>>, Error> {
    let specs = topology
        .links
        .iter()
        .flat_map(|link| [(link, &link.up), (link, &link.down)]);
    specs
        .zip(0_u64..)
        .map(|((link, spec), index)| {
            let resolve = |name: &str| profiles::trace(name).map_err(Into::into);
            spec.build(seed.wrapping_add(index), &resolve, delays)
                .map_err(|source| Error::Path {
                    link: link.between.join(" - "),
                    source,
                })
        })
        .collect()
}

/// Lays every link between its two nodes: both directions as their users see them, and as the runner does.
fn wire(
    topology: &Topology,
    nodes: &HashMap<String, Node>,
    paths: Vec<Pipeline<Frame>>,
    options: &Options,
) -> Result<(Vec<Link>, Vec<Direction>), Error> {
    let mut paths = paths.into_iter();
    let mut links = Vec::new();
    let mut directions = Vec::new();
    for link in &topology.links {
        let [a, b] = &link.between;
        let near = Arc::new(nodes[a].interface(topology, [a, b], link.mtu, options)?);
        let far = Arc::new(nodes[b].interface(topology, [b, a], link.mtu, options)?);
        for (from, to, input, output) in [(a, b, &near, &far), (b, a, &far, &near)] {
            let log = SharedLog::default();
            let mut path = paths.next().unwrap_or_else(|| Pipeline::new(Vec::new()));
            if options.arrivals {
                path.watch_queue();
            }
            directions.push(Direction {
                input: Arc::clone(input),
                output: Arc::clone(output),
                path,
                overhead: link.overhead,
                monitor: Monitor::new(Arc::clone(&log), options.clone()),
                wake: None,
                leaving: VecDeque::new(),
            });
            links.push(Link {
                from: from.clone(),
                to: to.clone(),
                log,
            });
        }
    }
    Ok((links, directions))
}

fn start(
    runner: Runner,
    stop: Arc<AtomicBool>,
    cpu_ns: Arc<AtomicU64>,
) -> Result<JoinHandle<()>, sys::Error> {
    let work = move || {
        // Without it the kernel may wake this thread 50 us late on purpose.
        let _ = clock::timer_slack(1);
        runner.run(&stop, &cpu_ns);
    };
    std::thread::Builder::new()
        .name("lab".to_owned())
        .spawn(work)
        .map_err(|e| sys::Error::io("start", "the lab's thread", e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Passage, Watch};
    use std::net::UdpSocket;

    const TEXT: &str = r#"
        summary = "test"
        client = "a"
        server = "c"
        hosts = ["a", "c"]
        routers = ["b"]
        link = [
            { between = ["a", "b"], up = [{ kind = "delay", delay = "2ms" }], down = [] },
            { between = ["b", "c"], up = [], down = [{ kind = "delay", delay = "3ms" }] },
        ]
    "#;

    #[test]
    fn datagrams_cross_a_router_in_both_families_and_are_counted() {
        let network = Network::up(Topology::parse(TEXT, "test").unwrap(), 1).unwrap();
        for v6 in [false, true] {
            let bind = |name: &str| -> UdpSocket {
                let address = network.address(name, v6).unwrap();
                let bound = network.node(name).unwrap().run(|| {
                    UdpSocket::bind((address, 4_890)).map_err(|e| sys::Error::io("bind", "udp", e))
                });
                bound.unwrap()
            };
            let (client, server) = (bind("a"), bind("c"));
            client
                .set_read_timeout(Some(Duration::from_secs(5)))
                .unwrap();
            server
                .set_read_timeout(Some(Duration::from_secs(5)))
                .unwrap();
            let before = clock::now();
            client
                .send_to(b"down", server.local_addr().unwrap())
                .unwrap();
            let mut buffer = [0; 100];
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            server.send_to(&buffer[..length], from).unwrap();
            assert_eq!(
                client.recv_from(&mut buffer).unwrap(),
                (4, server.local_addr().unwrap())
            );
            let elapsed = clock::now().since(before);
            assert!(
                elapsed >= Duration::from_millis(5),
                "the delays were not kept: {elapsed:?}"
            );
        }
        let entered = |index: usize| network.links()[index].take_log().totals.entered.packets;
        // The counters are published every 10 ms.
        let mut wait = 0;
        while entered(1) < 2 && wait < 100 {
            clock::sleep_until(clock::now() + Duration::from_millis(10));
            wait += 1;
        }
        assert_eq!([entered(0), entered(1), entered(2), entered(3)], [2; 4]);
    }

    #[test]
    fn what_is_watched_for_is_noted_on_every_link_and_nothing_else_is() {
        let options = Options {
            watch: Some(Watch {
                prefix: b"note ".to_vec(),
            }),
            ..Options::default()
        };
        let topology = Topology::parse(TEXT, "test").unwrap();
        let network = Network::up_with(topology, 1, &options).unwrap();
        let bind = |name: &str, v6: bool| -> UdpSocket {
            let address = network.address(name, v6).unwrap();
            let bound = network.node(name).unwrap().run(|| {
                UdpSocket::bind((address, 4_890)).map_err(|e| sys::Error::io("bind", "udp", e))
            });
            bound.unwrap()
        };
        let mut buffer = [0; 100];
        for v6 in [false, true] {
            let (client, server) = (bind("a", v6), bind("c", v6));
            server
                .set_read_timeout(Some(Duration::from_secs(5)))
                .unwrap();
            for text in ["note 1", "no", "a note ", "note 2"] {
                client
                    .send_to(text.as_bytes(), server.local_addr().unwrap())
                    .unwrap();
                let (length, _) = server.recv_from(&mut buffer).unwrap();
                assert_eq!(&buffer[..length], text.as_bytes());
            }
        }
        let mut noted = [const { Vec::new() }; 4];
        let mut wait = 0;
        while noted[2].len() < 4 && wait < 100 {
            for (link, noted) in network.links().iter().zip(&mut noted) {
                noted.extend(link.take_log().passages);
            }
            clock::sleep_until(clock::now() + Duration::from_millis(10));
            wait += 1;
        }
        let [first, back, second, back_too] = noted;
        assert!(back.is_empty() && back_too.is_empty());
        let texts = |passages: &[Passage]| -> Vec<Vec<u8>> {
            passages.iter().map(|p| p.payload().to_vec()).collect()
        };
        assert_eq!(texts(&first), [b"note 1", b"note 2", b"note 1", b"note 2"]);
        assert_eq!(texts(&first), texts(&second));
        for (first, second) in first.iter().zip(&second) {
            // The first link delays by 2 ms, the second one not at all.
            assert_eq!(first.due.since(first.entered), Duration::from_millis(2));
            assert_eq!(second.due, second.entered);
            assert!(first.due <= first.left && first.left <= second.entered);
            assert!(second.due <= second.left);
        }
    }

    #[test]
    fn a_command_runs_on_its_node_and_knows_the_others_by_name() {
        let network = Network::up(Topology::parse(TEXT, "test").unwrap(), 1).unwrap();
        let mut command = Command::new("getent");
        command
            .args(["ahostsv4", "c"])
            .stdout(std::process::Stdio::piped());
        let output = network
            .spawn("a", command)
            .unwrap()
            .wait_with_output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("10.77.0.2"), "{text}");
        assert!(network.spawn("z", Command::new("true")).is_err());
    }
}
