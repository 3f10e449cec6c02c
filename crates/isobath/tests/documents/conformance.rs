//! Each source document has a catalogue of its clauses, docs/conformance/NAME.toml, and tests name the clauses that
//! they hold. The pages are made from both, so they claim no more than tests show.

mod catalogue;
mod holders;
mod page;

use crate::{project, stems};
use catalogue::{Catalogue, State};
use holders::Holder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Catalogues by name, such as `rrul`.
fn catalogues() -> BTreeMap<String, Catalogue> {
    let names = stems("docs/conformance", "toml").into_iter();
    names
        .map(|name| (name.clone(), Catalogue::of(&name)))
        .collect()
}

/// The tests that hold each clause, by the clause's full name, such as `rrul/families`.
fn holders() -> BTreeMap<String, Vec<Holder>> {
    let mut by_clause: BTreeMap<String, Vec<Holder>> = BTreeMap::new();
    for holder in holders::all() {
        for clause in &holder.clauses {
            let held = by_clause.entry(clause.clone()).or_default();
            held.push(holder.clone());
        }
    }
    by_clause
}

#[test]
fn every_clause_is_as_its_tests_show() {
    let mut known = BTreeSet::new();
    let held = holders();
    let mut wrong = Vec::new();
    for (name, catalogue) in catalogues() {
        for clause in catalogue.clauses() {
            let full = format!("{name}/{}", clause.id);
            let tests = held.get(&full).map_or(0, Vec::len);
            match clause.state {
                State::Met | State::Deviation if tests == 0 => {
                    wrong.push(format!("no test holds {full}"));
                }
                State::NotMet | State::NotNeeded if tests > 0 => {
                    wrong.push(format!(
                        "{full} is not met or not needed, and a test holds it"
                    ));
                }
                _ => {}
            }
            if !known.insert(full.clone()) {
                wrong.push(format!("{full} is there twice"));
            }
        }
    }
    for clause in held.keys().filter(|clause| !known.contains(*clause)) {
        let test = &held[clause][0];
        wrong.push(format!("{}: no catalogue has {clause}", test.name));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_of_conformance_are_fresh() {
    let catalogues = catalogues();
    let held = holders();
    let pages = catalogues
        .iter()
        .map(|(name, catalogue)| (name.as_str(), page::of(name, catalogue, &held)));
    let all = pages.chain([("README", page::index(&catalogues))]);
    for (name, text) in all {
        let path = project().join(format!("docs/conformance/{name}.md"));
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{}: run with UPDATE_SCHEMA=1",
            path.display()
        );
    }
}
