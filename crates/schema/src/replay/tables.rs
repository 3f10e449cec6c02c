//! The tables of a `replay` record. Times count from the first planned start, on the client's clock.

use record::{Label, table};

table! {
    /// A connection: what it was to be, and what became of it. The two ends of a lab have the same clock; between two hosts the
    /// server's times are as right as the offset of the two clocks.
    pub struct Connection in "connections" {
        /// By which other tables name it: its place in the order of planned starts, from 0.
        connection: u64,
        /// When it was to be opened.
        planned_ns: u64 => "ns",
        /// When its initiator began to open it; null when it never did.
        started_ns: Option<u64> => "ns",
        /// When its initiator had it.
        established_ns: Option<u64> => "ns",
        /// When an end first gave an octet to its kernel.
        first_byte_ns: Option<u64> => "ns",
        /// When an end last took an octet from its kernel.
        last_byte_ns: Option<u64> => "ns",
        /// When both ends had closed, or were cut or broken.
        closed_ns: Option<u64> => "ns",
        /// The host that opened it: `client` or `server`.
        initiator: Label,
        /// The port that it was opened from, before any translator of addresses; null when it never was.
        source_port: Option<u16>,
        /// The port that it was opened to.
        destination_port: Option<u16>,
        /// Whether its ends took turns before a model changed that.
        sequential: bool,
        /// Round-trip time that was added for it.
        rtt_us: u32 => "us",
        /// The shortest round trip that its initiator's kernel saw (`tcpi_min_rtt`); null when it saw none.
        min_rtt_us: Option<u32> => "us",
        /// Octets that its initiator was to send.
        request_bytes: u64 => "bytes",
        /// Octets that its acceptor was to send.
        response_bytes: u64 => "bytes",
        /// Octets that its acceptor took.
        received_by_acceptor: u64 => "bytes",
        /// Octets that its initiator took.
        received_by_initiator: u64 => "bytes",
        /// Its epochs; 0 when its ends do not take turns.
        epochs: u32,
        /// What became of it: `complete`; `reset`; `refused` when it could not be made; `unfinished` when it was cut.
        end: Label,
        /// Segments that both ends sent again.
        retransmits: Option<u32> => "segments",
    }
}

table! {
    /// A flow of UDP: what it was to be, and what became of it.
    pub struct Flow in "flows" {
        /// Its place in the order of planned starts of connections and flows, from 0.
        flow: u64,
        /// When it was to begin.
        planned_ns: u64 => "ns",
        /// When its initiator began; null when nobody knows.
        started_ns: Option<u64> => "ns",
        /// When an end first gave a datagram to its kernel.
        first_sent_ns: Option<u64> => "ns",
        /// When an end last took a datagram from its kernel.
        last_heard_ns: Option<u64> => "ns",
        /// When both ends had said everything, and heard it or given it up.
        ended_ns: Option<u64> => "ns",
        /// The port of its initiator.
        source_port: u16,
        /// The port of its acceptor.
        destination_port: u16,
        /// Whether each end keeps its own time; the ends of an exchange take turns.
        isochronous: bool,
        /// Round-trip time that was added for it.
        rtt_us: u32 => "us",
        /// Octets that its initiator was to send.
        initiator_bytes: u64 => "bytes",
        /// Octets that its acceptor was to send.
        acceptor_bytes: u64 => "bytes",
        /// Octets that its acceptor took.
        received_by_acceptor: u64 => "bytes",
        /// Octets that its initiator took.
        received_by_initiator: u64 => "bytes",
        /// Datagrams that both ends gave to their kernels.
        datagrams_sent: u64 => "datagrams",
        /// Datagrams that both ends took from them.
        datagrams_received: u64 => "datagrams",
        /// The most that a datagram was sent after its time.
        late_us: u32 => "us",
        /// What became of it: `complete` when both ends said everything, and heard it or gave it up; `reset` when a socket
        /// failed; `refused` when there was none; `unfinished` when it was cut.
        end: Label,
    }
}

table! {
    /// A request that was answered.
    pub struct Epoch in "epochs" {
        /// Which connection, as `connections.connection`.
        connection: u64,
        /// Which of its epochs, from 0.
        epoch: u32,
        /// When the first octet of the request was given to the kernel.
        t_ns: u64 => "ns",
        /// Octets of the request.
        request_bytes: u64 => "bytes",
        /// Octets of the response.
        response_bytes: u64 => "bytes",
        /// From there until the last octet of the response was taken from the kernel.
        response_ms: f64 => "ms",
    }
}

table! {
    /// What arrived at the queue of one direction of the bottleneck in 100 us; bins without traffic are left out.
    pub struct Offered in "offered" {
        /// Start of the bin.
        t_ns: u64 => "ns",
        /// The link's name in the topology.
        link: Label,
        /// Which of its directions: `up` is from the first node in its name to the second.
        direction: Label,
        /// Packets that arrived.
        packets: u64 => "packets",
        /// Bytes that arrived, IP headers and the link's overhead included.
        bytes: u64 => "bytes",
    }
}

table! {
    /// One second, as a monitor on the link sees connections: by their SYN, FIN and RST.
    pub struct Active in "active" {
        /// Start of the second.
        t_ns: u64 => "ns",
        /// Segments with SYN and without ACK.
        syn: u32 => "segments",
        /// Segments with FIN.
        fin: u32 => "segments",
        /// Segments with RST.
        rst: u32 => "segments",
        /// Connections that were alive in any part of it: a SYN has been seen, and no FIN or RST before this second.
        connections: u32,
    }
}

table! {
    /// What a host took from its kernel in one second: data alone, without headers, and nothing twice.
    pub struct Goodput in "goodput" {
        /// Start of the second.
        t_ns: u64 => "ns",
        /// Which host: `client` or `server`.
        host: Label,
        /// Octets of data.
        bytes: u64 => "bytes",
    }
}
