//! `isobath manager up`: a network interface whose packets ride on probes.
//!
//! Two hosts that each run a manager have an interface to each other (`iso0`). What the kernel routes there goes to the other
//! host's manager by UDP, and comes out of its interface; programs know nothing of it. Measurement tools hand their trains
//! to the manager over a Unix socket, and where a train and a packet meet, the packet travels in the probe's padding ([`mgrp`]).
//!
//! # The rooms
//!
//! - [`config`]: the file, and what can be wrong with it.
//! - [`machine`]: what is decided, without I/O. [`engine`]: the one thread that moves packets by it.
//! - [`link`]: how two managers agree, and dial again.
//! - [`marked`]: what goes to peers for its mark.
//! - [`socket`]: tools, and questions; [`tool`](kit::tool): the other end of it.
//! - [`service`]: programs ask what paths are like.
//! - [`snapshot`], [`counters`], [`metrics`]: what there is to see.
//!
//! # Who may send what to whom
//!
//! Two managers know each other by an access key, as a measuring host knows `isobath serve`; the one that is dialled has another for
//! each peer, and the key says which peer it is that dials. Packets have a tag by keys of their session. A packet from a peer is let in
//! only if its source is among the networks that are behind that peer in this manager's own file (`WireGuard` calls it cryptokey
//! routing): nobody can speak for another.
#![forbid(unsafe_code)]

pub mod config;
mod counters;
mod engine;
mod keepalive;
mod link;
pub mod machine;
pub mod marked;
mod metrics;
mod network;
pub mod service;
pub mod snapshot;
pub mod socket;
pub mod way;

pub use link::told;

use config::{Config, Endpoints, PeerTable};
use engine::{Engine, Handle};
use kit::far::StopOnDrop;
use kit::log::Log;
use kit::mailbox::Mailboxes;
use kit::responder::Responder;
use link::far::Acceptor;
use link::near;
use marked::Rules;
use network::Network;
use service::http::{Access, House, Listener};
use service::{Desk, Handle as DeskHandle};
use session::{AccessKey, Admission, Identity, Limits, Server, ServerConfig};
use socket::Socket;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::{io, thread};
use sys::tun::Tun;
use sys::{Error, iface};

/// A session lasts until one of its ends goes: ten years.
const FOR_EVER: u64 = 315_360_000;
/// Datagrams a second of a session that are looked at on the shared port: a peer that begins asks a few times.
const DATAGRAMS: u32 = 1_000;
/// Packets that the kernel keeps until the engine reads them. By the default of 500 one large window of TCP overflows it.
const QUEUE: u32 = 2_000;

/// A manager with all it needs, ready to run.
pub struct Manager {
    config: Arc<Config>,
    engine: Engine,
    handle: Handle,
    listening: Option<Listening>,
    metrics: Option<SocketAddr>,
    /// Held so that their files go at the end.
    socket: Socket,
    /// Held so that they go at the end.
    rules: Rules,
    service: Service,
}

/// The estimation service, before it runs.
struct Service {
    socket: Socket,
    endpoints: Vec<(Listener, Access)>,
    desk: Desk,
    handle: DeskHandle,
}

/// What waits for peers that dial.
struct Listening {
    server: Server,
    responder: Responder,
    mailboxes: Mailboxes,
    keys: Vec<(String, AccessKey)>,
}

impl Manager {
    /// Makes the interface, its routes and all sockets; what fails takes all of it away again.
    ///
    /// # Errors
    ///
    /// When a name, a port or a path is taken, or this user may not.
    pub fn new(config: Config, identity: Option<Identity>) -> anyhow::Result<Self> {
        let socket = Socket::bind(&config.socket, "socket").map_err(anyhow::Error::msg)?;
        let config = Arc::new(config);
        let mut service = Service::bind(&config)?;
        let listening = identity.map(|identity| Listening::bind(&config, identity));
        let listening = listening.transpose()?;
        let tun = interface(&config)?;
        let rules = Rules::add(&config)?;
        let (engine, handle) = Engine::new(&config, tun)?;
        let metrics = config.metrics.map(|address| service.count_at(address));
        Ok(Self {
            config,
            engine,
            handle,
            listening,
            metrics: metrics.transpose()?,
            socket,
            rules,
            service,
        })
    }

    /// Where it listens, and the key that each peer needs, by the peer's name.
    pub fn listening(&self) -> Option<(SocketAddr, &[(String, AccessKey)])> {
        let listening = self.listening.as_ref()?;
        Some((listening.server.local_addr(), &listening.keys))
    }

    /// Where the estimation service is.
    pub fn endpoints(&self) -> Endpoints {
        self.config.endpoints()
    }

    /// Where counters can be fetched.
    pub const fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// Runs until `stop` is raised. The threads beside the engine's end with the program.
    ///
    /// # Errors
    ///
    /// When the interface is gone.
    pub fn run(self, stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
        self.socket.serve(self.handle.clone())?;
        let desk = self.service.handle.clone();
        let sockets = (self.socket, self.service.start(&self.handle, stop)?);
        if let Some(listening) = self.listening {
            listening.start(&self.config, (&self.handle, &desk), stop)?;
        }
        for index in 0..self.config.peers.len() {
            dial(&self.config, index, (&self.handle, &desk), stop)?;
        }
        let moved = self.engine.run(stop);
        drop((sockets, self.rules));
        Ok(moved?)
    }
}

