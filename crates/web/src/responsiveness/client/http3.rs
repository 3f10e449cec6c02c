//! Requests over QUIC.

use super::super::upload::filler;
use super::{MOST_BUFFERED, WINDOW};
use crate::quic::{self, Open, Windows};
use crate::reason::reason;
use bytes::{Buf, Bytes};
use h3::client::{RequestStream, SendRequest};
use h3::error::StreamError;
use hyper::{Request, Response};
use rustls::ClientConfig;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::yield_now;

/// Octets that are handed to the connection at once: what a request beside them waits for at most.
const PIECE: usize = 4 << 10;
const WINDOWS: Windows = Windows {
    receive: WINDOW,
    ahead: MOST_BUFFERED,
};

/// The sending half of a connection.
#[derive(Clone)]
pub(super) struct Sender {
    requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    _open: Arc<Open>,
}

/// An answer's body.
pub(super) struct Body(RequestStream<h3_quinn::RecvStream, Bytes>);

/// A new connection with the server of `host` at `address`.
///
/// # Errors
/// One line.
pub(super) async fn open(
    address: SocketAddr,
    host: &str,
    config: &Arc<ClientConfig>,
) -> Result<Sender, String> {
    let open = quic::connect(address, host, config, WINDOWS).await?;
    let connection = h3_quinn::Connection::new(open.0.clone());
    let (mut driver, requests) = h3::client::new(connection)
        .await
        .map_err(|error| format!("HTTP/3 with {address} failed: {}", reason(&error)))?;
    tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });
    Ok(Sender {
        requests,
        _open: Arc::new(open),
    })
}

impl Sender {
    /// Sends a request, with a body without end where there is a counter of its octets, and waits for what is answered.
    ///
    /// # Errors
    /// One line.
    pub(super) async fn send(
        &mut self,
        request: Request<()>,
        counter: Option<&AtomicU64>,
    ) -> Result<(Response<()>, Body), String> {
        let mut stream = self.requests.send_request(request).await.map_err(why)?;
        let Some(counter) = counter else {
            stream.finish().await.map_err(why)?;
            let (_, mut answer) = stream.split();
            let head = answer.recv_response().await.map_err(why)?;
            return Ok((head, Body(answer)));
        };
        let (mut body, mut answer) = stream.split();
        let sending = async {
            loop {
                if let Err(error) = body.send_data(filler().slice(..PIECE)).await {
                    return error;
                }
                counter.fetch_add(PIECE as u64, Ordering::Relaxed);
                // All streams of a connection share what may be kept: a request beside this one has its turn.
                yield_now().await;
            }
        };
        tokio::select! {
            head = answer.recv_response() => Ok((head.map_err(why)?, Body(answer))),
            error = sending => Err(why(error)),
        }
    }
}

impl Body {
    /// The next octets.
    ///
    /// # Errors
    /// One line.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let data = self.0.recv_data().await.map_err(why)?;
        Ok(data.map(|mut data| data.copy_to_bytes(data.remaining())))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn why(error: StreamError) -> String {
    reason(&error)
}
