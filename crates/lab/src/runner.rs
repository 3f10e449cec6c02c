//! Moving packets through paths in real time.
//!
//! One thread serves every link of a lab. The journey of a packet:
//!
//! 1. the kernel routes it out of an interface; the thread wakes and reads it, perhaps as part of a burst;
//! 2. it is cut to MTU size, stamped with the clock, and handed to the link's pipeline;
//! 3. the thread sleeps until shortly before the pipeline's next deadline ([`Margin`]) and spins for the rest, unless packets are so
//!    dense that it would do nothing else;
//! 4. the pipeline gives the packet out, stamped with its logical departure;
//! 5. packets that leave together are joined and written to the interface at the other end.
//!
//! Packets to a group are not carried: on a link between two nodes they are the kernel's own (group reports,
//! router solicitations), and would only disturb the counts.
//!
//! Steps 3 to 5 may be late by a scheduler's whim. The stamp is not, so the next packet is not late
//! because this one was; how late each was is in the counters ([`crate::Quality`]).

use crate::margin::Margin;
use crate::monitor::Monitor;
use crate::urgency::Urgency;
use packet::{Frame, Pool, flow_of, is_multicast, next_burst, split};
use path::{Element, Packet, Pipeline};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::poll::{Events, Interest, Poll};
use sys::tun::{MAX_READ, Tun};
use sys::{Error, clock, priority};
use units::{Instant, TrafficClass};

/// Reads from one interface before the others have their turn.
const READS_PER_TURN: usize = 16;
/// Packets in a tick from which on the thread does not spin: before that many deadlines it would spin all the time, and
/// take from the hosts the processor that they need to send so much.
const DENSE: u64 = 200;
/// How often the queues are looked at, and the longest sleep.
const TICK: Duration = Duration::from_millis(10);

/// One direction of one link.
pub(crate) struct Direction {
    /// Where packets come from.
    pub(crate) input: Arc<Tun>,
    /// Where they go.
    pub(crate) output: Arc<Tun>,
    /// What they meet on the way.
    pub(crate) path: Pipeline<Frame>,
    /// Octets that the link adds to each.
    pub(crate) overhead: u32,
    /// The counters.
    pub(crate) monitor: Monitor,
    /// When `path` wants to be called next.
    pub(crate) wake: Option<Instant>,
    /// What has left `path` and is not yet written.
    pub(crate) leaving: VecDeque<Packet<Frame>>,
}

/// The links of a lab and what it takes to serve them.
pub(crate) struct Runner {
    directions: Vec<Direction>,
    poll: Poll,
    pool: Pool,
    buffer: Vec<u8>,
    next_tick: Instant,
    /// Packets read since the last tick.
    read: u64,
    /// Whether packets are so dense that it does not spin.
    is_dense: bool,
    margin: Margin,
}

impl Runner {
    /// # Errors
    ///
    /// When the kernel gives no epoll descriptor.
    pub(crate) fn new(directions: Vec<Direction>) -> Result<Self, Error> {
        let poll = Poll::new()?;
        for (direction, index) in directions.iter().zip(0..) {
            let name = direction.input.name();
            poll.add(&*direction.input, index, Interest::Read, name)?;
        }
        Ok(Self {
            directions,
            poll,
            pool: Pool::default(),
            buffer: vec![0; MAX_READ],
            next_tick: clock::now() + TICK,
            read: 0,
            is_dense: false,
            margin: Margin::new(),
        })
    }

