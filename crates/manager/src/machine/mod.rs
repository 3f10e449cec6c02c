//! What a manager decides, without I/O: which peer a packet belongs to, what waits, rides and leaves, and what tools are told.
//!
//! Packets, datagrams, tools' requests and the time go in; datagrams, packets for the interface, words for tools and a deadline come out. Its
//! own are the peers' machines ([`mgrp::peer`]) with their budgets and path MTUs, the routes, the tools and the counters. Whoever drives it has the rest:
//! interface, sockets, clocks and keys ([`engine`](super::engine)), or the links of a world in virtual time.
//!
//! # Calling order
//!
//! After every call, and at [`Machine::next_timeout`]: for each peer [`Machine::poll_transmit`] until it says nothing, with
//! [`Machine::sent`] right after a probe has left; then [`Machine::settle`], by which tools learn what came of their transactions. Words for tools are
//! in their [outboxes](outbox) then, and what is to be told to a peer is in that of its [`Session`].

mod clients;
mod link;
mod peer;
#[cfg(test)]
mod tests;

pub use clients::{Outbox, outbox};
pub use link::Session;

use crate::config::Config;
use crate::counters::{Carriage, INSIDE, Inside, Sums, counts};
use crate::network::{Routes, class, ends};
use crate::snapshot::Snapshot;
use clients::Clients;
use link::Link;
use mgrp::echo;
use mgrp::echo::TOLD;
use mgrp::envelope::TAG;
use mgrp::message::Message;
use mgrp::peer::{Received, Transmit, Unread};
use mgrp::transaction::{Arrival, Refusal, Request};
use peer::Peer;
use std::net::IpAddr;
use std::time::Duration;
use units::{Dscp, Instant};

/// What leaves for a peer.
#[derive(Debug)]
pub enum Leaving {
    /// A datagram to be sealed and sent; one with a probe at once, and by itself for the sake of its time.
    Datagram(Transmit),
    /// That this end is there, said by an IP packet of so many octets, of which the other end is to say that it came; 0 where length does not matter.
    Word(u16),
}

/// See the [module](self). Peers are known by their places in the file.
pub struct Machine {
    name: String,
    routes: Routes,
    /// Classes of packets that do not wait.
    prompt: Vec<Dscp>,
    peers: Vec<Peer>,
    clients: Clients,
    inside: Inside,
    began: Instant,
}

impl Machine {
    /// One with no sessions yet.
    pub fn new(config: &Config, now: Instant) -> Self {
        let peers = config.peers.iter().map(|peer| Peer::new(config, peer));
        Self {
            name: config.name.clone(),
            routes: config.routes(),
            prompt: config.prompt.clone(),
            peers: peers.collect(),
            clients: Clients::default(),
            inside: Inside::default(),
            began: now,
        }
    }

    /// A packet from the interface, for the peer that is behind its destination.
    pub fn offer(&mut self, packet: Vec<u8>, now: Instant) {
        let found = ends(&packet).and_then(|[_, to]| self.routes.find(to));
        match found.and_then(|index| self.peers.get_mut(index)) {
            Some(peer) => {
                let prompt = &self.prompt;
                let is_prompt = class(&packet).is_some_and(|class| prompt.contains(&class));
                peer.offer(packet, !is_prompt, now);
            }
            None => self.inside.unrouted += 1,
        }
    }

    /// A datagram from a peer, which came at `arrived_ns` of the wall clock: the packet for the interface that is whole now, if there is one.
    ///
    /// # Errors
    ///
    /// [`Unread`], counted, for what is not the peer's, and where there is no session with it.
    pub fn receive(
        &mut self,
        index: usize,
        datagram: &[u8],
        arrived_ns: u64,
        now: Instant,
        tag: impl Fn(&[u8], &[u8]) -> [u8; TAG],
    ) -> Result<Option<Vec<u8>>, Unread> {
        let link = self.link(index).ok_or(Unread::Session)?;
        let Received { arrival, packet } = link.peer.handle(datagram, arrived_ns, now, tag)?;
        if let Some(arrival) = arrival {
            self.arrive(index, arrival, now);
        }
        Ok(packet.filter(|packet| self.lets_in(index, packet)))
    }

