//! Answers the datagrams of all sessions: one thread, one socket, no allocation per datagram.
//!
//! A datagram is answered when its tag proves that it belongs to a session, with a reply of the same length. A datagram that
//! wants no reply goes to the mailbox of its stream. A DNS query is answered when the name it asks for is that of a session's
//! page. Everything else is dropped without a word, most of it by the kernel already (`sieve.rs`), so this socket tells
//! strangers nothing and amplifies nothing.

use crate::mailbox::{CallArrival, Mailboxes, Peer};
use session::wire::{Kind, Probe, Receipt};
use session::{Session, Sessions};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{BATCH, Datagram, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, Stamp, TrafficClass};

/// Longest datagram that is answered.
const LONGEST: usize = 2_048;
/// How often `stop` is looked at.
const TICK: Duration = Duration::from_millis(100);
/// What is received before it is looked at.
const BUFFER: usize = 4 << 20;

/// Where a DNS answer has its response code (RFC 1035 section 4.1.1).
const RCODE_AT: usize = 3;
const RCODE: u8 = 0x0f;

/// Sessions' shares of datagrams are counted over this long.
const WINDOW: Duration = Duration::from_secs(1);

/// The UDP side of a server.
pub struct Responder {
    socket: Arc<UdpSocket>,
    sessions: Sessions,
    mailboxes: Mailboxes,
    /// Datagrams of each session in this window.
    seen: HashMap<u64, u32>,
    window_ends: Instant,
}

/// A reply that waits to be sent.
struct Reply {
    to: SocketAddr,
    from: Option<IpAddr>,
    class: TrafficClass,
    /// Where it stands in the buffer.
    at: usize,
    length: usize,
    /// To count it by; a DNS answer belongs to none.
    session: Option<Arc<Session>>,
}

impl Responder {
    /// A responder on `address`, for the sessions in the register and their mailboxes.
    ///
    /// # Errors
    ///
    /// When the port is taken or may not be used.
    pub fn bind(
        address: SocketAddr,
        sessions: Sessions,
        mailboxes: Mailboxes,
    ) -> Result<Self, Error> {
        Self::on(UdpSocket::bind(address)?, sessions, mailboxes)
    }

    /// The same, and another socket on its port, which gets the packets of QUIC; none on systems other than Linux.
    ///
    /// # Errors
    ///
    /// When the port is taken or may not be used.
    pub fn bind_with_quic(
        address: SocketAddr,
        sessions: Sessions,
        mailboxes: Mailboxes,
    ) -> Result<(Self, Option<Arc<UdpSocket>>), Error> {
        #[cfg(target_os = "linux")]
        {
            let [socket, quic] = UdpSocket::bind_sorted(address, &crate::sieve::sort())?;
            let responder = Self::on(socket, sessions, mailboxes)?;
            Ok((responder, Some(Arc::new(quic))))
        }
        #[cfg(not(target_os = "linux"))]
        {
            Ok((Self::bind(address, sessions, mailboxes)?, None))
        }
    }

    fn on(socket: UdpSocket, sessions: Sessions, mailboxes: Mailboxes) -> Result<Self, Error> {
        let socket = Arc::new(socket);
        // With the system's default a burst may be lost here instead of on the path.
        let _ = socket.set_buffers(BUFFER, BUFFER);
        // An answer says by its length what the path takes.
        socket.ignore_path_mtu()?;
        // Elsewhere the responder alone drops what it does not answer.
        #[cfg(target_os = "linux")]
        crate::sieve::guard(&socket, &sessions);
        Ok(Self {
            socket,
            sessions,
            mailboxes,
            seen: HashMap::new(),
            window_ends: Instant::ZERO,
        })
    }

    /// The socket, for whoever sends from the same port.
    pub fn socket(&self) -> Arc<UdpSocket> {
        Arc::clone(&self.socket)
    }

