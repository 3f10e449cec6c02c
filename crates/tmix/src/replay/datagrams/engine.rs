//! One host's ends of all flows, served by one thread.

use super::super::connector::Connector;
use super::super::engine::{News, Stage};
use super::super::live::State;
use super::super::workload::{Host, Part};
use super::counters::Half;
use super::live::{Live, Mouth};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use sys::poll::{Event, Events, Interest, Poll};
use sys::udp::{BATCH, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::Instant;
use vectors::Side;
use vectors::play::datagrams::{LABEL, labelled};

/// Events taken from the kernel before what is due is looked at again.
const EVENTS: usize = 256;
/// Flows opened before sockets have their turn.
const STARTS: usize = 64;
/// How often news are handed on, and the longest sleep.
const TELL: Duration = Duration::from_millis(100);
/// How soon the acceptor looks again whether a flow that is due has been opened.
const SOON: Duration = Duration::from_millis(1);
/// In an event, the number of a shared socket from here on.
const SHARED: u64 = 1 << 32;
/// Octets that may wait to be taken from a flow's own socket and from a shared one, and to be sent.
const OWN: usize = 4 << 20;
const ALL: usize = 32 << 20;
const UNSENT: usize = 1 << 20;
/// Octets that a datagram may have.
const LONGEST: usize = 1 << 16;

/// A datagram that has come.
struct Heard {
    from: SocketAddr,
    turn: Option<u32>,
    octets: u64,
}

/// A host at work.
pub(super) struct Engine<'a> {
    host: Host,
    stage: &'a Stage<'a>,
    poll: Poll,
    /// Those on which acceptors are spoken to.
    shared: Vec<UdpSocket>,
    lives: Slab<Live>,
    /// Where the acceptor's ends are, by part.
    places: HashMap<u32, usize>,
    /// When which end wants to be looked after; entries of ends that are gone do no harm.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Ends that are over; their places are free after the events at hand.
    over: Vec<usize>,
    /// The next flow to begin.
    next: usize,
    origin: Instant,
    news: News,
    tell: SyncSender<News>,
    told: Instant,
    /// There but for the moment in which it is filled.
    batch: Option<RecvBatch>,
    heard: Vec<Heard>,
    /// What is said.
    octets: Vec<u8>,
}

impl<'a> Engine<'a> {
    /// Gets ready on the host that the calling thread is on.
    ///
    /// # Errors
    /// When a port cannot be listened on.
    pub(super) fn new(
        host: Host,
        stage: &'a Stage<'a>,
        tell: SyncSender<News>,
    ) -> Result<Self, Error> {
        let mut engine = Self {
            host,
            stage,
            poll: Poll::new()?,
            shared: Vec::new(),
            lives: Slab::new(),
            places: HashMap::new(),
            timers: BinaryHeap::new(),
            over: Vec::new(),
            next: 0,
            origin: Instant::ZERO,
            news: News::default(),
            tell,
            told: Instant::ZERO,
            batch: Some(RecvBatch::new(BATCH, LABEL)),
            heard: Vec::with_capacity(BATCH),
            octets: vec![0x5a; LONGEST],
        };
        if host == Host::Server {
            engine.listen()?;
        }
        Ok(engine)
    }

    fn listen(&mut self) -> Result<(), Error> {
        for address in self.stage.flows.tuples.listeners() {
            let socket = UdpSocket::bind(address)?;
            socket.set_buffers(ALL, ALL)?;
            self.watch(&socket, SHARED + self.shared.len() as u64)?;
            self.shared.push(socket);
        }
        Ok(())
    }

    fn watch(&self, socket: &UdpSocket, number: u64) -> Result<(), Error> {
        self.poll
            .add(socket, number, Interest::Arrival, "a UDP socket")
    }

    /// Plays from `origin` on until it is told to stop.
    pub(super) fn run(mut self, origin: Instant) {
        self.origin = origin;
        self.told = clock::now();
        let mut events = Events::with_capacity(EVENTS);
        while !self.stage.stop.load(Ordering::Relaxed) {
            self.start_due();
            self.wake_due();
            self.close_ended();
            self.tell();
            self.wait(&mut events);
            for event in events.drain() {
                self.handle(event);
            }
            self.close_ended();
        }
        for (_, live) in std::mem::take(&mut self.lives) {
            self.news.flows.push(live.close());
        }
        self.told = Instant::ZERO;
        self.tell();
    }

