//! The way that packets of a session take to a peer.

use mgrp::envelope::Carrier;
use std::net::SocketAddr;

/// By what packets go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Way {
    /// Right behind IP's header.
    Raw,
    /// By UDP, with the reason where this was not what the file says.
    Udp(Option<String>),
}

impl Way {
    pub(crate) fn carrier(&self, peer: SocketAddr) -> Carrier {
        match (self, peer.ip().to_canonical().is_ipv4()) {
            (Self::Raw, true) => Carrier::RawV4,
            (Self::Raw, false) => Carrier::RawV6,
            (Self::Udp(_), true) => Carrier::UdpV4,
            (Self::Udp(_), false) => Carrier::UdpV6,
        }
    }
}
