//! The connections of a host.

use super::by_flow::ByFlow;
use super::connection::{Connection, Settings, Terms};
use super::packet::Tcp;
use super::strays::Strays;
use crate::{Addressed, Headers, NodeId, Parcel};
use path::{Family, Packet, RadixHeap};
use std::collections::VecDeque;
use units::{Dscp, Ecn, FlowId, Instant};

/// Brings memory near the processor before it is needed. Whoever drives hosts with many connections knows how.
pub trait Fetch {
    /// Begins to fetch all of `value`, and does not wait for it.
    fn fetch<T>(&self, value: &T);
}

/// So many packets after its entry a connection's flow is fetched: by then the entry is there, which says where the flow is.
const FORESEEN: usize = 4;

/// Names one of a host's connections while it is there.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key(u32);

impl Key {
    /// A small number that no other connection of the host has at the same time.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a packet was for a host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Incoming {
    /// A connection has something new for its application.
    Changed(Key),
    /// A connection is asked for: to be accepted ([`Stack::accept`]) or refused ([`Stack::refuse`]).
    Asked {
        /// By whom.
        from: NodeId,
        /// The direction towards this host.
        flow: FlowId,
    },
    /// Nothing to do with an application.
    Nothing,
}

/// See the module. A connection has two numbers of flows, one for each direction: the initiator's is even, the other's is
/// the next ([`back`]).
#[derive(Debug)]
pub struct Stack {
    here: NodeId,
    settings: Settings,
    headers: Headers,
    /// By their keys; a place without a connection is among the `free` ones.
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    by_flow: ByFlow,
    timers: RadixHeap<(Instant, u32)>,
    /// Connections that may have something to send.
    ready: VecDeque<u32>,
    /// Connections whose writers waited for room, and have it.
    drained: VecDeque<Key>,
    strays: Strays,
    /// When the SYN left that asked for a connection last.
    asked: Instant,
    /// Connections whose entries are being fetched, the latest last.
    foreseen: VecDeque<Key>,
}

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a small state of its own"
)]
struct Entry {
    connection: Connection,
    to: NodeId,
    flow: FlowId,
    /// When it wants to be looked after; [`Instant::FAR_FUTURE`] is never.
    due: Instant,
    /// The timer that will see to that; a deadline that is put off gets another when this one has run out.
    alarm: Instant,
    is_ready: bool,
    wants_room: bool,
    /// The end is said when what can leave has left, as the kernel sends what is written before `close` is called.
    is_closing: bool,
    /// The application does not look at it any more.
    is_released: bool,
}

impl Entry {
    fn set_alarm(&mut self, key: u32, timers: &mut RadixHeap<(Instant, u32)>) {
        if self.due < self.alarm {
            self.alarm = self.due;
            timers.push(self.due, (self.due, key));
        }
    }
}

/// The flow of the other direction of the same connection.
pub const fn back(flow: FlowId) -> FlowId {
    FlowId(flow.0 ^ 1)
}

impl Stack {
    /// The host `here`, without a connection.
    pub fn new(here: NodeId, settings: Settings) -> Self {
        Self {
            here,
            headers: settings.headers(),
            settings,
            entries: Vec::new(),
            free: Vec::new(),
            by_flow: ByFlow::default(),
            timers: RadixHeap::default(),
            ready: VecDeque::new(),
            drained: VecDeque::new(),
            strays: Strays::default(),
            asked: Instant::ZERO,
            foreseen: VecDeque::new(),
        }
    }

    /// Asks host `to` for a connection whose packets from here are of `flow`, an even number that no other connection has. Numbers
    /// should follow each other from 0 on: memory grows with the highest, by 8 octets for each 1,024.
    pub fn open(&mut self, to: NodeId, flow: FlowId, terms: Terms, now: Instant) -> Key {
        self.enter(Connection::open(terms, now), to, flow)
    }

    /// Accepts the connection that `from` asked for by a packet of `flow`, the latest that came.
    pub fn accept(&mut self, from: NodeId, flow: FlowId, terms: Terms, now: Instant) -> Key {
        self.enter(Connection::accept(terms, self.asked, now), from, back(flow))
    }

