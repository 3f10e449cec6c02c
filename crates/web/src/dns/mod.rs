//! Look-ups of the names of a page's hosts: a resolver's questions and the far end's answers, as
//! octets (RFC 1035), without a socket.
//!
//! A browser that opens a page looks up every host first, and so each look-up must cross the measured
//! path. The far end answers for `*.TOKEN.isobath.test` on its one UDP port, beside the datagrams of
//! Isobath's own data plane ([`looks_like_query`]).
//!
//! Who answers datagrams of unknown origin must not be of use for amplification: **an answer is never
//! longer than its question**. So [`query`] fills its question up to 128 octets (EDNS(0) padding, RFC 7830; block
//! length of RFC 8467 section 4.1), and a question without such room gets an empty answer that
//! says it is truncated.

mod answer;
#[cfg(test)]
mod tests;

pub use answer::{answer, looks_like_query};

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::rr::{Name, RData, RecordType};
use std::net::IpAddr;
use thiserror::Error;

/// A question's length is a multiple of this (RFC 8467 section 4.1).
const BLOCK: usize = 128;
/// Option number of padding, and the octets of an option before its data (RFC 6891 section 6.1.2).
const PADDING: u16 = 12;
const OPTION_HEADER: usize = 4;
/// The answer that fits every path (RFC 9715 section 3).
const MAX_PAYLOAD: u16 = 1232;

/// The family of the addresses that are looked up.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Family {
    /// IPv4: A records.
    V4,
    /// IPv6: AAAA records.
    V6,
}

/// What a resolver said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The question's number.
    pub id: u16,
    /// The response code (RFC 1035 section 4.1.1, RFC 6895): 0 is success, 3 that there is no such name.
    pub rcode: u16,
    /// Whether there would have been more.
    pub is_truncated: bool,
    /// All addresses, in order.
    pub addresses: Vec<IpAddr>,
}

impl Reply {
    /// The response code by name: `Refused`.
    pub fn rcode_name(&self) -> &'static str {
        let code: ResponseCode = self.rcode.into();
        code.to_str()
    }
}

/// Why a datagram is no reply.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum DnsError {
    /// It cannot be read as a DNS message.
    #[error("the resolver's answer is no DNS message - is there a resolver at that port?")]
    Malformed,
    /// It asks instead of answering.
    #[error("the resolver sent a question instead of an answer - is it a resolver?")]
    Question,
}

/// The question for the addresses of `name`, padded to 128 octets; empty for a name that the DNS cannot
/// carry (a label above 63 octets, or more than 255 in all).
pub fn query(id: u16, name: &str, family: Family) -> Vec<u8> {
    let kind = match family {
        Family::V4 => RecordType::A,
        Family::V6 => RecordType::AAAA,
    };
    let Ok(mut name) = Name::from_ascii(name) else {
        return Vec::new();
    };
    name.set_fqdn(true);
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, kind));
    let plain = with_padding(&message, None).len() + OPTION_HEADER;
    let padding = plain.next_multiple_of(BLOCK) - plain;
    with_padding(&message, Some(padding))
}

fn with_padding(message: &Message, padding: Option<usize>) -> Vec<u8> {
    let mut edns = Edns::new();
    edns.set_max_payload(MAX_PAYLOAD);
    if let Some(padding) = padding {
        let option = EdnsOption::Unknown(PADDING, vec![0; padding]);
        edns.options_mut().insert(option);
    }
    let mut message = message.clone();
    message.set_edns(edns);
    message.to_vec().unwrap_or_default()
}

/// Reads what a resolver sent.
///
/// # Errors
/// [`DnsError`] when it is no answer.
pub fn reply(octets: &[u8]) -> Result<Reply, DnsError> {
    let message = Message::from_vec(octets).map_err(|_| DnsError::Malformed)?;
    if message.metadata.message_type != MessageType::Response {
        return Err(DnsError::Question);
    }
    let address = |data: &RData| data.ip_addr();
    let records = message.answers.iter().map(|record| &record.data);
    Ok(Reply {
        id: message.metadata.id,
        rcode: message.metadata.response_code.into(),
        is_truncated: message.metadata.truncation,
        addresses: records.filter_map(address).collect(),
    })
}
