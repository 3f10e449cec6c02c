//! Fields of the protocol data units, and what they have in common (RFC 9946 section 4).

use super::rates::SendingRate;
use crate::field;
use std::time::Duration;

/// The version of the protocol.
pub(super) const VERSION: u16 = 20;

/// What a feedback has for a delay that it does not know.
pub(super) const NO_DELAY: u32 = u32::MAX;

/// Reads what follows, field by field.
pub(super) struct Fields<'a>(&'a [u8], usize);

impl Fields<'_> {
    pub(super) fn octets<const N: usize>(&mut self) -> Option<[u8; N]> {
        let found = field(self.0, self.1)?;
        self.1 += N;
        Some(found)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.octets().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.octets().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.octets().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.octets().map(u64::from_be_bytes)
    }

    /// A time since 1970: seconds and nanoseconds.
    pub(super) fn time(&mut self) -> Option<Duration> {
        let (seconds, nanos) = (self.u32()?, self.u32()?);
        (nanos < 1_000_000_000).then(|| Duration::new(seconds.into(), nanos))
    }

    pub(super) fn rate(&mut self) -> Option<SendingRate> {
        Some(SendingRate {
            interval1_us: self.u32()?,
            payload1: self.u32()?,
            burst1: self.u32()?,
            interval2_us: self.u32()?,
            payload2: self.u32()?,
            burst2: self.u32()?,
            addon2: self.u32()?,
        })
    }
}

/// The fields of `pdu` where it has this identifier and length, and its checksum, which is in the last two octets of its head, is right
/// or left out.
pub(super) fn fields(pdu: &[u8], id: u16, head: usize) -> Option<Fields<'_>> {
    let octets = pdu.get(..head)?;
    let mut fields = Fields(octets, 0);
    let has_checksum = octets[head - 2..] != [0, 0];
    let mut sum = packet::Sum::default();
    sum.add(octets);
    let is_sound = !has_checksum || sum.finish() == 0;
    (fields.u16()? == id && is_sound).then_some(fields)
}

pub(super) fn write_time(time: Duration, out: &mut Vec<u8>) {
    // The wire has room until 2106.
    let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    out.extend(seconds.to_be_bytes());
    out.extend(time.subsec_nanos().to_be_bytes());
}

pub(super) fn write_rate(rate: &SendingRate, out: &mut Vec<u8>) {
    for word in [
        rate.interval1_us,
        rate.payload1,
        rate.burst1,
        rate.interval2_us,
        rate.payload2,
        rate.burst2,
        rate.addon2,
    ] {
        out.extend(word.to_be_bytes());
    }
}

/// Which way the load goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the client.
    Upstream,
    /// From the server.
    Downstream,
}

/// Whether a test action asks for the end; none where it is no action.
pub(super) const fn is_stop(action: u8) -> Option<bool> {
    match action {
        0 => Some(false),
        1 | 2 => Some(true),
        _ => None,
    }
}

pub(super) const fn action(is_stop: bool) -> u8 {
    if is_stop { 2 } else { 0 }
}
