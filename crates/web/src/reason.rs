//! Errors of libraries in few words.

use std::error::Error;

/// What lies at the bottom of `error`: libraries wrap "connection reset by peer" several times over.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string().replace('\n', " ")
}
