use super::*;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The published copy of the schema.
const PUBLISHED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/run.schema.json"
);

#[track_caller]
fn assert_valid(run: &Value) {
    let validator = jsonschema::draft202012::new(&run_schema()).unwrap();
    let errors: Vec<_> = validator.iter_errors(run).map(|e| e.to_string()).collect();
    assert_eq!(errors, [""; 0], "{run:#}");
}

/// With `UPDATE_SCHEMA=1` in the environment, writes the schema instead.
#[test]
fn the_published_schema_is_fresh() {
    let fresh = format!("{:#}\n", run_schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::create_dir_all(Path::new(PUBLISHED).parent().unwrap()).unwrap();
        fs::write(PUBLISHED, &fresh).unwrap();
    }
    let published = fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert!(
        published == fresh,
        "{PUBLISHED} is stale: run this test with UPDATE_SCHEMA=1"
    );
}

#[test]
fn runs_obey_the_schema_from_their_start_to_their_end() {
    let begun = Run::new("mbm", "2026-11-21T07:29:11Z".parse().unwrap(), json!({}));
    assert_valid(&serde_json::to_value(begun).unwrap());
    assert_valid(&serde_json::to_value(full_run()).unwrap());
}

#[test]
fn the_schema_refuses_what_is_no_run() {
    let validator = jsonschema::draft202012::new(&run_schema()).unwrap();
    let full = serde_json::to_value(full_run()).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut run = full.clone();
        *run.pointer_mut(pointer).unwrap() = value;
        run
    };
    assert!(validator.is_valid(&full));
    assert!(!validator.is_valid(&with("/schema", json!("isobath.run/2"))));
    assert!(!validator.is_valid(&with("/status", json!("done"))));
    assert!(!validator.is_valid(&with("/verdict", json!("pass"))));
    assert!(!validator.is_valid(&with("/hosts/0/cpus", json!("two"))));
    assert!(!validator.is_valid(&with("/warnings/0", json!({"code": "x"}))));
    for key in full.as_object().unwrap().keys() {
        let mut run = full.clone();
        run.as_object_mut().unwrap().remove(key);
        assert!(!validator.is_valid(&run), "a run without {key}");
    }
}
