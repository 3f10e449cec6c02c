//! What one run looks like: what was believed and what was true, streams and frames (T, figures 6.4 to 6.8).

use super::frames::Kind;
use super::global::STREAMS;
use super::plan::{Plan, mbps};
use super::summary::{Rows, decoded_of};
use super::tables::{AskedRow, BottleneckRow};
use record::Record;
use report::experiment::{Axis, Figure, Kind as Drawn, Series};
use serde::Deserialize;

/// Seconds of a bin of frames.
const BIN: f64 = 2.0;

/// An axis that begins at nothing.
pub fn from_zero(label: &str, unit: &str) -> Axis {
    Axis {
        min: Some(0.0),
        ..Axis::new(label, unit)
    }
}

/// A run that is drawn.
pub struct Course {
    /// What it is called in titles, and what the ids of its figures end in: there may be other runs on the page.
    name: String,
    id: String,
    plan: Plan,
    rows: Rows,
    /// The bottleneck's, in Mbit/s.
    rate: f64,
    /// The share of frames in what packets have.
    payload_share: f64,
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Course {
    /// That of a record.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(record: &Record, name: String, id: String) -> anyhow::Result<Self> {
        let plan: Plan = Deserialize::deserialize(&record.run().plan)?;
        let rate = record.run().plan["bottleneck"]["rate"].clone();
        let rate: units::Rate = Deserialize::deserialize(&rate)?;
        Ok(Self {
            name,
            id,
            rows: Rows::read(record)?,
            rate: rate.as_mbps(),
            payload_share: plan.options().payload_share,
            plan,
        })
    }

    /// All but the cross traffic.
    pub fn all(&self) -> [Figure; 3] {
        [self.view(), self.streams(), self.kinds()]
    }

    fn figure(&self, what: &str, title: &str) -> Figure {
        Figure::new(
            format!("{what}-{}", self.id),
            format!("{}: {title}", self.name),
        )
        .x(Axis::new("time", "s"))
    }

    /// A figure of the bottleneck second by second.
    fn carried(&self, of: impl Fn(&BottleneckRow) -> f64) -> Vec<(f64, f64)> {
        let rows = self.rows.carried.iter();
        rows.map(|row| (seconds(row.t_ns), of(row))).collect()
    }

    /// What others sent, which is the same in all runs of a plan.
    pub fn cross(&self) -> Figure {
        let got = self.carried(|row| mbps(row.cross_bytes, seconds(row.lasted_ns)));
        Figure::new("cross", "Cross traffic")
            .caption("What others sent through the bottleneck, by plan, and what of it got through in each second of one run.")
            .how_to("Where less gets through than is sent the bottleneck drops the rest: the streams take it.")
            .x(Axis::new("time", "s"))
            .y(from_zero("cross traffic", "Mbit/s"))
            .series(Series::new("sent", Drawn::Step, self.plan.steps()))
            .series(Series::new("got through", Drawn::Line, got))
    }

