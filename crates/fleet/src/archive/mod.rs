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
//! NATS may no longer keep all outcomes of a day: rows that only the archive has stay in its file.

mod bucket;

use crate::outcome::HandedOver;
use crate::{Day, Name};
use anyhow::{Context as _, bail};
use bucket::Bucket;
use record::{Column, Flat, read_columns, write_columns};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tempfile::TempDir;

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
    /// What is not, and is taken out of the files that are written if an earlier export put it there.
    pub forged: &'a [HandedOver],
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

/// Writes the dataset of what is exported to its `place`, the latest days first.
///
/// # Errors
/// When the disk or the store does not take it, or has a file that cannot be read. What was written before that stays.
pub async fn write(place: &Place, exported: &Exported<'_>) -> anyhow::Result<Written> {
    let store = Store::at(place)?;
    let mut written = Written {
        runs: exported.outcomes.len(),
        ..Written::default()
    };
    for (part, mut outcomes) in partitions(exported.outcomes).into_iter().rev() {
        let file = part.file();
        let path = store.fetch(&file).await?;
        let mut table = Flat::default();
        if path.try_exists()? {
            written.only_archived += keep(&mut table, &path, &outcomes, exported.forged)?;
        }
        let order = |told: &&HandedOver| (told.outcome.planned, told.outcome.run.clone());
        outcomes.sort_by_cached_key(order);
        for told in outcomes {
            put(&mut table, told);
        }
        write_columns(&path, &table.columns())?;
        store.hand_over(&file).await?;
        written.files.push(file);
    }
    Ok(written)
}

/// Where the files are, or are made before they go to a bucket.
struct Store {
    dir: PathBuf,
    bucket: Option<(Bucket, String, TempDir)>,
}

impl Store {
    fn at(place: &Place) -> anyhow::Result<Self> {
        let url = match place {
            Place::Folder(dir) => {
                return Ok(Self {
                    dir: dir.clone(),
                    bucket: None,
                });
            }
            Place::Bucket(url) => url,
        };
        let bucket = Bucket::at(url).with_context(|| cannot_write(url))?;
        let dir = tempfile::tempdir()?;
        Ok(Self {
            dir: dir.path().to_owned(),
            bucket: Some((bucket, url.clone(), dir)),
        })
    }

