//! A node at work: a namespace with addresses and routes, and the processor time that it may have.

use crate::{Congestion, Error, Options, Topology};
use std::collections::HashMap;
use std::net::IpAddr;
use std::process::{Child, Command};
use std::sync::Arc;
use sys::cgroup::{Group, Home};
use sys::netns::{self, Netns};
use sys::tun::Tun;
use sys::{iface, process};
use units::Span;

/// Packets that wait for the runner in an interface before the kernel drops some: a tenth of a second of full-sized
/// packets at 1 Gbit/s.
const INTERFACE_QUEUE: u32 = 10_000;
/// Kernel parameters of every node. Link-local addresses would bring traffic that nobody asked for.
const PARAMETERS: &[(&str, &str)] = &[
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
    ("net.ipv6.conf.all.accept_ra", "0"),
];
/// May be refused: a kernel takes no groups that a user namespace does not have (where all are root, who may ping).
const PING_GROUPS: (&str, &str) = ("net.ipv4.ping_group_range", "0 2147483647");
/// The kernel limits the ICMP errors that it sends (RFC 1812 section 4.3.2.8, RFC 4443 section 2.4 (f)): by default one a
/// second to each destination, so a path trace would see its routers lose nearly all probes. In a lab what a trace finds
/// is up to its plan and the links, so the limits are off: zero is no limit, and a type outside the mask is not counted
/// against the limit of the whole machine either.
const UNLIMITED_ERRORS: &[(&str, &str)] = &[
    ("net.ipv4.icmp_ratelimit", "0"),
    ("net.ipv4.icmp_ratemask", "0"),
    ("net.ipv6.icmp.ratelimit", "0"),
];
/// The IPv6 mask of limited ICMP types, which came with Linux 5.0; an empty line is an empty mask.
const UNLIMITED_MASK: (&str, &str) = ("net.ipv6.icmp.ratemask", "\n");
const FORWARDING: &[(&str, &str)] = &[
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
];

/// Those of hosts with tens of thousands of connections: all ports that need no privilege, as many as may wait to be
/// accepted as there are ports, and the state of a million that have ended, which TCP keeps for a minute each.
const BUSY_HOSTS: &[(&str, &str)] = &[
    ("net.ipv4.ip_local_port_range", "1024 65535"),
    ("net.core.somaxconn", "65535"),
    ("net.ipv4.tcp_max_syn_backlog", "65535"),
    ("net.ipv4.tcp_max_tw_buckets", "1000000"),
];

/// A node of a running network.
#[derive(Debug)]
pub struct Node {
    ns: Netns,
    /// Where its threads and processes belong; `None` in a lab in which no host is limited.
    group: Option<Arc<Group>>,
}

impl Node {
    /// Moves the calling thread to the node, for good: into its namespace, and into its share of processor time if it has
    /// one.
    ///
    /// Sockets made before stay where they were made; threads started after are there as well, those started before are
    /// not.
    ///
    /// # Errors
    ///
    /// When the process may not enter it.
    pub fn enter(&self) -> Result<(), sys::Error> {
        self.join()?;
        self.ns.enter()
    }

    /// Runs `work` on the node, on a thread of its own, and waits for it.
    ///
    /// # Errors
    ///
    /// Those of [`Node::enter`] and of `work`.
    pub fn run<T, E>(&self, work: impl FnOnce() -> Result<T, E> + Send) -> Result<T, E>
    where
        T: Send,
        E: From<sys::Error> + Send,
    {
        self.ns.run(|| {
            self.join()?;
            work()
        })
    }

    /// Starts `command` on the node, with `hosts` as its `/etc/hosts`.
    pub(crate) fn spawn(
        &self,
        mut command: Command,
        hosts: Option<&str>,
    ) -> Result<Child, sys::Error> {
        if let Some(group) = &self.group {
            group.hold(&mut command);
        }
        process::spawn_in(&self.ns, command, hosts)
    }

    fn join(&self) -> Result<(), sys::Error> {
        self.group.as_ref().map_or(Ok(()), |group| group.enter())
    }

