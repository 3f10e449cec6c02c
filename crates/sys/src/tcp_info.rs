//! What TCP can know of a connection: the same figures on every system, though not every system tells all of them.

use std::time::Duration;
use units::Rate;

/// The state of a connection (RFC 9293 section 3.3.2), with the kernel's numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of the RFC")]
pub enum TcpState {
    Established,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Closed,
    CloseWait,
    LastAck,
    Listen,
    Closing,
}

impl TcpState {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "Linux tells them")
    )]
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Established,
            2 => Self::SynSent,
            // 12 is the kernel's second way to be there (TCP_NEW_SYN_RECV).
            3 | 12 => Self::SynReceived,
            4 => Self::FinWait1,
            5 => Self::FinWait2,
            6 => Self::TimeWait,
            7 => Self::Closed,
            8 => Self::CloseWait,
            9 => Self::LastAck,
            10 => Self::Listen,
            11 => Self::Closing,
            _ => return None,
        })
    }
}

/// What TCP knows of a connection. Counters run from its start; sizes are octets or, where said,
/// segments.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TcpInfo {
    /// The connection's state.
    pub state: Option<TcpState>,
    /// Smoothed round-trip time (RFC 6298), once measured.
    pub rtt: Option<Duration>,
    /// Its mean deviation.
    pub rttvar: Option<Duration>,
    /// Shortest round-trip time of the last minutes (`net.ipv4.tcp_min_rtt_wlen`), once measured.
    pub min_rtt: Option<Duration>,
    /// Round-trip time as the receiver estimates it, once measured.
    pub rcv_rtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Option<Duration>,

    /// Congestion window in segments.
    pub snd_cwnd: Option<u32>,
    /// Slow start threshold in segments; `None` also while none is set.
    pub ssthresh: Option<u32>,
    /// Segment size for sending.
    pub snd_mss: Option<u32>,
    /// Segment size that the peer seems to send.
    pub rcv_mss: Option<u32>,
    /// Path MTU.
    pub pmtu: Option<u32>,
    /// Window that the peer offers.
    pub snd_wnd: Option<u32>,
    /// Window offered to the peer.
    pub rcv_wnd: Option<u32>,

    /// Segments sent and not yet acknowledged.
    pub unacked: Option<u32>,
    /// Segments on the way for the second time.
    pub retrans: Option<u32>,
    /// Retransmitted segments.
    pub total_retrans: Option<u32>,
    /// Segments that are believed lost and not yet retransmitted or acknowledged.
    pub lost: Option<u32>,
    /// Segments by which reordering is tolerated.
    pub reordering: Option<u32>,
    /// Times that reordering was seen.
    pub reord_seen: Option<u32>,
    /// Duplicates that the peer reported (DSACK, RFC 2883).
    pub dsack_dups: Option<u32>,
    /// Segments that arrived out of order.
    pub rcv_ooopack: Option<u32>,

    /// Payload acknowledged by the peer, the SYN and the FIN counted as one octet each.
    pub bytes_acked: Option<u64>,
    /// Payload received in order, the FIN counted as one octet.
    pub bytes_received: Option<u64>,
    /// Payload sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Payload retransmitted.
    pub bytes_retrans: Option<u64>,
    /// Payload written by the program and not yet sent.
    pub notsent_bytes: Option<u32>,
    /// Segments received.
    pub segs_in: Option<u32>,
    /// Segments sent.
    pub segs_out: Option<u32>,
    /// Segments received that carried payload.
    pub data_segs_in: Option<u32>,
    /// Segments sent that carried payload.
    pub data_segs_out: Option<u32>,
    /// Segments that reached the peer.
    pub delivered: Option<u32>,
    /// Those of them that the peer acknowledged with an echo of congestion. The echo of RFC 3168 goes on until the sender has
    /// answered it, so this is all that arrived meanwhile and not the number of marks.
    pub delivered_ce: Option<u32>,
    /// Segments with payload that arrived marked "congestion experienced" (RFC 3168); since Linux 6.18.
    pub received_ce: Option<u32>,
    /// Whether both ends agreed on ECN (RFC 3168 section 6.1.1).
    pub ecn: Option<bool>,

    /// Rate at which data reached the peer lately, once measured.
    pub delivery_rate: Option<Rate>,
    /// Whether the program, not the path, limited `delivery_rate`.
    pub app_limited: Option<bool>,
    /// Rate at which TCP spaces its segments; `None` also while it does not.
    pub pacing_rate: Option<Rate>,
    /// Time during which something was on the way. This and the two that follow advance by ticks of
    /// the kernel: 1 to 10 ms.
    pub busy: Option<Duration>,
    /// Time during which the peer's window held sending back.
    pub rwnd_limited: Option<Duration>,
    /// Time during which this host's send buffer held sending back.
    pub sndbuf_limited: Option<Duration>,
}
