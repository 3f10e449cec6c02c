//! The JSON Schema of `run.json`.

use crate::run::Run;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of what this version writes to `run.json`.
pub fn run_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<Run>()
        .to_value()
}
