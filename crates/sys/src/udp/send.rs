//! Sending in batches.

use super::address::Address;
use super::receive::{EMPTY_VECTOR, empty_headers};
use super::{BATCH, Outgoing, Sent, UdpSocket, is_icmp_report};
use crate::Error;
use crate::control::Control;
use crate::datagram::octets;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

/// How often a send is repeated that failed because of ICMP errors, before the reason is taken to last.
const RETRIES: usize = 32;

impl UdpSocket {
    /// Sends the first [`BATCH`] datagrams of `batch` with one system call, without waiting.
    ///
    /// # Errors
    /// When the kernel refuses the first datagram: too long, no route, no such local address. A
    /// full buffer is no error, and neither is an ICMP error for an earlier datagram.
    pub fn send(&self, batch: &[Outgoing<'_>]) -> Result<Sent, Error> {
        let batch = &batch[..batch.len().min(BATCH)];
        // A pending ICMP report fails a try and is thereby cleared; where every datagram brings one, the next is there soon.
        let (mut result, mut tries) = (self.try_send(batch), 0);
        for _ in 0..RETRIES {
            let Err(error) = &result else { break };
            // Said twice of a length it is this host's interface that says it.
            let is_own = error.raw_os_error() == Some(libc::EMSGSIZE) && tries > 1;
            if is_own || !is_icmp_report(error) {
                break;
            }
            result = self.try_send(batch);
            tries += 1;
        }
        let number = |ids| self.sent.fetch_add(ids, Ordering::Relaxed);
        let failure = result.as_ref().err().and_then(io::Error::raw_os_error);
        match (result, failure) {
            (Ok(count), _) => {
                self.meter.add(0, octets(&batch[..count as usize]));
                Ok(Sent {
                    count: count as usize,
                    first_id: number(count),
                })
            }
            (Err(_), Some(libc::EAGAIN | libc::EINTR)) => Ok(Sent {
                count: 0,
                first_id: number(0),
            }),
            // The interface's queue dropped it, after the kernel had numbered it.
            (Err(_), Some(libc::ENOBUFS)) => Ok(Sent {
                count: 0,
                first_id: number(1),
            }),
            (Err(e), _) => Err(self.send_error(batch, e)),
        }
    }

    /// One try. A single datagram gets small arrays: clearing the large ones takes as long as a
    /// system call.
    fn try_send(&self, batch: &[Outgoing<'_>]) -> io::Result<u32> {
        match batch {
            [] => Ok(0),
            [_] => self.send_array::<1>(batch),
            _ => self.send_array::<BATCH>(batch),
        }
    }

    /// Sends at most the first `N` datagrams of `batch`.
    fn send_array<const N: usize>(&self, batch: &[Outgoing<'_>]) -> io::Result<u32> {
        let mut addresses = [Address::EMPTY; N];
        let mut controls = [Control::EMPTY; N];
        let mut vectors = [EMPTY_VECTOR; N];
        let mut headers = empty_headers::<N>();
        let mut count = 0;
        let names = addresses.iter_mut().zip(&mut controls);
        for (((header, vector), (address, control)), datagram) in
            headers.iter_mut().zip(&mut vectors).zip(names).zip(batch)
        {
            vector.iov_base = datagram.payload.as_ptr().cast_mut().cast();
            vector.iov_len = datagram.payload.len();
            self.mark(datagram, control);
            let header = &mut header.msg_hdr;
            if let Some(to) = datagram.to {
                *address = Address::new(to, self.v6);
                header.msg_name = address.as_bytes().as_ptr().cast_mut().cast();
                header.msg_namelen = address.length();
            }
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            header.msg_control = control.as_bytes().as_ptr().cast_mut().cast();
            header.msg_controllen = control.as_bytes().len() as _;
            count += 1;
        }
        #[expect(
            unsafe_code,
            reason = "rustix has no traffic class among its control messages"
        )]
        // SAFETY: the first `count` headers point to the payloads and to the
        // arrays above, with their true lengths; all outlive the call, which writes only to
        // `headers`. Every C library's header is laid out as the kernel's on machines that are little-endian.
        let sent = unsafe {
            // The function of the C library musl would send the datagrams one by one.
            libc::syscall(
                libc::SYS_sendmmsg,
                self.socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT,
            )
        };
        u32::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// Writes the class and the source address of `datagram` as control messages, in the form of
    /// the family that it travels in: an IPv4 datagram takes the IPv4 ones, on an IPv6 socket too.
    pub(super) fn mark(&self, datagram: &Outgoing<'_>, control: &mut Control) {
        let class = i32::from(datagram.class.octet()).to_ne_bytes();
        let peer = datagram
            .to
            .or(self.peer)
            .map(|peer| peer.ip().to_canonical());
        let v4 = peer.map_or(!self.v6, |ip| ip.is_ipv4());
        if v4 {
            control.push(libc::IPPROTO_IP, libc::IP_TOS, &class);
        } else {
            control.push(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &class);
        }
        match datagram.from.map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(from)) => {
                // struct in_pktinfo: interface index, local address, unused.
                let mut info = [0; 12];
                info[4..8].copy_from_slice(&from.octets());
                control.push(libc::IPPROTO_IP, libc::IP_PKTINFO, &info);
            }
            Some(IpAddr::V6(from)) => {
                // struct in6_pktinfo: local address, interface index.
                let mut info = [0; 20];
                info[..16].copy_from_slice(&from.octets());
                control.push(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info);
            }
            None => {}
        }
    }

    fn send_error(&self, batch: &[Outgoing<'_>], source: io::Error) -> Error {
        let peer = batch.first().and_then(|first| first.to).or(self.peer);
        let octets = batch.first().map_or(0, |first| first.payload.len());
        let to = peer.map_or_else(|| "nowhere".to_owned(), |peer| peer.to_string());
        let operation = format!("send {octets} octets to {to} from");
        self.error(&operation, source)
    }
}
