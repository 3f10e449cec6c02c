//! Requests that come over QUIC, and their answers.

use crate::content::Content;
use bytes::Bytes;
use h3::error::StreamError;
use h3::server::{RequestResolver, RequestStream};
use hyper::Response;
use tokio::task::{JoinSet, yield_now};

/// A request that has come, and is not read yet.
pub(crate) type Arrived = RequestResolver<h3_quinn::Connection, Bytes>;
/// Where its answer goes.
pub(crate) type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// Lets `respond` have each request of a connection until it ends; headers are at most `most_header` octets.
pub(crate) async fn converse<F>(
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
