//! Rows whose columns are known only when all of them have come: objects of JSON, flattened.
//!
//! `rtt_ms.p50` is what an object has under `rtt_ms`, and there under `p50`. What a row does not have is null.

use crate::columns::Column;
use serde_json::Value;
use std::collections::HashMap;

/// Elements of a list that become columns.
const MOST_ELEMENTS: usize = 32;
/// Columns in all.
const MOST_COLUMNS: usize = 2_000;

/// Rows of unlike objects, put cell by cell. Columns are in the order in which they were first seen.
#[derive(Debug, Default)]
pub struct Flat {
    rows: usize,
    numbers: HashMap<String, usize>,
    columns: Vec<(String, Vec<Value>)>,
}

impl Flat {
    /// The cell of column `name` in the row under way. A name that is there already gets no second cell.
    pub fn put(&mut self, name: &str, value: Value) {
        let next = self.columns.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next && next < MOST_COLUMNS {
            self.columns.push((name.to_owned(), Vec::new()));
        }
        if let Some((_, cells)) = self.columns.get_mut(number)
            && cells.len() <= self.rows
        {
            cells.resize(self.rows, Value::Null);
            cells.push(value);
        }
    }

    /// Everything in `value`, each part by its way through it.
    pub fn put_all(&mut self, way: &mut String, value: &Value) {
        let length = way.len();
        let mut inner = |key: &str, value: &Value| {
            if length > 0 {
                way.push('.');
            }
            way.push_str(key);
            self.put_all(way, value);
            way.truncate(length);
        };
        match value {
            Value::Object(parts) => parts.iter().for_each(|(key, value)| inner(key, value)),
            Value::Array(parts) => {
                let parts = parts.iter().take(MOST_ELEMENTS).enumerate();
                parts.for_each(|(index, value)| inner(&index.to_string(), value));
            }
            Value::Null => {}
            value => self.put(way, value.clone()),
        }
    }

    /// The rows of `columns` that `is_wanted`, by their number.
    pub fn put_columns(&mut self, columns: &[(String, Column)], is_wanted: impl Fn(usize) -> bool) {
        let rows = columns.iter().map(|(_, column)| column.rows()).max();
        for row in (0..rows.unwrap_or_default()).filter(|&row| is_wanted(row)) {
            for (name, column) in columns {
                self.put(name, column.cell(row));
            }
            self.end_row();
        }
    }

    /// The next cell is the next row's.
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// All columns that have a value, each with the narrowest type that holds its cells.
    pub fn columns(mut self) -> Vec<(String, Column)> {
        let rows = self.rows;
        let columns = std::mem::take(&mut self.columns).into_iter();
        let columns = columns.map(|(name, mut cells)| {
            cells.resize(rows, Value::Null);
            (name, column(&cells))
        });
        // A column without a value says nothing: there is no lab, no verdict.
        let is_said = |(_, column): &(String, Option<Column>)| column.is_some();
        let said = columns.filter(is_said);
        said.filter_map(|(name, column)| Some((name, column?)))
            .collect()
    }
}

/// The narrowest column that holds these; nothing when all are null.
fn column(cells: &[Value]) -> Option<Column> {
    let all = |is: fn(&Value) -> bool| cells.iter().all(|cell| cell.is_null() || is(cell));
    if cells.iter().all(Value::is_null) {
        return None;
    }
    Some(if all(Value::is_i64) {
        Column::Whole(cells.iter().map(Value::as_i64).collect())
    } else if all(Value::is_number) {
        Column::Number(cells.iter().map(Value::as_f64).collect())
    } else if all(Value::is_boolean) {
        Column::Switch(cells.iter().map(Value::as_bool).collect())
    } else {
        let text = |cell: &Value| match cell {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Column::Text(cells.iter().map(text).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{read_columns, write_columns};
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn rows_that_were_written_are_rows_again() {
        let mut table = Flat::default();
        for value in [
            json!({ "a": 1, "b": 0.5, "c": true, "d": "x", "e": 1 }),
            json!({ "a": -2, "c": false, "d": "y", "e": "text" }),
            json!({ "b": 2.0 }),
        ] {
            table.put_all(&mut String::new(), &value);
            table.end_row();
        }
        let written = table.columns();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table.parquet");
        write_columns(&path, &written).unwrap();
        let read = read_columns(&path).unwrap();
        assert_eq!(read, written);
        let mut again = Flat::default();
        again.put_columns(&read, |row| row != 1);
        let again: BTreeMap<_, _> = again.columns().into_iter().collect();
        assert_eq!(again["a"], Column::Whole(vec![Some(1), None]));
        assert_eq!(again["b"], Column::Number(vec![Some(0.5), Some(2.0)]));
        assert_eq!(again["c"], Column::Switch(vec![Some(true), None]));
        assert_eq!(again["e"], Column::Text(vec![Some("1".to_owned()), None]));
    }

    #[test]
    fn columns_have_the_type_of_all_their_cells_and_rows_their_length() {
        let mut table = Flat::default();
        for value in [
            json!({ "a": 1, "b": { "c": 2 }, "d": [true, "x"] }),
            json!({ "a": 1.5, "b": { "c": 3 }, "e": null }),
            json!({ "b": { "c": 4 }, "f": "late", "a": "text" }),
        ] {
            table.put_all(&mut String::new(), &value);
            table.end_row();
        }
        let text = |text: &str| Some(text.to_owned());
        let columns: BTreeMap<_, _> = table.columns().into_iter().collect();
        assert_eq!(
            columns["a"],
            Column::Text(vec![text("1"), text("1.5"), text("text")])
        );
        assert_eq!(
            columns["b.c"],
            Column::Whole(vec![Some(2), Some(3), Some(4)])
        );
        assert_eq!(columns["d.0"], Column::Switch(vec![Some(true), None, None]));
        assert_eq!(columns["f"], Column::Text(vec![None, None, text("late")]));
        assert!(!columns.contains_key("e"));
    }
}
