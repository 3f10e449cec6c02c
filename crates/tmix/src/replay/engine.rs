//! One host of a replay, or a share of it: its ends of all connections, served by one thread.
//!
//! A process may not have as many open files as a replay has connections. So the connections may be dealt out to several
//! threads, each with a table of descriptors of its own ([`sys::process::own_descriptors`]): both ends of a connection are in
//! the same share of their hosts.
//!
//! The thread does what is due (connections to open, waits that are over), then sleeps in `epoll` until the next of these or
//! until a socket has news. Sockets are registered once, edge-triggered; an end that is told of news does all that it can.

use super::connector::{Connector, Departure};
use super::datagrams::{self, Flows};
use super::listeners::{Arrival, Listeners};
use super::live::{self, Half, Live, Readiness, State};
use super::tuples::Tuples;
use super::workload::{Host, Part};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;
use sys::poll::{Event, Events, Interest, Poll};
use sys::{Error, clock};
use units::Instant;
use vectors::Side;
use vectors::play::Answered;

/// Events taken from the kernel before what is due is looked at again.
const EVENTS: usize = 256;
/// Connections opened before sockets have their turn.
const STARTS: usize = 64;
/// How often news are handed on, and the longest sleep.
const TELL: Duration = Duration::from_millis(100);
/// In an event, the number of a listener from here on.
const LISTENERS: u64 = 1 << 32;

/// What is the same for all threads of a replay.
pub struct Stage<'a> {
    /// All connections and flows, by start; their numbers are their places here.
    pub parts: &'a [Part],
    /// Among how many threads a host's ends are dealt out: part n is of share n modulo this.
    pub shares: u32,
    /// How connections are opened.
    pub connector: Connector<'a>,
    /// TCP congestion control of all connections; without it the hosts' own.
    pub congestion_control: Option<&'a str>,
    /// Raised when the replay is over.
    pub stop: &'a AtomicBool,
    /// Connections that have been opened, or could not be.
    pub begun: AtomicU64,
    /// Ends of connections that are open now.
    pub open: AtomicU64,
    /// Flows of UDP, which engines of their own play.
    pub flows: Flows,
}

impl Stage<'_> {
    /// The pairs of ports by which connections of this share that `host` opens are known, where they are.
    fn tuples(&self, share: u32, host: Host) -> Option<&Tuples> {
        match &self.connector {
            Connector::Emulated(lab) => lab.tuples.get(share as usize).map(|of| &of[host as usize]),
            Connector::Introduced(_) | Connector::Inward => None,
        }
    }
}

/// What a host has found out since it last told.
#[derive(Debug, Default)]
pub struct News {
    /// Ends of connections that are over.
    pub halves: Vec<Half>,
    /// Responses that were heard to their end, with the number of their connection.
    pub answered: Vec<(u32, Answered)>,
    /// Which host heard how many octets until when.
    pub heard: Option<(Host, Instant, u64)>,
    /// Ends of flows that are over.
    pub flows: Vec<datagrams::Half>,
}

/// A host, or a share of it, at work.
pub struct Engine<'a> {
    host: Host,
    share: u32,
    stage: &'a Stage<'a>,
    poll: Poll,
    listeners: Listeners,
    lives: Slab<Live>,
    /// When which end wants to be looked after; entries of ends that are gone, or whose place another has, do no harm.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Ends that are over; their places are free after the events at hand.
    over: Vec<usize>,
    /// The next part that this host might have to open.
    next: usize,
    /// Pairs of ports that may be used, those unused for the longest time first.
    free: VecDeque<u32>,
    origin: Instant,
    news: News,
    heard: u64,
    tell: SyncSender<News>,
    told: Instant,
}

impl<'a> Engine<'a> {
    /// Gets ready on the host that the calling thread is on: everything but the first connection. Others come in by `listeners`, or
    /// without any at the ports of this share.
    ///
    /// # Errors
    /// When a port cannot be listened on.
    pub fn new(
        (host, share): (Host, u32),
        stage: &'a Stage<'a>,
        listeners: Option<Listeners>,
        tell: SyncSender<News>,
    ) -> Result<Self, Error> {
        let poll = Poll::new()?;
        let accepts = stage.tuples(share, host.other());
        let opens = stage.tuples(share, host).map_or(0, Tuples::count);
        let listeners = match (listeners, accepts) {
            (Some(listeners), _) => listeners,
            (None, Some(tuples)) => Listeners::own(tuples)?,
            (None, None) => Listeners::Own(Vec::new()),
        };
        for (number, listener) in (LISTENERS..).zip(listeners.watched()) {
            poll.add(&listener, number, Interest::Read, "a port")?;
        }
        Ok(Self {
            host,
            share,
            stage,
            poll,
            listeners,
            lives: Slab::new(),
            timers: BinaryHeap::new(),
            over: Vec::new(),
            next: 0,
            free: (0..opens).collect(),
            origin: Instant::ZERO,
            news: News::default(),
            heard: 0,
            tell,
            told: Instant::ZERO,
        })
    }

