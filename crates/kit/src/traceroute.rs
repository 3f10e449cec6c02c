//! The path, hop by hop: datagrams that live for 1, 2, 3, ... hops, and the routers' answers.
//!
//! RRUL, *Analysis Component*: the equivalent of tcptraceroute or mtr runs continuously in both directions to identify the
//! bottleneck. Both ends run one of these. A datagram that runs out of hops comes back as an ICMP error on the socket's error
//! queue, which needs no privilege; one that reaches the other end is a request like any other and is answered. All have
//! the same addresses and ports, so that a router that balances by flow sends all of them the same way.

use crate::stream::PATIENCE;
use session::TagKey;
use session::wire::{Flags, Kind, Probe, Receipt};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use sys::udp::{Datagram, Event, IcmpError, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, Stamp, TrafficClass};

/// Who has not answered after twice the longest round trip so far does not, but not sooner than `LEAST` and not later than `MOST`.
/// Queues may hold packets for several seconds: a fixed limit would make medians of the quick answers alone.
const LEAST: Duration = Duration::from_secs(3);
const MOST: Duration = Duration::from_secs(20);
/// Hops asked beyond the last one that answers: somebody may be silent in between.
const BEYOND: u8 = 2;
/// Rounds over all hops before that limit holds.
const SURVEY: u32 = 2;
/// What the system gives every packet.
const FULL: u8 = 64;

/// A trace from this end.
pub struct Tracer<'a> {
    /// Not connected, so that the far end's trace can be answered from it.
    pub socket: UdpSocket,
    /// The session, as every probe's header names it.
    pub session: u64,
    /// Number of the trace's stream in that session.
    pub stream: u16,
    /// The other end, towards which all probes go.
    pub to: SocketAddr,
    /// For what is sent from here, and for what arrives.
    pub key_out: &'a TagKey,
    /// Key of the tags on what arrives.
    pub key_in: &'a TagKey,
    /// How often each hop is asked.
    pub every: Duration,
    /// The farthest hop asked: the largest hop limit of a probe, at least 1.
    pub hops: u8,
}

/// What became of one probe.
pub struct Answer {
    /// When the probe left; by the kernel's stamp where there is one.
    pub sent: Instant,
    /// Its hop limit when it left: which hop was asked.
    pub ttl: u8,
    /// Who answered, if anybody did.
    pub from: Option<IpAddr>,
    /// Round trip, less the time that the other end held the probe; none without an answer.
    pub rtt: Option<Duration>,
    /// Whether it was the other end.
    pub is_end: bool,
}

/// A probe on its way.
struct Outstanding {
    sent: Instant,
    /// By which the kernel names it when it has left.
    id: u32,
    ttl: u8,
}

/// What a trace knows.
struct State<'t, 'a, F> {
    tracer: &'t Tracer<'a>,
    each: F,
    outstanding: BTreeMap<u32, Outstanding>,
    sequence: u32,
    rounds: u32,
    next_ttl: u8,
    /// The longest round trip.
    longest: Duration,
    /// The farthest hop that has answered, and that of the other end.
    farthest: u8,
    end: Option<u8>,
}

impl Tracer<'_> {
    /// Traces until `until`, and reports what became of each probe.
    ///
    /// # Errors
    ///
    /// When the socket cannot be used.
    pub fn run(
        &self,
        until: Instant,
        abort: &dyn Fn() -> bool,
        each: impl FnMut(Answer),
    ) -> Result<(), Error> {
        self.socket.enable_tx_stamps()?;
        let mut batch = RecvBatch::new(8, 2_048);
        let mut state = State {
            tracer: self,
            each,
            outstanding: BTreeMap::new(),
            sequence: 0,
            rounds: 0,
            next_ttl: 1,
            longest: Duration::ZERO,
            farthest: 0,
            end: None,
        };
        let mut due = clock::now();
        loop {
            let now = clock::now();
            if now >= until || abort() {
                return Ok(());
            }
            if now >= due {
                state.probe();
                due = now + self.every / u32::from(state.last_hop());
            }
            let ready = self.socket.wait(due.since(now).min(PATIENCE))?;
            if ready.event {
                state.take_events()?;
            }
            while self.socket.recv(&mut batch)? > 0 {
                state.take_datagrams(&batch);
            }
            state.give_up(clock::now());
        }
    }

    fn send(&self, datagram: &[u8], to: SocketAddr, ttl: u8) -> Result<Option<u32>, Error> {
        self.socket.set_hop_limit(ttl)?;
        let out = Outgoing {
            payload: datagram,
            to: Some(to),
            from: None,
            class: TrafficClass::default(),
        };
        let sent = self.socket.send(&[out])?;
        Ok((sent.count > 0).then_some(sent.first_id))
    }

    /// Answers a probe of the other end's trace. One that cannot be answered is one that gets lost.
    fn reply(&self, datagram: &Datagram<'_>, probe: &Probe, stamp: Stamp) {
        let receipt = Receipt {
            received: datagram.wall_ns.map_or(stamp.mono, |ns| stamp.mono_at(ns)),
            kernel_stamp: datagram.wall_ns.is_some(),
            arrived: datagram.class,
            replied: clock::now(),
        };
        let mut octets = datagram.payload.to_vec();
        if probe
            .reply(&receipt)
            .emit(&mut octets, self.key_out)
            .is_ok()
        {
            let _ = self.send(&octets, datagram.source, FULL);
        }
    }
}

