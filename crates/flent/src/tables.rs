//! What Flent prints of a data file: `-f summary` and `-f csv`.

use crate::import::Imported;
use serde_json::Value;
use std::fmt::Write as _;

/// Width of a column of figures.
const WIDTH: usize = 12;

/// Mean, median and 99th percentile of each series, in Flent's layout.
pub fn summary(file: &Imported) -> String {
    let said = |key| file.source().text(key);
    let (test, time) = (file.test(), said("TIME").unwrap_or_default());
    let mut page = format!("\nSummary of {test} test run from {time}\n");
    if let Some(title) = said("TITLE") {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "  Title: '{title}'");
    }
    let empty = serde_json::Map::new();
    let series = file.run.summary["series"].as_object().unwrap_or(&empty);
    let names = series.keys().map(|name| name.chars().count());
    let name_width = names.max().unwrap_or_default();
    let (gap, wide) = (name_width + 3, WIDTH + 8);
    let _ = writeln!(
        page,
        "\n{:gap$} {:>WIDTH$} {:>WIDTH$} {:>WIDTH$} {:>wide$}",
        "", "avg", "median", "99th %", "# data pts"
    );
    for (name, figures) in series {
        let _ = writeln!(page, " {name:name_width$} : {}", row(figures));
    }
    page
}

fn row(figures: &Value) -> String {
    let number = |value: &Value| {
        value
            .as_f64()
            .map_or_else(|| "N/A".to_owned(), |value| format!("{value:.2}"))
    };
    let distribution = &figures["distribution"];
    let unit = figures["unit"].as_str().unwrap_or_default();
    format!(
        "{:>WIDTH$} {:>WIDTH$} {:>WIDTH$} {unit:7} {:>WIDTH$}",
        number(&figures["mean"]),
        number(&distribution["p50"]),
        number(&distribution["p99"]),
        distribution["n"].as_u64().unwrap_or_default()
    )
}

/// The time line and what each series has there, in Flent's layout: the first cell is the test.
pub fn csv(file: &Imported) -> String {
    let data = &file.source().file;
    let mut page = cell(&file.test());
    for name in data.results.keys() {
        page.push(',');
        page.push_str(&cell(name));
    }
    page.push_str("\r\n");
    for (at, t) in data.x_values.iter().enumerate() {
        let _ = write!(page, "{t:?}");
        for values in data.results.values() {
            page.push(',');
            if let Some(value) = values.get(at).copied().flatten() {
                let _ = write!(page, "{value:?}");
            }
        }
        page.push_str("\r\n");
    }
    page
}

/// A cell of RFC 4180: quoted where it must be.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
