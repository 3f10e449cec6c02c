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
mod obey;
mod peer;

pub(crate) use clients::outbox;
pub(crate) use command::{Command, Handle};
pub(crate) use link::{Joined, Keys};

use super::config::Config;
use super::counters::{INSIDE, Inside, counts};
use super::network::{Routes, class, ends};
use super::snapshot::Snapshot;
use clients::Clients;
use command::Orders;
use inside::Interface;
use link::Link;
use mgrp::echo;
use mgrp::echo::TOLD;
use obey::tell_finished;
use peer::Peer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::pacer::Pacer;
use sys::tun::Tun;
use sys::udp::{BATCH, RecvBatch};
use sys::{Error, clock};
use units::{Dscp, Instant, Stamp};

/// Bursts that are read from the interface before the sockets are looked at again, and batches from one socket.
const TURNS: usize = 8;
/// `stop` is looked at this often.
const TICK: Duration = Duration::from_millis(100);
/// The clocks are compared again after this long: by then slewing has moved them apart by half a microsecond at most.
const STAMP: Duration = Duration::from_millis(1);
/// With more time than this before a probe, packets are moved in batches, which take a few milliseconds at most.
const FAR: Duration = Duration::from_millis(10);
/// Within this time of a probe nothing sleeps in the kernel.
const NEAR: Duration = Duration::from_micros(200);
/// Within this time of a probe nothing else is done: moving a packet each way takes some 15 us. A burst that is read from the interface takes
/// longer, and makes a probe late that is due sooner; the audit tells.
const STILL: Duration = Duration::from_micros(40);

/// See the [module](self).
pub(crate) struct Engine {
    name: String,
    interface: Interface,
    routes: Routes,
    /// Classes of packets that do not wait.
    prompt: Vec<Dscp>,
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
        let peers = config.peers.iter().map(|peer| Peer::new(config, peer));
        // No datagram is longer than the packet that it is in.
        let longest = usize::from(config.mtu);
        let engine = Self {
            name: config.name.clone(),
            interface: Interface::new(tun),
            routes: config.routes(),
            prompt: config.prompt.clone(),
            peers: peers.collect(),
            clients: Clients::default(),
            orders,
            counters: Inside::default(),
            began: clock::now(),
            stamp: clock::stamp(),
            batch: RecvBatch::new(BATCH, longest),
            single: RecvBatch::new(1, longest),
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
        if due > clock::now() + FAR {
            self.serve()
        } else {
            self.serve_little()
        }
    }

    /// Whether a train with times of its own is under way, or waits for its first probe.
    fn is_exact(&self) -> bool {
        let mut links = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        links.any(|link| link.peer.keeps_time())
    }

    fn next_timeout(&self) -> Instant {
        let links = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        let is_exact = self.is_exact();
        let dues = links.map(|link| link.next_timeout(is_exact));
        dues.min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Sleeps until something can be read, or until `deadline`. A socket that is full of what the path says of single datagrams does not
    /// work, so that is read, too.
    fn wait(&mut self, deadline: Instant) {
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
            let links = self.peers.iter_mut();
            links
                .filter_map(|peer| peer.link.as_mut())
                .for_each(Link::take_events);
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
            // What was read has begun a train.
            if self.is_exact() {
                break;
            }
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
        let (peers, routes, prompt) = (&mut self.peers, &self.routes, &self.prompt);
        let mut unrouted = 0;
        let offer = |packet: Vec<u8>| {
            let found = ends(&packet).and_then(|[_, to]| routes.find(to));
            match found.and_then(|index| peers.get_mut(index)) {
                Some(peer) => {
                    let is_prompt = class(&packet).is_some_and(|class| prompt.contains(&class));
                    peer.offer(packet, !is_prompt, now);
                }
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
                let counters = &mut self.counters;
                if let Some(echo) = echo::of(&arrival) {
                    link.send_back(echo, now, &mut peer.carriage);
                } else if arrival.channel >= TOLD {
                    let told = link.joined.arrivals.try_send(arrival);
                    counters.missed_arrivals += u64::from(told.is_err());
                } else {
                    self.clients.arrived(peer.source, &arrival, counters);
                }
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
        let (stamp, is_exact) = (self.stamp, self.is_exact());
        for peer in &mut self.peers {
            let Some(link) = &mut peer.link else { continue };
            link.transmit(stamp, is_exact, &mut peer.carriage);
            tell_finished(link, &mut self.clients, &mut self.counters);
        }
    }

    fn snapshot(&self) -> Snapshot {
        let now = clock::now();
        Snapshot {
            name: self.name.clone(),
            running_s: now.since(self.began).as_secs_f64(),
            clients: self.clients.len(),
            counts: counts(INSIDE, "", &self.counters),
            peers: self.peers.iter().map(|peer| peer.snapshot(now)).collect(),
        }
    }
}
