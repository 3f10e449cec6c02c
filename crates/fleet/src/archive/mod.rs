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
//!
//! NATS may no longer keep all outcomes of a day. Of such a day the rows that only the archive has stay in its file.

mod bucket;

use crate::outcome::HandedOver;
use crate::{Day, Moment, Name};
use anyhow::Context as _;
use bucket::Bucket;
use record::{Column, Flat, read_columns, write_columns};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
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

/// Outcomes for the archive.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// What is written.
    pub outcomes: &'a [HandedOver],
    /// What is not, whatever the archive has of it.
    pub forged: &'a [HandedOver],
    /// The moment since which these are all. Of a day that began before it the archive may have more.
    pub whole_since: Moment,
}

/// What was written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Written {
    /// Rows of the outcomes.
    pub runs: usize,
    /// Rows beside them that only the archive had.
    pub only_archived: usize,
    /// Files, by their way from where the dataset is.
    pub files: Vec<PathBuf>,
}

/// Writes the dataset of what is exported to its `place`.
///
/// # Errors
/// When the disk or the store does not take it, or has a file that cannot be read.
pub async fn write(place: &Place, exported: &Exported<'_>) -> anyhow::Result<Written> {
    let url = match place {
        Place::Folder(dir) => return write_folder(dir, exported),
        Place::Bucket(url) => url,
    };
    let failed = || format!("{url} cannot be written to");
    let bucket = Bucket::at(url).with_context(failed)?;
    let dir = tempfile::tempdir()?;
    let partitions = partitions(exported.outcomes);
    for part in partitions
        .keys()
        .filter(|part| part.may_have_more(exported))
    {
        if let Some(octets) = bucket.get(&part.file()).await.with_context(failed)? {
            std::fs::create_dir_all(dir.path().join(part.folder()))?;
            std::fs::write(dir.path().join(part.file()), octets)?;
        }
    }
    let written = write_folder(dir.path(), exported)?;
    for way in &written.files {
        let octets = std::fs::read(dir.path().join(way))?;
        bucket.put(way, octets).await.with_context(failed)?;
    }
    Ok(written)
}

/// What one file of the dataset is of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Part<'a> {
    day: Day,
    measure: &'a Name,
    site: &'a str,
    fleet: &'a Name,
}

impl Part<'_> {
    fn folder(&self) -> PathBuf {
        let Self {
            day, measure, site, ..
        } = self;
        PathBuf::from(format!("day={day}/measure={measure}/site={site}"))
    }

    fn file(&self) -> PathBuf {
        self.folder().join(format!("{}.parquet", self.fleet))
    }

    /// Whether its file may have rows that are no longer among the outcomes.
    fn may_have_more(&self, exported: &Exported<'_>) -> bool {
        self.day.begins() < exported.whole_since
    }
}

fn partitions(outcomes: &[HandedOver]) -> BTreeMap<Part<'_>, Vec<&HandedOver>> {
    let mut partitions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for told in outcomes {
        let outcome = &told.outcome;
        let part = Part {
            day: outcome.planned.day(),
            measure: &outcome.run.measure,
            site: outcome.site.as_ref().map_or(NO_SITE, Name::as_str),
            fleet: &outcome.run.fleet,
        };
        partitions.entry(part).or_default().push(told);
    }
    partitions
}

fn write_folder(dir: &Path, exported: &Exported<'_>) -> anyhow::Result<Written> {
    let mut written = Written {
        runs: exported.outcomes.len(),
        ..Written::default()
    };
    for (part, mut outcomes) in partitions(exported.outcomes) {
        let path = dir.join(part.file());
        let mut table = Flat::default();
        if part.may_have_more(exported) && path.exists() {
            let known = outcomes.iter().copied().chain(exported.forged);
            written.only_archived += keep(&mut table, &read_columns(&path)?, known);
        }
        let order = |told: &&HandedOver| (told.outcome.planned, told.outcome.run.clone());
        outcomes.sort_by_cached_key(order);
        for told in outcomes {
            put(&mut table, told);
        }
        std::fs::create_dir_all(dir.join(part.folder()))?;
        write_columns(&path, &table.columns())?;
        written.files.push(part.file());
    }
    Ok(written)
}

