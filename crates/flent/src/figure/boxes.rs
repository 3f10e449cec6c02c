//! Box plots: a group for each series, in it a box for each file.

use super::catalogue::Spec;
use super::points::points;
use super::{COLOURS, Drawn, Look, axis_label, file_label, scale, series};
use crate::import::Source;
use plots::{Axis, Group, Mark, Panel, Shape, Side, Stroke, Ticks};

pub(super) fn panel(sources: &[&Source], spec: &Spec, look: Look) -> Panel {
    let series = series(sources, spec);
    let mut labels: Vec<(&str, &str)> = Vec::new();
    for one in &series {
        let id = (one.name, one.label.as_str());
        if !labels.contains(&id) {
            labels.push(id);
        }
    }
    let mut made = Boxes::default();
    for id in labels {
        let members = series
            .iter()
            .filter(|one| (one.name, one.label.as_str()) == id);
        made.group(id.1, members, spec);
    }
    let axis = |side: Side| {
        let values = made.values(side);
        let bounds = scale::bounds(values, scale::ALL, look.from_zero);
        Axis::numbers(axis_label(spec, &series, side), bounds)
    };
    let has_right = made.marks.iter().any(|mark| mark.side == Side::Right);
    let (left, right) = (axis(Side::Left), has_right.then(|| axis(Side::Right)));
    let ticks = if sources.len() > 1 {
        made.ticks
    } else {
        Vec::new()
    };
    Panel {
        x: Axis {
            label: String::new(),
            bounds: (0.0, made.position),
            ticks: Ticks::Names(ticks),
        },
        left,
        right,
        marks: made.marks,
        legend_title: String::new(),
        groups: made.groups,
    }
}

/// Boxes side by side at 1, 2, 3 ..., with a place between groups that stays empty.
#[derive(Default)]
struct Boxes {
    /// The last place that is taken.
    position: f64,
    marks: Vec<Mark>,
    groups: Vec<Group>,
    ticks: Vec<(f64, String)>,
}

impl Boxes {
    fn group<'a>(&mut self, name: &str, members: impl Iterator<Item = &'a Drawn<'a>>, spec: &Spec) {
        let start = self.position;
        for one in members {
            let points = points(one.source, one.name, spec.only_loaded, one.pick.smoothing);
            let samples: Vec<f64> = points
                .iter()
                .map(|p| p.1)
                .filter(|v| v.is_finite())
                .collect();
            if samples.is_empty() {
                continue;
            }
            self.position += 1.0;
            let at = self.position;
            self.ticks.push((at, file_label(one.source)));
            self.marks.push(Mark {
                shape: Shape::Box { at, samples },
                stroke: Stroke {
                    colour: COLOURS[one.file % COLOURS.len()].to_owned(),
                    width_pt: 1.0,
                    dashes: Vec::new(),
                },
                side: one.pick.side,
                label: None,
            });
        }
        if self.position > start {
            let middle = (start + 1.0 + self.position) / 2.0;
            self.position += 1.0;
            self.groups.push(Group {
                name: name.to_owned(),
                middle,
                end: self.position,
            });
        }
    }

    /// What is on one axis of y.
    fn values(&self, side: Side) -> impl Iterator<Item = f64> {
        let marks = self.marks.iter().filter(move |mark| mark.side == side);
        marks.flat_map(|mark| match &mark.shape {
            Shape::Box { samples, .. } => samples.iter().copied(),
            Shape::Line(_) => [].iter().copied(),
        })
    }
}
