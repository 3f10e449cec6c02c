//! Connections to a page's server: TCP, TLS, HTTP, or QUIC and HTTP, each timed.

use super::Target;
use super::exchange::Sender;
use super::loading::Phase;
use crate::http3::client as http3;
use crate::quic::{Failed, Windows};
use crate::reason::reason;
use crate::tls;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use units::HttpVersion;
use units::TrafficClass;

/// What a stream and a connection may receive ahead of the reader: Chromium's settings of HTTP/2 and of HTTP/3.
const STREAM_WINDOW: u32 = 6 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 15 * 1024 * 1024;
const WINDOWS: Windows = Windows {
    of_stream: STREAM_WINDOW,
    of_connection: CONNECTION_WINDOW,
    // Requests are short.
    ahead: 64 << 10,
    has_datagrams: false,
};

/// A connection that is ready for requests.
pub(super) struct Opened {
    pub(super) sender: Sender,
    /// The TCP handshake; of no length with QUIC.
    pub(super) connect: Phase,
    /// The TLS handshake; with QUIC its own, which has TLS's in it.
    pub(super) tls: Phase,
}

/// Opens connections to one target.
#[derive(Clone, Debug)]
pub(super) struct Dialer {
    peer: SocketAddr,
    class: TrafficClass,
    protocol: HttpVersion,
    config: Arc<ClientConfig>,
}

impl Dialer {
    pub(super) fn new(target: &Target, protocol: HttpVersion) -> Result<Self, String> {
        let config = tls::client_config(target.fingerprint, tls::alpn(protocol));
        Ok(Self {
            peer: target.peer,
            class: target.class(),
            protocol,
            config: config.map_err(|error| format!("TLS: {error}"))?,
        })
    }

    /// A connection to `host`.
    ///
    /// # Errors
    /// One line.
    pub(super) async fn open(&self, host: &str) -> Result<Opened, String> {
        if self.protocol == HttpVersion::H3 {
            return self.open_by_quic(host).await;
        }
        let (stream, connect) = self.connect().await?;
        let (stream, tls) = self.handshake(host, stream).await?;
        let sender = self.speak(stream).await;
        let failed = |error| format!("{} to {host} failed: {}", self.protocol, reason(&error));
        let sender = sender.map_err(failed)?;
        Ok(Opened {
            sender,
            connect,
            tls,
        })
    }

    async fn open_by_quic(&self, host: &str) -> Result<Opened, String> {
        let begin = sys::clock::now();
        let (peer, dscp) = (self.peer, self.class.dscp);
        let sender = http3::open(peer, host, &self.config, WINDOWS, dscp).await;
        let sender = sender.map_err(|failed| match failed {
            Failed::Mistrusted(_) => self.stranger(),
            Failed::Otherwise(why) => format!("QUIC with {host} at {peer} failed: {why}"),
        })?;
        let end = sys::clock::now();
        Ok(Opened {
            sender: Sender::H3(sender),
            connect: Phase { begin, end: begin },
            tls: Phase { begin, end },
        })
    }

    pub(super) async fn connect(&self) -> Result<(TcpStream, Phase), String> {
        let begin = sys::clock::now();
        let stream = self.dial().await;
        let end = sys::clock::now();
        let failed = |error| format!("cannot connect to {}: {}", self.peer, reason(&error));
        Ok((stream.map_err(failed)?, Phase { begin, end }))
    }

    async fn dial(&self) -> io::Result<TcpStream> {
        let socket = match self.peer {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        sys::tcp::set_traffic_class(&socket, self.class).map_err(io::Error::other)?;
        sys::tcp::adopt_congestion(&socket).map_err(io::Error::other)?;
        socket.set_nodelay(true)?;
        socket.connect(self.peer).await
    }

    pub(super) async fn handshake(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<(TlsStream<TcpStream>, Phase), String> {
        let begin = sys::clock::now();
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("'{host}' is no name of a host"))?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector.connect(name, stream).await;
        let end = sys::clock::now();
        let stream = stream.map_err(|error| self.refusal(host, &error))?;
        let agreed = tls::agreed(stream.get_ref().1.alpn_protocol());
        if agreed == Some(self.protocol) {
            Ok((stream, Phase { begin, end }))
        } else {
            Err(format!(
                "{host} at {} does not speak {}",
                self.peer, self.protocol
            ))
        }
    }

    fn refusal(&self, host: &str, error: &io::Error) -> String {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        if let Some(rustls::Error::InvalidCertificate(
            CertificateError::ApplicationVerificationFailure,
        )) = inner
        {
            return self.stranger();
        }
        let why = reason(error);
        format!("TLS with {host} at {} failed: {why}", self.peer)
    }

    fn stranger(&self) -> String {
        format!("{} is not the host that the key was made for", self.peer)
    }

    /// The connection itself runs as a task of its own and ends with its last request.
    pub(super) async fn speak(&self, stream: TlsStream<TcpStream>) -> hyper::Result<Sender> {
        let stream = TokioIo::new(stream);
        if self.protocol == HttpVersion::Http1 {
            let (sender, connection) = http1::handshake(stream).await?;
            tokio::spawn(connection);
            return Ok(Sender::Http1(sender));
        }
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let (sender, connection) = builder.handshake(stream).await?;
        tokio::spawn(connection);
        Ok(Sender::H2(sender))
    }
}