    /// The way to a file here, as far as there is one.
    async fn fetch(&self, file: &Path) -> anyhow::Result<PathBuf> {
        let path = self.dir.join(file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if let Some((bucket, url, _)) = &self.bucket {
            let got = bucket.get(file).await.with_context(|| cannot_write(url))?;
            if let Some(octets) = got {
                std::fs::write(&path, octets)?;
            }
        }
        Ok(path)
    }

    /// A file is whole.
    async fn hand_over(&self, file: &Path) -> anyhow::Result<()> {
        if let Some((bucket, url, _)) = &self.bucket {
            let path = self.dir.join(file);
            let put = bucket.put(file, std::fs::read(&path)?).await;
            put.with_context(|| cannot_write(url))?;
            std::fs::remove_file(path)?;
        }
        Ok(())
    }
}

fn cannot_write(url: &str) -> String {
    format!("{url} cannot be written to")
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
    fn file(&self) -> PathBuf {
        let Self {
            day,
            measure,
            site,
            fleet,
        } = self;
        PathBuf::from(format!(
            "day={day}/measure={measure}/site={site}/{fleet}.parquet"
        ))
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

/// Puts the rows of the file at `path` into the table that are not among the outcomes, nor what was forged, and says how many they are.
fn keep(
    table: &mut Flat,
    path: &Path,
    outcomes: &[&HandedOver],
    forged: &[HandedOver],
) -> anyhow::Result<usize> {
    let archived = read_columns(path)?;
    let text = |name: &str| {
        let column = archived.iter().find(|(known, _)| known == name);
        match column {
            Some((_, Column::Text(cells))) => cells.as_slice(),
            _ => &[],
        }
    };
    let (runs, signers) = (text("run"), text("signer"));
    if runs.iter().any(Option::is_none) || runs.is_empty() {
        bail!(
            "{} is no file of an archive - move it elsewhere",
            path.display()
        );
    }
    let run = |told: &HandedOver| told.outcome.run.to_string();
    let known: HashSet<String> = outcomes.iter().map(|told| run(told)).collect();
    // Somebody else's message in its name is no reason to forget a run.
    let signer = |told: &HandedOver| told.signer.as_ref().map(ToString::to_string);
    let forged: HashSet<_> = forged
        .iter()
        .map(|told| (run(told), signer(told)))
        .collect();
    let is_kept = |row: &usize| {
        let run = runs.get(*row).cloned().flatten().unwrap_or_default();
        let signer = signers.get(*row).cloned().flatten();
        !known.contains(&run) && !forged.contains(&(run, signer))
    };
    table.put_columns(&archived, |row| is_kept(&row));
    Ok((0..runs.len()).filter(is_kept).count())
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
        ("on_demand", json!(outcome.on_demand)),
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
    use crate::outcome::{Became, Outcome, Times};
    use crate::{Identity, RunId};

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

    fn write(
        dir: &Path,
        outcomes: &[HandedOver],
        forged: &[HandedOver],
    ) -> anyhow::Result<Written> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let place = Place::Folder(dir.to_owned());
        runtime.block_on(super::write(&place, &Exported { outcomes, forged }))
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
        for _ in 0..2 {
            let written = write(dir.path(), &outcomes, &[]).unwrap();
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

    /// What is exported, and whose runs the archive has then of the only day: the measuring hosts, one letter each.
    fn hosts(dir: &Path, outcomes: &[HandedOver], forged: &[HandedOver]) -> (usize, String) {
        let written = write(dir, outcomes, forged).unwrap();
        let columns = read_columns(&dir.join(&written.files[0])).unwrap();
        let run = columns.into_iter().find(|(name, _)| name == "run");
        let Some((_, Column::Text(runs))) = run else {
            panic!("no runs");
        };
        let host = |run: Option<String>| run.unwrap().split('.').nth(2).unwrap().to_owned();
        (written.only_archived, runs.into_iter().map(host).collect())
    }

    #[test]
    fn a_late_outcome_joins_those_of_its_day_that_only_the_archive_has() {
        let runs = ["b.a.20261125T01", "b.a.20261125T02", "c.a.20261125T12"];
        let [first, second, late] =
            runs.map(|run| outcome(&format!("f.rtt.{run}0000000Z"), Some("x")));
        let dir = tempfile::tempdir().unwrap();
        let all = [first, second.clone()];
        assert_eq!(hosts(dir.path(), &all, &[]), (0, "bb".to_owned()));
        // The first is gone from NATS, another has come.
        let now = [second, late];
        assert_eq!(hosts(dir.path(), &now, &[]), (1, "bbc".to_owned()));
        assert_eq!(hosts(dir.path(), &now[1..], &[]), (2, "bbc".to_owned()));
    }

    #[test]
    fn what_was_forged_leaves_the_archive_and_forgets_nothing_that_was_not() {
        let dir = tempfile::tempdir().unwrap();
        let identity = Identity::read_or_make(&dir.path().join("key")).unwrap();
        let mut signed = outcome("f.rtt.b.a.20261125T010000000Z", Some("x"));
        signed.signer = Some(identity.public());
        let [forged, other] = ["d.a.20261125T02", "e.a.20261125T03"]
            .map(|run| outcome(&format!("f.rtt.{run}0000000Z"), Some("x")));
        let all = [signed.clone(), forged.clone(), other.clone()];
        assert_eq!(hosts(dir.path(), &all, &[]), (0, "bde".to_owned()));
        // One turns out to be forged; somebody says something in the name of a run that NATS has forgotten.
        signed.signer = None;
        let now = hosts(dir.path(), &[other], &[forged, signed]);
        assert_eq!(now, (1, "be".to_owned()));
    }

    #[test]
    fn a_file_that_cannot_be_read_stops_no_later_day() {
        let days = [25, 26].map(|day| {
            let run = format!("f.rtt.a.b.202611{day}T010000000Z");
            outcome(&run, Some("x"))
        });
        let dir = tempfile::tempdir().unwrap();
        let file = |day: u32| {
            let way = format!("day=2026-11-{day}/measure=rtt/site=x/f.parquet");
            dir.path().join(way)
        };
        std::fs::create_dir_all(file(25).parent().unwrap()).unwrap();
        let columns = [("other".to_owned(), Column::Whole(vec![Some(1)]))];
        write_columns(&file(25), &columns).unwrap();
        let error = write(dir.path(), &days, &[]).unwrap_err().to_string();
        assert!(error.contains("is no file of an archive"), "{error}");
        assert!(file(26).is_file());
        assert_eq!(read_columns(&file(25)).unwrap(), columns);
    }
}
