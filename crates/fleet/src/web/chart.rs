//! Pictures of a figure over time, as SVG: a chart with axes, and a line the size of a word.

use super::board::{Look, Told};
use super::html::escape;
use crate::Moment;
use crate::figures::{median, short};
use std::fmt::Write as _;
use std::time::Duration;

const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 14.0;
/// Below the axis there is room for its labels, and above it for runs without a figure.
const BOTTOM: f64 = 48.0;
/// Medians over the width.
const MEDIANS: u32 = 24;
/// Runs that are drawn one by one; of more, each piece of the width has its highest and its lowest.
const MOST_POINTS: usize = 2_000;
const PIECES: u128 = 450;
/// Runs of a line the size of a word.
const SPARKS: usize = 24;

/// Steps between two labels of time, in seconds.
const STEPS: [u64; 14] = [
    10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 604_800, 2_592_000,
];
const MOST_LABELS: u64 = 9;

/// What is drawn where.
struct Scale {
    from: Moment,
    to: Moment,
    most: f64,
}

impl Scale {
    fn x(&self, at: Moment) -> f64 {
        let whole = self.to.since(self.from).as_secs_f64().max(1e-3);
        LEFT + at.since(self.from).as_secs_f64() / whole * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value / self.most).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    }
}

/// The figure of `runs` from one moment to another, in `unit`; each run a mark, and the medians of pieces of the time.
pub(super) fn chart(runs: &[(Moment, &Told)], [from, to]: [Moment; 2], unit: &str) -> String {
    let values = runs.iter().filter_map(|(_, told)| told.value);
    let scale = Scale {
        from,
        to,
        most: round_up(values.fold(0.0, f64::max)),
    };
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"the figure over time; its runs are in the table below\">\n"
    );
    axes(&mut svg, &scale, unit);
    for (at, told) in thinned(runs, &scale) {
        mark(&mut svg, &scale, at, told);
    }
    medians(&mut svg, &scale, runs);
    svg + "</svg>\n"
}

fn axes(svg: &mut String, scale: &Scale, unit: &str) {
    for part in 0..=4 {
        let value = scale.most * f64::from(part) / 4.0;
        let y = scale.y(value);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            short(value)
        );
    }
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"10\">{}</text>", escape(unit));
    let whole = scale.to.since(scale.from).as_secs();
    let step = STEPS.into_iter().find(|step| whole / step < MOST_LABELS);
    let step = step.unwrap_or(STEPS[STEPS.len() - 1]) * 1_000;
    let first = scale.from.as_millis().div_ceil(step) * step;
    let mut at = Moment::from_millis(first);
    while at <= scale.to {
        let x = scale.x(at);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.0}\"/><text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM + 22.0,
            HEIGHT - 8.0,
            label(at, step)
        );
        at = Moment::from_millis(at.as_millis() + step);
    }
}

/// The time of day, or at midnight the date.
fn label(at: Moment, step: u64) -> String {
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    let is_midnight = at.time_of_day().is_zero();
    if is_midnight || step >= 86_400_000 {
        return date.get(5..).unwrap_or(date).to_owned();
    }
    let digits = if step < 60_000 { 8 } else { 5 };
    time.get(..digits).unwrap_or(time).to_owned()
}

/// A run: a dot where it has a figure, a cross below where it has none.
fn mark(svg: &mut String, scale: &Scale, at: Moment, told: &Told) {
    let (x, class) = (scale.x(at), told.look().class());
    let title = format!("{at}: {}", words(told));
    let title = escape(&title);
    let y = told.value.map(|value| scale.y(value));
    let shape = y.map_or_else(
        || {
            let (left, top) = (x - 3.0, HEIGHT - BOTTOM + 9.0);
            format!("path class=\"{class}\" d=\"M{left:.1} {top:.1}l6 6m0 -6l-6 6\"")
        },
        |y| format!("circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\""),
    );
    let element = shape.split(' ').next().unwrap_or_default();
    let _ = writeln!(svg, "<{shape}><title>{title}</title></{element}>");
}

/// What became of a run, in words.
pub(super) fn words(told: &Told) -> String {
    let verdict = told
        .verdict
        .map_or_else(String::new, |verdict| format!(", {verdict}"));
    let value = told
        .value
        .map_or_else(String::new, |value| format!(", {}", short(value)));
    format!("{}{verdict}{value}", told.status)
}

/// All runs, or of very many each piece's highest, lowest and those without a figure.
fn thinned<'a>(runs: &[(Moment, &'a Told)], scale: &Scale) -> Vec<(Moment, &'a Told)> {
    if runs.len() <= MOST_POINTS {
        return runs.to_vec();
    }
    let whole = scale.to.since(scale.from).as_millis().max(1);
    let column = |at: Moment| at.since(scale.from).as_millis() * PIECES / whole;
    let mut kept = Vec::new();
    for piece in runs.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let with = || piece.iter().filter_map(|run| Some((run, run.1.value?)));
        let by = |a: &(_, f64), b: &(_, f64)| a.1.total_cmp(&b.1);
        let ends = [with().min_by(by), with().max_by(by)];
        kept.extend(ends.into_iter().flatten().map(|(run, _)| *run));
        kept.extend(piece.iter().find(|run| run.1.value.is_none()));
    }
    kept
}

