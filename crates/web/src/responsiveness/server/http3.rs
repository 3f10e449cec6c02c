//! The same answers over QUIC.

use super::{MAX_HEADER, MOST_BUFFERED, RECEIVE, answer, is_upload, nothing};
use crate::quic::Windows;
use bytes::Bytes;
use h3::error::StreamError;
use h3::server::RequestResolver;
use hyper::Response;
use tokio::task::{JoinSet, yield_now};

pub(super) const WINDOWS: Windows = Windows {
    receive: RECEIVE,
    ahead: MOST_BUFFERED,
};

/// Answers the requests of a connection until it ends.
pub(super) async fn converse(connection: quinn::Connection) {
    let connection = h3_quinn::Connection::new(connection);
    let mut builder = h3::server::builder();
    builder.max_field_section_size(u64::from(MAX_HEADER));
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

async fn respond(request: RequestResolver<h3_quinn::Connection, Bytes>) -> Result<(), StreamError> {
    let (request, mut stream) = request.resolve_request().await?;
    let (request, ()) = request.into_parts();
    let response = if is_upload(&request) {
        while stream.recv_data().await?.is_some() {}
        nothing()
    } else {
        answer(&request)
    };
    let (head, mut content) = response.into_parts();
    stream.send_response(Response::from_parts(head, ())).await?;
    while let Some(piece) = content.next_piece() {
        stream.send_data(piece).await?;
        // All streams of a connection share what may be kept: others have their turn.
        yield_now().await;
    }
    stream.finish().await
}
