//! Messages from octets.

use super::{
    ACCEPTED, ARRIVAL, BEGIN, BEGIN_RANGES, CALL_OFF, LISTEN, Message, MessageError, OUTCOME,
    REFUSED, SENT,
};
use crate::transaction::{
    Arrival, Gap, Offered, Outcome, Probe, Ranges, Refusal, Riders, Sent, Spacing, Transaction,
};
use core::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use units::Instant;

type Result<T> = std::result::Result<T, MessageError>;

impl Message {
    /// Reads a message without its length; any octets are read or refused.
    ///
    /// # Errors
    /// [`MessageError`] for what nobody sends.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut reader = Reader(octets);
        let kind = reader.u8()?;
        reader.zero::<3>()?;
        let message = reader.message(kind)?;
        if reader.0.is_empty() {
            Ok(message)
        } else {
            Err(MessageError::Long)
        }
    }
}

/// What has not been read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn message(&mut self, kind: u8) -> Result<Message> {
        match kind {
            BEGIN => self.begin(),
            BEGIN_RANGES => self.begin_ranges(),
            CALL_OFF => self.u32().map(|id| Message::CallOff { id }),
            LISTEN => self.flags().map(|channel| Message::Listen { channel }),
            ACCEPTED => self.u32().map(|id| Message::Accepted { id }),
            REFUSED => self.refused(),
            OUTCOME => self.outcome(),
            ARRIVAL => self.arrival(),
            SENT => self.sent(),
            _ => Err(MessageError::Value),
        }
    }

    fn begin(&mut self) -> Result<Message> {
        let id = self.u32()?;
        let to = self.address()?;
        let channel = self.flags()?;
        let count = self.u32()?;
        // No room is made for more than has come.
        let probes = (0..count).map(|_| self.probe()).collect::<Result<_>>()?;
        let transaction = Transaction { channel, probes };
        Ok(Message::Begin {
            id,
            to,
            transaction,
        })
    }

    fn begin_ranges(&mut self) -> Result<Message> {
        let id = self.u32()?;
        let to = self.address()?;
        let channel = self.flags()?;
        let count = [self.u32()?, self.u32()?];
        let octets = Some(self.u16()?).filter(|octets| *octets > 0);
        let spacing = match self.array()? {
            [0, 0] => Spacing::Fixed,
            [1, 0] => Spacing::UpTo,
            _ => return Err(MessageError::Value),
        };
        let ranges = Ranges {
            channel,
            count,
            octets,
            spacing: spacing(self.duration()?),
            patience: self.duration()?,
        };
        Ok(Message::BeginRanges { id, to, ranges })
    }

    fn sent(&mut self) -> Result<Message> {
        let id = self.u32()?;
        let count = self.u32()?;
        let sent = (0..count).map(|_| self.sent_probe());
        let sent = sent.collect::<Result<_>>()?;
        Ok(Message::Sent { id, sent })
    }

    fn sent_probe(&mut self) -> Result<Sent> {
        let sent = Sent {
            sequence: self.u64()?,
            octets: self.u16()?,
        };
        self.zero::<2>()?;
        Ok(sent)
    }

    fn probe(&mut self) -> Result<Probe> {
        let octets = self.u16()?;
        let length = self.u16()?;
        let may_carry = self.truth()?;
        Ok(Probe {
            octets,
            may_carry,
            gap: self.duration()?,
            header: self.octets(length.into())?.to_vec(),
        })
    }

    fn refused(&mut self) -> Result<Message> {
        let id = self.u32()?;
        let code = self.flags()?;
        let detail = self.u64()?;
        let small = u32::try_from(detail).map_err(|_| MessageError::Value);
        let reason = match (code, detail) {
            (1, _) => Refusal::Count(small?),
            (2, 0) => Refusal::Duration,
            (3, _) => Refusal::Gap(small?),
            (4, _) => Refusal::Length(small?),
            (5, _) => Refusal::Queue(small?),
            (6, _) => Refusal::Budget(detail),
            (7, 0) => Refusal::Peer,
            (8, 0) => Refusal::Ranges,
            (9, _) => {
                let most = u16::try_from(detail >> 32).map_err(|_| MessageError::Value)?;
                let [.., a, b, c, d] = detail.to_be_bytes();
                Refusal::Long(u32::from_be_bytes([a, b, c, d]), most)
            }
            _ => return Err(MessageError::Value),
        };
        Ok(Message::Refused { id, reason })
    }

    fn outcome(&mut self) -> Result<Message> {
        let id = self.u32()?;
        let mut outcome = Outcome {
            is_called_off: self.truth()?,
            handover: self.duration()?,
            transmission: self.duration()?,
            planned: self.duration()?,
            riders: self.riders()?,
            competing: self.riders()?,
            beside: self.u64()?,
            offered: Offered {
                octets: self.u64()?,
                at: Instant::from_nanos(self.u64()?),
            },
            gaps: Vec::new(),
            sent: Vec::new(),
        };
        let count = self.u32()?;
        self.zero::<4>()?;
        outcome.gaps = (0..count).map(|_| self.gap()).collect::<Result<_>>()?;
        Ok(Message::Outcome { id, outcome })
    }

    fn arrival(&mut self) -> Result<Message> {
        let from = self.address()?;
        let channel = self.flags()?;
        let octets = self.u16()?;
        let length = self.u16()?;
        let arrival = Arrival {
            channel,
            octets,
            sequence: self.u64()?,
            sent_ns: self.u64()?,
            arrived_ns: self.u64()?,
            header: self.octets(length.into())?.to_vec(),
        };
        Ok(Message::Arrival { from, arrival })
    }

    fn riders(&mut self) -> Result<Riders> {
        Ok(Riders {
            probes: self.u64()?,
            octets: self.u64()?,
        })
    }

    fn gap(&mut self) -> Result<Gap> {
        Ok(Gap {
            planned: self.duration()?,
            actual: self.duration()?,
        })
    }

    /// IPv4 is written as IPv6 does (RFC 4291 section 2.5.5.2).
    fn address(&mut self) -> Result<IpAddr> {
        let address = Ipv6Addr::from(self.array::<16>()?);
        Ok(address.to_canonical())
    }

    /// An octet, and three that are zero.
    fn flags(&mut self) -> Result<u8> {
        let octet = self.u8()?;
        self.zero::<3>()?;
        Ok(octet)
    }

    fn truth(&mut self) -> Result<bool> {
        match self.flags()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(MessageError::Value),
        }
    }

    fn duration(&mut self) -> Result<Duration> {
        self.u64().map(Duration::from_nanos)
    }

    fn zero<const N: usize>(&mut self) -> Result<()> {
        if self.array::<N>()? == [0; N] {
            Ok(())
        } else {
            Err(MessageError::Value)
        }
    }

    fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[octet]| octet)
    }

    fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk().ok_or(MessageError::Short)?;
        self.0 = rest;
        Ok(*array)
    }

    fn octets(&mut self, length: usize) -> Result<&[u8]> {
        let (octets, rest) = self.0.split_at_checked(length).ok_or(MessageError::Short)?;
        self.0 = rest;
        Ok(octets)
    }
}
