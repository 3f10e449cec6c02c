//! Requests over QUIC.

use crate::quic::{self, Failed, Open, Windows};
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
use units::Dscp;

/// Octets that are handed to the connection at once: what a request beside them waits for at most.
const PIECE: usize = 4 << 10;

/// The sending half of a connection.
#[derive(Clone)]
pub(crate) struct Sender {
    requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    open: Arc<Open>,
}

/// An answer's body.
pub(crate) struct Body(RequestStream<h3_quinn::RecvStream, Bytes>);

/// A new connection with the server of `host` at `address`, whose packets have this DSCP where the system lets them.
///
/// # Errors
/// [`Failed`].
pub(crate) async fn open(
    address: SocketAddr,
    host: &str,
    config: &Arc<ClientConfig>,
    windows: Windows,
    dscp: Dscp,
) -> Result<Sender, Failed> {
    let open = quic::connect(address, host, config, windows, dscp).await?;
    let connection = h3_quinn::Connection::new(open.0.clone());
    let (mut driver, requests) = h3::client::new(connection)
        .await
        .map_err(|error| Failed::Otherwise(reason(&error)))?;
    tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });
    Ok(Sender {
        requests,
        open: Arc::new(open),
    })
}

impl Sender {
    /// Sends a request without a body, and waits for the head of its answer.
    ///
    /// # Errors
    /// One line.
    pub(crate) async fn send(
        &mut self,
        request: Request<()>,
    ) -> Result<(Response<()>, Body), String> {
        let mut stream = self.requests.send_request(request).await.map_err(why)?;
        stream.finish().await.map_err(why)?;
        let (_, mut answer) = stream.split();
        let head = answer.recv_response().await.map_err(why)?;
        Ok((head, Body(answer)))
    }

    /// Sends a request whose body is `filler` without end, counts its octets, and waits for what is answered.
    ///
    /// # Errors
    /// One line.
    pub(crate) async fn upload(
        &mut self,
        request: Request<()>,
        filler: Bytes,
        counter: &AtomicU64,
    ) -> Result<(Response<()>, Body), String> {
        let stream = self.requests.send_request(request).await.map_err(why)?;
        let (mut body, mut answer) = stream.split();
        let piece = filler.slice(..filler.len().min(PIECE));
        let sending = async {
            loop {
                if let Err(error) = body.send_data(piece.clone()).await {
                    return error;
                }
                counter.fetch_add(piece.len() as u64, Ordering::Relaxed);
                // All streams of a connection share what may be kept: a request beside this one has its turn.
                yield_now().await;
            }
        };
        tokio::select! {
            head = answer.recv_response() => Ok((head.map_err(why)?, Body(answer))),
            error = sending => Err(why(error)),
        }
    }

    /// The connection, to be closed when all is done: it is not by what is dropped together with its runtime.
    pub(crate) fn connection(&self) -> quinn::Connection {
        self.open.0.clone()
    }
}

impl Body {
    /// The next octets.
    ///
    /// # Errors
    /// One line.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let data = self.0.recv_data().await.map_err(why)?;
        Ok(data.map(|mut data| data.copy_to_bytes(data.remaining())))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn why(error: StreamError) -> String {
    reason(&error)
}