    /// The interface of this node, `name`, towards its neighbour `peer`, with routes to everything that lies that way.
    pub(crate) fn interface(
        &self,
        topology: &Topology,
        [name, peer]: [&str; 2],
        mtu: u32,
        options: &Options,
    ) -> Result<Tun, sys::Error> {
        let own: Vec<IpAddr> = topology.addresses(name).unwrap_or_default();
        self.ns.run(|| {
            let tun = Tun::open(&format!("to-{peer}"))?;
            iface::up(tun.name(), Some(mtu), Some(INTERFACE_QUEUE))?;
            for address in &own {
                iface::add_address(tun.name(), *address)?;
            }
            for node in topology
                .nodes()
                .filter(|node| topology.next_hop(name, node) == Some(peer))
            {
                let there = topology.addresses(node).into_iter().flatten();
                for (destination, source) in there.zip(&own) {
                    let window = options.initial_window;
                    iface::add_route(tun.name(), destination, *source, window)?;
                }
            }
            Ok(tun)
        })
    }
}

/// The nodes of `topology`, before they have interfaces. `mark` tells the lab from others of this machine.
pub(crate) fn all(
    topology: &Topology,
    mark: &str,
    options: &Options,
    congestion: &Congestion,
) -> Result<HashMap<String, Node>, Error> {
    let mut groups = groups(topology, mark)?;
    let others = groups.remove("");
    let nodes = topology.nodes().map(|name| {
        let node = Node {
            ns: namespace(topology, name, options, congestion)?,
            group: groups.get(name).or(others.as_ref()).map(Arc::clone),
        };
        Ok((name.to_owned(), node))
    });
    nodes.collect()
}

/// The group of each limited host and, under the empty name, that of all others; nothing where no host is limited.
///
/// The others need one too: a thread that has entered a limited host may start a process on another.
fn groups<'a>(topology: &'a Topology, mark: &str) -> Result<HashMap<&'a str, Arc<Group>>, Error> {
    if topology.limits.is_empty() {
        return Ok(HashMap::new());
    }
    let home = Home::find()?;
    let mut groups = HashMap::from([("", Arc::new(home.group()?))]);
    for limit in &topology.limits {
        let name = format!("{mark}-{}", limit.host);
        let group = home.limited(&name, limit.cpu.get())?;
        groups.insert(&limit.host, Arc::new(group));
    }
    Ok(groups)
}

fn namespace(
    topology: &Topology,
    name: &str,
    options: &Options,
    congestion: &Congestion,
) -> Result<Netns, sys::Error> {
    let ns = Netns::create()?;
    let forwards = topology.routers.iter().any(|router| router == name);
    ns.run(|| {
        let forwarding = if forwards { FORWARDING } else { &[] };
        let busy = if options.busy_hosts { BUSY_HOSTS } else { &[] };
        for (parameter, value) in PARAMETERS.iter().chain(forwarding).chain(busy) {
            netns::set_sysctl(parameter, value)?;
        }
        let (parameter, value) = PING_GROUPS;
        let _ = netns::set_sysctl(parameter, value);
        congestion.apply()?;
        options.ecn.map_or(Ok(()), sys::tcp::set_ecn)?;
        limit_errors(topology.icmp_interval)
    })?;
    Ok(ns)
}

/// Lets the node hold ICMP errors back as the topology says.
fn limit_errors(interval: Option<Span>) -> Result<(), sys::Error> {
    let Some(interval) = interval else {
        for (parameter, value) in UNLIMITED_ERRORS {
            netns::set_sysctl(parameter, value)?;
        }
        let (parameter, value) = UNLIMITED_MASK;
        let _ = netns::set_sysctl(parameter, value);
        return Ok(());
    };
    // What is limited, and by how much all together, stays as the kernel has it.
    let millis = interval.0.as_millis().to_string();
    netns::set_sysctl("net.ipv4.icmp_ratelimit", &millis)?;
    netns::set_sysctl("net.ipv6.icmp.ratelimit", &millis)
}
