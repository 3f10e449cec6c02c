//! A run in virtual time: the same plan, streams, tables and figures, over links of [`sim`].
//!
//! Client and server are at the ends of a row of links. TCP's load and round trips are connections of [`sim::tcp`], one for each
//! stream ([`tcp`]); the requests, replies and calls of [`datagrams`] and the look-ups of [`names`] are as long as those of a real run,
//! over IPv4. [`pages`] are loaded by the machine that loads them over sockets, on connections of [`https`]. [`mod@run`] looks at every
//! stream at the end of each 100 ms and at the queues every 10 ms. Nothing is late, so nothing is said of the instrument.
//!
//! Not simulated, and left out of the plan ([`leave_out`]): pages over HTTP/3 and the path trace.

mod datagrams;
mod host;
mod https;
mod look_up;
mod names;
mod pages;
mod rehearsal;
mod run;
mod tcp;

pub use pages::Page;
pub use rehearsal::lengthen;
pub use run::{Context, run};

use crate::plan::{Families, Plan, ProbeKind};
use path::{Family, Packet};
use record::Warning;
use session::DEFAULT_PORT;
use sim::tcp::Tcp;
use sim::{Addressed, NodeId, Parcel};
use units::{Dscp, FlowId, HttpVersion, Instant, TrafficClass};

/// The server's, in URLs.
const PORT: u16 = DEFAULT_PORT;

/// What two hosts send each other.
#[derive(Clone, Debug)]
pub enum Wire {
    /// A packet of a connection.
    Tcp(Tcp),
    /// A datagram.
    Datagram(Datagram),
}

/// A datagram of a stream, with its number and its octets, headers included.
#[derive(Clone, Debug)]
pub struct Datagram {
    sequence: u32,
    octets: u32,
    says: Says,
}

#[derive(Clone, Copy, Debug)]
enum Says {
    /// To be answered, by so many octets.
    Request { answer: u32 },
    /// The answer: when the request came to the far end, and how it was marked then.
    Reply { received: Instant, class: u8 },
    /// Of a call, with the time of its departure.
    Call { sent: Instant },
}

/// The flow of connection number `connection` of stream `id` towards the server; the next is that of its way back.
fn flow(id: u16, connection: u32) -> FlowId {
    FlowId((u64::from(connection) << 16 | (u64::from(id) + 1)) << 1)
}

/// The place of the stream of `flow` among the streams.
fn stream(flow: FlowId) -> usize {
    usize::try_from(flow.0 >> 1 & 0xffff).map_or(usize::MAX, |number| number.wrapping_sub(1))
}

/// A packet of a connection, as the connection takes it.
fn as_tcp(parcel: Parcel<Wire>) -> Option<Parcel<Tcp>> {
    let Wire::Tcp(payload) = parcel.body.payload else {
        return None;
    };
    let Addressed { from, to, .. } = parcel.body;
    Some(Packet {
        body: Addressed { from, to, payload },
        size: parcel.size,
        flow: parcel.flow,
        family: parcel.family,
        dscp: parcel.dscp,
        ecn: parcel.ecn,
        at: parcel.at,
    })
}

/// A packet that a connection sends, in its stream's class.
fn as_wire(parcel: Parcel<Tcp>, dscp: Dscp, now: Instant) -> Parcel<Wire> {
    let class = TrafficClass {
        dscp,
        ecn: parcel.ecn,
    };
    let Addressed { from, to, payload } = parcel.body;
    let wire = Wire::Tcp(payload);
    packet([from, to], parcel.flow, class, parcel.size, wire, now)
}

/// A packet between two hosts.
fn packet(
    [from, to]: [NodeId; 2],
    flow: FlowId,
    class: TrafficClass,
    size: u32,
    payload: Wire,
    now: Instant,
) -> Parcel<Wire> {
    Packet {
        size,
        flow,
        family: Family::V4,
        dscp: class.dscp,
        ecn: class.ecn,
        at: now,
        body: Addressed { from, to, payload },
    }
}

/// Leaves out what is not simulated, and says so.
pub fn leave_out(plan: &mut Plan) -> Vec<Warning> {
    let mut left_out = Vec::new();
    if let Some(web) = &mut plan.web {
        let before = web.protocols.len();
        web.protocols.retain(|way| *way != HttpVersion::H3);
        if web.protocols.len() < before {
            left_out.push("pages over HTTP/3");
        }
    }
    plan.web = plan.web.take().filter(|web| !web.protocols.is_empty());
    if plan.trace.take().is_some() {
        left_out.push("the path trace");
    }
    let before = plan.probe.len();
    let is_foreign = |kind| matches!(kind, ProbeKind::IcmpRr | ProbeKind::TcpConnect);
    plan.probe.retain(|probe| !is_foreign(probe.kind));
    if plan.probe.len() < before {
        left_out.push("ICMP echo and attempts to connect");
    }
    if !std::mem::take(&mut plan.beside).is_empty() {
        left_out.push("far ends beside the server");
    }
    if plan.families == Families::Both {
        // That there is no IPv6 is the simulation's doing, and no fault of the path.
        plan.families = Families::One;
        left_out.push("IPv6");
    }
    if left_out.is_empty() {
        return Vec::new();
    }
    vec![Warning {
        code: "not_simulated".to_owned(),
        message: format!("left out of the plan: {}", left_out.join(", ")),
        advice: "their figures and what depends on them are null; 'isobath rrul --lab' has them"
            .to_owned(),
    }]
}

#[cfg(test)]
mod tests;
