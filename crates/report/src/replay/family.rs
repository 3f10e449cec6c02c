//! What is drawn of a family: distributions, courses, arrivals and their spectra, with a series for each member.

use super::{Member, named, up_to_pct};
use crate::envelope::Line;
use crate::experiment::{Axis, Figure, Kind, Series};
use crate::grid::Steps;
use crate::number::short;
use crate::view::replay::{Quantity, Replay};

/// A point of a series.
pub(super) type Point = (f64, Option<f64>);
/// A figure's name, what has the values, the quantity and its unit.
pub(super) type Words<'a> = (&'a str, &'a str, &'a str, &'a str);

pub(super) struct Family<'a> {
    pub(super) id: &'a str,
    pub(super) differ: &'a str,
    pub(super) members: &'a [Member],
}

impl Family<'_> {
    fn figure(&self, name: &str, title: String) -> Figure {
        Figure::new(format!("{}-{name}", self.id), title)
    }

    /// With a series for each member that has points; `None` when none has.
    fn drawn(
        &self,
        figure: Figure,
        kind: Kind,
        of: &dyn Fn(&Replay) -> Option<Vec<Point>>,
    ) -> Option<Figure> {
        let series = self.members.iter().filter_map(|member| {
            let mut series = Series::new(&member.name, kind, []);
            series.points = of(&member.found.0).filter(|points| !points.is_empty())?;
            series.variant.clone_from(&member.mode);
            Some(series)
        });
        let figure = series.fold(figure, Figure::series);
        (!figure.series.is_empty()).then_some(figure)
    }

    fn highest(
        &self,
        of: &dyn Fn(&Replay) -> Option<Quantity>,
        figure: fn(&Quantity) -> f64,
    ) -> f64 {
        let all = self.members.iter().filter_map(|member| of(&member.found.0));
        all.map(|quantity| figure(&quantity)).fold(1e-3, f64::max)
    }

    /// From the smallest to the largest figure, each with whose it is.
    fn between(&self, unit: &str, figure: &dyn Fn(&Replay) -> Option<f64>) -> String {
        let value = |member: &Member| Some((figure(&member.found.0)?, named(member)));
        let mut all: Vec<(f64, String)> = self.members.iter().filter_map(value).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let told = |(value, name): &(f64, String)| format!("{} {unit} ({name})", three(*value));
        match all.as_slice() {
            [] => "nothing".to_owned(),
            [only] => told(only),
            [least, .., most] => format!("{} to {}", told(least), told(most)),
        }
    }

    /// The whole body of a quantity, its foot, and its tail.
    pub(super) fn spread(
        &self,
        (name, what, quantity, unit): Words<'_>,
        [end, foot]: [f64; 2],
        of: &dyn Fn(&Replay) -> Option<Quantity>,
    ) -> [Option<Figure>; 3] {
        let figure =
            |get: fn(&Quantity) -> f64| move |replay: &Replay| of(replay).as_ref().map(get);
        let median = self.between(unit, &figure(|q| q.p50));
        let rare = self.between(unit, &figure(|q| q.p99));
        let within = self.between("%", &|replay| Some(up_to_pct(&of(replay)?, foot)));
        let (near, far) = (format!("{name}-fast"), format!("{name}-tail"));
        [
            self.body(
                format!("The median {quantity} is {median}"),
                (name, what, quantity, unit),
                end,
                of,
            ),
            self.body(
                format!("Up to {foot} {unit} are {within} of {what}"),
                (&near, what, quantity, unit),
                foot,
                of,
            ),
            self.tail(
                format!("One in a hundred is above {rare}"),
                (&far, what, quantity, unit),
                of,
            ),
        ]
    }

    /// The queue: its body up to a round end, and its tail.
    pub(super) fn queue(&self, of: &dyn Fn(&Replay) -> Option<Quantity>) -> [Option<Figure>; 2] {
        let figure =
            |get: fn(&Quantity) -> f64| move |replay: &Replay| of(replay).as_ref().map(get);
        let median = self.between("ms", &figure(|q| q.p50));
        let rare = self.between("ms", &figure(|q| q.p90));
        let end = round_end(self.highest(of, |q| q.p99));
        [
            self.body(
                format!("The median queue is {median}"),
                ("queue", "time", "queue", "ms"),
                end,
                of,
            ),
            self.tail(
                format!("For a tenth of the time the queue is above {rare}"),
                ("queue-tail", "time", "queue", "ms"),
                of,
            ),
        ]
    }

    /// The share up to a value, from 0 to `end`.
    fn body(
        &self,
        title: String,
        (name, what, quantity, unit): Words<'_>,
        end: f64,
        of: &dyn Fn(&Replay) -> Option<Quantity>,
    ) -> Option<Figure> {
        let figure = self
            .figure(name, title)
            .how_to(format!("A curve's height is the share of {what} with at most this {quantity}; curves differ by {}.", self.differ))
            .x(Axis::new(quantity, unit).range(0.0, end))
            .y(Axis::new(format!("share of {what}"), "%").range(0.0, 100.0));
        self.drawn(figure, Kind::Step, &|replay| {
            let curve = of(replay)?.curve;
            let first = curve.v.first().map(|&v| (v, Some(0.0)));
            let all = curve
                .v
                .iter()
                .zip(&curve.p)
                .map(|(&v, &p)| (v, Some(short(p * 100.0))));
            // One point beyond the end, so that the line goes on to it.
            let inside = curve.v.partition_point(|&v| v <= end) + 1;
            Some(first.into_iter().chain(all.take(inside)).collect())
        })
    }

    /// The share above a value, with both axes logarithmic.
    fn tail(
        &self,
        title: String,
        (name, what, quantity, unit): Words<'_>,
        of: &dyn Fn(&Replay) -> Option<Quantity>,
    ) -> Option<Figure> {
        let figure = self
            .figure(name, title)
            .how_to(format!(
                "Each decade downwards is a tenth of the {what}; a straight line is a heavy tail."
            ))
            .x(Axis::new(quantity, unit).log())
            .y(Axis::new(format!("share of {what}"), "%").log());
        self.drawn(figure, Kind::Step, &|replay| {
            let curve = of(replay)?.curve;
            let above = curve
                .v
                .iter()
                .zip(&curve.p)
                .map(|(&v, &p)| (v, (1.0 - p) * 100.0));
            let drawn = above.filter(|&(v, share)| v > 0.0 && share > 1e-7);
            Some(drawn.map(|(v, share)| (v, Some(short(share)))).collect())
        })
    }

    /// A value over the run.
    pub(super) fn course(
        &self,
        (name, what, unit): (&str, &str, &str),
        of: &dyn Fn(&Replay) -> Option<Vec<Point>>,
    ) -> Option<Figure> {
        let figure = self
            .figure(name, format!("Over the run: {what}"))
            .how_to("The whole run is drawn; warm-up and cool-down count for no figure.")
            .x(Axis::new("time since the run's start", "s"))
            .y(Axis::new(what, unit));
        self.drawn(figure, Kind::Line, of)
    }

    /// Packets per bin of one width.
    pub(super) fn arrivals(&self, name: &str, bin_s: f64) -> Option<Figure> {
        let of = |replay: &Replay| Some(replay.arrivals.as_ref()?.of_bins(bin_s)?.kpps.clone());
        let end = round_end(self.highest(&of, |kpps| kpps.p99) * 1.2);
        let cov = |replay: &Replay| Some(replay.arrivals.as_ref()?.of_bins(bin_s)?.cov? * 100.0);
        let title = format!(
            "In bins of {} ms arrivals vary by {}",
            bin_s * 1e3,
            self.between("%", &cov)
        );
        let words = (name, "bins", "arrivals", "thousand packets/s");
        let figure = self.body(title, words, end, &of)?;
        Some(figure.how_to("The steeper a curve, the evener the packets come; what is said is the standard deviation over the mean."))
    }

    /// The logscale diagram.
    pub(super) fn spectrum(&self) -> Option<Figure> {
        let bins = self
            .members
            .iter()
            .filter_map(|member| Some(member.found.0.arrivals.as_ref()?.bin_s));
        let bin_ms = bins.fold(0.0, f64::max) * 1e3;
        let figure = self
            .figure("spectrum", "Wavelet spectrum of the arrivals".to_owned())
            .caption(format!("Mean square of the wavelet coefficients of packets per {bin_ms} ms, with 95 % intervals; octave j tells of changes over 2^j such bins."))
            .how_to("A flat line is traffic that forgets, a rising one traffic whose bursts last; parallel lines have the same Hurst parameter.")
            .x(Axis::new("octave", ""))
            .y(Axis::new("log2 of the energy", ""));
        let mut figure = self.drawn(figure, Kind::Line, &|replay| {
            let octaves = &replay.arrivals.as_ref()?.octaves;
            Some(
                octaves
                    .iter()
                    .map(|o| (f64::from(o.octave), Some(short(o.log2_energy))))
                    .collect(),
            )
        })?;
        let with_octaves = self.members.iter().filter_map(|member| {
            let octaves = &member.found.0.arrivals.as_ref()?.octaves;
            (!octaves.is_empty()).then_some(octaves)
        });
        for (series, octaves) in figure.series.iter_mut().zip(with_octaves) {
            let interval = octaves.iter().map(|o| {
                Some((
                    short(o.log2_energy - 1.96 * o.error),
                    short(o.log2_energy + 1.96 * o.error),
                ))
            });
            series.intervals = interval.collect();
        }
        Some(figure)
    }
}

/// Three digits of a number.
fn three(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// 1, 2 or 5 times a power of ten, at or above `value`: where an axis ends.
pub(super) fn round_end(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let times = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|times| times * power >= value);
    times.unwrap_or(10.0) * power
}

pub(super) fn points(line: &Line) -> Vec<Point> {
    line.t_s
        .iter()
        .copied()
        .zip(line.v.iter().copied())
        .collect()
}

pub(super) fn steps(steps: &Steps) -> Vec<Point> {
    let middle = |at: usize| short((at as f64 + 0.5) * steps.bin_s);
    steps
        .v
        .iter()
        .enumerate()
        .map(|(at, &v)| (middle(at), Some(v)))
        .collect()
}
