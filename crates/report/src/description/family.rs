//! One quantity of several sets.

use serde::Serialize;

/// A quantity, and its distribution in each set. Drawn as the share of values up to each, and as the share above it
/// with both axes logarithmic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Family {
    /// Its name within the page, in `a-z0-9-`.
    pub id: String,
    /// What it shows: the finding, as a sentence.
    pub title: String,
    /// What a value is, and of what.
    pub caption: String,
    /// How to read it, in at most four sentences.
    pub how_to: Vec<String>,
    /// What the horizontal axis is.
    pub label: String,
    /// The unit of values: `ms`, `B`, `%`; empty for a number of things.
    pub unit: String,
    /// A curve for each set, the first one the one that others are compared with.
    pub curves: Vec<Curve>,
}

/// The distribution of one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The set's name: it has the same colour in all families.
    pub name: String,
    /// Number of values.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Points in ascending order of their values.
    pub points: Vec<Point>,
    /// Quantiles to mark.
    pub marks: Vec<Mark>,
}

/// A value, the share of values that are at most this, and the share that are larger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point(pub f64, pub f64, pub f64);

/// A share, and the value that this share of all does not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mark(pub f64, pub f64);
