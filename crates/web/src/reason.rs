//! Errors of libraries in few words.

use std::error::Error;
use std::io;

/// What lies at the bottom of `error`: libraries wrap "connection reset by peer" several times over.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string().replace('\n', " ")
}

/// In one line, that a handshake failed because the server's certificate is not believed; none where that is not why.
pub(crate) fn mistrust(error: &io::Error) -> Option<String> {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let is_mistrust = matches!(inner, Some(rustls::Error::InvalidCertificate(_)));
    is_mistrust.then(|| untrusted(&reason(error)))
}

/// What to do about a certificate that is not believed, for this reason.
pub(crate) fn untrusted(reason: &str) -> String {
    format!("{reason} - give its authority's certificate by --ca, or say --insecure")
}
