//! The tables of a `medianet` record. Times count from the first frame, on the clock of all hosts of the lab.

use record::{Label, table};

table! {
    /// A frame that belonged to its stream's level, and what became of it.
    pub struct FrameRow in "frames" {
        /// When it was due.
        t_ns: u64 => "ns",
        /// Its stream, from 0.
        stream: u8,
        /// `I`, `P` or `B`.
        kind: Label,
        /// Its place in the stream, in the order of sending, from 0.
        number: u64,
        /// Its octets.
        bytes: u32 => "bytes",
        /// `decoded`; `undecodable` when it arrived and a frame that it needs did not; `dropped` by the local scheduler; `under_way`
        /// when the run ended before.
        fate: Label,
        /// When all of it had arrived, or when it was dropped; null of one under way.
        ended_ns: Option<u64> => "ns",
    }
}

table! {
    /// What the local scheduler reported of an interval.
    pub struct ReportRow in "reports" {
        /// End of the interval.
        t_ns: u64 => "ns",
        /// Its length.
        lasted_ns: u64 => "ns",
        /// Octets of frames that became due.
        wanted_bytes: u64 => "bytes",
        /// Octets of frames that TCP took.
        sent_bytes: u64 => "bytes",
        /// Octets that waited at its end.
        waiting_bytes: u64 => "bytes",
        /// I frames dropped.
        dropped_i: u64 => "frames",
        /// P frames dropped.
        dropped_p: u64 => "frames",
        /// B frames dropped.
        dropped_b: u64 => "frames",
    }
}

table! {
    /// The global scheduler's view after something that it was told.
    pub struct ViewRow in "views" {
        /// When.
        t_ns: u64 => "ns",
        /// What it was told: `start`, `report`, `estimate`, or `time` when it crept up to another configuration.
        cause: Label,
        /// What it believes the path has for frames.
        view_mbps: f64 => "Mbit/s",
        /// The level of each stream: `H`, `M` or `L`.
        levels: Label,
        /// Whether these are others than before.
        reconfigured: bool,
    }
}

table! {
    /// An estimate that was asked for.
    pub struct AskedRow in "asked" {
        /// When it was asked for.
        t_ns: u64 => "ns",
        /// When the answer came.
        ended_ns: u64 => "ns",
        /// Whether it can be believed; only then the view is set by it.
        conclusive: bool,
        /// What is left beside the streams; null without an answer.
        value_mbps: Option<f64> => "Mbit/s",
        /// At least.
        low_mbps: Option<f64> => "Mbit/s",
        /// At most.
        high_mbps: Option<f64> => "Mbit/s",
        /// `value_mbps` before the correction for packets that rode; null where nothing was subtracted.
        uncorrected_mbps: Option<f64> => "Mbit/s",
        /// What the streams sent meanwhile, in octets of frames.
        own_mbps: f64 => "Mbit/s",
        /// Octets that probing put on the path, riders apart; null of one that was given up.
        overhead_bytes: Option<u64> => "bytes",
        /// Octets of packets that travelled inside probes; null of one that was given up.
        rider_bytes: Option<u64> => "bytes",
        /// Why it cannot be believed; null when it can.
        reason: Option<String>,
    }
}

table! {
    /// What the shared direction of the bottleneck carried in about a second, by the lab's own counters; the first one is
    /// not among them.
    pub struct BottleneckRow in "bottleneck" {
        /// Begin of the interval.
        t_ns: u64 => "ns",
        /// Its length.
        lasted_ns: u64 => "ns",
        /// Octets of the hosts' packets that left it: streams and probes.
        own_bytes: u64 => "bytes",
        /// Octets of cross traffic that left it.
        cross_bytes: u64 => "bytes",
        /// Packets of all that its queue had no room for.
        dropped: u64 => "packets",
    }
}
