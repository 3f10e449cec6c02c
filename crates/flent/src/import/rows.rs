//! The tables of an imported run.
//!
//! A Flent file keeps every series twice: as the tool told it and resampled to the common time line. Both are kept in
//! `flent_values`. Series that are streams are also rows of `samples` or `series`, from their raw values, or from the
//! resampled ones in files without.

use super::Source;
use super::figures::{seconds, unit};
use crate::data::{Key, Point};
use crate::naming::Role;
use record::Label;
use schema::tables::{Sample, Series, Stream};
use std::borrow::Cow;
use units::Dscp;

record::table! {
    /// A series of a Flent file.
    pub struct SeriesName in "flent_series" {
        /// By which `flent_values` names it.
        id: u16,
        /// Its name in the file: `TCP upload BE`.
        name: String,
        /// The unit of its values as the file has it: `ms`, `Mbits/s`; null when unknown.
        units: Option<String>,
        /// Whether it is computed of other series.
        computed: bool,
    }
}

record::table! {
    /// One value of a series of a Flent file.
    pub struct Value in "flent_values" {
        /// When, since the start of the file's time line.
        t_ns: u64 => "ns",
        /// Which series, as `flent_series.id`.
        series: u16,
        /// Whether it is as the tool told it; otherwise it is resampled to the common time line.
        raw: bool,
        /// The value; null for a gap, or a probe that was lost.
        value: Option<f64>,
    }
}

/// Longest time line that is kept: about 292 years fit, a year is believed.
const MAX_S: f64 = 366.0 * 86_400.0;
/// Octets of a megabit.
const MBIT_BYTES: f64 = 1e6 / 8.0;

/// Seconds on the time line in nanoseconds; `None` outside of it.
pub(super) fn nanos(seconds: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to a year"
    )]
    let ns = || (seconds * 1e9).round() as u64;
    (0.0..=MAX_S).contains(&seconds).then(ns)
}

/// Milliseconds in nanoseconds; `None` when that is no delay.
fn ms_to_ns(ms: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "less than a year")]
    let ns = || (ms * 1e6).round() as i64;
    (ms.abs() <= MAX_S * 1e3).then(ns)
}

/// The series that become streams, with their numbers as such.
fn stream_roles(source: &Source) -> impl Iterator<Item = (u16, &str, &Role)> {
    let streams = source.roles.iter().filter(|(_, role)| is_stream(role));
    let numbered = (0..=u16::MAX).zip(streams);
    numbered.map(|(id, (name, role))| (id, name.as_str(), role))
}

fn is_stream(role: &Role) -> bool {
    role.is_load() || is_probe(role)
}

/// Whether the values are delays of single probes.
fn is_probe(role: &Role) -> bool {
    role.is_round_trip() || ["dns", "voip"].contains(&role.kind)
}

pub(super) fn streams(source: &Source) -> Vec<Stream> {
    let start = source.times.load.and_then(|load| nanos(load[0]));
    let stream = |(id, name, role): (u16, &str, &Role)| {
        let text = |key| {
            source
                .series_meta(name, key)
                .and_then(serde_json::Value::as_str)
        };
        let is_load = role.is_load();
        Stream {
            id,
            name: name.to_owned(),
            kind: role.kind.into(),
            direction: role.direction.into(),
            class: Label::Owned(role.class.clone()),
            family: source.family(name),
            congestion_control: text("CONG_CONTROL").map(|cc| cc.to_owned().into()),
            planned_ns: start.filter(|_| is_load).unwrap_or_default(),
            first_byte_ns: first_byte(source, name).filter(|_| is_load),
            total_bytes: is_load.then(|| total_bytes(source, name)),
            retransmits: source
                .series_meta(name, "TCPI_TOTAL_RETRANS")
                .and_then(serde_json::Value::as_u64),
            ..Stream::default()
        }
    };
    stream_roles(source).map(stream).collect()
}

pub(super) fn samples(source: &Source) -> impl Iterator<Item = Sample> {
    let probes = stream_roles(source).filter(|(.., role)| is_probe(role));
    probes.flat_map(move |(id, name, role)| {
        let class = role.class.parse().unwrap_or(Dscp::CS0);
        let points = points(source, name);
        points.enumerate().filter_map(move |(at, point)| {
            let mut row = sample(role, at, &point.values)?;
            row.t_ns = nanos(point.at)?;
            row.stream = id;
            row.tos_sent = class.get() << 2;
            Some(row)
        })
    })
}

/// When a load first delivered anything: the start of that time.
fn first_byte(source: &Source, name: &str) -> Option<u64> {
    let first = deliveries(source, name).find(|row| row.bytes > 0)?;
    Some(first.end_ns.saturating_sub(first.bin_ns))
}

