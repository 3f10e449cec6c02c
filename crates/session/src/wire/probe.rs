//! The header of every UDP datagram of the data plane.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      magic 'I' 'S' 'O' 'B'                    |  0
//! +---------------+---------------+---------------+---------------+
//! |  version = 1  |     kind      |     class     |    arrived    |  4
//! +---------------+---------------+---------------+---------------+
//! |            stream             |             flags             |  8
//! +-------------------------------+-------------------------------+
//! |                           sequence                            | 12
//! +---------------------------------------------------------------+
//! |                            session                            | 16
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                              tag                              | 24
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                             sent (ns)                         | 32
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                           received (ns)                       | 40
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                            replied (ns)                       | 48
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                            payload ...                        | 56
//! ```
//!
//! `kind` is 1 for a request, 2 for its reply, 3 for a datagram that wants no reply. `class` is the
//! traffic-class octet that the datagram is to be sent with; a reply is sent with its request's.
//! `arrived` is the octet that the request had when it reached the far end, valid with flag 0x0002,
//! so that both ends' marks can be compared. Times are each host's own monotonic clock: `sent` is the
//! sender's, and a reply repeats it; `received` and `replied` are the far end's and zero in a
//! request. The tag covers the whole datagram but itself, payload included.
//!
//! Request and reply have the same header, so a reply is exactly as long as its request: the port
//! amplifies nothing, and a datagram too short for a reply is no request either.

use super::{MAGIC, VERSION, WireError, check_head, octets};
use crate::tag::{TAG_LEN, TagKey};
use units::{Instant, TrafficClass};

const TAG_AT: usize = 24;
const AFTER_TAG: usize = TAG_AT + TAG_LEN;

/// What a datagram asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Kind {
    /// To be replied to.
    Request = 1,
    /// The reply to a request.
    Reply = 2,
    /// To be received, and no more.
    OneWay = 3,
}

impl TryFrom<u8> for Kind {
    type Error = WireError;

    fn try_from(octet: u8) -> Result<Self, WireError> {
        match octet {
            1 => Ok(Self::Request),
            2 => Ok(Self::Reply),
            3 => Ok(Self::OneWay),
            other => Err(WireError::UnknownKind(other)),
        }
    }
}

/// What is known about a reply's fields. Bits that this version does not know are kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags(pub u16);

impl Flags {
    /// `received` was stamped by the kernel, not after the system call.
    pub const KERNEL_STAMP: Self = Self(0x0001);
    /// `arrived` is what the kernel reported; without it the octet means nothing.
    pub const ARRIVED_KNOWN: Self = Self(0x0002);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What the far end adds to a request to make it a reply.
#[derive(Clone, Copy, Debug)]
pub struct Receipt {
    /// When the request arrived, on the far end's clock.
    pub received: Instant,
    /// Whether the kernel took that stamp.
    pub kernel_stamp: bool,
    /// The traffic-class octet it arrived with, where the kernel reported it.
    pub arrived: Option<TrafficClass>,
    /// When the reply was handed to the kernel.
    pub replied: Instant,
}

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// What the datagram asks for.
    pub kind: Kind,
    /// The octet to send it with; a reply takes its request's.
    pub class: TrafficClass,
    /// The octet its request arrived with, if [`Flags::ARRIVED_KNOWN`].
    pub arrived: TrafficClass,
    /// Which stream of the plan it belongs to.
    pub stream: u16,
    /// What is known about the reply's fields.
    pub flags: Flags,
    /// Counts the stream's datagrams.
    pub sequence: u32,
    /// The session it belongs to.
    pub session: u64,
    /// When it was sent, on the sender's clock; a reply repeats its request's.
    pub sent: Instant,
    /// When its request arrived, on the far end's clock; zero in a request.
    pub received: Instant,
    /// When the reply was sent, on the far end's clock; zero in a request.
    pub replied: Instant,
}

impl Probe {
    /// Octets of the header: the shortest datagram.
    pub const LEN: usize = 56;

