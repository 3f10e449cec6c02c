//! The datagrams of one transfer at one end: a connected socket, in batches, with tags and the kernel's stamps.
//!
//! The socket is connected to the other end's address, so the kernel drops what comes from anywhere else; what has another
//! transfer's number or a wrong tag is dropped here. Every datagram that leaves or is taken passes the [`Log`] once.

use super::allowance::Allowance;
use super::capture::{Journal, Way};
use super::interface::Interface;
use super::log::Log;
use super::quotes::{Answers, Counts, acknowledgement};
use super::results::Quality;
use kit::thinned::Thinned;
use session::TagKey;
use session::wire::Probe;
use stats::random::SplitMix64;
use std::net::SocketAddr;
use std::time::Duration;
use sys::udp::{BATCH, Event, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use transport::wire::{self, Address, Datagram};
use transport::{PacketId, Segment};
use units::{Ecn, Instant, Stamp, TrafficClass};

/// What is received and sent before the program or the interface gets to it.
const BUFFER: usize = 4 << 20;
/// The two clocks are compared again after this long: the wall clock may be slewed.
const STAMP_EVERY: Duration = Duration::from_millis(100);
/// Packets over which one that arrives twice is known again.
const REMEMBERED: usize = 1 << 16;

/// How a link is tagged and marked, and how much it may carry.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub address: Address,
    pub key_out: TagKey,
    pub key_in: TagKey,
    pub class: TrafficClass,
    /// Datagrams a second, each way, that the server gives to the session.
    pub limit: Option<u32>,
    /// Octets of the longest datagram that is sent.
    pub longest: usize,
}

/// One end of a transfer's datagrams.
pub(crate) struct Link<'a> {
    pub socket: UdpSocket,
    pub log: Log<'a>,
    terms: Terms,
    /// Datagrams that wait to be sent: `BATCH` slots of `terms.longest`.
    slots: Vec<u8>,
    waiting: Vec<(usize, Datagram, Option<SocketAddr>)>,
    /// What passes, where that was asked for.
    trace: Option<Journal>,
    /// ICMP errors, where these are the acknowledgements.
    answers: Option<Answers>,
    batch: RecvBatch,
    stamp: Stamp,
    /// No datagram is told to have arrived before one that was told already.
    latest: Instant,
    to_send: Allowance,
    to_take: Allowance,
    late_us: Thinned,
    /// When the link was made, and the time that its thread had had of a processor.
    began: (Instant, Duration),
    interface: Interface,
    quality: Quality,
}

impl<'a> Link<'a> {
    /// A link over `socket`, which is connected.
    ///
    /// # Errors
    /// When the socket does not take what it needs.
    pub(crate) fn new(socket: UdpSocket, terms: Terms, log: Log<'a>) -> Result<Self, Error> {
        // With the system's default a burst may be lost here instead of on the path.
        let _ = socket.set_buffers(BUFFER, BUFFER);
        socket.forbid_fragments()?;
        let longest = terms.longest.max(wire::LONGEST_ACK);
        let mut slots = vec![0; BATCH * longest];
        fill(&mut slots);
        let local = socket.local_addr().ok();
        Ok(Self {
            socket,
            log,
            terms: Terms { longest, ..terms },
            slots,
            waiting: Vec::with_capacity(BATCH),
            trace: None,
            answers: None,
            batch: RecvBatch::new(BATCH, longest),
            stamp: clock::stamp(),
            latest: Instant::ZERO,
            to_send: Allowance::to_send(terms.limit),
            to_take: Allowance::to_take(terms.limit),
            late_us: Thinned::default(),
            began: (clock::now(), clock::thread_cpu()),
            interface: Interface::at(local.map(|local| local.ip())),
            quality: Quality::default(),
        })
    }

    /// The same with a trace of what passes, of at most so many datagrams; none of none.
    pub(crate) fn traced(mut self, most: u64) -> Self {
        self.trace = (most > 0).then(|| Journal::new(most));
        self
    }

    /// The trace, whole.
    pub(crate) fn take_trace(&mut self) -> Option<Journal> {
        self.trace.take()
    }

    /// The same with ICMP errors as acknowledgements, and destinations as these need them.
    pub(crate) fn by_icmp(mut self, answers: Answers) -> Self {
        self.answers = Some(answers);
        self
    }

    /// What ICMP errors said so far.
    pub(crate) fn answers(&self) -> Option<Counts> {
        self.answers.as_ref().map(|answers| answers.counts)
    }

