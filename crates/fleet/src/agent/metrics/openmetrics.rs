//! What an agent tells as text, to Prometheus and whatever else reads `OpenMetrics` 1.0.

use super::{Kind, Metric, Metrics, Now, Value};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use stats::Histogram;
use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;

/// Bounds of a histogram's buckets as powers of two, in seconds: from 61 us to 8 s.
pub(super) const BOUNDS: RangeInclusive<i32> = -14..=3;

type Example = Exemplar<Vec<(String, String)>, f64>;

/// The text of everything.
///
/// # Errors
/// None: writing into a string does not fail.
pub(in crate::agent) fn text(metrics: &Metrics, now: &Now) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("isobath_agent");
    registry.register("build", "The agent", Info::new(metrics.build().to_vec()));
    registry.register_collector(Box::new(All(metrics.all(now))));
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct All(Vec<Metric>);

impl Collector for All {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        for metric in &self.0 {
            let kind = match metric.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
                Kind::Histogram => MetricType::Histogram,
            };
            let unit = metric.is_seconds.then_some(Unit::Seconds);
            let mut family =
                encoder.encode_descriptor(metric.name, metric.help, unit.as_ref(), kind)?;
            for sample in &metric.samples {
                let mut one = family.encode_family(&sample.labels)?;
                match &sample.value {
                    Value::Number(value) if metric.kind == Kind::Counter => {
                        one.encode_counter(value, None::<&Example>)?;
                    }
                    Value::Number(value) => one.encode_gauge(value)?,
                    Value::Histogram(found) => {
                        let no_examples = None::<&HashMap<usize, Example>>;
                        one.encode_histogram(
                            found.sum(),
                            found.count(),
                            &buckets(found),
                            no_examples,
                        )?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Bounds and what is between them, one bucket for each doubling.
fn buckets(found: &Histogram) -> Vec<(f64, u64)> {
    let mut below = 0;
    let bounds = BOUNDS.map(|exponent| (f64::from(exponent).exp2(), found.at_most(exponent)));
    let bounds = bounds.chain([(f64::INFINITY, found.count())]);
    bounds
        .map(|(bound, at_most)| (bound, at_most - std::mem::replace(&mut below, at_most)))
        .collect()
}
