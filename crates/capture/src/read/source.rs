//! Compressed or not, by the first octets.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufReader, Chain, Cursor, Read};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The input, with the octets that were looked at put back in front.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// An input, decompressed.
pub(super) enum Source<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Whole<R>>>>),
    Zstd(zstd::Decoder<'static, BufReader<Whole<R>>>),
}

impl<R: Read> Source<R> {
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        let mut magic = Vec::new();
        input.by_ref().take(4).read_to_end(&mut magic)?;
        let (gzip, zstandard) = (magic.starts_with(GZIP), magic == ZSTD);
        let whole = Cursor::new(magic).chain(input);
        Ok(if gzip {
            Self::Gzip(Box::new(MultiGzDecoder::new(BufReader::new(whole))))
        } else if zstandard {
            Self::Zstd(zstd::Decoder::new(whole)?)
        } else {
            Self::Plain(whole)
        })
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(whole) => whole.read(into),
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(decoder) => decoder.read(into),
        }
    }
}