    /// Whether there is room for one more datagram.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < BATCH && self.to_send.has_room()
    }

    /// Writes `datagram` to the batch; only when there is room.
    pub(crate) fn push(&mut self, datagram: Datagram) {
        let at = self.waiting.len() * self.terms.longest;
        let Some(slot) = self.slots.get_mut(at..at + self.terms.longest) else {
            return;
        };
        let length = match &datagram {
            Datagram::Ack(ack) => wire::emit_ack(ack, self.terms.address, slot),
            Datagram::Segment(segment) => wire::emit_segment(segment, self.terms.address, slot),
        };
        // The slots are as long as the longest of the transfer.
        let Ok(length) = length else { return };
        if let Some((before, after)) = wire::covered(&slot[..length]) {
            let tag = self.terms.key_out.tag(before, after);
            let _ = wire::set_tag(slot, tag);
        }
        self.to_send.take();
        let to = match (&mut self.answers, &datagram) {
            (Some(answers), Datagram::Segment(segment)) => Some(answers.send(segment)),
            _ => None,
        };
        self.waiting.push((length, datagram, to));
    }

    /// Gives the batch to the kernel, as much as it takes; true when all has left.
    ///
    /// # Errors
    /// When it cannot be sent at all: too long, no route.
    pub(crate) fn flush(&mut self, now: Instant) -> Result<bool, Error> {
        self.to_send.advance(now);
        self.quality.held += u64::from(!self.to_send.has_room());
        let mut done = 0;
        while done < self.waiting.len() {
            let count = self.send_from(done)?;
            if count == 0 {
                self.quality.blocked += 1;
                break;
            }
            let ecn = self.terms.class.ecn;
            for (_, datagram, _) in &self.waiting[done..done + count] {
                self.log.passed(datagram, ecn, now);
            }
            self.trace_sent(done..done + count, now);
            done += count;
        }
        self.keep_from(done);
        Ok(self.waiting.is_empty())
    }

    fn send_from(&self, first: usize) -> Result<usize, Error> {
        let mut out = Vec::with_capacity(self.waiting.len() - first);
        for (index, (length, datagram, to)) in self.waiting.iter().enumerate().skip(first) {
            let at = index * self.terms.longest;
            out.push(Outgoing {
                payload: &self.slots[at..at + length],
                to: *to,
                from: None,
                class: self.class_of(datagram),
            });
        }
        self.socket.send_train(&out)
    }

    /// Acknowledgements are never marked as able to take a mark (RFC 3168 section 6.1.4).
    const fn class_of(&self, datagram: &Datagram) -> TrafficClass {
        match datagram {
            Datagram::Ack(_) => TrafficClass {
                dscp: self.terms.class.dscp,
                ecn: Ecn::NotEct,
            },
            Datagram::Segment(_) => self.terms.class,
        }
    }

    /// Moves what has not been sent to the front.
    fn keep_from(&mut self, first: usize) {
        if first > 0 {
            let longest = self.terms.longest;
            self.slots
                .copy_within(first * longest..self.waiting.len() * longest, 0);
            self.waiting.drain(..first);
        }
    }

    /// Waits for something to arrive (or for room, if something still waits to be sent), at most until `deadline`.
    ///
    /// # Errors
    /// When the socket cannot wait.
    pub(crate) fn wait(&mut self, deadline: Instant) -> Result<(), Error> {
        let now = clock::now();
        let ready = if self.waiting.is_empty() {
            self.socket.wait(deadline.since(now))?
        } else {
            self.socket.wait_for_room(deadline.since(now))?
        };
        if ready.event && self.answers.is_none() {
            // What the path says of single datagrams is not believed: a transfer ends by what does not come back.
            while self.socket.poll_event()?.is_some() {}
        }
        Ok(())
    }

    /// Takes what has arrived, one batch, and tells `each` datagram with its mark and the time of its arrival; false when
    /// there was nothing.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub(crate) fn recv(
        &mut self,
        mut each: impl FnMut(&Datagram, Ecn, Instant),
    ) -> Result<bool, Error> {
        if self.answers.is_some() {
            return self.recv_answers(each);
        }
        if self.socket.recv(&mut self.batch)? == 0 {
            return Ok(false);
        }
        let now = clock::now();
        if now.since(self.stamp.mono) >= STAMP_EVERY {
            self.stamp = clock::stamp();
        }
        self.to_take.advance(now);
        for datagram in self.batch.iter() {
            if !self.to_take.take() {
                self.quality.above_limit += 1;
                continue;
            }
            let Some(parsed) = self.terms.parse(datagram.payload) else {
                // The answer to a hello may be late.
                let is_reply = Probe::parse(datagram.payload).is_ok();
                self.quality.refused += u64::from(!is_reply);
                continue;
            };
            let at = datagram.wall_ns.map(|wall_ns| self.stamp.mono_at(wall_ns));
            if let Some(at) = at {
                self.late_us.add(now.since(at).as_secs_f64() * 1e6);
            }
            // The machine's time never goes back, and nothing arrives in the future.
            let at = at.unwrap_or(now).min(now).max(self.latest);
            self.latest = at;
            let ecn = datagram.class.unwrap_or_default().ecn;
            self.log.passed(&parsed, ecn, at);
            if let Some(trace) = &mut self.trace {
                let class = datagram.class.unwrap_or_default();
                trace.note(Way::In, self.log.since_origin(at), class, datagram.payload);
            }
            each(&parsed, ecn, at);
        }
        Ok(true)
    }

    /// Takes one batch of ICMP errors; each that is about a packet of ours is the acknowledgement of it.
    fn recv_answers(
        &mut self,
        mut each: impl FnMut(&Datagram, Ecn, Instant),
    ) -> Result<bool, Error> {
        let now = clock::now();
        if now.since(self.stamp.mono) >= STAMP_EVERY {
            self.stamp = clock::stamp();
        }
        for taken in 0..BATCH {
            let Some(event) = self.socket.poll_event()? else {
                return Ok(taken > 0);
            };
            let Event::Icmp(error) = event else { continue };
            let Some(id) = self
                .answers
                .as_mut()
                .and_then(|answers| answers.take(&error))
            else {
                continue;
            };
            let at = error.wall_ns.map(|wall_ns| self.stamp.mono_at(wall_ns));
            if let Some(at) = at {
                self.late_us.add(now.since(at).as_secs_f64() * 1e6);
            }
            self.latest = at.unwrap_or(now).min(now).max(self.latest);
            self.log.answered(id, self.latest);
            each(
                &Datagram::Ack(acknowledgement(id)),
                Ecn::NotEct,
                self.latest,
            );
        }
        Ok(true)
    }

    /// Notes what has just left.
    fn trace_sent(&mut self, which: std::ops::Range<usize>, now: Instant) {
        let Some(mut trace) = self.trace.take() else {
            return;
        };
        let t_ns = self.log.since_origin(now);
        for index in which {
            let (length, datagram, _) = &self.waiting[index];
            let at = index * self.terms.longest;
            trace.note(
                Way::Out,
                t_ns,
                self.class_of(datagram),
                &self.slots[at..at + length],
            );
        }
        self.trace = Some(trace);
    }

    /// Time has come to `now` by another way than an arrival.
    pub(crate) fn advance(&mut self, now: Instant) -> Instant {
        self.latest = self.latest.max(now);
        self.latest
    }

    /// How good the instrument was.
    pub(crate) fn quality(&self) -> Quality {
        let (began, cpu) = self.began;
        let elapsed = clock::now().since(began).as_secs_f64();
        let used = clock::thread_cpu().saturating_sub(cpu).as_secs_f64();
        Quality {
            thread_pct: (elapsed > 0.0).then(|| used / elapsed * 100.0),
            late_us: self.late_us.distribution(),
            overflows: self.batch.overflows().into(),
            interface_dropped: self.interface.dropped(),
            rows_left_out: self.log.left_out(),
            trace_left_out: self.trace.as_ref().map_or(0, Journal::left_out),
            ..self.quality.clone()
        }
    }
}

