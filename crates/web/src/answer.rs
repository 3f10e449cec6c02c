//! What is made of an answer, whatever carried it.

use crate::http3::client as http3;
use crate::reason::reason;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::LOCATION;
use hyper::{HeaderMap, StatusCode};

/// What is shown of an address that a server names.
const MOST_SHOWN: usize = 120;

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

/// In one line, that the server did not give what was asked for. Redirects are told, not followed: what is measured is the host that
/// the user named.
pub(crate) fn refusal(status: StatusCode, headers: &HeaderMap) -> String {
    let answered = format!("the server answered {status}");
    if status == StatusCode::NETWORK_AUTHENTICATION_REQUIRED {
        return format!("{answered} - log in to this network first (a captive portal)");
    }
    let elsewhere = headers
        .get(LOCATION)
        .filter(|_| status.is_redirection())
        .and_then(|value| value.to_str().ok());
    match elsewhere {
        Some(elsewhere) => {
            // A header that can be read as text is ASCII.
            let shown = &elsewhere[..elsewhere.len().min(MOST_SHOWN)];
            format!(
                "{answered}, a redirect to '{shown}' - name that address, or, if it is a captive portal's, log in there first"
            )
        }
        None => answered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn told(status: u16, location: &'static str) -> String {
        let value = HeaderValue::from_static(location);
        let headers = HeaderMap::from_iter([(LOCATION, value)]);
        refusal(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn a_redirect_is_told_with_its_address_and_nothing_else_is_one() {
        let line = told(302, "http://portal.example/login");
        assert!(
            line.contains("302 Found, a redirect to 'http://portal.example/login' - "),
            "{line}"
        );
        assert_eq!(told(404, "/x"), "the server answered 404 Not Found");
        assert!(told(511, "/x").contains("log in to this network"));
        let none = refusal(StatusCode::FOUND, &HeaderMap::new());
        assert_eq!(none, "the server answered 302 Found");
    }

    #[test]
    fn an_address_is_shown_in_part_when_it_is_long_and_not_at_all_when_it_is_no_text() {
        let line = |octets: &[u8]| {
            let value = HeaderValue::from_bytes(octets).unwrap();
            refusal(
                StatusCode::FOUND,
                &HeaderMap::from_iter([(LOCATION, value)]),
            )
        };
        assert!(line(&[b'a'; 5_000]).len() < 300);
        assert_eq!(line(b"/\xff"), "the server answered 302 Found");
    }
}
