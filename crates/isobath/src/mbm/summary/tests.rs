use super::*;
use crate::mbm::tables::Arrival;
use record::Row;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Set `UPDATE_SCHEMA=1` to write the schema anew.
#[test]
fn the_published_schema_is_that_of_the_program() {
    let path = project().join("docs/schema/mbm.summary.schema.json");
    let schema = schemars::schema_for!(Summary).to_value();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        fs::write(&path, text).unwrap();
    }
    let published: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(published, schema, "run with UPDATE_SCHEMA=1");
}

#[test]
fn every_column_is_documented() {
    let document = fs::read_to_string(project().join("docs/output.md")).unwrap();
    let section = document.split("\n### arrivals\n").nth(1).unwrap();
    let section = section.split("\n### ").next().unwrap();
    for field in Arrival::fields() {
        assert!(
            section.contains(&format!("| `{}` |", field.name())),
            "{}",
            field.name()
        );
    }
}
