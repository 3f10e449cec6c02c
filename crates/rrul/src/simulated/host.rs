//! One of the two hosts, with its ends of all streams.

use super::super::streams::{Kind, StreamPlan};
use super::super::tables::CallSample;
use super::datagrams::{Asking, Talking, heard};
use super::https::{Client, Lines, Probes, Server};
use super::names::LookingUp;
use super::pages::{Page, Pages};
use super::tcp::{Common, TcpEnd};
use super::{Datagram, Says, Wire, flow, packet, stream};
use sim::tcp::back;
use sim::{Node, NodeId, Parcel};
use std::collections::VecDeque;
use std::time::Duration;
use units::{FlowId, Instant, TrafficClass};

/// See the module.
#[derive(Debug)]
pub(super) struct Host<'a> {
    ends: [NodeId; 2],
    is_client: bool,
    plans: &'a [StreamPlan],
    pub(super) parts: Vec<Part<'a>>,
    /// Datagrams that leave.
    out: VecDeque<Parcel<Wire>>,
    /// Connections that may have something to send.
    ready: VecDeque<usize>,
    /// Datagrams of calls that have come.
    pub(super) heard: Vec<CallSample>,
}

/// The page of a run, and when it is loaded: idle, and under load.
#[derive(Debug)]
pub(super) struct Visits<'a> {
    pub(super) page: Page<'a>,
    pub(super) phases: [(Duration, Duration); 2],
}

