//! Why a packet is neither TCP nor UDP.

use core::fmt;

/// Why a packet is neither.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reason {
    /// On a kind of link that is not known here (`LINKTYPE_` of the registry of the tcpdump group).
    Link(u16),
    /// An `EtherType` that is neither IP nor leads to it.
    EtherType(u16),
    /// The service access point of a frame of IEEE 802.2 that does not lead to IP.
    Llc(u8),
    /// A protocol of PPP that does not lead to IP.
    Ppp(u16),
    /// Labels of MPLS, and behind them nothing that looks like IP or Ethernet.
    Mpls,
    /// What should be IP has another version.
    Version(u8),
    /// A protocol of IP that is neither TCP nor UDP nor leads to them: ICMP, ESP.
    Protocol(u8),
    /// GRE of this protocol in a form that is not known here, or with nothing within.
    Gre(u16),
    /// More headers within each other than are looked at.
    Deep,
    /// A fragment that is not the first.
    Fragment,
    /// So little was kept that a header is missing.
    Cut,
    /// Lengths that contradict each other.
    Malformed,
}

impl Reason {
    /// Whether there may be TCP or UDP within that was not read. What hosts, routers and bridges say to each other (ARP, ICMP,
    /// spanning trees) has none; nor has what is broken.
    pub const fn may_hide(self) -> bool {
        match self {
            Self::Link(_) | Self::Mpls | Self::Deep => true,
            Self::EtherType(kind) => !control_frame(kind),
            // Keep-alives, and acknowledgements of PPTP.
            Self::Gre(kind) => !matches!(kind, 0 | 0x880b),
            // Spanning trees, routing of ISO, NetBIOS, IPX.
            Self::Llc(point) => !matches!(point, 0x42 | 0xe0 | 0xf0 | 0xfe | 0xff),
            // From 0x4000 on they control the link and its networks (RFC 1661 section 2).
            Self::Ppp(kind) => kind < 0x4000,
            Self::Protocol(number) => tunnel(number).is_some(),
            Self::Version(_) | Self::Fragment | Self::Cut | Self::Malformed => false,
        }
    }
}

/// ARP, Wake-on-LAN, RARP, slow protocols, `PPPoE` discovery, 802.1X, LLDP, PTP, connectivity faults, loops; ATA and others.
const fn control_frame(kind: u16) -> bool {
    matches!(
        kind,
        0x0806
            | 0x0842
            | 0x2000
            | 0x8035
            | 0x8809
            | 0x8863
            | 0x888e
            | 0x88cc
            | 0x88f7
            | 0x8902
            | 0x9000
    )
}

/// Protocols of IP that have other packets within.
const fn tunnel(number: u8) -> Option<&'static str> {
    Some(match number {
        4 => "IPv4 in IP",
        41 => "IPv6 in IP",
        47 => "GRE",
        50 => "ESP",
        51 => "AH",
        55 => "MOBILE",
        94 => "IPIP",
        97 => "EtherIP",
        98 => "ENCAP",
        108 => "IPComp",
        115 => "L2TP",
        137 => "MPLS in IP",
        _ => return None,
    })
}

/// What it is, in few words.
impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Link(number) => write!(formatter, "link type {number}"),
            Self::EtherType(0x88e5) => formatter.write_str("MACsec (EtherType 0x88e5)"),
            Self::EtherType(kind) => write!(formatter, "EtherType {kind:#06x}"),
            Self::Llc(point) => write!(formatter, "LLC {point:#04x}"),
            Self::Ppp(0x00fd) => formatter.write_str("compressed PPP"),
            Self::Ppp(kind) => write!(formatter, "PPP {kind:#06x}"),
            Self::Mpls => formatter.write_str("MPLS of unknown payload"),
            Self::Version(version) => write!(formatter, "IP version {version}"),
            Self::Protocol(number) => match tunnel(number) {
                Some(name) => write!(formatter, "{name} (IP protocol {number})"),
                None => write!(formatter, "IP protocol {number}"),
            },
            Self::Gre(kind) => write!(formatter, "GRE of {kind:#06x}"),
            Self::Deep => formatter.write_str("too many headers"),
            Self::Fragment => formatter.write_str("fragment"),
            Self::Cut => formatter.write_str("cut"),
            Self::Malformed => formatter.write_str("malformed"),
        }
    }
}