    /// Refuses it.
    pub fn refuse(&mut self, from: NodeId, flow: FlowId) {
        self.strays.refuse(from, back(flow));
    }

    fn enter(&mut self, connection: Connection, to: NodeId, flow: FlowId) -> Key {
        let entry = Some(Entry {
            connection,
            to,
            flow,
            due: Instant::FAR_FUTURE,
            alarm: Instant::FAR_FUTURE,
            is_ready: false,
            wants_room: false,
            is_closing: false,
            is_released: false,
        });
        let key = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        self.entries[key as usize] = entry;
        self.by_flow.insert(flow, key);
        self.make_ready(key);
        Key(key)
    }

    /// A packet arrived.
    pub fn handle_packet(&mut self, packet: &Parcel<Tcp>, now: Instant) -> Incoming {
        let (from, tcp) = (packet.body.from, &packet.body.payload);
        let Some(key) = self.by_flow.get(packet.flow) else {
            if let Tcp::Syn(sent) = tcp {
                let flow = packet.flow;
                self.asked = *sent;
                return Incoming::Asked { from, flow };
            }
            self.strays.answer(packet);
            return Incoming::Nothing;
        };
        let Some(entry) = entry_of(&mut self.entries, key) else {
            return Incoming::Nothing;
        };
        entry
            .connection
            .handle_packet(tcp, packet.ecn, &self.settings, now);
        let has_news = entry.connection.take_news();
        self.make_ready(key);
        if has_news {
            Incoming::Changed(Key(key))
        } else {
            Incoming::Nothing
        }
    }

    /// `packet` arrives soon: has `fetch` bring near what it needs. Returns its connection, and one of a packet foreseen before, of which the
    /// first part has come meanwhile.
    pub fn foresee(
        &mut self,
        packet: &Parcel<Tcp>,
        fetch: &impl Fetch,
    ) -> Option<(Key, Option<Key>)> {
        match &packet.body.payload {
            Tcp::Data(data) => fetch.fetch(&**data),
            Tcp::Ack(ack) => fetch.fetch(&**ack),
            _ => {}
        }
        let key = self.by_flow.get(packet.flow)?;
        fetch.fetch(self.entries.get(key as usize)?);
        self.foreseen.push_back(Key(key));
        let before = if self.foreseen.len() > FORESEEN {
            self.foreseen.pop_front()
        } else {
            None
        };
        let entry = before.and_then(|key| self.entries.get(key.index())?.as_ref());
        if let Some(flow) = entry.and_then(|entry| entry.connection.flow()) {
            fetch.fetch(flow);
        }
        Some((Key(key), before))
    }

    /// The instant of [`Stack::next_timeout`] has come; `changed` gets the connections with something new.
    pub fn handle_timeout(&mut self, now: Instant, changed: &mut Vec<Key>) {
        while let Some((at, key)) = self.timers.pop_due(now) {
            let Some(entry) = entry_of(&mut self.entries, key) else {
                continue;
            };
            if entry.alarm != at {
                // Another timer has its place, or another connection.
                continue;
            }
            entry.alarm = Instant::FAR_FUTURE;
            if entry.due <= now {
                entry.connection.handle_timeout(&self.settings, now);
                if entry.connection.take_news() {
                    changed.push(Key(key));
                }
                self.make_ready(key);
            } else {
                entry.set_alarm(key, &mut self.timers);
            }
        }
    }

    /// When to call [`Stack::handle_timeout`]; now and then earlier than needed.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.timers.first()
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Tcp>> {
        if let Some((to, flow, answer)) = self.strays.pop() {
            return Some(self.packet(to, flow, (answer, Ecn::NotEct), now));
        }
        while let Some(&key) = self.ready.front() {
            let Some(entry) = entry_of(&mut self.entries, key) else {
                self.ready.pop_front();
                continue;
            };
            if let Some(tcp) = entry.connection.poll_transmit(&self.settings, now) {
                let (to, flow) = (entry.to, entry.flow);
                return Some(self.packet(to, flow, tcp, now));
            }
            if std::mem::take(&mut entry.is_closing) {
                entry.connection.close();
                continue;
            }
            self.ready.pop_front();
            self.settle(key);
        }
        None
    }

