//! Requests that come over QUIC, and their answers.

use crate::content::Content;
use bytes::Bytes;
use h3::error::StreamError;
use h3::server::{RequestResolver, RequestStream};
use hyper::Response;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::{JoinSet, yield_now};

/// A request that has come, and is not read yet.
pub(crate) type Arrived = RequestResolver<h3_quinn::Connection, Bytes>;
/// Where its answer goes.
pub(crate) type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// Octets of bodies that were read on a connection.
pub(crate) type Read = Arc<AtomicU64>;

/// Octets beyond those of bodies that a client may send, and for each that it gets one in [`ACKED`]: requests and acknowledgements. The library
/// keeps a frame until all of it is there, however long it says it is.
const MOST_UNREAD: u64 = 4 << 20;
const ACKED: u64 = 4;
/// How often it is looked how many there are.
const LOOK: Duration = Duration::from_millis(50);

/// Lets `respond` have each request of a connection until it ends, and the count of what it reads of bodies; headers are at most
/// `most_header` octets.
pub(crate) async fn converse<F>(
    connection: quinn::Connection,
    most_header: u32,
    respond: impl Fn(Arrived, Read) -> F,
) where
    F: Future<Output = Result<(), StreamError>> + Send + 'static,
{
    let read = Read::default();
    tokio::select! {
        () = requests(connection.clone(), most_header, |request| respond(request, Arc::clone(&read))) => {}
        () = flooded(&connection, &read) => {}
    }
}

/// Returns when far more came than requests and acknowledgements take.
pub(crate) async fn flooded(connection: &quinn::Connection, read: &AtomicU64) {
    loop {
        let stats = connection.stats();
        // What carries a body takes a tenth more at most.
        let bodies = read.load(Ordering::Relaxed) / 10 * 11;
        if stats.udp_rx.bytes > bodies + MOST_UNREAD + stats.udp_tx.bytes / ACKED {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn requests<F>(
    connection: quinn::Connection,
    most_header: u32,
    respond: impl Fn(Arrived) -> F,
) where
    F: Future<Output = Result<(), StreamError>> + Send + 'static,
{
    let connection = h3_quinn::Connection::new(connection);
    let mut builder = h3::server::builder();
    builder.max_field_section_size(u64::from(most_header));
    let Ok(mut connection) = builder.build(connection).await else {
        return;
    };
    // They end with the connection.
    let mut requests = JoinSet::new();
    while let Ok(Some(request)) = connection.accept().await {
        while requests.try_join_next().is_some() {}
        requests.spawn(respond(request));
    }
}

/// Sends all of an answer.
///
/// # Errors
/// When the client has gone, or wants no more of it.
pub(crate) async fn send(
    mut stream: Stream,
    response: Response<Content>,
) -> Result<(), StreamError> {
    let (head, mut content) = response.into_parts();
    stream.send_response(Response::from_parts(head, ())).await?;
    while let Some(piece) = content.next_piece() {
        stream.send_data(piece).await?;
        // All streams of a connection share what may be kept: others have their turn.
        yield_now().await;
    }
    stream.finish().await
}
