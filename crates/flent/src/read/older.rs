//! Versions 1 to 3 as version 4, and the checks that hold for all.
//!
//! What changed, as Flent itself converts it when it opens an older file:
//!
//! | before | change |
//! |---|---|
//! | 2 | raw values were in `SERIES_META`, as `RAW_VALUES`, or nowhere; then the resampled values stand for them |
//! | 4 | raw values were as the tool said them: `UDP_RR` in transactions a second, HTTP latency in s, drops and marks of a queue as totals |
//! | 4 | iperf's UDP rate had its mean in bit/s |

use super::parse::Parsed;
use crate::data::{DataFile, Key, Point, VERSION};
use crate::error::Error;
use serde_json::Value;
use std::collections::BTreeMap;

/// The file as version 4.
pub(super) fn convert(parsed: Parsed) -> Result<DataFile, Error> {
    let version = check(&parsed)?;
    let mut file = parsed.file;
    let mut synthetic = false;
    if version == 1 {
        take_raw_values(&mut file);
        synthetic = file.raw_values.is_empty();
        if let Some(wrapper) = file.metadata.remove("NETPERF_WRAPPER_VERSION") {
            file.metadata.insert("FLENT_VERSION".to_owned(), wrapper);
        }
    }
    if version < VERSION && !synthetic {
        convert_raw_values(&mut file);
        convert_means(&mut file);
    }
    file.version = version;
    Ok(file)
}

/// The file's version, when all that the format demands is there and fits.
fn check(parsed: &Parsed) -> Result<u32, Error> {
    let version = match &parsed.version {
        // Flent takes what it cannot read as a number for the first version.
        None => 1,
        Some(value) => value.as_i64().unwrap_or(1),
    };
    let known = u32::try_from(version)
        .ok()
        .filter(|v| (1..=VERSION).contains(v));
    let known = known.ok_or(Error::Version { found: version })?;
    let missing = match (parsed.has_x_values, parsed.has_results) {
        (true, true)
            if parsed
                .file
                .metadata
                .get("NAME")
                .is_some_and(Value::is_string) =>
        {
            None
        }
        (false, _) => Some("it has no x_values"),
        (_, false) => Some("it has no results"),
        (true, true) => Some("its metadata has no NAME"),
    };
    if let Some(missing) = missing {
        let reason = missing.to_owned();
        return Err(Error::NotFlent { reason });
    }
    check_lengths(&parsed.file)?;
    Ok(known)
}

fn check_lengths(file: &DataFile) -> Result<(), Error> {
    let back = file.x_values.windows(2).position(|pair| pair[1] < pair[0]);
    if let Some(at) = back {
        let reason = format!("x_values go back after value {at}");
        return Err(Error::damaged(reason));
    }
    let steps = file.x_values.len();
    match file
        .results
        .iter()
        .find(|(_, values)| values.len() != steps)
    {
        None => Ok(()),
        Some((name, values)) => {
            let found = values.len();
            let reason = format!("series {name:?} has {found} values for {steps} x_values");
            Err(Error::damaged(reason))
        }
    }
}

/// Moves what version 1 kept in the metadata.
fn take_raw_values(file: &mut DataFile) {
    let Some(Value::Object(series)) = file.metadata.get_mut("SERIES_META") else {
        return;
    };
    let mut found = BTreeMap::new();
    for (name, meta) in series {
        let raw = meta
            .as_object_mut()
            .and_then(|meta| meta.remove("RAW_VALUES"));
        if let Some(Value::Array(values)) = raw {
            found.insert(name.clone(), values.iter().map(point).collect());
        }
    }
    file.raw_values = found;
}

/// A raw value out of the metadata: its numbers of known name.
fn point(value: &Value) -> Point {
    let numbers = value.as_object().into_iter().flatten();
    let known =
        numbers.filter_map(|(name, number)| Some((Key::known(name, &[])?, number.as_f64()?)));
    Point(known.collect())
}

fn convert_raw_values(file: &mut DataFile) {
    let counters = ["dropped", "ecn_mark"].map(|name| Key::known(name, &file.other_keys));
    for (name, points) in &mut file.raw_values {
        if name.contains("UDP") {
            points.iter_mut().for_each(transactions_to_ms);
        } else if name == "HTTP latency" {
            points.iter_mut().for_each(seconds_to_ms);
        } else {
            counters
                .iter()
                .flatten()
                .for_each(|&key| to_increments(points, key));
        }
    }
}

/// Only netperf's raw values have a `dur`; those of other tools were in ms already.
fn transactions_to_ms(point: &mut Point) {
    if point.get(Key::DUR).is_some() {
        let ms = point.get(Key::VAL).map(|per_s| 1_000.0 / per_s);
        point.set(Key::VAL, ms);
    }
}

fn seconds_to_ms(point: &mut Point) {
    let ms = point.get(Key::VAL).map(|s| s * 1_000.0);
    point.set(Key::VAL, ms);
}

/// A running total as what each value adds to it; the first adds nothing.
fn to_increments(points: &mut [Point], key: Key) {
    let mut before = None;
    for point in points {
        if let Some(total) = point.get(key) {
            point.set(key, Some(total - before.unwrap_or(total)));
            before = Some(total);
        }
    }
}

fn convert_means(file: &mut DataFile) {
    let Some(Value::Object(series)) = file.metadata.get_mut("SERIES_META") else {
        return;
    };
    for meta in series.values_mut().filter_map(Value::as_object_mut) {
        let is_bits = meta.get("UNITS").and_then(Value::as_str) == Some("bits/s");
        let mean = meta.get("MEAN_VALUE").and_then(Value::as_f64);
        if let (true, Some(bps)) = (is_bits, mean) {
            meta.insert("MEAN_VALUE".to_owned(), Value::from(bps / 1e6));
            meta.insert("UNITS".to_owned(), Value::from("Mbits/s"));
        }
    }
}
