//! Look-ups of names, one at a time: what every click begins with.

use kit::stream::{PATIENCE, wait_until};
use std::net::SocketAddr;
use std::time::Duration;
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Dscp, Ecn, Instant, TrafficClass};
use web::dns;

/// A resolver that has not answered after this does not: what common stub resolvers wait.
pub(crate) const OVERDUE: Duration = Duration::from_secs(5);

/// Look-ups to be made.
pub(crate) struct LookUps {
    /// Who is asked.
    pub resolver: SocketAddr,
    /// The names' token.
    pub token: u64,
    pub class: Dscp,
    pub gap: Duration,
    pub until: Instant,
}

/// One look-up.
pub(crate) struct LookUp {
    pub sequence: u64,
    pub sent: Instant,
    /// `None` when it was not answered.
    pub rtt: Option<Duration>,
    /// Whether the kernel stamped the answer.
    pub kernel: bool,
}

impl LookUps {
    /// Looks names up until the end of the stream, each a new one, and reports each.
    ///
    /// # Errors
    ///
    /// When the socket cannot be used, or the resolver refuses.
    pub(crate) fn run(
        &self,
        abort: &dyn Fn() -> bool,
        mut each: impl FnMut(LookUp),
    ) -> Result<(), String> {
        let told = |error: Error| error.to_string();
        let mut socket = UdpSocket::bind(kit::stream::any(self.resolver)).map_err(told)?;
        socket.connect(self.resolver).map_err(told)?;
        let (mut sequence, mut refused) = (0_u64, None);
        while clock::now() < self.until && !abort() {
            // Different from one to the next, as identifiers are to be.
            let id = u16::try_from(sequence & 0xffff).unwrap_or_default();
            let name = web::names::host_name(&format!("dns{sequence}"), self.token);
            let family = if self.resolver.is_ipv4() {
                dns::Family::V4
            } else {
                dns::Family::V6
            };
            let query = dns::query(id, &name, family);
            let sent = clock::now();
            let out = Outgoing {
                payload: &query,
                to: None,
                from: None,
                class: TrafficClass {
                    dscp: self.class,
                    ecn: Ecn::NotEct,
                },
            };
            // What cannot be sent for the moment was not asked.
            if socket.send(&[out]).is_ok_and(|done| done.count > 0) {
                let answer = self.answer(&socket, id, sent, abort).map_err(told)?;
                if let Some(Answer { rcode, .. }) = answer.as_ref().filter(|a| a.rcode != 0) {
                    refused = Some(format!("the resolver answers with code {rcode}"));
                }
                let cut_short = answer.is_none() && (clock::now() >= self.until || abort());
                if !cut_short {
                    each(LookUp {
                        sequence,
                        sent,
                        kernel: answer.as_ref().is_some_and(|answer| answer.kernel),
                        rtt: answer.map(|answer| answer.arrived.since(sent)),
                    });
                }
                sequence += 1;
            }
            wait_until((sent + self.gap).min(self.until), abort);
        }
        refused.map_or(Ok(()), Err)
    }

    /// Waits for the answer to query `id`; `None` when it is overdue or the stream ends.
    fn answer(
        &self,
        socket: &UdpSocket,
        id: u16,
        sent: Instant,
        abort: &dyn Fn() -> bool,
    ) -> Result<Option<Answer>, Error> {
        let mut batch = RecvBatch::new(4, 2_048);
        let deadline = (sent + OVERDUE).min(self.until);
        while clock::now() < deadline && !abort() {
            let ready = socket.wait(deadline.since(clock::now()).min(PATIENCE))?;
            if ready.event {
                while socket.poll_event()?.is_some() {}
            }
            while socket.recv(&mut batch)? > 0 {
                let stamp = clock::stamp();
                for datagram in batch.iter() {
                    let reply = dns::reply(datagram.payload).ok();
                    if let Some(reply) = reply.filter(|reply| reply.id == id) {
                        let stamped = datagram.wall_ns.map(|ns| stamp.mono_at(ns));
                        let arrived = stamped.unwrap_or(stamp.mono);
                        return Ok(Some(Answer {
                            arrived,
                            kernel: stamped.is_some(),
                            rcode: reply.rcode,
                        }));
                    }
                }
            }
        }
        Ok(None)
    }
}

struct Answer {
    arrived: Instant,
    kernel: bool,
    rcode: u16,
}
