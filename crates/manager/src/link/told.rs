//! What a manager tells the one that sends it probes: which of them arrived, and when.
//!
//! A tool needs both ends of its trains. On channels from [`TOLD`](mgrp::echo::TOLD) on it need not run at the far one: the manager there says over
//! the control connection of the session what it would have told a tool of its own.

use crate::service::Words;
use mgrp::transaction::Arrival;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::{self, Receiver, SyncSender};

/// Arrivals that may wait to be told: two of the longest trains.
const MOST_WAITING: usize = 20_000;
/// Octets of a probe's header that are told, so that a line of [`MOST_ROWS`] is not too long.
const MOST_HEADER: usize = 32;
const MOST_ROWS: usize = 200;

/// Where arrivals go that are to be told, and where they come out.
pub fn channel() -> (SyncSender<Arrival>, Receiver<Arrival>) {
    mpsc::sync_channel(MOST_WAITING)
}

/// A line of a session that is established.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// A word of so many octets, as an IP packet, came from the peer.
    Long(u16),
    /// What the peer's estimation service says to the one here.
    Service(Words),
    /// These arrived.
    Told(Vec<Row>),
}

/// An arrival.
#[derive(Debug, Deserialize, Serialize)]
pub struct Row {
    channel: u8,
    octets: u16,
    sequence: u64,
    sent_ns: u64,
    arrived_ns: u64,
    header: Vec<u8>,
}

impl From<Arrival> for Row {
    fn from(arrival: Arrival) -> Self {
        let mut header = arrival.header;
        header.truncate(MOST_HEADER);
        Self {
            channel: arrival.channel,
            octets: arrival.octets,
            sequence: arrival.sequence,
            sent_ns: arrival.sent_ns,
            arrived_ns: arrival.arrived_ns,
            header,
        }
    }
}

impl From<Row> for Arrival {
    fn from(row: Row) -> Self {
        Self {
            channel: row.channel,
            octets: row.octets,
            sequence: row.sequence,
            sent_ns: row.sent_ns,
            arrived_ns: row.arrived_ns,
            header: row.header,
        }
    }
}

/// What waits to be told, as the next line; none when nothing does.
pub fn next_line(waiting: &Receiver<Arrival>) -> Option<Line> {
    let rows: Vec<Row> = waiting.try_iter().take(MOST_ROWS).map(Row::from).collect();
    (!rows.is_empty()).then_some(Line::Told(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_line_is_one_that_the_control_connection_takes() {
        let (sender, waiting) = channel();
        let arrival = Arrival {
            channel: 255,
            octets: u16::MAX,
            sequence: u64::MAX,
            sent_ns: u64::MAX,
            arrived_ns: u64::MAX,
            header: vec![255; 4_000],
        };
        (0..=MOST_ROWS).for_each(|_| sender.send(arrival.clone()).unwrap());
        let line = serde_json::to_string(&next_line(&waiting).unwrap()).unwrap();
        assert!(line.len() < 60_000, "{}", line.len());
        let Line::Told(rows) = serde_json::from_str(&line).unwrap() else {
            panic!("{line}")
        };
        assert_eq!(rows.len(), MOST_ROWS);
        assert!(next_line(&waiting).is_some() && next_line(&waiting).is_none());
    }
}
