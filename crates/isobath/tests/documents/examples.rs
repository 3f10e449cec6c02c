//! Examples in documentation are run: crates without any say so, and have none.

use super::{project, read};
use std::fs;
use std::path::Path;

/// What stands after the fence of an example that is compiled.
const COMPILED: [&str; 5] = ["", "rust", "no_run", "should_panic", "compile_fail"];

#[test]
fn where_no_examples_are_run_there_are_none() {
    let mut without = 0;
    for entry in fs::read_dir(project().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = folder.join("Cargo.toml");
        if manifest.exists() && read(&manifest).contains("\ndoctest = false\n") {
            without += 1;
            look(&folder.join("src"));
        }
    }
    assert!(without > 0);
}

/// No file in `folder` has an example.
fn look(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let found = examples(&read(&path));
            assert_eq!(found, 0, "{}: remove 'doctest = false'", path.display());
        }
    }
}

fn examples(source: &str) -> usize {
    let mut is_open = false;
    let comments = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
    });
    let fences = comments.filter_map(|text| text.trim().strip_prefix("```"));
    let opening = fences.filter(|_| {
        is_open = !is_open;
        is_open
    });
    opening
        .filter(|kind| COMPILED.contains(&kind.trim()))
        .count()
}

#[test]
fn an_example_is_a_fence_without_a_language_or_with_rust_s() {
    let source = "//! ```text\n//! a\n//! ```\n/// ```\n/// x();\n/// ```\nlet a = \"```\";\n//! ```no_run\n//! ```\n";
    assert_eq!(examples(source), 2);
}
