//! Replays of traffic beside each other, as figures of an [`experiment`](crate::experiment).
//!
//! A family of replays differs in one thing: the model of structure with round trips fixed, the model of round trips with the
//! structure fixed, windows. [`figures`] draws what is compared of them, one curve a replay, on the same axes; those of the
//! same name in another mode (constrained and unconstrained) share its colour and are dashed. [`table`] has the numbers.
//!
//! What is drawn of a replay ([`Thinned`]) is some hundred kilobytes however long it was, and can be kept as JSON, so the
//! record itself may be removed before its page is made.

use crate::envelope::Line;
use crate::experiment::{Axis, Cell, Figure, Kind, Series, Table};
use crate::grid::Steps;
use crate::number::short;
use crate::view::replay::{self, Quantity, Replay};
use crate::{Error, Subject, view};
use serde::{Deserialize, Serialize};

/// What is drawn of one replay.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Thinned(Replay);

/// A replay of a family.
#[derive(Clone, Debug)]
pub struct Member {
    /// What to call it: the model by which it differs from the others.
    pub name: String,
    /// In which mode, where there is more than one: `constrained`. The mode of the first member is drawn solid.
    pub mode: Option<String>,
    /// What was found.
    pub found: Thinned,
}

impl Thinned {
    /// Of a record; `None` when it is of another measurement.
    ///
    /// # Errors
    /// [`Error::Record`] for a table that cannot be read.
    pub fn of(subject: &Subject) -> Result<Option<Self>, Error> {
        let read = || {
            let (_, end_ns) = view::extent(&subject.record)?;
            replay::read(&subject.record, &subject.run, end_ns)
        };
        let path = subject.record.dir().to_owned();
        let replay = read().map_err(|source| Error::Record { path, source })?;
        Ok(replay.map(Self))
    }

    /// The share of connections, in per cent, that took at most so long from their first octet to their last.
    pub fn durations_up_to_pct(&self, ms: f64) -> Option<f64> {
        Some(up_to_pct(self.0.connections.duration_ms.as_ref()?, ms))
    }

    /// The share of responses, in per cent, that came within so long.
    pub fn responses_up_to_pct(&self, ms: f64) -> Option<f64> {
        Some(up_to_pct(self.0.connections.response_ms.as_ref()?, ms))
    }

    /// The share of time, in per cent, in which the queue took longer than this to drain.
    pub fn queue_above_pct(&self, ms: f64) -> Option<f64> {
        let of = self.0.queue.as_ref()?.ms.as_ref()?;
        Some(100.0 - up_to_pct(of, ms))
    }
}

/// The share of a quantity that is at most `value`, to the resolution of its curve: a third of a per cent, finer in the tail.
fn up_to_pct(of: &Quantity, value: f64) -> f64 {
    let place = of.curve.v.partition_point(|&v| v <= value);
    let share = place.checked_sub(1).and_then(|at| of.curve.p.get(at));
    share.map_or(0.0, |p| p * 100.0)
}

/// The figures of a family, the most important first. Their ids begin with `id`; `differ` says in what its members differ:
/// `the structure`.
pub fn figures(id: &str, differ: &str, members: &[Member]) -> Vec<Figure> {
    let family = Family {
        id,
        differ,
        members,
    };
    let duration = |r: &Replay| r.connections.duration_ms.clone();
    let response = |r: &Replay| r.connections.response_ms.clone();
    let queue = |r: &Replay| r.queue.as_ref()?.ms.clone();
    let queue_end = round_end(family.highest(&queue, |q| q.p99));
    let figures = [
        family.body(
            ("durations", "connections", "duration", "ms"),
            3_000.0,
            &duration,
        ),
        family.body(
            ("durations-fast", "connections", "duration", "ms"),
            500.0,
            &duration,
        ),
        family.tail(
            ("durations-tail", "connections", "duration", "ms"),
            &duration,
        ),
        family.body(
            ("responses", "responses", "response time", "ms"),
            1_000.0,
            &response,
        ),
        family.body(
            ("responses-fast", "responses", "response time", "ms"),
            500.0,
            &response,
        ),
        family.tail(
            ("responses-tail", "responses", "response time", "ms"),
            &response,
        ),
        family.body(("queue", "time", "queue", "ms"), queue_end, &queue),
        family.tail(("queue-tail", "time", "queue", "ms"), &queue),
        family.course(("queue-time", "queue", "ms"), &|r| {
            Some(points(r.queue.as_ref()?.ms_line.as_ref()?))
        }),
        family.course(("active", "active connections", ""), &|r| {
            Some(points(&r.active.as_ref()?.connections))
        }),
        family.course(
            ("packets", "packets forward per second", "thousand"),
            &|r| Some(steps(&r.throughput.as_ref()?.forward.kpps)),
        ),
        family.arrivals("arrivals-1s", 1.0),
        family.arrivals("arrivals-10ms", 0.01),
        family.spectrum(),
    ];
    figures.into_iter().flatten().collect()
}