/// Puts the rows of the archive into the table whose runs are not known, and says how many they are.
fn keep<'a>(
    table: &mut Flat,
    archived: &[(String, Column)],
    known: impl Iterator<Item = &'a HandedOver>,
) -> usize {
    let known: HashSet<String> = known.map(|told| told.outcome.run.to_string()).collect();
    let is_run =
        |(name, column): &&(String, Column)| name == "run" && matches!(column, Column::Text(_));
    let Some((_, Column::Text(runs))) = archived.iter().find(is_run) else {
        return 0;
    };
    let is_kept = |row: &usize| matches!(runs.get(*row), Some(Some(run)) if !known.contains(run));
    table.put_columns(archived, |row| is_kept(&row));
    (0..runs.len()).filter(is_kept).count()
}

/// An outcome as a row.
fn put(table: &mut Flat, HandedOver { outcome, signer }: &HandedOver) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;
    use crate::outcome::{Became, Outcome, Times};

    fn outcome(run: &str, site: Option<&str>) -> HandedOver {
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
    }

    #[test]
    fn a_file_is_a_day_a_measurement_a_site_and_a_fleet_and_writing_again_changes_nothing() {
        let outcomes = [
            outcome("f.rtt.a.b.20261125T235959000Z", Some("x")),
            outcome("f.rtt.a.b.20261126T000000000Z", Some("x")),
            outcome("f.rtt.a.c.20261126T000001000Z", Some("x")),
            outcome("f.rtt.b.a.20261126T000000000Z", None),
            outcome("g.rtt.a.b.20261126T000000000Z", Some("x")),
        ];
        let dir = tempfile::tempdir().unwrap();
        for whole_since in [0, 0, u64::MAX] {
            let exported = Exported {
                outcomes: &outcomes,
                forged: &[],
                whole_since: Moment::from_millis(whole_since),
            };
            let written = write_folder(dir.path(), &exported).unwrap();
            let counts = (written.runs, written.only_archived, written.files.len());
            assert_eq!(counts, (5, 0, 4));
            let folder = dir.path().join("day=2026-11-26/measure=rtt");
            assert!(folder.join("site=none/f.parquet").is_file());
            let batches = record::Batches::of_file(&folder.join("site=x/f.parquet")).unwrap();
            let schema = batches.schema();
            assert!(schema.field_with_name("summary.rtt_ms.p50").is_ok());
            let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(rows, 2);
        }
    }

    #[test]
    fn a_late_outcome_joins_those_of_its_day_that_only_the_archive_has() {
        let runs = ["a.20261125T010000000Z", "a.20261125T020000000Z"];
        let [first, second] = runs.map(|run| outcome(&format!("f.rtt.b.{run}"), Some("x")));
        let [late, forged] = [
            "f.rtt.c.a.20261125T120000000Z",
            "f.rtt.d.a.20261125T130000000Z",
        ]
        .map(|run| outcome(run, Some("x")));
        let dir = tempfile::tempdir().unwrap();
        let export = |outcomes: &[HandedOver], forged: &[HandedOver], whole_since: &str| {
            let exported = Exported {
                outcomes,
                forged,
                whole_since: whole_since.parse().unwrap(),
            };
            let written = write_folder(dir.path(), &exported).unwrap();
            let columns = read_columns(&dir.path().join(&written.files[0])).unwrap();
            let run = columns.into_iter().find(|(name, _)| name == "run");
            let Some((_, Column::Text(runs))) = run else {
                panic!("no runs");
            };
            let name = |run: Option<String>| run.unwrap().split('.').nth(2).unwrap().to_owned();
            let names: String = runs.into_iter().map(name).collect();
            (written.only_archived, names)
        };
        let day = "20261125T000000000Z";
        let all = [first, second.clone(), forged.clone()];
        assert_eq!(export(&all, &[], day), (0, "bbd".to_owned()));
        // Half of the day is gone from NATS, an outcome has come, and one turns out to be forged.
        let noon = "20261125T110000000Z";
        let now = [second, late];
        assert_eq!(
            export(&now, std::slice::from_ref(&forged), noon),
            (1, "bbc".to_owned())
        );
        assert_eq!(export(&now[1..], &[forged], noon), (2, "bbc".to_owned()));
    }
}
