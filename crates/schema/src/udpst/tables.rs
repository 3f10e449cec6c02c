//! The tables of a `udpst` record. Times count from the run's start. What the server measures, upstream, it tells in whole milliseconds.

use record::{Label, table};

table! {
    /// A trial: what the receiver of the load told its sender.
    pub struct UdpstTrial in "udpst_trials" {
        /// When it ended; upstream, when its feedback came.
        t_ns: u64 => "ns",
        /// Where the load went: `down` or `up`.
        load: Label,
        /// Its number in the direction, from 1.
        number: u32,
        /// How long it lasted.
        lasted_ns: u64 => "ns",
        /// The rate of IP packets that the server has asked for since; null downstream, where it does not say.
        asked_bps: Option<f64> => "bps",
        /// Datagrams that arrived.
        datagrams: u32,
        /// Octets of IP packets that arrived, headers included.
        ip_bytes: u64 => "bytes",
        /// Datagrams that did not arrive.
        lost: u32,
        /// Datagrams that came later than one that was sent after them.
        reordered: u32,
        /// Datagrams that came twice.
        duplicates: u32,
        /// One-way delay above the least of the direction: the mean; null without a datagram.
        owd_variation_ns: Option<u64> => "ns",
        /// The latest round trip above the least of the direction; null without one.
        rtt_variation_ns: Option<u64> => "ns",
        /// The least round trip of the direction so far; null before the first.
        least_rtt_ns: Option<u64> => "ns",
    }
}

table! {
    /// A sub-interval, of which the largest rate is the capacity.
    pub struct UdpstInterval in "udpst_intervals" {
        /// When it ended; upstream, when the feedback with it came.
        t_ns: u64 => "ns",
        /// Where the load went: `down` or `up`.
        load: Label,
        /// Its number in the direction, from 0.
        interval: u32,
        /// How long it lasted.
        lasted_ns: u64 => "ns",
        /// Octets of IP packets that arrived, headers included.
        ip_bytes: u64 => "bytes",
        /// Their rate.
        ip_bps: f64 => "bps",
        /// Datagrams that arrived.
        datagrams: u32,
        /// Datagrams that did not.
        lost: u32,
        /// Datagrams that came later than one that was sent after them.
        reordered: u32,
        /// Datagrams that came twice.
        duplicates: u32,
        /// One-way delay above the least of the direction: the greatest; null without a datagram.
        owd_variation_most_ns: Option<u64> => "ns",
        /// Round trips above the least of the direction: the greatest; null without one.
        rtt_variation_most_ns: Option<u64> => "ns",
    }
}
