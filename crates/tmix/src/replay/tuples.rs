//! Addresses and ports: by which the accepting end knows which vector a connection is.
//!
//! Nothing may be said on a connection that its vector does not say, so the initiator does not introduce itself: before it
//! connects it enters the connection's number under the pair of ports that it uses, and the acceptor looks there. Each
//! connection has its pair for itself until it is over, and some time after, as its last segments may still be on their way
//! (TIME-WAIT, RFC 9293 section 3.4.2).

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports from which connections are made: all that need no privilege, up to the first that is listened on.
const SOURCES: std::ops::Range<u16> = 1_024..64_000;
/// Most ports that are listened on, from the end of [`SOURCES`], but for one more of each share.
const MOST_LISTENERS: u32 = 256;
/// Under this number is nothing.
const NOBODY: u32 = u32::MAX;

/// The pairs of ports between an initiating and an accepting host.
pub struct Tuples {
    initiator: IpAddr,
    acceptor: IpAddr,
    /// The first port that is listened on.
    first: u16,
    owners: Vec<AtomicU32>,
}

impl Tuples {
    /// The most pairs that there can be.
    pub const MOST: u32 = MOST_LISTENERS * per_listener();

    /// So many pairs (at most [`Tuples::MOST`]) from `initiator` to `acceptor`.
    pub fn new(initiator: IpAddr, acceptor: IpAddr, count: u32) -> Self {
        let owners = (0..count.min(Self::MOST)).map(|_| AtomicU32::new(NOBODY));
        Self {
            initiator,
            acceptor,
            first: SOURCES.end,
            owners: owners.collect(),
        }
    }

    /// As [`Tuples::new`], in equal shares that have no port to listen on in common.
    pub fn shares(initiator: IpAddr, acceptor: IpAddr, count: u32, shares: u32) -> Vec<Self> {
        let each = count.div_ceil(shares.max(1));
        let ports = each.div_ceil(per_listener()).max(1);
        let share = |number| Self {
            first: SOURCES.end + u16::try_from(number * ports).unwrap_or(0),
            ..Self::new(initiator, acceptor, each)
        };
        (0..shares.max(1)).map(share).collect()
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.owners.len()).unwrap_or(u32::MAX)
    }

    /// The addresses to listen on.
    pub fn listeners(&self) -> impl Iterator<Item = SocketAddr> {
        let ports = self.count().div_ceil(per_listener());
        let ports = (self.first..).take(ports as usize);
        ports.map(|port| (self.acceptor, port).into())
    }

    /// The source and the destination of pair number `tuple`.
    pub fn addresses(&self, tuple: u32) -> [SocketAddr; 2] {
        let port = |from: u16, steps: u32| from + u16::try_from(steps).unwrap_or(0);
        let source = port(SOURCES.start, tuple % per_listener());
        let destination = port(self.first, tuple / per_listener());
        [
            (self.initiator, source).into(),
            (self.acceptor, destination).into(),
        ]
    }

    /// From now on pair `tuple` belongs to `connection`.
    pub fn give(&self, tuple: u32, connection: u32) {
        if let Some(owner) = self.owners.get(tuple as usize) {
            owner.store(connection, Ordering::Release);
        }
    }

    /// Whose the pair with these ports is.
    pub fn whose(&self, source: SocketAddr, destination: u16) -> Option<u32> {
        let source = source.port().checked_sub(SOURCES.start)?;
        let listener = destination.checked_sub(self.first)?;
        let tuple = u32::from(listener) * per_listener() + u32::from(source);
        let owner = self.owners.get(tuple as usize)?.load(Ordering::Acquire);
        (owner != NOBODY).then_some(owner)
    }
}

/// Pairs that one more port to listen on makes possible.
const fn per_listener() -> u32 {
    (SOURCES.end - SOURCES.start) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn tuples(count: u32) -> Tuples {
        let address = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        Tuples::new(address(1), address(2), count)
    }

    #[test]
    fn there_are_as_many_listeners_as_the_pairs_need() {
        let listeners = |count| tuples(count).listeners().count();
        assert_eq!(listeners(1), 1);
        assert_eq!(listeners(per_listener()), 1);
        assert_eq!(listeners(per_listener() + 1), 2);
        assert_eq!(tuples(u32::MAX).count(), Tuples::MOST);
    }

    #[test]
    fn a_pair_of_nobody_is_nobodys() {
        let tuples = tuples(3);
        let [source, destination] = tuples.addresses(2);
        assert_eq!(tuples.whose(source, destination.port()), None);
        assert_eq!(tuples.whose(source, 80), None);
    }

    #[test]
    fn shares_have_no_port_in_common() {
        let address = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        let shares = Tuples::shares(address(1), address(2), 300_000, 4);
        let count: u32 = shares.iter().map(Tuples::count).sum();
        assert_eq!(count, 300_000);
        let ports = shares.iter().flat_map(Tuples::listeners);
        let mut ports: Vec<_> = ports.map(|address| address.port()).collect();
        let all = ports.len();
        ports.dedup();
        assert_eq!((ports.len(), all), (8, 8));
        let [source, destination] = shares[3].addresses(70_000);
        shares[3].give(70_000, 5);
        assert_eq!(shares[3].whose(source, destination.port()), Some(5));
        assert_eq!(shares[0].whose(source, destination.port()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn the_acceptor_finds_who_was_entered(tuple in 0..Tuples::MOST, connection in 0_u32..1_000_000) {
            let tuples = tuples(Tuples::MOST);
            tuples.give(tuple, connection);
            let [source, destination] = tuples.addresses(tuple);
            prop_assert!(tuples.listeners().any(|listener| listener == destination));
            prop_assert_eq!(tuples.whose(source, destination.port()), Some(connection));
        }
    }
}
