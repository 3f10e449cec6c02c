//! Figures: two axes, and series of points on them.

use super::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure with one panel.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Figure {
    /// Its name within the experiment, in `a-z0-9-`: part of a link and of a file's name.
    pub id: String,
    /// What it shows: the finding, as a sentence.
    pub title: String,
    /// What is drawn, with bins, repeats and what an interval is.
    #[serde(default)]
    pub caption: String,
    /// How to read it, in at most four sentences: what is drawn, what good looks like, what this one shows, what to do.
    #[serde(default)]
    pub how_to: Vec<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the most important last: it lies on top.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Axis {
    /// What it is.
    pub label: String,
    /// Its unit, as it is written behind a number: `ms`, `Mbit/s`, `%`; empty for a plain number.
    #[serde(default)]
    pub unit: String,
    /// Whether it is logarithmic; values at or below 0 are not drawn then.
    #[serde(default)]
    pub log: bool,
    /// Names of places instead of numbers, on the horizontal axis: the place of a point is the index of its name, from 0.
    #[serde(default)]
    pub categories: Vec<String>,
    /// Where it begins; null to begin with the data.
    #[serde(default)]
    pub min: Option<f64>,
    /// Where it ends; null to end with the data.
    #[serde(default)]
    pub max: Option<f64>,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Joined by straight lines.
    Line,
    /// Joined by steps: a value holds until the next point. For distribution functions and windows.
    Step,
    /// Not joined.
    Points,
    /// A bar from 0 to each.
    Bars,
    /// An area on top of the stacked series before it. All of a figure have the same x.
    Stacked,
    /// Not joined, each a cross: what stands beside the points of another series.
    Crosses,
}

/// Points that belong together.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Series {
    /// What to call it.
    pub name: String,
    /// Which of its name, where there are several: those share a colour, the first variant is solid and the others dashed.
    #[serde(default)]
    pub variant: Option<String>,
    /// How it is drawn.
    pub kind: Kind,
    /// Whose it is; null when that is no question.
    #[serde(default)]
    pub source: Option<Source>,
    /// The points in ascending order of x, each in the units of the axes. A null y interrupts a line.
    pub points: Vec<(f64, Option<f64>)>,
    /// For each point the lower and the upper end of its interval; empty without intervals.
    #[serde(default)]
    pub intervals: Vec<Option<(f64, f64)>>,
}

impl Figure {
    /// A figure without axes and series.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
            how_to: Vec::new(),
            x: Axis::default(),
            y: Axis::default(),
            series: Vec::new(),
        }
    }

    /// With this text below the title.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// With this sentence behind the others of *How to read this*.
    #[must_use]
    pub fn how_to(mut self, sentence: impl Into<String>) -> Self {
        self.how_to.push(sentence.into());
        self
    }

    /// With this horizontal axis.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// With this vertical axis.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// With this series on top of the others.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

impl Axis {
    /// A linear axis over the data.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            ..Self::default()
        }
    }

    /// An axis with names instead of numbers.
    pub fn of_categories<T: Into<String>>(
        label: impl Into<String>,
        names: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            categories: names.into_iter().map(Into::into).collect(),
            ..Self::new(label, "")
        }
    }

    /// The same, logarithmic.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// The same, from `min` to `max`.
    #[must_use]
    pub fn range(mut self, min: f64, max: f64) -> Self {
        (self.min, self.max) = (Some(min), Some(max));
        self
    }
}

impl Series {
    /// A series of points, in ascending order of x unless they are not joined.
    pub fn new(
        name: impl Into<String>,
        kind: Kind,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self {
            name: name.into(),
            variant: None,
            kind,
            source: None,
            points: points.into_iter().map(|(x, y)| (x, Some(y))).collect(),
            intervals: Vec::new(),
        }
    }

    /// The distribution function of `values` in per cent: the share of them up to each. What is not finite is left out.
    pub fn cdf(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let curve = crate::distribution::Curve::of(&sorted);
        let first = curve.v.first().map(|&v| (v, 0.0));
        let points = curve.v.iter().zip(&curve.p).map(|(&v, &p)| (v, p * 100.0));
        Self::new(name, Kind::Step, first.into_iter().chain(points))
    }

    /// The same as one of several of its name.
    #[must_use]
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = Some(variant.into());
        self
    }

    /// The same with its source.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// The same with an interval around each point.
    #[must_use]
    pub fn intervals(mut self, intervals: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.intervals = intervals.into_iter().map(Some).collect();
        self
    }
}
