//! The columns that a page needs, of each table that only a replay has.

#![expect(clippy::struct_field_names, reason = "named as in the tables")]

use record::Label;

record::table! {
    /// One connection.
    pub(super) struct Connection in "connections" {
        /// Its number.
        connection: u64,
        /// When it was to begin.
        planned_ns: u64,
        /// When its initiator asked for it.
        started_ns: Option<u64>,
        /// When the first octet of its data was sent.
        first_byte_ns: Option<u64>,
        /// When the last octet of its data was received.
        last_byte_ns: Option<u64>,
        /// Whether its two ends took turns in the original.
        sequential: bool,
        /// Octets that the initiator was to send.
        request_bytes: u64,
        /// Octets that the acceptor was to send.
        response_bytes: u64,
        /// How it ended.
        end: Label,
    }
}

record::table! {
    /// A request and its response.
    pub(super) struct Epoch in "epochs" {
        /// Whose.
        connection: u64,
        /// From the request's first octet to the response's last.
        response_ms: f64,
    }
}

record::table! {
    /// A second.
    pub(super) struct Active in "active" {
        /// When it began.
        t_ns: u64,
        /// Connections that began.
        syn: u32,
        /// Segments that close an end.
        fin: u32,
        /// Connections that were reset.
        rst: u32,
        /// Connections that were alive in any part of it.
        connections: u32,
    }
}

record::table! {
    /// What arrived at the bottleneck in a bin.
    pub(super) struct Offered in "offered" {
        /// When the bin began.
        t_ns: u64,
        /// The link.
        link: Label,
        /// Its direction.
        direction: Label,
        /// Packets that arrived.
        packets: u64,
    }
}