    /// A connection has nothing more to send now.
    fn settle(&mut self, key: u32) {
        let Some(entry) = entry_of(&mut self.entries, key) else {
            return;
        };
        entry.is_ready = false;
        if entry.is_released && entry.connection.is_over() {
            self.by_flow.remove(entry.flow);
            if entry.connection.is_refused() || entry.connection.is_broken() {
                self.strays.give_up(entry.flow);
            }
            self.entries[key as usize] = None;
            self.free.push(key);
            return;
        }
        // As the kernel does, a writer is woken when half of the room is free.
        let has_room = entry.connection.room(&self.settings) * 2 >= self.settings.unsent;
        if entry.wants_room && (has_room || entry.connection.has_little()) {
            entry.wants_room = false;
            self.drained.push_back(Key(key));
        }
        entry.due = entry
            .connection
            .next_timeout()
            .unwrap_or(Instant::FAR_FUTURE);
        entry.set_alarm(key, &mut self.timers);
    }

    /// A connection whose writer waited for room and has it.
    pub fn poll_drained(&mut self) -> Option<Key> {
        let key = self.drained.pop_front()?;
        // If nothing is written now, what waits leaves as it is.
        if let Some(entry) = entry_of(&mut self.entries, key.0) {
            entry.connection.write(0, false);
        }
        self.make_ready(key.0);
        Some(key)
    }

    /// The connection `key`.
    pub fn get(&self, key: Key) -> Option<&Connection> {
        Some(&self.entries.get(key.index())?.as_ref()?.connection)
    }

    /// Octets that the peer has said since the last call.
    pub fn take_heard(&mut self, key: Key) -> u64 {
        let entry = entry_of(&mut self.entries, key.0);
        entry.map_or(0, |entry| entry.connection.take_heard())
    }

    /// Says up to `octets`; returns how many there was room for. When it was less, [`Stack::poll_drained`] tells when there is
    /// more.
    pub fn write(&mut self, key: Key, octets: u64) -> u64 {
        let Some(entry) = entry_of(&mut self.entries, key.0) else {
            return 0;
        };
        let taken = octets.min(entry.connection.room(&self.settings));
        let fills_segments = self.settings.unsent >= self.settings.options.mss.into();
        let has_more = taken < octets && fills_segments;
        entry.connection.write(taken, has_more);
        entry.wants_room |= taken < octets;
        self.make_ready(key.0);
        taken
    }

    /// Says nothing more.
    pub fn close(&mut self, key: Key) {
        if let Some(entry) = entry_of(&mut self.entries, key.0) {
            entry.is_closing = true;
            self.make_ready(key.0);
        }
    }

    /// Breaks the connection, and is done with it.
    pub fn abort(&mut self, key: Key) {
        if let Some(entry) = entry_of(&mut self.entries, key.0) {
            entry.connection.abort();
            entry.is_released = true;
            self.make_ready(key.0);
        }
    }

    /// The application is done with the connection, which is forgotten when its end has been acknowledged.
    pub fn release(&mut self, key: Key) {
        if let Some(entry) = entry_of(&mut self.entries, key.0) {
            entry.is_released = true;
            self.make_ready(key.0);
        }
    }

    /// Connections that are there.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn make_ready(&mut self, key: u32) {
        if let Some(entry) = entry_of(&mut self.entries, key)
            && !std::mem::replace(&mut entry.is_ready, true)
        {
            self.ready.push_back(key);
        }
    }

    fn packet(
        &self,
        to: NodeId,
        flow: FlowId,
        (tcp, ecn): (Tcp, Ecn),
        now: Instant,
    ) -> Parcel<Tcp> {
        Packet {
            size: tcp.size(&self.headers),
            flow,
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn,
            at: now,
            body: Addressed {
                from: self.here,
                to,
                payload: tcp,
            },
        }
    }
}

/// The connection `key`, if it is there.
fn entry_of(entries: &mut [Option<Entry>], key: u32) -> Option<&mut Entry> {
    entries.get_mut(key as usize)?.as_mut()
}
