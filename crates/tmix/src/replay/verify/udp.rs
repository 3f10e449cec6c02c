//! Flows of UDP in the capture of a replay.
//!
//! No header says which datagrams belong together, so flows are told by their ports, of which each has a pair for itself, and
//! octets are counted whatever an extraction would make of them.

use super::MOST_DISTANCE;
use crate::replay::tables::Flow;
use record::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use vectors::extract::Extracted;

/// Octets of the headers of a datagram: UDP over IPv4 and over IPv6.
const HEADERS: [u64; 2] = [28, 48];

/// What the capture has of flows that came to their end. Pairs are of octets that initiators and that acceptors sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Udp {
    /// Flows of which everything arrived.
    pub flows: u64,
    /// Those of them that were found in the capture.
    pub found: u64,
    /// Those of them that have as many octets each way as the vector.
    pub same_bytes: u64,
    /// Flows of which something was lost or came too late; they have no part in the other figures.
    pub with_losses: u64,
    /// Octets that the vectors have.
    pub asked: [u64; 2],
    /// Octets in the capture.
    pub captured: [u64; 2],
}

/// Octets from one port to another.
#[derive(Default)]
pub(super) struct Captured(HashMap<[u16; 2], u64>);

impl Captured {
    /// Enters a flow, or a piece of one that was silent for long.
    pub(super) fn enter(&mut self, one: &Extracted) {
        let [source, destination] = one.seen.ends.map(|end| end.port());
        let header = HEADERS[usize::from(one.seen.ends[0].is_ipv6())];
        let ways = [[source, destination], [destination, source]];
        for (side, ports) in ways.into_iter().enumerate() {
            let headers = one.seen.packets[side].saturating_mul(header);
            let carried = one.seen.bytes[side].saturating_sub(headers);
            let sum: &mut u64 = self.0.entry(ports).or_default();
            *sum = sum.saturating_add(carried);
        }
    }

    /// What it has of the flows of `rows` that came to their end; nothing where there are no flows.
    pub(super) fn compare(&self, rows: &[Flow]) -> Option<Udp> {
        let mut sums = Udp::default();
        for row in rows.iter().filter(|row| row.end.as_ref() == "complete") {
            let forth = [row.source_port, row.destination_port];
            let back = [row.destination_port, row.source_port];
            let captured = [forth, back].map(|ports| self.0.get(&ports).copied());
            sums.enter(row, captured);
        }
        (!rows.is_empty()).then_some(sums)
    }
}

impl Udp {
    fn enter(&mut self, row: &Flow, captured: [Option<u64>; 2]) {
        let asked = [row.initiator_bytes, row.acceptor_bytes];
        if asked != [row.received_by_acceptor, row.received_by_initiator] {
            self.with_losses += 1;
            return;
        }
        self.flows += 1;
        self.found += u64::from(captured.iter().any(Option::is_some));
        let captured = captured.map(Option::unwrap_or_default);
        self.same_bytes += u64::from(captured == asked);
        for way in 0..2 {
            self.asked[way] = self.asked[way].saturating_add(asked[way]);
            self.captured[way] = self.captured[way].saturating_add(captured[way]);
        }
    }

    /// Whether nearly every flow is in the capture with all of its octets.
    pub(super) fn verdict(&self) -> Verdict {
        let missing = self.flows - self.same_bytes;
        if self.flows == 0 {
            Verdict::Inconclusive
        } else if missing as f64 <= MOST_DISTANCE * self.flows as f64 {
            Verdict::Pass
        } else {
            Verdict::Fail
        }
    }

    /// What was found, for a terminal.
    pub(super) fn words(&self) -> String {
        let way = |way: usize| format!("{} of {} octets", self.captured[way], self.asked[way]);
        format!(
            "flows of UDP  {} whole, {} found in the capture, {} with the same octets, {} with losses\n              {} forth, {} back",
            self.flows,
            self.found,
            self.same_bytes,
            self.with_losses,
            way(0),
            way(1)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_every_whole_flow_must_be_there() {
        let found = Udp {
            flows: 100,
            found: 100,
            same_bytes: 98,
            ..Udp::default()
        };
        assert_eq!(found.verdict(), Verdict::Pass);
        let cut = Udp {
            same_bytes: 97,
            ..found
        };
        assert_eq!(cut.verdict(), Verdict::Fail);
        assert_eq!(Udp::default().verdict(), Verdict::Inconclusive);
        assert_eq!(Captured::default().compare(&[]), None);
    }
}
