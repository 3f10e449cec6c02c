//! The packets of a capture, whatever its form.

use super::legacy::Legacy;
use super::next_generation::NextGeneration;
use super::source::Source;
use super::window::{LIMIT, More, Window};
use pcap_parser::{Linktype, PcapError, nom, parse_pcap_header};
use std::io::{self, Read};

/// The block type of a section header, the same from both ends.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const LEGACY_HEADER: usize = 24;

/// A packet as the sniffer kept it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packet<'a> {
    /// When it was seen, in nanoseconds since 1970.
    pub at_ns: u64,
    /// What kind of link it was on: `LINKTYPE_` of the registry of the tcpdump group.
    pub link: u16,
    /// Octets that it had.
    pub original_len: u32,
    /// As much of it as was kept.
    pub octets: &'a [u8],
}

/// Why a capture could not be read on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file, the pipe or the decompression.
    #[error("after {offset} octets: {error}")]
    Io {
        /// Octets, decompressed, that were read.
        offset: u64,
        /// What the system said.
        error: io::Error,
    },
    /// It is neither pcap nor pcapng.
    #[error("neither pcap nor pcapng (nor one of them in gzip or zstd)")]
    Unknown,
    /// The capture ends in the middle of a packet.
    #[error("the capture is cut off within the packet at octet {offset}")]
    Cut {
        /// Where the packet begins.
        offset: u64,
    },
    /// What stands there is not what a capture has.
    #[error("at octet {offset}: {problem}")]
    Damaged {
        /// Where the packet or block begins.
        offset: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// Where a packet is, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) at_ns: u64,
    pub(super) link: u16,
    pub(super) original_len: u32,
    /// Octets before it.
    pub(super) skip: usize,
    /// Octets that were kept of it.
    pub(super) len: usize,
}

/// Why there is no packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// More octets are needed.
    Incomplete,
    TooLarge,
    Malformed,
    Interfaces,
    UnknownInterface,
    Clock,
}

impl Fault {
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(super) fn of(error: nom::Err<PcapError<&[u8]>>) -> Self {
        match error {
            nom::Err::Incomplete(nom::Needed::Size(more)) if more.get() > LIMIT => Self::TooLarge,
            nom::Err::Incomplete(_) | nom::Err::Error(PcapError::Incomplete(_)) => Self::Incomplete,
            _ => Self::Malformed,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Incomplete | Self::TooLarge => "a packet or block of more than 16 MiB",
            Self::Malformed => "not a packet or block",
            Self::Interfaces => "more than 65,536 interfaces in one section",
            Self::UnknownInterface => "a packet of an interface that was not described",
            Self::Clock => "an interface with an impossible unit of time",
        }
    }
}

enum Form {
    Legacy(Legacy),
    NextGeneration(NextGeneration),
}

/// Packets of a capture, one by one.
///
/// ```
/// # fn each(octets: &[u8]) -> Result<(), isobath_capture::read::Error> {
/// let mut capture = isobath_capture::read::Reader::new(octets)?;
/// while let Some(packet) = capture.packet()? {
///     println!("{} ns: {} octets", packet.at_ns, packet.original_len);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Reader<R: Read> {
    source: Source<R>,
    window: Window,
    form: Form,
}

impl<R: Read> Reader<R> {
    /// Looks at the beginning of a capture.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is no capture.
    pub fn new(input: R) -> Result<Self, Error> {
        let mut source = Source::new(input).map_err(|error| Error::Io { offset: 0, error })?;
        let mut window = Window::new();
        while window.octets().len() < LEGACY_HEADER {
            match read_on(&mut window, &mut source)? {
                More::Some => {}
                More::End | More::Full => break,
            }
        }
        let octets = window.octets();
        let form = if octets.starts_with(&SECTION) {
            Form::NextGeneration(NextGeneration::default())
        } else {
            let (_, header) = parse_pcap_header(octets).map_err(|_| Error::Unknown)?;
            window.take(LEGACY_HEADER);
            Form::Legacy(Legacy::new(&header))
        };
        Ok(Self {
            source,
            window,
            form,
        })
    }

    /// The next packet, and `None` at the end.
    ///
    /// # Errors
    ///
    /// When the capture cannot be read, is cut off, or is damaged; it stays at that place.
    pub fn packet(&mut self) -> Result<Option<Packet<'_>>, Error> {
        loop {
            let octets = self.window.octets();
            let found = match &mut self.form {
                Form::Legacy(form) => form.record(octets).map(|(record, len)| (Some(record), len)),
                Form::NextGeneration(form) => form.block(octets),
            };
            match found {
                Ok((record, len)) => {
                    let at = self.window.take(len);
                    if let Some(record) = record {
                        return Ok(Some(Packet {
                            at_ns: record.at_ns,
                            link: record.link,
                            original_len: record.original_len,
                            octets: self.window.get(at + record.skip, record.len),
                        }));
                    }
                }
                Err(Fault::Incomplete) => {
                    if self.ended()? {
                        return Ok(None);
                    }
                }
                Err(fault) => return Err(self.damaged(fault)),
            }
        }
    }

    /// Reads on; whether the capture has ended where it may.
    fn ended(&mut self) -> Result<bool, Error> {
        let offset = self.window.offset();
        let more = match read_on(&mut self.window, &mut self.source) {
            // So does a compressed stream end that was cut off.
            Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(Error::Cut { offset });
            }
            more => more?,
        };
        match more {
            More::Some => Ok(false),
            More::End if self.window.octets().is_empty() => Ok(true),
            More::End => Err(Error::Cut { offset }),
            More::Full => Err(self.damaged(Fault::TooLarge)),
        }
    }

    const fn damaged(&self, fault: Fault) -> Error {
        Error::Damaged {
            offset: self.window.offset(),
            problem: fault.text(),
        }
    }
}

fn read_on(window: &mut Window, source: &mut impl Read) -> Result<More, Error> {
    let offset = window.offset();
    window
        .more(source)
        .map_err(|error| Error::Io { offset, error })
}

/// The kind of link; the upper half of the field says other things.
pub(super) const fn link(field: Linktype) -> u16 {
    let [_, _, high, low] = field.0.to_be_bytes();
    u16::from_be_bytes([high, low])
}
