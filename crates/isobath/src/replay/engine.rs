//! One host of a replay: all its ends of all connections, served by one thread.
//!
//! The thread does what is due (connections to open, waits that are over), then sleeps in `epoll` until the next of these or
//! until a socket has news. Sockets are registered once, edge-triggered; an end that is told of news does all that it can.

use super::cast::{Host, Part};
use super::live::{self, Half, Live, Readiness, State};
use super::tuples::Tuples;
use path::Assigned;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use slab::Slab;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use sys::{Error, clock};
use units::Instant;
use vectors::Side;
use vectors::play::Answered;

/// Events taken from the kernel before what is due is looked at again.
const EVENTS: usize = 256;
/// Connections opened before sockets have their turn.
const STARTS: usize = 64;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 65_535;
/// How often news are handed on, and the longest sleep.
const TELL: Duration = Duration::from_millis(100);
/// In an event, the number of a listener from here on.
const LISTENERS: u64 = 1 << 32;

/// What is the same for both hosts of a replay.
pub(crate) struct Stage<'a> {
    pub(crate) parts: &'a [Part],
    /// The pairs of ports of connections that the client and the server open.
    pub(crate) tuples: [Tuples; 2],
    /// Delays of the packets that the client and the server send.
    pub(crate) delays: Option<Assigned>,
    /// What of each connection's round-trip time each host adds.
    pub(crate) split: &'a (dyn Fn(&Part) -> [Duration; 2] + Sync),
    pub(crate) congestion_control: Option<&'a str>,
    pub(crate) stop: &'a AtomicBool,
    /// Connections that have been opened, or could not be.
    pub(crate) begun: AtomicU64,
    /// Ends of connections that are open now.
    pub(crate) open: AtomicU64,
}

/// What a host has found out since it last told.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) halves: Vec<Half>,
    pub(crate) answered: Vec<(u32, Answered)>,
}

/// A host at work.
pub(crate) struct Engine<'a> {
    host: Host,
    stage: &'a Stage<'a>,
    poll: OwnedFd,
    listeners: Vec<Socket>,
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
    tell: SyncSender<News>,
    told: Instant,
}

