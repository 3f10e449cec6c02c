//! Sets of vectors, described: on a terminal, as figures and as a page.

mod card;
mod page;

pub use card::card;
pub use page::page;

use super::input::{Completeness, Count, Input};
use super::load;
use serde_json::{Value, json};
use std::path::Path;
use units::Span;
use vectors::Transport;
use vectors::describe::{Describer, Description, Difference};
use vectors::scale::Load;

/// A file of vectors, and what it is like.
pub struct Set {
    describer: Describer,
    description: Description,
    load: Load,
    completeness: Option<Completeness>,
    /// How far each measure is from the first set's; nothing of the first itself.
    differences: Vec<Difference>,
}

/// Reads all vectors of some files.
///
/// # Errors
/// When a file cannot be read.
pub fn read(files: &[impl AsRef<Path>]) -> anyhow::Result<Vec<Set>> {
    let mut sets: Vec<Set> = Vec::with_capacity(files.len());
    for file in files {
        let mut set = Set::read(file.as_ref())?;
        if let Some(first) = sets.first() {
            set.differences = first.describer.compare(&set.describer);
        }
        sets.push(set);
    }
    Ok(sets)
}

impl Set {
    fn read(file: &Path) -> anyhow::Result<Self> {
        let mut describer = Describer::default();
        let mut load = Load::default();
        let mut input = Input::open(file)?;
        for vector in &mut input {
            let vector = vector?;
            describer.enter(&vector);
            // Flows of UDP have figures of their own.
            if vector.transport == Transport::Tcp {
                load.enter(&vector);
                load.span = load.span.max(Span(vector.start));
            }
        }
        Ok(Self {
            description: describer.describe(file.display().to_string()),
            describer,
            load,
            completeness: input.completeness(),
            differences: Vec::new(),
        })
    }

    /// Its name, for people: without folders.
    fn name(&self) -> String {
        let path = Path::new(&self.description.name);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// The summary of `isobath trace describe`.
///
/// # Errors
/// When the figures cannot be written as JSON.
pub fn summary(sets: &[Set]) -> anyhow::Result<Value> {
    let set = |set: &Set| {
        let mut value = serde_json::to_value(&set.description)?;
        value["load"] = load::figures(&set.load);
        value["complete"] = json!(set.completeness.map(|found| found.complete));
        value["incomplete"] = json!(set.completeness.map(|found| found.incomplete));
        value["differences"] = json!(set.differences);
        Ok(value)
    };
    let sets = sets.iter().map(set).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(json!({ "sets": sets }))
}

/// Names that tell the sets apart: without folders, if that is enough.
fn names(sets: &[Set]) -> Vec<String> {
    let short: Vec<_> = sets.iter().map(Set::name).collect();
    let mut sorted = short.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == short.len() {
        return short;
    }
    let full = sets.iter().zip(1..);
    full.map(|(set, number)| format!("{number}: {}", set.description.name))
        .collect()
}

/// Parts of a set with what they are called: connections, octets.
fn parts(set: &Set) -> Vec<(&'static str, Count)> {
    let (connections, bytes) = (&set.description.connections, &set.description.bytes);
    let count = |connections, bytes| Count { connections, bytes };
    let mut parts = vec![
        ("all", count(connections.all, bytes.all)),
        (
            "sequential",
            count(connections.sequential, bytes.sequential),
        ),
        (
            "concurrent",
            count(connections.concurrent, bytes.concurrent),
        ),
        ("one-way data", count(connections.one_way, bytes.one_way)),
        (
            "close not seen",
            count(connections.unfinished, bytes.unfinished),
        ),
    ];
    if let Some(found) = set.completeness {
        parts.push(("complete", found.complete));
        parts.push(("incomplete", found.incomplete));
    }
    parts
}

/// The shares that D quotes, in words: what they are, and of what.
fn shares(set: &Set) -> Vec<(&'static str, &'static str, Option<f64>)> {
    let shares = &set.description.shares;
    let rows = [
        ("one epoch", "sequential connections", shares.one_epoch),
        (
            "from 500 ms",
            "waits within an epoch",
            shares.intra_epoch_emulated,
        ),
        (
            "from 500 ms",
            "waits between epochs",
            shares.inter_epoch_emulated,
        ),
        (
            "from 500 ms",
            "quiet times of concurrent connections",
            shares.concurrent_quiet_emulated,
        ),
        ("64 KB window", "initiators", shares.initiators_64k),
        ("64 KB window", "acceptors", shares.acceptors_64k),
        (
            "below 8 KB",
            "windows of initiators",
            shares.initiators_below_8k,
        ),
        (
            "below 8 KB",
            "windows of acceptors",
            shares.acceptors_below_8k,
        ),
        ("unknown", "minimum round trips", shares.unknown_rtt),
    ];
    rows.to_vec()
}
