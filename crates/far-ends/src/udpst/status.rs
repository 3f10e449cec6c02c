//! Status Feedback (RFC 9946 section 8).

use super::rates::SendingRate;
use super::wire::{Fields, NO_DELAY, action, fields, is_stop, write_rate, write_time};
use std::time::Duration;

const STATUS: u16 = 0xFEED;
const STATUS_LEN: usize = 204;

/// Datagrams that were lost, came late, and came twice.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Errors {
    /// Lost.
    pub lost: u32,
    /// Later than one that was sent after them.
    pub reordered: u32,
    /// Twice.
    pub duplicates: u32,
}

/// One-way delay above the least of the test, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DelayVariation {
    /// The least; none without a datagram.
    pub least: Option<u32>,
    /// The greatest.
    pub greatest: u32,
    /// All of them together.
    pub sum: u32,
    /// How many there are.
    pub count: u32,
}

/// What arrived in a sub-interval.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SubInterval {
    /// Datagrams.
    pub datagrams: u32,
    /// Octets of their payloads.
    pub bytes: u64,
    /// How long it lasted, microseconds.
    pub lasted_us: u32,
    /// What did not arrive as it was sent.
    pub errors: Errors,
    /// Of datagrams.
    pub delay: DelayVariation,
    /// The least and the greatest round trip above the least of the test, ms; none of the least where there was no round trip.
    pub rtt_variation_ms: (Option<u32>, u32),
    /// Since the first began, ms.
    pub at_ms: u32,
}

/// Status Feedback (section 8): what the receiver of load has found since it told last.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// Whether the test is to end.
    pub is_stop: bool,
    /// Whether nothing has come from the other end for a second.
    pub heard_nothing: bool,
    /// Its number, from 1.
    pub number: u32,
    /// From a server: what to send from now on.
    pub rate: SendingRate,
    /// Number of the latest sub-interval that is over; 0 before the first is.
    pub sub_interval_number: u32,
    /// That sub-interval.
    pub sub_interval: SubInterval,
    /// Of this trial.
    pub errors: Errors,
    /// The least difference between both ends' clocks, ms.
    pub clock_delta_ms: u32,
    /// Of this trial.
    pub delay: DelayVariation,
    /// The least round trip of the test, ms.
    pub least_rtt_ms: Option<u32>,
    /// The latest round trip of this trial above that, ms.
    pub rtt_variation_ms: Option<u32>,
    /// Whether a least delay has become less in this trial.
    pub least_updated: bool,
    /// How long the trial lasted, microseconds.
    pub lasted_us: u32,
    /// Datagrams that arrived in it.
    pub datagrams: u32,
    /// Octets of their payloads.
    pub bytes: u32,
    /// When this left.
    pub sent: Duration,
}

impl Status {
    /// Reads one.
    pub fn parse(pdu: &[u8]) -> Option<Self> {
        if pdu.len() != STATUS_LEN {
            return None;
        }
        let mut fields = fields(pdu, STATUS, STATUS_LEN)?;
        Some(Self {
            is_stop: is_stop(fields.u8()?)?,
            heard_nothing: fields.u8()? != 0,
            number: fields.u32()?,
            rate: fields.rate()?,
            sub_interval_number: fields.u32()?,
            sub_interval: fields.sub_interval()?,
            errors: fields.errors()?,
            clock_delta_ms: fields.u32()?,
            delay: fields.delay()?,
            least_rtt_ms: known(fields.u32()?),
            rtt_variation_ms: known(fields.u32()?),
            least_updated: fields.u8()? != 0,
            lasted_us: {
                fields.octets::<3>()?;
                fields.u32()?
            },
            datagrams: fields.u32()?,
            bytes: fields.u32()?,
            sent: fields.time()?,
        })
    }

    /// Writes it, unauthenticated.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(STATUS_LEN);
        out.extend(STATUS.to_be_bytes());
        out.extend([action(self.is_stop), u8::from(self.heard_nothing)]);
        out.extend(self.number.to_be_bytes());
        write_rate(&self.rate, &mut out);
        out.extend(self.sub_interval_number.to_be_bytes());
        let sub = &self.sub_interval;
        out.extend(sub.datagrams.to_be_bytes());
        out.extend(sub.bytes.to_be_bytes());
        out.extend(sub.lasted_us.to_be_bytes());
        write_errors(sub.errors, &mut out);
        write_delay(sub.delay, &mut out);
        let (least, greatest) = sub.rtt_variation_ms;
        out.extend(least.unwrap_or(NO_DELAY).to_be_bytes());
        out.extend(greatest.to_be_bytes());
        out.extend(sub.at_ms.to_be_bytes());
        write_errors(self.errors, &mut out);
        out.extend(self.clock_delta_ms.to_be_bytes());
        write_delay(self.delay, &mut out);
        out.extend(self.least_rtt_ms.unwrap_or(NO_DELAY).to_be_bytes());
        out.extend(self.rtt_variation_ms.unwrap_or(NO_DELAY).to_be_bytes());
        out.extend([u8::from(self.least_updated), 0, 0, 0]);
        out.extend(self.lasted_us.to_be_bytes());
        out.extend(self.datagrams.to_be_bytes());
        out.extend(self.bytes.to_be_bytes());
        write_time(self.sent, &mut out);
        out.resize(STATUS_LEN, 0);
        out
    }
}

impl Fields<'_> {
    fn errors(&mut self) -> Option<Errors> {
        Some(Errors {
            lost: self.u32()?,
            reordered: self.u32()?,
            duplicates: self.u32()?,
        })
    }

    fn delay(&mut self) -> Option<DelayVariation> {
        Some(DelayVariation {
            least: known(self.u32()?),
            greatest: self.u32()?,
            sum: self.u32()?,
            count: self.u32()?,
        })
    }

    fn sub_interval(&mut self) -> Option<SubInterval> {
        Some(SubInterval {
            datagrams: self.u32()?,
            bytes: self.u64()?,
            lasted_us: self.u32()?,
            errors: self.errors()?,
            delay: self.delay()?,
            rtt_variation_ms: (known(self.u32()?), self.u32()?),
            at_ms: self.u32()?,
        })
    }
}

fn write_errors(errors: Errors, out: &mut Vec<u8>) {
    out.extend(errors.lost.to_be_bytes());
    out.extend(errors.reordered.to_be_bytes());
    out.extend(errors.duplicates.to_be_bytes());
}

fn write_delay(delay: DelayVariation, out: &mut Vec<u8>) {
    out.extend(delay.least.unwrap_or(NO_DELAY).to_be_bytes());
    out.extend(delay.greatest.to_be_bytes());
    out.extend(delay.sum.to_be_bytes());
    out.extend(delay.count.to_be_bytes());
}

/// A delay, if it is one.
fn known(ms: u32) -> Option<u32> {
    Some(ms).filter(|ms| *ms != NO_DELAY)
}
