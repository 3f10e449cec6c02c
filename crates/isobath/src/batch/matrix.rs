//! From a batch's lists to its cells.

use super::file::{BatchFile, Host};
use super::parameters::{Parameter, option, spoken};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Longest part of a folder's name that one value may take, in characters.
const LONGEST_PART: usize = 24;

/// One run to do.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Cell {
    /// From 1, in the order of the file's lists, repetitions innermost.
    pub(crate) number: usize,
    /// The plan of `rrul`; empty where something else is measured.
    pub(crate) plan: String,
    /// What else is measured: a verb and its own options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) measurement: Option<String>,
    /// The lab to measure in; null on a real path.
    pub(crate) lab: Option<String>,
    /// The host to measure against; null in a lab.
    pub(crate) host: Option<String>,
    /// Options of the measurement and their values.
    pub(crate) parameters: BTreeMap<String, Parameter>,
    /// Which repetition of its group, from 1.
    pub(crate) repetition: u32,
    /// Its record's folder, below the batch's.
    pub(crate) folder: String,
}

impl Cell {
    /// Whether `other` is a repetition of the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let what = |cell: &Self| (cell.plan.clone(), cell.measurement.clone());
        what(self) == what(other)
            && (&self.lab, &self.host, &self.parameters)
                == (&other.lab, &other.host, &other.parameters)
    }

    /// What distinguishes its group, in words: what kind of thing, and which.
    pub(crate) fn parts(&self) -> Vec<(String, String)> {
        let place = self.lab.as_ref().or(self.host.as_ref());
        let what = self.measurement.as_ref().unwrap_or(&self.plan);
        let fixed = [("plan", Some(what)), ("place", place)];
        let fixed = fixed
            .into_iter()
            .map(|(kind, which)| (kind.to_owned(), which.cloned().unwrap_or_default()));
        let parameters = self.parameters.iter();
        fixed
            .chain(parameters.map(|(name, value)| (name.clone(), spoken(name, value))))
            .collect()
    }

    /// In one line, for people.
    pub(crate) fn title(&self) -> String {
        let parts: Vec<_> = self.parts().into_iter().map(|(_, which)| which).collect();
        format!("{}, run {}", parts.join(", "), self.repetition)
    }

    /// The arguments after `isobath` that carry it out, its record in `out`.
    pub(crate) fn arguments(&self, batch: &BatchFile, out: &Path) -> Vec<String> {
        let mut arguments = match &self.measurement {
            Some(words) => words.split_whitespace().map(str::to_owned).collect(),
            None => vec!["rrul".to_owned(), format!("--plan={}", self.plan)],
        };
        arguments.extend(self.lab.iter().map(|lab| format!("--lab={lab}")));
        arguments.extend(batch.duration.map(|span| format!("--duration={span}")));
        let options = self.parameters.iter();
        arguments.extend(options.filter_map(|(name, value)| option(name, value)));
        if !self.parameters.contains_key("seed") {
            // Repetitions with the same chance on the links would be one run told several times.
            arguments.push(format!("--seed={}", self.repetition));
        }
        arguments.push("--quiet".to_owned());
        arguments.push(format!("--out={}", out.display()));
        arguments.extend(
            self.host
                .iter()
                .flat_map(|host| ["--".to_owned(), host.clone()]),
        );
        arguments
    }
}

/// The cells of `batch`: every combination as often as it says, each once.
pub(crate) fn expand(batch: &BatchFile) -> Vec<Cell> {
    let mut groups = vec![Vec::new()];
    for (name, values) in batch.parameters.iter() {
        groups = product(&groups, name, &values);
    }
    let labs = batch.labs.iter().map(|lab| (Some(lab), None));
    let places: Vec<_> = labs
        .chain(batch.hosts.iter().map(|host| (None, Some(host))))
        .collect();
    let mut cells = Vec::new();
    let plans = batch.plans.iter().map(|plan| (plan.as_str(), None));
    let others = batch.measurements.iter().map(|words| ("", Some(words)));
    for what in plans.chain(others) {
        for &place in &places {
            for parameters in &groups {
                repeat(batch, what, place, parameters, &mut cells);
            }
        }
    }
    name_folders(&mut cells);
    cells
}

