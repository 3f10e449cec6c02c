//! The thread that moves packets: between the interface, the peers' machines and their sockets.
//!
//! There is one, and it alone has the machines, so nothing is locked. Others ask it by [`Command`]s. It sleeps in the kernel until a
//! packet, a command or a deadline comes. While a transaction is under way it is exact: before a probe is due it stops sleeping and waits on the
//! clock ([`sys::pacer`]), and between two probes that are close it moves one packet each way at a time, so that
//! no batch makes a probe late.

mod clients;
mod command;
mod inside;
mod link;

pub(crate) use clients::outbox;
pub(crate) use command::{Command, Handle};
pub(crate) use link::{Joined, Keys};

use super::config::Config;
use super::counters::{CARRIAGE, Carriage, Inside, Sums, counts};
use super::network::{Routes, ends};
use super::snapshot::{PeerSnapshot, Snapshot};
use clients::Clients;
use command::Orders;
use inside::Interface;
use link::Link;
use mgrp::envelope::{Carrier, ENVELOPE};
use mgrp::message::Message;
use mgrp::transaction::{Refusal, Transaction};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::pacer::Pacer;
use sys::tun::Tun;
use sys::udp::{BATCH, RecvBatch};
use sys::{Error, clock};
use units::{Instant, Stamp};

/// Room for the longest datagram: the longest packet that an envelope holds, and more.
const LONGEST: usize = ENVELOPE + 9_216;
/// Bursts that are read from the interface before the sockets are looked at again, and batches from one socket.
const TURNS: usize = 8;
/// `stop` is looked at this often.
const TICK: Duration = Duration::from_millis(100);
/// The clocks are compared again after this long: by then slewing has moved them apart by half a microsecond at most.
const STAMP: Duration = Duration::from_millis(1);
/// Within this time of a probe nothing sleeps in the kernel.
const NEAR: Duration = Duration::from_micros(200);
/// Within this time of a probe nothing else is done: moving a packet each way takes some 15 us.
const STILL: Duration = Duration::from_micros(40);

/// A peer, whether there is a session with it or not.
struct Peer {
    name: String,
    /// By what tools are told of it.
    source: IpAddr,
    link: Option<Link>,
    /// What sessions that are over have counted.
    past: Sums,
    carriage: Carriage,
    /// Why there is no session.
    note: Option<String>,
}

/// See the [module](self).
pub(crate) struct Engine {
    name: String,
    interface: Interface,
    routes: Routes,
    peers: Vec<Peer>,
    clients: Clients,
    orders: Orders,
    counters: Inside,
    began: Instant,
    stamp: Stamp,
    batch: RecvBatch,
    single: RecvBatch,
}

impl Engine {
    /// An engine with no sessions yet, and the way to give it commands.
    ///
    /// # Errors
    ///
    /// When the system gives no descriptors.
    pub(crate) fn new(config: &Config, tun: Tun) -> std::io::Result<(Self, Handle)> {
        let (handle, orders) = command::channel()?;
        let peers = config.peers.iter().map(|peer| Peer {
            name: peer.name.clone(),
            source: config.of_session(peer, Carrier::UdpV4).source,
            link: None,
            past: Sums::new(),
            carriage: Carriage::default(),
            note: None,
        });
        let engine = Self {
            name: config.name.clone(),
            interface: Interface::new(tun),
            routes: config.routes(),
            peers: peers.collect(),
            clients: Clients::default(),
            orders,
            counters: Inside::default(),
            began: clock::now(),
            stamp: clock::stamp(),
            batch: RecvBatch::new(BATCH, LONGEST),
            single: RecvBatch::new(1, LONGEST),
        };
        Ok((engine, handle))
    }

