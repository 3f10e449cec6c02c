//! Links lead somewhere.

use crate::{NOT_OURS, project, without_fences};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All Markdown files of the project.
fn markdown(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !NOT_OURS.contains(&&*name) {
            markdown(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

/// The targets of links and pictures in Markdown text, and of `src` in its HTML.
fn targets(text: &str) -> Vec<String> {
    let prose = without_fences(text);
    let after = |mark: &str, end: char| -> Vec<String> {
        let parts = prose.split(mark).skip(1);
        let targets = parts.filter_map(|part| Some(part.split_once(end)?.0.to_owned()));
        targets.collect()
    };
    [
        after("](", ')'),
        after("src=\"", '"'),
        after("srcset=\"", '"'),
    ]
    .concat()
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = without_fences(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut files = Vec::new();
    markdown(&project(), &mut files);
    assert!(files.len() >= 9, "{files:?}");
    let mut broken = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (to, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if to.is_empty() {
                file.clone()
            } else {
                file.parent().unwrap().join(to)
            };
            let leads = to.exists()
                && (anchor.is_empty()
                    || fs::read_to_string(&to).is_ok_and(|there| anchors(&there).contains(anchor)));
            if !leads {
                broken.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}