/// The numbers of a family: a row a replay.
pub fn table(title: &str, members: &[Member]) -> Table {
    let columns = [
        ("replay", ""),
        ("connections", ""),
        ("median duration", "ms"),
        ("80 % take at most", "ms"),
        ("mean duration", "ms"),
        ("median response", "ms"),
        ("80 % come within", "ms"),
        ("queue empty", "%"),
        ("median queue", "ms"),
        ("90 % of the queue", "ms"),
        ("active, median", ""),
        ("arrivals", "kpackets/s"),
        ("CoV, 1 s", ""),
        ("CoV, 10 ms", ""),
        ("Hurst", ""),
        ("low", ""),
        ("high", ""),
    ];
    let table = Table::new(title);
    let table = columns
        .iter()
        .fold(table, |table, (name, unit)| table.column(*name, *unit));
    members
        .iter()
        .fold(table, |table, member| table.row(row(member)))
}

fn row(member: &Member) -> Vec<Cell> {
    let replay = &member.found.0;
    let number = |value: Option<f64>| value.map_or(Cell::Nothing, |value| short(value).into());
    let of =
        |quantity: Option<&Quantity>, figure: fn(&Quantity) -> f64| number(quantity.map(figure));
    let durations = replay.connections.duration_ms.as_ref();
    let responses = replay.connections.response_ms.as_ref();
    let queue = replay.queue.as_ref();
    let drain = queue.and_then(|queue| queue.ms.as_ref());
    let active = replay
        .active
        .as_ref()
        .and_then(|active| active.counted.as_ref());
    let arrivals = replay.arrivals.as_ref();
    let marginal = |bin_s: f64| arrivals.and_then(|arrivals| arrivals.of_bins(bin_s));
    let hurst = arrivals.and_then(|arrivals| arrivals.hurst);
    vec![
        named(member).into(),
        of(durations, |q| q.n as f64),
        of(durations, |q| q.p50),
        of(durations, |q| q.p80),
        of(durations, |q| q.mean),
        of(responses, |q| q.p50),
        of(responses, |q| q.p80),
        number(queue.map(|queue| queue.empty_pct)),
        of(drain, |q| q.p50),
        of(drain, |q| q.p90),
        of(active, |q| q.p50),
        number(marginal(1.0).map(|marginal| marginal.kpps.mean)),
        number(marginal(1.0).and_then(|marginal| marginal.cov)),
        number(marginal(0.01).and_then(|marginal| marginal.cov)),
        number(hurst.map(|hurst| hurst.value)),
        number(hurst.map(|hurst| hurst.low)),
        number(hurst.map(|hurst| hurst.high)),
    ]
}

fn named(member: &Member) -> String {
    let mode = member.mode.iter().map(|mode| format!(", {mode}"));
    mode.fold(member.name.clone(), |name, mode| name + &mode)
}

/// A point of a series.
type Point = (f64, Option<f64>);
/// A figure's name, what has the values, the quantity and its unit.
type Words<'a> = (&'a str, &'a str, &'a str, &'a str);

