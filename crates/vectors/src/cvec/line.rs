//! What a line says, by itself.

use super::reader::Problem;
use crate::{Loss, Side};
use core::str;
use core::time::Duration;

/// A line of either form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Line {
    /// Empty, or a comment.
    Nothing,
    Header(Header),
    Windows([u32; 2]),
    Rtt(Duration),
    Loss([Loss; 2]),
    Mss([u32; 2]),
    /// Original form; `concurrent` as the sign says.
    Adu {
        concurrent: bool,
        side: Side,
        bytes: u64,
    },
    /// Original form; a side where the sign has one.
    Wait {
        side: Option<Side>,
        wait: Duration,
    },
    /// Alternate form.
    Both {
        side: Side,
        sent: Duration,
        received: Duration,
        bytes: u64,
    },
}

/// The first line of a vector.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub(super) alternate: bool,
    pub(super) start: Duration,
    pub(super) counts: Counts,
    pub(super) ids: [u64; 2],
}

/// What a header says of the lines that follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Counts {
    /// Epochs of a sequential connection.
    Epochs(u64),
    /// ADUs of the initiator and the acceptor of a concurrent one.
    Adus([u64; 2]),
}

impl Line {
    pub(super) fn parse(line: &[u8]) -> Result<Self, Problem> {
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            return Ok(Self::Nothing);
        }
        let text = str::from_utf8(line).map_err(|_| Problem::NotALine)?;
        let mut fields = Fields(text);
        let sign = fields.text()?;
        let line = match sign {
            "SEQ" | "S" => Self::Header(Header {
                alternate: sign == "S",
                start: fields.micros()?,
                counts: Counts::Epochs(fields.number()?),
                ids: [fields.number()?, fields.number()?],
            }),
            "CONC" | "C" => Self::Header(Header {
                alternate: sign == "C",
                start: fields.micros()?,
                counts: Counts::Adus([fields.number()?, fields.number()?]),
                ids: [fields.number()?, fields.number()?],
            }),
            "w" => Self::Windows([fields.small()?, fields.small()?]),
            "r" => Self::Rtt(fields.micros()?),
            "l" => Self::Loss([fields.loss()?, fields.loss()?]),
            "m" => Self::Mss([fields.small()?, fields.small()?]),
            ">" | "<" | "c>" | "c<" => Self::Adu {
                concurrent: sign.len() == 2,
                side: side_of(sign),
                bytes: fields.number()?,
            },
            "t" | "t>" | "t<" => Self::Wait {
                side: (sign.len() == 2).then(|| side_of(sign)),
                wait: fields.micros()?,
            },
            "I" | "A" => Self::Both {
                side: if sign == "I" {
                    Side::Initiator
                } else {
                    Side::Acceptor
                },
                sent: fields.micros()?,
                received: fields.micros()?,
                bytes: fields.number()?,
            },
            _ => return Err(Problem::NotALine),
        };
        fields.end()?;
        Ok(line)
    }
}

fn side_of(sign: &str) -> Side {
    if sign.ends_with('>') {
        Side::Initiator
    } else {
        Side::Acceptor
    }
}

/// The rest of a line, field by field.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn text(&mut self) -> Result<&'a str, Problem> {
        let text = self.0.trim_ascii_start();
        let end = text.find(|c: char| c.is_ascii_whitespace());
        let (field, rest) = text.split_at(end.unwrap_or(text.len()));
        self.0 = rest;
        if field.is_empty() {
            Err(Problem::FewFields)
        } else {
            Ok(field)
        }
    }

    fn number(&mut self) -> Result<u64, Problem> {
        let text = self.text()?;
        let digits = text.bytes().all(|octet| octet.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits);
        number.ok_or(Problem::NotANumber)
    }

    fn small(&mut self) -> Result<u32, Problem> {
        u32::try_from(self.number()?).map_err(|_| Problem::NotANumber)
    }

    fn micros(&mut self) -> Result<Duration, Problem> {
        self.number().map(Duration::from_micros)
    }

    fn loss(&mut self) -> Result<Loss, Problem> {
        self.text()?.parse().map_err(|()| Problem::NotANumber)
    }

    fn end(&mut self) -> Result<(), Problem> {
        match self.text() {
            Ok(_) => Err(Problem::ManyFields),
            Err(_) => Ok(()),
        }
    }
}
