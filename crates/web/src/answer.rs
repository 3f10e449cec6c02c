//! The body of an answer, whatever carried it.

use crate::http3::client as http3;
use crate::reason::reason;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// What is left of the body of an answer.
pub(crate) enum Body {
    /// Over TCP: HTTP/1.1 or HTTP/2.
    Tcp(Incoming),
    /// Over QUIC: HTTP/3.
    Quic(http3::Body),
}

impl Body {
    /// The next octets; `None` at the end.
    ///
    /// # Errors
    /// One line.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let body = match self {
            Self::Tcp(body) => body,
            Self::Quic(body) => return body.next().await,
        };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| reason(&error))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}
