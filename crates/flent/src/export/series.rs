//! Series of a Flent file, and what streams are called in it.

use super::target::{ICMP, Layout, Target};
use crate::data::{Key, Point};
use crate::naming::class_word;
use schema::tables::Stream;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One series on its way out.
#[derive(Clone, Debug, Default)]
pub(super) struct OneSeries {
    pub(super) name: String,
    /// Its place among the others, as `IDX`.
    pub(super) kind: &'static str,
    pub(super) direction: &'static str,
    pub(super) class: String,
    /// One value for each step of the time line.
    pub(super) steps: Vec<Option<f64>>,
    pub(super) raw: Vec<Raw>,
    /// Entries of `SERIES_META`.
    pub(super) meta: Map<String, Value>,
}

/// A raw value whose time is in ns since the run's start.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    pub(super) t_ns: u64,
    pub(super) numbers: [Option<(Key, f64)>; 4],
}

impl Raw {
    /// The value as it is in the file; `origin_s` is the run's start in seconds since 1970.
    pub(super) fn point(self, origin_s: f64) -> Point {
        let mut point = Point(Vec::with_capacity(5));
        point.set(Key::T, Some(origin_s + self.t_ns as f64 / 1e9));
        for (key, number) in self.numbers.into_iter().flatten() {
            point.set(key, Some(number));
        }
        point
    }
}

/// The load streams, each with the name of its series.
pub(super) fn load_names(layout: Layout, streams: &[Stream]) -> Vec<(&Stream, String)> {
    let loads = streams.iter().filter(|stream| stream.kind == "tcp_load");
    let name = |(stream, place): (_, usize)| (stream, load_name(layout, stream, place));
    with_places(loads).into_iter().map(name).collect()
}

/// Each stream with its place, from 1, among those of its direction, class and IP version: the streams of the two
/// versions that are otherwise alike have the same one.
fn with_places<'a>(streams: impl Iterator<Item = &'a Stream>) -> Vec<(&'a Stream, usize)> {
    let mut counts = BTreeMap::new();
    let place = |stream: &'a Stream| {
        let alike = (
            &stream.kind,
            &stream.direction,
            &stream.class,
            &stream.ecn,
            stream.family,
        );
        let count = counts.entry(alike).or_insert(0);
        *count += 1;
        (stream, *count)
    };
    streams.map(place).collect()
}

/// What the tests of a layout call a class.
fn word(layout: Layout, class: &str) -> &str {
    match (layout, class) {
        (Layout::Selectors, "CS0") => "CS0_BE",
        (Layout::Selectors, "CS1") => "CS1_BK",
        _ => class_word(class),
    }
}

fn load_name(layout: Layout, stream: &Stream, place: usize) -> String {
    let direction = if stream.direction == "down" {
        "TCP download"
    } else {
        "TCP upload"
    };
    let class = word(layout, &stream.class);
    match layout {
        Layout::Single => direction.to_owned(),
        Layout::Numbered => format!("{direction}::{place}"),
        Layout::BestEffort | Layout::Unclassified if place > 1 => {
            format!("{direction} {class}{place}")
        }
        _ => format!("{direction} {class}"),
    }
}

/// The streams of single probes, each with the name of its series.
pub(super) fn probe_names<'a>(target: &Target, streams: &'a [Stream]) -> Vec<(&'a Stream, String)> {
    let kinds = ["udp_rr", "tcp_rr", "icmp_rr", "dns", "voip"];
    let probes = streams
        .iter()
        .filter(|stream| kinds.contains(&stream.kind.as_ref()));
    let name = |(stream, place)| (stream, probe_name(target, stream, place));
    with_places(probes).into_iter().map(name).collect()
}

fn probe_name(target: &Target, stream: &Stream, place: usize) -> String {
    let class = word(target.layout, &stream.class);
    let marked = stream.ecn.as_deref().filter(|ecn| *ecn != "Not-ECT");
    let is_plain = marked.is_none() && stream.class == "CS0";
    let name = match stream.kind.as_ref() {
        kind if is_plain && target.stand_in == Some(kind) => ICMP.to_owned(),
        "udp_rr" => match target.layout {
            Layout::Ping if is_plain => "Ping (ms) UDP".to_owned(),
            Layout::BestEffort if is_plain => format!("Ping (ms) UDP BE{place}"),
            _ => format!("Ping (ms) UDP {class}"),
        },
        "icmp_rr" => ICMP.to_owned(),
        "dns" => "DNS latency".to_owned(),
        "voip" if is_flents_call(target, stream) => "VoIP::delay".to_owned(),
        "voip" => format!("VoIP delay {} {class}", stream.direction),
        _ => format!("Ping (ms) TCP {class}"),
    };
    match marked {
        Some(ecn) => format!("{name} {ecn}"),
        None => name,
    }
}

/// Flent's tests of calls have one, up; it is the one of the class that calls belong in.
fn is_flents_call(target: &Target, stream: &Stream) -> bool {
    target.test.starts_with("voip") && stream.direction == "up" && stream.class == "EF"
}
