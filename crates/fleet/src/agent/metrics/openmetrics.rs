//! What an agent tells as text, to Prometheus and whatever else reads `OpenMetrics` 1.0.

use super::{Kind, Metric, Metrics, Now};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;

/// The text of everything.
///
/// # Errors
/// None: writing into a string does not fail.
pub(in crate::agent) fn text(metrics: &Metrics, now: &Now) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("isobath_agent");
    let labels = [
        ("name", metrics.name.clone()),
        ("site", metrics.site.clone().unwrap_or_default()),
        ("version", session::VERSION.to_owned()),
    ];
    registry.register("build", "The agent", Info::new(labels.to_vec()));
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
            };
            let unit = metric.is_seconds.then_some(Unit::Seconds);
            let mut family =
                encoder.encode_descriptor(metric.name, metric.help, unit.as_ref(), kind)?;
            for sample in &metric.samples {
                let mut one = family.encode_family(&sample.labels)?;
                match metric.kind {
                    Kind::Gauge => one.encode_gauge(&sample.value)?,
                    Kind::Counter => {
                        one.encode_counter(
                            &sample.value,
                            None::<&Exemplar<Vec<(String, String)>, f64>>,
                        )?;
                    }
                }
            }
        }
        Ok(())
    }
}
