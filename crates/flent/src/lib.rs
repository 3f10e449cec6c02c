//! Records in and out of Flent's data files.
//!
//! Flent (<https://flent.org>) keeps a run in one file, `<test>-<time>.<title>.flent.gz`: gzipped JSON of five keys. Its
//! documentation calls the format *the data file format*; version 4 is what Flent 2 writes.
//!
//! | key | holds |
//! |---|---|
//! | `version` | 4; a file without it is of version 1 |
//! | `x_values` | the time line in seconds after `T0`, one step every `STEP_SIZE` |
//! | `results` | for each series one value a step, null where there is none |
//! | `raw_values` | for each series what the tool said: `t` in seconds since 1970, `val`, and what else it knows |
//! | `metadata` | what was run, where, when, how; `SERIES_META` has the units and the tool's own mean of each series |
//!
//! [`export()`] writes a record of `rrul` as such a file, under the name of a test that Flent has plots for. [`import()`]
//! reads any test's file, of versions 1 to 4, and [`import_to`] makes a record of it. [`draw`] makes Flent's plots of what was
//! read, [`summary`] and [`csv`] Flent's tables.
//!
//! What a series is follows from its name, in both directions: the module `naming` knows the few that Flent's tests
//! share (`TCP upload BK`, `Ping (ms) UDP EF`). docs/flent.md has the tables, and what is lost on the way.
#![forbid(unsafe_code)]

mod data;
mod error;
mod export;
mod figure;
mod import;
mod limits;
mod naming;
mod read;
mod tables;

pub use error::Error;
pub use export::{Exported, TESTS, export, export_titled, file_name};
pub use figure::{Look, Plot, draw, plots_of};
pub use import::{Imported, SeriesName, Value, import, import_to};
pub use limits::Limits;
pub use tables::{csv, summary};
