//! The body of a request: none, or one without end.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};

/// What is handed to the connection at once.
const PIECE: usize = 16 * 1024;

/// Octets that nobody can compress much.
static FILLER: LazyLock<Bytes> = LazyLock::new(|| {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let octet = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..PIECE).map(octet).collect()
});

/// Octets of no meaning, as many as are handed to the connection at once.
pub(super) fn filler() -> Bytes {
    FILLER.clone()
}

/// What a request carries.
#[derive(Debug, Default)]
pub(super) struct Upload {
    /// Where the octets that the connection has taken are counted; none where there is no body.
    pub(super) counter: Option<Arc<AtomicU64>>,
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(counter) = &self.counter else {
            return Poll::Ready(None);
        };
        counter.fetch_add(PIECE as u64, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(filler()))))
    }

    fn is_end_stream(&self) -> bool {
        self.counter.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.counter.is_none() {
            SizeHint::with_exact(0)
        } else {
            SizeHint::default()
        }
    }
}