    /// Moves packets until `stop` is raised.
    ///
    /// # Errors
    ///
    /// When the interface or the system's timers are gone.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Result<(), Error> {
        let mut pacer = Pacer::calibrate()?;
        while !stop.load(Ordering::Relaxed) {
            self.transmit();
            let now = clock::now();
            let due = self.next_timeout();
            if self.is_exact() {
                self.be_exact(due, now, &mut pacer)?;
            } else {
                // What wakes is late by some tens of microseconds, which only probes mind.
                self.wait(due.min(now + TICK));
                self.obey();
                self.serve()?;
            }
        }
        Ok(())
    }

    /// Does a little while there is time for it, and is there when a probe is due.
    fn be_exact(&mut self, due: Instant, now: Instant, pacer: &mut Pacer) -> Result<(), Error> {
        if due <= now + STILL {
            pacer.wait_until(due);
            return Ok(());
        }
        if due > now + NEAR {
            self.wait((due - NEAR).min(now + TICK));
        }
        self.obey();
        self.serve_little()
    }

    /// Whether a train is under way, or waits for its first probe.
    fn is_exact(&self) -> bool {
        let mut links = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        links.any(|link| !link.owners.is_empty())
    }

    fn next_timeout(&self) -> Instant {
        let links = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        let dues = links.map(Link::next_timeout);
        dues.min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Sleeps until something can be read, or until `deadline`. What the path says of single datagrams is not believed, but a socket
    /// that is full of it does not work.
    fn wait(&self, deadline: Instant) {
        let sockets = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        let sockets = sockets.map(|link| link.joined.socket.as_fd());
        let others = [self.interface.as_fd(), self.orders.woken.as_fd()];
        let all = others.into_iter().chain(sockets);
        let mut fds: Vec<_> = all
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let timeout = deadline.since(clock::now());
        let timeout = Timespec::try_from(timeout).ok();
        // Interrupted or not: everything is looked at.
        let _ = poll(&mut fds, timeout.as_ref());
        let has_events = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::ERR);
        if fds.iter().any(has_events) {
            self.forget_events();
        }
    }

    fn forget_events(&self) {
        for link in self.peers.iter().filter_map(|peer| peer.link.as_ref()) {
            while matches!(link.joined.socket.poll_event(), Ok(Some(_))) {}
        }
    }

    /// Takes what waits on the interface and on all sockets, in turns.
    fn serve(&mut self) -> Result<(), Error> {
        self.compare_clocks();
        for index in 0..self.peers.len() {
            for _ in 0..TURNS {
                if self.receive(index, BATCH) < BATCH {
                    break;
                }
            }
        }
        for _ in 0..TURNS {
            if !self.read()? {
                break;
            }
            self.transmit();
        }
        Ok(())
    }

    /// Takes one packet from the interface and one datagram from each socket.
    fn serve_little(&mut self) -> Result<(), Error> {
        self.compare_clocks();
        for index in 0..self.peers.len() {
            self.receive(index, 1);
        }
        self.read().map(|_| ())
    }

    fn compare_clocks(&mut self) {
        if clock::now().since(self.stamp.mono) >= STAMP {
            self.stamp = clock::stamp();
        }
    }

    /// Reads from the interface once, and gives each packet to the peer that is behind its destination.
    fn read(&mut self) -> Result<bool, Error> {
        let now = clock::now();
        let (peers, routes) = (&mut self.peers, &self.routes);
        let mut unrouted = 0;
        let offer = |packet: Vec<u8>| {
            let found = ends(&packet).and_then(|[_, to]| routes.find(to));
            match found.and_then(|index| peers.get_mut(index)) {
                Some(peer) => peer.offer(packet, now),
                None => unrouted += 1,
            }
        };
        let is_there = self.interface.read(now, &mut self.counters, offer);
        self.counters.unrouted += unrouted;
        is_there
    }

    /// Takes up to `most` datagrams from a peer; how many there were.
    fn receive(&mut self, index: usize, most: usize) -> usize {
        let Some(peer) = self.peers.get_mut(index) else {
            return 0;
        };
        let Some(link) = &mut peer.link else { return 0 };
        let batch = if most == 1 {
            &mut self.single
        } else {
            &mut self.batch
        };
        // A socket that fails is replaced with its session.
        let count = link.joined.socket.recv(batch).unwrap_or(0);
        let now = clock::now();
        for datagram in batch.iter() {
            let Some(received) = link.receive(&datagram, self.stamp, now) else {
                continue;
            };
            if let Some(arrival) = received.arrival {
                let clients = &self.clients;
                clients.arrived(peer.source, &arrival, &mut self.counters);
            }
            let Some(packet) = received.packet else {
                continue;
            };
            // What claims to come from elsewhere is not let in: a peer speaks for what is behind it and for nobody else.
            let source = ends(&packet).and_then(|[from, _]| self.routes.find(from));
            if source == Some(index) {
                self.interface.push(packet, now);
            } else {
                peer.carriage.refused_source += 1;
            }
        }
        peer.carriage.undelivered += self.interface.flush(&mut self.counters);
        count
    }

    /// Sends what is due, and tells tools what came of their transactions.
    fn transmit(&mut self) {
        let stamp = self.stamp;
        for peer in &mut self.peers {
            let Some(link) = &mut peer.link else { continue };
            link.transmit(stamp, &mut peer.carriage);
            tell_finished(link, &mut self.clients, &mut self.counters);
        }
    }

    fn obey(&mut self) {
        let mut is_calm = false;
        while let Some(command) = self.orders.next() {
            if !std::mem::replace(&mut is_calm, true) {
                self.orders.calm();
            }
            self.follow(command);
        }
    }

    fn follow(&mut self, command: Command) {
        match command {
            Command::Ask(answer) => {
                // Who asked may be gone.
                let _ = answer.send(self.snapshot());
            }
            Command::Begin {
                client,
                id,
                to,
                transaction,
                handover,
            } => {
                let begun = self.begin((client, id), to, transaction, handover);
                let answer = begun.map_or_else(
                    |reason| Message::Refused { id, reason },
                    |()| Message::Accepted { id },
                );
                self.clients.answer(client, answer, &mut self.counters);
            }
            Command::CallOff { client, id } => self.call_off(|owner| *owner == (client, id)),
            Command::Come { client, outbox } => self.clients.come(client, outbox),
            Command::Gone { client } => {
                self.clients.go(client);
                self.call_off(|(owner, _)| *owner == client);
            }
            Command::Join { peer, joined } => self.join(peer, *joined),
            Command::Leave { peer, session } => self.leave(peer, Some(session)),
            Command::Listen { client, channel } => self.clients.listen(client, channel),
            Command::Note { peer, reason } => {
                if let Some(peer) = self.peers.get_mut(peer) {
                    peer.note = Some(reason);
                }
            }
        }
    }

    fn begin(
        &mut self,
        owner: (u64, u32),
        to: IpAddr,
        transaction: Transaction,
        handover: Duration,
    ) -> Result<(), Refusal> {
        let index = self.routes.find(to).ok_or(Refusal::Peer)?;
        let peer = self.peers.get_mut(index).ok_or(Refusal::Peer)?;
        let link = peer.link.as_mut().ok_or(Refusal::Peer)?;
        let number = link.peer.begin(transaction, handover, clock::now())?;
        link.owners.insert(number, owner);
        Ok(())
    }

    fn call_off(&mut self, is_meant: impl Fn(&(u64, u32)) -> bool) {
        let links = self.peers.iter_mut().filter_map(|peer| peer.link.as_mut());
        for link in links {
            link.call_off(&is_meant);
            tell_finished(link, &mut self.clients, &mut self.counters);
        }
    }

    fn join(&mut self, index: usize, joined: Joined) {
        self.leave(index, None);
        if let Some(peer) = self.peers.get_mut(index) {
            peer.note = None;
            peer.carriage.sessions += 1;
            peer.link = Some(Link::new(joined, clock::now()));
        }
    }

    /// Ends the session with a peer, if it is this one, or whichever it is.
    fn leave(&mut self, index: usize, session: Option<u64>) {
        let Some(peer) = self.peers.get_mut(index) else {
            return;
        };
        let is_meant = |link: &mut Link| session.is_none_or(|id| id == link.joined.config.session);
        if let Some(mut link) = peer.link.take_if(is_meant) {
            link.peer.call_off_all();
            tell_finished(&mut link, &mut self.clients, &mut self.counters);
            let past = std::mem::replace(&mut peer.past, Sums::new());
            peer.past = past.with(&link.peer);
        }
    }

    fn snapshot(&self) -> Snapshot {
        let now = clock::now();
        Snapshot {
            name: self.name.clone(),
            running_s: now.since(self.began).as_secs_f64(),
            clients: self.clients.len(),
            counts: counts(super::counters::INSIDE, "", &self.counters),
            peers: self.peers.iter().map(|peer| peer.snapshot(now)).collect(),
        }
    }
}

