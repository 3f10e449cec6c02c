//! Lines over time, as all views draw them.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType};

/// Points kept of each line; of a longer one every second goes.
const MOST_POINTS: usize = 8_192;
/// Okabe and Ito's colours, which all kinds of sight tell apart.
pub(super) const COLOURS: [Color; 6] = [
    Color::Rgb(0, 114, 178),
    Color::Rgb(213, 94, 0),
    Color::Rgb(0, 158, 115),
    Color::Rgb(230, 159, 0),
    Color::Rgb(204, 121, 167),
    Color::Rgb(86, 180, 233),
];

/// The points of a line so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Points(Vec<(f64, f64)>);

impl Points {
    pub(super) fn push(&mut self, x: f64, y: f64) {
        if self.0.len() >= MOST_POINTS {
            let mut odd = false;
            self.0.retain(|_| {
                odd = !odd;
                odd
            });
        }
        self.0.push((x, y));
    }

    pub(super) fn last(&self) -> Option<f64> {
        self.0.last().map(|(_, y)| *y)
    }

    /// The last place on the x axis.
    pub(super) fn end(&self) -> f64 {
        self.0.last().map_or(0.0, |(x, _)| *x)
    }
}

/// A line with its colour, and what the title says of it.
pub(super) struct Drawn<'a> {
    pub(super) points: &'a Points,
    pub(super) colour: Color,
    pub(super) says: String,
}

/// Draws lines with `title` before what they say; `marks` are labelled places of the x axis, the last its end, in `unit`.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    lines: &[Drawn<'_>],
    (marks, unit): (&[f64], &str),
) {
    let mut heading = Line::from(title.to_owned());
    heading.extend(
        lines
            .iter()
            .map(|line| Span::styled(format!("{} ", line.says), line.colour)),
    );
    let heights = lines.iter().flat_map(|line| &line.points.0);
    let most = heights.map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
    let end = marks.last().copied().unwrap_or_default().max(1e-9);
    let x = Axis::default()
        .bounds([0.0, end])
        .labels(marks.iter().map(|at| format!("{at:.0}{unit}")));
    let heights = [0.0, most / 2.0, most];
    let y = Axis::default()
        .bounds([0.0, most])
        .labels(heights.map(|value| format!("{value:.0}")));
    let sets = lines.iter().map(|line| {
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::default().fg(line.colour))
            .data(&line.points.0)
    });
    let chart = Chart::new(sets.collect())
        .block(Block::bordered().title(heading))
        .x_axis(x)
        .y_axis(y);
    frame.render_widget(chart, area);
}

/// Labels for an x axis that grows with the run: its start, middle and end in seconds.
pub(super) fn growing(end: f64) -> [f64; 3] {
    let end = end.max(10.0);
    [0.0, end / 2.0, end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_ends_and_half_of_its_points() {
        let mut points = Points::default();
        for x in 0..20_000_u32 {
            points.push(f64::from(x), 1.0);
        }
        assert!(points.0.len() <= MOST_POINTS);
        assert!(points.0[0].0.abs() < 1e-9);
        assert!((points.end() - 19_999.0).abs() < 1e-9);
    }
}