/// This host's part in a stream.
#[derive(Debug)]
pub(super) enum Part<'a> {
    Tcp(Box<TcpEnd<'a>>),
    Asking(Asking<'a>),
    LookingUp(LookingUp<'a>),
    Loading(Box<Pages<'a>>),
    Probing(Box<Probes<'a>>),
    Serving(Box<Server>),
    Talking(Talking),
    /// It answers, or listens.
    Passive,
}

impl<'a> Host<'a> {
    /// The client, or the server, at the first of `ends`. Both have `lines`; the client loads `page` in its phases, if there is one.
    pub(super) fn new(
        plans: &'a [StreamPlan],
        is_client: bool,
        ends: [NodeId; 2],
        common: Common,
        (page, lines): (Option<&Visits<'a>>, &Lines),
    ) -> Self {
        let token = common.seed;
        let client = |plan: &StreamPlan| {
            let stream = (plan.id, plan.class);
            Client::new(stream, ends, common.cc, common.seed, lines.clone())
        };
        let part = |plan: &'a StreamPlan| match plan.kind {
            Kind::Web | Kind::Https if !is_client => {
                let (class, lines) = (plan.class, lines.clone());
                let server = Server::new(ends[0], class, common.cc, common.seed, lines);
                Part::Serving(Box::new(server))
            }
            Kind::Https => Part::Probing(Box::new(Probes::new(plan, client(plan), token))),
            Kind::Web => page.map_or(Part::Passive, |visits| {
                let (page, phases) = (visits.page.clone(), visits.phases);
                Part::Loading(Box::new(Pages::new(
                    plan,
                    page,
                    phases,
                    client(plan),
                    token,
                )))
            }),
            Kind::Down | Kind::Up | Kind::TcpRr => {
                Part::Tcp(Box::new(TcpEnd::new(plan, is_client, ends, common)))
            }
            Kind::UdpPaced | Kind::UdpRr if is_client => Part::Asking(Asking::new(plan)),
            Kind::Dns if is_client => Part::LookingUp(LookingUp::new(plan, common.seed)),
            Kind::CallUp if is_client => Part::Talking(Talking::new(plan)),
            Kind::CallDown if !is_client => Part::Talking(Talking::new(plan)),
            _ => Part::Passive,
        };
        Self {
            ends,
            is_client,
            plans,
            parts: plans.iter().map(part).collect(),
            out: VecDeque::new(),
            ready: VecDeque::new(),
            heard: Vec::new(),
        }
    }

    /// Looks at all connections at the end of a bin.
    pub(super) fn look(&mut self, now: Instant) {
        for part in &mut self.parts {
            if let Part::Tcp(end) = part {
                end.look(now);
            }
        }
    }

    /// The run is over.
    pub(super) fn end(&mut self, now: Instant) {
        for part in &mut self.parts {
            match part {
                Part::Tcp(end) => end.conclude(now),
                Part::Asking(asking) => asking.end(now),
                _ => {}
            }
        }
    }

    /// The flow of what this host sends of stream number `index`.
    fn flow(&self, index: usize) -> FlowId {
        let flow = flow(self.plans.get(index).map_or(u16::MAX, |plan| plan.id), 0);
        if self.is_client { flow } else { back(flow) }
    }

    fn put(&mut self, index: usize, datagram: Datagram, now: Instant) {
        let Some(plan) = self.plans.get(index) else {
            return;
        };
        let (flow, class) = (self.flow(index), plan.marks());
        let (octets, wire) = (datagram.octets, Wire::Datagram(datagram));
        self.out
            .push_back(packet(self.ends, flow, class, octets, wire, now));
    }

    fn handle_datagram(
        &mut self,
        index: usize,
        datagram: &Datagram,
        class: TrafficClass,
        now: Instant,
    ) {
        let sequence = datagram.sequence;
        match (datagram.says, self.parts.get_mut(index)) {
            (Says::Request { answer }, _) => {
                let reply = Datagram {
                    sequence,
                    octets: answer,
                    says: Says::Reply {
                        received: now,
                        class: class.octet(),
                    },
                };
                self.put(index, reply, now);
            }
            (Says::Reply { .. }, Some(Part::LookingUp(look_ups))) => {
                look_ups.handle_answer(sequence, now);
                self.send(index, now);
            }
            (Says::Reply { .. }, Some(Part::Loading(pages))) => {
                pages.handle_answer(sequence, now);
                self.send(index, now);
                self.ready.push_back(index);
            }
            (
                Says::Reply {
                    received,
                    class: far,
                },
                Some(Part::Asking(asking)),
            ) => {
                asking.handle_reply(sequence, (received, far), class, now);
                self.send(index, now);
            }
            (Says::Call { sent }, _) => {
                if let Some(plan) = self.plans.get(index) {
                    self.heard
                        .push(heard(plan.id, (sequence, sent), class, now));
                }
            }
            (Says::Reply { .. }, _) => {}
        }
    }

    /// Sends the datagrams of a stream that are due.
    fn send(&mut self, index: usize, now: Instant) {
        while let Some(datagram) = self.parts.get_mut(index).and_then(|part| part.poll(now)) {
            self.put(index, datagram, now);
        }
    }
}

impl Part<'_> {
    /// The next datagram that is due.
    fn poll(&mut self, now: Instant) -> Option<Datagram> {
        match self {
            Self::Asking(asking) => asking.poll(now),
            Self::LookingUp(look_ups) => look_ups.poll(now),
            Self::Talking(talking) => talking.poll(now),
            Self::Loading(pages) => pages.poll_question(),
            Self::Tcp(_) | Self::Probing(_) | Self::Serving(_) | Self::Passive => None,
        }
    }

    /// The next packet of a connection.
    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        match self {
            Self::Tcp(end) => end.poll_transmit(now),
            Self::Loading(pages) => pages.poll_transmit(now),
            Self::Probing(probes) => probes.poll_transmit(now),
            Self::Serving(server) => server.poll_transmit(now),
            Self::Asking(_) | Self::LookingUp(_) | Self::Talking(_) | Self::Passive => None,
        }
    }

    /// A packet of a connection arrived.
    fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        match self {
            Self::Tcp(end) => end.handle_packet(parcel, now),
            Self::Loading(pages) => pages.handle_packet(parcel, now),
            Self::Probing(probes) => probes.handle_packet(parcel, now),
            Self::Serving(server) => server.handle_packet(parcel, now),
            Self::Asking(_) | Self::LookingUp(_) | Self::Talking(_) | Self::Passive => {}
        }
    }

    /// What has connections looks after them.
    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Tcp(end) => end.handle_timeout(now),
            Self::Loading(pages) => pages.handle_timeout(now),
            Self::Probing(probes) => probes.handle_timeout(now),
            Self::Serving(server) => server.handle_timeout(now),
            Self::Asking(_) | Self::LookingUp(_) | Self::Talking(_) | Self::Passive => {}
        }
    }

    fn next_due(&self) -> Option<Instant> {
        match self {
            Self::Tcp(end) => end.next_timeout(),
            Self::Asking(asking) => asking.next_due(),
            Self::LookingUp(look_ups) => look_ups.next_due(),
            Self::Talking(talking) => talking.next_due(),
            Self::Loading(pages) => pages.next_timeout(),
            Self::Probing(probes) => probes.next_timeout(),
            Self::Serving(server) => server.next_timeout(),
            Self::Passive => None,
        }
    }
}

impl Node for Host<'_> {
    type Payload = Wire;

    fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        let index = stream(parcel.flow);
        let class = TrafficClass {
            dscp: parcel.dscp,
            ecn: parcel.ecn,
        };
        if let Wire::Datagram(datagram) = &parcel.body.payload {
            let datagram = datagram.clone();
            self.handle_datagram(index, &datagram, class, now);
        } else if let Some(part) = self.parts.get_mut(index) {
            part.handle_packet(parcel, now);
            self.ready.push_back(index);
            self.send(index, now);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        for index in 0..self.parts.len() {
            if self.parts[index].next_due().is_none_or(|due| due > now) {
                continue;
            }
            self.parts[index].handle_timeout(now);
            self.ready.push_back(index);
            self.send(index, now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        if let Some(parcel) = self.out.pop_front() {
            return Some(parcel);
        }
        while let Some(index) = self.ready.front() {
            let part = self.parts.get_mut(*index);
            if let Some(parcel) = part.and_then(|part| part.poll_transmit(now)) {
                return Some(parcel);
            }
            self.ready.pop_front();
        }
        None
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.parts.iter().filter_map(Part::next_due).min()
    }
}
