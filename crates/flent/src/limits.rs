//! How much of a foreign file is taken in.

/// What a file may hold at most. The defaults let in half a day of Flent's `rrul` at its usual step, or ten minutes of
/// ours with a round trip every millisecond in six streams, and keep the memory that a file can ask for to about a
/// gigabyte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Octets after unpacking. A gzip stream can unpack to a thousand times its size.
    pub unpacked_bytes: u64,
    /// Series, in `results` and `raw_values` each. `tcp_upload_1000` has about a thousand.
    pub series: usize,
    /// Numbers in `x_values`, `results` and `raw_values` together, of 16 octets each in memory.
    pub numbers: usize,
    /// Octets that the metadata takes in memory; a kernel's whole list of settings takes 20 kB.
    pub metadata_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unpacked_bytes: 512 << 20,
            series: 4_096,
            numbers: 32 << 20,
            metadata_bytes: 64 << 20,
        }
    }
}