/// What a raw value tells of one probe; `None` when it tells nothing.
fn sample(role: &Role, at: usize, point: &Point) -> Option<Sample> {
    let ns = |key| point.get(key).and_then(ms_to_ns);
    let lost = point.is_lost();
    let value = ns(Key::VAL).filter(|_| !lost);
    if value.is_none() && !lost {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 2^53"
    )]
    let seq = point
        .get(Key::SEQ)
        .filter(|seq| (0.0..9e15).contains(seq))
        .map(|seq| seq as u64);
    let one_way = |direction| value.filter(|_| role.kind == "voip" && role.direction == direction);
    Some(Sample {
        seq: seq.unwrap_or(at as u64),
        rtt_ns: value
            .filter(|_| role.kind != "voip")
            .and_then(|ns| u64::try_from(ns).ok()),
        owd_up_ns: one_way("up").or_else(|| ns(Key::OWD_UP)),
        owd_down_ns: one_way("down").or_else(|| ns(Key::OWD_DOWN)),
        lost,
        clock: "user".into(),
        ..Sample::default()
    })
}

/// A raw value with its place on the time line in seconds.
struct Timed<'a> {
    at: f64,
    values: Cow<'a, Point>,
}

/// The raw values of a series, or its resampled ones in a file without.
fn points<'a>(source: &'a Source, name: &str) -> impl Iterator<Item = Timed<'a>> {
    let raw = source
        .file
        .raw_values
        .get(name)
        .map_or(&[][..], Vec::as_slice);
    let resampled = source.file.results.get(name).map_or(&[][..], Vec::as_slice);
    let resampled = if raw.is_empty() { resampled } else { &[] };
    let steps = source.file.x_values.iter().zip(resampled);
    let steps = steps.filter_map(|(&at, value)| {
        let values = Cow::Owned(Point(vec![(Key::VAL, (*value)?)]));
        Some(Timed { at, values })
    });
    let told = raw.iter().map(|point| Timed {
        at: seconds(source, point),
        values: Cow::Borrowed(point),
    });
    told.chain(steps)
}

/// What a load delivered in some time.
struct Delivery {
    end_ns: u64,
    bin_ns: u64,
    bytes: u64,
}

/// What a load delivered, from its rates. A rate holds for `dur`; for the time since the one before where the tool did
/// not say; for a step of the time line where there is none before.
fn deliveries(source: &Source, name: &str) -> impl Iterator<Item = Delivery> {
    let step = source.times.step.unwrap_or_default();
    let mut before = None;
    points(source, name).filter_map(move |point| {
        let since = before.replace(point.at).map(|before| point.at - before);
        let told = point.values.get(Key::DUR);
        let dur = told.or(since).filter(|dur| *dur > 0.0).unwrap_or(step);
        let bytes = point.values.get(Key::VAL)? * dur * MBIT_BYTES;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        let bytes = bytes.round() as u64;
        Some(Delivery {
            end_ns: nanos(point.at)?,
            bin_ns: nanos(dur)?,
            bytes,
        })
    })
}

/// All that a load delivered.
pub(super) fn total_bytes(source: &Source, name: &str) -> u64 {
    deliveries(source, name).fold(0, |sum, row| sum.saturating_add(row.bytes))
}

pub(super) fn series(source: &Source) -> impl Iterator<Item = Series> {
    let loads = stream_roles(source).filter(|(.., role)| role.is_load());
    loads.flat_map(move |(stream, name, role)| {
        let end = if role.direction == "down" {
            "client"
        } else {
            "server"
        };
        deliveries(source, name).map(move |row| Series {
            t_ns: row.end_ns,
            bin_ns: row.bin_ns,
            stream,
            direction: role.direction.into(),
            end: end.into(),
            delivered_bytes: Some(row.bytes),
            ..Series::default()
        })
    })
}

pub(super) fn names(source: &Source) -> impl Iterator<Item = SeriesName> {
    let numbered = (0..=u16::MAX).zip(&source.roles);
    numbered.map(|(id, (name, role))| SeriesName {
        id,
        name: name.clone(),
        units: unit(source, name),
        computed: role.computed,
    })
}

pub(super) fn values(source: &Source) -> impl Iterator<Item = Value> {
    let numbered = (0..=u16::MAX).zip(&source.roles);
    numbered.flat_map(move |(series, (name, _))| {
        let raw = source.file.raw_values.get(name).into_iter().flatten();
        let raw = raw.map(|point| (seconds(source, point), true, point.get(Key::VAL)));
        let resampled = source.file.results.get(name).into_iter().flatten();
        let steps = source.file.x_values.iter().zip(resampled);
        let steps = steps.map(|(&at, &value)| (at, false, value));
        raw.chain(steps).filter_map(move |(at, raw, value)| {
            let t_ns = nanos(at)?;
            Some(Value {
                t_ns,
                series,
                raw,
                value,
            })
        })
    })
}

/// Raw values that the tables cannot hold: without a time, or outside of the time line.
pub(super) fn misplaced(source: &Source) -> usize {
    let points = source.file.raw_values.values().flatten();
    points
        .filter(|point| nanos(seconds(source, point)).is_none())
        .count()
}
