//! Tests that name the clauses they hold, at the end of their comment: `/// Holds rrul/families, rrul/udp-and-tcp.`
//! (in tests of pages `// Holds rrul/score.` above `test(...)`).

use crate::project;
use std::fs;
use std::path::Path;

/// A test and the clauses it holds.
#[derive(Clone)]
pub(super) struct Holder {
    /// Path of its file from the project's root.
    pub(super) file: String,
    /// Its function's name, or its title in tests of pages.
    pub(super) name: String,
    pub(super) clauses: Vec<String>,
}

/// All of them, by file and place in it.
pub(super) fn all() -> Vec<Holder> {
    let mut found = Vec::new();
    for folder in ["crates", "ui"] {
        search(&project().join(folder), folder, &mut found);
    }
    found
}

fn search(folder: &Path, from_root: &str, found: &mut Vec<Holder>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, file) = (entry.path(), format!("{from_root}/{name}"));
        if path.is_dir() && name != "node_modules" {
            search(&path, &file, found);
        } else if has_tests(&name) {
            holders(&file, &fs::read_to_string(&path).unwrap(), found);
        }
    }
}

fn has_tests(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|it| it == "rs" || it == "mjs")
}

fn holders(file: &str, text: &str, found: &mut Vec<Holder>) {
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(first) = comment(line).and_then(|words| words.strip_prefix("Holds ")) else {
            continue;
        };
        if !first
            .split(',')
            .next()
            .is_some_and(|word| word.contains('/'))
        {
            continue;
        }
        let mut words = first.to_owned();
        while !words.ends_with('.') {
            let more = lines.next().and_then(comment);
            words += more.unwrap_or_else(|| panic!("{file}: no full stop after 'Holds {words}'"));
        }
        let clauses = words
            .trim_end_matches('.')
            .split(',')
            .map(|word| word.trim().to_owned());
        let name = name(&mut lines);
        let name = name.unwrap_or_else(|| panic!("{file}: no test follows 'Holds {words}'"));
        let (file, clauses) = (file.to_owned(), clauses.collect());
        found.push(Holder {
            file,
            name,
            clauses,
        });
    }
}

fn comment(line: &str) -> Option<&str> {
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//"));
    text.map(str::trim)
}

/// The name of the test that begins in the next lines; none if something else does, or it is not run.
fn name<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let mut is_test = false;
    for line in lines {
        if let Some(rest) = line.strip_prefix("test(") {
            let quote = rest.chars().next()?;
            return Some(rest[1..].split(quote).next()?.to_owned());
        }
        if let Some((_, rest)) = line.split_once("fn ").filter(|_| !line.starts_with('#')) {
            let name = rest.split('(').next()?.to_owned();
            return is_test.then_some(name);
        }
        is_test |= line == "#[test]";
        if line.starts_with("#[ignore") || !(line.starts_with('#') || comment(line).is_some()) {
            return None;
        }
    }
    None
}
