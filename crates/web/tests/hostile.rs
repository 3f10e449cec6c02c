//! Whoever has a session's token and means no good.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod stand;

use isobath_web::load;
use proptest::prelude::*;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use stand::{LONG, Stand, TOKEN};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::HttpVersion;

type Tls = StreamOwned<ClientConnection, TcpStream>;

fn dial(stand: &Stand) -> TcpStream {
    let socket = TcpStream::connect(stand.address()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

/// TLS 1.3 with any certificate.
fn trusting(protocol: &str) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(anyone::Anyone(provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    config
}

/// TLS with a page's host.
fn tls(stand: &Stand, host: &str, protocol: &str) -> Tls {
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::new(trusting(protocol)), name).unwrap();
    StreamOwned::new(connection, dial(stand))
}

/// Sends `octets` on a new connection and leaves.
fn throw(stand: &Stand, protocol: &str, octets: &[u8]) {
    let mut stream = tls(stand, &name("www"), protocol);
    let _ = stream.write_all(octets);
    let _ = stream.flush();
    stream.conn.send_close_notify();
    let _ = stream.conn.complete_io(&mut stream.sock);
    let _ = stream.sock.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

fn name(host: &str) -> String {
    format!("{host}.{TOKEN:016x}.isobath.test")
}

fn status(stand: &Stand, request: &str) -> Option<u16> {
    let mut stream = tls(stand, &name("www"), "http/1.1");
    let mut answer = Vec::new();
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

#[track_caller]
fn assert_serves(stand: &Stand) {
    let (model, _published) = stand.publish("today");
    let load = load(
        &model,
        &stand.target,
        HttpVersion::H2,
        LONG,
        &AtomicBool::new(false),
    );
    assert_eq!(load.error, None);
}

#[test]
fn requests_for_what_is_not_there_are_refused() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let host = name("www");
    let other = format!("www.{:016x}.isobath.test", TOKEN ^ 1);
    let close = "connection: close\r\n\r\n";
    let table = [
        (format!("GET / HTTP/1.1\r\nhost: {host}\r\n{close}"), 200),
        (
            format!("GET /probe HTTP/1.1\r\nhost: {}\r\n{close}", name("x")),
            200,
        ),
        (
            format!("GET /1.css HTTP/1.1\r\nhost: {host}\r\n{close}"),
            404,
        ),
        (
            format!("GET /../etc/passwd HTTP/1.1\r\nhost: {host}\r\n{close}"),
            404,
        ),
        (
            format!("POST / HTTP/1.1\r\nhost: {host}\r\ncontent-length: 3\r\n{close}abc"),
            405,
        ),
        (format!("GET / HTTP/1.1\r\nhost: {other}\r\n{close}"), 421),
        (
            format!("GET / HTTP/1.1\r\nhost: example.com\r\n{close}"),
            421,
        ),
        (format!("GET / HTTP/1.1\r\n{close}"), 421),
    ];
    for (request, expected) in table {
        assert_eq!(status(&stand, &request), Some(expected), "{request}");
    }
    drop(published);
    assert_serves(&stand);
}

#[test]
fn headers_without_end_are_refused() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let long = format!(
        "GET / HTTP/1.1\r\nhost: {}\r\nx: {}\r\n\r\n",
        name("www"),
        "y".repeat(20_000)
    );
    let many = "x: y\r\n".repeat(1_000);
    let many = format!("GET / HTTP/1.1\r\nhost: {}\r\n{many}\r\n", name("www"));
    for request in [long, many] {
        let status = status(&stand, &request);
        assert!(
            status.is_none_or(|status| status == 431 || status == 400),
            "{status:?}"
        );
    }
    drop(published);
    assert_serves(&stand);
}

/// Octets of a frame of HTTP/3 that a server took of a client, which says that it has a thousand million of them, until it had enough.
async fn flood(stand: &Stand) -> u64 {
    let config = quinn::crypto::rustls::QuicClientConfig::try_from(trusting("h3")).unwrap();
    let config = quinn::ClientConfig::new(Arc::new(config));
    let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let connecting = endpoint.connect_with(config, stand.address(), &name("www"));
    let connection = connecting.unwrap().await.unwrap();
    let (mut request, _answer) = connection.open_bi().await.unwrap();
    // HEADERS, and a length in eight octets (RFC 9114 section 7, RFC 9000 section 16).
    let frame = [0x01, 0xc0, 0, 0, 0, 0x3b, 0x9a, 0xca, 0];
    let mut taken = 0;
    let (mut next, filler) = (&frame[..], [0; 16 << 10]);
    while request.write_all(next).await.is_ok() {
        taken += next.len() as u64;
        next = &filler;
    }
    taken
}

#[test]
fn a_frame_of_http_3_without_end_is_not_kept() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let taken = runtime.block_on(flood(&stand));
    // 4 MiB, and what comes until it is looked at.
    assert!(taken < 500 << 20, "{taken}");
    drop(published);
    assert_serves(&stand);
}

#[test]
fn another_name_than_the_pages_is_not_spoken_with() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let other = format!("www.{:016x}.isobath.test", TOKEN ^ 1);
    for host in [other.as_str(), "example.com"] {
        let mut stream = tls(&stand, host, "http/1.1");
        let request = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", name("www"));
        let _ = stream.write_all(request.as_bytes());
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        assert!(all.is_empty(), "{host}");
    }
    drop(published);
    assert_serves(&stand);
}

#[test]
fn more_than_256_connections_are_closed() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let mut sockets: Vec<_> = (0..256).map(|_| dial(&stand)).collect();
    while published.connections() < 256 {
        std::thread::yield_now();
    }
    let mut refused = dial(&stand);
    assert!(matches!(refused.read(&mut [0]), Ok(0)));
    sockets.pop();
    while published.connections() == 256 {
        std::thread::yield_now();
    }
    drop((sockets, published));
    assert_serves(&stand);
}

#[test]
fn nothing_is_served_without_a_page() {
    let stand = Stand::new();
    let mut socket = dial(&stand);
    assert!(matches!(socket.read(&mut [0]), Ok(0)));
    assert_serves(&stand);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_octets_harm_the_server(
        octets in proptest::collection::vec(any::<u8>(), 0..2_000),
        is_h2: bool, has_preface: bool, is_tls: bool,
    ) {
        let stand = Stand::new();
        let (_, published) = stand.publish("today");
        let preface: &[u8] = match (has_preface, is_h2) {
            (false, _) => b"",
            (true, true) => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
            (true, false) => b"GET / HTTP/1.1\r\n",
        };
        let octets = [preface, &octets].concat();
        if is_tls {
            throw(&stand, if is_h2 { "h2" } else { "http/1.1" }, &octets);
        } else {
            let mut socket = dial(&stand);
            let _ = socket.write_all(&octets);
            let _ = socket.shutdown(Shutdown::Write);
            let _ = socket.read_to_end(&mut Vec::new());
        }
        drop(published);
        assert_serves(&stand);
    }
}

/// A client that trusts anyone.
mod anyone {
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::CryptoProvider;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{DigitallySignedStruct, Error, SignatureScheme};
    use std::sync::Arc;

    #[derive(Debug)]
    pub(crate) struct Anyone(pub(crate) Arc<CryptoProvider>);

    impl ServerCertVerifier for Anyone {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.signature_verification_algorithms.supported_schemes()
        }
    }
}