    /// Moves packets until `stop` is raised (looked at every tick); publishes the CPU time used.
    pub(crate) fn run(mut self, stop: &AtomicBool, cpu_ns: &AtomicU64) {
        let mut events = Events::with_capacity(self.directions.len());
        // Where real-time threads are not allowed the runner is an ordinary one throughout.
        let mut urgency = priority::set_realtime(true)
            .is_ok()
            .then(|| Urgency::new(clock::now(), clock::thread_cpu()));
        while !stop.load(Ordering::Relaxed) {
            self.wait(&mut events);
            for event in events.drain() {
                self.read(event.number);
            }
            if self.advance() {
                let cpu = clock::thread_cpu();
                let change = urgency.as_mut().and_then(|u| u.look(clock::now(), cpu));
                // It was allowed before.
                let _ = change.map(priority::set_realtime);
                let nanos = u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX);
                cpu_ns.store(nanos, Ordering::Relaxed);
            }
        }
        let now = clock::now();
        for direction in &mut self.directions {
            direction.monitor.tick(now, &mut direction.path);
        }
    }

    /// Waits for a packet or for the next deadline, whichever is first.
    fn wait(&mut self, events: &mut Events) {
        let wakes = self
            .directions
            .iter()
            .filter_map(|direction| direction.wake);
        let wake = wakes.min().unwrap_or(Instant::FAR_FUTURE);
        let margin = if self.is_dense {
            Duration::ZERO
        } else {
            self.margin.get()
        };
        loop {
            let now = clock::now();
            let sleep = (wake - margin).min(self.next_tick).since(now).min(TICK);
            // A signal is no reason to stop; the owner raises `stop`.
            let readable = self.poll.wait(events, sleep);
            let woken = clock::now();
            // Not one that a packet or a signal ended.
            if sleep > Duration::ZERO && woken >= now + sleep {
                self.margin.met(woken.since(now + sleep));
            }
            if readable || woken >= wake || woken >= self.next_tick {
                return;
            }
        }
    }

    /// Reads what waits on the input of direction `index` and hands it to the path.
    fn read(&mut self, index: u64) {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(direction) = self.directions.get_mut(index) else {
            return;
        };
        for _ in 0..READS_PER_TURN {
            let Ok(length) = direction.input.read(&mut self.buffer) else {
                return;
            };
            let at = clock::now();
            let mut flow = None;
            let read = &self.buffer[..length];
            let cut = split(read, at, &mut self.pool, |body| {
                if is_multicast(body.bytes()) {
                    direction.monitor.multicast += 1;
                    return;
                }
                let class = body.class();
                let packet = Packet {
                    size: u32::try_from(body.bytes().len()).unwrap_or(u32::MAX)
                        + direction.overhead,
                    flow: *flow.get_or_insert_with(|| flow_of(body.bytes())),
                    family: body.family(),
                    dscp: class.dscp,
                    ecn: class.ecn,
                    at,
                    body,
                };
                direction.wake = direction
                    .path
                    .process(Some(packet), at, &mut direction.leaving);
            });
            self.read += cut as u64;
            if cut == 0 {
                direction.monitor.malformed += 1;
            }
        }
    }

    /// Does what is due on every link, and the counters at every tick; says whether this was one.
    fn advance(&mut self) -> bool {
        let now = clock::now();
        let tick = now >= self.next_tick;
        if tick {
            self.next_tick = now + TICK;
            self.is_dense = std::mem::take(&mut self.read) >= DENSE;
        }
        for direction in &mut self.directions {
            if direction.wake.is_some_and(|wake| wake <= now) {
                direction.wake = direction.path.process(None, now, &mut direction.leaving);
            }
            direction.write(&mut self.pool);
            if tick {
                direction.monitor.tick(now, &mut direction.path);
            }
        }
        tick
    }
}

impl Direction {
    /// Writes what has left the path to the interface at the other end.
    fn write(&mut self, pool: &mut Pool) {
        if self.leaving.is_empty() {
            return;
        }
        let now = clock::now();
        for packet in &mut self.leaving {
            packet.body.set_class(TrafficClass {
                dscp: packet.dscp,
                ecn: packet.ecn,
            });
            self.monitor.left(packet, now);
        }
        while let Some(burst) = next_burst(&self.leaving, self.leaving.len()) {
            let mut pieces: Vec<IoSlice<'_>> = Vec::with_capacity(1 + burst.count);
            burst.pieces(self.leaving.iter().map(|packet| &packet.body), &mut pieces);
            // Datagrams are not joined: what is noted is the only packet of its burst.
            let passage = self.leaving.front().and_then(|p| self.monitor.note(p));
            let written = retry(|| self.output.write(&pieces));
            drop(pieces);
            match written {
                Ok(_) => self.monitor.passed(passage),
                Err(_) => self.monitor.unwritten += burst.count as u64,
            }
            for packet in self.leaving.drain(..burst.count) {
                pool.give(packet.body);
            }
        }
    }
}

fn retry(mut write: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match write() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
