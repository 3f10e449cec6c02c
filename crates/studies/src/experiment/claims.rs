//! All claims in one place: what each document says, and what was found in which world.
//!
//! An experiment that was run in virtual time and in a lab has two results; each claim is one row of both. Of several runs of the
//! same experiment in the same world the one at the largest scale counts, and of these the latest.

use super::bench::Scale;
use super::{Bench, Description, World};
use anyhow::Context as _;
use report::experiment::{Case, Experiment, FILE, Table};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where something was found.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Where {
    VirtualTime,
    Lab,
}

impl Where {
    const fn words(self) -> &'static str {
        match self {
            Self::VirtualTime => "in virtual time",
            Self::Lab => "in the lab",
        }
    }
}

/// The best result of each experiment in each world.
#[derive(Default)]
pub struct Claims(BTreeMap<(String, Where), Experiment>);

impl Claims {
    /// Those of the results in `folders`: each an experiment's, or a folder of such.
    ///
    /// # Errors
    /// When a result cannot be read.
    pub fn gather(folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut claims = Self::default();
        for folder in folders {
            claims.take(folder)?;
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                claims.take(&entry.path())?;
            }
        }
        Ok(claims)
    }

    fn take(&mut self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(FILE);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(());
        };
        let result = Experiment::from_json(&text);
        let result = result.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        self.add(result);
        Ok(())
    }

    fn add(&mut self, result: Experiment) {
        let key = (result.name.clone(), place(&result));
        if self
            .0
            .get(&key)
            .is_none_or(|known| rank(known) < rank(&result))
        {
            self.0.insert(key, result);
        }
    }

    /// The result of the experiment of this `description` in `folder`, found in the other world.
    ///
    /// # Errors
    /// When there is none, or a result cannot be read.
    pub fn other(folder: &Path, description: &Description) -> anyhow::Result<Experiment> {
        let other = match place_of(&serde_json::to_value(&description.study)?) {
            Where::VirtualTime => Where::Lab,
            Where::Lab => Where::VirtualTime,
        };
        let mut claims = Self::gather(&[folder.to_owned()])?;
        let found = claims.0.remove(&(description.name.clone(), other));
        found.with_context(|| {
            format!(
                "{} holds no result of {} {} - name the folder of its experiment",
                folder.display(),
                description.name,
                other.words()
            )
        })
    }

    /// `found` with a table of its claims beside what was found of them in the `other` world.
    #[must_use]
    pub fn beside(found: Experiment, other: Experiment) -> Experiment {
        let mut both = Self::default();
        both.add(other);
        both.add(found.clone());
        let heading = both.heading(&found.name);
        let table = table(&heading, &both.rows(&found.name));
        found.table(table)
    }

    /// How many results there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The index: one table for each experiment, the built-in ones first, run or not.
    pub fn index(&self) -> Experiment {
        let built_in = Description::names().map(str::to_owned);
        let own = self.0.keys().map(|(name, _)| name.clone());
        let mut names: Vec<_> = built_in.collect();
        names.extend(own.filter(|name| !Description::names().any(|known| known == name)));
        names.dedup();
        let mut index = Experiment::new(
            "claims",
            "What do the documents claim, and what holds here?",
        );
        let mut counts = [[0_usize; 2]; 2];
        for name in &names {
            let rows = self.rows(name);
            for row in &rows {
                for (world, case) in row.found.iter().enumerate() {
                    if let Some(holds) = case.as_ref().and_then(|case| case.holds) {
                        counts[world][usize::from(holds)] += 1;
                    }
                }
            }
            if !rows.is_empty() {
                index = index.table(table(&self.heading(name), &rows));
            }
        }
        let [sim, lab] = counts.map(|[no, yes]| format!("{yes} claims hold and {no} do not"));
        index.summary(format!("In virtual time {sim}, in the lab {lab}."))
    }

    /// The experiment and how much of it was done.
    fn heading(&self, name: &str) -> String {
        let scales = [Where::VirtualTime, Where::Lab].map(|place| {
            let result = self.0.get(&(name.to_owned(), place))?;
            let scale = result.plan["scale"].as_f64()?;
            Some(format!("{} at a scale of {scale}", place.words()))
        });
        let scales: Vec<_> = scales.into_iter().flatten().collect();
        if scales.is_empty() {
            return format!("{name} (not run)");
        }
        format!("{name} ({})", scales.join(", "))
    }

    fn rows(&self, name: &str) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let places = [Where::VirtualTime, Where::Lab];
        let result = |place| self.0.get(&(name.to_owned(), place));
        for place in places {
            let cases = result(place).map(|result| &result.cases[..]);
            for case in cases.unwrap_or_default() {
                Row::add(&mut rows, case, Some(place));
            }
        }
        let found: BTreeSet<_> = rows.iter().map(|row| row.name.clone()).collect();
        for place in places.into_iter().filter(|place| result(*place).is_none()) {
            for case in unmade(name, place) {
                // Worlds may ask for different things; what one expects of the same claim may depend on what was played there.
                if !found.contains(&case.name) {
                    Row::add(&mut rows, &case, None);
                }
            }
        }
        rows
    }
}

/// A claim.
struct Row {
    name: String,
    expected: String,
    /// By [`Where`].
    found: [Option<Case>; 2],
}

impl Row {
    fn add(rows: &mut Vec<Self>, case: &Case, place: Option<Where>) {
        let same = |row: &&mut Self| row.name == case.name && row.expected == case.expected;
        if rows.iter_mut().find(same).is_none() {
            rows.push(Self {
                name: case.name.clone(),
                expected: case.expected.clone(),
                found: [None, None],
            });
        }
        if let (Some(row), Some(place)) = (rows.iter_mut().find(same), place) {
            row.found[place as usize] = Some(case.clone());
        }
    }
}

