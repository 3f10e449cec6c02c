//! The table of a record.

use record::table;

table! {
    /// A connection that was opened, or not.
    pub(crate) struct Opened in "connections" {
        /// When its SYN left, from the run's start.
        t_ns: u64 => "ns",
        /// Its number, from 0.
        connection: u32,
        /// From its SYN to the other end's; null when it did not open.
        took_ns: Option<u64> => "ns",
    }
}
