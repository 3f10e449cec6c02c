//! A host of a replay in virtual time: its ends of all connections.

use super::flows::Flows;
use super::headers::{self, Shared};
use super::{flow_of, number_of};
use crate::replay::datagrams;
use crate::replay::live::{Alarm, End, Half, binding_window};
use crate::replay::workload::Part;
use path::RadixHeap;
use sim::tcp::{Connection, Fetch, Incoming, Key, Settings, Stack, Tcp, Terms, back};
use sim::{Node, NodeId, Parcel};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use units::{FlowId, Instant};
use vectors::Side;
use vectors::play::{Answered, Player};

/// What a host has found out since it was last asked.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Ends of connections that are over.
    pub(super) halves: Vec<(Half, Rc<Part>)>,
    /// Responses that were heard to their end, with the number of their connection and whether its ends took turns in the original.
    pub(super) answered: Vec<(u32, bool, Answered)>,
    /// Octets of data that came.
    pub(super) heard: u64,
    /// Connections and flows that were begun.
    pub(super) begun: u64,
    /// Ends of flows of UDP that are over.
    pub(super) flows: Vec<(datagrams::Half, Rc<Part>)>,
}

/// What is the same for both hosts.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) settings: Settings,
    pub(super) seed: u64,
    /// If packets are captured.
    pub(super) headers: Option<Shared>,
}

/// See the module.
pub(super) struct Host {
    peer: NodeId,
    stage: Stage,
    stack: Stack,
    /// By the keys of their connections.
    lives: Vec<Option<Live>>,
    open: usize,
    /// When which end wants to be looked after; entries of ends that are gone do no harm.
    alarms: RadixHeap<(Instant, Key)>,
    /// Connections that this host has to open, by start, with their numbers.
    coming: VecDeque<(Instant, u32, Rc<Part>)>,
    /// Connections that the peer opens, by number, until it has.
    expected: HashMap<u32, Rc<Part>>,
    changed: Vec<Key>,
    flows: Flows,
    news: News,
}

/// Fetches by the processor's instruction for it.
struct Prefetch;

impl Fetch for Prefetch {
    fn fetch<T>(&self, value: &T) {
        sys::prefetch(value);
    }
}

/// An end at work.
#[derive(Debug)]
struct Live {
    part: Rc<Part>,
    player: Player,
    half: Half,
    alarm: Alarm,
    closed: bool,
    peer_closed: bool,
}

impl Host {
    /// The host at node `here`, whose peer is at node `peer`.
    pub(super) fn new([here, peer]: [NodeId; 2], stage: Stage) -> Self {
        Self {
            peer,
            stack: Stack::new(here, stage.settings.clone()),
            stage,
            lives: Vec::new(),
            open: 0,
            alarms: RadixHeap::default(),
            coming: VecDeque::new(),
            expected: HashMap::new(),
            changed: Vec::new(),
            flows: Flows::new([here, peer]),
            news: News::default(),
        }
    }

    /// Has this host open connection `number`, which does not start before those that it was given already.
    pub(super) fn give(&mut self, number: u32, part: Rc<Part>) {
        let start = Instant::ZERO + part.vector.start;
        self.coming.push_back((start, number, part));
    }

    /// Has this host play `side` of flow `number` of UDP, likewise.
    pub(super) fn give_flow(&mut self, number: u32, part: Rc<Part>, side: Side) {
        self.flows.give(number, part, side);
    }

    /// What is new.
    pub(super) fn take_news(&mut self) -> News {
        let mut news = std::mem::take(&mut self.news);
        news.flows = std::mem::take(&mut self.flows.over);
        news.begun += std::mem::take(&mut self.flows.begun);
        news
    }

    /// Has this host accept connection `number` when it is asked for.
    pub(super) fn expect(&mut self, number: u32, part: Rc<Part>) {
        self.expected.insert(number, part);
    }

    /// Ends of connections that are open.
    pub(super) const fn open(&self) -> usize {
        self.open
    }