    /// The flow that is to begin next, and its number among the parts.
    fn next(&self) -> Option<(u32, &'a Part)> {
        let number = *self.stage.flows.numbers.get(self.next)?;
        Some((number, self.stage.parts.get(number as usize)?))
    }

    /// Begins the flows that should have begun.
    fn start_due(&mut self) {
        let is_client = self.host == Host::Client;
        let most = if is_client { STARTS } else { usize::MAX };
        for _ in 0..most {
            let now = clock::now();
            let Some((number, part)) = self.next() else {
                return;
            };
            if self.origin + part.vector.start > now {
                return;
            }
            let opened = &self.stage.flows.opened;
            if is_client {
                self.open(number, part, now);
                self.stage.begun.fetch_add(1, Ordering::Release);
            } else if opened.load(Ordering::Acquire) as usize <= self.next {
                return;
            } else {
                self.join(number, part, now);
            }
            self.next += 1;
        }
    }

    /// Begins a flow at its initiator.
    fn open(&mut self, number: u32, part: &Part, now: Instant) {
        let tuple = u32::try_from(self.next).unwrap_or(u32::MAX);
        let [source, destination] = self.stage.flows.tuples.addresses(tuple);
        self.assign(part, source, destination);
        let opened = connected(source, destination).and_then(|socket| {
            self.watch(&socket, self.lives.vacant_key() as u64)?;
            Ok(socket)
        });
        let flows = &self.stage.flows;
        let Ok(socket) = opened else {
            flows.opened.fetch_add(1, Ordering::Release);
            self.news.flows.push(Half::refused(number, now));
            return;
        };
        flows.tuples.give(tuple, number);
        // The acceptor's too: a flow is not over before it has begun.
        flows.open.fetch_add(2, Ordering::Relaxed);
        // Before the first datagram leaves: the acceptor may have it sooner than this thread goes on.
        flows.opened.fetch_add(1, Ordering::Release);
        self.enter(Live::new(
            part,
            number,
            Side::Initiator,
            Mouth::Own(socket),
            now,
        ));
    }

    /// Tells the path how far it is.
    fn assign(&self, part: &Part, source: SocketAddr, destination: SocketAddr) {
        if let Connector::Emulated(lab) = &self.stage.connector {
            let forth = packet::udp_flow(source, destination);
            let back = packet::udp_flow(destination, source);
            lab.assign(part, Host::Client, [forth, back]);
        }
    }

    /// Begins a flow at its acceptor, if it was opened.
    fn join(&mut self, number: u32, part: &Part, now: Instant) {
        let Some([to, own]) = self.stage.flows.addresses(number) else {
            return;
        };
        if self.stage.flows.tuples.whose(to, own.port()) != Some(number) {
            return;
        }
        let mut sockets = self.stage.flows.tuples.listeners();
        let Some(socket) = sockets.position(|address| address == own) else {
            return;
        };
        let mouth = Mouth::Shared { socket, to };
        let key = self.lives.vacant_key();
        self.places.insert(number, key);
        self.enter(Live::new(part, number, Side::Acceptor, mouth, now));
    }

    /// From now on `live` is among those that are looked after.
    fn enter(&mut self, mut live: Live) {
        if let Some(part) = self.stage.parts.get(live.number() as usize) {
            live.begin(part, self.origin + part.vector.start);
        }
        let key = self.lives.insert(live);
        self.look_after(key);
    }

    /// Looks after those who wait for a moment that has come.
    fn wake_due(&mut self) {
        let now = clock::now();
        while let Some(&Reverse((due, key))) = self.timers.peek()
            && due <= now
        {
            self.timers.pop();
            if let Some(live) = self.lives.get_mut(key) {
                live.alarm.rings(due);
                self.look_after(key);
            }
        }
    }

