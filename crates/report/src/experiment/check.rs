//! What a page can draw.

use super::{Axis, Experiment, Figure, Kind, Series, Table};
use crate::Error;

/// The most figures, tables and series of a figure.
const MOST_PARTS: usize = 64;
/// The most points of a series, and rows of a table: beyond it a page does not open at once.
const MOST_POINTS: usize = 50_000;

impl Experiment {
    /// Whether every part can be drawn.
    ///
    /// # Errors
    /// [`Error::Experiment`] with the first part that cannot be, and why.
    pub fn check(&self) -> Result<(), Error> {
        if self.schema != super::SCHEMA {
            let found = format!("schema {:?} instead of {:?}", self.schema, super::SCHEMA);
            return Err(wrong(&self.name, found));
        }
        at_most(&self.name, "figures", self.figures.len(), MOST_PARTS)?;
        at_most(&self.name, "tables", self.tables.len(), MOST_PARTS)?;
        self.figures.iter().try_for_each(figure)?;
        let mut ids: Vec<&str> = self.figures.iter().map(|figure| &*figure.id).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(pair[0], "two figures of this id"));
        }
        self.tables.iter().try_for_each(table)
    }
}

/// A part that cannot be drawn, and what it has.
pub(crate) fn wrong(part: &str, what: impl Into<String>) -> Error {
    Error::Experiment {
        part: part.to_owned(),
        what: what.into(),
    }
}

/// Whether a part has no more of something than can be drawn.
pub(crate) fn at_most(part: &str, what: &str, n: usize, most: usize) -> Result<(), Error> {
    if n > most {
        return Err(wrong(part, format!("{n} {what}, of which {most} can be")));
    }
    Ok(())
}

fn figure(figure: &Figure) -> Result<(), Error> {
    let id = &*figure.id;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(is_plain) {
        return Err(wrong(id, "a figure's id other than a-z, 0-9 and -"));
    }
    at_most(id, "series", figure.series.len(), MOST_PARTS)?;
    axis(id, &figure.x)?;
    axis(id, &figure.y)?;
    if !figure.y.categories.is_empty() {
        return Err(wrong(id, "names on the vertical axis"));
    }
    stacks(id, figure)?;
    figure
        .series
        .iter()
        .try_for_each(|one| series(id, one, figure.x.categories.len()))
}

/// What is stacked is stacked point by point.
fn stacks(id: &str, figure: &Figure) -> Result<(), Error> {
    let stacked = |one: &&Series| one.kind == Kind::Stacked;
    let mut places = figure.series.iter().filter(stacked).map(|one| {
        let places = one.points.iter().map(|(x, _)| *x);
        places.collect::<Vec<f64>>()
    });
    let Some(first) = places.next() else {
        return Ok(());
    };
    if places.all(|other| other == first) {
        Ok(())
    } else {
        Err(wrong(
            id,
            "stacked series whose points are not at the same places",
        ))
    }
}

fn axis(id: &str, axis: &Axis) -> Result<(), Error> {
    let ends = [axis.min, axis.max];
    if ends.iter().flatten().any(|end| !end.is_finite()) {
        return Err(wrong(id, "an axis with an end that is not a number"));
    }
    if axis.log && ends.iter().flatten().any(|&end| end <= 0.0) {
        return Err(wrong(id, "a logarithmic axis with an end at or below 0"));
    }
    Ok(())
}

fn series(id: &str, series: &Series, categories: usize) -> Result<(), Error> {
    let part = format!("{id}, {}", series.name);
    at_most(&part, "points", series.points.len(), MOST_POINTS)?;
    let intervals = series.intervals.len();
    if intervals != 0 && intervals != series.points.len() {
        return Err(wrong(&part, "intervals for some of its points only"));
    }
    let is_finite = |&(x, y): &(f64, Option<f64>)| x.is_finite() && y.is_none_or(f64::is_finite);
    if !series.points.iter().all(is_finite) {
        return Err(wrong(&part, "a point that is not a number"));
    }
    let is_place = |x: f64| x >= 0.0 && x < categories as f64 && x.fract() == 0.0;
    if categories > 0 && !series.points.iter().all(|&(x, _)| is_place(x)) {
        return Err(wrong(&part, "a point that is at none of the axis's names"));
    }
    Ok(())
}

fn table(table: &Table) -> Result<(), Error> {
    at_most(&table.title, "rows", table.rows.len(), MOST_POINTS)?;
    let columns = table.columns.len();
    match table.rows.iter().position(|row| row.len() != columns) {
        Some(row) => Err(wrong(
            &table.title,
            format!("row {} without one cell for each column", row + 1),
        )),
        None => Ok(()),
    }
}