impl<'a> Engine<'a> {
    /// Gets ready on the host that the calling thread is on: everything but the first connection.
    ///
    /// # Errors
    /// When a port cannot be listened on.
    pub(crate) fn new(
        host: Host,
        stage: &'a Stage<'a>,
        tell: SyncSender<News>,
    ) -> Result<Self, Error> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|e| Error::io("make", "an epoll descriptor", e))?;
        let accepts = &stage.tuples[host.other() as usize];
        let opens = &stage.tuples[host as usize];
        let mut engine = Self {
            host,
            stage,
            poll,
            listeners: Vec::new(),
            lives: Slab::new(),
            timers: BinaryHeap::new(),
            over: Vec::new(),
            next: 0,
            free: (0..opens.count()).collect(),
            origin: Instant::ZERO,
            news: News::default(),
            tell,
            told: Instant::ZERO,
        };
        for address in accepts.listeners() {
            let listener = listen(&address.into())
                .map_err(|e| Error::io("listen on", address.to_string(), e))?;
            let number = LISTENERS + engine.listeners.len() as u64;
            engine
                .watch(&listener, number, epoll::EventFlags::IN)
                .map_err(|e| Error::io("watch", address.to_string(), e))?;
            engine.listeners.push(listener);
        }
        Ok(engine)
    }

    /// Plays from `origin` on until it is told to stop.
    pub(crate) fn run(mut self, origin: Instant) {
        self.origin = origin;
        self.told = clock::now();
        let mut events = Vec::with_capacity(EVENTS);
        while !self.stage.stop.load(Ordering::Relaxed) {
            self.start_due();
            self.wake_due();
            self.bury();
            self.tell();
            self.wait(&mut events);
            for event in events.drain(..) {
                self.handle(event);
            }
            self.bury();
        }
        for (_, live) in std::mem::take(&mut self.lives) {
            self.news.halves.push(live.bury(true));
        }
        self.told = Instant::ZERO;
        self.tell();
    }

    /// Opens the connections that should be open.
    fn start_due(&mut self) {
        for _ in 0..STARTS {
            let Some(part) = self.stage.parts.get(self.next) else {
                return;
            };
            if part.initiator == self.host {
                let now = clock::now();
                if self.origin + part.vector.start > now {
                    return;
                }
                self.start(part, now);
                self.stage.begun.fetch_add(1, Ordering::Relaxed);
            }
            self.next += 1;
        }
    }

    fn start(&mut self, part: &'a Part, now: Instant) {
        let number = u32::try_from(self.next).unwrap_or(u32::MAX);
        let Some(tuple) = self.free.pop_front() else {
            self.never(number, now);
            return;
        };
        if let Ok(socket) = self.connect(part, tuple, number) {
            self.enter(Live::new(socket, part, number, Side::Initiator, now).by(tuple));
        } else {
            self.free.push_back(tuple);
            self.never(number, now);
        }
    }

    /// A connection that could not even be asked for.
    fn never(&mut self, number: u32, now: Instant) {
        self.news.halves.push(Half::refused(number, now));
    }

    /// Begins to connect. Who accepts must find whose it is, and the path how long it is, before the first segment leaves.
    fn connect(&self, part: &Part, tuple: u32, number: u32) -> io::Result<Socket> {
        let tuples = &self.stage.tuples[self.host as usize];
        let [source, destination] = tuples.addresses(tuple);
        tuples.give(tuple, number);
        if let Some(delays) = &self.stage.delays {
            let delay = (self.stage.split)(part);
            let forth = lab::flow(source, destination);
            let back = lab::flow(destination, source);
            delays.set(forth, delay[self.host as usize]);
            delays.set(back, delay[self.host.other() as usize]);
        }
        let socket = Socket::new(
            Domain::for_address(source),
            Type::STREAM.nonblocking(),
            Some(Protocol::TCP),
        )?;
        // Another connection to another port may have the same source.
        socket.set_reuse_address(true)?;
        live::prepare(
            &socket,
            part,
            Side::Initiator,
            self.stage.congestion_control,
        )
        .map_err(io::Error::other)?;
        socket.bind(&source.into())?;
        match socket.connect(&destination.into()) {
            Err(error)
                if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) =>
            {
                Err(error)
            }
            _ => Ok(socket),
        }
    }

    /// Looks after those whose wait is over.
    fn wake_due(&mut self) {
        let now = clock::now();
        while let Some(&Reverse((due, key))) = self.timers.peek()
            && due <= now
        {
            self.timers.pop();
            self.look_after(key, Readiness::default());
        }
    }

    fn wait(&self, events: &mut Vec<epoll::Event>) {
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
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: sleep.subsec_nanos().into(),
        };
        // A signal is no reason to stop; whoever caught it raises `stop`.
        let _ = epoll::wait(
            &self.poll,
            rustix::buffer::spare_capacity(events),
            Some(&timeout),
        );
    }

    fn handle(&mut self, event: epoll::Event) {
        let number = event.data.u64();
        if number >= LISTENERS {
            let listener = usize::try_from(number - LISTENERS).unwrap_or(usize::MAX);
            self.accept(listener);
            return;
        }
        let flags = event.flags;
        let hung_up = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        let ready = Readiness {
            readable: flags.contains(epoll::EventFlags::IN),
            writable: flags.contains(epoll::EventFlags::OUT),
            hung_up: flags.intersects(hung_up),
        };
        self.look_after(usize::try_from(number).unwrap_or(usize::MAX), ready);
    }

    fn accept(&mut self, listener: usize) {
        loop {
            let accepted = match self.listeners.get(listener) {
                Some(listener) => listener.accept4(accept_flags()),
                None => return,
            };
            let (socket, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // The rest waits for the next event.
                Err(_) => return,
            };
            let now = clock::now();
            let Some(number) = self.whose(&peer, listener) else {
                // A stranger.
                continue;
            };
            let Some(part) = self.stage.parts.get(number as usize) else {
                continue;
            };
            // What cannot be set is not: the connection is there and is played.
            let _ = live::prepare(&socket, part, Side::Acceptor, self.stage.congestion_control);
            self.enter(Live::new(socket, part, number, Side::Acceptor, now));
        }
    }

    fn whose(&self, peer: &SockAddr, listener: usize) -> Option<u32> {
        let tuples = &self.stage.tuples[self.host.other() as usize];
        let port = tuples.listeners().nth(listener)?.port();
        tuples.whose(peer.as_socket()?, port)
    }

    /// From now on `live` is among those that are looked after.
    fn enter(&mut self, live: Live) {
        let key = self.lives.insert(live);
        let flags = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::ET;
        self.stage.open.fetch_add(1, Ordering::Relaxed);
        let watched = self.watch(self.lives[key].socket(), key as u64, flags);
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
        let state = live.look_after(part, ready, &mut |epoch| news.push((number, epoch)));
        match state {
            State::Over => self.over.push(key),
            State::Waits(Some(due)) => self.timers.push(Reverse((due, key))),
            State::Waits(None) => {}
        }
    }

    /// Frees the places of those that are over. Not before the last event at hand: it might be about one of them, and its
    /// place another's.
    fn bury(&mut self) {
        for key in std::mem::take(&mut self.over) {
            let Some(live) = self.lives.try_remove(key) else {
                continue;
            };
            self.stage.open.fetch_sub(1, Ordering::Relaxed);
            self.free.extend(live.tuple());
            self.news.halves.push(live.bury(false));
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

    fn watch(&self, socket: &Socket, number: u64, flags: epoll::EventFlags) -> io::Result<()> {
        let data = epoll::EventData::new_u64(number);
        Ok(epoll::add(&self.poll, socket, data, flags)?)
    }
}

/// An accepted socket is like those that this host opens.
fn accept_flags() -> i32 {
    let flags = rustix::net::SocketFlags::NONBLOCK | rustix::net::SocketFlags::CLOEXEC;
    i32::try_from(flags.bits()).unwrap_or_default()
}

fn listen(address: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        address.domain(),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}