    /// Reads the header of `datagram`, whose tag is then to be checked with [`Probe::verify`].
    ///
    /// # Errors
    /// [`WireError`] for what is no datagram of ours.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let header: [u8; Self::LEN] = octets(datagram, 0)?;
        check_head(&header)?;
        Ok(Self {
            kind: Kind::try_from(header[5])?,
            class: TrafficClass::from_octet(header[6]),
            arrived: TrafficClass::from_octet(header[7]),
            stream: u16::from_be_bytes(octets(&header, 8)?),
            flags: Flags(u16::from_be_bytes(octets(&header, 10)?)),
            sequence: u32::from_be_bytes(octets(&header, 12)?),
            session: u64::from_be_bytes(octets(&header, 16)?),
            sent: instant(&header, 32)?,
            received: instant(&header, 40)?,
            replied: instant(&header, 48)?,
        })
    }

    /// Writes the header into the first [`Probe::LEN`] octets of `datagram`, leaves the payload
    /// behind it alone, and tags the whole with the sender's `key`.
    ///
    /// # Errors
    /// [`WireError::Short`] when the header does not fit.
    pub fn emit(&self, datagram: &mut [u8], key: &TagKey) -> Result<(), WireError> {
        let header: &mut [u8; Self::LEN] = datagram.first_chunk_mut().ok_or(WireError::Short)?;
        header[..4].copy_from_slice(&MAGIC);
        header[4] = VERSION;
        header[5] = self.kind as u8;
        header[6] = self.class.octet();
        header[7] = self.arrived.octet();
        header[8..10].copy_from_slice(&self.stream.to_be_bytes());
        header[10..12].copy_from_slice(&self.flags.0.to_be_bytes());
        header[12..16].copy_from_slice(&self.sequence.to_be_bytes());
        header[16..24].copy_from_slice(&self.session.to_be_bytes());
        header[32..40].copy_from_slice(&self.sent.as_nanos().to_be_bytes());
        header[40..48].copy_from_slice(&self.received.as_nanos().to_be_bytes());
        header[48..56].copy_from_slice(&self.replied.as_nanos().to_be_bytes());
        let tag = key.tag(&datagram[..TAG_AT], &datagram[AFTER_TAG..]);
        datagram[TAG_AT..AFTER_TAG].copy_from_slice(&tag);
        Ok(())
    }

    /// Checks the tag of `datagram` with its sender's `key`.
    ///
    /// # Errors
    /// [`WireError::Tag`], or [`WireError::Short`] for less than a header.
    pub fn verify(datagram: &[u8], key: &TagKey) -> Result<(), WireError> {
        if datagram.len() < Self::LEN {
            return Err(WireError::Short);
        }
        let tag = octets(datagram, TAG_AT)?;
        if key.verify(&datagram[..TAG_AT], &datagram[AFTER_TAG..], tag) {
            Ok(())
        } else {
            Err(WireError::Tag)
        }
    }

    /// The reply to this request. Written over the request's own header, it keeps the request's
    /// payload and so its length.
    #[must_use]
    pub fn reply(&self, receipt: &Receipt) -> Self {
        let mut flags = Flags::default();
        if receipt.kernel_stamp {
            flags = flags.with(Flags::KERNEL_STAMP);
        }
        if receipt.arrived.is_some() {
            flags = flags.with(Flags::ARRIVED_KNOWN);
        }
        Self {
            kind: Kind::Reply,
            arrived: receipt.arrived.unwrap_or_default(),
            flags,
            received: receipt.received,
            replied: receipt.replied,
            ..*self
        }
    }

    /// The octet that the request arrived with, where the far end knew it.
    pub fn arrived(&self) -> Option<TrafficClass> {
        self.flags
            .contains(Flags::ARRIVED_KNOWN)
            .then_some(self.arrived)
    }
}

