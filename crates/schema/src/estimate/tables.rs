//! The tables of an `estimate` record. Times count from the run's start on the client's clock; what the server's clock said
//! is as right as the offset of the two.

use record::table;

table! {
    /// A train of probes.
    pub struct TrainRow in "trains" {
        /// Its number, from 0.
        train: u32,
        /// When its first probe left that arrived; when it was given up, if none did.
        t_ns: u64 => "ns",
        /// Probes that left.
        probes: u32 => "packets",
        /// Probes that arrived; of an echoed train, that came back.
        arrived: u32 => "packets",
        /// Octets of its packets, IP headers included.
        bytes: u64 => "bytes",
        /// How long it was to last, from its first probe to its last.
        planned_ns: u64 => "ns",
        /// How long it did.
        lasted_ns: u64 => "ns",
        /// By how much a gap between two probes was wrong at most.
        worst_gap_error_ns: u64 => "ns",
        /// Whether each probe was sent back.
        echo: bool,
    }
}

table! {
    /// A probe that arrived.
    pub struct ProbeRow in "probes" {
        /// Which train, as `trains.train`.
        train: u32,
        /// Its place in the train, from 0.
        probe: u32,
        /// Octets of the packet, IP header included.
        bytes: u32 => "bytes",
        /// When it left.
        t_ns: u64 => "ns",
        /// When it arrived.
        arrived_ns: u64 => "ns",
        /// When it was back; null where it was not sent back.
        returned_ns: Option<u64> => "ns",
    }
}

impl TrainRow {
    /// Probes that did not arrive.
    pub const fn lost(&self) -> u32 {
        self.probes.saturating_sub(self.arrived)
    }
}

impl ProbeRow {
    /// From its departure to its arrival, in nanoseconds: as right as the offset of the two clocks.
    pub fn one_way_delay_ns(&self) -> i64 {
        let difference = i128::from(self.arrived_ns) - i128::from(self.t_ns);
        i64::try_from(difference).unwrap_or(i64::MAX)
    }

    /// From its departure to its return, in nanoseconds; none where it was not sent back.
    pub fn round_trip_ns(&self) -> Option<u64> {
        self.returned_ns?.checked_sub(self.t_ns)
    }
}
