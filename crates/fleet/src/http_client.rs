//! Asks others by HTTP/1.1, with TLS where the address says so: collectors, object stores.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// Keeps connections for the next request.
pub(crate) type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Trusts the authorities of this system; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others. Where there are none, TLS fails and the rest works.
///
/// # Errors
/// None that is known: the versions of TLS are those of the provider.
pub(crate) fn new() -> Result<HttpClient, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut tcp = HttpConnector::new();
    // TLS may be on top.
    tcp.enforce_http(false);
    tcp.set_connect_timeout(Some(CONNECT));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// Why a request failed, at the bottom of it: what is above says only that it did.
pub(crate) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
