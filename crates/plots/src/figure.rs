//! What a figure is, in the units of its data.

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Lines of the title, the first at the top.
    pub title: Vec<String>,
    /// A line in small print below everything.
    pub foot: String,
    /// The panels, the first at the top. All have the same height.
    pub panels: Vec<Panel>,
    /// Width and height in inches.
    pub size_in: (f64, f64),
}

/// One plot of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis at the left.
    pub left: Axis,
    /// The vertical axis at the right, if there are marks on it.
    pub right: Option<Axis>,
    /// What is drawn, the first at the bottom.
    pub marks: Vec<Mark>,
    /// Heading of the legend; empty for none. The legend lists the marks that have a label.
    pub legend_title: String,
    /// Names above stretches of the x axis.
    pub groups: Vec<Group>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// The values at both ends; what is outside is cut off.
    pub bounds: (f64, f64),
    /// Where it is labelled.
    pub ticks: Ticks,
}

/// The ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Ticks {
    /// Round numbers.
    Numbers,
    /// Names at values; on the x axis they are written upwards.
    Names(Vec<(f64, String)>),
}

/// A name above a stretch of the x axis that ends at a dotted line.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The name.
    pub name: String,
    /// Its middle, in units of the x axis.
    pub middle: f64,
    /// The end of the stretch.
    pub end: f64,
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What it is.
    pub shape: Shape,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Which axis of y it is on.
    pub side: Side,
    /// Its name in the legend; without one it is not listed.
    pub label: Option<String>,
}

/// The shape of a mark.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined in their order; one that is not finite is a gap.
    Line(Vec<(f64, f64)>),
    /// A box plot of samples at one place of the x axis.
    Box {
        /// Where.
        at: f64,
        /// The samples; those that are not finite do not count.
        samples: Vec<f64>,
    },
}

/// How lines are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Colour as SVG has it: `#1b9e77`, `black`.
    pub colour: String,
    /// Width in points (1/72 inch).
    pub width_pt: f64,
    /// Lengths of dashes and gaps in points; empty for a solid line.
    pub dashes: Vec<f64>,
}

/// An axis of y.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The one at the left.
    Left,
    /// The one at the right.
    Right,
}

impl Axis {
    /// An axis with round numbers between `bounds`.
    pub fn numbers(label: impl Into<String>, bounds: (f64, f64)) -> Self {
        Self {
            label: label.into(),
            bounds,
            ticks: Ticks::Numbers,
        }
    }

    /// Where a value is, 0 to 1 from the axis's first end to the other.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let (first, last) = self.bounds;
        let length = last - first;
        if length == 0.0 {
            0.5
        } else {
            (value - first) / length
        }
    }
}