fn table(title: &str, rows: &[Row]) -> Table {
    let table = Table::new(title)
        .column("claim", "")
        .column("the document says", "")
        .column("virtual time", "")
        .column("holds there", "")
        .column("lab", "")
        .column("holds there", "");
    rows.iter().fold(table, |table, row| {
        let found = |place: usize| {
            row.found[place]
                .as_ref()
                .and_then(|case| case.found.clone())
        };
        let holds = |place: usize| row.found[place].as_ref().and_then(|case| case.holds);
        table.row([
            row.name.clone().into(),
            row.expected.clone().into(),
            report::experiment::Cell::from(found(0)),
            holds(0).into(),
            found(1).into(),
            holds(1).into(),
        ])
    })
}

/// The cases of an experiment that was never run in a world; none where it has no such world.
fn unmade(name: &str, place: Where) -> Vec<Case> {
    let Ok((mut description, _)) = Description::find(name) else {
        return Vec::new();
    };
    if place == Where::VirtualTime {
        let Ok((simulated, _)) = description.in_world(World::Sim) else {
            return Vec::new();
        };
        description = simulated;
    }
    let never = std::sync::atomic::AtomicBool::new(false);
    let nowhere =
        std::env::temp_dir().join(format!("isobath-no-experiment-{}", std::process::id()));
    let bench = Bench {
        dir: &nowhere,
        scale: Scale::FULL,
        seed: 1,
        with_invalid: false,
        jobs: 1,
        mark: "",
        interrupt: &never,
        display: &super::display::Display::new(true),
    };
    let begun = Experiment::new(&description.name, &description.title);
    let concluded = description.study.conclude(&bench, begun);
    concluded
        .map(|experiment| experiment.cases)
        .unwrap_or_default()
}

/// In which world a result was found: its study says so where it knows several.
fn place(result: &Experiment) -> Where {
    place_of(&result.plan["study"])
}

fn place_of(study: &Value) -> Where {
    let is_sim = |(kind, study): (&String, &Value)| kind == "mathis" || study["world"] == "sim";
    if study.as_object().into_iter().flatten().any(is_sim) {
        Where::VirtualTime
    } else {
        Where::Lab
    }
}

/// Larger is better.
fn rank(result: &Experiment) -> (u64, Option<&str>) {
    let scale = result.plan["scale"].as_f64().unwrap_or_default();
    (scale.to_bits(), result.started.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(world: &str, scale: f64, found: &str, holds: bool) -> Experiment {
        let case = Case::new("queue above 16 ms", found, "20 %").holds(holds);
        let plan = json!({ "scale": scale, "study": { "replay": { "world": world } } });
        Experiment::new("replay/structure", "?")
            .case(case)
            .plan(plan)
    }

    #[test]
    fn a_claim_is_one_row_with_what_was_found_in_both_worlds() {
        let mut claims = Claims::default();
        for result in [
            result("sim", 1.0, "21 %", true),
            result("sim", 0.1, "2 %", false),
            result("lab", 0.3, "60 %", false),
        ] {
            claims.add(result);
        }
        assert_eq!(claims.len(), 2);
        let rows = claims.rows("replay/structure");
        assert_eq!(rows.len(), 1);
        let found: Vec<_> = rows[0]
            .found
            .iter()
            .flatten()
            .filter_map(|case| case.found.as_deref())
            .collect();
        assert_eq!(found, ["21 %", "60 %"]);
        let index = claims.index();
        assert!(index.summary.contains(
            "In virtual time 1 claims hold and 0 do not, in the lab 0 claims hold and 1 do not"
        ));
        // Whatever was not run is there, too.
        let is_there = |name: &str| {
            index
                .tables
                .iter()
                .any(|table| table.title.starts_with(name))
        };
        for name in Description::names() {
            assert!(is_there(name), "{name}");
        }
        report::experiment::page(&index).unwrap();
    }

    #[test]
    fn a_page_has_what_was_found_in_the_other_world() {
        let folder = tempfile::tempdir().unwrap();
        let there = result("sim", 1.0, "21 %", true);
        fs::write(folder.path().join(FILE), there.to_json().unwrap()).unwrap();
        let (description, _) = Description::find("replay/structure").unwrap();
        let other = Claims::other(folder.path(), &description).unwrap();
        let found = Claims::beside(result("lab", 0.3, "60 %", false), other);
        let table = found.tables.last().unwrap();
        assert_eq!(
            table.title,
            "replay/structure (in virtual time at a scale of 1, in the lab at a scale of 0.3)"
        );
        assert_eq!(table.rows.len(), 1);
        let (there, _) = description.in_world(World::Sim).unwrap();
        let refused = Claims::other(folder.path(), &there)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("no result of replay/structure in the lab"),
            "{refused}"
        );
    }

    /// The grid is held against theory in virtual time and against the kernel in a lab.
    #[test]
    fn claims_of_a_world_in_which_nothing_was_run_are_there_beside_the_other_worlds() {
        let never_run = Claims::default().rows("btc/grid").len();
        let mut claims = Claims::default();
        let case = Case::new("random loss alone, median", "96 %", "?").holds(true);
        let plan = json!({ "scale": 1.0, "study": { "grid": { "world": "sim" } } });
        claims.add(Experiment::new("btc/grid", "?").case(case).plan(plan));
        let rows = claims.rows("btc/grid");
        let unmade = rows.iter().filter(|row| row.found == [None, None]).count();
        assert!(never_run >= 10 && unmade >= 5, "{never_run} {unmade}");
        assert_eq!(rows.len(), unmade + 1);
    }
}
