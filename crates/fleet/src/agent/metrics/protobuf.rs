//! What an agent tells in Prometheus' own protobuf format (`io.prometheus.client`), the one that carries native histograms: their buckets are
//! as narrow as they were counted, where a text has one for each doubling. Those are here, too, for readers that know no others.

use super::openmetrics::BOUNDS;
use super::{Kind, Metric, Metrics, Now, Value};
use http_body_util::Full;
use hyper::body::Bytes;
use prost::Message as _;
use stats::{Histogram, SCALE};

/// The names under which this format is asked for and answered.
pub(in crate::agent) const KIND: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

#[derive(prost::Message)]
struct MetricFamily {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    help: String,
    #[prost(enumeration = "MetricType", tag = "3")]
    kind: i32,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Series>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, prost::Enumeration)]
#[repr(i32)]
enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

/// `Metric` in the format.
#[derive(prost::Message)]
struct Series {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<Buckets>,
}

#[derive(prost::Message)]
struct LabelPair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// `Gauge` or `Counter`.
#[derive(Clone, Copy, prost::Message)]
struct Number {
    #[prost(double, tag = "1")]
    value: f64,
}

/// `Bucket`: how much is at most its bound.
#[derive(Clone, Copy, prost::Message)]
struct Bucket {
    #[prost(uint64, tag = "1")]
    cumulative_count: u64,
    #[prost(double, tag = "2")]
    upper_bound: f64,
}

/// `Histogram`.
#[derive(prost::Message)]
struct Buckets {
    #[prost(uint64, tag = "1")]
    sample_count: u64,
    #[prost(double, tag = "2")]
    sample_sum: f64,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(double, tag = "6")]
    zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    zero_count: u64,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    positive_delta: Vec<i64>,
}

/// Buckets without a gap between them.
#[derive(Clone, Copy, prost::Message)]
struct BucketSpan {
    /// The first one's number, or how many are left out after the last span.
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

/// Everything, each family behind its length.
pub(in crate::agent) fn message(metrics: &Metrics, now: &Now) -> Full<Bytes> {
    let build = metrics.build().map(|(name, value)| LabelPair {
        name: name.to_owned(),
        value,
    });
    let build = MetricFamily {
        name: "isobath_agent_build_info".to_owned(),
        help: "The agent".to_owned(),
        kind: MetricType::Gauge.into(),
        metric: vec![Series {
            label: build.into(),
            gauge: Some(Number { value: 1.0 }),
            ..Series::default()
        }],
    };
    let all = metrics.all(now).into_iter().map(family);
    let message = std::iter::once(build).chain(all);
    Full::from(
        message
            .flat_map(|family| family.encode_length_delimited_to_vec())
            .collect::<Vec<_>>(),
    )
}

fn family(metric: Metric) -> MetricFamily {
    let unit = if metric.is_seconds { "_seconds" } else { "" };
    let (total, kind) = match metric.kind {
        Kind::Gauge => ("", MetricType::Gauge),
        Kind::Counter => ("_total", MetricType::Counter),
        Kind::Histogram => ("", MetricType::Histogram),
    };
    let series = metric.samples.into_iter().map(|sample| {
        let labels = sample.labels.into_iter().map(|(name, value)| LabelPair {
            name: name.to_owned(),
            value,
        });
        let mut series = Series {
            label: labels.collect(),
            ..Series::default()
        };
        match sample.value {
            Value::Number(value) if metric.kind == Kind::Counter => {
                series.counter = Some(Number { value });
            }
            Value::Number(value) => series.gauge = Some(Number { value }),
            Value::Histogram(found) => series.histogram = Some(buckets(&found)),
        }
        series
    });
    MetricFamily {
        name: format!("isobath_agent_{}{unit}{total}", metric.name),
        help: metric.help.to_owned(),
        kind: kind.into(),
        metric: series.collect(),
    }
}

/// Its buckets, each as its difference from the last. A bucket is numbered by its upper bound here, by its lower one there.
fn buckets(found: &Histogram) -> Buckets {
    let mut spans: Vec<BucketSpan> = Vec::new();
    let mut deltas = Vec::new();
    let (mut next, mut last) = (0, 0);
    for (number, count) in found.buckets() {
        let (number, count) = (number + 1, i64::try_from(count).unwrap_or(i64::MAX));
        match spans.last_mut() {
            Some(span) if number == next => span.length += 1,
            _ => spans.push(BucketSpan {
                offset: number - next,
                length: 1,
            }),
        }
        deltas.push(count - last);
        (next, last) = (number + 1, count);
    }
    let bucket = BOUNDS.map(|exponent| Bucket {
        cumulative_count: found.at_most(exponent),
        upper_bound: f64::from(exponent).exp2(),
    });
    Buckets {
        sample_count: found.count(),
        sample_sum: found.sum(),
        bucket: bucket.collect(),
        schema: SCALE,
        zero_threshold: 0.0,
        zero_count: found.zeros(),
        positive_span: spans,
        positive_delta: deltas,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_told_as_spans_and_differences() {
        let mut found = Histogram::default();
        // Two at 1, one in the bucket above it, and one at 4: bounds 0, 1 and 16.
        found.extend([1.0, 1.0, 1.05, 4.0, 0.0]);
        let told = buckets(&found);
        let spans = told.positive_span.iter();
        let spans: Vec<_> = spans.map(|span| (span.offset, span.length)).collect();
        assert_eq!(spans, [(0, 2), (14, 1)]);
        assert_eq!(told.positive_delta, [2, -1, 0]);
        assert_eq!((told.sample_count, told.zero_count), (5, 1));
        // The one at 4 is missing from those up to 2: exponents from -14 to 1.
        let without = told.bucket.iter();
        let without = without.filter(|bucket| bucket.cumulative_count < 5);
        assert_eq!((without.count(), told.bucket.len()), (16, 18));
    }
}
