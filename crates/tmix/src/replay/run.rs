//! A replay in a lab: both hosts play, and the path is emulated.
//!
//! Each host has threads of its own in its namespace ([`Engine`]), among which its connections are dealt out. The calling thread
//! puts their news and the lab's counters together ([`Collector`]).

use super::collector::{Collector, Context, Outcome};
use super::connector::{Connector, Emulated};
use super::datagrams::{self, Flows};
use super::engine::{Engine, News, Stage};
use super::plan::Plan;
use super::room::Room;
use super::tuples::Tuples;
use super::workload::{Host, Part};
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use lab::Network;
use path::Assigned;
use record::RecordWriter;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;
use sys::{Error, clock, process};
use units::Instant;

/// From the word to begin to the first planned start.
pub(super) const LEAD: Duration = Duration::from_millis(300);
/// Threads that may be ready before anybody looks.
const SLOTS: usize = 64;
/// Bundles of news that may wait.
pub(super) const QUEUE: usize = 64;

/// The emulated network.
pub struct Place<'a> {
    /// The lab with its hosts and links.
    pub network: &'a Network,
    /// Where the path looks up how far each connection is.
    pub delays: &'a Assigned,
    /// Threads and pairs of ports.
    pub room: Room,
    /// Whether connections are of IPv6.
    pub v6: bool,
}

/// Plays in a lab, writing what is found to `record` as it comes.
///
/// # Errors
/// When a host cannot get ready, or the record cannot be written.
pub fn run(
    context: &Context<'_>,
    place: &Place<'_>,
    record: &mut RecordWriter,
) -> anyhow::Result<Outcome> {
    let stop = AtomicBool::new(false);
    let split = split(context.plan);
    let [client, server] = place.addresses()?;
    let stage = Stage {
        parts: &context.workload.parts,
        shares: place.room.shares,
        connector: Connector::Emulated(Emulated {
            tuples: place.tuples()?,
            delays: place.delays.clone(),
            split: &split,
        }),
        congestion_control: context.plan.congestion_control.as_deref(),
        stop: &stop,
        begun: AtomicU64::new(0),
        open: AtomicU64::new(0),
        flows: Flows::of(&context.workload.parts, client, server),
    };
    let (tell, news) = mpsc::sync_channel(QUEUE);
    let (cpus, lost) = (Cpus::default(), OnceLock::new());
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        let (ready, readiness) = mpsc::sync_channel(SLOTS);
        let mut signals = Vec::new();
        let threads = Host::BOTH.map(|host| (0..stage.shares).map(move |share| (host, share)));
        for (host, share) in threads.into_iter().flatten() {
            let (go, going) = mpsc::sync_channel::<Instant>(1);
            signals.push(go);
            let (ready, tell, stage) = (ready.clone(), tell.clone(), &stage);
            let node = place.network.node(place.node(host))?;
            std::thread::Builder::new()
                .name(format!("{}-{share}", host.name()))
                .spawn_scoped(scope, move || {
                    match enter(node).and_then(|()| engine((host, share), stage, tell)) {
                        Ok(engine) => {
                            let _ = ready.send(Ok(()));
                            // Without a word another thread could not get ready.
                            if let Ok(origin) = going.recv() {
                                engine.run(origin);
                            }
                        }
                        Err(error) => drop(ready.send(Err(error))),
                    }
                })?;
        }
        let node = |host| Ok(place.network.node(place.node(host))?);
        signals.extend(datagrams::spawn(scope, &stage, node, &ready, &tell)?);
        drop((ready, tell));
        for _ in &signals {
            readiness.recv()??;
        }
        let origin = clock::now() + LEAD;
        for go in signals {
            go.send(origin)?;
        }
        let sampler = Sampler::new(origin, "client", &cpus);
        let stopped = &stop;
        scope.spawn(move || sampler.run(stopped));
        Collector::new(context, &stage, record, (origin, &lost), &cpus)?.collect(news)
    })
}

/// Moves the calling thread to a host of the lab, with descriptors of its own.
pub(super) fn enter(node: &lab::Node) -> Result<(), Error> {
    node.enter()?;
    process::own_descriptors()
}

fn engine<'a>(
    which: (Host, u32),
    stage: &'a Stage<'a>,
    tell: SyncSender<News>,
) -> Result<Engine<'a>, Error> {
    // The kernel may wake a thread 50 us late on purpose.
    let _ = clock::timer_slack(1);
    Engine::new(which, stage, None, tell)
}

/// What of a connection's round trip each host adds.
fn split(plan: &Plan) -> impl Fn(&Part) -> [Duration; 2] + Sync {
    let at = plan.rtt_at;
    move |part| at.split(part.vector.min_rtt.unwrap_or_default())
}

impl Place<'_> {
    /// For each share, the pairs of ports of the connections that client and server open.
    fn tuples(&self) -> anyhow::Result<Vec<[Tuples; 2]>> {
        let [client, server] = self.addresses()?;
        let [from_client, from_server] = self.room.tuples;
        let shares = self.room.shares;
        let forth = Tuples::shares(client, server, from_client, shares);
        let back = Tuples::shares(server, client, from_server, shares);
        let both = forth.into_iter().zip(back);
        Ok(both.map(|(forth, back)| [forth, back]).collect())
    }

    fn addresses(&self) -> anyhow::Result<[IpAddr; 2]> {
        let address = |host| {
            let name = self.node(host);
            let address = self.network.address(name, self.v6);
            address.ok_or_else(|| anyhow::anyhow!("{name} has no such address in this lab"))
        };
        Ok([address(Host::Client)?, address(Host::Server)?])
    }

    fn node(&self, host: Host) -> &str {
        let topology = self.network.topology();
        match host {
            Host::Client => &topology.client,
            Host::Server => topology.servers().first().copied().unwrap_or_default(),
        }
    }
}