fn instant(header: &[u8], at: usize) -> Result<Instant, WireError> {
    Ok(Instant::from_nanos(u64::from_be_bytes(octets(header, at)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{DataKey, DataKeys};
    use proptest::prelude::*;
    use units::{Dscp, Ecn};

    fn keys() -> DataKeys {
        DataKeys::from(DataKey::new([0x42; 32]))
    }

    fn sample() -> Probe {
        Probe {
            kind: Kind::Request,
            class: TrafficClass {
                dscp: Dscp::EF,
                ecn: Ecn::Ect0,
            },
            arrived: TrafficClass::default(),
            stream: 0x0102,
            flags: Flags::default(),
            sequence: 0x0304_0506,
            session: 0x1011_1213_1415_1617,
            sent: Instant::from_nanos(0x2021_2223_2425_2627),
            received: Instant::ZERO,
            replied: Instant::ZERO,
        }
    }

    #[test]
    fn the_octets_are_in_the_documented_places() {
        let mut datagram = [0xee; 60];
        sample().emit(&mut datagram, &keys().to_server).unwrap();
        let head = b"ISOB\x01\x01\xba\x00\x01\x02\x00\x00\x03\x04\x05\x06\
                     \x10\x11\x12\x13\x14\x15\x16\x17";
        assert_eq!(&datagram[..24], head);
        assert_eq!(datagram[24..32], GOLDEN_TAG);
        assert_eq!(&datagram[32..40], b"\x20\x21\x22\x23\x24\x25\x26\x27");
        assert_eq!(datagram[40..56], [0; 16]);
        assert_eq!(datagram[56..], [0xee; 4]);
    }

    /// Keyed BLAKE3 of the octets around the tag, by another implementation of its specification.
    const GOLDEN_TAG: [u8; 8] = [0x5a, 0x02, 0x66, 0xe2, 0x40, 0x1f, 0x2c, 0xa7];

    #[test]
    fn a_reply_is_as_long_as_its_request_and_carries_its_class() {
        let mut datagram = vec![7; 280];
        sample().emit(&mut datagram, &keys().to_server).unwrap();
        let request = Probe::parse(&datagram).unwrap();
        let reply = request.reply(&Receipt {
            received: Instant::from_nanos(100),
            kernel_stamp: true,
            arrived: Some(TrafficClass::from_octet(0x03)),
            replied: Instant::from_nanos(160),
        });
        reply.emit(&mut datagram, &keys().to_client).unwrap();
        let seen = Probe::parse(&datagram).unwrap();
        assert_eq!(Probe::verify(&datagram, &keys().to_client), Ok(()));
        assert_eq!(datagram.len(), 280);
        assert_eq!(seen.class, request.class);
        assert_eq!(seen.sent, request.sent);
        assert_eq!(seen.sequence, request.sequence);
        assert_eq!(seen.arrived(), Some(TrafficClass::from_octet(0x03)));
        assert_eq!(seen.replied.since(seen.received).as_nanos(), 60);
    }

    #[test]
    fn an_unknown_mark_is_told_from_a_zero_one() {
        let receipt = Receipt {
            received: Instant::from_nanos(1),
            kernel_stamp: false,
            arrived: None,
            replied: Instant::from_nanos(2),
        };
        let reply = sample().reply(&receipt);
        assert_eq!(reply.arrived(), None);
        assert!(!reply.flags.contains(Flags::KERNEL_STAMP));
    }

    #[test]
    fn a_request_shorter_than_its_reply_is_none() {
        let mut datagram = [0; Probe::LEN];
        sample().emit(&mut datagram, &keys().to_server).unwrap();
        assert_eq!(Probe::parse(&datagram[..55]), Err(WireError::Short));
        assert_eq!(
            sample().emit(&mut [0; 55], &keys().to_server),
            Err(WireError::Short)
        );
    }

    #[test]
    fn a_request_thrown_back_at_the_client_is_not_valid_there() {
        let mut datagram = [0; 100];
        sample().emit(&mut datagram, &keys().to_server).unwrap();
        assert_eq!(
            Probe::verify(&datagram, &keys().to_client),
            Err(WireError::Tag)
        );
    }

    proptest! {
        #[test]
        fn a_probe_survives_the_wire(
            (kind, class, arrived, stream) in (1_u8..4, any::<u8>(), any::<u8>(), any::<u16>()),
            (flags, sequence, session) in (any::<u16>(), any::<u32>(), any::<u64>()),
            (sent, received, replied) in (any::<u64>(), any::<u64>(), any::<u64>()),
            length in Probe::LEN..1_500,
        ) {
            let probe = Probe {
                kind: Kind::try_from(kind).unwrap(),
                class: TrafficClass::from_octet(class),
                arrived: TrafficClass::from_octet(arrived),
                stream, flags: Flags(flags), sequence, session,
                sent: Instant::from_nanos(sent),
                received: Instant::from_nanos(received),
                replied: Instant::from_nanos(replied),
            };
            let mut datagram = vec![0; length];
            probe.emit(&mut datagram, &keys().to_server).unwrap();
            prop_assert_eq!(Probe::parse(&datagram), Ok(probe));
            prop_assert_eq!(Probe::verify(&datagram, &keys().to_server), Ok(()));
        }

        #[test]
        fn one_changed_bit_breaks_the_tag(at in 0_usize..100, bit in 0_u32..8) {
            let mut datagram = [0; 100];
            sample().emit(&mut datagram, &keys().to_server).unwrap();
            datagram[at] ^= 1 << bit;
            prop_assert_eq!(Probe::verify(&datagram, &keys().to_server), Err(WireError::Tag));
        }

        #[test]
        fn any_datagram_is_parsed_or_refused(
            mut datagram in prop::collection::vec(any::<u8>(), 0..200),
            ours: bool,
        ) {
            if ours && datagram.len() >= 5 {
                datagram[..5].copy_from_slice(b"ISOB\x01");
            }
            let _ = Probe::parse(&datagram);
            let _ = Probe::verify(&datagram, &keys().to_server);
        }
    }
}