impl Peer {
    /// A packet for it, from the interface.
    fn offer(&mut self, packet: Vec<u8>, now: Instant) {
        match &mut self.link {
            // What is dropped is counted there.
            Some(link) => drop(link.peer.offer(packet, true, now)),
            None => self.carriage.unlinked += 1,
        }
    }

    fn snapshot(&self, now: Instant) -> PeerSnapshot {
        let link = self.link.as_ref();
        let sums = self.past.clone();
        let sums = match link {
            Some(link) => sums.with(&link.peer),
            None => sums,
        };
        let carriage = counts(CARRIAGE, "", &self.carriage);
        PeerSnapshot {
            name: self.name.clone(),
            source: self.source,
            address: link.map(|link| link.joined.address),
            linked_s: link.map(|link| now.since(link.since).as_secs_f64()),
            note: self.note.clone(),
            counts: [sums.into_counts(), carriage].concat(),
            buckets: link.map_or_else(Vec::new, |link| {
                let states = link.peer.buckets();
                states.iter().map(|state| (*state, now).into()).collect()
            }),
        }
    }
}

fn tell_finished(link: &mut Link, clients: &mut Clients, counters: &mut Inside) {
    for ((client, id), finished) in link.finished() {
        let outcome = finished.outcome;
        clients.answer(client, Message::Outcome { id, outcome }, counters);
    }
}
