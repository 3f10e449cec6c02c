//! The Load PDU (RFC 9946 section 8).

use super::wire::{action, fields, is_stop, write_time};
use std::time::Duration;

const LOAD: u16 = 0xBEEF;
/// Octets of its head.
pub(super) const HEAD: u16 = 32;
/// The same, for whoever reads no more of a datagram.
pub const LOAD_LEN: usize = HEAD as usize;

/// The head of a Load PDU (section 8).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Load {
    /// Whether the test is to end.
    pub is_stop: bool,
    /// Whether nothing has come from the other end for a second.
    pub heard_nothing: bool,
    /// Its number, from 1.
    pub number: u32,
    /// Octets of its payload, this head included.
    pub payload: u16,
    /// Status feedback that was missed before the latest.
    pub feedback_lost: u16,
    /// When the latest status feedback left, by its sender's clock; zero before there is one.
    pub feedback_sent: Duration,
    /// When this left.
    pub sent: Duration,
    /// For how long the latest status feedback has been here, ms.
    pub response_delay_ms: u16,
}

impl Load {
    /// Reads the head of one.
    pub fn parse(pdu: &[u8]) -> Option<Self> {
        let mut fields = fields(pdu, LOAD, LOAD_LEN)?;
        Some(Self {
            is_stop: is_stop(fields.u8()?)?,
            heard_nothing: fields.u8()? != 0,
            number: fields.u32()?,
            payload: fields.u16()?,
            feedback_lost: fields.u16()?,
            feedback_sent: fields.time()?,
            sent: fields.time()?,
            response_delay_ms: fields.u16()?,
        })
    }

    /// Writes it over `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend(LOAD.to_be_bytes());
        out.extend([action(self.is_stop), u8::from(self.heard_nothing)]);
        out.extend(self.number.to_be_bytes());
        out.extend(self.payload.to_be_bytes());
        out.extend(self.feedback_lost.to_be_bytes());
        write_time(self.feedback_sent, out);
        write_time(self.sent, out);
        out.extend(self.response_delay_ms.to_be_bytes());
        out.resize(LOAD_LEN, 0);
    }
}
