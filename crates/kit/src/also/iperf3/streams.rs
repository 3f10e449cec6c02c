//! The streams of a test: as fast as they go, or at the client's rate, and how much of it went.

use super::TICK;
use crate::load;
use crate::stream::{PATIENCE, is_timeout};
use far_ends::iperf3::{COOKIE, Head, Params, Stream, Tally};
use socket2::SockRef;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock, tcp};
use units::{Instant, Rate, TrafficClass};

/// Octets thrown away in one call.
const DISCARD: usize = 4 << 20;
/// The receiver is woken when this much has come.
const RECEIVE_AT_ONCE: u32 = 32 * 1_024;
/// Datagrams that are taken or sent by one call.
const AT_ONCE: usize = 32;
/// Octets of a datagram that are read: its head.
const READ: usize = 64;
/// The sender of datagrams sleeps no shorter.
const REST: Duration = Duration::from_micros(500);
/// Octets that wait in the buffers of a socket for datagrams.
const BUFFER: usize = 1 << 20;

/// A stream's socket.
pub(super) enum Connection {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl Connection {
    /// The congestion control of what is sent from here.
    pub(super) fn congestion(&self) -> Option<String> {
        match self {
            Self::Tcp(socket) => tcp::congestion(socket).ok(),
            Self::Udp(_) => None,
        }
    }
}

/// A stream, from the test's beginning to its end.
pub(super) struct Course<'a> {
    pub(super) connection: &'a Connection,
    pub(super) params: &'a Params,
    /// Whether this end sends.
    pub(super) sends: bool,
    pub(super) begun: Instant,
    pub(super) over: &'a AtomicBool,
}

