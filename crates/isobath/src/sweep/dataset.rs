//! All runs as one table, `runs.parquet`: a row for each, in the order of their numbers.
//!
//! The first columns say which run it is and what was asked of it, the others are its summary: `rtt_ms.p50` is what is called so in
//! [the summary](docs/output.md) of its measurement. What a run does not have is null.

use super::cells::Cell;
use super::file::SweepFile;
use super::journal::Index;
use record::{Flat, write_columns};
use std::path::Path;

/// Name of the file in the sweep's folder.
pub(crate) const FILE: &str = "runs.parquet";

/// Writes the table of all lines of `index` into the folder `dir`.
///
/// # Errors
/// When the disk does not take it, or a line cannot be read.
pub(crate) fn write(dir: &Path, sweep: &SweepFile, index: &Index) -> anyhow::Result<()> {
    let mut table = Flat::default();
    for line in index.lines() {
        let line = line?;
        let Some(cell) = Cell::of(sweep, line.run) else {
            continue;
        };
        table.put("run", line.run.into());
        table.put("measurement", cell.measurement.into());
        table.put("lab", cell.lab.into());
        for (name, value) in cell.parameters {
            table.put(&name, value);
        }
        table.put("repetition", cell.repetition.into());
        table.put(
            "status",
            serde_json::to_value(line.status).unwrap_or_default(),
        );
        table.put(
            "verdict",
            serde_json::to_value(line.verdict).unwrap_or_default(),
        );
        table.put("reason", line.reason.into());
        table.put_all(&mut String::new(), &line.summary);
        table.end_row();
    }
    write_columns(&dir.join(FILE), &table.columns())?;
    Ok(())
}