    /// View and truth, reports and estimates (T, plots (a) and (b)).
    fn view(&self) -> Figure {
        let share = self.payload_share;
        let truth = self.carried(|row| {
            (self.rate - mbps(row.cross_bytes, seconds(row.lasted_ns))).max(0.0) * share
        });
        let views = self.rows.views.iter();
        let view = views.map(|row| (seconds(row.t_ns), row.view_mbps));
        let report = |failed: bool| {
            let rows = self.rows.reports.iter();
            let rows = rows
                .filter(move |row| (row.dropped_i + row.dropped_p + row.dropped_b > 0) == failed);
            rows.map(|row| {
                (
                    seconds(row.t_ns),
                    mbps(row.sent_bytes, seconds(row.lasted_ns)),
                )
            })
        };
        let estimates = |of: fn(&AskedRow) -> Option<f64>| -> Vec<_> {
            let believed = self.rows.asked.iter().filter(|row| row.conclusive);
            let place =
                |row: &AskedRow| Some((seconds(row.ended_ns), row.own_mbps + of(row)? * share));
            believed.filter_map(place).collect()
        };
        let mut figure = self
            .figure("view", "what the global scheduler believed, and what was true")
            .caption("All as rates of frames. True is what cross traffic left of the bottleneck; an estimate is drawn when it came, with what the streams sent while it was made, and as it would be if riders were left alone.")
            .how_to("The closer the view is to the truth, and the sooner it follows, the better the streams use the path.")
            .how_to("A report without drops pushes the view up to what was sent, one with drops pushes it down; an estimate sets it.")
            .y(from_zero("for the streams", "Mbit/s"))
            .series(Series::new("true", Drawn::Step, truth))
            .series(Series::new("could send", Drawn::Points, report(false)))
            .series(Series::new("tried but failed", Drawn::Points, report(true)));
        for (name, points) in [
            ("uncorrected", estimates(|row| row.uncorrected_mbps)),
            ("estimate", estimates(|row| row.value_mbps)),
        ] {
            if !points.is_empty() {
                figure = figure.series(Series::new(name, Drawn::Points, points));
            }
        }
        figure.series(Series::new("view", Drawn::Step, view))
    }

    /// The rate at which frames of each stream arrived (T, plots (e), (g), (i)).
    fn streams(&self) -> Figure {
        let mut figure = self
            .figure("streams", "what arrived of each stream")
            .caption("Octets of frames that arrived, in bins of 2 s. A whole stream has 1.16 Mbit/s, one without B frames 0.70, one of I frames alone 0.22.")
            .how_to("A stream that goes down loses its B frames, then its P frames. Dips without a change of level are TCP's: frames come later, and none is lost.")
            .y(from_zero("arrived", "Mbit/s"));
        for stream in 0..STREAMS {
            let frames = self.rows.frames.iter();
            let frames = frames.filter(|row| usize::from(row.stream) == stream);
            let arrived = frames.filter(|row| matches!(&*row.fate, "decoded" | "undecodable"));
            let points = arrived.filter_map(|row| Some((row.ended_ns?, u64::from(row.bytes))));
            let bins = binned(points, self.rows.seconds());
            let points = bins.into_iter().map(|(t, octets)| (t, mbps(octets, BIN)));
            figure = figure.series(Series::new(
                format!("stream {}", stream + 1),
                Drawn::Step,
                points,
            ));
        }
        figure
    }

    /// Frames decoded a second by kind (T, plots (f), (h), (j)).
    fn kinds(&self) -> Figure {
        let mut figure = self
            .figure("kinds", "frames decoded, by kind")
            .caption("Of all streams, in bins of 2 s, by when they arrived. All three streams whole are 6 I, 24 P and 60 B frames a second.")
            .how_to("What is missing of B frames, then of P frames, are streams at a lower level, or frames that failed.")
            .y(from_zero("decoded", "frames/s"));
        for kind in Kind::ALL {
            let frames = decoded_of(&self.rows, kind);
            let points = frames.filter_map(|row| Some((row.ended_ns?, 1)));
            let bins = binned(points, self.rows.seconds());
            let points = bins.into_iter().map(|(t, count)| (t, count as f64 / BIN));
            figure = figure.series(Series::new(kind.name(), Drawn::Step, points));
        }
        figure
    }
}

/// Sums of what happened in each bin up to `end`, with the bins' beginnings.
fn binned(points: impl Iterator<Item = (u64, u64)>, end: f64) -> Vec<(f64, u64)> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a run takes at most an hour"
    )]
    let count = (end.clamp(0.0, 4_000.0) / BIN) as usize;
    let mut bins = vec![0; count];
    let width = std::time::Duration::from_secs_f64(BIN).as_nanos();
    for (at, amount) in points {
        let place = usize::try_from(u128::from(at) / width).unwrap_or(usize::MAX);
        if let Some(bin) = bins.get_mut(place) {
            *bin += amount;
        }
    }
    let places = bins.into_iter().enumerate();
    places
        .map(|(place, sum)| (place as f64 * BIN, sum))
        .collect()
}
