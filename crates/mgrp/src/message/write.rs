//! Messages to octets.

use super::{
    ACCEPTED, ARRIVAL, BEGIN, BEGIN_RANGES, CALL_OFF, LISTEN, MOST_MESSAGE, Message, MessageError,
    OUTCOME, REFUSED, SENT,
};
use crate::transaction::{
    Arrival, Outcome, Probe, Ranges, Refusal, Riders, Sent, Spacing, Transaction,
};
use core::net::IpAddr;
use std::time::Duration;

impl Message {
    /// Appends it with its length in front.
    ///
    /// # Errors
    /// [`MessageError::Size`] for one that nobody would take; then nothing is appended.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        let mut writer = Writer(Vec::new());
        writer.flags(self.kind());
        writer.message(self)?;
        let size = writer.0.len();
        let length = u32::try_from(size).ok().filter(|_| size <= MOST_MESSAGE);
        let length = length.ok_or(MessageError::Size(size))?;
        out.extend_from_slice(&length.to_be_bytes());
        out.append(&mut writer.0);
        Ok(())
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Begin { .. } => BEGIN,
            Self::BeginRanges { .. } => BEGIN_RANGES,
            Self::CallOff { .. } => CALL_OFF,
            Self::Listen { .. } => LISTEN,
            Self::Accepted { .. } => ACCEPTED,
            Self::Refused { .. } => REFUSED,
            Self::Outcome { .. } => OUTCOME,
            Self::Sent { .. } => SENT,
            Self::Arrival { .. } => ARRIVAL,
        }
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn message(&mut self, message: &Message) -> Result<(), MessageError> {
        match message {
            Message::Begin {
                id,
                to,
                transaction,
            } => {
                self.u32(*id);
                self.address(*to);
                self.transaction(transaction)?;
            }
            Message::BeginRanges { id, to, ranges } => {
                self.u32(*id);
                self.address(*to);
                self.ranges(ranges);
            }
            Message::CallOff { id } | Message::Accepted { id } => self.u32(*id),
            Message::Listen { channel } => self.flags(*channel),
            Message::Refused { id, reason } => {
                self.u32(*id);
                self.refusal(*reason);
            }
            Message::Outcome { id, outcome } => {
                self.u32(*id);
                self.outcome(outcome)?;
            }
            Message::Sent { id, sent } => {
                self.u32(*id);
                self.sent(sent)?;
            }
            Message::Arrival { from, arrival } => {
                self.address(*from);
                self.arrival(arrival)?;
            }
        }
        Ok(())
    }

    fn transaction(&mut self, transaction: &Transaction) -> Result<(), MessageError> {
        self.flags(transaction.channel);
        self.count(transaction.probes.len())?;
        transaction
            .probes
            .iter()
            .try_for_each(|probe| self.probe(probe))
    }

    fn probe(&mut self, probe: &Probe) -> Result<(), MessageError> {
        self.u16(probe.octets);
        self.length(&probe.header)?;
        self.flags(probe.may_carry.into());
        self.duration(probe.gap);
        self.0.extend_from_slice(&probe.header);
        Ok(())
    }

    fn ranges(&mut self, ranges: &Ranges) {
        self.flags(ranges.channel);
        for count in ranges.count {
            self.u32(count);
        }
        // No probe has no octets.
        self.u16(ranges.octets.unwrap_or(0));
        let is_up_to = matches!(ranges.spacing, Spacing::UpTo(_));
        self.0.extend_from_slice(&[is_up_to.into(), 0]);
        self.duration(ranges.spacing.gap());
        self.duration(ranges.patience);
    }

    fn sent(&mut self, sent: &[Sent]) -> Result<(), MessageError> {
        self.count(sent.len())?;
        for sent in sent {
            self.u64(sent.sequence);
            self.u16(sent.octets);
            self.u16(0);
        }
        Ok(())
    }

    fn refusal(&mut self, reason: Refusal) {
        let (code, detail) = match reason {
            Refusal::Count(count) => (1, count.into()),
            Refusal::Duration => (2, 0),
            Refusal::Gap(place) => (3, place.into()),
            Refusal::Length(place) => (4, place.into()),
            Refusal::Queue(waiting) => (5, waiting.into()),
            Refusal::Budget(octets) => (6, octets),
            Refusal::Peer => (7, 0),
            Refusal::Ranges => (8, 0),
            Refusal::Long(place, most) => (9, u64::from(most) << 32 | u64::from(place)),
        };
        self.flags(code);
        self.u64(detail);
    }

    fn outcome(&mut self, outcome: &Outcome) -> Result<(), MessageError> {
        self.flags(outcome.is_called_off.into());
        self.duration(outcome.handover);
        self.duration(outcome.transmission);
        self.duration(outcome.planned);
        self.riders(outcome.riders);
        self.riders(outcome.competing);
        self.u64(outcome.beside);
        self.u64(outcome.offered.octets);
        self.u64(outcome.offered.at.as_nanos());
        self.count(outcome.gaps.len())?;
        self.u32(0);
        for gap in &outcome.gaps {
            self.duration(gap.planned);
            self.duration(gap.actual);
        }
        Ok(())
    }

    fn arrival(&mut self, arrival: &Arrival) -> Result<(), MessageError> {
        self.flags(arrival.channel);
        self.u16(arrival.octets);
        self.length(&arrival.header)?;
        self.u64(arrival.sequence);
        self.u64(arrival.sent_ns);
        self.u64(arrival.arrived_ns);
        self.0.extend_from_slice(&arrival.header);
        Ok(())
    }

    fn riders(&mut self, riders: Riders) {
        self.u64(riders.probes);
        self.u64(riders.octets);
    }

    fn address(&mut self, address: IpAddr) {
        let address = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        self.0.extend_from_slice(&address.octets());
    }

    fn count(&mut self, count: usize) -> Result<(), MessageError> {
        let told = u32::try_from(count).map_err(|_| MessageError::Size(count))?;
        self.u32(told);
        Ok(())
    }

    fn length(&mut self, header: &[u8]) -> Result<(), MessageError> {
        let size = header.len();
        let told = u16::try_from(size).map_err(|_| MessageError::Size(size))?;
        self.u16(told);
        Ok(())
    }

    /// Nanoseconds; what does not fit is told as the most that does, which is 584 years.
    fn duration(&mut self, duration: Duration) {
        self.u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    fn flags(&mut self, octet: u8) {
        self.0.extend_from_slice(&[octet, 0, 0, 0]);
    }

    fn u16(&mut self, number: u16) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }
}
