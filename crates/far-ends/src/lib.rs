//! Far ends that are there already: protocols that other people's programs, routers and hosts answer.
//!
//! A far end of our own tells everything; but most paths end at somebody who has never heard of this program. What such a host
//! answers anyway is a request of some protocol, and the reply says more or less of the way: an echo tells the round trip,
//! time stamps tell each way's delay, a count of what came tells on which way a loss was. Each protocol here is a state machine without
//! I/O, an [`Exchange`]: it writes requests and reads replies. Who sends them, and when, it does not know.
//!
//! | module | protocol | source |
//! |---|---|---|
//! | [`stamp`] | Simple Two-way Active Measurement Protocol, and a reflector of our own | RFC 8762, RFC 8972 |
//! | [`twamp`] | Two-Way Active Measurement Protocol, whose sessions are agreed on by TCP; a server of our own | RFC 5357, RFC 4656 |
//! | [`irtt`] | Isochronous Round-Trip Tester, and a server of our own | its documentation and version 0.9.1's behaviour |
//! | [`ntp`] | Network Time Protocol, client mode | RFC 5905, RFC 9109 |
//! | [`dns`] | a query for the root's name servers, by datagrams or over TLS and HTTPS | RFC 1035, RFC 7858, RFC 8484 |
//! | [`quic`] | version negotiation of QUIC, as servers of HTTP/3 answer it | RFC 8999, RFC 9000 |
//! | [`icmp`] | echo | RFC 792, RFC 4443 |
//! | [`iperf3`] | TCP and UDP load, a client and a server of our own | version 3.12's behaviour |
//! | [`ndt7`] | a download or an upload by WebSocket | version 0.11 of its specification |
//! | [`udpst`] | IP-layer capacity by UDP, a client and a server of our own | RFC 9946, RFC 9097 |
//! | [`nq`] | where a responsiveness server has what | draft-ietf-ippm-responsiveness-09 |
//! | [`address`] | how a far end is named: `stamp://HOST:PORT` | |
//! | [`time`] | the time stamps of NTP and PTP | RFC 5905 section 6, RFC 8877 |
//!
//! # Calling order
//!
//! Send [`Exchange::opening`] until [`Exchange::handle_opening`] says [`Opening::Open`], where there is one. Then for each request
//! [`Exchange::request`], and for each datagram that arrives [`Exchange::handle`], which tells whose reply it is. At the end
//! send [`Exchange::closing`] once. The other end, where there is one of our own, is a [`Responder`].
//!
//! iperf3 is no protocol of requests and replies: its two machines have a calling order of their own.
#![forbid(unsafe_code)]

pub mod address;
pub mod dns;
pub mod icmp;
pub mod iperf3;
pub mod irtt;
mod key;
pub mod ndt7;
pub mod nq;
pub mod ntp;
pub mod quic;
pub mod stamp;
pub mod time;
pub mod twamp;
pub mod udpst;

use std::net::SocketAddr;
use std::time::Duration;
use units::{Dscp, TrafficClass};

/// What both ends are to know before the first request.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Octets of the payload of a request, where the protocol can be padded.
    pub payload: usize,
    /// How long requests are sent.
    pub duration: Duration,
    /// From one request to the next.
    pub interval: Duration,
    /// DSCP and ECN of requests.
    pub class: TrafficClass,
    /// What nobody else knows: replies must repeat it.
    pub secret: u64,
}

/// When a far end had a request, by its own clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamps {
    /// The request arrived, in nanoseconds since 1970.
    pub received_ns: u64,
    /// The reply left, in nanoseconds since 1970.
    pub replied_ns: u64,
}

impl Stamps {
    /// How long the far end had the request, of a round trip that took so long. None where that cannot be: a far end that had it longer
    /// does not tell the time. One that replied a little before it came has two clocks, and had it for no time.
    pub fn held(self, round_trip: Duration) -> Option<Duration> {
        let held = Duration::from_nanos(self.replied_ns.abs_diff(self.received_ns));
        let is_after = self.replied_ns >= self.received_ns;
        (held <= round_trip).then_some(if is_after { held } else { Duration::ZERO })
    }

    /// Whether both are within some decades of `wall_ns`, a time of ours.
    pub const fn is_of_our_time(self, wall_ns: u64) -> bool {
        const DECADES: u64 = 1 << 61;
        let (received, replied) = (
            self.received_ns.abs_diff(wall_ns),
            self.replied_ns.abs_diff(wall_ns),
        );
        received < DECADES && replied < DECADES
    }
}

/// What a reply says.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Reply {
    /// The number of its request.
    pub number: u32,
    /// When the far end had it; none from those that do not tell.
    pub stamps: Option<Stamps>,
    /// How many requests had arrived there, this one included; none from those that do not count.
    pub arrived: Option<u32>,
    /// The request's DSCP and ECN as they arrived there.
    pub class: Option<TrafficClass>,
}

/// What came of a datagram while an exchange is being opened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Opening {
    /// It was something else.
    Pending,
    /// Requests will be answered.
    Open,
    /// They will not, for this reason.
    Refused(String),
}

/// The near end of a protocol of requests and replies.
pub trait Exchange: Send {
    /// What is sent until it is answered, before the first request; none where requests need no consent.
    fn opening(&self) -> Option<Vec<u8>> {
        None
    }

    /// Reads a datagram that came before the exchange was open.
    fn handle_opening(&mut self, _: &[u8]) -> Opening {
        Opening::Open
    }

    /// Writes request `number`, which leaves at `wall_ns` (nanoseconds since 1970), over `out`.
    fn request(&mut self, number: u32, wall_ns: u64, out: &mut Vec<u8>);

    /// What a datagram from the far end says; nothing where it is no reply to a request of this exchange. `latest` is the number of
    /// the latest request: some protocols repeat only a part of a number.
    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply>;

    /// What tells the far end that this was the last request.
    fn closing(&self) -> Option<Vec<u8>> {
        None
    }
}

/// A moment, by both clocks of a far end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Moment {
    /// Nanoseconds since 1970.
    pub wall_ns: u64,
    /// Nanoseconds by a clock that is never set.
    pub mono_ns: u64,
}

/// A datagram that has come to a server.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What it carries.
    pub octets: &'a [u8],
    /// Who sent it.
    pub peer: SocketAddr,
    /// When it came.
    pub received: Moment,
    /// When its reply will leave.
    pub replied: Moment,
    /// DSCP and ECN with which it came.
    pub class: TrafficClass,
    /// Hops that it might still have gone (TTL); 0 where that is not known.
    pub hops_left: u8,
}

/// The far end of a protocol of requests and replies.
pub trait Responder: Send {
    /// Writes the reply to `request` over `out`; false where it gets none.
    fn respond(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool;

    /// The DSCP of replies to this sender.
    fn dscp(&self, _: SocketAddr) -> Dscp {
        Dscp::CS0
    }
}

/// The number nearest to `latest` whose lower half is `low`, not above it.
fn expand(low: u16, latest: u32) -> Option<u32> {
    let candidate = latest & !u32::from(u16::MAX) | u32::from(low);
    if candidate <= latest {
        Some(candidate)
    } else {
        candidate.checked_sub(1 << 16)
    }
}

/// The first `N` octets of `octets` from `at` on.
fn field<const N: usize>(octets: &[u8], at: usize) -> Option<[u8; N]> {
    octets.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests;
