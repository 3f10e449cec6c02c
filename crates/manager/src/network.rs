//! Networks: addresses that begin with the same bits, and who is behind which.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use units::{Dscp, TrafficClass};

/// An address and how many of its leading bits are those of its network.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    pub address: IpAddr,
    pub prefix: u8,
}

impl Network {
    /// The network of a single address.
    pub const fn host(address: IpAddr) -> Self {
        let prefix = if address.is_ipv4() { 32 } else { 128 };
        Self { address, prefix }
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let differing = bits(self.address) ^ bits(address);
        let outside = 128 - u32::from(self.prefix);
        address.is_ipv4() == self.address.is_ipv4()
            && differing.checked_shr(outside).unwrap_or(0) == 0
    }

    /// The first address of the network.
    pub fn first(&self) -> IpAddr {
        let host = u128::MAX.checked_shr(u32::from(self.prefix)).unwrap_or(0);
        address(bits(self.address) & !host, self.address.is_ipv4())
    }
}

/// The address's bits from the highest on, so that prefixes of both versions are compared alike.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()) << 96,
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn address(bits: u128, is_v4: bool) -> IpAddr {
    if is_v4 {
        // The lower 96 bits are not in use.
        let bits = u32::try_from(bits >> 96).unwrap_or_default();
        Ipv4Addr::from_bits(bits).into()
    } else {
        Ipv6Addr::from_bits(bits).into()
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("'{text}' is no network - write an address and a prefix, such as 10.99.0.0/24")
        };
        let (host, prefix) = match text.split_once('/') {
            Some((host, prefix)) => (host, Some(prefix.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let most = Self::host(host.parse().map_err(|_| wrong())?);
        let prefix = prefix.unwrap_or(most.prefix);
        let is_possible = prefix <= most.prefix;
        is_possible
            .then_some(Self { prefix, ..most })
            .ok_or_else(wrong)
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Which peer is behind which network.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// The longest prefixes first.
    networks: Vec<(Network, usize)>,
}

impl Routes {
    pub fn new(mut networks: Vec<(Network, usize)>) -> Self {
        networks.sort_by_key(|(network, _)| std::cmp::Reverse(network.prefix));
        Self { networks }
    }

    /// The peer behind the longest prefix that holds this address.
    pub fn find(&self, address: IpAddr) -> Option<usize> {
        let found = self
            .networks
            .iter()
            .find(|(network, _)| network.contains(address));
        found.map(|(_, peer)| *peer)
    }
}

/// From where to where a packet of IP goes; none for octets that are none.
pub(crate) fn ends(packet: &[u8]) -> Option<[IpAddr; 2]> {
    let v4 = |at: usize| packet.get(at..)?.first_chunk::<4>().map(|o| (*o).into());
    let v6 = |at: usize| packet.get(at..)?.first_chunk::<16>().map(|o| (*o).into());
    match packet.first()? >> 4 {
        4 => Some([v4(12)?, v4(16)?]),
        6 => Some([v6(8)?, v6(24)?]),
        _ => None,
    }
}

/// The class of a packet of IP; none for octets that are none.
pub(crate) fn class(packet: &[u8]) -> Option<Dscp> {
    let [first, second] = *packet.first_chunk()?;
    let octet = match first >> 4 {
        4 => second,
        6 => first << 4 | second >> 4,
        _ => return None,
    };
    Some(TrafficClass::from_octet(octet).dscp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_class_of_a_packet_is_where_its_version_has_it() {
        assert_eq!(class(&[0x45, 46 << 2 | 3, 0]), Some(Dscp::EF));
        let [high, low] = (0x6000_u16 | 46 << 6 | 0xf).to_be_bytes();
        assert_eq!(class(&[high, low]), Some(Dscp::EF));
        assert_eq!(class(&[0x45]), None);
        assert_eq!(class(&[0x55, 0]), None);
    }

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_holds_what_begins_like_it_and_nothing_of_the_other_version() {
        let small = network("10.99.0.128/25");
        assert!(small.contains("10.99.0.255".parse().unwrap()));
        assert!(!small.contains("10.99.0.127".parse().unwrap()));
        assert!(network("0.0.0.0/0").contains("1.2.3.4".parse().unwrap()));
        assert!(!network("0.0.0.0/0").contains("::1".parse().unwrap()));
        assert!(network("::/0").contains("fd99::1".parse().unwrap()));
        assert!(network("fd99::1").contains("fd99::1".parse().unwrap()));
        assert_eq!(
            network("10.99.7.3/16").first(),
            "10.99.0.0".parse::<IpAddr>().unwrap()
        );
        assert_eq!(network("fd99::1").to_string(), "fd99::1/128");
    }

    #[test]
    fn what_is_no_network_is_told_with_what_would_be_one() {
        for text in ["", "10.0.0.1/33", "10.0.0/8", "host/8", "::1/x", "::/129"] {
            let line = text.parse::<Network>().unwrap_err();
            assert!(line.ends_with("such as 10.99.0.0/24"), "{line}");
        }
    }

    #[test]
    fn the_longest_prefix_wins() {
        let routes = Routes::new(vec![
            (network("10.0.0.0/8"), 0),
            (network("10.99.0.0/16"), 1),
            (network("fd99::/64"), 2),
        ]);
        let find = |text: &str| routes.find(text.parse().unwrap());
        assert_eq!(find("10.99.3.4"), Some(1));
        assert_eq!(find("10.98.3.4"), Some(0));
        assert_eq!(find("fd99::7"), Some(2));
        assert_eq!(find("11.0.0.1"), None);
    }

    proptest! {
        #[test]
        fn any_octets_have_ends_or_not(octets in prop::collection::vec(any::<u8>(), 0..60)) {
            let least = if octets.first().is_some_and(|first| first >> 4 == 6) { 40 } else { 20 };
            prop_assert!(ends(&octets).is_none() || octets.len() >= least);
        }

        #[test]
        fn a_network_holds_its_first_address_and_itself(octets: [u8; 16], prefix in 0_u8..=128) {
            let network = Network { address: octets.into(), prefix };
            prop_assert!(network.contains(network.first()) && network.contains(network.address));
        }
    }
}
