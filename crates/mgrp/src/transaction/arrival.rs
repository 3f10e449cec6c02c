//! A probe at its receiver.

/// A probe that has come (T section 3.1.2).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Arrival {
    /// Which of the receiver's tools it is for.
    pub channel: u8,
    /// Octets of the whole packet, IP header included, whatever filled it.
    pub octets: u16,
    /// The number of its packet among all of its sender: gaps in it are not always lost probes, for applications' packets have
    /// numbers of the same kind.
    pub sequence: u64,
    /// When it left, in nanoseconds of the sender's clock; told whole as long as the two clocks are less than 39 hours apart.
    pub sent_ns: u64,
    /// When it came, in nanoseconds of the receiver's clock, by its kernel where that says.
    pub arrived_ns: u64,
    /// The tool's own octets.
    pub header: Vec<u8>,
}
