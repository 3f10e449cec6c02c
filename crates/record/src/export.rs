//! Tables as CSV, for spreadsheets and scripts.
//!
//! The header holds the column names, which end in their units; a null is an empty field; a float is the shortest
//! decimal that reads back to the same number.

use crate::error::Error;
use crate::reader::Record;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use std::fmt::{Display, Write as _};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Writes every table of the record to `<table>.csv` in `dir`, which is created.
///
/// # Errors
/// As [`export_csv`], and [`Error::Write`] when a file cannot be created.
pub fn export_csv_folder(record: &Record, dir: &Path) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(Error::write(dir))?;
    for table in record.table_names() {
        let path = dir.join(format!("{table}.csv"));
        let beside = dir.join(format!(".{table}.csv.part"));
        let file = create(&beside).map_err(Error::write(&beside))?;
        let written = export_csv(record, table, file)
            .and_then(|()| fs::rename(&beside, &path).map_err(Error::write(&path)));
        if written.is_err() {
            // What is left of it is no table.
            let _ = fs::remove_file(&beside);
        }
        written?;
    }
    Ok(())
}

/// A new file at `path`. What is there already goes: a link is not followed, be the folder somebody else's.
fn create(path: &Path) -> std::io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Writes one table of the record as CSV, batch by batch.
///
/// # Errors
/// [`Error::NoTable`]; [`Error::Table`] or [`Error::Read`] from reading, after the rows before it were written;
/// [`Error::Column`] for a type that no table of this program has; [`Error::Csv`] from `output`.
pub fn export_csv(record: &Record, table: &str, output: impl Write) -> Result<(), Error> {
    let csv_error = |source| Error::Csv {
        table: table.to_owned(),
        source,
    };
    let batches = record.batches(table)?;
    let mut csv = csv::Writer::from_writer(output);
    let schema = batches.schema();
    if !schema.fields().is_empty() {
        let header = schema.fields().iter().map(|field| field.name());
        csv.write_record(header).map_err(csv_error)?;
    }
    for batch in batches {
        write_batch(&mut csv, table, &batch?)?;
    }
    csv.flush().map_err(|error| csv_error(error.into()))
}

fn write_batch<W: Write>(
    csv: &mut csv::Writer<W>,
    table: &str,
    batch: &RecordBatch,
) -> Result<(), Error> {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields());
    let cells: Vec<_> = columns
        .map(|(array, field)| {
            cells(array.as_ref()).ok_or_else(|| Error::Column {
                table: table.to_owned(),
                column: field.name().clone(),
                problem: format!("is {}, which has no form in CSV", array.data_type()),
            })
        })
        .collect::<Result<_, _>>()?;
    let mut text = String::new();
    let mut write_row = |row| {
        for cell in &cells {
            text.clear();
            cell(row, &mut text);
            csv.write_field(&text)?;
        }
        csv.write_record(None::<&[u8]>)
    };
    (0..batch.num_rows())
        .try_for_each(&mut write_row)
        .map_err(|source| Error::Csv {
            table: table.to_owned(),
            source,
        })
}

/// Appends the text of the cell in a row to the string; nothing for a null.
type Cells<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// How to write the cells of a column; `None` for a type that no table of ours has.
fn cells(array: &dyn Array) -> Option<Cells<'_>> {
    Some(match array.data_type() {
        DataType::UInt8 => texts(array, array.as_primitive::<UInt8Type>().values().as_ref()),
        DataType::UInt16 => texts(array, array.as_primitive::<UInt16Type>().values().as_ref()),
        DataType::UInt32 => texts(array, array.as_primitive::<UInt32Type>().values().as_ref()),
        DataType::UInt64 => texts(array, array.as_primitive::<UInt64Type>().values().as_ref()),
        DataType::Int64 => texts(array, array.as_primitive::<Int64Type>().values().as_ref()),
        DataType::Float64 => texts(array, array.as_primitive::<Float64Type>().values().as_ref()),
        DataType::Boolean => {
            let values = array.as_boolean();
            valid(array, move |row, text| push(text, &values.value(row)))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            valid(array, move |row, text| text.push_str(values.value(row)))
        }
        _ => return None,
    })
}

fn texts<'a, T: Display>(array: &'a dyn Array, values: &'a [T]) -> Cells<'a> {
    valid(array, |row, text| push(text, &values[row]))
}

fn valid<'a>(array: &'a dyn Array, write: impl Fn(usize, &mut String) + 'a) -> Cells<'a> {
    Box::new(move |row, text| {
        if array.is_valid(row) {
            write(row, text);
        }
    })
}

fn push(text: &mut String, value: &dyn Display) {
    write!(text, "{value}").expect("a String takes all text");
}
