//! A capture in parts that know nothing of each other.
//!
//! No connection says anything of another, so connections may be found on several processors, each with an [`Extractor`](super::Extractor) of
//! its own. What comes of a capture must not depend on how many processors there were; therefore it is always cut into the same
//! [`SHARES`], by the addresses and ports of both ends, and it is these that processors share. The limits of
//! [`Options`] are shared evenly, [`Counters`] add up.

use super::{Counters, Options};
use capture::dissect::Endpoint;
use core::ops::AddAssign;

/// Parts of a capture.
pub const SHARES: usize = 16;

/// The part that packets between two ends belong to, below [`SHARES`]; the same both ways. Ports that follow each other are
/// spread evenly.
#[inline]
#[must_use]
pub fn share(one: Endpoint, other: Endpoint) -> usize {
    /// Of 2^64, the golden section (Knuth, volume 3, section 6.4).
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let end = |end: Endpoint| {
        let address = end.address[1] ^ end.address[0].rotate_left(24);
        address ^ u64::from(end.port) << 48 | u64::from(end.port)
    };
    let both = end(one).wrapping_add(end(other));
    ((both ^ both >> 32).wrapping_mul(GOLDEN) >> 48) as usize % SHARES
}

impl Options {
    /// The same for one of the [`SHARES`].
    #[must_use]
    pub const fn of_share(self) -> Self {
        Self {
            most_open: self.most_open.div_ceil(SHARES),
            ..self
        }
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        let Self {
            all,
            sequential,
            concurrent,
            complete,
            incomplete,
            one_way,
            no_data,
            late,
            refused,
            strange,
            udp,
        } = other;
        let pairs = [
            (&mut self.all, all),
            (&mut self.sequential, sequential),
            (&mut self.concurrent, concurrent),
            (&mut self.complete, complete),
            (&mut self.incomplete, incomplete),
            (&mut self.one_way, one_way),
            (&mut self.no_data, no_data),
            (&mut self.late, late),
            (&mut self.refused, refused),
            (&mut self.udp.all, udp.all),
            (&mut self.udp.exchange, udp.exchange),
            (&mut self.udp.isochronous, udp.isochronous),
            (&mut self.udp.one_way, udp.one_way),
            (&mut self.udp.no_data, udp.no_data),
            (&mut self.udp.refused, udp.refused),
        ];
        for (sum, more) in pairs {
            *sum += more;
        }
        self.strange += strange;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::SocketAddr;

    #[test]
    fn both_ways_are_one_share_and_ports_in_a_row_are_spread() {
        let end = |port| -> Endpoint { SocketAddr::from(([10, 0, 0, 1], port)).into() };
        let server = SocketAddr::from(([10, 2, 0, 1], 443)).into();
        for ports in [40_000..40_016_u16, 1_024..1_040, 65_520..65_535] {
            let mut connections = [0; SHARES];
            for port in ports {
                let place = share(end(port), server);
                assert_eq!(share(server, end(port)), place);
                connections[place] += 1;
            }
            assert!(
                connections.iter().all(|&count| count <= 3),
                "{connections:?}"
            );
        }
    }
}
