//! Generated octets as an HTTP body, in pieces, so that a large object takes no memory.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

/// What is handed to the connection at once; a frame of HTTP/2 takes no more by default (RFC 9113 section 4.2).
const PIECE: u64 = 16 * 1024;
/// Filler repeats after this much; compressors of HTTP look back 32 KiB (RFC 1951) unless told.
const PERIOD: usize = 64 * 1024;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";

static FILLER: LazyLock<Bytes> = LazyLock::new(|| {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let letter = |_| {
        // xorshift64 (Marsaglia 2003): plain, and the same everywhere.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        LETTERS[usize::from(state.to_be_bytes()[0] & 63)]
    };
    (0..PERIOD).map(letter).collect()
});

/// Part of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Segment {
    /// These octets.
    Text(Bytes),
    /// So many letters of no meaning.
    Filler(u64),
}

impl Segment {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Filler(count) => *count,
        }
    }
}

/// A body of generated octets.
#[derive(Debug)]
pub(crate) struct Content {
    segments: VecDeque<Segment>,
    left: u64,
}

impl Content {
    pub(crate) fn new(segments: Vec<Segment>) -> Self {
        Self {
            left: segments.iter().map(Segment::len).sum(),
            segments: segments.into(),
        }
    }

    pub(crate) fn text(text: &'static str) -> Self {
        let text = Bytes::from_static(text.as_bytes());
        Self::new(vec![Segment::Text(text)])
    }

    /// The next octets, about [`PIECE`]; `None` at the end.
    pub(crate) fn next_piece(&mut self) -> Option<Bytes> {
        let piece = match self.segments.pop_front()? {
            Segment::Text(text) => text,
            Segment::Filler(count) => {
                let now = count.min(PIECE);
                let start = self.filler_offset();
                if count > now {
                    self.segments.push_front(Segment::Filler(count - now));
                }
                FILLER.slice(start..start + usize::try_from(now).unwrap_or(0))
            }
        };
        self.left = self.left.saturating_sub(piece.len() as u64);
        Some(piece)
    }

    /// Pieces are taken from one period in turn; where it begins does not matter.
    fn filler_offset(&self) -> usize {
        let pieces = PERIOD as u64 / PIECE;
        usize::try_from(self.left / PIECE % pieces * PIECE).unwrap_or(0)
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next_piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
