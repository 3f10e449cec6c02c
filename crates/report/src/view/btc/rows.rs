//! The columns that a page needs, of each table.

use super::Transfer;
use crate::view::each;
use record::{Label, Record};
use std::collections::BTreeMap;

record::table! {
    /// One transfer.
    pub(super) struct TransferRow in "transfers" {
        /// Its number.
        transfer: u16,
        /// What carried it.
        tool: Label,
        /// Which repetition it belongs to.
        repeat: u32,
        /// Where its data went.
        direction: Label,
        /// When its first segment was sent.
        start_ns: u64,
        /// How long it took.
        seconds: Option<f64>,
        /// Segments acknowledged.
        segments: u64,
        /// Octets acknowledged.
        bytes: u64,
        /// Octets over time.
        throughput_mbps: Option<f64>,
        /// Packets that left the sender.
        sent_packets: u64,
        /// Copies among them.
        retransmits: u64,
        /// Those that never arrived.
        lost: u64,
        /// The same as a share.
        loss_pct: Option<f64>,
        /// Arrived after one that had left later.
        reordered: Option<u64>,
        /// Arrived again.
        duplicates: Option<u64>,
        /// Retransmission timeouts.
        timeouts: Option<u64>,
        /// Fast recoveries.
        recoveries: Option<u64>,
        /// Arrived marked.
        marked: Option<u64>,
        /// Acknowledgements that were refused.
        violations: Option<u64>,
        /// Congestion control.
        cc: Label,
        /// How it ended.
        outcome: Label,
        /// Why.
        reason: Option<String>,
    }
}

record::table! {
    /// The sender's window at one moment.
    pub(super) struct WindowRow in "windows" {
        /// When.
        t_ns: u64,
        /// Which transfer.
        transfer: u16,
        /// Congestion window in segments.
        cwnd: f64,
        /// Slow-start threshold in segments.
        ssthresh: Option<f64>,
        /// Segments in the network.
        flight: u32,
        /// Smoothed round trip.
        srtt_ns: Option<u64>,
    }
}

record::table! {
    /// One round trip.
    pub(super) struct RoundTripRow in "round_trips" {
        /// When.
        t_ns: u64,
        /// Which transfer.
        transfer: u16,
        /// How long.
        rtt_ns: u64,
    }
}

record::table! {
    /// Something that happened to a sender.
    pub(super) struct EventRow in "events" {
        /// When.
        t_ns: u64,
        /// Which transfer.
        transfer: u16,
        /// What.
        what: Label,
        /// Congestion window before.
        from_segments: Option<f64>,
        /// Congestion window after.
        to_segments: Option<f64>,
    }
}

record::table! {
    /// One datagram as it passed an end.
    pub(super) struct SegmentRow in "segments" {
        /// When.
        t_ns: u64,
        /// Which transfer.
        transfer: u16,
        /// Which end.
        end: Label,
        /// What it was.
        kind: Label,
        /// Number of its segment.
        seq: u64,
        /// The packet's own number.
        id: u64,
        /// How often the segment had been sent before.
        copy: u32,
        /// Number that the receiver expects next.
        ack: Option<u64>,
        /// What has arrived beyond it.
        sack: Option<String>,
        /// Segments that the receiver has room for.
        window: Option<u32>,
    }
}

/// Transfers of a record without a table of them, as the windows tell.
pub(super) fn unfinished(record: &Record) -> Result<Vec<Transfer>, record::Error> {
    let mut starts: BTreeMap<u16, u64> = BTreeMap::new();
    each(record, |row: WindowRow| {
        let start = starts.entry(row.transfer).or_insert(row.t_ns);
        *start = row.t_ns.min(*start);
    })?;
    let transfer = |(transfer, start_ns)| {
        Transfer::from(TransferRow {
            transfer,
            start_ns,
            repeat: u32::from(transfer),
            tool: "unknown".into(),
            outcome: "cut short".into(),
            ..TransferRow::default()
        })
    };
    Ok(starts.into_iter().map(transfer).collect())
}
