//! The figures of flows of UDP, apart from those of connections.

use crate::replay::tables::Flow;
use schema::replay::{Bytes, Datagrams, Spread, Udp};

/// Figures in the making.
#[derive(Debug, Default)]
pub(super) struct Flows {
    planned: u64,
    completed: u64,
    broken: u64,
    unfinished: u64,
    bytes: Bytes,
    datagrams: Datagrams,
    starts: Vec<f64>,
    sends: Vec<f64>,
}

impl Flows {
    /// So many flows are to carry so many octets.
    pub(super) fn planned(flows: u64, bytes: u64) -> Self {
        Self {
            planned: flows,
            bytes: Bytes {
                planned: bytes,
                sent: 0,
            },
            ..Self::default()
        }
    }

    /// Those that are over.
    pub(super) const fn ended(&self) -> u64 {
        self.completed + self.broken + self.unfinished
    }

    pub(super) fn enter(&mut self, row: &Flow) {
        let is_complete = row.end.as_ref() == "complete";
        *match row.end.as_ref() {
            "complete" => &mut self.completed,
            "reset" | "refused" => &mut self.broken,
            _ => &mut self.unfinished,
        } += 1;
        self.bytes.sent += row.received_by_acceptor + row.received_by_initiator;
        self.datagrams.sent += row.datagrams_sent;
        self.datagrams.received += row.datagrams_received;
        if is_complete {
            self.datagrams.lost += row.datagrams_sent.saturating_sub(row.datagrams_received);
        }
        let late = row
            .started_ns
            .map(|started| started.saturating_sub(row.planned_ns));
        self.starts.extend(late.map(|late| late as f64 / 1e6));
        if row.datagrams_sent > 0 {
            self.sends.push(f64::from(row.late_us) / 1e3);
        }
    }

    /// What was found, if there was anything to be found.
    pub(super) fn summary(&self) -> Option<Udp> {
        (self.planned > 0).then(|| Udp {
            planned: self.planned,
            completed: self.completed,
            broken: self.broken,
            unfinished: self.unfinished,
            never: self.planned.saturating_sub(self.ended()),
            bytes: self.bytes,
            datagrams: self.datagrams,
            start_lateness_ms: Spread::of(&self.starts),
            send_lateness_ms: Spread::of(&self.sends),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(end: &'static str, late_ms: u64) -> Flow {
        Flow {
            flow: 3,
            planned_ns: 1_000_000,
            started_ns: Some((1 + late_ms) * 1_000_000),
            first_sent_ns: None,
            last_heard_ns: None,
            ended_ns: None,
            source_port: 1_024,
            destination_port: 64_000,
            isochronous: false,
            rtt_us: 0,
            initiator_bytes: 60,
            acceptor_bytes: 40,
            received_by_acceptor: 60,
            received_by_initiator: 30,
            datagrams_sent: 10,
            datagrams_received: 9,
            late_us: 250,
            end: end.into(),
        }
    }

    #[test]
    fn what_is_lost_is_told_of_those_that_said_everything() {
        let mut flows = Flows::planned(4, 400);
        flows.enter(&flow("complete", 1));
        flows.enter(&flow("unfinished", 3));
        flows.enter(&flow("refused", 2));
        let udp = flows.summary().unwrap();
        assert_eq!((udp.planned, udp.completed, udp.broken), (4, 1, 1));
        assert_eq!((udp.unfinished, udp.never), (1, 1));
        assert_eq!((udp.bytes.planned, udp.bytes.sent), (400, 270));
        let datagrams = udp.datagrams;
        assert_eq!(
            (datagrams.sent, datagrams.received, datagrams.lost),
            (30, 27, 1)
        );
        assert!((udp.start_lateness_ms.unwrap().of.mean - 2.0).abs() < 1e-9);
        assert!((udp.send_lateness_ms.unwrap().of.max - 0.25).abs() < 1e-9);
        assert_eq!(Flows::planned(0, 0).summary(), None);
    }
}
