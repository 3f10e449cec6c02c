//! What a server shows of itself by TLS, and the key that proves it.

use crate::tls;
use hyper_util::rt::TokioIo;
use rustls::Error;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use units::HttpVersion;

/// For a handshake; on a full path one takes seconds.
const HANDSHAKE: Duration = Duration::from_secs(15);

/// A certificate, those that vouch for it, and its private key.
#[derive(Debug)]
pub struct Credentials {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Clone for Credentials {
    fn clone(&self) -> Self {
        Self {
            chain: self.chain.clone(),
            key: self.key.clone_key(),
        }
    }
}

impl Credentials {
    /// A certificate that vouches for itself, and its private key, both in DER form.
    ///
    /// # Errors
    /// One line, when this is no private key.
    pub fn from_der(certificate: &[u8], key: &[u8]) -> Result<Self, String> {
        Ok(Self {
            chain: vec![CertificateDer::from(certificate.to_vec())],
            key: PrivateKeyDer::try_from(key.to_vec())?,
        })
    }

    /// A chain of certificates, the server's own first, and its private key, as files in PEM form (RFC 7468).
    ///
    /// # Errors
    /// One line, when a file cannot be read or holds something else, or the key is not the certificate's.
    pub fn from_pem(chain: &Path, key: &Path) -> Result<Self, String> {
        let failed = |path: &Path, reason: String| format!("{}: {reason}", path.display());
        let certificates = CertificateDer::pem_file_iter(chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed(chain, error.to_string()))?;
        if certificates.is_empty() {
            return Err(failed(chain, "no certificate is in it".to_owned()));
        }
        let private =
            PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, error.to_string()))?;
        let credentials = Self {
            chain: certificates,
            key: private,
        };
        tls::server_config(&credentials).map_err(|error| match error {
            Error::InvalidCertificate(_) => failed(chain, error.to_string()),
            _ => failed(key, error.to_string()),
        })?;
        Ok(credentials)
    }
}

/// Takes connections for one version of HTTP over TLS.
#[derive(Clone)]
pub struct Acceptor(TlsAcceptor);

impl Acceptor {
    /// For a server with these credentials.
    ///
    /// # Errors
    /// When the key does not fit the certificate.
    pub fn new(credentials: &Credentials, protocol: HttpVersion) -> io::Result<Self> {
        let mut config = tls::server_config(credentials).map_err(io::Error::other)?;
        config.alpn_protocols = vec![tls::alpn(protocol)];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// The handshake on a connection, in [`HANDSHAKE`] at most; then what hyper serves.
    ///
    /// # Errors
    /// When it fails, or takes too long.
    pub async fn accept(&self, stream: TcpStream) -> io::Result<TokioIo<TlsStream<TcpStream>>> {
        let handshake = tokio::time::timeout(HANDSHAKE, self.0.accept(stream));
        Ok(TokioIo::new(handshake.await??))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_a_chain_and_its_key_or_a_line_that_says_what_is_wrong() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = place.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let make = || rcgen::generate_simple_self_signed(["near.example".to_owned()]).unwrap();
        let (own, other) = (make(), make());
        let chain = own.cert.pem() + &other.cert.pem();
        let chain = file("chain.pem", &chain);
        let key = file("key.pem", &own.signing_key.serialize_pem());
        let read = Credentials::from_pem(&chain, &key).unwrap();
        assert_eq!(read.chain.len(), 2);
        assert!(Acceptor::new(&read, HttpVersion::Http1).is_ok());

        let other = file("other.pem", &other.signing_key.serialize_pem());
        let nothing = file("nothing.pem", "nothing\n");
        let missing = place.path().join("missing.pem");
        for (chain, key, named) in [
            (&chain, &other, "other.pem: "),
            (&chain, &nothing, "nothing.pem: "),
            (&nothing, &key, "nothing.pem: no certificate"),
            (&missing, &key, "missing.pem: "),
            (&chain, &missing, "missing.pem: "),
        ] {
            let refused = Credentials::from_pem(chain, key).unwrap_err();
            assert!(
                refused.contains(named) && !refused.contains('\n'),
                "{refused}"
            );
        }
        assert!(Credentials::from_der(b"x", b"").is_err());
    }
}