    fn wait(&self, events: &mut Events) {
        let now = clock::now();
        let timer = self.timers.peek().map(|Reverse((due, _))| *due);
        let start = self.next().map(|(_, part)| self.origin + part.vector.start);
        let start = start.map(|start| match self.host {
            Host::Client => start,
            Host::Server => start.max(now + SOON),
        });
        let next = [timer, start].into_iter().flatten();
        let next = next.fold(self.told + TELL, Instant::min);
        // A signal is no reason to stop; whoever caught it raises `stop`.
        self.poll.wait(events, next.since(now).min(TELL));
    }

    fn handle(&mut self, event: Event) {
        let number = event.number;
        if event.failed
            && let Some(socket) = self.socket(number)
        {
            // An ICMP error says nothing that patience does not; left there, it takes room.
            while let Ok(Some(_)) = socket.poll_event() {}
        }
        while self.take(number) {
            let mut heard = std::mem::take(&mut self.heard);
            for one in heard.drain(..) {
                if let Some(key) = self.whose(number, &one) {
                    self.hear(key, &one);
                }
            }
            self.heard = heard;
        }
    }

    /// The socket that an event of this number is about.
    fn socket(&self, number: u64) -> Option<&UdpSocket> {
        match number.checked_sub(SHARED) {
            Some(place) => self.shared.get(usize::try_from(place).ok()?),
            None => self.lives.get(usize::try_from(number).ok()?)?.own(),
        }
    }

    /// Takes what has come on a socket, as much as a batch holds; whether there was something.
    fn take(&mut self, number: u64) -> bool {
        let mut batch = std::mem::take(&mut self.batch);
        if let (Some(batch), Some(socket)) = (&mut batch, self.socket(number))
            && socket.recv(batch).is_ok_and(|count| count > 0)
        {
            self.heard.extend(batch.iter().map(|datagram| Heard {
                from: datagram.source,
                turn: labelled(datagram.payload),
                octets: datagram.length as u64,
            }));
        }
        self.batch = batch;
        !self.heard.is_empty()
    }

    /// The end to which `heard` was said.
    fn whose(&mut self, number: u64, heard: &Heard) -> Option<usize> {
        let Some(place) = number.checked_sub(SHARED) else {
            return usize::try_from(number).ok();
        };
        let flows = &self.stage.flows;
        let own = flows.tuples.listeners().nth(usize::try_from(place).ok()?)?;
        let part = flows.tuples.whose(heard.from, own.port())?;
        if !self.places.contains_key(&part) {
            // The initiator was quicker than this thread.
            self.start_due();
        }
        self.places.get(&part).copied()
    }

    fn hear(&mut self, key: usize, heard: &Heard) {
        if let Some(live) = self.lives.get_mut(key)
            && let Some(part) = self.stage.parts.get(live.number() as usize)
        {
            live.hear(part, heard.turn, heard.octets);
            self.look_after(key);
        }
    }

    fn look_after(&mut self, key: usize) {
        let Some(live) = self.lives.get_mut(key) else {
            return;
        };
        let Some(part) = self.stage.parts.get(live.number() as usize) else {
            return;
        };
        match live.look_after(part, &self.shared, &mut self.octets) {
            State::Waits(Some(due)) if live.alarm.sets(due) => {
                self.timers.push(Reverse((due, key)));
            }
            State::Waits(_) => {}
            State::Over => self.over.push(key),
        }
    }

    /// Frees the places of those that are over. Not before the last event at hand: it might be about one of them, and its
    /// place another's.
    fn close_ended(&mut self) {
        for key in std::mem::take(&mut self.over) {
            let Some(live) = self.lives.try_remove(key) else {
                continue;
            };
            self.places.remove(&live.number());
            self.stage.flows.open.fetch_sub(1, Ordering::Relaxed);
            self.news.flows.push(live.close());
        }
    }

    /// Hands on what is new, now and then.
    fn tell(&mut self) {
        let now = clock::now();
        if now.since(self.told) < TELL {
            return;
        }
        self.told = now;
        // Nobody listens only when the run is over.
        let _ = self.tell.send(std::mem::take(&mut self.news));
    }
}

/// A socket for one flow.
fn connected(source: SocketAddr, destination: SocketAddr) -> Result<UdpSocket, Error> {
    let mut socket = UdpSocket::bind_shared(source)?;
    socket.connect(destination)?;
    socket.set_buffers(OWN, UNSENT)?;
    Ok(socket)
}
