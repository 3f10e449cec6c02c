//! What can be asked, as `OpenAPI` 3.1 has it: requests by hand, answers from the types that they are made of.

use super::answer::{Answer, Error};
use super::survey::Paths;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The description.
pub(super) fn document() -> Value {
    // The file is part of the program, and a test reads it.
    let mut document: Value =
        serde_json::from_str(include_str!("openapi.json")).unwrap_or_default();
    document["info"]["version"] = json!(env!("CARGO_PKG_VERSION"));
    document["components"]["schemas"] = json!({
        "Answer": schema::<Answer>(),
        "Error": schema::<Error>(),
        "Paths": schema::<Paths>(),
    });
    document
}

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use super::super::http::Route;
    use super::super::parameters::Asked;
    use super::*;

    fn object<'a>(value: &'a Value, at: &str) -> Vec<&'a String> {
        let found = value.pointer(at).and_then(Value::as_object);
        found
            .unwrap_or_else(|| panic!("{at}: {value:#}"))
            .keys()
            .collect()
    }

    #[test]
    fn the_description_has_the_routes_that_there_are_and_no_other() {
        let document = document();
        let paths = object(&document, "/paths");
        let mut routes: Vec<_> = paths.iter().map(|path| Route::of(path).unwrap()).collect();
        routes.dedup();
        assert_eq!(routes.len(), 5, "{paths:?}");
    }

    #[test]
    fn every_parameter_of_the_description_is_understood() {
        let document = document();
        for (path, is_watch) in [("estimates", false), ("watch", true)] {
            let at = format!("/paths/~1v1~1{path}~1{{what}}/get/parameters");
            let parameters = document.pointer(&at).unwrap().as_array().unwrap();
            for parameter in parameters
                .iter()
                .filter(|parameter| parameter["in"] == "query")
            {
                let name = parameter["name"].as_str().unwrap();
                let example = parameter["example"].as_str().unwrap().replace('%', "%25");
                let query = format!("to=m5&{name}={example}");
                Asked::parse("available", &query, is_watch).unwrap();
            }
        }
    }

    #[test]
    fn every_schema_that_is_named_is_there() {
        let text = document().to_string();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(
                document()["components"]["schemas"][name].is_object(),
                "{name}"
            );
        }
        assert!(!text.contains("$defs"), "references lead into the document");
    }
}
