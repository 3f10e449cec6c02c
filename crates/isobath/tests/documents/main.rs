//! The documents tell the truth: what the program writes, lists and links to is in them.

#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

use record::Row;
use schema::tables::{
    Counters, Cpu, Hop, HttpsProbe, Packet, PageLoad, PageObject, Queue, Sample, Series, Stream,
};
use serde_json::Value;
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

#[track_caller]
fn assert_columns<T: Row>(document: &str) {
    let section = section(document, &format!("### {}", T::TABLE));
    let documented: Vec<&str> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let fields = T::fields();
    let columns: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    assert_eq!(
        documented,
        columns,
        "docs/output.md, section '### {}'",
        T::TABLE
    );
}

#[test]
fn every_column_of_every_table_is_documented_in_its_order() {
    let document = read("docs/output.md");
    assert_columns::<Sample>(&document);
    assert_columns::<Series>(&document);
    assert_columns::<Stream>(&document);
    assert_columns::<Queue>(&document);
    assert_columns::<Counters>(&document);
    assert_columns::<Packet>(&document);
    assert_columns::<Cpu>(&document);
    assert_columns::<PageLoad>(&document);
    assert_columns::<PageObject>(&document);
    assert_columns::<Hop>(&document);
    assert_columns::<HttpsProbe>(&document);
}

/// The names of all properties anywhere in a JSON Schema.
fn properties(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                names.extend(properties.keys().cloned());
            }
            object.values().for_each(|value| properties(value, names));
        }
        Value::Array(values) => values.iter().for_each(|value| properties(value, names)),
        _ => {}
    }
}

#[test]
fn every_field_of_every_schema_is_documented() {
    let schemas = stems("docs/schema", "json");
    assert!(!schemas.is_empty());
    let documented = code_words(&read("docs/output.md"));
    for name in schemas {
        let file = format!("docs/schema/{name}.json");
        let mut names = BTreeSet::new();
        properties(&serde_json::from_str(&read(&file)).unwrap(), &mut names);
        assert!(!names.is_empty(), "{file}");
        let missing: Vec<_> = names.difference(&documented).collect();
        assert!(
            missing.is_empty(),
            "{file}: not in docs/output.md: {missing:?}"
        );
    }
}

/// The first cells, in code, of the table rows of a section.
fn rows(document: &str, heading: &str) -> BTreeSet<String> {
    let lines = section(document, heading).lines();
    let names = lines.filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0));
    names.map(str::to_owned).collect()
}

#[test]
fn the_labs_in_the_document_are_those_of_the_program() {
    let document = read("docs/lab.md");
    let labs: BTreeSet<String> = lab::profiles::names().map(str::to_owned).collect();
    assert_eq!(rows(&document, "## The built-in labs"), labs);
    assert_eq!(
        stems("labs", "toml").into_iter().collect::<BTreeSet<_>>(),
        labs
    );
}

#[test]
fn the_plans_in_the_document_are_those_of_the_program() {
    let plans = stems("plans", "toml").into_iter().collect();
    assert_eq!(rows(&read("docs/rrul.md"), "## Plans"), plans);
}

#[test]
fn the_documents_name_every_kind_of_stage_and_queue() {
    let schema = serde_json::to_string(&schema_of_a_path()).unwrap();
    let document = read("docs/lab.md");
    let kinds = |heading| rows(&document, heading);
    for kind in kinds("### Stages").union(&kinds("### Queues")) {
        let constant = format!(r#""const":"{kind}""#);
        assert!(schema.contains(&constant), "the program knows no '{kind}'");
    }
    let known = schema.matches(r#""const":""#).count();
    let (distributions, paces, thens) = (3, 3, 2);
    let named = kinds("### Stages").len() + kinds("### Queues").len();
    assert_eq!(known - distributions - paces - thens, named, "{schema}");
}

fn schema_of_a_path() -> Value {
    let schema = schemars::schema_for!(path::Spec);
    // Descriptions are prose and may hold anything.
    let mut value = schema.to_value();
    strip(&mut value, "description");
    value
}

fn strip(value: &mut Value, key: &str) {
    match value {
        Value::Object(object) => {
            object.remove(key);
            object.values_mut().for_each(|value| strip(value, key));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strip(value, key)),
        _ => {}
    }
}

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

/// By their names `.config/nextest.toml` knows which tests need the machine for themselves.
#[test]
fn tests_that_take_the_whole_machine_are_named_so() {
    for file in stems("crates/isobath/tests/e2e", "rs") {
        let text = read(format!("crates/isobath/tests/e2e/{file}.rs"));
        for test in text.split("#[test]").skip(1) {
            let (name, body) = test.split_once("()").unwrap();
            let (_, name) = name.rsplit_once("fn ").unwrap();
            let body = body.split("\n}\n").next().unwrap();
            let is_alone = body.contains("Machine::whole()");
            assert_eq!(name.starts_with("alone_"), is_alone, "{file}::{name}");
        }
    }
}
