//! What is published about a record, held against the program: schemas of summaries, and the columns of tables.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "these are assertions of tests"
)]

use record::Row;
use schemars::JsonSchema;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The schema of the summary `T` is that in docs/schema; set `UPDATE_SCHEMA=1` to write it anew.
#[track_caller]
pub fn schema<T: JsonSchema>(verb: &str) {
    let path = docs().join(format!("schema/{verb}.summary.schema.json"));
    let schema = sorted(schemars::schema_for!(T).to_value());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        fs::write(&path, text).unwrap();
    }
    let published: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(published, schema, "run with UPDATE_SCHEMA=1");
}

/// The same with the keys of all objects in their order: a feature of some dependency decides whether they are.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<_, _> = map.into_iter().map(|(key, v)| (key, sorted(v))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// The columns of table `T` are documented in docs/output.md, in their order.
#[track_caller]
pub fn columns<T: Row>() {
    let document = fs::read_to_string(docs().join("output.md")).unwrap();
    let heading = format!("\n### {}\n", T::TABLE);
    let (_, section) = document.split_once(&heading).unwrap();
    let section = section.split("\n#").next().unwrap_or_default();
    let lines = section.lines();
    let names: Vec<_> = lines
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0))
        .collect();
    let fields = T::fields();
    let columns: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, columns, "{}", T::TABLE);
}

/// Every column of table `T` has a sentence, and a name that ends in its unit where it has a physical one.
#[track_caller]
pub fn documented<T: Row>() {
    assert!(!T::ABOUT.is_empty(), "{}", T::TABLE);
    for field in T::fields() {
        let name = format!("{}.{}", T::TABLE, field.name());
        let about = &field.metadata()["description"];
        assert!(about.ends_with('.'), "{name}: {about}");
        let unit = field.metadata().get("unit").map_or("", String::as_str);
        for physical in ["ns", "us", "ms", "s", "bytes", "pct", "bps"] {
            let named = field.name() == physical
                || field.name().ends_with(&format!("_{physical}"))
                || (physical == "s" && field.name() == "seconds");
            // Octets may be told by what they are: `segments.len`.
            let is_right = named == (unit == physical) || (physical == "bytes" && !named);
            assert!(is_right, "{name} in '{unit}'");
        }
    }
}
