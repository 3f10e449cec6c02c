//! What TCP has measured: `TCP_INFO`.
//!
//! The kernel's structure has grown at its end for twenty years. It is read as bytes, of which an
//! older kernel fills fewer: a field past the end is `None`, as is one whose value means "not
//! measured".

use super::{TcpInfo, TcpState, name};
use crate::{Error, sockopt};
use std::mem::offset_of;
use std::os::fd::AsFd;
use std::time::Duration;
use units::Rate;

/// Octets offered to the kernel: more than the structure has in Linux 6.18 (280).
const CAPACITY: usize = 512;
/// The bit of `tcpi_options` that says that both ends agreed on ECN (`TCPI_OPT_ECN`).
const OPTION_ECN: u8 = 8;
/// Where Linux 6.18 and newer have `tcpi_received_ce`, which `libc` does not know yet.
const RECEIVED_CE: usize = 248;
/// Where `tcpi_rcv_wnd` is: `libc` does not know it with every C library.
const RCV_WND: usize = offset_of!(libc::tcp_info, tcpi_snd_wnd) + 4;
/// A slow start threshold that has not been set (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Asks the kernel what it knows of a TCP connection.
///
/// # Errors
/// When the socket is not a TCP socket.
pub fn info(fd: &impl AsFd) -> Result<TcpInfo, Error> {
    let mut buffer = [0; CAPACITY];
    sockopt::get_bytes(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut buffer)
        .map(TcpInfo::parse)
        .map_err(|e| Error::io("read TCP_INFO of", name(fd), e))
}

/// The field of the kernel's structure, if the kernel filled it.
macro_rules! field {
    ($bytes:ident, $type:ty, $name:ident) => {
        number::<{ size_of::<$type>() }>($bytes, offset_of!(libc::tcp_info, $name))
            .map(<$type>::from_ne_bytes)
    };
}

impl TcpInfo {
    /// Reads the first octets of a `struct tcp_info`, as many as there are.
    fn parse(bytes: &[u8]) -> Self {
        let mut info = Self {
            state: field!(bytes, u8, tcpi_state).and_then(TcpState::from_number),
            snd_cwnd: field!(bytes, u32, tcpi_snd_cwnd),
            ssthresh: field!(bytes, u32, tcpi_snd_ssthresh).filter(|n| *n < INFINITE_SSTHRESH),
            snd_mss: field!(bytes, u32, tcpi_snd_mss),
            rcv_mss: field!(bytes, u32, tcpi_rcv_mss),
            pmtu: field!(bytes, u32, tcpi_pmtu),
            snd_wnd: field!(bytes, u32, tcpi_snd_wnd),
            rcv_wnd: number(bytes, RCV_WND).map(u32::from_ne_bytes),
            ecn: field!(bytes, u8, tcpi_options).map(|options| options & OPTION_ECN != 0),
            ..Self::default()
        };
        info.parse_times(bytes);
        info.parse_losses(bytes);
        info.parse_volumes(bytes);
        info
    }

    fn parse_times(&mut self, bytes: &[u8]) {
        let measured = |us: &u32| *us != 0 && *us != u32::MAX;
        let micros = |us: u32| Duration::from_micros(us.into());
        self.rtt = field!(bytes, u32, tcpi_rtt).filter(measured).map(micros);
        self.rttvar = field!(bytes, u32, tcpi_rttvar)
            .filter(|_| self.rtt.is_some())
            .map(micros);
        // Zero is a measurement here: the shortest time of a loopback connection.
        self.min_rtt = field!(bytes, u32, tcpi_min_rtt)
            .filter(|us| *us != u32::MAX)
            .map(micros);
        self.rcv_rtt = field!(bytes, u32, tcpi_rcv_rtt)
            .filter(measured)
            .map(micros);
        self.rto = field!(bytes, u32, tcpi_rto).filter(measured).map(micros);
        self.busy = field!(bytes, u64, tcpi_busy_time).map(Duration::from_micros);
        self.rwnd_limited = field!(bytes, u64, tcpi_rwnd_limited).map(Duration::from_micros);
        self.sndbuf_limited = field!(bytes, u64, tcpi_sndbuf_limited).map(Duration::from_micros);
    }

    fn parse_losses(&mut self, bytes: &[u8]) {
        self.unacked = field!(bytes, u32, tcpi_unacked);
        self.retrans = field!(bytes, u32, tcpi_retrans);
        self.total_retrans = field!(bytes, u32, tcpi_total_retrans);
        self.lost = field!(bytes, u32, tcpi_lost);
        self.reordering = field!(bytes, u32, tcpi_reordering);
        self.reord_seen = field!(bytes, u32, tcpi_reord_seen);
        self.dsack_dups = field!(bytes, u32, tcpi_dsack_dups);
        self.rcv_ooopack = field!(bytes, u32, tcpi_rcv_ooopack);
    }

