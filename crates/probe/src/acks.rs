//! How many octets the acknowledgements of TCP data take.
//!
//! While data goes one way acknowledgements go the other, and on a line whose directions differ they can be a good part
//! of the traffic: with full segments of 1,500 octets and one acknowledgement of 52 for every two of them, 1.7 %.
//!
//! Best is to count the segments without data ([`counted`]; `TCP_INFO` tells segments out and data segments out). Where
//! that cannot be had, [`modelled`] follows the rule of delayed acknowledgements: one for at least every second full-sized
//! segment (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2). A receiver that joins segments before TCP sees them (GRO)
//! acknowledges less often, so the model is rather too high; loss makes it too low, as each segment out of order is
//! acknowledged at once. An acknowledgement that travels with data costs nothing more and is not counted.

/// Octets of a TCP header with the timestamps option (RFC 7323), which Linux sends by default.
const TCP_HEADER: u64 = 20 + 12;
/// Octets of an IPv4 header without options.
const IPV4_HEADER: u64 = 20;
/// Octets of an IPv6 header.
const IPV6_HEADER: u64 = 40;
/// Full-sized segments that one delayed acknowledgement answers.
const SEGMENTS_PER_ACK: u64 = 2;

/// What the acknowledgements travel in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Encapsulation {
    /// IPv4: 52 octets each.
    Ipv4,
    /// IPv6: 72 octets each.
    Ipv6,
    /// IPv6 in IPv4 (6in4, RFC 4213): 92 octets each.
    Ipv6InIpv4,
}

impl Encapsulation {
    /// Octets of one acknowledgement, from the outer IP header on.
    pub const fn ack_octets(self) -> u64 {
        match self {
            Self::Ipv4 => IPV4_HEADER + TCP_HEADER,
            Self::Ipv6 => IPV6_HEADER + TCP_HEADER,
            Self::Ipv6InIpv4 => IPV4_HEADER + IPV6_HEADER + TCP_HEADER,
        }
    }
}

/// How a figure was come by.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Basis {
    /// From segments that were counted.
    Counted,
    /// From the octets of data, by the rule of delayed acknowledgements.
    Modelled,
}

/// Acknowledgement traffic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AckTraffic {
    /// Segments without data.
    pub segments: u64,
    /// Octets they take, from the outer IP header on.
    pub octets: u64,
    /// Whether this was counted or modelled.
    pub basis: Basis,
}

/// The acknowledgements that `bytes` of payload in segments of `mss` octets cause. `None` when `mss` is zero.
pub const fn modelled(bytes: u64, mss: u32, encapsulation: Encapsulation) -> Option<AckTraffic> {
    if mss == 0 {
        return None;
    }
    let segments = bytes.div_ceil(mss as u64).div_ceil(SEGMENTS_PER_ACK);
    Some(traffic(segments, encapsulation, Basis::Modelled))
}

/// The traffic of `segments` without data.
pub const fn counted(segments: u64, encapsulation: Encapsulation) -> AckTraffic {
    traffic(segments, encapsulation, Basis::Counted)
}

const fn traffic(segments: u64, encapsulation: Encapsulation, basis: Basis) -> AckTraffic {
    AckTraffic {
        segments,
        octets: segments.saturating_mul(encapsulation.ack_octets()),
        basis,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_second_segment_is_acknowledged() {
        let traffic = modelled(1_448 * 10, 1_448, Encapsulation::Ipv4).unwrap();
        assert_eq!((traffic.segments, traffic.octets), (5, 260));
        assert_eq!(traffic.basis, Basis::Modelled);
        let last_alone = modelled(1_448 * 10 + 1, 1_448, Encapsulation::Ipv4).unwrap();
        assert_eq!(
            last_alone.segments, 6,
            "the last is acknowledged in the end"
        );
        assert_eq!(modelled(0, 1_448, Encapsulation::Ipv6).unwrap().octets, 0);
        assert_eq!(modelled(1, 0, Encapsulation::Ipv6), None);
    }

    #[test]
    fn headers_are_those_of_the_encapsulation() {
        let octets = |encapsulation| counted(100, encapsulation).octets;
        assert_eq!(octets(Encapsulation::Ipv4), 5_200);
        assert_eq!(octets(Encapsulation::Ipv6), 7_200);
        assert_eq!(octets(Encapsulation::Ipv6InIpv4), 9_200);
        assert_eq!(counted(1, Encapsulation::Ipv4).basis, Basis::Counted);
    }

    /// 52 octets for two segments of 1,500 octets.
    #[test]
    fn a_full_stream_over_ipv4_costs_1_7_per_cent() {
        let bytes = 1_448_000_000;
        let wire = bytes / 1_448 * 1_500;
        let share =
            modelled(bytes, 1_448, Encapsulation::Ipv4).unwrap().octets as f64 / wire as f64;
        assert!((share - 52.0 / 3_000.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn more_data_never_costs_less(a in any::<u64>(), b in any::<u64>(), mss in 1_u32..) {
            let octets = |bytes| modelled(bytes, mss, Encapsulation::Ipv6).unwrap().octets;
            prop_assert!(octets(a.min(b)) <= octets(a.max(b)));
        }
    }
}