type Chosen = Vec<(String, Parameter)>;

/// Every choice so far with every value of one more parameter.
fn product(groups: &[Chosen], name: &str, values: &[Parameter]) -> Vec<Chosen> {
    let with = |group: &Chosen, value: &Parameter| {
        [group.as_slice(), &[(name.to_owned(), value.clone())]].concat()
    };
    groups
        .iter()
        .flat_map(|group| values.iter().map(move |value| with(group, value)))
        .collect()
}

fn repeat(
    batch: &BatchFile,
    (plan, measurement): (&str, Option<&String>),
    (lab, host): (Option<&String>, Option<&Host>),
    parameters: &Chosen,
    cells: &mut Vec<Cell>,
) {
    for repetition in 1..=batch.repetitions {
        cells.push(Cell {
            number: cells.len() + 1,
            plan: plan.to_owned(),
            measurement: measurement.cloned(),
            lab: lab.cloned(),
            host: host.map(|host| host.host.clone()),
            parameters: parameters.iter().cloned().collect(),
            repetition,
            folder: String::new(),
        });
    }
}

/// The number makes names unique, whatever becomes of the words.
fn name_folders(cells: &mut [Cell]) {
    let digits = cells.len().to_string().len();
    for cell in cells {
        let words = cell.parts().into_iter().map(|(_, which)| plain(&which));
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let (number, repetition) = (cell.number, cell.repetition);
        cell.folder = format!("{number:0digits$}-{}-{repetition}", words.join("-"));
    }
}

