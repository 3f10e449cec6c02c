//! The same answers over QUIC.

use super::{MAX_HEADER, MOST_BUFFERED, RECEIVE, answer, is_upload, nothing};
use crate::http3::server::{self, Arrived, Read};
use crate::quic::Windows;
use bytes::Buf;
use h3::error::StreamError;
use std::sync::atomic::Ordering;

pub(super) const WINDOWS: Windows = Windows {
    of_stream: RECEIVE,
    of_connection: RECEIVE,
    ahead: MOST_BUFFERED,
    has_datagrams: false,
};

/// Answers the requests of a connection until it ends.
pub(super) async fn converse(connection: quinn::Connection) {
    server::converse(connection, MAX_HEADER, respond).await;
}

async fn respond(request: Arrived, read: Read) -> Result<(), StreamError> {
    let (request, mut stream) = request.resolve_request().await?;
    let (request, ()) = request.into_parts();
    let response = if is_upload(&request) {
        while let Some(data) = stream.recv_data().await? {
            read.fetch_add(data.remaining() as u64, Ordering::Relaxed);
        }
        nothing()
    } else {
        answer(&request)
    };
    server::send(stream, response).await
}
