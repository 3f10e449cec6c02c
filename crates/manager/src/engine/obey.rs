//! What the engine does when it is told to.

use super::Engine;
use super::clients::Clients;
use super::command::Command;
use super::link::{Joined, Link};
use crate::counters::{Inside, Sums};
use mgrp::echo::TOLD;
use mgrp::message::Message;
use mgrp::transaction::{Arrival, Refusal, Request};
use std::net::IpAddr;
use std::time::Duration;
use sys::clock;

impl Engine {
    pub(super) fn obey(&mut self) {
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
                request,
                handover,
            } => {
                let begun = self.begin((client, id), to, request, handover);
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
            Command::Long {
                peer,
                session,
                octets,
            } => {
                let peer = self.peers.get_mut(peer);
                let link = peer.and_then(|peer| peer.link.as_mut());
                if let Some(link) = link.filter(|link| link.joined.config.session == session) {
                    link.learn(octets, clock::now());
                }
            }
            Command::Note { peer, reason } => {
                if let Some(peer) = self.peers.get_mut(peer) {
                    peer.note = Some(reason);
                }
            }
            Command::Told { peer, arrivals } => self.told(peer, &arrivals),
        }
    }

    /// Tells tools here what their probes did there.
    fn told(&mut self, index: usize, arrivals: &[Arrival]) {
        let Some(peer) = self.peers.get(index) else {
            return;
        };
        let told = arrivals.iter().filter(|arrival| arrival.channel >= TOLD);
        for arrival in told {
            self.clients
                .arrived(peer.source, arrival, &mut self.counters);
        }
    }

    fn begin(
        &mut self,
        owner: (u64, u32),
        to: IpAddr,
        request: Request,
        handover: Duration,
    ) -> Result<(), Refusal> {
        let index = self.routes.find(to).ok_or(Refusal::Peer)?;
        let peer = self.peers.get_mut(index).ok_or(Refusal::Peer)?;
        let link = peer.link.as_mut().ok_or(Refusal::Peer)?;
        let number = link.peer.begin(request, handover, clock::now())?;
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
}

/// Tells tools what came of their transactions.
pub(super) fn tell_finished(link: &mut Link, clients: &mut Clients, counters: &mut Inside) {
    for ((client, id), finished) in link.finished() {
        let mut outcome = finished.outcome;
        let sent = std::mem::take(&mut outcome.sent);
        if !sent.is_empty() {
            clients.answer(client, Message::Sent { id, sent }, counters);
        }
        clients.answer(client, Message::Outcome { id, outcome }, counters);
    }
}
