//! The archive: all outcomes as one Parquet dataset, partitioned as Hive does it, which `DuckDB`, pandas, Polars, Spark and `ClickHouse` read
//! as it is.
//!
//! ```text
//! DIR/day=2026-11-25/measure=rtt/site=berlin/part.parquet
//! ```
//!
//! A row is a run, a column a field of its outcome or a figure of its summary, by its way through it: `summary.latency_ms.loaded.p50`. A
//! partition is written whole and replaced in one step, so exporting again changes nothing that is not new.

use crate::outcome::HandedOver;
use crate::{Day, Name};
use record::{Flat, write_columns};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// What a partition's site is called where a host has none.
const NO_SITE: &str = "none";
/// The file of each partition.
const PART: &str = "part.parquet";

/// What was written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Written {
    /// Rows.
    pub runs: usize,
    /// Files.
    pub partitions: usize,
}

/// Writes the dataset of `outcomes` into the folder `dir`.
///
/// # Errors
/// When the disk does not take it.
pub fn write(dir: &Path, outcomes: &[HandedOver]) -> anyhow::Result<Written> {
    let mut partitions: BTreeMap<(Day, &Name, &str), Vec<&HandedOver>> = BTreeMap::new();
    for told in outcomes {
        let outcome = &told.outcome;
        let site = outcome.site.as_ref().map_or(NO_SITE, Name::as_str);
        let key = (outcome.planned.day(), &outcome.run.measure, site);
        partitions.entry(key).or_default().push(told);
    }
    let written = Written {
        runs: outcomes.len(),
        partitions: partitions.len(),
    };
    for ((day, measure, site), mut outcomes) in partitions {
        let folder = dir.join(format!("day={day}/measure={measure}/site={site}"));
        std::fs::create_dir_all(&folder)?;
        let order = |told: &&HandedOver| (told.outcome.planned, told.outcome.run.clone());
        outcomes.sort_by_cached_key(order);
        write_columns(&folder.join(PART), &table(&outcomes).columns())?;
    }
    Ok(written)
}

fn table(outcomes: &[&HandedOver]) -> Flat {
    let mut table = Flat::default();
    for told in outcomes {
        let HandedOver { outcome, signer } = told;
        let run = &outcome.run;
        for (name, value) in [
            ("run", json!(run)),
            ("fleet", json!(run.fleet)),
            ("from", json!(run.from)),
            ("to", json!(run.to)),
            ("instant", json!(run.instant)),
            ("planned", json!(outcome.planned)),
            ("began", json!(outcome.began)),
            ("ended", json!(outcome.ended)),
            ("status", json!(outcome.status)),
            ("verdict", json!(outcome.verdict)),
            ("reason", json!(outcome.reason)),
            ("test", json!(outcome.test)),
            ("record", json!(outcome.record)),
            ("signer", json!(signer)),
            ("isobath", json!(outcome.isobath)),
        ] {
            table.put(name, value);
        }
        table.put_all(&mut "summary".to_owned(), &outcome.summary);
        table.end_row();
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Became, Outcome, Times};

    #[test]
    fn a_partition_is_a_day_a_measurement_and_a_site_and_writing_again_changes_nothing() {
        let outcome = |run: &str, site: Option<&str>| {
            let run: crate::RunId = run.parse().unwrap();
            let times = Times {
                planned: run.instant,
                began: None,
                ended: run.instant,
            };
            let site = site.map(|site| site.parse().unwrap());
            let mut outcome =
                Outcome::without_record(run, site, times, Became::Complete, String::new());
            outcome.summary = json!({ "rtt_ms": { "p50": 3.5 } });
            HandedOver {
                outcome,
                signer: None,
            }
        };
        let outcomes = [
            outcome("f.rtt.a.b.20261125T235959000Z", Some("x")),
            outcome("f.rtt.a.b.20261126T000000000Z", Some("x")),
            outcome("f.rtt.a.c.20261126T000001000Z", Some("x")),
            outcome("f.rtt.b.a.20261126T000000000Z", None),
        ];
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let written = write(dir.path(), &outcomes).unwrap();
            assert_eq!((written.runs, written.partitions), (4, 3));
            let folder = dir.path().join("day=2026-11-26/measure=rtt");
            assert!(folder.join("site=none/part.parquet").is_file());
            let batches = record::Batches::of_file(&folder.join("site=x/part.parquet")).unwrap();
            let schema = batches.schema();
            assert!(schema.field_with_name("summary.rtt_ms.p50").is_ok());
            let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(rows, 2);
        }
    }
}
