//! The tables of an `mbm` record. Times `t_ns` count from the run's start on the client's clock.

use record::{Label, table};

table! {
    /// One packet of a test whose arrival was reported to the sender; of a long test the first ones.
    pub struct Arrival in "arrivals" {
        /// Which of `summary.tests`, from 0.
        test: u16,
        /// Its name.
        name: Label,
        /// Number of the packet in its stream.
        seq: u64,
        /// When it left.
        t_ns: u64 => "ns",
        /// When it arrived; as right as the offset of the two clocks.
        arrived_ns: u64 => "ns",
        /// From its departure to the arrival of the receiver's report of it.
        rtt_ns: u64 => "ns",
        /// Whether it arrived marked "congestion experienced" (RFC 3168).
        ce: bool,
    }
}
