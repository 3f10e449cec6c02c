//! The tables of a `btc` record. Times `t_ns` count from the run's start on the client's clock.

use record::{Label, table};

table! {
    /// One transfer: who carried it, how far it came, and what it met.
    pub struct Transfer in "transfers" {
        /// Its number in the run, from 0; other tables name it so.
        transfer: u16,
        /// What carried it: `ours`, `kernel` (its TCP) or `icmp` (ours, towards a host that does not cooperate).
        tool: Label,
        /// Which repetition of the run it belongs to, from 0.
        repeat: u32,
        /// Where its data went: `up` or `down`.
        direction: Label,
        /// When its first segment was sent.
        start_ns: u64 => "ns",
        /// From the first segment's departure to the last acknowledgement; null when nothing was acknowledged.
        seconds: Option<f64> => "s",
        /// When that last acknowledgement came, or its time was over; null when nothing was acknowledged.
        end_ns: Option<u64> => "ns",
        /// Segments acknowledged in order.
        segments: u64 => "segments",
        /// Octets of payload acknowledged in order.
        bytes: u64 => "bytes",
        /// `bytes` over `seconds`; null when nothing was acknowledged, the receiver lied, or ICMP
        /// errors are limited.
        throughput_mbps: Option<f64> => "Mbit/s",
        /// Packets with payload that left the sender, copies among them.
        sent_packets: u64 => "packets",
        /// Those of them that were copies of segments sent before.
        retransmits: u64 => "packets",
        /// Those of them that never reached the receiver: in a lab what its links dropped on their way, elsewhere by the counters of both ends; where the receiver's are missing, `retransmits`.
        lost: u64 => "packets",
        /// `lost` as a share of `sent_packets`; null when none was sent.
        loss_pct: Option<f64> => "pct",
        /// Packets that arrived after one that had left later (RFC 4737 section 3.3); null for the kernel's TCP, which does not tell, as in the five that follow.
        reordered: Option<u64> => "packets",
        /// Packets that brought a segment which had arrived before.
        duplicates: Option<u64> => "packets",
        /// Retransmission timeouts.
        timeouts: Option<u64>,
        /// Fast recoveries.
        recoveries: Option<u64>,
        /// Packets that arrived marked "congestion experienced" (RFC 3168).
        marked: Option<u64> => "packets",
        /// Acknowledgements that no honest receiver sends.
        violations: Option<u64>,
        /// Congestion control: `reno`, `cubic`.
        cc: Label,
        /// How it ended: `complete`, `time` (its duration was over), `limited` (ICMP errors are limited by whoever
        /// sends them), `stalled` (nothing came back any more), `lied` (the
        /// receiver acknowledged what it cannot have) or `failed`.
        outcome: Label,
        /// Why, in words, where that is not plain.
        reason: Option<String>,
        /// Those of `reordered` that at least three packets sent later had overtaken: enough for TCP's fast retransmit (RFC 5681 section 3.2);
        /// null where it is not known, as in the five that follow.
        reordered_by_3: Option<u64> => "packets",
        /// Most packets that overtook one, as far as 1,024 are remembered.
        most_overtaking: Option<u32> => "packets",
        /// Fast recoveries that sent more than one packet again.
        multiple_losses: Option<u64>,
        /// Timeouts at which a whole window was out and nothing of it had arrived (RFC 3148 section 3.2.2).
        lost_windows: Option<u64>,
        /// Most segments that were out at a time, from the oldest unacknowledged: the buffers that a TCP needs for the same.
        largest_flight: Option<u32> => "segments",
        /// Packets, whoever's they were, that the sending host's own interface dropped meanwhile (`tx_dropped` of Linux).
        interface_dropped: Option<u64> => "packets",
    }
}

table! {
    /// The sender's window at one moment: of ours at every change, at most one a millisecond and at every cut; of the kernel's
    /// every 10 ms.
    pub struct WindowRow in "windows" {
        /// When.
        t_ns: u64 => "ns",
        /// Which transfer.
        transfer: u16,
        /// Congestion window.
        cwnd: f64 => "segments",
        /// Slow-start threshold; null while it is as high as it can be.
        ssthresh: Option<f64> => "segments",
        /// Segments that are held to be in the network.
        flight: u32 => "segments",
        /// The receiver's window.
        window: u32 => "segments",
        /// Smoothed round trip (RFC 6298); null before the first.
        srtt_ns: Option<u64> => "ns",
        /// Retransmission timeout, backed off as it was.
        rto_ns: u64 => "ns",
        /// What the sender did: `slow-start`, `avoidance`, `recovery` (fast) or `loss` (after a timeout).
        state: Label,
    }
}

table! {
    /// One round trip, as the sender's machine took it: the time that the receiver held an acknowledgement back is taken out.
    pub struct RoundTrip in "round_trips" {
        /// When the acknowledgement came.
        t_ns: u64 => "ns",
        /// Which transfer.
        transfer: u16,
        /// How long it took.
        rtt_ns: u64 => "ns",
    }
}

table! {
    /// Something that happened to a sender.
    pub struct EventRow in "events" {
        /// When.
        t_ns: u64 => "ns",
        /// Which transfer.
        transfer: u16,
        /// What: the window was cut (`cut-loss`, `cut-mark`, `cut-timeout`), a cut was taken back (`undone`), a recovery
        /// ended (`recovered`), or an acknowledgement was refused (`violation`).
        what: Label,
        /// Congestion window before a cut.
        from_segments: Option<f64> => "segments",
        /// Congestion window after it.
        to_segments: Option<f64> => "segments",
    }
}

table! {
    /// One datagram, as it passed an end.
    pub struct SegmentRow in "segments" {
        /// When it left or arrived; by the kernel's stamp where there is one.
        t_ns: u64 => "ns",
        /// Which transfer.
        transfer: u16,
        /// Which end saw it: `sender` or `receiver`.
        end: Label,
        /// What it was: `data`, `ack`, `probe` (of the window) or `icmp` (an error that acknowledges one packet).
        kind: Label,
        /// Number of its segment, from 0; of an acknowledgement, that of the segment that caused it where that is known.
        seq: u64 => "segments",
        /// The packet's identifier; in an acknowledgement, that of the packet that caused it.
        id: u64,
        /// How often the segment had passed this end before.
        copy: u32,
        /// Octets of payload.
        len: u32 => "bytes",
        /// Number that the receiver expects next; null for data.
        ack: Option<u64> => "segments",
        /// What has arrived beyond it, as `10-12 15-16`: first and last number of each block.
        sack: String,
        /// Segments that the receiver has room for; null for data.
        window: Option<u32> => "segments",
        /// ECN field of the IP header as it left or arrived.
        ecn: u8,
    }
}
