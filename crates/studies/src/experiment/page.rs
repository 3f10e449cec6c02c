//! What an experiment found, on a terminal and as files.

use super::bench::write;
use report::experiment::{Case, Cell, Experiment, FILE, page};
use std::fmt::Write as _;
use std::path::Path;

/// The page beside [`FILE`].
const PAGE: &str = "index.html";
/// The most cases on a terminal: with the lines around them 25 lines.
const MOST_CASES: usize = 16;
/// Columns of a terminal.
const WIDTH: usize = 100;

/// Writes `experiment.json` and `index.html` into `dir`.
///
/// # Errors
///
/// When they cannot be drawn or written.
pub fn save(dir: &Path, experiment: &Experiment) -> anyhow::Result<()> {
    write(&dir.join(FILE), &(experiment.to_json()? + "\n"))?;
    Ok(write(&dir.join(PAGE), &page(experiment)?)?)
}

/// What was found, in at most 25 lines.
pub fn scorecard(experiment: &Experiment, shown: &Path) -> String {
    let mut page = format!("{}  {}\n\n", experiment.name, experiment.title);
    for line in wrapped(&experiment.summary).into_iter().take(3) {
        // Writing to a string does not fail.
        let _ = writeln!(page, "{line}");
    }
    page.push('\n');
    let cases = &experiment.cases;
    let least = cases.len().saturating_sub(MOST_CASES);
    // Two lines a case while they fit.
    let is_roomy = cases.len() * 2 <= MOST_CASES;
    for case in cases.iter().take(MOST_CASES) {
        let _ = writeln!(page, "{}", line(case, is_roomy));
    }
    if least > 0 {
        let _ = writeln!(page, "and {least} more cases");
    }
    let _ = write!(page, "\npage  {}", shown.join(PAGE).display());
    page
}

/// The tables of an index of claims: a line for each claim, and what was found in each world below it.
pub fn index(index: &Experiment) -> String {
    let mut page = format!("{}\n", index.summary);
    for table in &index.tables {
        let _ = write!(page, "\n{}\n", table.title);
        for row in &table.rows {
            let [name, expected, sim, sim_holds, lab, lab_holds] = &row[..] else {
                continue;
            };
            let (name, expected) = (text(name), text(expected));
            let _ = writeln!(page, "  {name}: {expected}");
            for (world, found, holds) in [("virtual time", sim, sim_holds), ("lab", lab, lab_holds)]
            {
                if *found != Cell::Nothing {
                    let _ = writeln!(page, "    {world:12}  {}  {}", verdict(holds), text(found));
                }
            }
        }
    }
    page.trim_end().to_owned()
}

fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        _ => "",
    }
}

const fn verdict(cell: &Cell) -> &'static str {
    match cell {
        Cell::Flag(true) => "holds         ",
        Cell::Flag(false) => "does not hold ",
        _ => "cannot be told",
    }
}

fn line(case: &Case, is_roomy: bool) -> String {
    let verdict = match case.holds {
        Some(true) => "holds         ",
        Some(false) => "does not hold ",
        None => "cannot be told",
    };
    let found = case.found.as_deref().unwrap_or("not run");
    let room = if is_roomy { "\n                " } else { ": " };
    format!(
        "{verdict}  {}{room}{found} (expected: {})",
        case.name, case.expected
    )
}

/// Words in lines as wide as a terminal.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(cases: usize) -> Experiment {
        let mut experiment =
            Experiment::new("btc/grid", "Do they agree?").summary("They do. ".repeat(60));
        for number in 0..cases {
            let case = Case::new(format!("case {number}"), "1.2 %", "at most 5 %");
            experiment = experiment.case(case.holds(number % 2 == 0));
        }
        experiment
    }

    #[test]
    fn however_many_cases_there_are_the_scorecard_has_at_most_25_lines() {
        for cases in [0, 1, 8, 9, 17, 40] {
            let card = scorecard(&experiment(cases), Path::new("x"));
            assert!(card.lines().count() <= 25, "{cases}: {card}");
        }
        let card = scorecard(&experiment(2), Path::new("x"));
        assert!(
            card.contains("does not hold   case 1\n") && card.contains("x/index.html"),
            "{card}"
        );
    }

    #[test]
    fn both_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        save(dir.path(), &experiment(2)).unwrap();
        let text = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert_eq!(Experiment::from_json(&text).unwrap().cases.len(), 2);
        assert!(dir.path().join(PAGE).exists());
    }
}