struct Family<'a> {
    id: &'a str,
    differ: &'a str,
    members: &'a [Member],
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

    /// The share up to a value, from 0 to `end`.
    fn body(
        &self,
        (name, what, quantity, unit): Words<'_>,
        end: f64,
        of: &dyn Fn(&Replay) -> Option<Quantity>,
    ) -> Option<Figure> {
        let figure = self
            .figure(name, format!("Share of {what} by {quantity}, up to {} {unit}", short(end)))
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
        (name, what, quantity, unit): Words<'_>,
        of: &dyn Fn(&Replay) -> Option<Quantity>,
    ) -> Option<Figure> {
        let figure = self
            .figure(
                name,
                format!("The tail: share of {what} above a {quantity}"),
            )
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
    fn course(
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
    fn arrivals(&self, name: &str, bin_s: f64) -> Option<Figure> {
        let of = |replay: &Replay| Some(replay.arrivals.as_ref()?.of_bins(bin_s)?.kpps.clone());
        let end = round_end(self.highest(&of, |kpps| kpps.p99) * 1.2);
        self.body((name, "bins", "arrivals", "thousand packets/s"), end, &of)
            .map(|mut figure| {
                figure.title = format!("Arrivals at the bottleneck in bins of {} ms", bin_s * 1e3);
                figure.how_to("The steeper a curve, the evener the packets come.")
            })
    }

    /// The logscale diagram.
    fn spectrum(&self) -> Option<Figure> {
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

/// 1, 2 or 5 times a power of ten, at or above `value`: where an axis ends.
fn round_end(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let times = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|times| times * power >= value);
    times.unwrap_or(10.0) * power
}

fn points(line: &Line) -> Vec<Point> {
    line.t_s
        .iter()
        .copied()
        .zip(line.v.iter().copied())
        .collect()
}

fn steps(steps: &Steps) -> Vec<Point> {
    let middle = |at: usize| short((at as f64 + 0.5) * steps.bin_s);
    steps
        .v
        .iter()
        .enumerate()
        .map(|(at, &v)| (middle(at), Some(v)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use serde_json::json;

    /// A replay of four connections, as another version may have kept it.
    fn member(name: &str, mode: &str, slower: f64) -> Member {
        let v = [100.0, 200.0, 400.0, 8_000.0].map(|v| v * slower);
        let quantity = json!({"n": 4, "mean": 1.0, "min": v[0], "p50": v[1], "p80": v[2], "p90": v[2], "p95": v[3], "p99": v[3], "max": v[3],
            "curve": {"v": v, "p": [0.25, 0.5, 0.75, 1.0]}});
        let octave = |j: u32| json!({"octave": j, "n": 1_000, "log2_energy": 0.6 * f64::from(j), "error": 0.1});
        let replay = json!({
            "models": {"structure": null, "rtt": null, "windows": null, "mode": null, "forward": "up", "rate_mbps": null},
            "window_s": [0.0, 1.0], "ends": {}, "duration_ms": quantity, "duration_from_connect_ms": null, "strata": [],
            "start_lateness_ms": null, "response_ms": null, "queue": null, "active": null, "throughput": null,
            "arrivals": {"marginals": [], "bin_s": 0.001, "octaves": [octave(1), octave(2)], "hurst": null, "hurst_from": []},
        });
        Member {
            name: name.into(),
            mode: Some(mode.into()),
            found: serde_json::from_value(replay).unwrap(),
        }
    }

    #[test]
    fn a_family_is_drawn_with_a_curve_for_each_member_and_what_no_one_has_is_left_out() {
        let members = [
            member("a-b", "constrained", 2.0),
            member("a-b", "unconstrained", 1.0),
        ];
        let figures = figures("structure", "the structure", &members);
        let ids: Vec<&str> = figures.iter().map(|figure| &*figure.id).collect();
        assert_eq!(
            ids,
            [
                "structure-durations",
                "structure-durations-fast",
                "structure-durations-tail",
                "structure-spectrum"
            ]
        );
        let [slow, fast] = &figures[0].series[..] else {
            panic!("two curves")
        };
        assert_eq!(
            (slow.name.as_str(), slow.variant.as_deref()),
            ("a-b", Some("constrained"))
        );
        // Up to the first point beyond 3 s.
        let drawn = [
            (100.0, 0.0),
            (100.0, 25.0),
            (200.0, 50.0),
            (400.0, 75.0),
            (8_000.0, 100.0),
        ];
        assert_eq!(fast.points, drawn.map(|(x, y)| (x, Some(y))));
        let tail = &figures[2].series[1].points;
        assert_eq!(
            *tail,
            [
                (100.0, Some(75.0)),
                (200.0, Some(50.0)),
                (400.0, Some(25.0))
            ]
        );
        assert_eq!(figures[3].series[0].intervals[0], Some((0.404, 0.796)));
        let whole = figures
            .into_iter()
            .fold(Experiment::new("a", "b"), Experiment::figure);
        whole.table(table("all", &members)).check().unwrap();
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end) in [(1.0, 1.0), (1.1, 2.0), (8_347.4, 10_000.0), (0.03, 0.05)] {
            assert!((round_end(value) / end - 1.0).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn shares_are_read_from_the_curves() {
        let found = member("a-b", "constrained", 1.0).found;
        let shares = [50.0, 100.0, 399.0, 1e9].map(|ms| found.durations_up_to_pct(ms));
        assert_eq!(shares, [0.0, 25.0, 50.0, 100.0].map(Some));
        assert_eq!(
            (found.responses_up_to_pct(1.0), found.queue_above_pct(1.0)),
            (None, None)
        );
    }
}
