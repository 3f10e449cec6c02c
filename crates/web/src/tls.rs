//! TLS 1.3 as pages need it: the far end's own certificate, known by its fingerprint, and no
//! resumption, so that every connection of every load costs the same.

use crate::credentials::Credentials;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ResolvesServerCert;
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error};
use rustls::{PeerIncompatible, ServerConfig, SignatureScheme, SupportedCipherSuite};
use std::sync::Arc;
use units::HttpVersion;

/// Octets of a record. Nothing of a record can be read before all of it is there: the largest, 16 KiB, do not fit
/// TCP's initial window (RFC 6928), so a page's first octets would take another round trip.
pub(crate) const RECORD: usize = 4 * 1024;

/// A server with these credentials, for both protocols.
pub(crate) fn server_config(credentials: &Credentials) -> Result<ServerConfig, Error> {
    let Credentials { chain, key } = credentials.clone();
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(without_resumption(config))
}

/// The same with the certificate that `resolver` chooses.
pub(crate) fn server_config_by(
    resolver: Arc<dyn ResolvesServerCert>,
) -> Result<ServerConfig, Error> {
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(resolver);
    Ok(without_resumption(config))
}

/// Without resumption.
fn without_resumption(mut config: ServerConfig) -> ServerConfig {
    config.alpn_protocols = vec![alpn(HttpVersion::H2), alpn(HttpVersion::Http1)];
    config.send_tls13_tickets = 0;
    config.max_fragment_size = Some(RECORD);
    config
}

/// A client that speaks `protocol`, by its name (RFC 7301), with the server of this certificate and no other.
pub(crate) fn client_config(
    fingerprint: [u8; 32],
    protocol: Vec<u8>,
) -> Result<Arc<ClientConfig>, Error> {
    let provider = provider();
    let pin = Pin {
        fingerprint,
        provider: Arc::clone(&provider),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pin))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol];
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

/// The protocol agreed on by ALPN (RFC 7301).
pub(crate) fn agreed(alpn_protocol: Option<&[u8]>) -> Option<HttpVersion> {
    let name = core::str::from_utf8(alpn_protocol?).ok()?;
    name.parse().ok()
}

/// SHA-256 over a certificate in DER form.
pub fn fingerprint(certificate: &[u8]) -> [u8; 32] {
    let suite = match ring::cipher_suite::TLS13_AES_128_GCM_SHA256 {
        SupportedCipherSuite::Tls13(suite) => &suite.common,
        SupportedCipherSuite::Tls12(suite) => &suite.common,
    };
    let mut octets = [0; 32];
    octets.copy_from_slice(suite.hash_provider.hash(certificate).as_ref());
    octets
}

pub(crate) fn alpn(protocol: HttpVersion) -> Vec<u8> {
    protocol.name().as_bytes().to_vec()
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Accepts the one certificate with the fingerprint, whatever it says about itself.
#[derive(Debug)]
struct Pin {
    fingerprint: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if fingerprint(certificate) == self.fingerprint {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls13RequiredForQuic.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
