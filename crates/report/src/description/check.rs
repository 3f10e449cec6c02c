//! What the page can draw.

use super::{Curve, Description, Family};
use crate::Error;
use crate::experiment::Experiment;
use crate::experiment::check::{at_most, wrong};

/// The most families and the most curves of one: more colours cannot be told apart.
const MOST_FAMILIES: usize = 64;
const MOST_CURVES: usize = crate::MOST_RUNS;
/// The most points of a curve.
const MOST_POINTS: usize = 2_000;

impl Description {
    /// Whether every part can be drawn.
    ///
    /// # Errors
    /// [`Error::Experiment`] with the first part that cannot be, and why.
    pub fn check(&self) -> Result<(), Error> {
        at_most(&self.name, "families", self.families.len(), MOST_FAMILIES)?;
        self.families.iter().try_for_each(family)?;
        let ids = self.families.iter().map(|family| &*family.id);
        let figures = self.figures.iter().map(|figure| &*figure.id);
        let mut ids: Vec<&str> = ids.chain(figures).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(pair[0], "two figures of this id"));
        }
        let mut free = Experiment::new(&self.name, &self.sentence);
        free.figures.clone_from(&self.figures);
        free.tables.clone_from(&self.tables);
        free.check()
    }
}

fn family(family: &Family) -> Result<(), Error> {
    let id = &*family.id;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(is_plain) {
        return Err(wrong(id, "an id other than a-z, 0-9 and -"));
    }
    at_most(id, "curves", family.curves.len(), MOST_CURVES)?;
    family.curves.iter().try_for_each(|one| curve(id, one))
}

fn curve(id: &str, curve: &Curve) -> Result<(), Error> {
    let part = format!("{id}, {}", curve.name);
    at_most(&part, "points", curve.points.len(), MOST_POINTS)?;
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    let sound = |value: f64, share: f64| value.is_finite() && is_share(share);
    let points = curve.points.iter();
    let marks = curve.marks.iter();
    if !points
        .clone()
        .all(|point| sound(point.0, point.1) && is_share(point.2))
        || !marks.clone().all(|mark| sound(mark.1, mark.0))
        || !curve.mean.is_finite()
    {
        return Err(wrong(&part, "a point that is none of a distribution"));
    }
    if !points.is_sorted_by(|one, other| one.0 <= other.0 && one.1 <= other.1) {
        return Err(wrong(&part, "a share that shrinks"));
    }
    Ok(())
}