    /// Answers until `stop` is raised.
    ///
    /// # Errors
    ///
    /// When the socket cannot be used any more.
    pub fn run(mut self, stop: &AtomicBool) -> Result<(), Error> {
        let mut batch = RecvBatch::new(BATCH, LONGEST);
        let mut buffer = vec![0; BATCH * LONGEST];
        while !stop.load(Ordering::Relaxed) {
            let ready = self.socket.wait(TICK)?;
            if ready.event {
                // An unreachable client is no concern of the others.
                while self.socket.poll_event()?.is_some() {}
            }
            while self.socket.recv(&mut batch)? > 0 {
                self.answer(&batch, &mut buffer);
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, batch: &RecvBatch, buffer: &mut [u8]) {
        let stamp = clock::stamp();
        if stamp.mono >= self.window_ends {
            self.window_ends = stamp.mono + WINDOW;
            self.seen.clear();
        }
        let mut replies = Vec::with_capacity(BATCH);
        for (datagram, (slot, at)) in batch
            .iter()
            .zip(buffer.chunks_exact_mut(LONGEST).zip((0..).step_by(LONGEST)))
        {
            replies.extend(self.reply(&datagram, slot, at, stamp));
        }
        let out: Vec<_> = replies
            .iter()
            .map(|reply| Outgoing {
                payload: &buffer[reply.at..reply.at + reply.length],
                to: Some(reply.to),
                from: reply.from,
                class: reply.class,
            })
            .collect();
        let mut at = 0;
        while at < out.len() {
            // A reply that cannot be sent (no route to that client, or a forged port) is no concern of the others.
            let sent = self.socket.send(&out[at..]).map_or(0, |sent| sent.count);
            for reply in &replies[at..at + sent] {
                if let Some(session) = &reply.session {
                    session.counters.replied.fetch_add(1, Ordering::Relaxed);
                    session.meter.add(0, reply.length as u64);
                }
            }
            at += sent.max(1);
        }
    }

    /// Writes the reply to `datagram` into `slot`; `None` for what gets none.
    fn reply(
        &mut self,
        datagram: &Datagram<'_>,
        slot: &mut [u8],
        at: usize,
        stamp: Stamp,
    ) -> Option<Reply> {
        if datagram.is_truncated() {
            return None;
        }
        if web::dns::looks_like_query(datagram.payload) {
            return self.look_up(datagram, slot, at);
        }
        let probe = Probe::parse(datagram.payload).ok()?;
        let session = self.sessions.find(probe.session)?;
        // A forged datagram takes nothing of the session's share.
        if Probe::verify(datagram.payload, &session.keys.to_server).is_err() {
            session.counters.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let seen = self.seen.entry(session.id).or_default();
        *seen += 1;
        if *seen > session.limits.datagrams_per_s {
            session.counters.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        session.counters.received.fetch_add(1, Ordering::Relaxed);
        session.meter.add(datagram.payload.len() as u64, 0);
        self.deliver(datagram, &session, &probe, stamp);
        if probe.kind != Kind::Request {
            return None;
        }
        let length = datagram.payload.len();
        let slot = slot.get_mut(..length)?;
        slot.copy_from_slice(datagram.payload);
        let receipt = Receipt {
            received: datagram
                .wall_ns
                .map_or(stamp.mono, |wall_ns| stamp.mono_at(wall_ns)),
            kernel_stamp: datagram.wall_ns.is_some(),
            arrived: datagram.class,
            replied: clock::now(),
        };
        probe
            .reply(&receipt)
            .emit(slot, &session.keys.to_client)
            .ok()?;
        let (to, from, class) = (datagram.source, datagram.local, probe.class);
        Some(Reply {
            to,
            from,
            class,
            at,
            length,
            session: Some(session),
        })
    }

    /// Tells the mailbox of the datagram's stream, if it has one.
    fn deliver(&self, datagram: &Datagram<'_>, session: &Session, probe: &Probe, stamp: Stamp) {
        let Some(mailbox) = self.mailboxes.find(probe.session, probe.stream) else {
            return;
        };
        // What is sent on its own accord goes only to a host that has shown by TCP that it is there: a forged source gets
        // replies as long as its requests, and no more.
        let is_proven = datagram.source.ip().to_canonical() == session.peer.ip().to_canonical();
        match probe.kind {
            Kind::Request if is_proven => {
                let peer = Peer {
                    address: datagram.source,
                    local: datagram.local,
                };
                // The first one holds: a client does not move within a run.
                let _ = mailbox.peer.set(peer);
            }
            Kind::OneWay => {
                let arrival = CallArrival {
                    stream: probe.stream,
                    seq: probe.sequence,
                    sent_ns: probe.sent.as_nanos(),
                    arrived_ns: datagram
                        .wall_ns
                        .map_or(stamp.mono, |wall_ns| stamp.mono_at(wall_ns))
                        .as_nanos(),
                    kernel: datagram.wall_ns.is_some(),
                    tos: datagram.class.map(TrafficClass::octet),
                };
                mailbox.put(arrival, datagram.payload.len());
            }
            Kind::Request | Kind::Reply => {}
        }
    }

    /// Writes the answer to a DNS query into `slot`; `None` for names of no session.
    fn look_up(&self, datagram: &Datagram<'_>, slot: &mut [u8], at: usize) -> Option<Reply> {
        let is_live = |session| self.sessions.find(session).is_some();
        let mut answer = Vec::with_capacity(datagram.payload.len());
        let local = datagram.local?;
        let is_answered = web::dns::answer(datagram.payload, is_live, local, &mut answer);
        // Strangers are not even told that there is no such name.
        if !is_answered || answer.get(RCODE_AT).is_none_or(|octet| octet & RCODE != 0) {
            return None;
        }
        let length = answer.len().min(datagram.payload.len());
        slot.get_mut(..length)?
            .copy_from_slice(answer.get(..length)?);
        Some(Reply {
            to: datagram.source,
            from: datagram.local,
            class: datagram.class.unwrap_or_default(),
            at,
            length,
            session: None,
        })
    }
}