    fn parse_volumes(&mut self, bytes: &[u8]) {
        self.bytes_acked = field!(bytes, u64, tcpi_bytes_acked);
        self.bytes_received = field!(bytes, u64, tcpi_bytes_received);
        self.bytes_sent = field!(bytes, u64, tcpi_bytes_sent);
        self.bytes_retrans = field!(bytes, u64, tcpi_bytes_retrans);
        self.notsent_bytes = field!(bytes, u32, tcpi_notsent_bytes);
        self.segs_in = field!(bytes, u32, tcpi_segs_in);
        self.segs_out = field!(bytes, u32, tcpi_segs_out);
        self.data_segs_in = field!(bytes, u32, tcpi_data_segs_in);
        self.data_segs_out = field!(bytes, u32, tcpi_data_segs_out);
        self.delivered = field!(bytes, u32, tcpi_delivered);
        self.delivered_ce = field!(bytes, u32, tcpi_delivered_ce);
        self.received_ce = number(bytes, RECEIVED_CE).map(u32::from_ne_bytes);
        self.delivery_rate = field!(bytes, u64, tcpi_delivery_rate).and_then(rate);
        self.pacing_rate = field!(bytes, u64, tcpi_pacing_rate).and_then(rate);
        // The lowest bit of the octet after the window scales, which C calls a bit field.
        self.app_limited = self.delivery_rate.and_then(|_| {
            let octet = offset_of!(libc::tcp_info, tcpi_snd_rcv_wscale) + 1;
            Some(bytes.get(octet)? & 1 == 1)
        });
    }
}

fn number<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset + N)?.try_into().ok()
}

/// Octets a second as a rate; the kernel writes all ones for "unlimited".
fn rate(octets: u64) -> Option<Rate> {
    if octets == u64::MAX {
        return None;
    }
    Rate::from_bps(octets.saturating_mul(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure in which octet `n` is `n`, so that a field tells where it was read.
    fn numbered() -> Vec<u8> {
        (0..=u8::MAX).chain(0..24).collect()
    }

    #[test]
    fn fields_are_read_where_the_kernel_writes_them() {
        // Offsets of include/uapi/linux/tcp.h, counted by hand.
        let info = TcpInfo::parse(&numbered());
        let word = |at: u8| Some(u32::from_ne_bytes([at, at + 1, at + 2, at + 3]));
        let long = |at: u8| Some(u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|n| at + n)));
        assert_eq!(info.snd_mss, word(16));
        assert_eq!(
            info.rtt.map(|rtt| rtt.as_micros()),
            word(68).map(u128::from)
        );
        assert_eq!(info.snd_cwnd, word(80));
        assert_eq!(info.total_retrans, word(100));
        assert_eq!(info.bytes_acked, long(120));
        assert_eq!(info.bytes_received, long(128));
        assert_eq!(info.segs_out, word(136));
        assert_eq!(
            info.min_rtt.map(|rtt| rtt.as_micros()),
            word(148).map(u128::from)
        );
        assert_eq!(info.bytes_sent, long(200));
        assert_eq!(info.snd_wnd, word(228));
        assert_eq!(info.rcv_wnd, word(232));
        assert_eq!(info.app_limited, Some(true));
        assert_eq!(info.delivered_ce, word(196));
        assert_eq!(info.received_ce, word(248));
        // Octet 5 is 5: no ECN.
        assert_eq!(info.ecn, Some(false));
        let mut agreed = numbered();
        agreed[5] |= OPTION_ECN;
        assert_eq!(TcpInfo::parse(&agreed).ecn, Some(true));
        assert_eq!(TcpInfo::parse(&agreed[..248]).received_ce, None);
    }

    #[test]
    fn fields_past_the_end_of_a_short_answer_are_none() {
        // Linux 3.7 wrote 104 octets: up to the total of retransmissions.
        let info = TcpInfo::parse(&numbered()[..104]);
        assert!(info.total_retrans.is_some() && info.rtt.is_some());
        assert_eq!((info.bytes_acked, info.min_rtt), (None, None));
        assert_eq!((info.delivery_rate, info.app_limited), (None, None));
        assert_eq!((info.rcv_wnd, info.busy), (None, None));
        assert_eq!(TcpInfo::parse(&numbered()[..103]).total_retrans, None);
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }

    #[test]
    fn what_the_kernel_has_not_measured_is_none() {
        let mut bytes = [0; 280];
        bytes[76..80].copy_from_slice(&INFINITE_SSTHRESH.to_ne_bytes());
        bytes[104..112].copy_from_slice(&u64::MAX.to_ne_bytes());
        bytes[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        let info = TcpInfo::parse(&bytes);
        assert_eq!((info.rtt, info.rttvar, info.min_rtt), (None, None, None));
        assert_eq!((info.ssthresh, info.pacing_rate), (None, None));
        assert_eq!(info.delivery_rate, None);
        assert_eq!(info.bytes_acked, Some(0));
    }
}
