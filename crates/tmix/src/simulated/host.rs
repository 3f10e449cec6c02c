//! A host of a replay in virtual time: its ends of all connections.

use crate::replay::live::{Alarm, End, Half, binding_window};
use crate::replay::workload::{Host as Which, Part};
use path::RadixHeap;
use sim::tcp::{Connection, Incoming, Key, Settings, Stack, Tcp, Terms, back};
use sim::{Node, NodeId, Parcel};
use units::{FlowId, Instant};
use vectors::play::{Answered, Player};
use vectors::{Side, Vector};

/// What a host has found out since it was last asked.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Ends of connections that are over.
    pub(super) halves: Vec<Half>,
    /// Responses that were heard to their end, with the number of their connection.
    pub(super) answered: Vec<(u32, Answered)>,
    /// Octets of data that came.
    pub(super) heard: u64,
    /// Connections that were opened.
    pub(super) begun: u64,
}

/// What is the same for both hosts.
#[derive(Clone)]
pub(super) struct Stage<'a> {
    /// All connections, by start; their numbers are their places here.
    pub(super) parts: &'a [Part],
    pub(super) settings: Settings,
    pub(super) seed: u64,
}

/// See the module.
pub(super) struct Host<'a> {
    which: Which,
    peer: NodeId,
    stage: Stage<'a>,
    stack: Stack,
    /// By the keys of their connections.
    lives: Vec<Option<Live>>,
    open: usize,
    /// When which end wants to be looked after; entries of ends that are gone do no harm.
    alarms: RadixHeap<(Instant, Key)>,
    /// The next part that this host has to open.
    next: usize,
    /// When it does.
    start: Option<Instant>,
    changed: Vec<Key>,
    pub(super) news: News,
}

/// An end at work.
#[derive(Debug)]
struct Live {
    player: Player,
    half: Half,
    alarm: Alarm,
    closed: bool,
    peer_closed: bool,
}

impl<'a> Host<'a> {
    /// The host `which` at node `here`, whose peer is at node `peer`.
    pub(super) fn new(which: Which, [here, peer]: [NodeId; 2], stage: Stage<'a>) -> Self {
        let mut host = Self {
            which,
            peer,
            stack: Stack::new(here, stage.settings.clone()),
            stage,
            lives: Vec::new(),
            open: 0,
            alarms: RadixHeap::default(),
            next: 0,
            start: None,
            changed: Vec::new(),
            news: News::default(),
        };
        host.seek();
        host
    }

    /// Ends of connections that are open.
    pub(super) const fn open(&self) -> usize {
        self.open
    }

    /// Whether nothing is left to be opened, and no connection is there.
    pub(super) fn is_over(&self) -> bool {
        self.next >= self.stage.parts.len() && self.open == 0
    }

    /// Whether an end waits for its turn by the clock.
    pub(super) fn is_waiting(&self) -> bool {
        !self.alarms.is_empty()
    }

    /// Cuts what is still open at `now`, the end of the replay.
    pub(super) fn cut(&mut self, now: Instant) {
        for live in std::mem::take(&mut self.lives).into_iter().flatten() {
            let mut half = live.half;
            half.closed = Some(now);
            self.news.halves.push(half);
        }
        self.open = 0;
    }

    /// Goes on to the next part that is this host's to open.
    fn seek(&mut self) {
        let rest = self.stage.parts.get(self.next..).unwrap_or_default();
        let mine = |part: &Part| part.initiator == self.which && !part.is_udp();
        self.next += rest.iter().position(mine).unwrap_or(rest.len());
        let part = self.stage.parts.get(self.next);
        self.start = part.map(|part| Instant::ZERO + part.vector.start);
    }

    fn open_due(&mut self, now: Instant) {
        while self.start.is_some_and(|start| start <= now) {
            let number = u32::try_from(self.next).unwrap_or(u32::MAX);
            let part = &self.stage.parts[self.next];
            let flow = FlowId(u64::from(number) * 2);
            let terms = self.terms(part, Side::Initiator, flow);
            let key = self.stack.open(self.peer, flow, terms, now);
            self.enter(key, number, Side::Initiator, now);
            self.news.begun += 1;
            self.next += 1;
            self.seek();
        }
    }

    fn terms(&self, part: &Part, side: Side, flow: FlowId) -> Terms {
        Terms {
            seed: self.stage.seed ^ flow.0.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            peer_window: binding_window(part, side.other()),
        }
    }

    fn accept(&mut self, from: NodeId, flow: FlowId, now: Instant) {
        let number = u32::try_from(flow.0 / 2).unwrap_or(u32::MAX);
        let Some(part) = self.stage.parts.get(number as usize) else {
            return self.stack.refuse(from, flow, now);
        };
        let terms = self.terms(part, Side::Acceptor, back(flow));
        let key = self.stack.accept(from, flow, terms, now);
        self.enter(key, number, Side::Acceptor, now);
    }

    fn enter(&mut self, key: Key, number: u32, side: Side, now: Instant) {
        let vector = &self.stage.parts[number as usize].vector;
        if self.lives.len() <= key.index() {
            self.lives.resize_with(key.index() + 1, || None);
        }
        self.open += 1;
        self.lives[key.index()] = Some(Live {
            player: Player::new(vector, side),
            half: Half::new(number, side, now),
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
        let Some(part) = self.stage.parts.get(live.half.number as usize) else {
            return;
        };
        let end = live.go_on(&part.vector, key, &mut self.stack, &mut self.news, now);
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
        self.news.halves.push(half);
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
    fn go_on(
        &mut self,
        vector: &Vector,
        key: Key,
        stack: &mut Stack,
        news: &mut News,
        now: Instant,
    ) -> Option<End> {
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
            self.player.handle_established(vector, now);
        }
        let heard = stack.take_heard(key);
        if heard > 0 {
            news.heard += heard;
            self.half.heard += heard;
            self.half.last_heard = Some(now);
            if self.player.handle_heard(vector, heard, now).is_err() {
                return Some(End::Reset);
            }
            if let Some(answered) = self.player.poll_answered() {
                news.answered.push((self.half.number, answered));
            }
        }
        if peer_closed && !self.peer_closed {
            self.peer_closed = true;
            self.player.handle_closed(vector, now);
        }
        self.say(vector, key, stack, now);
        if self.player.poll_close(now) && !self.closed {
            self.closed = true;
            stack.close(key);
        }
        (self.closed && self.peer_closed).then_some(End::Complete)
    }

    fn say(&mut self, vector: &Vector, key: Key, stack: &mut Stack, now: Instant) {
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

impl Node for Host<'_> {
    type Payload = Tcp;

    fn handle_packet(&mut self, packet: Parcel<Tcp>, now: Instant) {
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
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Tcp>> {
        loop {
            if let Some(packet) = self.stack.poll_transmit(now) {
                return Some(packet);
            }
            let key = self.stack.poll_drained()?;
            self.attend(key, now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let start = self.start.unwrap_or(Instant::FAR_FUTURE);
        let stack = self.stack.next_timeout().unwrap_or(Instant::FAR_FUTURE);
        let first = start.min(self.alarms.next()).min(stack);
        (first < Instant::FAR_FUTURE).then_some(first)
    }
}