fn medians(svg: &mut String, scale: &Scale, runs: &[(Moment, &Told)]) {
    let piece = scale.to.since(scale.from) / MEDIANS;
    for number in 0..MEDIANS {
        let from = scale.from + piece * number;
        let to = from + piece;
        let inside = runs.iter().filter(|(at, _)| (from..to).contains(at));
        if let Some(middle) = median(inside.filter_map(|(_, told)| told.value).collect()) {
            let y = scale.y(middle);
            let _ = writeln!(
                svg,
                "<line class=\"median\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                scale.x(from),
                scale.x(to)
            );
        }
    }
}

/// The last figures as a line without axes, from nothing up; a run without a figure is a gap.
pub(super) fn spark<'a>(runs: impl DoubleEndedIterator<Item = &'a Told>) -> String {
    let mut last: Vec<_> = runs.rev().take(SPARKS).map(|told| told.value).collect();
    // The latest is at the right.
    last.resize(SPARKS, None);
    last.reverse();
    let most = last.iter().flatten().copied().fold(0.0, f64::max);
    let mut path = String::new();
    let mut is_drawing = false;
    for (value, place) in last.iter().zip(0_u32..) {
        if let Some(value) = value {
            let y = 13.0 - 12.0 * (value / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let to = if is_drawing { 'L' } else { 'M' };
            // One alone is a short stroke.
            let _ = write!(path, "{to}{} {y:.1}h.8", 2 * place);
        }
        is_drawing = value.is_some();
    }
    format!("<svg viewBox=\"0 0 48 14\" aria-hidden=\"true\"><path d=\"{path}\"/></svg>")
}

/// The least of 1, 2, 2.5, 4, 5, 8 and 10 times a power of ten that is not below `value`.
fn round_up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0];
    let found = steps
        .into_iter()
        .map(|step| step * power)
        .find(|round| *round >= value);
    found.unwrap_or(10.0 * power)
}

/// How long, in the unit that one would say.
pub(super) fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7_200 => format!("{} min", seconds / 60),
        seconds if seconds < 172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// A word for each look that is not plain.
pub(super) const fn sign(look: Look) -> Option<&'static str> {
    match look {
        Look::Measured => None,
        Look::Pass => Some("PASS"),
        Look::Fail => Some("FAIL"),
        Look::Beyond => Some("threshold"),
        Look::Undecided => Some("undecided"),
        Look::Nothing => Some("nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Became;

    fn told(value: Option<f64>) -> Told {
        let status = if value.is_some() {
            Became::Complete
        } else {
            Became::Failed
        };
        Told {
            status,
            verdict: None,
            value,
            reason: None,
            is_beyond: false,
            has_record: false,
        }
    }

    fn at(seconds: u64) -> Moment {
        Moment::from_millis(1_764_057_600_000 + seconds * 1_000)
    }

    #[test]
    fn an_axis_ends_at_a_round_number() {
        let ends = [0.0, 0.7, 1.0, 1.1, 23.9, 40.1, 812.0, f64::NAN];
        let ends = ends.map(|most| format!("{:.1}", round_up(most)));
        let round = ["1.0", "0.8", "1.0", "2.0", "25.0", "50.0", "1000.0", "1.0"];
        assert_eq!(ends, round);
    }

    #[test]
    fn a_run_with_a_figure_is_a_dot_and_one_without_a_cross() {
        let (good, bad) = (told(Some(24.0)), told(None));
        let svg = chart(&[(at(0), &good), (at(60), &bad)], [at(0), at(120)], "ms");
        assert_eq!(
            (svg.matches("<circle").count(), svg.matches("<path").count()),
            (1, 1)
        );
        // Nothing is left, 25 ms is at the top.
        assert!(svg.contains(&format!("cx=\"{LEFT:.1}\"")), "{svg}");
        assert!(
            svg.contains(">25.0</text>") && svg.contains("failed"),
            "{svg}"
        );
    }

    #[test]
    fn of_very_many_runs_the_extremes_stay() {
        let runs: Vec<_> = (0..20_000)
            .map(|n| told(Some(if n == 7_777 { 99.0 } else { 5.0 })))
            .collect();
        let runs: Vec<_> = runs.iter().zip(0..).map(|(run, n)| (at(n), run)).collect();
        let svg = chart(&runs, [at(0), at(20_000)], "ms");
        let dots = svg.matches("<circle").count();
        assert!((400..=2_000).contains(&dots), "{dots}");
        assert_eq!(svg.matches(", 99.0</title>").count(), 1);
    }

    #[test]
    fn a_line_the_size_of_a_word_has_gaps_where_nothing_was_measured() {
        let runs = [Some(1.0), Some(2.0), None, Some(2.0)].map(told);
        let line = spark(runs.iter());
        assert!(
            line.contains("d=\"M40 7.0h.8L42 1.0h.8M46 1.0h.8\""),
            "{line}"
        );
        assert!(spark([].iter()).contains("d=\"\""));
        // Nothing is a figure, too: no loss.
        assert!(spark([told(Some(0.0))].iter()).contains("d=\"M46 13.0h.8\""));
    }
}