    /// Whether nothing that it was given is left to be opened, and no connection is there.
    pub(super) fn is_over(&self) -> bool {
        self.coming.is_empty() && self.open == 0 && self.flows.are_over()
    }

    /// Whether an end waits for its turn by the clock, or a connection for its start.
    pub(super) fn is_waiting(&self) -> bool {
        !self.alarms.is_empty() || !self.coming.is_empty() || self.flows.are_waiting()
    }

    /// Cuts what is still open at `now`, the end of the replay.
    pub(super) fn cut(&mut self, now: Instant) {
        for live in std::mem::take(&mut self.lives).into_iter().flatten() {
            let mut half = live.half;
            half.closed = Some(now);
            self.news.halves.push((half, live.part));
        }
        self.open = 0;
        self.flows.cut(now);
    }

    /// When the next connection is to be opened.
    fn start(&self) -> Instant {
        let first = self.coming.front();
        first.map_or(Instant::FAR_FUTURE, |(start, ..)| *start)
    }

    fn open_due(&mut self, now: Instant) {
        while self.start() <= now
            && let Some((_, number, part)) = self.coming.pop_front()
        {
            let flow = flow_of(number);
            let terms = self.terms(&part, Side::Initiator, flow);
            let key = self.stack.open(self.peer, flow, terms, now);
            self.enter(key, number, part, Side::Initiator, now);
            self.news.begun += 1;
        }
    }

    fn terms(&self, part: &Part, side: Side, flow: FlowId) -> Terms {
        Terms {
            seed: self.stage.seed ^ flow.0.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            window: binding_window(part, side),
            peer_window: binding_window(part, side.other()),
        }
    }

    fn accept(&mut self, from: NodeId, flow: FlowId, now: Instant) {
        let number = number_of(flow);
        let Some(part) = self.expected.remove(&number) else {
            return self.stack.refuse(from, flow);
        };
        let terms = self.terms(&part, Side::Acceptor, back(flow));
        let key = self.stack.accept(from, flow, terms, now);
        self.enter(key, number, part, Side::Acceptor, now);
    }

    fn enter(&mut self, key: Key, number: u32, part: Rc<Part>, side: Side, now: Instant) {
        if self.lives.len() <= key.index() {
            self.lives.resize_with(key.index() + 1, || None);
        }
        self.open += 1;
        self.lives[key.index()] = Some(Live {
            player: Player::new(&part.vector, side),
            part,
            half: Half {
                ports: Some(headers::ports(number)),
                ..Half::new(number, side, now)
            },
            alarm: Alarm::default(),
            closed: false,
            peer_closed: false,
        });
    }

    /// Does all that the end can do now.
    fn attend(&mut self, key: Key, now: Instant) {
        let Some(live) = self.lives.get_mut(key.index()).and_then(Option::as_mut) else {
            return;
        };
        let end = live.go_on(key, &mut self.stack, &mut self.news, now);
        if let Some(end) = end {
            live.half.end = end;
            return self.close(key, now);
        }
        if let Some(due) = live.player.next_timeout(now)
            && live.alarm.sets(due)
        {
            self.alarms.push(due, (due, key));
        }
    }

    /// The end is over.
    fn close(&mut self, key: Key, now: Instant) {
        let Some(live) = self.lives.get_mut(key.index()).and_then(Option::take) else {
            return;
        };
        let mut half = live.half;
        half.closed = Some(now);
        if let Some((retransmits, min_rtt)) = self.stack.get(key).and_then(Connection::repairs) {
            half.retransmits = u32::try_from(retransmits).ok();
            half.min_rtt = min_rtt;
        }
        self.news.halves.push((half, live.part));
        self.open -= 1;
        if half.end == End::Complete {
            self.stack.release(key);
        } else {
            self.stack.abort(key);
        }
    }

    fn ring_due(&mut self, now: Instant) {
        while let Some((due, key)) = self.alarms.pop_due(now) {
            if let Some(live) = self.lives.get_mut(key.index()).and_then(Option::as_mut) {
                live.alarm.rings(due);
                self.attend(key, now);
            }
        }
    }
}

