//! What the documents list is what the program has: columns, fields, labs, plans, stages.

use crate::{code_words, read, section, stems};
use mbm::diagnostic::Test;
use record::Row;
use schema::tables::{
    Counters, Cpu, Hop, HttpsProbe, Packet, PageLoad, PageObject, Queue, Sample, Series, Stream,
};
use serde_json::Value;
use std::collections::BTreeSet;

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

/// Holds mbm/criteria-stated.
#[test]
fn the_document_says_what_decides_each_test_of_rfc_8337() {
    let document = read("docs/mbm.md");
    let lines = section(&document, "## Tests").lines();
    let listed: Vec<_> = lines
        .filter_map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let name = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
            let [section, stream, decided] = cells.get(2..5)?.try_into().ok()?;
            (!stream.is_empty() && !decided.is_empty()).then_some((name, section))
        })
        .collect();
    let tests = Test::ALL.map(|test| (test.name(), test.section()));
    assert_eq!(listed, tests);
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