    /// Plays from `origin` on until it is told to stop.
    pub fn run(mut self, origin: Instant) {
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
            self.news.halves.push(live.close(true));
        }
        self.tell_all();
    }

    /// Opens the connections that should be open.
    fn start_due(&mut self) {
        for _ in 0..STARTS {
            let Some(part) = self.stage.parts.get(self.next) else {
                return;
            };
            if part.initiator == self.host && self.is_mine() && !part.is_udp() {
                let now = clock::now();
                if self.origin + part.vector.start > now {
                    return;
                }
                self.start(part, now);
                self.stage.begun.fetch_add(1, Ordering::Release);
            }
            self.next += 1;
        }
    }

    /// Whether the next part is of this share.
    fn is_mine(&self) -> bool {
        self.next % self.stage.shares.max(1) as usize == self.share as usize
    }

    fn start(&mut self, part: &'a Part, now: Instant) {
        let number = u32::try_from(self.next).unwrap_or(u32::MAX);
        let tuple = self.free.pop_front();
        if let Ok(departure) = self.depart(part, tuple, number) {
            let live = Live::open(departure, part, number, now).by(tuple);
            self.enter(live);
        } else {
            self.free.extend(tuple);
            // It could not even be asked for.
            self.news.halves.push(Half::refused(number, now));
        }
    }

    fn depart(&self, part: &Part, tuple: Option<u32>, number: u32) -> io::Result<Departure> {
        let control = self.stage.congestion_control;
        let tuples = self.stage.tuples(self.share, self.host);
        match (&self.stage.connector, tuples, tuple) {
            (Connector::Emulated(lab), Some(tuples), Some(tuple)) => {
                lab.connect(self.host, tuples, tuple, (part, number), control)
            }
            (Connector::Introduced(introduced), _, _) => {
                introduced.connect((part, number), control)
            }
            _ => Err(io::ErrorKind::AddrNotAvailable.into()),
        }
    }

    /// Looks after those whose wait is over.
    fn wake_due(&mut self) {
        let now = clock::now();
        while let Some(&Reverse((due, key))) = self.timers.peek()
            && due <= now
        {
            self.timers.pop();
            if let Some(live) = self.lives.get_mut(key) {
                live.alarm.rings(due);
            }
            self.look_after(key, Readiness::default());
        }
    }

    fn wait(&self, events: &mut Events) {
        let timer = self.timers.peek().map(|Reverse((due, _))| *due);
        let start = self
            .stage
            .parts
            .get(self.next)
            .map(|part| self.origin + part.vector.start);
        let tell = self.told + TELL;
        let next = [timer, start]
            .into_iter()
            .flatten()
            .fold(tell, Instant::min);
        let sleep = next.since(clock::now()).min(TELL);
        // A signal is no reason to stop; whoever caught it raises `stop`.
        self.poll.wait(events, sleep);
    }

    fn handle(&mut self, event: Event) {
        let number = event.number;
        if number >= LISTENERS {
            let listener = usize::try_from(number - LISTENERS).unwrap_or(usize::MAX);
            self.accept(listener);
            return;
        }
        let ready = Readiness {
            readable: event.readable,
            writable: event.writable,
            hung_up: event.hung_up,
        };
        self.look_after(usize::try_from(number).unwrap_or(usize::MAX), ready);
    }

    fn accept(&mut self, listener: usize) {
        let tuples = self.stage.tuples(self.share, self.host.other());
        while let Some(arrival) = self.listeners.next(listener, tuples) {
            let Some(part) = self.stage.parts.get(arrival.number as usize) else {
                continue;
            };
            self.let_in(part, arrival);
        }
    }

    fn let_in(&mut self, part: &Part, arrival: Arrival) {
        let control = self.stage.congestion_control;
        // What cannot be set is not: the connection is there and is played.
        let _ = live::prepare(&arrival.socket, part, Side::Acceptor, control);
        let live = Live::accept(arrival, part);
        self.heard += live.heard();
        self.enter(live);
    }

    /// From now on `live` is among those that are looked after.
    fn enter(&mut self, live: Live) {
        let key = self.lives.insert(live);
        self.stage.open.fetch_add(1, Ordering::Release);
        let socket = self.lives[key].socket();
        let watched = self
            .poll
            .add(socket, key as u64, Interest::Change, "a connection");
        if watched.is_err() {
            self.over.push(key);
        }
        // What is ready already is told by the first event.
    }

    fn look_after(&mut self, key: usize, ready: Readiness) {
        let Some(live) = self.lives.get_mut(key) else {
            return;
        };
        let number = live.number();
        let Some(part) = self.stage.parts.get(number as usize) else {
            return;
        };
        let news = &mut self.news.answered;
        let before = live.heard();
        let state = live.look_after(part, ready, &mut |epoch| news.push((number, epoch)));
        self.heard += live.heard() - before;
        match state {
            State::Over => self.over.push(key),
            State::Waits(Some(due)) if live.alarm.sets(due) => {
                self.timers.push(Reverse((due, key)));
            }
            State::Waits(_) => {}
        }
    }

    /// Frees the places of those that are over. Not before the last event at hand: it might be about one of them, and its
    /// place another's.
    fn close_ended(&mut self) {
        for key in std::mem::take(&mut self.over) {
            let Some(live) = self.lives.try_remove(key) else {
                continue;
            };
            self.stage.open.fetch_sub(1, Ordering::Release);
            self.free.extend(live.tuple());
            self.news.halves.push(live.close(false));
        }
    }

    /// Hands on what is new, now and then; what nobody has time to take waits for the next time.
    fn tell(&mut self) {
        let now = clock::now();
        if now.since(self.told) < TELL {
            return;
        }
        self.told = now;
        let heard = std::mem::take(&mut self.heard);
        self.news.heard = Some((self.host, now, heard));
        if let Err(TrySendError::Full(news)) = self.tell.try_send(std::mem::take(&mut self.news)) {
            self.news = news;
            self.heard = heard;
        }
    }

    /// Hands on the rest. Nobody listens only when the run is broken off.
    fn tell_all(&mut self) {
        let heard = std::mem::take(&mut self.heard);
        self.news.heard = Some((self.host, clock::now(), heard));
        let _ = self.tell.send(std::mem::take(&mut self.news));
    }
}
