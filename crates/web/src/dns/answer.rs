//! The far end's side: authority for `isobath.test`.

use crate::names::{DOMAIN, HostName};
use hickory_proto::op::{Edns, Message, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};
use std::net::IpAddr;

/// Header of a message, root name, type and class: nothing shorter asks anything.
const MIN_QUERY: usize = 12 + 1 + 4;
/// Longer than any question about a name; it bounds the work for one datagram.
const MAX_QUERY: usize = 1232;
/// What begins a datagram of our own data plane.
const OURS: &[u8] = b"ISOB";
/// Seconds for which an answer may be kept: not at all, or a second load would not look up.
const TTL: u32 = 0;
const MAX_PAYLOAD: u16 = 1232;

/// Whether a datagram may be a DNS question: by its header alone (RFC 1035 section 4.1.1), one
/// question, no answers.
pub fn looks_like_query(datagram: &[u8]) -> bool {
    let (MIN_QUERY..=MAX_QUERY, false) = (datagram.len(), datagram.starts_with(OURS)) else {
        return false;
    };
    let is_standard_query = datagram[2] & 0b1111_1000 == 0;
    is_standard_query && datagram[4..10] == [0, 1, 0, 0, 0, 0] && datagram[10] == 0
}

/// Writes the answer to `query` into `out`; false, and nothing in `out`, when it gets none.
///
/// `HOST.TOKEN.isobath.test` has one address, `local`, at which the far end was asked, while `is_live`
/// says so of the token: an A record for IPv4 (a mapped address too), an AAAA record for IPv6, and no data for any other
/// type. Other names below `isobath.test` do not exist (`NXDOMAIN`), other classes are refused, and
/// names of others get no answer at all. No answer is longer than its question: one that would be is
/// replaced by its header and question, marked as truncated.
pub fn answer(
    query: &[u8],
    is_live: impl Fn(u64) -> bool,
    local: IpAddr,
    out: &mut Vec<u8>,
) -> bool {
    out.clear();
    let reply = respond(query, &is_live, local.to_canonical());
    if let Some(octets) = reply.and_then(|reply| fit(&reply, query.len())) {
        out.extend_from_slice(&octets);
    }
    !out.is_empty()
}

fn respond(query: &[u8], is_live: &dyn Fn(u64) -> bool, local: IpAddr) -> Option<Message> {
    looks_like_query(query).then_some(())?;
    let asked = Message::from_vec(query).ok()?;
    let [question] = asked.queries.as_slice() else {
        return None;
    };
    let name = question.name().to_ascii();
    is_below_domain(&name).then_some(())?;
    let mut reply = Message::response(asked.metadata.id, OpCode::Query);
    reply.metadata.recursion_desired = asked.metadata.recursion_desired;
    reply.metadata.authoritative = true;
    reply.add_query(question.clone());
    let exists = HostName::parse(&name).is_some_and(|name| is_live(name.token));
    reply.metadata.response_code = match question.query_class() {
        DNSClass::IN if exists => ResponseCode::NoError,
        DNSClass::IN => ResponseCode::NXDomain,
        _ => ResponseCode::Refused,
    };
    if reply.metadata.response_code == ResponseCode::NoError {
        reply.answers.extend(record(question, local));
    }
    if let Some(edns) = &asked.edns {
        answer_edns(&mut reply, edns.version());
    }
    Some(reply)
}

/// The record that is asked for, if there is one of that type.
fn record(question: &Query, local: IpAddr) -> Option<Record> {
    let data = match (question.query_type(), local) {
        (RecordType::A, IpAddr::V4(address)) => RData::A(A(address)),
        (RecordType::AAAA, IpAddr::V6(address)) => RData::AAAA(AAAA(address)),
        _ => return None,
    };
    let name: Name = question.name().clone();
    Some(Record::from_rdata(name, TTL, data))
}

/// An OPT record for an OPT record (RFC 6891 section 6.1.1); other versions than 0 are told so.
fn answer_edns(reply: &mut Message, version: u8) {
    let mut edns = Edns::new();
    edns.set_max_payload(MAX_PAYLOAD);
    if version != 0 {
        reply.answers.clear();
        reply.metadata.response_code = ResponseCode::BADVERS;
    }
    reply.set_edns(edns);
}

/// The message in at most `most` octets.
fn fit(reply: &Message, most: usize) -> Option<Vec<u8>> {
    let whole = reply.to_vec().ok()?;
    if whole.len() <= most {
        return Some(whole);
    }
    let mut cut = reply.clone();
    cut.metadata.truncation = true;
    cut.answers.clear();
    cut.edns = None;
    let cut = cut.to_vec().ok()?;
    (cut.len() <= most).then_some(cut)
}

fn is_below_domain(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let above = name.strip_suffix(DOMAIN);
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}
