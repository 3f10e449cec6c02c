//! Tables as row types: a struct is the one place where a column's name, type, unit and meaning are written.

use crate::cell::Cell;
use crate::error::Error;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// One row of a table. Implemented by [`table!`](crate::table!).
pub trait Row: Sized + 'static {
    /// The table's name, and so its file's: lower-case letters, digits and `_`.
    const TABLE: &'static str;
    /// What a row is.
    const ABOUT: &'static str;

    /// The columns in order, each with `unit` and `description` in its metadata.
    fn fields() -> Vec<Field>;

    /// The rows as columns, in the order of [`Row::fields`].
    fn columns(rows: &[Self]) -> Vec<ArrayRef>;

    /// The rows of a batch, in which columns that may be null may be missing, and others may be there.
    ///
    /// # Errors
    /// [`Error::Column`] when a column has the wrong type, is missing, or holds nulls where none may be.
    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>, Error>;

    /// The table's Arrow schema; its metadata holds the `description`.
    fn schema() -> Schema {
        let about = HashMap::from([("description".to_owned(), Self::ABOUT.to_owned())]);
        Schema::new_with_metadata(Self::fields(), about)
    }

    /// The rows as a batch.
    ///
    /// # Errors
    /// When a column outgrows Arrow: text of more than 2 GiB in one batch.
    fn batch(rows: &[Self]) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Self::schema()), Self::columns(rows))
    }
}

/// Whether `name` is a table's: lower-case letters, digits and `_`, so that it is a plain file name everywhere.
pub const fn is_table_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'_') {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty()
}

/// A column's Arrow field, documented.
pub fn field<C: Cell>(name: &str, unit: &str, about: &str) -> Field {
    let mut metadata = HashMap::from([("description".to_owned(), about.trim().to_owned())]);
    if !unit.is_empty() {
        metadata.insert("unit".to_owned(), unit.to_owned());
    }
    Field::new(name, C::TYPE, C::NULLABLE).with_metadata(metadata)
}

/// The cells of the column `name` of a batch of `table`.
///
/// # Errors
/// [`Error::Column`] as for [`Row::from_batch`].
pub fn column<C: Cell>(batch: &RecordBatch, table: &str, name: &str) -> Result<Vec<C>, Error> {
    let problem = |problem: String| Error::Column {
        table: table.to_owned(),
        column: name.to_owned(),
        problem,
    };
    match batch.column_by_name(name) {
        Some(array) => C::from_array(array).ok_or_else(|| {
            let (is, nulls) = (array.data_type(), array.null_count());
            problem(format!("is {is} with {nulls} nulls, not {}", C::TYPE))
        }),
        None => C::absent(batch.num_rows()).ok_or_else(|| problem("is missing".to_owned())),
    }
}

/// Defines a row type and its table: every column with its documentation and, after `=>`, its unit.
///
/// A column is a `u8`, `u16`, `u32`, `u64`, `i64`, `f64`, `bool`, `String` or [`Label`](crate::Label), or an
/// `Option` of one. Columns added later must be `Option`s, so that older records can still be read. Rows can be sent as JSON
/// too, for which the crate that defines them needs `serde`.
///
/// ```
/// # use isobath_record as record;
/// record::table! {
///     /// One hop of a traced path.
///     pub struct Hop in "hops" {
///         /// When the probe was sent, since the run's start.
///         t_ns: u64 => "ns",
///         /// Routers away.
///         distance: u8,
///         /// Round trip to the hop; null when it did not answer.
///         rtt_ns: Option<u64> => "ns",
///     }
/// }
/// let hop = Hop { t_ns: 5, distance: 1, rtt_ns: None };
/// assert_eq!(<Hop as record::Row>::TABLE, "hops");
/// # let _ = hop;
/// ```
#[macro_export]
macro_rules! table {
    ($(#[doc = $about:literal])+ $vis:vis struct $name:ident in $table:literal {
        $($(#[doc = $doc:literal])+ $column:ident: $cell:ty $(=> $unit:literal)?,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(default)]
        $vis struct $name {
            $($(#[doc = $doc])+ $vis $column: $cell,)+
        }

        const _: () = assert!(
            $crate::macro_support::is_table_name($table),
            "a table's name is lower-case letters, digits and '_'"
        );

        impl $crate::Row for $name {
            const TABLE: &'static str = $table;
            const ABOUT: &'static str = concat!($($about),+).trim_ascii();

            fn fields() -> Vec<$crate::macro_support::Field> {
                vec![$($crate::macro_support::field::<$cell>(
                    stringify!($column), concat!($($unit)?), concat!($($doc),+)
                )),+]
            }

            fn columns(rows: &[Self]) -> Vec<$crate::macro_support::ArrayRef> {
                vec![$(<$cell as $crate::Cell>::to_array(rows.iter().map(|row| &row.$column))),+]
            }

            fn from_batch(
                batch: &$crate::macro_support::RecordBatch,
            ) -> Result<Vec<Self>, $crate::Error> {
                $(let mut $column =
                    $crate::macro_support::column::<$cell>(batch, $table, stringify!($column))?
                        .into_iter();)+
                let mut row = || Some(Self { $($column: $column.next()?),+ });
                // What a damaged file claims is no reason to make room.
                let mut rows = Vec::with_capacity(batch.num_rows().min(65_536));
                while let Some(row) = row() {
                    rows.push(row);
                }
                Ok(rows)
            }
        }
    };
}