impl Course<'_> {
    /// Sends or receives until the test is over; how it went, without its number.
    pub(super) fn run(&self) -> Stream {
        let mut end = match (self.connection, self.sends) {
            (Connection::Tcp(socket), true) => self.send(socket),
            (Connection::Tcp(socket), false) => self.receive(socket),
            (Connection::Udp(socket), true) => self.send_datagrams(socket).unwrap_or_default(),
            (Connection::Udp(socket), false) => self.receive_datagrams(socket).unwrap_or_default(),
        };
        end.time = clock::now().since(self.counts_from());
        end
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// What is before this does not count.
    fn counts_from(&self) -> Instant {
        self.begun + self.params.omit
    }

    /// What this end can do of what the client asked for; what cannot be had shows in the figures.
    fn prepare(&self, socket: &TcpStream) {
        let params = self.params;
        let options = SockRef::from(socket);
        let _ = socket.set_nodelay(params.no_delay);
        if params.segment > 0 {
            let _ = tcp::set_max_segment(socket, params.segment);
        }
        if params.window > 0 {
            let _ = options.set_send_buffer_size(params.window as usize);
            let _ = options.set_recv_buffer_size(params.window as usize);
        }
        let _ = tcp::set_traffic_class(socket, TrafficClass::from_octet(params.class));
        if let Some(name) = &params.congestion {
            let _ = tcp::set_congestion(socket, name);
        }
        let paced = [params.rate_bps, params.pacing_bps];
        if let Some(rate) = paced.into_iter().filter(|rate| *rate > 0).min() {
            let _ = tcp::set_max_pacing(socket, Rate::from_bps(rate));
        }
    }

    fn send(&self, socket: &TcpStream) -> Stream {
        self.prepare(socket);
        let abort = || self.is_over();
        let retransmits = || tcp::info(socket).ok()?.total_retrans.map(u64::from);
        load::send(socket, self.counts_from(), &abort);
        let before = retransmits().unwrap_or_default();
        // The client says when it is over.
        let never = Instant::from_nanos(u64::MAX);
        let bytes = load::send_counted(socket, never, &abort);
        // The client reads whole blocks: it hears nothing else before this one is full or ends.
        let _ = socket.shutdown(Shutdown::Write);
        Stream {
            bytes,
            retransmits: retransmits().map(|all| all.saturating_sub(before)),
            ..Stream::default()
        }
    }

    fn receive(&self, socket: &TcpStream) -> Stream {
        self.prepare(socket);
        let _ = socket.set_read_timeout(Some(PATIENCE));
        let _ = tcp::set_receive_threshold(socket, RECEIVE_AT_ONCE);
        let arrived = || tcp::info(socket).ok()?.bytes_received;
        // The cookie is none of the test's octets.
        let mut before = COOKIE as u64;
        let mut is_omitted = !self.params.omit.is_zero();
        while !self.is_over() {
            match tcp::discard(socket, DISCARD) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if is_timeout(&error) => {}
                Err(_) => break,
            }
            if is_omitted && clock::now() >= self.counts_from() {
                is_omitted = false;
                before = arrived().unwrap_or(before);
            }
        }
        Stream {
            bytes: arrived().unwrap_or_default().saturating_sub(before),
            ..Stream::default()
        }
    }

    fn receive_datagrams(&self, socket: &UdpSocket) -> Result<Stream, Error> {
        let mut batch = RecvBatch::new(AT_ONCE, READ);
        let _ = socket.set_buffers(BUFFER, BUFFER);
        let mut tally = Tally::default();
        let mut omitted = None;
        while !self.is_over() {
            let ready = socket.wait(TICK)?;
            if ready.event {
                while socket.poll_event()?.is_some() {}
            }
            if omitted.is_none() && clock::now() >= self.counts_from() {
                omitted = Some(tally);
                tally.jitter_s = 0.0;
            }
            while socket.recv(&mut batch)? > 0 && !self.is_over() {
                let stamp = clock::stamp();
                for datagram in batch.iter() {
                    let head = Head::parse(datagram.payload, self.params.long_numbers);
                    let Some(head) = head else { continue };
                    let arrived = datagram
                        .wall_ns
                        .map_or(stamp.mono, |wall_ns| stamp.mono_at(wall_ns));
                    let arrived = arrived.since(Instant::ZERO);
                    tally.take(head, datagram.length, arrived);
                }
            }
        }
        let omitted = omitted.unwrap_or_default();
        Ok(Stream {
            bytes: tally.bytes.saturating_sub(omitted.bytes),
            jitter_s: tally.jitter_s,
            lost: tally.lost,
            packets: tally.highest,
            omitted: (omitted.lost, omitted.highest),
            ..Stream::default()
        })
    }

    fn send_datagrams(&self, socket: &UdpSocket) -> Result<Stream, Error> {
        let params = self.params;
        let _ = socket.set_buffers(BUFFER, BUFFER);
        let block = load::incompressible();
        let payload: Vec<u8> = block.iter().cycle().take(params.block).copied().collect();
        let mut datagrams = vec![payload; AT_ONCE];
        let (mut sent, mut omitted) = (0_u64, 0);
        while !self.is_over() {
            let now = clock::now();
            let due = self.due(now).saturating_sub(sent);
            if due == 0 {
                clock::sleep_until(now + REST);
                continue;
            }
            let count = usize::try_from(due).unwrap_or(AT_ONCE).min(AT_ONCE);
            for (datagram, number) in datagrams[..count].iter_mut().zip(sent + 1..) {
                let sent = now.since(Instant::ZERO);
                Head { sent, number }.emit(datagram, params.long_numbers);
            }
            let class = TrafficClass::from_octet(params.class);
            let batch: Vec<_> = datagrams[..count]
                .iter()
                .map(|payload| Outgoing {
                    payload,
                    to: None,
                    from: None,
                    class,
                })
                .collect();
            let taken = socket.send(&batch)?.count;
            sent += taken as u64;
            if now < self.counts_from() {
                omitted = sent;
            }
            if taken < count {
                socket.wait_for_room(TICK)?;
            }
            while socket.poll_event()?.is_some() {}
        }
        Ok(Stream {
            bytes: (sent - omitted) * params.block as u64,
            packets: sent,
            omitted: (0, omitted),
            ..Stream::default()
        })
    }

    /// Datagrams that are to have left by `now`.
    fn due(&self, now: Instant) -> u64 {
        let (rate, block) = (self.params.rate_bps, self.params.block as u128);
        if rate == 0 {
            return u64::MAX;
        }
        let octets = now.since(self.begun).as_nanos() * u128::from(rate) / 8 / 1_000_000_000;
        u64::try_from(octets / block.max(1)).unwrap_or(u64::MAX)
    }
}
