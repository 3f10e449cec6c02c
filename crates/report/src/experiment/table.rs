//! Tables: columns with units, and cells of any kind.

use super::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A table.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Its columns; the first names the row.
    pub columns: Vec<Column>,
    /// Rows of as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Column {
    /// What is in it.
    pub name: String,
    /// Unit of its numbers; empty for a plain number or text.
    #[serde(default)]
    pub unit: String,
    /// Whose its values are; null when that is no question.
    #[serde(default)]
    pub source: Option<Source>,
}

/// What stands in a table.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number in its column's unit.
    Number(f64),
    /// Words.
    Text(String),
    /// Whether something holds.
    Flag(bool),
    /// Not measured.
    Nothing,
}

impl From<f64> for Cell {
    /// Infinite and not-a-number become [`Cell::Nothing`], which JSON can say.
    fn from(value: f64) -> Self {
        if value.is_finite() {
            Self::Number(value)
        } else {
            Self::Nothing
        }
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Number(value as f64)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::Number(value as f64)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

impl Table {
    /// A table without columns and rows.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// With this column behind the others.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>, unit: impl Into<String>) -> Self {
        self.columns.push(Column {
            name: name.into(),
            unit: unit.into(),
            source: None,
        });
        self
    }

    /// With this column behind the others, whose values are `source`'s.
    #[must_use]
    pub fn column_of(
        self,
        name: impl Into<String>,
        unit: impl Into<String>,
        source: Source,
    ) -> Self {
        let mut table = self.column(name, unit);
        if let Some(last) = table.columns.last_mut() {
            last.source = Some(source);
        }
        table
    }

    /// With this row below the others. Rows of mixed cells: `row([Cell::from("a"), 1.5.into(), None::<f64>.into()])`.
    #[must_use]
    pub fn row<T: Into<Cell>>(mut self, cells: impl IntoIterator<Item = T>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }
}