impl Live {
    /// Does all that can be done now; says how the connection ended, if it did.
    fn go_on(&mut self, key: Key, stack: &mut Stack, news: &mut News, now: Instant) -> Option<End> {
        let connection = stack.get(key)?;
        if connection.is_refused() {
            return Some(End::Refused);
        }
        if connection.is_broken() {
            return Some(End::Reset);
        }
        if !connection.is_established() {
            return None;
        }
        let peer_closed = connection.has_peer_closed();
        if self.half.established.is_none() {
            self.half.established = Some(now);
            self.player.handle_established(&self.part.vector, now);
        }
        let heard = stack.take_heard(key);
        if heard > 0 {
            news.heard += heard;
            self.half.heard += heard;
            self.half.last_heard = Some(now);
            let vector = &self.part.vector;
            if self.player.handle_heard(vector, heard, now).is_err() {
                return Some(End::Reset);
            }
            if let Some(answered) = self.player.poll_answered() {
                let was_sequential = self.part.was_sequential;
                news.answered
                    .push((self.half.number, was_sequential, answered));
            }
        }
        if peer_closed && !self.peer_closed {
            self.peer_closed = true;
            self.player.handle_closed(&self.part.vector, now);
        }
        self.say(key, stack, now);
        if self.player.poll_close(now) && !self.closed {
            self.closed = true;
            stack.close(key);
        }
        (self.closed && self.peer_closed).then_some(End::Complete)
    }

    fn say(&mut self, key: Key, stack: &mut Stack, now: Instant) {
        let vector = &self.part.vector;
        loop {
            let allowed = self.player.poll_send(vector, now);
            if allowed == 0 {
                return;
            }
            let taken = stack.write(key, allowed);
            if taken == 0 {
                return;
            }
            self.half.first_sent.get_or_insert(now);
            self.half.sent += taken;
            self.player.handle_sent(vector, taken, now);
        }
    }
}

impl Node for Host {
    type Payload = Tcp;

    const FORESEES: bool = true;

    fn foresee(&mut self, packet: &Parcel<Tcp>) {
        let Some((key, before)) = self.stack.foresee(packet, &Prefetch) else {
            return;
        };
        if let Some(live) = self.lives.get(key.index()) {
            sys::prefetch(live);
        }
        // Where the vector is stands in what was fetched before.
        let live = before.and_then(|key| self.lives.get(key.index())?.as_ref());
        if let Some(live) = live {
            sys::prefetch(&*live.part);
        }
    }

    fn handle_packet(&mut self, packet: Parcel<Tcp>, now: Instant) {
        if let Tcp::Udp(datagram) = packet.body.payload {
            return self.flows.handle_datagram(packet.flow, datagram, now);
        }
        match self.stack.handle_packet(&packet, now) {
            Incoming::Changed(key) => self.attend(key, now),
            Incoming::Asked { from, flow } => self.accept(from, flow, now),
            Incoming::Nothing => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.open_due(now);
        let mut changed = std::mem::take(&mut self.changed);
        self.stack.handle_timeout(now, &mut changed);
        for key in changed.drain(..) {
            self.attend(key, now);
        }
        self.changed = changed;
        self.ring_due(now);
        if self.flows.next_timeout() <= now {
            self.flows.handle_timeout(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Tcp>> {
        loop {
            if let Some(packet) = self.stack.poll_transmit(now) {
                if let Some(headers) = &self.stage.headers {
                    headers.borrow_mut().sent(&packet);
                }
                return Some(packet);
            }
            let Some(key) = self.stack.poll_drained() else {
                return self.flows.poll_transmit();
            };
            self.attend(key, now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let stack = self.stack.next_timeout().unwrap_or(Instant::FAR_FUTURE);
        let own = self.start().min(self.alarms.next());
        let first = own.min(stack).min(self.flows.next_timeout());
        (first < Instant::FAR_FUTURE).then_some(first)
    }
}
