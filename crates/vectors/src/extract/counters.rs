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

impl Count {
    /// A packet of no connection.
    pub(super) fn packet(octets: u32) -> Self {
        Self {
            connections: 0,
            packets: 1,
            bytes: octets.into(),
        }
    }
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
pub struct Counters {
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
    /// Datagrams of UDP, which are in none of the above.
    pub udp: UdpCounters,
}

/// Where every datagram went, in flows as connections. `all` is the sum of `exchange`, `isochronous`, `no_data` and `refused`,
/// once the capture has ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct UdpCounters {
    /// Everything; its flows are those that ended.
    pub all: Count,
    /// Vectors of requests and responses.
    pub exchange: Count,
    /// Vectors whose ends sent on clocks of their own.
    pub isochronous: Count,
    /// Of these, those of which only one end was seen.
    pub one_way: Count,
    /// Discarded: no datagram had data.
    pub no_data: Count,
    /// Datagrams of flows for which there was no room.
    pub refused: Count,
}