impl Service {
    fn bind(config: &Arc<Config>) -> anyhow::Result<Self> {
        let Endpoints { socket, port } = config.endpoints();
        let socket = Socket::bind(&socket, "service").map_err(anyhow::Error::msg)?;
        let mut endpoints = vec![(Listener::Unix(socket.listener()?), Access::Owner)];
        if let Some((address, key)) = port {
            let (listener, _) = listen(address, "the service")?;
            endpoints.push((Listener::Tcp(listener), Access::Key(key)));
        }
        let (desk, handle) = Desk::new(config);
        Ok(Self {
            socket,
            endpoints,
            desk,
            handle,
        })
    }

    /// Listens for who wants counters; where.
    fn count_at(&mut self, address: SocketAddr) -> anyhow::Result<SocketAddr> {
        let (listener, bound) = listen(address, "metrics")?;
        self.endpoints
            .push((Listener::Tcp(listener), Access::Counters));
        Ok(bound)
    }

    /// Runs in threads that end with the program, or with `stop`; what is to be held meanwhile.
    fn start(self, engine: &Handle, stop: &Arc<AtomicBool>) -> io::Result<Socket> {
        let (desk, stop) = (self.desk, Arc::clone(stop));
        in_thread("desk", move || desk.run(&stop))?;
        House::new(engine.clone(), self.handle).open(self.endpoints)?;
        Ok(self.socket)
    }
}

/// Listens by TCP for `what`; where.
fn listen(address: SocketAddr, what: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let failed =
        |error| anyhow::anyhow!("listen on {address} for {what}: {error} - choose a free port");
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

impl Listening {
    fn bind(config: &Config, identity: Identity) -> anyhow::Result<Self> {
        let keys = config.keys(&identity);
        let of_peer = |peer: &PeerTable| peer.key(&identity).secret;
        // In the order of the peers: the place of the one that is proven is the peer's.
        let secrets = config.peers.iter().map(of_peer).collect();
        let (address, port) = config.listen().unwrap_or_default();
        // One that was restarted comes back while its old session lasts.
        let sessions = 2 * config.peers.len();
        let server = Server::bind(ServerConfig {
            address,
            limits: Limits {
                duration_s: FOR_EVER,
                streams: 0,
                datagrams_per_s: DATAGRAMS,
            },
            admission: Admission {
                sessions,
                sessions_per_source: sessions,
                ..Admission::KEYED
            },
            secrets,
            ..ServerConfig::keyed(identity, port)
        })?;
        let mailboxes = Mailboxes::default();
        let responder = Responder::bind(server.local_addr(), server.sessions(), mailboxes.clone())?;
        Ok(Self {
            server,
            responder,
            mailboxes,
            keys,
        })
    }

    fn start(
        self,
        config: &Arc<Config>,
        (engine, desk): (&Handle, &DeskHandle),
        stop: &Arc<AtomicBool>,
    ) -> io::Result<()> {
        let acceptor = Arc::new(Acceptor {
            config: Arc::clone(config),
            engine: engine.clone(),
            desk: desk.clone(),
            mailboxes: self.mailboxes,
            socket: self.responder.socket(),
            newest: Mutex::new(HashMap::new()),
            log: Log::new(false),
        });
        let (server, responder) = (self.server, self.responder);
        let flag = Arc::clone(stop);
        in_thread("answer", move || {
            // Without it no peer could come.
            let _stop = StopOnDrop(&flag);
            let _ = responder.run(&flag);
        })?;
        let flag = Arc::clone(stop);
        in_thread("accept", move || server.run(&acceptor, &flag))
    }
}

/// Keeps dialling a peer, if it is this end that dials.
fn dial(
    config: &Arc<Config>,
    index: usize,
    (engine, desk): (&Handle, &DeskHandle),
    stop: &Arc<AtomicBool>,
) -> io::Result<()> {
    let is_dialled = config.peers.get(index).is_some_and(|p| p.dial().is_some());
    if !is_dialled {
        return Ok(());
    }
    let (config, stop) = (Arc::clone(config), Arc::clone(stop));
    let (engine, desk) = (engine.clone(), desk.clone());
    in_thread("dial", move || {
        near::keep(&config, index, (&engine, &desk), &stop);
    })
}

fn in_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    sys::threads::spawn(thread, work)
}

/// Makes the interface with its addresses and routes. It is gone with its descriptor, and they with it.
fn interface(config: &Config) -> Result<Tun, Error> {
    let name = &config.interface;
    let tun = Tun::open(name)?;
    let mtu = u32::try_from(config.inside_mtu()).ok();
    iface::up(name, mtu, Some(QUEUE))?;
    for Network { address, prefix } in &config.addresses {
        iface::add_network_address(name, *address, *prefix)?;
    }
    let networks = config.addresses.iter().map(|own| (own.first(), own.prefix));
    let behind_own: Vec<_> = networks.collect();
    for route in config.peers.iter().flat_map(|peer| &peer.routes) {
        let own = config.own(route);
        // The kernel has made a route for what its own address says.
        if let Some(own) = own.filter(|_| !behind_own.contains(&(route.address, route.prefix))) {
            iface::add_network_route(name, route.address, route.prefix, own.address, None)?;
        }
    }
    Ok(tun)
}
