//! The pages as they are published.

use super::catalogue::{Catalogue, Clause, Section, State};
use super::holders::Holder;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The page of one document.
pub(super) fn of(
    name: &str,
    catalogue: &Catalogue,
    held: &BTreeMap<String, Vec<Holder>>,
) -> String {
    let Catalogue {
        title,
        source,
        intro,
        ..
    } = catalogue;
    let mut page = format!(
        "# Conformance: {title}\n\n<!-- Made by a test from {name}.toml; write there. -->\n\n{source}\n\n{}\n\n**{}.**\n",
        intro.trim(),
        sum(catalogue)
    );
    for Section { title, clause } in catalogue.sections() {
        write!(page, "\n## {title}\n\n").unwrap();
        page += "| clause | the document asks | | here | shown by |\n|---|---|---|---|---|\n";
        for clause in clause {
            let tests = held.get(&format!("{name}/{}", clause.id));
            page += &row(clause, tests.map_or(&[], Vec::as_slice));
        }
    }
    page
}

fn row(clause: &Clause, tests: &[Holder]) -> String {
    let link = |test: &Holder| format!("[{}](../../{})", test.name.replace('_', " "), test.file);
    let tests: Vec<String> = tests.iter().map(link).collect();
    let (id, text, state, here) = (&clause.id, &clause.text, clause.state.name(), &clause.here);
    let state = match clause.state {
        State::Met => state.to_owned(),
        _ => format!("**{state}**"),
    };
    let row = format!(
        "| `{id}` | {text} | {state} | {here} | {} |",
        tests.join("; ")
    );
    row.replace('\n', " ") + "\n"
}

fn sum(catalogue: &Catalogue) -> String {
    let counts = catalogue.counts();
    let parts = State::ALL
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0);
    let parts: Vec<_> = parts
        .map(|(state, n)| format!("{n} {}", state.name()))
        .collect();
    format!(
        "{} clauses: {}",
        counts.iter().sum::<usize>(),
        parts.join(", ")
    )
}

/// The page that lists the others.
pub(super) fn index(catalogues: &BTreeMap<String, Catalogue>) -> String {
    let mut page = "# Conformance\n\n\
        What the source documents ask, clause by clause, and the tests that hold the program to it. A clause is *met* or a\n\
        *deviation* only while a test that names it passes; these pages are made from the tests.\n\n\
        | | document | clauses | met | deviation | not met | not needed |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (name, catalogue) in catalogues {
        let counts = catalogue.counts().map(|count| count.to_string());
        let all = catalogue.clauses().count();
        let Catalogue { title, source, .. } = catalogue;
        let counts = counts.join(" | ");
        writeln!(
            page,
            "| [{title}]({name}.md) | {source} | {all} | {counts} |"
        )
        .unwrap();
    }
    page
}
