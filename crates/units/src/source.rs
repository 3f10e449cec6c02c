//! Who counts as one, where strangers are counted.

use std::net::{IpAddr, Ipv6Addr};

/// Who sends from `address`: an IPv4 address, also where it is mapped into IPv6, or the /64 that one IPv6 host has to itself (RFC 4291
/// section 2.5.1).
pub fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (!0 << 64))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_is_one_source_whichever_address_it_uses() {
        let of = |text: &str| source(text.parse().unwrap());
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8:0:1::1"), of("2001:db8::1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
