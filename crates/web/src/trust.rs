//! Certificate verification.

use crate::tls::alpn;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::HttpVersion;

/// Where distributions keep the certificates of authorities.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Whose certificates are trusted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trust {
    /// Those that the system's authorities vouch for.
    System,
    /// Those that the authorities in a file vouch for.
    File(PathBuf),
    /// Anybody's: for test servers without a name.
    Anybody,
}

/// A client of one version of HTTP that resumes nothing: every connection costs the same.
pub(crate) fn config(trust: &Trust, protocol: HttpVersion) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let builder = match trust {
        Trust::System => {
            let bundle = BUNDLES
                .into_iter()
                .map(Path::new)
                .find(|path| path.exists());
            let bundle = bundle.ok_or(
                "this system has no certificates of authorities - install ca-certificates, or say --ca or --insecure",
            )?;
            builder.with_root_certificates(roots(bundle)?)
        }
        Trust::File(path) => builder.with_root_certificates(roots(path)?),
        Trust::Anybody => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody(provider))),
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![alpn(protocol)];
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

fn roots(path: &Path) -> Result<RootCertStore, String> {
    let failed = |reason: String| format!("{}: {reason}", path.display());
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| failed(e.to_string()))?;
    for certificate in certificates.filter_map(Result::ok) {
        // A bundle may have some that are too old to be read.
        let _ = roots.add(certificate);
    }
    if roots.is_empty() {
        return Err(failed("no certificates are in it".to_owned()));
    }
    Ok(roots)
}

/// Believes everybody who has the key of the certificate that it shows.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
