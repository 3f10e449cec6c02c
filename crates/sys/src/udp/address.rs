//! Socket addresses as the kernel keeps them, read and written as bytes.
//!
//! An IPv4 peer of an IPv6 socket appears as an IPv4-mapped address (RFC 4291 section 2.5.5.2).
//! Nobody above this module sees one: it is mapped on the way in and on the way out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Octets in the larger form, `sockaddr_in6`.
const CAPACITY: usize = 28;
/// `AF_INET` and `AF_INET6` in the width of `sa_family_t`.
const INET: u16 = 2;
const INET6: u16 = 10;

/// A `sockaddr_in` or `sockaddr_in6`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(4))]
pub(super) struct Address {
    bytes: [u8; CAPACITY],
    length: u32,
}

impl Address {
    /// Room for any address.
    pub(super) const EMPTY: Self = Self {
        bytes: [0; CAPACITY],
        length: 0,
    };

    /// `address` in the form for an IPv6 socket (`v6`) or an IPv4 socket.
    pub(super) fn new(address: SocketAddr, v6: bool) -> Self {
        match address {
            SocketAddr::V4(v4) if v6 => {
                Self::inet6(SocketAddrV6::new(v4.ip().to_ipv6_mapped(), v4.port(), 0, 0))
            }
            SocketAddr::V4(v4) => Self::inet(v4),
            SocketAddr::V6(v6) => Self::inet6(v6),
        }
    }

    fn inet(address: SocketAddrV4) -> Self {
        let mut new = Self::EMPTY;
        new.bytes[..2].copy_from_slice(&INET.to_ne_bytes());
        new.bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        new.bytes[4..8].copy_from_slice(&address.ip().octets());
        new.length = 16;
        new
    }

    fn inet6(address: SocketAddrV6) -> Self {
        let mut new = Self::EMPTY;
        new.bytes[..2].copy_from_slice(&INET6.to_ne_bytes());
        new.bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        new.bytes[8..24].copy_from_slice(&address.ip().octets());
        new.bytes[24..].copy_from_slice(&address.scope_id().to_ne_bytes());
        new.length = 28;
        new
    }

    /// The address as it is.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }

    /// Octets in the address.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// The whole buffer, for the kernel to write to.
    pub(super) fn buffer(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The address in the buffer; `None` for other families.
    pub(super) fn get(&self) -> Option<SocketAddr> {
        parse(&self.bytes)
    }
}

/// Reads a `sockaddr_in` or `sockaddr_in6`; `None` for other families and short ones.
pub(super) fn parse(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(part(bytes, 0)?);
    let port = u16::from_be_bytes(part(bytes, 2)?);
    match family {
        INET => Some((Ipv4Addr::from_octets(part(bytes, 4)?), port).into()),
        INET6 => {
            let scope = u32::from_ne_bytes(part(bytes, 24)?);
            let ip = Ipv6Addr::from_octets(part(bytes, 8)?);
            Some(match IpAddr::V6(ip).to_canonical() {
                IpAddr::V4(v4) => (v4, port).into(),
                IpAddr::V6(v6) => SocketAddrV6::new(v6, port, 0, scope).into(),
            })
        }
        _ => None,
    }
}

fn part<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_both_forms() {
        for text in ["10.1.2.3:4890", "[2001:db8::7]:53", "[fe80::1%3]:9"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(Address::new(address, true).get(), Some(address), "{text}");
        }
        let v4: SocketAddr = "10.1.2.3:4890".parse().unwrap();
        assert_eq!(Address::new(v4, false).get(), Some(v4));
        assert_eq!(Address::new(v4, false).as_bytes().len(), 16);
        assert_eq!(Address::new(v4, true).as_bytes().len(), 28);
    }

    #[test]
    fn the_form_is_that_of_the_system() {
        assert_eq!(i32::from(INET), libc::AF_INET);
        assert_eq!(i32::from(INET6), libc::AF_INET6);
        let address: SocketAddr = "[fe80::1%3]:9".parse().unwrap();
        let system = socket2::SockAddr::from(address);
        let ours = Address::new(address, true);
        assert_eq!(ours.as_bytes().len(), system.len() as usize);
        let again = parse(ours.as_bytes()).map(socket2::SockAddr::from);
        assert_eq!(again, Some(system));
    }

    #[test]
    fn other_families_and_short_addresses_are_none() {
        assert_eq!(Address::EMPTY.get(), None);
        assert_eq!(
            parse(&Address::new("1.2.3.4:5".parse().unwrap(), false).as_bytes()[..7]),
            None
        );
        assert_eq!(parse(&[]), None);
    }
}
