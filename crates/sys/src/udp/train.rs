//! Sending many datagrams that are alike as one train, which the kernel cuts (`UDP_SEGMENT`, udp(7)), and receiving them as one (`UDP_GRO`).
//!
//! A datagram costs the kernel about as much as a train of forty: routing, queueing and handing over are done once. What
//! leaves the host is the same, octet for octet. There are no stamps of single departures, so probes are sent by
//! [`UdpSocket::send`].

use super::address::Address;
use super::receive::{EMPTY_VECTOR, empty_headers};
use super::{BATCH, Outgoing, UdpSocket};
use crate::Error;
use crate::control::Control;
use crate::datagram::octets;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

/// Octets of UDP payload in an IP packet of the greatest length, with room for options.
const MOST_OCTETS: usize = 65_000;
/// A datagram longer than this is not worth a train, and its length may not fit the kernel's field.
const LONGEST: usize = 32_000;

impl UdpSocket {
    /// Has the kernel hand over what came as a train, or close together and alike, in one piece ([`crate::udp::Datagram::train`]) of up to
    /// 64 KiB. All of it has one stamp, so it is nothing for probes.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn receive_trains(&self) -> Result<(), Error> {
        crate::sockopt::set_int(&self.socket, libc::SOL_UDP, libc::UDP_GRO, 1)
            .map_err(|e| self.error("receive trains at", e))
    }

    /// Whether trains are sent as such: until the kernel has refused to cut one.
    pub fn sends_trains(&self) -> bool {
        !self.no_trains.load(Ordering::Relaxed)
    }

    /// Sends the datagrams at the start of `batch` that are alike (destination, source, class and length; the last may be
    /// shorter) with one system call, without waiting, and returns how many the kernel has taken. Where it does not cut
    /// trains, as many as [`UdpSocket::send`] would.
    ///
    /// # Errors
    /// As [`UdpSocket::send`].
    pub fn send_train(&self, batch: &[Outgoing<'_>]) -> Result<usize, Error> {
        let train = &batch[..alike(batch)];
        if train.len() > 1 && !self.no_trains.load(Ordering::Relaxed) {
            match self.try_train(train) {
                Ok(()) => {
                    self.meter.add(0, octets(train));
                    return Ok(train.len());
                }
                Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(0),
                // Too long, unreachable, an ICMP report, or a device that cannot: single datagrams say which.
                Err(error) => {
                    let count = self.send(batch)?.count;
                    let cannot = is_unable(&error) && count > 0;
                    self.no_trains.fetch_or(cannot, Ordering::Relaxed);
                    return Ok(count);
                }
            }
        }
        Ok(self.send(batch)?.count)
    }

    fn try_train(&self, train: &[Outgoing<'_>]) -> io::Result<()> {
        let Some(first) = train.first() else {
            return Ok(());
        };
        let address = first.to.map(|to| Address::new(to, self.v6));
        let mut control = Control::EMPTY;
        let mut vectors = [EMPTY_VECTOR; BATCH];
        for (vector, datagram) in vectors.iter_mut().zip(train) {
            vector.iov_base = datagram.payload.as_ptr().cast_mut().cast();
            vector.iov_len = datagram.payload.len();
        }
        self.mark(first, &mut control);
        let length = u16::try_from(first.payload.len()).unwrap_or(u16::MAX);
        control.push(libc::SOL_UDP, libc::UDP_SEGMENT, &length.to_ne_bytes());
        let [header] = &mut empty_headers::<1>();
        let header = &mut header.msg_hdr;
        if let Some(address) = &address {
            header.msg_name = address.as_bytes().as_ptr().cast_mut().cast();
            header.msg_namelen = address.length();
        }
        header.msg_iov = vectors.as_mut_ptr();
        header.msg_iovlen = train.len().min(BATCH) as _;
        header.msg_control = control.as_bytes().as_ptr().cast_mut().cast();
        header.msg_controllen = control.as_bytes().len() as _;
        #[expect(
            unsafe_code,
            reason = "rustix has no UDP_SEGMENT among its control messages"
        )]
        // SAFETY: the header points to the payloads, the address and the control messages with their true lengths; all
        // outlive the call, which writes to none of them.
        let sent = unsafe { libc::sendmsg(self.socket.as_raw_fd(), header, libc::MSG_DONTWAIT) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// How many datagrams at the start of `batch` make a train.
fn alike(batch: &[Outgoing<'_>]) -> usize {
    let Some(first) = batch.first() else { return 0 };
    let length = first.payload.len();
    if length == 0 || length > LONGEST {
        return 1;
    }
    let most = (MOST_OCTETS / length).min(BATCH);
    let is_like = |other: &&Outgoing<'_>| {
        (other.to, other.from, other.class) == (first.to, first.from, first.class)
    };
    let like = batch.iter().take(most).take_while(is_like);
    let mut count = 0;
    for datagram in like {
        if datagram.payload.len() > length || datagram.payload.is_empty() {
            break;
        }
        count += 1;
        if datagram.payload.len() < length {
            break;
        }
    }
    count
}

/// Whether `error` says that trains cannot be sent this way at all.
fn is_unable(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EIO | libc::EINVAL | libc::EOPNOTSUPP | libc::ENOPROTOOPT)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::RecvBatch;
    use std::time::Duration;
    use units::TrafficClass;

    fn out(payload: &[u8]) -> Outgoing<'_> {
        Outgoing {
            payload,
            to: None,
            from: None,
            class: TrafficClass::default(),
        }
    }

    #[test]
    fn a_train_is_of_equals_and_a_shorter_last() {
        let (long, short, huge) = ([0; 100], [0; 40], vec![0; 40_000]);
        let lengths =
            |all: &[&[u8]]| alike(&all.iter().map(|octets| out(octets)).collect::<Vec<_>>());
        assert_eq!(lengths(&[]), 0);
        assert_eq!(lengths(&[&long, &long, &long]), 3);
        assert_eq!(lengths(&[&long, &long, &short, &short]), 3);
        assert_eq!(lengths(&[&short, &long]), 1);
        assert_eq!(lengths(&[&long, &[], &long]), 1);
        assert_eq!(lengths(&[&huge, &huge]), 1);
        assert_eq!(lengths(&[&long[..]; 200]), BATCH);
        let full: &[u8] = &[0; 1_472];
        assert_eq!(lengths(&[full; 60]), 44);
        let marked = Outgoing {
            class: TrafficClass::from_octet(3),
            ..out(&long)
        };
        assert_eq!(alike(&[out(&long), marked]), 1);
    }

    #[test]
    fn a_train_arrives_in_one_piece_where_that_is_wanted() {
        let receiver = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        receiver.receive_trains().unwrap();
        let mut sender = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        let payloads: Vec<Vec<u8>> = (0..20)
            .map(|n| vec![n; if n == 19 { 10 } else { 1_200 }])
            .collect();
        let batch: Vec<_> = payloads.iter().map(|p| out(p)).collect();
        assert_eq!(sender.send_train(&batch).unwrap(), 20);
        let mut into = RecvBatch::new(4, 65_535);
        let (mut octets, mut pieces) = (Vec::new(), 0);
        while octets.len() < 19 * 1_200 + 10 {
            assert!(receiver.wait(Duration::from_secs(2)).unwrap().datagram);
            receiver.recv(&mut into).unwrap();
            for piece in into.iter() {
                assert!(!piece.is_truncated());
                assert_eq!(
                    piece.train.unwrap_or(piece.length).min(1_200),
                    1_200.min(piece.length)
                );
                octets.extend_from_slice(piece.payload);
                pieces += 1;
            }
        }
        assert_eq!(octets, payloads.concat());
        assert!(pieces < 20, "{pieces}");
    }

    #[test]
    fn a_train_arrives_as_its_datagrams_with_their_class() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(host.parse().unwrap()) else {
                continue;
            };
            let mut sender = UdpSocket::bind(host.parse().unwrap()).unwrap();
            sender.connect(receiver.local_addr().unwrap()).unwrap();
            let class = TrafficClass::from_octet(0xb9);
            let payloads: Vec<Vec<u8>> = (0..9)
                .map(|n| vec![n; if n == 8 { 10 } else { 700 }])
                .collect();
            let batch: Vec<_> = payloads
                .iter()
                .map(|p| Outgoing { class, ..out(p) })
                .collect();
            assert_eq!(sender.send_train(&batch).unwrap(), 9);
            let mut into = RecvBatch::new(BATCH, 1_500);
            let mut got = Vec::new();
            while got.len() < 9 && receiver.wait(Duration::from_secs(2)).unwrap().datagram {
                receiver.recv(&mut into).unwrap();
                got.extend(into.iter().map(|d| (d.payload.to_vec(), d.class)));
            }
            let sent: Vec<_> = payloads.into_iter().map(|p| (p, Some(class))).collect();
            assert_eq!(got, sent);
        }
    }
}
