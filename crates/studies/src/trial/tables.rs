//! The tables of a trial's record. Times count from the moment at which the application begins, on the one clock of the lab.

use record::{Label, table};

table! {
    /// What the bottleneck carried of one kind in a second, after losses.
    pub struct ThroughputRow in "throughput" {
        /// The second's beginning.
        t_ns: u64 => "ns",
        /// Of what.
        kind: Label,
        /// Packets; of riders the probes that carried one.
        packets: u64 => "packets",
        /// Octets, with IP headers.
        bytes: u64 => "bytes",
    }
}

table! {
    /// What the receiving application read in a second.
    pub struct SourceRow in "source" {
        /// The second's beginning.
        t_ns: u64 => "ns",
        /// Octets.
        bytes: u64 => "bytes",
    }
}

table! {
    /// An estimation of the available bandwidth, whether it came to an end or not.
    pub struct EstimateRow in "estimates" {
        /// When it began.
        t_ns: u64 => "ns",
        /// When it ended or was given up.
        end_ns: u64 => "ns",
        /// How it ended.
        outcome: Label,
        /// Whether it came to an end at which it can be believed.
        conclusive: bool,
        /// Lower end of what it found, less what its trains were spared by riders; null without a finding.
        low_mbps: Option<f64> => "Mbit/s",
        /// Upper end, likewise.
        high_mbps: Option<f64> => "Mbit/s",
        /// Lower end as the trains alone say it.
        uncorrected_low_mbps: Option<f64> => "Mbit/s",
        /// Upper end, likewise.
        uncorrected_high_mbps: Option<f64> => "Mbit/s",
        /// What the last fleet was spared: what applications offered meanwhile, less what left beside its trains.
        spared_mbps: Option<f64> => "Mbit/s",
        /// Rate of the riders that would have competed with the last stream.
        competing_stream_mbps: Option<f64> => "Mbit/s",
        /// Rate of those that would have competed with the last fleet, on average.
        competing_fleet_mbps: Option<f64> => "Mbit/s",
        /// What was available meanwhile, on average: the link's rate less all that it carried but probes; null before the end of the run's first second.
        truth_mbps: Option<f64> => "Mbit/s",
        /// The same in the second in which it was least.
        truth_low_mbps: Option<f64> => "Mbit/s",
        /// The same in the second in which it was most.
        truth_high_mbps: Option<f64> => "Mbit/s",
        /// Trains that it took.
        trains: u32,
    }
}

table! {
    /// A probe that came to the bottleneck and did not leave it.
    pub struct LossRow in "losses" {
        /// When it came there.
        t_ns: u64 => "ns",
        /// Which train, as `trains.train`.
        train: u32,
        /// Its place in the train, from 0.
        probe: u32,
        /// Probes of the train.
        probes: u32 => "packets",
        /// Whether it carried a packet of the application's, or a piece of one.
        carried: bool,
    }
}

table! {
    /// Probes of one tenth of their trains, of trains that may carry.
    pub struct TenthRow in "tenths" {
        /// Which tenth, from 0 at the head.
        tenth: u8,
        /// Whether the probes carried something of the application's.
        carried: bool,
        /// Probes that came to the bottleneck.
        sent: u64 => "packets",
        /// Of these, lost there.
        lost: u64 => "packets",
    }
}

/// The kinds of what the bottleneck carries, in the order in which they are stacked.
pub const KINDS: [&str; 5] = ["source", "rider", "probe", "cross", "other"];
