//! What both ends know of each flow, put together.

use super::super::live::End;
use super::super::tables::Flow;
use super::super::workload::Part;
use std::collections::HashMap;
use std::time::Duration;
use units::Instant;
use vectors::Side;

/// What one end knows of a flow when it is over.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    /// The flow, by its place among the parts.
    pub number: u32,
    /// Which end this is.
    pub side: Side,
    /// When this end began.
    pub started: Instant,
    /// When it first gave a datagram to its kernel.
    pub first_sent: Option<Instant>,
    /// When it last took a datagram from its kernel.
    pub last_heard: Option<Instant>,
    /// When it had come to its end.
    pub ended: Option<Instant>,
    /// Octets.
    pub sent: u64,
    /// Octets that it took.
    pub heard: u64,
    /// Datagrams sent and heard.
    pub datagrams: [u64; 2],
    /// The most that a datagram was sent after its time.
    pub late: Duration,
    /// *Complete* when this end has said everything, and heard everything or given it up.
    pub end: End,
}

impl Half {
    /// Of a flow that begins at `started`: nothing sent or heard.
    pub const fn new(number: u32, side: Side, started: Instant) -> Self {
        Self {
            number,
            side,
            started,
            first_sent: None,
            last_heard: None,
            ended: None,
            sent: 0,
            heard: 0,
            datagrams: [0; 2],
            late: Duration::ZERO,
            end: End::Cut,
        }
    }

    /// What is known of a flow for which there was no socket.
    pub const fn refused(number: u32, now: Instant) -> Self {
        let mut half = Self::new(number, Side::Initiator, now);
        half.end = End::Refused;
        half
    }
}

/// Ends that wait for the other end's word.
#[derive(Debug, Default)]
pub struct Counters {
    halves: HashMap<u32, Half>,
}

impl Counters {
    /// Enters what an end knows; when both ends have told, or there is only one, what is known of the flow.
    pub fn enter(&mut self, half: Half) -> Option<[Option<Half>; 2]> {
        let other = self.halves.remove(&half.number);
        if other.is_none() && half.end != End::Refused {
            self.halves.insert(half.number, half);
            return None;
        }
        Some(pair(half, other))
    }

    /// Those of which only one end has told, at the end of the run.
    pub fn rest(&mut self) -> Vec<[Option<Half>; 2]> {
        let rest = self.halves.drain();
        rest.map(|(_, half)| pair(half, None)).collect()
    }
}

/// Initiator and acceptor.
fn pair(one: Half, other: Option<Half>) -> [Option<Half>; 2] {
    match one.side {
        Side::Initiator => [Some(one), other],
        Side::Acceptor => [other, Some(one)],
    }
}

/// The row of the flow `part` between `ports`, of which its ends know this; `origin` is the first planned start.
pub fn row(
    part: &Part,
    ports: [u16; 2],
    ends: &[Option<Half>; 2],
    origin: Instant,
) -> Option<Flow> {
    let number = ends.iter().flatten().next()?.number;
    let vector = &part.vector;
    let [source_port, destination_port] = ports;
    let at = |at: Instant| u64::try_from(at.since(origin).as_nanos()).unwrap_or(u64::MAX);
    let us = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
    let known = || ends.iter().flatten();
    let [initiator, acceptor] = ends;
    let ended = known().filter_map(|half| half.ended).max();
    let datagrams = |place: usize| known().map(|half| half.datagrams[place]).sum();
    Some(Flow {
        flow: number.into(),
        planned_ns: u64::try_from(vector.start.as_nanos()).unwrap_or(u64::MAX),
        started_ns: initiator.map(|half| at(half.started)),
        first_sent_ns: known().filter_map(|half| half.first_sent).min().map(at),
        last_heard_ns: known().filter_map(|half| half.last_heard).max().map(at),
        ended_ns: ended.filter(|_| acceptor.is_some()).map(at),
        source_port,
        destination_port,
        isochronous: !vector.body.is_sequential(),
        rtt_us: us(vector.min_rtt.unwrap_or_default()),
        initiator_bytes: vector.body.bytes(Side::Initiator),
        acceptor_bytes: vector.body.bytes(Side::Acceptor),
        received_by_acceptor: acceptor.map_or(0, |half| half.heard),
        received_by_initiator: initiator.map_or(0, |half| half.heard),
        datagrams_sent: datagrams(0),
        datagrams_received: datagrams(1),
        late_us: known().map(|half| us(half.late)).max().unwrap_or_default(),
        end: end(ends).name().into(),
    })
}

/// What became of a flow, by the worse of what its ends say.
fn end(ends: &[Option<Half>; 2]) -> End {
    let ends = ends.map(|half| half.map_or(End::Cut, |half| half.end));
    let worst = [End::Refused, End::Reset, End::Cut];
    let worst = worst.into_iter().find(|end| ends.contains(end));
    worst.unwrap_or(End::Complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(side: Side, end: End) -> Half {
        Half {
            end,
            ..Half::new(7, side, Instant::ZERO)
        }
    }

    #[test]
    fn a_flow_is_complete_when_both_ends_say_so() {
        let mut counters = Counters::default();
        assert!(
            counters
                .enter(half(Side::Acceptor, End::Complete))
                .is_none()
        );
        let both = counters
            .enter(half(Side::Initiator, End::Complete))
            .unwrap();
        assert_eq!(both.map(|half| half.unwrap().side), Side::BOTH);
        assert_eq!(end(&both), End::Complete);
        counters.enter(half(Side::Initiator, End::Complete));
        assert_eq!(end(&counters.rest()[0]), End::Cut);
        // Nobody waits for the acceptor of a flow without a socket.
        let refused = counters.enter(Half::refused(7, Instant::ZERO)).unwrap();
        assert_eq!(end(&refused), End::Refused);
        assert!(counters.rest().is_empty());
    }
}
