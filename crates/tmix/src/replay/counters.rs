//! What both ends know of each connection, put together.

use super::live::{End, Half};
use super::tables::Connection;
use super::workload::Part;
use std::collections::HashMap;
use units::Instant;
use vectors::Side;

/// Ends that wait for the other end's word.
#[derive(Debug, Default)]
pub struct Counters {
    halves: HashMap<u32, Half>,
}

impl Counters {
    /// Enters what an end knows; when both ends have told, what both know.
    pub fn enter(&mut self, half: Half) -> Option<[Option<Half>; 2]> {
        let Some(other) = self.halves.remove(&half.number) else {
            self.halves.insert(half.number, half);
            return None;
        };
        Some(pair(half, Some(other)))
    }

    /// Those of which only one end has told, at the end of the run, by number.
    pub fn rest(&mut self) -> Vec<[Option<Half>; 2]> {
        let mut halves: Vec<Half> = self.halves.drain().map(|(_, half)| half).collect();
        halves.sort_unstable_by_key(|half| half.number);
        halves.into_iter().map(|half| pair(half, None)).collect()
    }
}

/// Initiator and acceptor.
fn pair(one: Half, other: Option<Half>) -> [Option<Half>; 2] {
    let is_of = |side| move |half: &Half| half.side == side;
    let [one, other] = [Some(one), other];
    Side::BOTH.map(|side| {
        one.filter(is_of(side))
            .or_else(|| other.filter(is_of(side)))
    })
}

/// The row of a connection of which its ends know this; `origin` is the first planned start.
pub fn row(part: &Part, number: u32, ends: [Option<Half>; 2], origin: Instant) -> Connection {
    let at = |at: Instant| u64::try_from(at.since(origin).as_nanos()).unwrap_or(u64::MAX);
    let known = || ends.iter().flatten();
    let [initiator, acceptor] = &ends;
    let rtt = part.vector.min_rtt.unwrap_or_default();
    let ports = initiator.and_then(|half| half.ports);
    let min_rtt = initiator.and_then(|half| half.min_rtt);
    let bytes = |side| part.vector.body.bytes(side);
    let closed = || known().map(|half| half.closed).collect::<Option<Vec<_>>>();
    let both = initiator.is_some() && acceptor.is_some();
    let retransmits = known()
        .filter_map(|half| half.retransmits)
        .reduce(u32::saturating_add);
    Connection {
        connection: number.into(),
        planned_ns: u64::try_from(part.vector.start.as_nanos()).unwrap_or(u64::MAX),
        started_ns: initiator.map(|half| at(half.started)),
        established_ns: initiator.and_then(|half| half.established).map(at),
        first_byte_ns: known().filter_map(|half| half.first_sent).min().map(at),
        last_byte_ns: known().filter_map(|half| half.last_heard).max().map(at),
        closed_ns: closed()
            .filter(|_| both)
            .and_then(|ends| ends.into_iter().max())
            .map(at),
        initiator: part.initiator.name().into(),
        source_port: ports.map(|[source, _]| source),
        destination_port: ports.map(|[_, destination]| destination),
        sequential: part.was_sequential,
        rtt_us: u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX),
        min_rtt_us: min_rtt.map(|rtt| u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX)),
        request_bytes: bytes(Side::Initiator),
        response_bytes: bytes(Side::Acceptor),
        received_by_acceptor: acceptor.map_or(0, |half| half.heard),
        received_by_initiator: initiator.map_or(0, |half| half.heard),
        epochs: u32::try_from(part.vector.body.epochs().count()).unwrap_or(u32::MAX),
        end: end(ends).name().into(),
        retransmits,
    }
}

/// What became of a connection, by the worse of what its ends say.
fn end(ends: [Option<Half>; 2]) -> End {
    let [initiator, acceptor] = ends;
    match (
        initiator.map(|half| half.end),
        acceptor.map(|half| half.end),
    ) {
        (Some(End::Complete), Some(End::Complete)) => End::Complete,
        (Some(End::Refused), _) => End::Refused,
        // The host that stops first breaks the connections that the other one still has.
        (Some(End::Cut), _) | (_, Some(End::Cut)) => End::Cut,
        (Some(End::Reset), _) | (_, Some(End::Reset)) => End::Reset,
        _ => End::Cut,
    }
}
