//! A figure in its layout.

use crate::figure::{Axis, Figure, Mark, Panel, Shape, Side, Stroke};
use crate::layout::{self, FOOT, GAP, LABEL, LEGEND, SAMPLE, TITLE};
use crate::svg::{Anchor, Area, Canvas, Text};
use crate::text::POINT;
use crate::thin;
use stats::quantile;

/// Behind everything in a plot, and the lines of its grid.
const GROUND: &str = "#e6e6e6";
const GRID: &str = "white";
/// The median of a box.
const MEDIAN: &str = "#ff7f0e";
/// Half the width of a box and of the ends of its whiskers, in units of the x axis.
const HALF_BOX: f64 = 0.25;
const HALF_CAP: f64 = 0.125;
/// Whiskers end at the last sample within so many boxes' heights (Tukey).
const REACH: f64 = 1.5;
/// Half the size of the cross that is a sample beyond the whiskers.
const CROSS: f64 = 3.5;

/// Draws a figure as SVG.
pub(crate) fn draw(figure: &Figure) -> String {
    let size = (figure.size_in.0 * 100.0, figure.size_in.1 * 100.0);
    let mut canvas = Canvas::new(size);
    for (index, line) in figure.title.iter().enumerate() {
        let y = GAP + layout::lines(index, TITLE) + layout::lines(1, TITLE) / 2.0;
        canvas.text(&centred(line, (size.0 / 2.0, y), TITLE));
    }
    for (panel, plot) in figure.panels.iter().zip(layout::plots(figure)) {
        Plot { panel, plot }.draw(&mut canvas);
    }
    let y = size.1 - GAP / 2.0 - layout::lines(1, FOOT) / 2.0;
    canvas.text(&centred(&figure.foot, (size.0 / 2.0, y), FOOT));
    canvas.finish()
}

fn centred(words: &str, at: (f64, f64), size_pt: f64) -> Text<'_> {
    Text {
        words,
        at,
        size_pt,
        anchor: Anchor::Middle,
        is_turned: false,
    }
}

/// A panel where it is drawn.
struct Plot<'a> {
    panel: &'a Panel,
    plot: Area,
}

