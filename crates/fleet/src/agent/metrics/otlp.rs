//! What an agent tells by OTLP over HTTP (OpenTelemetry protocol 1.5), as protobuf, to a collector that may be away.
//!
//! Each push has all values as they are, counts since the agent's start: one that is lost costs nothing but its moment, so none is repeated.

use super::{Kind, Metric, Metrics, Now, Value};
use crate::Moment;
use crate::agent::{State, wall};
use crate::http_client::{self, HttpClient};
use anyhow::{Context as _, bail};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Uri};
use kit::usage::Usage;
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    self as proto, AggregationTemporality, ExponentialHistogram, ExponentialHistogramDataPoint,
    Gauge, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
    exponential_histogram_data_point::Buckets, metric::Data, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;
use stats::{Histogram, SCALE};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// From one push to the next.
const EVERY: Duration = Duration::from_secs(10);
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of what it says.
const LONGEST_REASON: usize = 200;
/// Octets of an answer; an honest one has a line.
const LONGEST_ANSWER: usize = 64 << 10;
/// Headers of every push, percent-encoded: `api-key=secret,other=value`.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const PATH: &str = "/v1/metrics";

/// Where to push to.
pub(in crate::agent) struct Collector {
    address: Uri,
    headers: HeaderMap,
    client: HttpClient,
}

impl Collector {
    /// At `endpoint`, as OpenTelemetry's `OTEL_EXPORTER_OTLP_ENDPOINT` has it: `http://collector:4318`.
    ///
    /// # Errors
    /// When that is no address, or the environment's headers are none.
    pub(in crate::agent) fn at(endpoint: &str) -> anyhow::Result<Self> {
        let headers = std::env::var(HEADERS).unwrap_or_default();
        Ok(Self {
            address: address(endpoint).map_err(Usage::of)?,
            headers: parse_headers(&headers)
                .with_context(|| format!("{HEADERS} is not NAME=VALUE,NAME=VALUE"))
                .map_err(Usage::of)?,
            client: http_client::new()?,
        })
    }

