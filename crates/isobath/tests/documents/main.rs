//! The documents tell the truth: what the program writes, lists and links to is in them.

#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod conformance;
mod examples;
mod links;
mod names;
mod packages;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders without documents of ours.
const NOT_OURS: [&str; 3] = ["target", ".git", "node_modules"];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = project().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of the files in `folder` with this extension, without it.
fn stems(folder: &str, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(project().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let names = wanted.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
    names.collect()
}

/// The part of a document under a heading, up to the next heading of any level.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text
        .find(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no heading '{heading}'"));
    let body = &text[start + heading.len() + 2..];
    body.find("\n#").map_or(body, |end| &body[..end])
}

/// The words inside `code` spans outside fenced blocks.
fn code_words(text: &str) -> BTreeSet<String> {
    let prose = without_fences(text);
    let spans = prose.split('`').skip(1).step_by(2);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = spans.flat_map(|span| span.split(move |c| !is_part(c)));
    words.map(str::to_owned).collect()
}

fn without_fences(text: &str) -> String {
    let mut fenced = false;
    let outside = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    });
    outside.collect::<Vec<_>>().join("\n")
}

/// By their names `.config/nextest.toml` knows which tests need a quiet machine.
#[test]
fn tests_that_need_a_quiet_machine_are_named_so() {
    for file in stems("crates/isobath/tests/e2e", "rs") {
        let text = read(format!("crates/isobath/tests/e2e/{file}.rs"));
        for test in text.split("#[test]").skip(1) {
            let (name, body) = test.split_once("()").unwrap();
            let (_, name) = name.rsplit_once("fn ").unwrap();
            let body = body.split("\n}\n").next().unwrap();
            let needs_quiet =
                body.contains("Machine::quiet()") || body.contains("Machine::alone()");
            assert_eq!(name.starts_with("quiet_"), needs_quiet, "{file}::{name}");
        }
    }
}