impl Plot<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        canvas.rectangle(self.plot, GROUND);
        self.x_axis(canvas);
        self.y_axis(canvas, &self.panel.left, Side::Left);
        if let Some(right) = &self.panel.right {
            self.y_axis(canvas, right, Side::Right);
        }
        canvas.begin_clip(self.plot);
        for group in &self.panel.groups {
            self.line(canvas, &[(group.end, 0.0), (group.end, 1.0)], &dotted());
        }
        for mark in &self.panel.marks {
            self.mark(canvas, mark);
        }
        canvas.end_clip();
        for group in &self.panel.groups {
            let y = self.plot.y - layout::lines(1, LABEL) / 2.0;
            canvas.text(&centred(&group.name, (self.x(group.middle), y), LABEL));
        }
        self.legend(canvas);
    }

    fn x(&self, value: f64) -> f64 {
        self.plot.x + self.panel.x.place(value) * self.plot.width
    }

    fn y(&self, value: f64, side: Side) -> f64 {
        let axis = match (side, &self.panel.right) {
            (Side::Right, Some(right)) => right,
            _ => &self.panel.left,
        };
        self.plot.bottom() - axis.place(value) * self.plot.height
    }

    /// A line whose y is a share of the plot's height.
    fn line(&self, canvas: &mut Canvas, points: &[(f64, f64)], stroke: &Stroke) {
        let place =
            |&(x, share): &(f64, f64)| (self.x(x), self.plot.bottom() - share * self.plot.height);
        let points: Vec<_> = points.iter().map(place).collect();
        canvas.line(&points, stroke);
    }

    fn x_axis(&self, canvas: &mut Canvas) {
        let axis = &self.panel.x;
        let is_named = matches!(axis.ticks, crate::figure::Ticks::Names(_));
        let mut below = self.plot.bottom() + GAP;
        for (value, label) in layout::ticks_along(axis, self.plot.width) {
            let x = self.x(value);
            if is_named {
                let anchor = Anchor::End;
                canvas.text(&Text {
                    anchor,
                    is_turned: true,
                    ..centred(&label, (x, below), LABEL)
                });
            } else {
                if self.panel.right.is_none() {
                    self.line(canvas, &[(value, 0.0), (value, 1.0)], &grid());
                }
                let y = below + layout::lines(1, LABEL) / 2.0;
                canvas.text(&centred(&label, (x, y), LABEL));
            }
        }
        below += 1.5 * layout::lines(1, LABEL);
        let middle = self.plot.x + self.plot.width / 2.0;
        canvas.text(&centred(&axis.label, (middle, below), LABEL));
    }

    fn y_axis(&self, canvas: &mut Canvas, axis: &Axis, side: Side) {
        let Area { x, height, .. } = self.plot;
        let (edge, anchor, outwards) = match side {
            Side::Left => (x, Anchor::End, -1.0),
            Side::Right => (self.plot.right(), Anchor::Start, 1.0),
        };
        for (value, label) in layout::ticks_up(axis, height) {
            let y = self.y(value, side);
            if self.panel.right.is_none() {
                canvas.line(&[(x, y), (self.plot.right(), y)], &grid());
            }
            canvas.text(&Text {
                anchor,
                ..centred(&label, (edge + outwards * GAP, y), LABEL)
            });
        }
        let out = GAP + layout::tick_width(axis, height) + layout::lines(1, LABEL) / 2.0;
        let at = (
            edge + outwards * (out + GAP / 2.0),
            self.plot.y + height / 2.0,
        );
        canvas.text(&Text {
            is_turned: true,
            ..centred(&axis.label, at, LABEL)
        });
    }

    fn mark(&self, canvas: &mut Canvas, mark: &Mark) {
        match &mark.shape {
            Shape::Line(points) => {
                let placed = (points.iter()).map(|&(x, y)| (self.x(x), self.y(y, mark.side)));
                for stretch in thin::stretches(placed) {
                    canvas.line(&stretch, &mark.stroke);
                }
            }
            Shape::Box { at, samples } => self.summary(canvas, mark, *at, samples),
        }
    }

    /// Quartiles as a box, the rest of the samples as whiskers, and what is far from them as crosses.
    fn summary(&self, canvas: &mut Canvas, mark: &Mark, at: f64, samples: &[f64]) {
        let mut sorted: Vec<f64> = samples.iter().copied().filter(|s| s.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let quartiles = [0.25, 0.5, 0.75].map(|q| quantile(&sorted, q));
        let [Some(low), Some(median), Some(high)] = quartiles else {
            return;
        };
        let reach = REACH * (high - low);
        let is_near = |s: &&f64| (low - reach..=high + reach).contains(*s);
        // The quartiles themselves are within reach: there are such samples.
        let near: Vec<f64> = sorted.iter().filter(is_near).copied().collect();
        let (least, most) = (near.first().unwrap_or(&low), near.last().unwrap_or(&high));
        let mut path = |points: &[(f64, f64)], stroke: &Stroke| {
            let place = |&(x, y): &(f64, f64)| (self.x(at + x), self.y(y, mark.side));
            canvas.line(&points.iter().map(place).collect::<Vec<_>>(), stroke);
        };
        let (left, right) = (-HALF_BOX, HALF_BOX);
        let corners = [
            (left, low),
            (right, low),
            (right, high),
            (left, high),
            (left, low),
        ];
        path(&corners, &mark.stroke);
        for (from, to) in [(low, *least), (high, *most)] {
            path(&[(0.0, from), (0.0, to)], &mark.stroke);
            path(&[(-HALF_CAP, to), (HALF_CAP, to)], &mark.stroke);
        }
        path(&[(left, median), (right, median)], &solid(MEDIAN, 1.0));
        let far = sorted.iter().filter(|s| !is_near(s));
        let far: Vec<(f64, f64)> = far.map(|s| (self.x(at), self.y(*s, mark.side))).collect();
        crosses(canvas, &far, &mark.stroke);
    }

    fn legend(&self, canvas: &mut Canvas) {
        let named = (self.panel.marks.iter())
            .filter_map(|mark| Some((mark.label.as_deref()?, &mark.stroke)));
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            return;
        }
        let x = self.plot.right() + layout::right_axis(self.panel, self.plot.height) + GAP;
        let heads = usize::from(!self.panel.legend_title.is_empty());
        // Many names get as small as they must.
        let fitting = self.plot.height / layout::lines(named.len() + heads, 1.0);
        let size = LEGEND.min(fitting);
        let line = layout::lines(1, size);
        let row = |index: usize| self.plot.y + (index as f64 + 0.5) * line;
        let text = |text, x, y| Text {
            anchor: Anchor::Start,
            ..centred(text, (x, y), size)
        };
        canvas.text(&text(&self.panel.legend_title, x, row(0)));
        for (index, (name, stroke)) in named.into_iter().enumerate() {
            let y = row(index + heads);
            canvas.line(&[(x, y), (x + SAMPLE, y)], stroke);
            canvas.text(&text(name, x + SAMPLE + GAP, y));
        }
    }
}

/// Crosses, one for each place that can be told from the one before it.
fn crosses(canvas: &mut Canvas, places: &[(f64, f64)], stroke: &Stroke) {
    let mut last = f64::NAN;
    for &(x, y) in places {
        if (y - last).abs() < POINT / 4.0 {
            continue;
        }
        last = y;
        canvas.line(&[(x - CROSS, y), (x + CROSS, y)], stroke);
        canvas.line(&[(x, y - CROSS), (x, y + CROSS)], stroke);
    }
}

fn solid(colour: &str, width_pt: f64) -> Stroke {
    Stroke {
        colour: colour.to_owned(),
        width_pt,
        dashes: Vec::new(),
    }
}

fn grid() -> Stroke {
    solid(GRID, 1.0)
}

fn dotted() -> Stroke {
    Stroke {
        dashes: vec![0.5, 1.5],
        ..solid("black", 0.5)
    }
}
