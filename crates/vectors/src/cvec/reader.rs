//! Reading, vector by vector.

use super::Format;
use super::body::Draft;
use super::line::{Header, Line};
use super::lines::Lines;
use crate::Vector;
use std::io::{self, BufRead};

/// Octets of the comments at the beginning that are kept.
const PREAMBLE: usize = 64 << 10;

/// Why a file could not be read on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself.
    #[error("line {line}: {error}")]
    Io {
        /// The line after which.
        line: u64,
        /// What the system said.
        error: io::Error,
    },
    /// What stands in it.
    #[error("line {line}: {problem}")]
    Text {
        /// The line, from one on.
        line: u64,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// What is wrong with a line, or with the vector that it begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It begins with no sign of the format.
    #[error("not a line of a cvec file")]
    NotALine,
    /// It ends too early.
    #[error("a field is missing")]
    FewFields,
    /// It goes on.
    #[error("more fields than the line has")]
    ManyFields,
    /// A field is not the number it should be.
    #[error("a field is not a number, or too large a one")]
    NotANumber,
    /// A line that belongs to a vector, before the first.
    #[error("no SEQ, CONC, S or C came before")]
    Outside,
    /// An ADU or wait of the other form, or of the other kind of connection.
    #[error("does not belong into a vector of this form and kind")]
    OtherForm,
    /// Windows, round-trip time, loss or segment size a second time.
    #[error("given twice in one vector")]
    Twice,
    /// An ADU of the original form with zero octets.
    #[error("an ADU of no octets")]
    NoOctets,
    /// Two ADUs of the original form in a row.
    #[error("no wait between this ADU and the one before")]
    NoWait,
    /// A wait that follows no ADU.
    #[error("a wait, but no ADU before it")]
    WaitAlone,
    /// A line of the alternate form waits for what did not happen.
    #[error("waits after something that did not come before it")]
    WrongWait,
    /// An ADU or end of the alternate form after the end.
    #[error("comes after the end of the connection")]
    Closed,
    /// The vector that begins here has no ADUs.
    #[error("the vector that begins here has no ADUs")]
    NoAdus,
    /// The vector has more ADUs than the header says, or fewer.
    #[error("the vector that begins here has another number of epochs or ADUs than it says")]
    Counts,
    /// More than [`crate::MAX_ADUS`].
    #[error("more than 1,048,576 ADUs in one vector")]
    ManyAdus,
}

/// Vectors of a file in either form, one by one. After an error there are no more.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    /// The first line of the vector that comes next, and its number.
    next: Option<(Header, u64)>,
    format: Option<Format>,
    preamble: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    /// Reads up to the first vector.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or begins with something else.
    pub fn new(input: R) -> Result<Self, Error> {
        let mut reader = Self {
            lines: Lines::new(input),
            next: None,
            format: None,
            preamble: Vec::new(),
        };
        loop {
            let number = reader.lines.number();
            let line = reader.lines.next().map_err(|error| Error::Io {
                line: number,
                error,
            })?;
            let Some(line) = line else { break };
            if line.starts_with(b"#") && reader.preamble.len() + line.len() < PREAMBLE {
                reader.preamble.extend_from_slice(line);
                reader.preamble.push(b'\n');
            }
            let line = Line::parse(line);
            let number = number + 1;
            match line.map_err(|problem| Error::Text {
                line: number,
                problem,
            })? {
                Line::Nothing => {}
                Line::Header(header) => {
                    reader.begin(header);
                    break;
                }
                _ => {
                    let problem = Problem::Outside;
                    return Err(Error::Text {
                        line: number,
                        problem,
                    });
                }
            }
        }
        Ok(reader)
    }

    /// The form of the first vector; none in an empty file.
    pub const fn format(&self) -> Option<Format> {
        self.format
    }

    /// The comments before the first vector, each with its `#`: where the vectors come from, and under what terms.
    pub fn preamble(&self) -> &[u8] {
        &self.preamble
    }

    fn begin(&mut self, header: Header) {
        let format = if header.alternate {
            Format::Alternate
        } else {
            Format::Original
        };
        self.format.get_or_insert(format);
        self.next = Some((header, self.lines.number()));
    }

    /// Reads the rest of a vector, and the first line of the next.
    fn read(&mut self, mut draft: Draft) -> Result<Vector, Error> {
        loop {
            let number = self.lines.number();
            let line = self.lines.next().map_err(|error| Error::Io {
                line: number,
                error,
            })?;
            let number = number + 1;
            let at = |problem| Error::Text {
                line: number,
                problem,
            };
            match line.map(Line::parse).transpose().map_err(at)? {
                Some(Line::Header(header)) => self.begin(header),
                Some(line) => {
                    draft.take(line).map_err(at)?;
                    continue;
                }
                None => {}
            }
            let line = draft.line;
            return draft
                .finish()
                .map_err(|problem| Error::Text { line, problem });
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Vector, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (header, line) = self.next.take()?;
        let vector = self.read(Draft::new(header, line));
        if vector.is_err() {
            self.next = None;
        }
        Some(vector)
    }
}