/// What may stand in a file name on every system.
fn plain(text: &str) -> String {
    let file = Path::new(text).file_stem();
    let is_file = text.to_ascii_lowercase().ends_with(".toml");
    let text = file
        .filter(|_| is_file)
        .map_or_else(|| text.into(), |stem| stem.to_string_lossy());
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._".contains(c) => c,
        _ => '-',
    };
    let text: String = text.chars().take(LONGEST_PART).map(plain).collect();
    text.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn batch(text: &str) -> BatchFile {
        BatchFile::parse(text, "my.toml").unwrap_or_else(|error| panic!("{error}"))
    }

    fn queues() -> BatchFile {
        batch(
            "repetitions = 2\nplans = ['rrul', 'own/mine.toml']\nlabs = ['dsl']\n\
             hosts = [{ host = '[2001:db8::1]:4890' }]\nduration = '60s'\n\
             parameters = { cc = ['cubic', 'bbr'], ipv6 = true }",
        )
    }

    #[test]
    fn cells_are_in_the_order_of_the_lists_with_repetitions_together() {
        let cells = expand(&queues());
        let folders: Vec<_> = cells.iter().map(|cell| cell.folder.as_str()).collect();
        assert_eq!(
            folders[..6],
            [
                "01-rrul-dsl-cubic-ipv6-1",
                "02-rrul-dsl-cubic-ipv6-2",
                "03-rrul-dsl-bbr-ipv6-1",
                "04-rrul-dsl-bbr-ipv6-2",
                "05-rrul-2001-db8--1--4890-cubic-ipv6-1",
                "06-rrul-2001-db8--1--4890-cubic-ipv6-2",
            ]
        );
        assert_eq!(folders[15], "16-mine-2001-db8--1--4890-bbr-ipv6-2");
        assert_eq!(cells[2].title(), "rrul, dsl, bbr, ipv6, run 1");
    }

    #[test]
    fn arguments_are_those_of_rrul_and_hold_no_key() {
        let batch = queues();
        let cells = expand(&batch);
        let arguments = cells[1].arguments(&batch, Path::new("/runs/x")).join(" ");
        assert_eq!(
            arguments,
            "rrul --plan=rrul --lab=dsl --duration=1min --cc=cubic --ipv6 --seed=2 --quiet --out=/runs/x"
        );
        let arguments = cells[4].arguments(&batch, Path::new("/runs/x")).join(" ");
        assert!(arguments.ends_with("--out=/runs/x -- [2001:db8::1]:4890"));
    }

    #[test]
    fn any_measurement_is_a_cell_with_its_own_words() {
        let batch =
            batch("measurements = ['estimate available', 'btc --reverse']\nlabs = ['dsl', 'lan']");
        let cells = expand(&batch);
        let titles: Vec<_> = cells.iter().map(Cell::title).collect();
        assert_eq!(titles[1], "estimate available, lan, run 1");
        let folders: Vec<_> = cells.iter().map(|cell| cell.folder.as_str()).collect();
        assert_eq!(folders[2], "3-btc---reverse-dsl-1");
        let arguments = cells[3].arguments(&batch, Path::new("x")).join(" ");
        assert_eq!(
            arguments,
            "btc --reverse --lab=lan --seed=1 --quiet --out=x"
        );
        let wrong = BatchFile::parse("measurements = ['serve']\nlabs = ['dsl']", "my.toml");
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains("'serve' is no measurement"), "{wrong}");
    }

    #[test]
    fn a_seed_that_the_author_chose_is_kept() {
        let batch = batch(
            "repetitions = 2\nplans = ['ping']\nlabs = ['lan']\nparameters.seed = [7, 8]\n\
             parameters.ipv6 = false",
        );
        let cells = expand(&batch);
        let arguments = cells[3].arguments(&batch, Path::new("x")).join(" ");
        assert_eq!(
            arguments,
            "rrul --plan=ping --lab=lan --seed=8 --quiet --out=x"
        );
    }

    proptest::proptest! {
        #[test]
        fn every_combination_is_there_exactly_as_often_as_asked(
            plans in 1..4_usize, labs in 0..4_usize, hosts in 0..3_usize,
            first in 1..4_usize, second in 1..3_usize, repetitions in 1..4_usize,
        ) {
            proptest::prop_assume!(labs + hosts > 0);
            let list = |prefix: &str, n: usize| -> Vec<String> {
                (0..n).map(|i| format!("'{prefix}{i}'")).collect()
            };
            let hosts_text: Vec<_> =
                list("h", hosts).iter().map(|host| format!("{{ host = {host} }}")).collect();
            let batch = batch(&format!(
                "repetitions = {repetitions}\nplans = [{}]\nlabs = [{}]\nhosts = [{}]\n\
                 [parameters]\ncc = [{}]\ndscp = [{}]",
                list("p", plans).join(","), list("l", labs).join(","), hosts_text.join(","),
                list("c", first).join(","), list("d", second).join(","),
            ));
            let cells = expand(&batch);
            let expected = plans * (labs + hosts) * first * second * repetitions;
            proptest::prop_assert_eq!(cells.len(), expected);
            let identity = |cell: &Cell| format!(
                "{} {:?} {:?} {:?} {}",
                cell.plan, cell.lab, cell.host, cell.parameters, cell.repetition
            );
            let distinct: BTreeSet<_> = cells.iter().map(identity).collect();
            proptest::prop_assert_eq!(distinct.len(), expected);
            let folders: BTreeSet<_> = cells.iter().map(|cell| &cell.folder).collect();
            proptest::prop_assert_eq!(folders.len(), expected);
            for cell in &cells {
                let alike = cells.iter().filter(|other| other.is_like(cell)).count();
                proptest::prop_assert_eq!(alike, repetitions);
            }
        }

        #[test]
        fn a_folder_is_a_plain_name_whatever_the_words(word in "\\PC{1,40}") {
            let name = plain(&word);
            proptest::prop_assert!(!name.contains('/') && !name.starts_with('.'));
        }
    }
}
