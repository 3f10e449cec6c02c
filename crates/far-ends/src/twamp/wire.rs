//! The messages of TWAMP-Control in the unauthenticated mode, where all but these fields are zero.

use crate::field;
use std::net::IpAddr;

/// In modes: unauthenticated.
pub(super) const OPEN: u32 = 1;

/// Octets of each message (RFC 4656 sections 3.1 to 3.8, RFC 5357 section 3.5).
pub(super) const GREETING: usize = 64;
pub(super) const SET_UP: usize = 164;
pub(super) const SERVER_START: usize = 48;
pub(super) const REQUEST: usize = 112;
pub(super) const ACCEPT: usize = 48;
/// Of Start-Sessions, Start-Ack and Stop-Sessions.
pub(super) const SHORT: usize = 32;

/// The first octet of what a client says.
pub(super) const START_SESSIONS: u8 = 2;
pub(super) const STOP_SESSIONS: u8 = 3;
pub(super) const REQUEST_SESSION: u8 = 5;

/// Where the answer stands in a Server-Start; in other answers it is the first octet.
pub(super) const START_ANSWER: usize = 15;

/// Answers (RFC 4656 section 3.3).
pub(super) const YES: u8 = 0;
pub(super) const UNSUPPORTED: u8 = 3;
pub(super) const FULL: u8 = 5;

/// An answer in words.
pub(super) const fn reason(answer: u8) -> &'static str {
    match answer {
        2 => "it has an internal error",
        UNSUPPORTED => "it does not support what was asked for",
        4 => "it has no room for such a session",
        FULL => "it has no room at the moment - try again later",
        _ => "it gives no reason",
    }
}

/// What a client asks for (Request-TW-Session).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Request {
    /// IP version: 4 or 6.
    pub(super) family: u8,
    /// Ports of the test packets.
    pub(super) sender_port: u16,
    pub(super) receiver_port: u16,
    /// Who sends; none: the client.
    pub(super) sender: Option<IpAddr>,
    /// Octets of a test packet beyond its first 14.
    pub(super) padding: u32,
    /// When it starts, and for how long after the session's end replies are still sent, as NTP's time stamps.
    pub(super) start: u64,
    pub(super) timeout: u64,
    /// DSCP of the test packets.
    pub(super) dscp: u8,
}

/// Where what stands in a request.
mod at {
    pub(super) const FAMILY: usize = 1;
    pub(super) const ROLES: usize = 2;
    pub(super) const SENDER_PORT: usize = 12;
    pub(super) const RECEIVER_PORT: usize = 14;
    pub(super) const SENDER: usize = 16;
    pub(super) const PADDING: usize = 64;
    pub(super) const START: usize = 68;
    pub(super) const TIMEOUT: usize = 76;
    pub(super) const TYPE_P: usize = 84;
}

impl Request {
    pub(super) fn emit(&self) -> [u8; REQUEST] {
        let mut octets = [0; REQUEST];
        octets[0] = REQUEST_SESSION;
        octets[at::FAMILY] = self.family;
        let mut put = |at: usize, value: &[u8]| octets[at..at + value.len()].copy_from_slice(value);
        put(at::SENDER_PORT, &self.sender_port.to_be_bytes());
        put(at::RECEIVER_PORT, &self.receiver_port.to_be_bytes());
        match self.sender {
            Some(IpAddr::V4(address)) => put(at::SENDER, &address.octets()),
            Some(IpAddr::V6(address)) => put(at::SENDER, &address.octets()),
            None => {}
        }
        put(at::PADDING, &self.padding.to_be_bytes());
        put(at::START, &self.start.to_be_bytes());
        put(at::TIMEOUT, &self.timeout.to_be_bytes());
        // Two bits of zero: what follows is a DSCP (RFC 4656 section 3.5).
        put(at::TYPE_P, &[self.dscp & 0x3f]);
        octets
    }

    /// None of what is no session of ours: one in which the server sends, or of another version of IP.
    pub(super) fn parse(octets: &[u8; REQUEST]) -> Option<Self> {
        let family = octets[at::FAMILY] & 0xf;
        let sender = match family {
            4 => field::<4>(octets, at::SENDER).map(IpAddr::from),
            6 => field::<16>(octets, at::SENDER).map(IpAddr::from),
            _ => None,
        }?;
        if octets[at::ROLES..at::ROLES + 2] != [0, 0] {
            return None;
        }
        let port = |at| field(octets, at).map(u16::from_be_bytes);
        let time = |at| field(octets, at).map(u64::from_be_bytes);
        Some(Self {
            family,
            sender_port: port(at::SENDER_PORT)?,
            receiver_port: port(at::RECEIVER_PORT)?,
            sender: Some(sender).filter(|sender| !sender.is_unspecified()),
            padding: u32::from_be_bytes(field(octets, at::PADDING)?),
            start: time(at::START)?,
            timeout: time(at::TIMEOUT)?,
            dscp: octets[at::TYPE_P] & 0x3f,
        })
    }
}

/// Takes the first `N` octets of what has come, when there are so many.
pub(super) fn take<const N: usize>(input: &mut Vec<u8>) -> Option<[u8; N]> {
    let message = field(input, 0)?;
    input.drain(..N);
    Some(message)
}