    /// Passes a probe on that has come: back to where it is from, to that end's tools, or to those here.
    fn arrive(&mut self, index: usize, arrival: Arrival, now: Instant) {
        let Some(peer) = self.peers.get_mut(index) else {
            return;
        };
        let Some(link) = &mut peer.link else { return };
        if let Some(echo) = echo::of(&arrival) {
            link.send_back(echo, now, &mut peer.carriage);
        } else if arrival.channel >= TOLD {
            let told = link.session.arrivals.try_send(arrival);
            self.inside.missed_arrivals += u64::from(told.is_err());
        } else {
            self.clients
                .arrived(peer.source, &arrival, &mut self.inside);
        }
    }

    /// What claims to come from elsewhere is not let in: a peer speaks for what is behind it and for nobody else.
    fn lets_in(&mut self, index: usize, packet: &[u8]) -> bool {
        let source = ends(packet).and_then(|[from, _]| self.routes.find(from));
        let is_behind = source == Some(index);
        if let Some(carriage) = self.carriage(index) {
            carriage.refused_source += u64::from(!is_behind);
        }
        is_behind
    }

    /// What leaves for a peer now, while trains keep their time (`is_exact`) or none does; asked until it says nothing.
    pub fn poll_transmit(&mut self, index: usize, is_exact: bool, now: Instant) -> Option<Leaving> {
        self.link(index)?.poll_transmit(is_exact, now)
    }

    /// The probe in the packet with this number has left at this moment.
    pub fn sent(&mut self, index: usize, sequence: u64, at: Instant) {
        if let Some(link) = self.link(index) {
            link.peer.sent(sequence, at);
        }
    }

    /// Tells tools what came of their transactions with a peer.
    pub fn settle(&mut self, index: usize) {
        if let Some(link) = self
            .peers
            .get_mut(index)
            .and_then(|peer| peer.link.as_mut())
        {
            tell_finished(link, &mut self.clients, &mut self.inside);
        }
    }

    /// Whether a train with times of its own is under way, or waits for its first probe: whoever drives this should be there in time.
    pub fn keeps_time(&self) -> bool {
        let mut links = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        links.any(|link| link.peer.keeps_time())
    }

