//! What Chromium tells of requests: the events of the protocol's `Network` domain, and the times in them.
//!
//! <https://chromedevtools.github.io/devtools-protocol/tot/Network/>. Moments (`timestamp`,
//! `requestTime`) are seconds on `CLOCK_MONOTONIC`, the same clock as ours, because on Linux that is
//! Chromium's `base::TimeTicks`. The phases within a request are milliseconds after its `requestTime`;
//! one that did not take place has -1.

use crate::Kind;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;
use units::Instant;

/// A request is about to be sent, or the one before was redirected.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WillBeSent {
    pub(super) request_id: String,
    pub(super) request: Request,
    pub(super) timestamp: f64,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    /// The answer to the request so far: another place to ask.
    pub(super) redirect_response: Option<Response>,
}

/// What is asked for.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) url: String,
}

/// The head of an answer has arrived.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Received {
    pub(super) request_id: String,
    pub(super) response: Response,
}

/// The head of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Response {
    pub(super) status: f64,
    pub(super) headers: Map<String, Value>,
    pub(super) connection_id: f64,
    /// Octets so far: the head, as it was transferred.
    pub(super) encoded_data_length: f64,
    pub(super) timing: Option<Timing>,
    pub(super) protocol: String,
    /// Chromium's own word for the verdict on the certificate.
    pub(super) security_state: String,
}

impl Response {
    /// Whether the body was transferred in a shorter form, so that its octets cannot be counted decoded.
    pub(super) fn is_encoded(&self) -> bool {
        let is_encoding = |name: &String| name.eq_ignore_ascii_case("content-encoding");
        self.headers.keys().any(is_encoding)
    }
}

/// A piece of a body has arrived.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Data {
    pub(super) request_id: String,
    pub(super) data_length: f64,
}

/// All of an answer has arrived.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finished {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) encoded_data_length: f64,
}

/// A request came to nothing.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failed {
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) error_text: String,
    /// Chromium itself dropped it, for want of need.
    #[serde(default)]
    pub(super) canceled: bool,
}

/// When the phases of a request began and ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timing {
    request_time: f64,
    dns_start: f64,
    dns_end: f64,
    connect_start: f64,
    connect_end: f64,
    ssl_start: f64,
    ssl_end: f64,
    send_start: f64,
    /// The first octet of the answer; older Chromiums only tell of the whole head.
    receive_headers_start: Option<f64>,
    receive_headers_end: f64,
}

impl Timing {
    /// From asking the resolver to its answer.
    pub(super) fn dns(&self) -> Option<Duration> {
        span(self.dns_start, self.dns_end)
    }

    /// From the first SYN to the established connection, TLS not counted. Through a proxy this is all
    /// that the proxy does.
    pub(super) fn connect(&self) -> Option<Duration> {
        let has_tls = self.ssl_start >= 0.0;
        let end = if has_tls {
            self.ssl_start
        } else {
            self.connect_end
        };
        span(self.connect_start, end)
    }

    /// The TLS handshake.
    pub(super) fn tls(&self) -> Option<Duration> {
        span(self.ssl_start, self.ssl_end)
    }

    /// From the request to the first octet of the answer.
    pub(super) fn wait(&self) -> Option<Duration> {
        span(self.send_start, self.first_octet_ms())
    }

    /// When the connection was begun; none when there was one already.
    pub(super) fn connect_began(&self) -> Option<Instant> {
        self.moment(self.connect_start)
    }

    /// When the connection was there, TLS included.
    pub(super) fn connect_ended(&self) -> Option<Instant> {
        self.moment(self.connect_end)
    }

    /// When the request stopped waiting for others: something began to be done for it.
    pub(super) fn began(&self) -> Option<Instant> {
        let starts = [self.dns_start, self.connect_start, self.send_start];
        self.moment(starts.into_iter().find(|start| *start >= 0.0)?)
    }

    /// When the first octet of the answer arrived.
    pub(super) fn first_octet(&self) -> Option<Instant> {
        self.moment(self.first_octet_ms())
    }

    fn first_octet_ms(&self) -> f64 {
        let start = self.receive_headers_start.filter(|start| *start > 0.0);
        start.unwrap_or(self.receive_headers_end)
    }

    fn moment(&self, ms: f64) -> Option<Instant> {
        let after = (ms >= 0.0).then_some(ms / 1e3)?;
        instant(self.request_time + after)
    }
}

/// `seconds` on the monotonic clock; none when that is no time.
pub(super) fn instant(seconds: f64) -> Option<Instant> {
    let span = Duration::try_from_secs_f64(seconds).ok()?;
    (!span.is_zero()).then(|| Instant::ZERO + span)
}

/// From `start` to `end`, in milliseconds; none unless both took place in that order.
fn span(start: f64, end: f64) -> Option<Duration> {
    let took_place = start >= 0.0 && end >= start;
    Duration::try_from_secs_f64((end - start) / 1e3)
        .ok()
        .filter(|_| took_place)
}

/// A count that JSON gives as a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float casts saturate, and NaN becomes zero"
)]
pub(super) fn count(number: f64) -> u64 {
    number as u64
}

/// A kind of object from Chromium's name of it.
pub(super) fn kind(name: &str) -> Kind {
    match name {
        "Document" => Kind::Document,
        "Stylesheet" => Kind::Style,
        "Script" => Kind::Script,
        "Image" => Kind::Image,
        "Font" => Kind::Font,
        "Fetch" | "XHR" => Kind::Fetch,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn timing() -> Value {
        json!({
            "requestTime": 100.0, "dnsStart": -1, "dnsEnd": -1,
            "connectStart": 2.0, "connectEnd": 62.0, "sslStart": 22.0, "sslEnd": 62.0,
            "sendStart": 62.5, "receiveHeadersStart": 82.5, "receiveHeadersEnd": 83.0,
        })
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_phases_follow_each_other() {
        let timing: Timing = serde_json::from_value(timing()).unwrap();
        assert_eq!(timing.dns(), None);
        assert_eq!(timing.connect(), Some(ms(20)));
        assert_eq!(timing.tls(), Some(ms(40)));
        assert_eq!(timing.wait(), Some(ms(20)));
        assert_eq!(timing.began(), instant(100.002));
        assert_eq!(timing.first_octet(), instant(100.0825));
    }

    #[test]
    fn without_tls_the_connect_phase_ends_with_the_connection() {
        let mut value = timing();
        value["sslStart"] = json!(-1);
        value["sslEnd"] = json!(-1);
        let timing: Timing = serde_json::from_value(value).unwrap();
        assert_eq!(timing.connect(), Some(ms(60)));
        assert_eq!(timing.tls(), None);
    }

    #[test]
    fn times_that_are_none_are_left_out() {
        for nonsense in [-1.0, f64::NAN, f64::INFINITY, 1e300, 0.0] {
            assert_eq!(instant(nonsense), None, "{nonsense}");
        }
        assert_eq!(span(3.0, 2.0), None);
        assert_eq!(span(-1.0, 2.0), None);
        assert_eq!(span(0.0, f64::INFINITY), None);
        assert_eq!(count(-3.0), 0);
        assert_eq!(count(f64::NAN), 0);
    }
}
