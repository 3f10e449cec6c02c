//! Octets that claim to be a Flent file, turned into a [`DataFile`] of version 4 or refused.
//!
//! The file flows through five stages, none of which keeps more than [`Limits`] allow:
//! octets, unpacked octets ([`Counted`]), JSON ([`text`]), values of the right type ([`parse`]), version 4 ([`older`]).

mod metadata;
mod older;
mod parse;
mod point;
pub(crate) mod text;

use crate::data::DataFile;
use crate::error::Error;
use crate::limits::Limits;
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Chain, Cursor, Read};
use text::Strict;

const GZIP: &[u8] = &[0x1f, 0x8b];
const BZIP2: &[u8] = b"BZh";

/// Reads a data file of any version.
pub(crate) fn read(mut input: impl Read, limits: &Limits) -> Result<DataFile, Error> {
    let mut start = Vec::new();
    let source = |source| Error::Read { source };
    (&mut input)
        .take(3)
        .read_to_end(&mut start)
        .map_err(source)?;
    if start.is_empty() {
        let reason = "it is empty".to_owned();
        return Err(Error::NotFlent { reason });
    }
    if start == BZIP2 {
        let reason = "it is packed by bzip2, unpack it first".to_owned();
        return Err(Error::NotFlent { reason });
    }
    let is_gzip = start.starts_with(GZIP);
    let whole: Chain<Cursor<Vec<u8>>, _> = Cursor::new(start).chain(input);
    if is_gzip {
        unpacked(MultiGzDecoder::new(BufReader::new(whole)), limits)
    } else {
        unpacked(whole, limits)
    }
}

fn unpacked(input: impl Read, limits: &Limits) -> Result<DataFile, Error> {
    let mut counted = Counted {
        inner: input,
        left: limits.unpacked_bytes,
        exceeded: false,
    };
    let parsed = parse::parse(BufReader::new(Strict::new(&mut counted)), limits);
    if counted.exceeded {
        return Err(Error::TooLarge {
            limit: limits.unpacked_bytes,
        });
    }
    older::convert(parsed?)
}

/// Passes octets on until the limit, then remembers that there were more.
struct Counted<R> {
    inner: R,
    left: u64,
    exceeded: bool,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => self.exceeded = true,
        }
        if self.exceeded {
            return Err(io::Error::other("too large"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