    /// When something is to be done.
    pub fn next_timeout(&self) -> Instant {
        let links = self.peers.iter().filter_map(|peer| peer.link.as_ref());
        let is_exact = self.keeps_time();
        let dues = links.map(|link| link.next_timeout(is_exact));
        dues.min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// A session with a peer begins, in place of the one that there may be.
    pub fn join(&mut self, index: usize, session: Session, now: Instant) {
        self.leave(index, None);
        if let Some(peer) = self.peers.get_mut(index) {
            peer.note = None;
            peer.carriage.sessions += 1;
            peer.link = Some(Link::new(session, now));
        }
    }

    /// Ends the session with a peer, if it is this one, or whichever it is; whether it was.
    pub fn leave(&mut self, index: usize, session: Option<u64>) -> bool {
        let Some(peer) = self.peers.get_mut(index) else {
            return false;
        };
        let is_meant = |link: &mut Link| session.is_none_or(|id| id == link.session.config.session);
        let Some(mut link) = peer.link.take_if(is_meant) else {
            return false;
        };
        link.peer.call_off_all();
        tell_finished(&mut link, &mut self.clients, &mut self.inside);
        let past = std::mem::replace(&mut peer.past, Sums::new());
        peer.past = past.with(&link.peer);
        true
    }

    /// Why there is no session with a peer.
    pub fn note(&mut self, index: usize, reason: String) {
        if let Some(peer) = self.peers.get_mut(index) {
            peer.note = Some(reason);
        }
    }

    /// A tool has come, and is told things by `outbox`; its number is its own.
    pub fn come(&mut self, client: u64, outbox: Outbox) {
        self.clients.come(client, outbox);
    }

    /// A tool is gone, and its transactions with it.
    pub fn gone(&mut self, client: u64) {
        self.clients.go(client);
        self.call_off_where(|(owner, _)| *owner == client);
    }

    /// A tool wants to be told of probes on a channel.
    pub fn listen(&mut self, client: u64, channel: u8) {
        self.clients.listen(client, channel);
    }

    /// A tool begins a transaction, which took `handover` to be handed over; it is told whether.
    pub fn begin(
        &mut self,
        (client, id): (u64, u32),
        to: IpAddr,
        request: Request,
        handover: Duration,
        now: Instant,
    ) {
        let begun = self.admit((client, id), to, request, handover, now);
        let answer = begun.map_or_else(
            |reason| Message::Refused { id, reason },
            |()| Message::Accepted { id },
        );
        self.clients.answer(client, answer, &mut self.inside);
    }

    fn admit(
        &mut self,
        owner: (u64, u32),
        to: IpAddr,
        request: Request,
        handover: Duration,
        now: Instant,
    ) -> Result<(), Refusal> {
        let index = self.routes.find(to).ok_or(Refusal::Peer)?;
        let link = self.link(index).ok_or(Refusal::Peer)?;
        let number = link.peer.begin(request, handover, now)?;
        link.owners.insert(number, owner);
        Ok(())
    }

    /// A tool calls a transaction off.
    pub fn call_off(&mut self, client: u64, id: u32) {
        self.call_off_where(|owner| *owner == (client, id));
    }

    fn call_off_where(&mut self, is_meant: impl Fn(&(u64, u32)) -> bool) {
        let links = self.peers.iter_mut().filter_map(|peer| peer.link.as_mut());
        for link in links {
            link.call_off(&is_meant);
            tell_finished(link, &mut self.clients, &mut self.inside);
        }
    }

    /// A peer tells of probes that went to it from here.
    pub fn told(&mut self, index: usize, arrivals: &[Arrival]) {
        let Some(peer) = self.peers.get(index) else {
            return;
        };
        let told = arrivals.iter().filter(|arrival| arrival.channel >= TOLD);
        for arrival in told {
            self.clients.arrived(peer.source, arrival, &mut self.inside);
        }
    }

    /// A peer says in this session that a word of so many octets came.
    pub fn learn(&mut self, index: usize, session: u64, octets: u16, now: Instant) {
        let link = self.link(index);
        if let Some(link) = link.filter(|link| link.session.config.session == session) {
            link.learn(octets, now);
        }
    }

    /// A router on the way to a peer says that packets are too long. That is not believed, but looked into.
    pub fn too_long(&mut self, index: usize, now: Instant) {
        if let Some(link) = self.link(index) {
            link.too_long(now);
        }
    }

    /// How everything is.
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        Snapshot {
            name: self.name.clone(),
            running_s: now.since(self.began).as_secs_f64(),
            clients: self.clients.len(),
            counts: counts(INSIDE, "", &self.inside),
            peers: self.peers.iter().map(|peer| peer.snapshot(now)).collect(),
        }
    }

    /// What is counted of packets of no peer in particular.
    pub(crate) const fn inside(&mut self) -> &mut Inside {
        &mut self.inside
    }

    /// What is counted of a peer's packets outside of its machine.
    pub(crate) fn carriage(&mut self, index: usize) -> Option<&mut Carriage> {
        let peer = self.peers.get_mut(index);
        peer.map(|peer| &mut peer.carriage)
    }

    fn link(&mut self, index: usize) -> Option<&mut Link> {
        self.peers.get_mut(index)?.link.as_mut()
    }
}

/// Tells tools what came of their transactions.
fn tell_finished(link: &mut Link, clients: &mut Clients, counters: &mut Inside) {
    for ((client, id), finished) in link.finished() {
        let mut outcome = finished.outcome;
        let sent = std::mem::take(&mut outcome.sent);
        if !sent.is_empty() {
            clients.answer(client, Message::Sent { id, sent }, counters);
        }
        clients.answer(client, Message::Outcome { id, outcome }, counters);
    }
}
