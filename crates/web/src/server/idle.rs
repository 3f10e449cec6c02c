//! Connections on which nothing happens are ended.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use units::Instant;

/// When octets last went over a connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Activity(Arc<AtomicU64>);

impl Activity {
    pub(super) fn new() -> Self {
        let now = sys::clock::now().as_nanos();
        Self(Arc::new(AtomicU64::new(now)))
    }

    fn note(&self) {
        let now = sys::clock::now().as_nanos();
        self.0.store(now, Ordering::Relaxed);
    }

    /// Returns when nothing has happened for `limit`.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let last = Instant::from_nanos(self.0.load(Ordering::Relaxed));
            let left = (last + limit).since(sys::clock::now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }
}

/// A stream that notes when octets go over it.
#[derive(Debug)]
pub(super) struct Watched<S> {
    pub(super) stream: S,
    pub(super) activity: Activity,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if polled.is_ready() {
            self.activity.note();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, octets);
        if polled.is_ready() {
            self.activity.note();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
