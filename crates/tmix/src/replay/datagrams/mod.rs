//! Flows of UDP of a replay, on sockets.
//!
//! Each host has one more thread, that of an [`Engine`], which plays all ends of all flows of its host by `epoll`; what an end
//! does [`vectors::play::datagrams`] decides. What is different from connections of TCP:
//!
//! - Nobody accepts a flow. Which pair of ports a flow has is known beforehand, by its place among the flows, so the acceptor
//!   knows whom to speak to even if it speaks first; and its flow begins, as the initiator's, at the planned start.
//! - A flow has a socket of its own at its initiator only. The acceptor's ends share those on which they are spoken to, and
//!   know each other's datagrams apart by the ports that these come from.
//! - Nobody speaks before the path knows how far it is: the acceptor begins no flow that the initiator has not opened.
//!
//! [`counters`] puts together what both ends know, as a row of the table `flows`.

pub mod counters;
mod engine;
mod live;

pub use counters::{Counters, Half};

use super::engine::{News, Stage};
use super::run::enter;
use super::tuples::Tuples;
use super::workload::{Host, Part};
use engine::Engine;
use lab::Node;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{Builder, Scope};
use sys::{Error, clock};
use units::Instant;

/// All flows of a replay, and what both hosts know of them. Initiators are at the client: no model makes flows that go the other
/// way.
pub struct Flows {
    /// Their numbers among the parts, by start.
    numbers: Vec<u32>,
    /// A pair of ports for each, at the same place.
    tuples: Tuples,
    /// How many of them the client has tried to open; those that it could are entered in `tuples`.
    opened: AtomicU32,
    /// Ends that have not come to their end.
    open: AtomicU64,
}

impl Flows {
    /// Those among `parts`, from `client` to `server`.
    pub fn of(parts: &[Part], client: IpAddr, server: IpAddr) -> Self {
        let udp = (0..).zip(parts).filter(|(_, part)| part.is_udp());
        let numbers: Vec<u32> = udp.map(|(number, _)| number).collect();
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        Self {
            numbers,
            tuples: Tuples::new(client, server, count),
            opened: AtomicU32::new(0),
            open: AtomicU64::new(0),
        }
    }

    /// No flows.
    pub fn none() -> Self {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self::of(&[], nowhere, nowhere)
    }

    /// Whether there is nothing to be played by UDP.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether no flow is under way.
    pub fn are_over(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }

    /// The ports of the flow that is part `number`.
    pub fn ports(&self, number: u32) -> Option<[u16; 2]> {
        Some(self.addresses(number)?.map(|address| address.port()))
    }

    fn addresses(&self, number: u32) -> Option<[SocketAddr; 2]> {
        let place = self.numbers.binary_search(&number).ok()?;
        Some(self.tuples.addresses(u32::try_from(place).ok()?))
    }
}

/// Starts a thread for each host that plays its ends of all flows, if there are flows: it says when it is ready, and goes on
/// when it is told the first planned start.
///
/// # Errors
/// When a host has no namespace or no thread can be had.
pub fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    stage: &'env Stage<'env>,
    node: impl Fn(Host) -> anyhow::Result<&'env Node>,
    ready: &SyncSender<Result<(), Error>>,
    tell: &SyncSender<News>,
) -> anyhow::Result<Vec<SyncSender<Instant>>> {
    if stage.flows.is_empty() {
        return Ok(Vec::new());
    }
    let mut signals = Vec::new();
    for host in Host::BOTH {
        let (go, going) = mpsc::sync_channel::<Instant>(1);
        signals.push(go);
        let (ready, tell, node) = (ready.clone(), tell.clone(), node(host)?);
        let thread = Builder::new().name(format!("{}-udp", host.name()));
        thread.spawn_scoped(scope, move || {
            // The kernel may wake a thread 50 us late on purpose.
            let _ = clock::timer_slack(1);
            let engine = enter(node).and_then(|()| Engine::new(host, stage, tell));
            match engine {
                Ok(engine) => {
                    let _ = ready.send(Ok(()));
                    // Without a word the other host could not get ready.
                    if let Ok(origin) = going.recv() {
                        engine.run(origin);
                    }
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        })?;
    }
    Ok(signals)
}
