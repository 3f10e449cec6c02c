//! The same answers over QUIC.

use super::{MAX_HEADER, MOST_BUFFERED, RECEIVE, answer, is_upload, nothing};
use crate::http3::server::{self, Arrived};
use crate::quic::Windows;
use h3::error::StreamError;

pub(super) const WINDOWS: Windows = Windows {
    of_stream: RECEIVE,
    of_connection: RECEIVE,
    ahead: MOST_BUFFERED,
};

/// Answers the requests of a connection until it ends.
pub(super) async fn converse(connection: quinn::Connection) {
    server::converse(connection, MAX_HEADER, respond).await;
}

async fn respond(request: Arrived) -> Result<(), StreamError> {
    let (request, mut stream) = request.resolve_request().await?;
    let (request, ()) = request.into_parts();
    let response = if is_upload(&request) {
        while stream.recv_data().await?.is_some() {}
        nothing()
    } else {
        answer(&request)
    };
    server::send(stream, response).await
}
