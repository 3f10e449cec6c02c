//! A stream of load: messages of a WebSocket, as fast as the path lets them through.
//!
//! Connections are opened before the load begins: a browser opens one at a time to a server (RFC 6455 section 4.1), which on a full path
//! would take seconds. What is on the path is TCP's. Messages are no more than its packing, and small where the path is slow: a browser
//! counts a message when all of it is there.

use crate::desk::Run;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use kit::sampler::StreamEnd;
use rrul::streams::{Kind, StreamPlan};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use units::Instant;
use web::websocket::Socket;

/// Octets of a message: the first ones, and the longest.
const FIRST: usize = 4 << 10;
pub(crate) const LONGEST: usize = 256 << 10;
/// A message is so much of all that went before.
const SHARE: usize = 64;
/// How often it is looked whether the run goes on.
const LOOK: Duration = Duration::from_millis(100);

/// Has the load of `stream` on a connection whose socket is `tcp` until its time is over.
pub(crate) async fn carry(
    socket: Socket,
    run: &Run,
    stream: &StreamPlan,
    tcp: Arc<TcpStream>,
    filler: Bytes,
) {
    let Some(begun) = run.begun() else {
        return;
    };
    let sampler = &begun.sampler;
    let read = sampler.begin(stream.id, stream.kind.direction(), &tcp);
    let until = sampler.origin() + stream.stop;
    let start = sampler.origin() + stream.start;
    let mut end = StreamEnd {
        id: stream.id,
        ..StreamEnd::default()
    };
    if stream.kind == Kind::Down {
        tokio::time::sleep(start.since(clock::now())).await;
        send(socket, run, until, &filler).await;
    } else {
        let count = |octets: u64| {
            read.fetch_add(octets, Ordering::Relaxed);
        };
        let first = receive(socket, run, until, count).await;
        end.first_byte_ns = first.map(|first| sampler.since_origin(first));
    }
    sampler.end(end);
}

/// Messages without end. What has not left by then is dropped with the connection.
async fn send(mut socket: Socket, run: &Run, until: Instant, filler: &Bytes) {
    let (mut size, mut sent) = (FIRST, 0_usize);
    while !run.is_over() {
        let left = until.since(clock::now());
        if left.is_zero() {
            return;
        }
        let message = Message::Binary(filler.slice(..size.min(filler.len())));
        match timeout(left, socket.send(message)).await {
            Ok(Ok(())) => sent = sent.saturating_add(size),
            _ => return,
        }
        if size < LONGEST && size < sent / SHARE {
            size *= 2;
        }
    }
}

/// Takes all that comes; when the first of it came.
async fn receive(
    mut socket: Socket,
    run: &Run,
    until: Instant,
    count: impl Fn(u64),
) -> Option<Instant> {
    let mut first = None;
    while !run.is_over() {
        let left = until.since(clock::now());
        if left.is_zero() {
            break;
        }
        match timeout(left.min(LOOK), socket.next()).await {
            Ok(Some(Ok(message))) => {
                first = first.or_else(|| Some(clock::now()));
                count(message.len() as u64);
            }
            Ok(_) => break,
            Err(_) => {}
        }
    }
    first
}
