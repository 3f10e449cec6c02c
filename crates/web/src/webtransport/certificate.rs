//! A certificate that a page names by its hash.
//!
//! Browsers accept it without a name that they know, where it is an ECDSA certificate valid for at most two weeks
//! (W3C WebTransport, `serverCertificateHashes`). So this one is made anew before it expires, for as long as the server runs.

use crate::tls::{self, fingerprint};
use jiff::{Timestamp, ToSpan, Zoned, tz::TimeZone};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Days before and after it is made in which a certificate is valid, whole days of UTC: the visitor's clock may be wrong.
const BEFORE: i64 = 2;
const AFTER: i64 = 11;
/// Days after which another is made.
const KEPT: i64 = 7;

/// A certificate of its own that is always a fresh one.
#[derive(Debug)]
pub(super) struct Fresh(Mutex<Made>);

#[derive(Debug)]
struct Made {
    until: Timestamp,
    shown: Arc<CertifiedKey>,
}

impl Fresh {
    /// Makes the first.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Mutex::new(Made::at(Timestamp::now())?)))
    }

    /// SHA-256 over the certificate that is shown now, in DER form.
    pub(super) fn hash(&self) -> [u8; 32] {
        fingerprint(self.shown(Timestamp::now()).cert[0].as_ref())
    }

    fn shown(&self, now: Timestamp) -> Arc<CertifiedKey> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now >= made.until {
            // Where none can be made the old one is still valid for a while.
            if let Ok(next) = Made::at(now) {
                *made = next;
            }
        }
        Arc::clone(&made.shown)
    }
}

impl Made {
    fn at(now: Timestamp) -> io::Result<Self> {
        let today = Zoned::new(now, TimeZone::UTC);
        let day = |days: i64| -> io::Result<_> {
            let date = today.checked_add(days.days()).map_err(io::Error::other)?;
            let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
            Ok(date_time_ymd(date.year().into(), month, day))
        };
        let mut params =
            CertificateParams::new(["isobath".to_owned()]).map_err(io::Error::other)?;
        (params.not_before, params.not_after) = (day(-BEFORE)?, day(AFTER)?);
        // ECDSA with P-256, which is the library's default and what browsers want.
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let private = PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
        let shown = CertifiedKey::from_der(chain, private, &tls::provider());
        Ok(Self {
            until: (now + (24 * KEPT).hours()),
            shown: Arc::new(shown.map_err(io::Error::other)?),
        })
    }
}

impl ResolvesServerCert for Fresh {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.shown(Timestamp::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_certificate_is_shown_before_one_expires() {
        let fresh = Fresh::new().unwrap();
        let now = Timestamp::now();
        let der = |later: i64| fresh.shown(now + (24 * later).hours()).cert[0].to_vec();
        let first = der(0);
        assert_eq!(fingerprint(&first), fresh.hash());
        assert_eq!(der(KEPT - 1), first);
        let second = der(KEPT + 1);
        assert_ne!(second, first);
        assert_eq!(der(KEPT + 2), second);
    }
}
