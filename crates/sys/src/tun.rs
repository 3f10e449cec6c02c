//! A TUN device: an interface whose other end is this process.
//!
//! Packets that the kernel routes to the interface are read here, packets written here arrive from
//! it. The device is opened with a *virtio-net header* before each packet, so one call can carry
//! a burst of TCP segments: the kernel hands over the burst before cutting it into segments (as it
//! would hand it to a network card with segmentation offload), and takes one back as such a card
//! with receive offload would give it. Cutting and joining are the caller's business.

use crate::Error;
use rustix::fs::{Mode, OFlags};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Octets of the virtio-net header before each packet.
pub const VNET_HEADER: usize = 10;
/// Room for the header and the largest burst.
pub const MAX_READ: usize = VNET_HEADER + 65_535;

const PATH: &str = "/dev/net/tun";
/// `IFF_TUN | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL`: packets without further headers but the virtio-net one, and an interface of
/// this name that exists already is never joined.
const FLAGS: u16 = 0x0001 | 0x1000 | 0x4000 | 0x8000;
/// `TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6`: this end completes checksums and cuts bursts of TCP.
const OFFLOADS: libc::c_ulong = 0x01 | 0x02 | 0x04;

/// A TUN device in the network namespace of the thread that opened it; gone when dropped.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: String,
}

impl Tun {
    /// Makes an interface called `name` (at most 15 octets) in this thread's network namespace.
    ///
    /// Reads and writes do not block.
    ///
    /// # Errors
    ///
    /// [`Error::NoTun`] when the driver is missing or closed to this user; others when the name is taken or
    /// the namespace is not this process's.
    pub fn open(name: &str) -> Result<Self, Error> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open(PATH, flags, Mode::empty()).map_err(|e| no_tun(e.into()))?;
        attach(&fd, name).map_err(|e| refused(name, e))?;
        Ok(Self {
            fd,
            name: name.to_owned(),
        })
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads one virtio-net header and packet (or burst) into `buffer`, which should hold [`MAX_READ`].
    ///
    /// # Errors
    ///
    /// `WouldBlock` when none is waiting.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.fd, buffer)?)
    }

    /// Writes one virtio-net header and packet (or burst), given in pieces.
    ///
    /// # Errors
    ///
    /// `InvalidInput` and others when the kernel finds the packet or its header malformed.
    pub fn write(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(rustix::io::writev(&self.fd, pieces)?)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn refused(name: &str, source: io::Error) -> Error {
    let advice = match source.raw_os_error() {
        Some(libc::EBUSY) => {
            "an interface of this name exists: stop the program that made it, or choose another name"
        }
        Some(libc::EPERM) => "run as root, or with CAP_NET_ADMIN",
        _ => "",
    };
    Error::io("make TUN interface", name, source).advise(advice)
}

fn no_tun(source: io::Error) -> Error {
    let advice = match source.kind() {
        io::ErrorKind::PermissionDenied => {
            "it is closed to this user: run as root, or 'sudo chmod 666 /dev/net/tun' (as most distributions have it)"
        }
        _ => "load the driver with 'sudo modprobe tun' (in a container: --device /dev/net/tun)",
    };
    Error::NoTun { source, advice }
}

#[expect(unsafe_code, reason = "no library wraps these two ioctls")]
fn attach(fd: &OwnedFd, name: &str) -> io::Result<()> {
    // SAFETY: `ifreq` is a plain C struct of integers and byte arrays; all zeroes is a value of it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    request.ifr_ifru.ifru_flags = FLAGS.cast_signed();
    // SAFETY: `fd` is open, and `TUNSETIFF` reads and writes one `ifreq`, which `request` is.
    let made = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fd` is open, and `TUNSETOFFLOAD` takes its argument by value.
    let set = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, OFFLOADS) };
    if set < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iface;
    use crate::netns::Netns;
    use std::net::{IpAddr, UdpSocket};

    /// Needs a network namespace and the TUN driver, as the lab does.
    #[test]
    fn a_datagram_sent_to_the_interface_is_read_with_its_header() {
        let ns = Netns::create().unwrap();
        let packet = ns
            .run(|| {
                let tun = Tun::open("iso-test")?;
                let (here, there): (IpAddr, IpAddr) =
                    ([10, 77, 0, 1].into(), [10, 77, 0, 2].into());
                iface::up("iso-test", Some(1_500), None)?;
                iface::add_address("iso-test", here)?;
                iface::add_route("iso-test", there, here, None)?;
                let socket = UdpSocket::bind((here, 0)).unwrap();
                socket.send_to(b"depth", (there, 4890)).unwrap();
                let mut buffer = vec![0; MAX_READ];
                // The interface may speak first (router solicitations): look for IPv4.
                loop {
                    let length = tun.read(&mut buffer).unwrap();
                    if buffer[VNET_HEADER] >> 4 == 4 {
                        return Ok::<_, Error>(buffer[..length].to_vec());
                    }
                }
            })
            .unwrap();
        assert_eq!(packet.len(), VNET_HEADER + 20 + 8 + 5);
        assert!(packet.ends_with(b"depth"));
    }

    /// Holds btc/host-drops.
    #[test]
    fn what_nobody_takes_off_an_interface_is_dropped_and_counted() {
        let ns = Netns::create().unwrap();
        let (before, after, mapped, unknown) = ns
            .run(|| {
                let _tun = Tun::open("iso-test")?;
                let (here, there): (IpAddr, IpAddr) =
                    ([10, 77, 0, 1].into(), [10, 77, 0, 2].into());
                iface::up("iso-test", Some(1_500), Some(4))?;
                iface::add_address("iso-test", here)?;
                iface::add_route("iso-test", there, here, None)?;
                let before = iface::dropped(here)?;
                let socket = UdpSocket::bind((here, 0)).unwrap();
                for _ in 0..50 {
                    // What the queue before it does not take it tells of, or not.
                    let _ = socket.send_to(b"depth", (there, 4890));
                }
                let mapped = IpAddr::from([0, 0, 0, 0, 0, 0xffff, 0x0a4d, 1]);
                let after = iface::dropped(here)?;
                Ok::<_, Error>((
                    before,
                    after,
                    iface::dropped(mapped)?,
                    iface::dropped(there)?,
                ))
            })
            .unwrap();
        let dropped = after.unwrap() - before.unwrap();
        // Four wait to be read; the interface may have spoken itself (router solicitations).
        assert!((40..=50).contains(&dropped), "{dropped}");
        assert_eq!(unknown, None);
        assert_eq!(mapped, after);
    }

    #[test]
    fn a_name_that_is_taken_is_refused_and_free_again_once_it_is_dropped() {
        let ns = Netns::create().unwrap();
        let line = ns.run(|| {
            let first = Tun::open("iso-test")?;
            let line = Tun::open("iso-test").unwrap_err().to_string();
            drop(first);
            Tun::open("iso-test")?;
            Ok::<_, Error>(line)
        });
        let line = line.unwrap();
        assert!(line.ends_with("or choose another name"), "{line}");
    }

    #[test]
    fn a_name_too_long_is_refused() {
        let ns = Netns::create().unwrap();
        let result = ns.run(|| Tun::open("a-name-of-more-than-fifteen"));
        assert!(result.is_err());
    }
}
