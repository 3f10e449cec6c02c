//! The streams of a test: as fast as they go, or at the client's rate, and how much of it went.

use super::TICK;
use crate::load;
use crate::stream::{PATIENCE, is_timeout};
use crate::waking::Waking;
use far_ends::iperf3::{COOKIE, Head, Params, Stream, Tally};
use socket2::SockRef;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use sys::{clock, tcp};
use units::{Instant, Rate, TrafficClass};

/// iperf3's numbers of options that are refused.
const NO_DELAY: u32 = 122;
const NO_SEGMENT: u32 = 123;
const NO_WINDOW: u32 = 124;
const NO_CLASS: u32 = 125;
const NO_CONGESTION: u32 = 134;
const NO_PACING: u32 = 140;
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
    /// Gives it what the client asked for.
    ///
    /// # Errors
    /// iperf3's number of what this host refuses.
    pub(super) fn prepare(&self, params: &Params) -> Result<(), u32> {
        match self {
            Self::Tcp(socket) => prepare(socket, params),
            Self::Udp(_) => Ok(()),
        }
    }

    /// The congestion control of what is sent from here.
    pub(super) fn congestion(&self) -> Option<String> {
        match self {
            Self::Tcp(socket) => tcp::congestion(socket).ok(),
            Self::Udp(_) => None,
        }
    }
}

/// Gives a connection what the client asked for.
///
/// # Errors
/// iperf3's number of what this host refuses.
fn prepare(socket: &TcpStream, params: &Params) -> Result<(), u32> {
    let options = SockRef::from(socket);
    let no_delay = socket.set_nodelay(params.no_delay);
    no_delay.map_err(|_| NO_DELAY)?;
    if params.segment > 0 {
        tcp::set_max_segment(socket, params.segment).map_err(|_| NO_SEGMENT)?;
    }
    if params.window > 0 {
        let window = params.window as usize;
        let sends = options.set_send_buffer_size(window);
        let both = sends.and_then(|()| options.set_recv_buffer_size(window));
        both.map_err(|_| NO_WINDOW)?;
    }
    let class = TrafficClass::from_octet(params.class);
    tcp::set_traffic_class(socket, class).map_err(|_| NO_CLASS)?;
    if let Some(name) = &params.congestion {
        tcp::set_congestion(socket, name).map_err(|_| NO_CONGESTION)?;
    }
    let paced = [params.rate_bps, params.pacing_bps];
    if let Some(rate) = paced.into_iter().filter(|rate| *rate > 0).min() {
        tcp::set_max_pacing(socket, Rate::from_bps(rate)).map_err(|_| NO_PACING)?;
    }
    Ok(())
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
            (Connection::Udp(socket), true) => self.send_datagrams(socket),
            (Connection::Udp(socket), false) => self.receive_datagrams(socket),
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

    fn send(&self, socket: &TcpStream) -> Stream {
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
        let _ = socket.set_read_timeout(Some(PATIENCE));
        let mut waking = Waking::new(clock::now());
        let arrived = || tcp::info(socket).ok()?.bytes_received;
        // The cookie is none of the test's octets.
        let mut before = COOKIE as u64;
        let mut is_omitted = !self.params.omit.is_zero();
        while !self.is_over() {
            match tcp::discard(socket, load::DISCARD) {
                Ok(0) => break,
                Ok(count) => waking.apply(socket, count, clock::now()),
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

    /// Where the socket fails, what came until then counts.
    fn receive_datagrams(&self, socket: &UdpSocket) -> Stream {
        let mut batch = RecvBatch::new(AT_ONCE, READ);
        let _ = socket.set_buffers(BUFFER, BUFFER);
        let mut tally = Tally::default();
        let mut omitted = None;
        while !self.is_over() {
            let Ok(ready) = socket.wait(TICK) else { break };
            if ready.event {
                forget_events(socket);
            }
            if omitted.is_none() && clock::now() >= self.counts_from() {
                omitted = Some(tally);
                tally.jitter_s = 0.0;
            }
            while socket.recv(&mut batch).is_ok_and(|count| count > 0) && !self.is_over() {
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
        Stream {
            bytes: tally.bytes.saturating_sub(omitted.bytes),
            jitter_s: tally.jitter_s,
            lost: tally.lost,
            packets: tally.highest,
            omitted: (omitted.lost, omitted.highest),
            ..Stream::default()
        }
    }

    /// Where the socket fails, what has left until then counts.
    fn send_datagrams(&self, socket: &UdpSocket) -> Stream {
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
            let Ok(taken) = socket.send(&batch).map(|sent| sent.count) else {
                break;
            };
            sent += taken as u64;
            if now < self.counts_from() {
                omitted = sent;
            }
            if taken < count && socket.wait_for_room(TICK).is_err() {
                break;
            }
            forget_events(socket);
        }
        Stream {
            bytes: (sent - omitted) * params.block as u64,
            packets: sent,
            omitted: (0, omitted),
            ..Stream::default()
        }
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

/// What the kernel has to tell of a socket, ICMP errors among it, changes nothing here.
fn forget_events(socket: &UdpSocket) {
    while socket.poll_event().is_ok_and(|event| event.is_some()) {}
}
