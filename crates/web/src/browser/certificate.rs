//! How Chromium is told to trust a certificate that no authority has signed.
//!
//! The page server's certificate is its own. Chromium can be given the hash of a key whose
//! certificates it shall take whoever signed them (`--ignore-certificate-errors-spki-list`); any
//! other key is refused as ever. So the trust is narrow, which `--ignore-certificate-errors` would not
//! be: with that a page that somebody else slipped in between would be measured as if it were ours.

use super::Error;
use data_encoding::BASE64;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;

/// Base64 of the SHA-256 hash of the subject's public key (SPKI, RFC 7469 section 2.4) in the X.509
/// certificate `der`.
///
/// # Errors
///
/// When it is no certificate.
pub(super) fn key_hash(der: &[u8]) -> Result<String, Error> {
    let der = CertificateDer::from(der);
    let parsed = ParsedCertificate::try_from(&der);
    let parsed = parsed.map_err(|error| Error::Certificate(error.to_string()))?;
    // The hash of a cipher suite is the shortest way to SHA-256 with what is here anyway.
    let suite = TLS13_AES_128_GCM_SHA256.tls13();
    let hash = suite.ok_or_else(|| Error::Certificate("no SHA-256".to_owned()))?;
    let hash = hash
        .common
        .hash_provider
        .hash(&parsed.subject_public_key_info());
    Ok(BASE64.encode(hash.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate for `page.test` and the hash of its key, both by OpenSSL 3.0:
    /// `x509 -pubkey | pkey -pubin -outform DER | dgst -sha256 -binary | base64`.
    const CERTIFICATE: &str = "\
        MIIBlTCCATugAwIBAgIUc+Qr5vqB3/CR8icrEDaDUq0P2C4wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJcGFnZS50\
        ZXN0MCAXDTI2MTEyMTExMzQ1OVoYDzIxMjYxMDI4MTEzNDU5WjAUMRIwEAYDVQQDDAlwYWdlLnRlc3QwWTATBgcq\
        hkjOPQIBBggqhkjOPQMBBwNCAAT+C/Jka+WEnf0nDEPaLK+FViHN95nB74WyG9zB/dd8BuuuSd3/XRY7oeOCElFG\
        oKXW6P9Ap8yJO1BU3gV477Aho2kwZzAdBgNVHQ4EFgQUNSG7utpOZHPLMITJdbA9pyeeAKkwHwYDVR0jBBgwFoAU\
        NSG7utpOZHPLMITJdbA9pyeeAKkwDwYDVR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglwYWdlLnRlc3QwCgYIKoZI\
        zj0EAwIDSAAwRQIhALkSRdqKzjit3b0xs6K9cUwQMzEw9uopBEA1KxcMdttSAiAvVBaqEcWZJqZiY1+omIt0Gb0g\
        Teq6YnGv0E8L5eA2Hg==";
    const KEY_HASH: &str = "JThUcS0jWdJTnIkQCdehdHkwfv1tf4IGNjZY/PFbFSM=";

    #[test]
    fn the_hash_is_the_one_that_openssl_makes() {
        let der = BASE64.decode(CERTIFICATE.as_bytes()).unwrap();
        assert_eq!(key_hash(&der).unwrap(), KEY_HASH);
    }

    #[test]
    fn what_is_no_certificate_is_refused_in_one_line() {
        for nonsense in [
            &b""[..],
            b"-----BEGIN CERTIFICATE-----",
            &[0x30, 0x82, 0xff],
        ] {
            let line = key_hash(nonsense).unwrap_err().to_string();
            assert!(
                line.starts_with("read the page server's certificate"),
                "{line}"
            );
            assert!(!line.contains('\n'));
        }
    }
}
