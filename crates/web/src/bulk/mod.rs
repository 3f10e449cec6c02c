//! Octets without end over QUIC: a load of one stream, one way.
//!
//! The near end opens a connection ([`connect`]) with ALPN `isobath` and a name of its session, and on it one stream, on which it says its
//! greeting first: [`GREETING`] octets that show that it may, which is the session's business. Then one end sends as much as its congestion
//! control lets it (CUBIC, RFC 9438), and the other counts octets as they come, in whatever order. At the far end a session asks for its
//! loads ([`crate::Site::loads`]); all of them have the one thread of the site, and each its own at the near end.
//!
//! Calls block, until what they are for is done or `abort` says so; then the connection is closed, and what was not sent yet is not any more.

mod far;
mod near;

pub use far::Loads;
pub(crate) use far::{Expected, take};
pub use near::connect;

use crate::quic::{self, Open};
use bytes::Bytes;
use quinn::{Connection, RecvStream, SendStream, VarInt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use sys::tcp::TcpInfo;
use tokio::runtime::{Handle, Runtime};
use units::{Instant, Rate};

/// Octets of a greeting.
pub const GREETING: usize = 32;
/// What the two ends agree to speak (RFC 7301).
pub(crate) const ALPN: &[u8] = b"isobath";
/// The congestion control of both ends, as plans and tables call it.
pub const CONGESTION: &str = "cubic";

/// Octets on the way before any were read: a path of 1 Gbit/s and 100 ms has as many.
pub(crate) const WINDOW: u32 = 16 << 20;
/// What is handed to the connection at once. QUIC encrypts it, so nobody compresses it.
static PIECE: Bytes = Bytes::from_static(&[0; 32 << 10]);
/// With a rate, what is sent at once: so much of its time, and at least a packet. Timers end up to a millisecond late.
const AT_ONCE: Duration = Duration::from_millis(2);
const LEAST: u64 = 1_200;
/// With a rate, how much that was late is made up for.
const MADE_UP: Duration = Duration::from_millis(5);
/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(20);

/// One end of a load. Dropped, it closes its connection.
#[derive(Debug)]
pub struct Bulk {
    engine: Engine,
    established: Instant,
    open: Open,
    sending: SendStream,
    receiving: RecvStream,
    greeting: [u8; GREETING],
}

/// What moves the connection on.
#[derive(Debug)]
enum Engine {
    /// The thread that calls.
    Own(Runtime),
    /// A thread that serves many.
    Shared(Handle),
}

/// Looks at a load while it lasts.
#[derive(Clone, Debug)]
pub struct Watch(Connection);

impl Bulk {
    /// What its near end said first.
    pub const fn greeting(&self) -> &[u8; GREETING] {
        &self.greeting
    }

    /// When this end had the connection.
    pub const fn established(&self) -> Instant {
        self.established
    }

    /// Octets of UDP payload received and sent so far.
    pub fn octets(&self) -> (u64, u64) {
        let stats = self.open.0.stats();
        (stats.udp_rx.bytes, stats.udp_tx.bytes)
    }

    /// Looks at it from another thread.
    pub fn watch(&self) -> Watch {
        Watch(self.open.0.clone())
    }

    /// Sends until `until`, payload at most at `rate`.
    ///
    /// # Errors
    /// In one line, when the connection ends before.
    pub fn send(
        &mut self,
        until: Instant,
        rate: Option<Rate>,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let sending = &mut self.sending;
        self.engine.block_on(async {
            tokio::select! {
                why = fill(sending, rate) => Err(why),
                () = tokio::time::sleep(until.since(clock::now())) => Ok(()),
                () = over(abort) => Ok(()),
            }
        })
    }

    /// Receives until the other end is done, at the latest until `until`: that it closes may be lost on the way. `read` tells meanwhile how
    /// many octets have come. Returns when the first did.
    pub fn receive(
        &mut self,
        read: &AtomicU64,
        until: Instant,
        abort: &dyn Fn() -> bool,
    ) -> Option<Instant> {
        // Not before it is known that this is what it is for.
        self.open.0.set_receive_window(VarInt::from_u32(WINDOW));
        let receiving = &mut self.receiving;
        let mut first = None;
        self.engine.block_on(async {
            tokio::select! {
                () = drain(receiving, read, &mut first) => {}
                () = tokio::time::sleep(until.since(clock::now())) => {}
                () = over(abort) => {}
            }
        });
        first
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        // A thread that serves many lets the connection say so by itself.
        if let Engine::Own(runtime) = &self.engine {
            runtime.block_on(quic::close(vec![self.open.0.clone()]));
        }
    }
}

impl Engine {
    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match self {
            Self::Own(runtime) => runtime.block_on(work),
            Self::Shared(handle) => handle.block_on(work),
        }
    }
}

impl Watch {
    /// What this end knows of the connection, as the kernel would tell it of TCP's. Windows are in packets of the greatest length, what was
    /// lost counts as sent again, and packets with data are as many as they have frames of it.
    pub fn info(&self) -> TcpInfo {
        let stats = self.0.stats();
        let path = stats.path;
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        TcpInfo {
            rtt: Some(path.rtt),
            min_rtt: Some(path.min_rtt),
            snd_cwnd: Some(narrow(path.cwnd / u64::from(path.current_mtu.max(1)))),
            total_retrans: Some(narrow(path.lost_packets)),
            segs_in: Some(narrow(stats.udp_rx.datagrams)),
            segs_out: Some(narrow(stats.udp_tx.datagrams)),
            data_segs_in: Some(narrow(stats.frame_rx.stream)),
            data_segs_out: Some(narrow(stats.frame_tx.stream)),
            ..TcpInfo::default()
        }
    }
}

/// Sends for ever; why it cannot any more.
async fn fill(stream: &mut SendStream, rate: Option<Rate>) -> String {
    let mut due = clock::now();
    let most = rate.map_or(PIECE.len() as u64, |rate| rate.bytes_in(AT_ONCE).max(LEAST));
    let piece = PIECE.slice(..PIECE.len().min(usize::try_from(most).unwrap_or(usize::MAX)));
    loop {
        if let Err(error) = stream.write_chunk(piece.clone()).await {
            return crate::reason::reason(&error);
        }
        let Some(rate) = rate else { continue };
        let now = clock::now();
        let late = now.since(due);
        due = due + late.saturating_sub(MADE_UP) + rate.time_for(piece.len() as u64);
        if due > now {
            tokio::time::sleep(due.since(now)).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}

/// Counts what comes, in whatever order, until there is no more.
async fn drain(stream: &mut RecvStream, read: &AtomicU64, first: &mut Option<Instant>) {
    while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, false).await {
        first.get_or_insert_with(clock::now);
        read.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// Returns when `is_over`.
async fn over(is_over: impl Fn() -> bool) {
    while !is_over() {
        tokio::time::sleep(TICK).await;
    }
}
