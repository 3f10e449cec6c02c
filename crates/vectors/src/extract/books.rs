//! What was seen, and what became of it.

use core::ops::AddAssign;

/// Connections, their packets, and the octets of these from the IP header on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Count {
    /// Connections.
    pub connections: u64,
    /// Packets.
    pub packets: u64,
    /// Octets, IP headers included.
    pub bytes: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.connections += other.connections;
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Where every segment went. `all` is the sum of `sequential`, `concurrent`, the two discarded, `late` and `refused`, once
/// the capture has ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Books {
    /// Everything; its connections are those that ended.
    pub all: Count,
    /// Vectors in which the ends took turns.
    pub sequential: Count,
    /// Vectors in which they did not.
    pub concurrent: Count,
    /// Of all vectors, those of which SYN and FIN or RST were seen.
    pub complete: Count,
    /// Of all vectors, the others.
    pub incomplete: Count,
    /// Discarded: packets were seen in one direction only.
    pub one_way: Count,
    /// Discarded: packets of both directions, and none had data.
    pub no_data: Count,
    /// Packets after the end of their connection.
    pub late: Count,
    /// Packets of connections for which there was no room.
    pub refused: Count,
    /// Packets, also counted with their connection, whose numbers do not belong to it.
    pub strange: u64,
}