    /// Pushes as long as the agent lives.
    pub(in crate::agent) async fn keep(self, state: Rc<RefCell<State>>) {
        let mut is_well = None;
        loop {
            let message = {
                let state = state.borrow();
                request(&state.metrics, &state.now(), wall())
            };
            let pushed = tokio::time::timeout(PATIENCE, self.push(&message)).await;
            let pushed = pushed.unwrap_or_else(|_| bail!("no answer for {} s", PATIENCE.as_secs()));
            if is_well.replace(pushed.is_ok()) != Some(pushed.is_ok()) {
                let at = &self.address;
                state.borrow().say(&match pushed {
                    Ok(()) => format!("metrics are pushed to {at}"),
                    Err(error) => format!("metrics cannot be pushed to {at}: {error:#}"),
                });
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn push(&self, message: &ExportMetricsServiceRequest) -> anyhow::Result<()> {
        let mut request = Request::post(&self.address);
        if let Some(headers) = request.headers_mut() {
            headers.clone_from(&self.headers);
            headers.insert(
                CONTENT_TYPE,
                HeaderValue::from_static("application/x-protobuf"),
            );
        }
        let request = request.body(Full::from(message.encode_to_vec()))?;
        let answer = self.client.request(request).await;
        let answer = answer.map_err(|error| anyhow::anyhow!(http_client::cause(&error)))?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, LONGEST_ANSWER).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!(error))?.to_bytes();
        if !head.status.is_success() {
            let said = String::from_utf8_lossy(&body);
            bail!("{} {}", head.status, beginning(&said));
        }
        let answer = ExportMetricsServiceResponse::decode(body).unwrap_or_default();
        match answer.partial_success {
            Some(refused) if refused.rejected_data_points > 0 => bail!(
                "{} values were refused: {}",
                refused.rejected_data_points,
                beginning(&refused.error_message)
            ),
            _ => Ok(()),
        }
    }
}

/// So much of what a collector says that it fits a line.
fn beginning(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    line.chars().take(LONGEST_REASON).collect()
}

/// The address of the collector's metrics.
fn address(endpoint: &str) -> anyhow::Result<Uri> {
    let whole = match endpoint.trim_end_matches('/') {
        whole if whole.ends_with(PATH) => whole.to_owned(),
        base => format!("{base}{PATH}"),
    };
    // It may have a secret in it, which is not repeated.
    anyhow::ensure!(
        !endpoint.contains(['@', '?', '#']),
        "the URL of a collector must not contain a user or a query - put secrets into {HEADERS}"
    );
    let wrong = || format!("'{endpoint}' is not the URL of a collector - give http://HOST:4318");
    let address: Uri = whole.parse().with_context(wrong)?;
    let is_http = matches!(address.scheme_str(), Some("http" | "https"));
    if !is_http || address.host().is_none_or(str::is_empty) {
        bail!(wrong());
    }
    Ok(address)
}

fn parse_headers(text: &str) -> anyhow::Result<HeaderMap> {
    let all = text.split(',').map(str::trim).filter(|one| !one.is_empty());
    all.map(|one| {
        let (name, value) = one.split_once('=').context("'=' is missing")?;
        let value = percent_encoding::percent_decode_str(value.trim()).decode_utf8()?;
        let mut value = HeaderValue::from_str(&value)?;
        value.set_sensitive(true);
        Ok((name.trim().parse::<HeaderName>()?, value))
    })
    .collect()
}

/// Everything as a message.
fn request(metrics: &Metrics, now: &Now, at: Moment) -> ExportMetricsServiceRequest {
    let mut attributes = vec![
        pair("service.name", "isobath-agent"),
        pair("service.instance.id", &metrics.name),
        pair("service.version", session::VERSION),
    ];
    if let Some(site) = &metrics.site {
        attributes.push(pair("isobath.site", site));
    }
    let span = [metrics.since, at].map(|moment| moment.as_millis().saturating_mul(1_000_000));
    let scope = InstrumentationScope {
        name: "isobath.agent".to_owned(),
        version: session::VERSION.to_owned(),
        ..InstrumentationScope::default()
    };
    let metrics = metrics.all(now);
    let metrics = metrics.iter();
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource {
                attributes,
                ..Resource::default()
            }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope),
                metrics: metrics.filter_map(|metric| message(metric, span)).collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// A metric that has values; `span` is since when it counts, and now, in nanoseconds since 1970.
fn message(metric: &Metric, span: [u64; 2]) -> Option<proto::Metric> {
    if metric.samples.is_empty() {
        return None;
    }
    let cumulative = AggregationTemporality::Cumulative.into();
    let data = match metric.kind {
        Kind::Gauge => Data::Gauge(Gauge {
            data_points: numbers(metric, span),
        }),
        Kind::Counter => Data::Sum(Sum {
            data_points: numbers(metric, span),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        Kind::Histogram => Data::ExponentialHistogram(ExponentialHistogram {
            data_points: histograms(metric, span),
            aggregation_temporality: cumulative,
        }),
    };
    Some(proto::Metric {
        name: format!("isobath.agent.{}", metric.name),
        description: metric.help.to_owned(),
        unit: if metric.is_seconds { "s" } else { "" }.to_owned(),
        data: Some(data),
        ..proto::Metric::default()
    })
}

fn numbers(metric: &Metric, [since, at]: [u64; 2]) -> Vec<NumberDataPoint> {
    let samples = metric.samples.iter();
    let points = samples.filter_map(|sample| {
        let Value::Number(value) = sample.value else {
            return None;
        };
        Some(NumberDataPoint {
            attributes: attributes(&sample.labels),
            start_time_unix_nano: since,
            time_unix_nano: at,
            value: Some(number_data_point::Value::AsDouble(value)),
            ..NumberDataPoint::default()
        })
    });
    points.collect()
}

fn histograms(metric: &Metric, [since, at]: [u64; 2]) -> Vec<ExponentialHistogramDataPoint> {
    let samples = metric.samples.iter();
    let points = samples.filter_map(|sample| {
        let Value::Histogram(found) = &sample.value else {
            return None;
        };
        Some(ExponentialHistogramDataPoint {
            attributes: attributes(&sample.labels),
            start_time_unix_nano: since,
            time_unix_nano: at,
            count: found.count(),
            sum: Some(found.sum()),
            scale: SCALE,
            zero_count: found.zeros(),
            positive: Some(buckets(found)),
            ..ExponentialHistogramDataPoint::default()
        })
    });
    points.collect()
}

/// All from the first to the last that is not empty.
fn buckets(found: &Histogram) -> Buckets {
    let offset = found.buckets().next().map_or(0, |(number, _)| number);
    let mut counts = Vec::new();
    for (number, count) in found.buckets() {
        let place = usize::try_from(number - offset).unwrap_or_default();
        counts.resize(place, 0);
        counts.push(count);
    }
    Buckets {
        offset,
        bucket_counts: counts,
    }
}

fn attributes(labels: &[(&'static str, String)]) -> Vec<KeyValue> {
    labels.iter().map(|(label, of)| pair(label, of)).collect()
}

fn pair(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(any_value::Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_base_or_the_whole_address() {
        for (endpoint, whole) in [
            ("http://hub:4318", "http://hub:4318/v1/metrics"),
            ("https://hub/otlp/", "https://hub/otlp/v1/metrics"),
            ("http://hub:4318/v1/metrics", "http://hub:4318/v1/metrics"),
        ] {
            assert_eq!(address(endpoint).unwrap(), whole);
        }
        for endpoint in [
            "hub:4318",
            "hub",
            "ftp://hub",
            "",
            "http://",
            "grpc://hub:4317",
        ] {
            let error = address(endpoint).unwrap_err().to_string();
            assert!(
                error.contains("give http://HOST:4318"),
                "{endpoint}: {error}"
            );
        }
        for secret in ["http://me:secret@hub", "http://hub/?key=secret"] {
            let error = address(secret).unwrap_err().to_string();
            assert!(
                !error.contains("secret@") && !error.contains("key="),
                "{error}"
            );
        }
    }

    #[test]
    fn buckets_are_told_from_the_first_to_the_last() {
        let mut found = Histogram::default();
        found.extend([1.0, 1.0, 1.05, 1.3]);
        let told = buckets(&found);
        assert_eq!((told.offset, told.bucket_counts), (-1, vec![2, 1, 0, 0, 1]));
        assert!(buckets(&Histogram::default()).bucket_counts.is_empty());
    }

    #[test]
    fn headers_are_those_of_the_environment_and_secret() {
        let headers = parse_headers("api-key=a%20b, other=c=d,").unwrap();
        assert_eq!(headers["api-key"], "a b");
        assert_eq!(headers["other"], "c=d");
        assert!(!format!("{headers:?}").contains("a b"));
        assert!(parse_headers("").unwrap().is_empty());
        for wrong in ["key", "=v", "k=%ff", "a b=c", "k=%0a"] {
            assert!(parse_headers(wrong).is_err(), "{wrong}");
        }
    }
}
