//! The tables of an `rpm` record. Times count from the run's start.

use record::{Label, table};

table! {
    /// A request for one octet, and how long each step to its answer took.
    pub struct RpmProbe in "rpm_probes" {
        /// When it was begun.
        t_ns: u64 => "ns",
        /// When it was answered, or came to nothing.
        ended_ns: u64 => "ns",
        /// Where the load went: `down`, `up`, or `idle` for none.
        load: Label,
        /// `foreign`, on a connection of its own, or `self`, on one that carries load.
        kind: Label,
        /// The TCP handshake; null of `self`, by HTTP/3, and where that failed.
        tcp_ns: Option<u64> => "ns",
        /// TLS handshake per round trip (TLS 1.3 has one, TLS 1.2 two), or QUIC's; null of `self`, and where it failed.
        tls_ns: Option<u64> => "ns",
        /// From the request to the end of the answer; null where there was none.
        http_ns: Option<u64> => "ns",
    }
}

table! {
    /// An interval of a direction.
    pub struct RpmInterval in "rpm_intervals" {
        /// Its number in the direction, from 0.
        interval: u32,
        /// Where the load went: `down` or `up`.
        load: Label,
        /// Its end.
        t_ns: u64 => "ns",
        /// How long it took.
        lasted_ns: u64 => "ns",
        /// Connections that carried load at its end.
        connections: u32,
        /// Payload of HTTP that was carried.
        carried_bytes: u64 => "bytes",
        /// The moving average of that over the last intervals.
        goodput_bps: f64 => "bps",
        /// Round trips per minute by the requests of the last intervals; null before the goodput has settled, and without answers.
        rpm: Option<f64>,
    }
}