impl Terms {
    /// The datagram in `octets`, if it is this transfer's and its tag is right.
    fn parse(&self, octets: &[u8]) -> Option<Datagram> {
        let (address, datagram) = Datagram::parse(octets).ok()?;
        let (before, after) = wire::covered(octets)?;
        let is_ours =
            address == self.address && self.key_in.verify(before, after, wire::tag_of(octets)?);
        is_ours.then_some(datagram)
    }
}

/// Octets that no middlebox compresses.
fn fill(slots: &mut [u8]) {
    let mut chance = SplitMix64::new(1);
    for chunk in slots.chunks_mut(8) {
        let octets = chance.draw().to_be_bytes();
        chunk.copy_from_slice(&octets[..chunk.len()]);
    }
}

/// Tells packets that the path delivered more than once: by their number, which is the upper half of their identifiers.
pub(crate) struct Once {
    seen: Vec<u64>,
    /// Packets, each counted once.
    pub packets: u64,
}

impl Once {
    pub(crate) fn new() -> Self {
        Self {
            seen: vec![u64::MAX; REMEMBERED],
            packets: 0,
        }
    }

    pub(crate) fn note(&mut self, segment: &Segment) {
        let PacketId(id) = segment.id;
        let number = usize::try_from(id >> 32).unwrap_or_default();
        let slot = &mut self.seen[number % REMEMBERED];
        if *slot != id {
            *slot = id;
            self.packets += 1;
        }
    }
}
