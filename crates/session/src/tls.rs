//! TLS 1.3 with a pinned certificate, and the proof of the secret.
//!
//! No authority signs the server's certificate; the client knows its SHA-256 fingerprint from the
//! access key. The signature in the handshake is still verified, so showing the certificate is not
//! enough: the server must hold its private key.
//!
//! The secret never travels. Both ends export keying material from the finished handshake (RFC 8446
//! section 7.5, RFC 5705) and the client sends keyed BLAKE3 over it. The material belongs to this
//! one connection, so a proof seen by a man in the middle opens nothing anywhere else.

use crate::Error;
use crate::identity::Identity;
use crate::key::{Fingerprint, Secret};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, ClientConnection, Connection};
use rustls::{DigitallySignedStruct, ServerConfig, SignatureScheme};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

const EXPORT_LABEL: &[u8] = b"EXPORTER-isobath-1-proof";
const PROOF_CONTEXT: &str = "isobath 1 proof of the access key's secret";
/// The client asks for no name; the fingerprint says who is meant.
const SERVER_NAME: &str = "isobath.invalid";

/// That the client knows the secret, on this connection.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Proof(#[serde(with = "crate::base64")] [u8; 32]);

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(..)")
    }
}

impl Proof {
    /// The proof of `secret` on `connection`, whose handshake is done.
    pub(crate) fn new(connection: &Connection, secret: &Secret) -> Result<Self, Error> {
        let material = connection
            .export_keying_material([0; 32], EXPORT_LABEL, None)
            .map_err(Error::Tls)?;
        let key = blake3::derive_key(PROOF_CONTEXT, &secret.0);
        Ok(Self(*blake3::keyed_hash(&key, &material).as_bytes()))
    }

    /// Whether both are the same; `blake3::Hash` compares in constant time.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        blake3::Hash::from_bytes(self.0) == blake3::Hash::from_bytes(other.0)
    }
}

/// SHA-256 over a certificate in DER form.
pub(crate) fn fingerprint(certificate: &[u8]) -> Fingerprint {
    let suite = match ring::cipher_suite::TLS13_AES_128_GCM_SHA256 {
        rustls::SupportedCipherSuite::Tls13(suite) => &suite.common,
        rustls::SupportedCipherSuite::Tls12(suite) => &suite.common,
    };
    let mut octets = [0; 32];
    octets.copy_from_slice(suite.hash_provider.hash(certificate).as_ref());
    Fingerprint(octets)
}

/// A server that shows `identity` and asks clients for no certificate.
pub(crate) fn server_config(identity: &Identity) -> Result<Arc<ServerConfig>, Error> {
    let key = PrivateKeyDer::try_from(identity.private_key().to_vec())
        .map_err(|reason| Error::Tls(rustls::Error::General(reason.to_owned())))?;
    let chain = vec![CertificateDer::from(identity.certificate().to_vec())];
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(Error::Tls)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(Error::Tls)?;
    // Each connection proves itself anew; nothing is resumed.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// A connection to the server with this fingerprint; to any server without one.
pub(crate) fn client(fingerprint: Option<Fingerprint>) -> Result<Connection, Error> {
    let provider = provider();
    let pin = Pin {
        fingerprint,
        provider: Arc::clone(&provider),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(Error::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pin))
        .with_no_client_auth();
    config.enable_sni = false;
    config.resumption = rustls::client::Resumption::disabled();
    let name = ServerName::try_from(SERVER_NAME)
        .map_err(|reason| Error::Tls(rustls::Error::General(reason.to_string())))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(Error::Tls)?;
    Ok(Connection::Client(connection))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Accepts the one certificate with the fingerprint, whatever it says about itself.
#[derive(Debug)]
struct Pin {
    fingerprint: Option<Fingerprint>,
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
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.fingerprint {
            Some(pinned) if pinned != fingerprint(certificate) => {
                Err(CertificateError::ApplicationVerificationFailure.into())
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls13RequiredForQuic.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_sha_256() {
        // FIPS 180-4, example "abc".
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hex = data_encoding::HEXLOWER.encode(&fingerprint(b"abc").0);
        assert_eq!(hex, digest);
    }
}
