//! TCP loads as series: what the receiver got, in Mbit/s.

use super::Rows;
use super::grid::{Chunk, Grid, MBPS, sum};
use super::series::{OneSeries, Raw, load_names};
use super::target::Target;
use crate::data::Key;
use schema::tables::{Series, Stream};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Step of the raw values of a series that is the sum of several streams: that of the sampler.
const RAW_STEP_NS: u64 = 100_000_000;

/// The series of all load streams.
pub(super) fn series(target: &Target, rows: &Rows, grid: Grid) -> Vec<OneSeries> {
    let mut by_name = BTreeMap::<String, Vec<&Stream>>::new();
    for (stream, name) in load_names(target.layout, &rows.streams) {
        by_name.entry(name).or_default().push(stream);
    }
    let deliveries = Deliveries::of(rows);
    let one = |(name, streams): (String, Vec<&Stream>)| {
        let all: Vec<_> = streams
            .iter()
            .map(|stream| deliveries.of_stream(stream))
            .collect();
        one_series(name, &streams, &all, grid)
    };
    by_name.into_iter().filter_map(one).collect()
}

/// What each stream delivered, by stream.
struct Deliveries<'a>(BTreeMap<u16, Vec<&'a Series>>);

impl<'a> Deliveries<'a> {
    fn of(rows: &'a Rows) -> Self {
        let mut streams = BTreeMap::<u16, Vec<&Series>>::new();
        for row in &rows.series {
            streams.entry(row.stream).or_default().push(row);
        }
        Self(streams)
    }

    /// What arrived at the receiver, in order of time; what was acknowledged to the sender when the receiver's rows are
    /// missing, as they are when the far end was lost.
    fn of_stream(&self, stream: &Stream) -> Vec<Chunk> {
        let (receiver, sender) = match stream.direction.as_ref() {
            "down" => ("client", "server"),
            _ => ("server", "client"),
        };
        let rows = self.0.get(&stream.id).map_or(&[][..], Vec::as_slice);
        let seen = |end: &str, bytes: fn(&Series) -> Option<u64>| {
            let of_end = rows.iter().filter(|row| row.end == end);
            let chunk = |row: &&&Series| {
                Some(Chunk {
                    end_ns: row.t_ns,
                    bin_ns: row.bin_ns,
                    bytes: bytes(row)?,
                })
            };
            of_end.filter_map(|row| chunk(&row)).collect::<Vec<_>>()
        };
        let mut chunks = seen(receiver, |row| row.delivered_bytes);
        if chunks.is_empty() {
            chunks = seen(sender, |row| row.acked_bytes);
        }
        chunks.sort_unstable_by_key(|chunk| chunk.end_ns);
        chunks
    }
}

/// The series that those streams make together; `None` when none of them did anything.
fn one_series(
    name: String,
    streams: &[&Stream],
    chunks: &[Vec<Chunk>],
    grid: Grid,
) -> Option<OneSeries> {
    let first = streams.first()?;
    let steps: Vec<_> = chunks.iter().map(|chunks| grid.rates(chunks)).collect();
    let steps = sum(steps.iter().map(Vec::as_slice));
    if !steps.iter().any(Option::is_some) {
        return None;
    }
    Some(OneSeries {
        name,
        kind: "tcp_load",
        direction: if first.direction == "down" {
            "down"
        } else {
            "up"
        },
        class: first.class.clone().into_owned(),
        steps,
        raw: raw(chunks),
        meta: meta(streams, chunks),
    })
}

fn raw(chunks: &[Vec<Chunk>]) -> Vec<Raw> {
    if let [only] = chunks {
        let rate = |chunk: &Chunk| chunk.bytes as f64 / chunk.bin_ns as f64 * MBPS;
        let timed = only.iter().filter(|chunk| chunk.bin_ns > 0);
        return timed
            .map(|chunk| value(chunk.end_ns, chunk.bin_ns, rate(chunk)))
            .collect();
    }
    let end = chunks.iter().flatten().map(|chunk| chunk.end_ns).max();
    let grid = Grid::with_step(RAW_STEP_NS, end.unwrap_or_default());
    let steps: Vec<_> = chunks.iter().map(|chunks| grid.rates(chunks)).collect();
    let steps = sum(steps.iter().map(Vec::as_slice)).into_iter().enumerate();
    let bin_end = |step: usize| step as u64 * grid.step_ns + grid.step_ns / 2;
    steps
        .filter_map(|(step, rate)| Some(value(bin_end(step), grid.step_ns, rate?)))
        .collect()
}

fn value(t_ns: u64, bin_ns: u64, mbps: f64) -> Raw {
    let numbers = [
        Some((Key::VAL, mbps)),
        Some((Key::DUR, bin_ns as f64 / 1e9)),
        None,
        None,
    ];
    Raw { t_ns, numbers }
}

fn meta(streams: &[&Stream], chunks: &[Vec<Chunk>]) -> Map<String, Value> {
    let mean = |chunks: &Vec<Chunk>| {
        let bytes: u64 = chunks.iter().map(|chunk| chunk.bytes).sum();
        let ns: u64 = chunks.iter().map(|chunk| chunk.bin_ns).sum();
        (ns > 0).then(|| bytes as f64 / ns as f64 * MBPS)
    };
    let bytes: u64 = chunks.iter().flatten().map(|chunk| chunk.bytes).sum();
    let retransmits = streams
        .iter()
        .filter_map(|stream| stream.retransmits)
        .sum::<u64>();
    let mut meta = Map::new();
    meta.insert("UNITS".to_owned(), json!("Mbits/s"));
    meta.insert(
        "MEAN_VALUE".to_owned(),
        json!(chunks.iter().filter_map(mean).sum::<f64>()),
    );
    meta.insert("BYTES_RECVD".to_owned(), json!(bytes));
    meta.insert("TCPI_TOTAL_RETRANS".to_owned(), json!(retransmits));
    if let Some(cc) = streams
        .iter()
        .find_map(|stream| stream.congestion_control.as_ref())
    {
        meta.insert("CONG_CONTROL".to_owned(), json!(cc));
    }
    meta
}
