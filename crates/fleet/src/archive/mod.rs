//! The archive: all outcomes as one Parquet dataset, partitioned as Hive does it, which `DuckDB`, pandas, Polars, Spark and `ClickHouse` read
//! as it is.
//!
//! ```text
//! DIR/day=2026-11-25/measure=rtt/site=berlin/mesh.parquet
//! ```
//!
//! The dataset is in a folder, or in a bucket of an S3-compatible store. A row is a run, a column a field of its outcome or a figure of its
//! summary, by its way through it: `summary.latency_ms.loaded.p50`. Each fleet has its own file in a partition, so what one writes replaces
//! nothing of another. A file is written whole and replaced in one step, so exporting again changes nothing that is not new.

mod bucket;

use crate::outcome::HandedOver;
use crate::{Day, Name, RunId};
use anyhow::Context as _;
use bucket::Bucket;
use record::{Flat, write_columns};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What a partition's site is called where a host has none.
const NO_SITE: &str = "none";

/// Where a dataset is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a folder.
    Folder(PathBuf),
    /// In a bucket: `s3://BUCKET/PREFIX`.
    Bucket(String),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("s3://") {
            Ok(Self::Bucket(text.to_owned()))
        } else if text.contains("://") {
            Err("write a folder, or s3://BUCKET/PREFIX".to_owned())
        } else {
            Ok(Self::Folder(text.into()))
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(dir) => dir.display().fmt(formatter),
            Self::Bucket(url) => formatter.write_str(url),
        }
    }
}

/// What was written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Written {
    /// Rows.
    pub runs: usize,
    /// Files, by their way from where the dataset is.
    pub files: Vec<PathBuf>,
}

/// Writes the dataset of `outcomes` to its `place`.
///
/// # Errors
/// When the disk or the store does not take it.
pub async fn write(place: &Place, outcomes: &[HandedOver]) -> anyhow::Result<Written> {
    let url = match place {
        Place::Folder(dir) => return write_folder(dir, outcomes),
        Place::Bucket(url) => url,
    };
    let failed = || format!("{url} cannot be written to");
    let bucket = Bucket::at(url).with_context(failed)?;
    let dir = tempfile::tempdir()?;
    let written = write_folder(dir.path(), outcomes)?;
    for way in &written.files {
        let octets = std::fs::read(dir.path().join(way))?;
        bucket.put(way, octets).await.with_context(failed)?;
    }
    Ok(written)
}

fn write_folder(dir: &Path, outcomes: &[HandedOver]) -> anyhow::Result<Written> {
    let mut partitions: BTreeMap<(Day, &Name, &str, &Name), Vec<&HandedOver>> = BTreeMap::new();
    for told in outcomes {
        let outcome = &told.outcome;
        let site = outcome.site.as_ref().map_or(NO_SITE, Name::as_str);
        let RunId { fleet, measure, .. } = &outcome.run;
        let key = (outcome.planned.day(), measure, site, fleet);
        partitions.entry(key).or_default().push(told);
    }
    let mut written = Written {
        runs: outcomes.len(),
        files: Vec::new(),
    };
    for ((day, measure, site, fleet), mut outcomes) in partitions {
        let way = PathBuf::from(format!("day={day}/measure={measure}/site={site}"));
        std::fs::create_dir_all(dir.join(&way))?;
        let order = |told: &&HandedOver| (told.outcome.planned, told.outcome.run.clone());
        outcomes.sort_by_cached_key(order);
        let way = way.join(format!("{fleet}.parquet"));
        write_columns(&dir.join(&way), &table(&outcomes).columns())?;
        written.files.push(way);
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
    fn a_file_is_a_day_a_measurement_a_site_and_a_fleet_and_writing_again_changes_nothing() {
        let outcome = |run: &str, site: Option<&str>| {
            let run: RunId = run.parse().unwrap();
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
            outcome("g.rtt.a.b.20261126T000000000Z", Some("x")),
        ];
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let written = write_folder(dir.path(), &outcomes).unwrap();
            assert_eq!((written.runs, written.files.len()), (5, 4));
            let folder = dir.path().join("day=2026-11-26/measure=rtt");
            assert!(folder.join("site=none/f.parquet").is_file());
            let batches = record::Batches::of_file(&folder.join("site=x/f.parquet")).unwrap();
            let schema = batches.schema();
            assert!(schema.field_with_name("summary.rtt_ms.p50").is_ok());
            let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(rows, 2);
        }
    }
}
