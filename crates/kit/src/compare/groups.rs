//! Which runs belong together.
//!
//! | named on the command line | groups |
//! |---|---|
//! | the folder of a batch | the batch's groups |
//! | a folder that holds runs | one: all its runs |
//! | runs | those that were told the same (plan, place, options, note) are one; when that makes a single group, each run is one of its own |

use anyhow::Context as _;
use record::{Record, Run, Status};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most runs that are compared: each is kept in memory.
const MOST_RUNS: usize = 100_000;

/// Runs of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// What kind, in parts: what each part is, and which.
    pub parts: Vec<(String, String)>,
    /// Its runs.
    pub members: Vec<Member>,
}

/// A run, or what is left of one.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its record.
    pub folder: PathBuf,
    /// Its status; none when there is no record that can be read.
    pub status: Option<Status>,
    /// Of which test it is; empty when there is no record that can be read.
    pub test: String,
    /// Its figures.
    pub summary: Value,
    /// Why it cannot be used, where that is known.
    pub reason: Option<String>,
}

/// The groups in `paths`; `of_batch` tells those of a folder that is a batch's.
///
/// # Errors
///
/// When a path holds neither a run nor a batch, or what it holds is damaged.
pub fn load(
    paths: &[PathBuf],
    of_batch: &dyn Fn(&Path) -> Option<anyhow::Result<Vec<Group>>>,
) -> anyhow::Result<Vec<Group>> {
    let mut groups = Vec::new();
    let mut runs = Vec::new();
    for path in paths {
        if let Some(batch) = of_batch(path) {
            groups.extend(batch?);
        } else if path.join("run.json").exists() {
            runs.push((path.clone(), Record::open(path)?.run().clone()));
        } else {
            groups.push(of_folder(path)?);
        }
    }
    groups.extend(of_runs(&runs));
    let count: usize = groups.iter().map(|group| group.members.len()).sum();
    anyhow::ensure!(
        count <= MOST_RUNS,
        "{count} runs are too many - compare at most {MOST_RUNS}"
    );
    Ok(groups)
}

/// All runs in `dir`, as one group.
fn of_folder(dir: &Path) -> anyhow::Result<Group> {
    let entries = std::fs::read_dir(dir).with_context(|| {
        format!(
            "cannot read {} - name folders of runs or of batches",
            dir.display()
        )
    })?;
    let mut folders: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("run.json").exists())
        .collect();
    folders.sort();
    anyhow::ensure!(
        !folders.is_empty(),
        "{} holds neither run.json nor batch.json nor runs - name folders of runs or of batches",
        dir.display()
    );
    Ok(Group {
        parts: vec![("folder".to_owned(), name(dir))],
        members: folders.into_iter().map(Member::read).collect(),
    })
}

fn of_runs(runs: &[(PathBuf, Run)]) -> Vec<Group> {
    let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, (_, run)) in runs.iter().enumerate() {
        kinds.entry(kind(run)).or_default().push(index);
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    // As on the command line: the first group is what others are compared with.
    kinds.sort();
    let are_alike = kinds.len() == 1 && runs.len() > 1;
    if are_alike {
        kinds = (0..runs.len()).map(|index| vec![index]).collect();
    }
    let groups = kinds.into_iter().map(|indices| {
        let mut parts = parts(&runs[indices[0]].1);
        if are_alike {
            parts.push(("folder".to_owned(), name(&runs[indices[0]].0)));
        }
        let members = indices.into_iter().map(|index| {
            let (folder, run) = &runs[index];
            Member::new(folder.clone(), run)
        });
        Group {
            members: members.collect(),
            parts,
        }
    });
    groups.collect()
}

/// What a run was told, apart from chance: equal for repetitions.
fn kind(run: &Run) -> String {
    let mut plan = run.plan.clone();
    if let Some(plan) = plan.as_object_mut() {
        plan.remove("seed");
    }
    format!("{} {plan} {:?}", run.test, place(run))
}

fn parts(run: &Run) -> Vec<(String, String)> {
    let option = |name: &str| {
        let value = run.plan.get(name).and_then(Value::as_str);
        (name.to_owned(), value.unwrap_or_default().to_owned())
    };
    let plan = run.plan["name"].as_str().unwrap_or(&run.test);
    vec![
        ("plan".to_owned(), plan.to_owned()),
        ("place".to_owned(), place(run)),
        option("duration"),
        option("cc"),
        option("note"),
    ]
}

fn place(run: &Run) -> String {
    let lab = run.path.lab.as_ref().map(|lab| lab.name.clone());
    let addresses = run.path.server.addresses.iter().map(ToString::to_string);
    lab.unwrap_or_else(|| addresses.collect::<Vec<_>>().join(" "))
}

fn name(dir: &Path) -> String {
    // `.` has no name of its own.
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let name = dir.file_name().unwrap_or(dir.as_os_str());
    name.to_string_lossy().into_owned()
}

impl Member {
    fn new(folder: PathBuf, run: &Run) -> Self {
        let warning = run.warnings.first().map(|warning| warning.message.clone());
        Self {
            folder,
            status: Some(run.status),
            test: run.test.clone(),
            summary: run.summary.clone(),
            reason: warning.filter(|_| run.status != Status::Complete),
        }
    }

    /// The run whose record is in `folder`, or why there is none.
    pub fn read(folder: PathBuf) -> Self {
        match Record::open(&folder) {
            Ok(record) => Self::new(folder, record.run()),
            Err(error) => Self {
                folder,
                status: None,
                test: String::new(),
                summary: Value::Null,
                reason: Some(error.to_string()),
            },
        }
    }
}

/// What distinguishes each group from the others, in words.
pub fn labels(groups: &[Group]) -> Vec<String> {
    let which = |group: &Group, kind: &str| -> String {
        let part = group.parts.iter().find(|(known, _)| known == kind);
        part.map(|(_, which)| which.clone()).unwrap_or_default()
    };
    let differs = |kind: &str| {
        let first = groups.first().map(|group| which(group, kind));
        groups.iter().any(|group| Some(which(group, kind)) != first)
    };
    let label = |group: &Group| {
        let parts = group.parts.iter().filter(|(_, which)| !which.is_empty());
        let all: Vec<_> = parts.clone().map(|(_, which)| plain(which)).collect();
        let own: Vec<_> = parts
            .filter(|(kind, _)| differs(kind))
            .map(|(_, which)| plain(which))
            .collect();
        if own.is_empty() { all } else { own }.join(", ")
    };
    groups.iter().map(label).collect()
}

/// Text from a record as a terminal may see it.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