impl<F: FnMut(Answer)> State<'_, '_, F> {
    /// The farthest hop worth asking.
    fn last_hop(&self) -> u8 {
        let most = self.tracer.hops.max(1);
        match self.end {
            Some(end) => end.min(most),
            None if self.rounds < SURVEY => most,
            None => self.farthest.saturating_add(BEYOND).clamp(1, most),
        }
    }

    /// Sends the next probe.
    fn probe(&mut self) {
        let ttl = self.next_ttl.min(self.last_hop());
        let sent = clock::now();
        let probe = Probe {
            kind: Kind::Request,
            class: TrafficClass::default(),
            arrived: TrafficClass::default(),
            stream: self.tracer.stream,
            flags: Flags::default(),
            sequence: self.sequence,
            session: self.tracer.session,
            sent,
            received: Instant::ZERO,
            replied: Instant::ZERO,
        };
        let mut octets = [0; Probe::LEN];
        // A header fits its own length.
        let emitted = probe.emit(&mut octets, self.tracer.key_out);
        debug_assert!(emitted.is_ok());
        // What could not be sent was not asked.
        if let Ok(Some(id)) = self.tracer.send(&octets, self.tracer.to, ttl) {
            self.outstanding
                .insert(self.sequence, Outstanding { sent, id, ttl });
            self.sequence = self.sequence.wrapping_add(1);
        }
        self.next_ttl = if ttl >= self.last_hop() {
            self.rounds += 1;
            1
        } else {
            ttl + 1
        };
    }

    fn take_events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.tracer.socket.poll_event()? {
            match event {
                Event::Sent { id, wall_ns } => {
                    let mut waiting = self.outstanding.values_mut();
                    if let Some(probe) = waiting.find(|probe| probe.id == id) {
                        probe.sent = clock::stamp().mono_at(wall_ns);
                    }
                }
                Event::Icmp(error) if error.is_hop_limit() => self.take_error(&error),
                Event::Icmp(_) => {}
            }
        }
        Ok(())
    }

    /// A router says that a probe has ended there.
    fn take_error(&mut self, error: &IcmpError) {
        let stamp = clock::stamp();
        let arrived = error.wall_ns.map_or(stamp.mono, |ns| stamp.mono_at(ns));
        let quoted = Probe::parse(error.quoted.as_bytes()).map(|probe| probe.sequence);
        // A router that quotes too little can only be taken to answer the only probe there is.
        let only = || self.outstanding.keys().next().copied();
        let sequence = quoted
            .ok()
            .or_else(|| only().filter(|_| self.outstanding.len() == 1));
        if let Some(probe) = sequence.and_then(|sequence| self.outstanding.remove(&sequence)) {
            self.farthest = self.farthest.max(probe.ttl);
            let rtt = arrived.since(probe.sent);
            self.longest = self.longest.max(rtt);
            (self.each)(Answer {
                sent: probe.sent,
                ttl: probe.ttl,
                from: error.reporter,
                rtt: Some(rtt),
                is_end: false,
            });
        }
    }

    fn take_datagrams(&mut self, batch: &RecvBatch) {
        let stamp = clock::stamp();
        for datagram in batch.iter() {
            let Ok(probe) = Probe::parse(datagram.payload) else {
                continue;
            };
            let is_ours =
                (probe.session, probe.stream) == (self.tracer.session, self.tracer.stream);
            if !is_ours || Probe::verify(datagram.payload, self.tracer.key_in).is_err() {
                continue;
            }
            match probe.kind {
                Kind::Request => self.tracer.reply(&datagram, &probe, stamp),
                Kind::Reply => self.take_reply(&datagram, &probe, stamp),
                Kind::OneWay => {}
            }
        }
    }

    /// The other end has answered.
    fn take_reply(&mut self, datagram: &Datagram<'_>, reply: &Probe, stamp: Stamp) {
        let Some(probe) = self.outstanding.remove(&reply.sequence) else {
            return;
        };
        let arrived = datagram.wall_ns.map_or(stamp.mono, |ns| stamp.mono_at(ns));
        let held = reply.replied.since(reply.received);
        self.farthest = self.farthest.max(probe.ttl);
        let rtt = arrived.since(probe.sent).saturating_sub(held);
        self.longest = self.longest.max(rtt);
        // A path may change; the nearest is where it ends.
        self.end = Some(self.end.map_or(probe.ttl, |end| end.min(probe.ttl)));
        (self.each)(Answer {
            sent: probe.sent,
            ttl: probe.ttl,
            from: Some(datagram.source.ip()),
            rtt: Some(rtt),
            is_end: true,
        });
    }

    /// Gives up what is overdue.
    fn give_up(&mut self, now: Instant) {
        let overdue = (self.longest * 2).clamp(LEAST, MOST);
        while let Some(entry) = self.outstanding.first_entry() {
            if now.since(entry.get().sent) < overdue {
                return;
            }
            let probe = entry.remove();
            (self.each)(Answer {
                sent: probe.sent,
                ttl: probe.ttl,
                from: None,
                rtt: None,
                is_end: false,
            });
        }
    }
}
