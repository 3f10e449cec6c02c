//! Where panels, legends and titles are.
//!
//! From outside in: the title takes room at the top, the small print at the foot; legends and labels of right axes take the
//! right, labels of left axes the left, each as much as the widest of all panels. What remains is divided evenly among the
//! panels. Sizes of letters are those of matplotlib, in which Flent draws.

use crate::figure::{Axis, Figure, Panel, Ticks};
use crate::svg::Area;
use crate::text::{POINT, width};
use crate::ticks;

/// Size of the title, in points.
pub(crate) const TITLE: f64 = 14.0;
/// Size of labels of axes and ticks.
pub(crate) const LABEL: f64 = 10.0;
/// Size of the legend.
pub(crate) const LEGEND: f64 = 8.33;
/// Size of the line at the foot.
pub(crate) const FOOT: f64 = 8.0;
/// Distance of one line of text from the next, in ems.
pub(crate) const LINE: f64 = 1.25;
/// Gap between things that stand beside each other.
pub(crate) const GAP: f64 = 6.0;
/// Length of the piece of line in front of a name in the legend.
pub(crate) const SAMPLE: f64 = 20.0;
/// Height or width of a panel below which it is not squeezed.
const LEAST: f64 = 20.0;
/// Room for a tick on the x axis; fewest and most pieces that ticks cut an axis into.
const TICK_WIDTH: f64 = 56.0;
const LEAST_TICKS: f64 = 4.0;
const MOST_TICKS: f64 = 8.0;

/// Height of lines of text of that size.
pub(crate) fn lines(count: usize, size_pt: f64) -> f64 {
    count as f64 * size_pt * POINT * LINE
}

/// Ticks of an axis of y of that height.
pub(crate) fn ticks_up(axis: &Axis, height: f64) -> Vec<(f64, String)> {
    ticks::of(axis, room(height / (1.5 * lines(1, LABEL))))
}

/// Ticks of an axis of x of that width.
pub(crate) fn ticks_along(axis: &Axis, width: f64) -> Vec<(f64, String)> {
    ticks::of(axis, room(width / TICK_WIDTH))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 4 and 8"
)]
fn room(ticks: f64) -> usize {
    ticks.clamp(LEAST_TICKS, MOST_TICKS) as usize
}

/// The plots of all panels, the first at the top.
pub(crate) fn plots(figure: &Figure) -> Vec<Area> {
    let (width, height) = (figure.size_in.0 * 100.0, figure.size_in.1 * 100.0);
    let count = figure.panels.len().max(1) as f64;
    let top = GAP + lines(figure.title.len(), TITLE) + GAP;
    let foot = if figure.foot.is_empty() {
        GAP
    } else {
        GAP + lines(1, FOOT)
    };
    let most = |of: &dyn Fn(&Panel) -> f64| figure.panels.iter().map(of).fold(0.0, f64::max);
    let (above, below) = (most(&above), most(&below));
    let each = (height - top - foot) / count - above - below;
    let each = each.max(LEAST);
    let left = GAP + most(&|panel| beside(&panel.left, each));
    let right = most(&|panel| at_right(panel, each));
    let wide = (width - left - right - GAP).max(LEAST);
    let place = |index: usize| Area {
        x: left,
        y: top + index as f64 * (each + above + below) + above,
        width: wide,
        height: each,
    };
    (0..figure.panels.len()).map(place).collect()
}

/// Room above a panel: for the names of its groups.
fn above(panel: &Panel) -> f64 {
    if panel.groups.is_empty() {
        0.0
    } else {
        lines(1, LABEL)
    }
}

/// Room below a panel: labels of ticks and of the axis.
fn below(panel: &Panel) -> f64 {
    let ticks = match &panel.x.ticks {
        Ticks::Numbers => lines(1, LABEL),
        Ticks::Names(names) => {
            let widths = names.iter().map(|(_, name)| width(name, LABEL));
            widths.fold(0.0, f64::max)
        }
    };
    let label = if panel.x.label.is_empty() {
        0.0
    } else {
        lines(1, LABEL)
    };
    GAP + ticks + label
}

/// Room for the labels of an axis of y: those of its ticks, and its own.
fn beside(axis: &Axis, height: f64) -> f64 {
    let label = if axis.label.is_empty() {
        0.0
    } else {
        lines(1, LABEL)
    };
    label + GAP + tick_width(axis, height) + GAP
}

/// Width of the widest label of a tick.
pub(crate) fn tick_width(axis: &Axis, height: f64) -> f64 {
    let ticks = ticks_up(axis, height);
    let widths = ticks.iter().map(|(_, label)| width(label, LABEL));
    widths.fold(0.0, f64::max)
}

/// Room at the right of a panel: its second axis and its legend.
fn at_right(panel: &Panel, height: f64) -> f64 {
    let axis = right_axis(panel, height);
    let names = panel.marks.iter().filter_map(|mark| mark.label.as_deref());
    let names: Vec<f64> = names
        .map(|name| SAMPLE + GAP + width(name, LEGEND))
        .collect();
    if names.is_empty() {
        return axis;
    }
    let title = width(&panel.legend_title, LEGEND);
    axis + GAP + names.into_iter().fold(title, f64::max) + GAP
}

/// Room for the second axis of y.
pub(crate) fn right_axis(panel: &Panel, height: f64) -> f64 {
    panel
        .right
        .as_ref()
        .map_or(0.0, |axis| beside(axis, height))
}
