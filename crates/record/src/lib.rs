//! The run record: what a measurement leaves behind, whatever happens to it.
//!
//! A record is a directory. `run.json` ([`Run`]) holds what was asked, of whom, with which instrument, and the
//! conclusion; beside it lies one table a file for everything that was measured.
//!
//! ```text
//! 2026-11-21T07-29-11Z-rrul-dsl/
//!     run.json           written before the run as `incomplete`, replaced in one step at its end
//!     samples.arrows     while the run goes: the table as a journal
//!     samples.parquet    after it: the table for good
//! ```
//!
//! Parquet keeps its index at the end of the file, so a table that a killed process was writing would be lost whole.
//! Therefore a table grows as a **journal**, an Arrow IPC stream: each flush adds whole record batches, and a reader
//! stops at the first one that is cut short. [`RecordWriter::finish`] turns journals into Parquet. At every moment,
//! `kill -9` included, the directory is a record that [`Record::open`] reads; [`recover`] tidies up after a crash.
//!
//! A monitor's folder holds many records and a line for each in its [`History`].
//!
//! Who adds a table writes one [`table!`]; the tables that several measurements share are in `schema::tables`.
#![forbid(unsafe_code)]

mod bundle;
mod cell;
mod columns;
mod error;
mod export;
mod flat;
mod folder;
mod history;
mod input;
mod journal;
mod kept;
mod parquet_file;
mod parquet_writer;
mod reader;
mod run;
mod run_schema;
mod table;
mod table_file;
mod writer;

pub use bundle::{pack, unpack};
pub use cell::{Cell, Label, Value};
pub use columns::{Column, read_columns, write_columns};
pub use error::Error;
pub use export::{export_csv, export_csv_folder};
pub use flat::Flat;
pub use folder::{folder_name, new_folder};
pub use history::{HISTORY, History, HistoryLine, HistoryTest};
pub use kept::Kept;
pub use reader::{Batches, Record, recover};
pub use run::{
    Clock, CongestionControl, CpuUse, Endpoint, Host, Instrument, LabInfo, LabLink, Lateness,
    PathInfo, Run, SCHEMA, Status, Verdict, Warning,
};
pub use run_schema::run_schema;
pub use stats::Distribution;
pub use table::Row;
pub use table_file::{TableReader, TableWriter};
pub use writer::RecordWriter;

/// What the code that [`table!`] writes needs; not for use by hand.
#[doc(hidden)]
pub mod macro_support {
    pub use crate::table::{column, field, is_table_name};
    pub use arrow_array::{ArrayRef, RecordBatch};
    pub use arrow_schema::Field;
}
