//! Echo (RFC 792 for IPv4, RFC 4443 section 4 for IPv6): nearly every host and router answers it, by its slow path.
//!
//! What is written and read here is behind the IP header. The checksum is filled in for IPv4; for IPv6 the kernel does it, since it
//! covers the addresses.

use crate::{Exchange, Reply, Terms, expand, field};
use packet::Sum;

/// Octets of type, code, checksum, identifier and sequence number.
const HEAD: usize = 8;
/// Octets of the secret behind them.
const SECRET: usize = 8;

/// Who sends echo requests.
#[derive(Debug)]
pub struct Echo {
    terms: Terms,
    /// Types of request and reply.
    kinds: [u8; 2],
}

impl Echo {
    /// An exchange on `terms` by this version of IP.
    pub const fn new(terms: Terms, is_v6: bool) -> Self {
        Self {
            terms,
            kinds: if is_v6 { [128, 129] } else { [8, 0] },
        }
    }

    const fn id(&self) -> u16 {
        (self.terms.secret >> 48) as u16
    }
}

impl Exchange for Echo {
    fn request(&mut self, number: u32, _: u64, out: &mut Vec<u8>) {
        let [kind, _] = self.kinds;
        out.clear();
        out.extend([kind, 0, 0, 0]);
        out.extend(self.id().to_be_bytes());
        out.extend(((number & 0xffff) as u16).to_be_bytes());
        out.extend(self.terms.secret.to_be_bytes());
        out.resize(self.terms.payload.max(HEAD + SECRET), 0);
        if kind == 8 {
            let mut sum = Sum::default();
            sum.add(out);
            out[2..4].copy_from_slice(&sum.finish().to_be_bytes());
        }
    }

    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply> {
        let [_, kind] = self.kinds;
        let is_reply = field(datagram, 0)? == [kind, 0];
        // Not by the identifier: some sockets have the kernel choose it.
        let is_ours = u64::from_be_bytes(field(datagram, HEAD)?) == self.terms.secret;
        let number = expand(u16::from_be_bytes(field(datagram, 6)?), latest)?;
        (is_reply && is_ours).then_some(Reply {
            number,
            ..Reply::default()
        })
    }
}
