//! The figures of a series, as Flent reckons them.
//!
//! `flent -f summary` takes the mean that the tool itself told (`MEAN_VALUE`), else the mean of the raw values, else that
//! of the resampled ones; a figure of zero counts as none and the next source is asked. Median and percentile begin with
//! the raw values. Resampled values that are null never count.

use super::Source;
use super::times::Span;
use crate::data::{Key, Point};
use record::Distribution;
use serde::Serialize;

/// What `summary.series` holds for each series.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    /// The unit of all figures: `ms`, `Mbits/s`; null when unknown.
    pub(crate) unit: Option<String>,
    /// The mean that Flent prints.
    pub(crate) mean: Option<f64>,
    /// What it is the mean of: `tool`, `raw` or `resampled`.
    pub(crate) mean_of: Option<&'static str>,
    /// The values that Flent's median is of: the raw ones, or the resampled ones where there are none.
    pub(crate) distribution: Option<Distribution>,
    /// The resampled values.
    pub(crate) resampled: Option<Distribution>,
    /// `distribution` before the load.
    pub(crate) idle: Option<Distribution>,
    /// `distribution` under load.
    pub(crate) loaded: Option<Distribution>,
}

/// A series as values in time.
pub(crate) struct Values {
    /// Seconds on the time line, and the value; raw ones, or resampled ones where there are none.
    pub(crate) timed: Vec<(f64, f64)>,
    pub(crate) are_raw: bool,
}

impl Values {
    pub(crate) fn of(source: &Source, name: &str) -> Self {
        let raw = raw_values(source, name);
        let are_raw = raw.iter().any(|&(_, value)| value != 0.0);
        Self {
            timed: if are_raw {
                raw
            } else {
                resampled(source, name)
            },
            are_raw,
        }
    }

    /// The values within a phase; of none without one.
    pub(crate) fn within(&self, span: Option<Span>) -> impl Iterator<Item = f64> {
        let span = span.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
        let inside = move |&&(t, _): &&(f64, f64)| t >= span[0] && t < span[1];
        self.timed.iter().filter(inside).map(|&(_, value)| value)
    }
}

impl Figures {
    pub(crate) fn of(source: &Source, name: &str) -> Self {
        let values = Values::of(source, name);
        let all = values.timed.iter().map(|&(_, value)| value);
        let distribution = Distribution::of(all);
        let steps = resampled(source, name).into_iter().map(|(_, value)| value);
        let own = if values.are_raw { "raw" } else { "resampled" };
        let told = source
            .series_meta(name, "MEAN_VALUE")
            .and_then(serde_json::Value::as_f64);
        let (mean, mean_of) = match told.filter(|mean| *mean != 0.0) {
            Some(mean) => (Some(mean), Some("tool")),
            None => (distribution.map(|d| d.mean), distribution.map(|_| own)),
        };
        Self {
            unit: unit(source, name),
            mean,
            mean_of,
            distribution,
            resampled: Distribution::of(steps),
            idle: Distribution::of(values.within(source.times.idle)),
            loaded: Distribution::of(values.within(source.times.loaded)),
        }
    }
}

/// The unit that the file tells, or that the name has in it.
pub(crate) fn unit(source: &Source, name: &str) -> Option<String> {
    let told = source
        .series_meta(name, "UNITS")
        .and_then(serde_json::Value::as_str);
    let guessed = || match name {
        _ if name.contains("(ms)") => Some("ms"),
        _ if name.starts_with("TCP ") || name.starts_with("UDP ") => Some("Mbits/s"),
        "HTTP latency" | "VoIP::delay" | "VoIP::induced_delay" | "VoIP::jitter" | "VoIP::rtt" => {
            Some("ms")
        }
        _ => None,
    };
    told.or_else(guessed)
        .map(|unit| unit.chars().take(32).collect())
}

/// The resampled values that are not null.
fn resampled(source: &Source, name: &str) -> Vec<(f64, f64)> {
    let values = source.file.results.get(name).into_iter().flatten();
    let timed = source.file.x_values.iter().zip(values);
    timed
        .filter_map(|(&t, value)| Some((t, (*value)?)))
        .collect()
}

/// The raw values of a series. `a::b` may also be the key `b` of the series `a`.
fn raw_values(source: &Source, name: &str) -> Vec<(f64, f64)> {
    let (points, key) = match (source.file.raw_values.get(name), name.rsplit_once("::")) {
        (Some(points), _) => (points, Some(Key::VAL)),
        (None, Some((base, key))) => match source.file.raw_values.get(base) {
            Some(points) => (points, Key::known(key, &source.file.other_keys)),
            None => return Vec::new(),
        },
        (None, None) => return Vec::new(),
    };
    let Some(key) = key else { return Vec::new() };
    let value = |point: &Point| Some((seconds(source, point), point.get(key)?));
    points.iter().filter_map(value).collect()
}

/// When a raw value was, in seconds on the time line; outside of every phase when the file does not tell.
pub(crate) fn seconds(source: &Source, point: &Point) -> f64 {
    let start = source
        .times
        .start
        .map(|start| start.as_microsecond() as f64 / 1e6);
    match (point.get(Key::T), start) {
        (Some(t), Some(start)) => t - start,
        _ => f64::NAN,
    }
}
