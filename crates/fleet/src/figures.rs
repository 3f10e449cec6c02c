//! The figures of a summary by which runs are compared; the first stands for a run in a table.

use kit::measurement::Figure;
use kit::register::Register;
use serde_json::Value;

/// A value with its unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) value: f64,
}

/// The first figure of measurement `test`, if its summary has it: another one would be of something else.
pub(crate) fn main_figure(register: &Register, test: &str, summary: &Value) -> Option<Found> {
    let measurement = register.of_test(test).ok()?;
    of(measurement.figures().first()?, summary)
}

/// The figure of measurement `test` with this name, or its main one, if its summary has it.
pub(crate) fn named(
    register: &Register,
    test: &str,
    summary: &Value,
    name: Option<&str>,
) -> Option<Found> {
    match name {
        Some(name) => all(register, test, summary).find(|found| found.name == name),
        None => main_figure(register, test, summary),
    }
}

/// The figures of measurement `test` that its summary has.
pub(crate) fn all<'a>(
    register: &Register,
    test: &str,
    summary: &'a Value,
) -> impl Iterator<Item = Found> + use<'a> {
    let measurement = register.of_test(test);
    let figures = measurement.map_or(&[][..], |measurement| measurement.figures());
    figures.iter().filter_map(|figure| of(figure, summary))
}

fn of(figure: &Figure, summary: &Value) -> Option<Found> {
    let value = summary.pointer(figure.path)?.as_f64()?;
    let text = |pointer: &str| summary.pointer(pointer)?.as_str().map(str::to_owned);
    let said = |text: Option<String>| text.unwrap_or_default();
    Some(Found {
        name: figure.name.to_owned(),
        unit: if figure.unit.starts_with('/') {
            said(text(figure.unit))
        } else {
            figure.unit.to_owned()
        },
        value,
    })
}

/// With three digits that count.
pub(crate) fn short(value: f64) -> String {
    let digits = match value.abs() {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// The middle of these.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len().checked_sub(1)?;
    Some(f64::midpoint(
        values[middle / 2],
        values[middle.div_ceil(2)],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::measurement::figure;
    use serde_json::json;

    #[test]
    fn a_figure_takes_its_unit_from_where_it_is_said() {
        let summary = json!({ "value": 3.25, "unit": "ms" });
        let found = of(&figure("estimate", "/unit", "/value"), &summary).unwrap();
        assert_eq!(
            (found.unit.as_str(), short(found.value)),
            ("ms", "3.25".to_owned())
        );
        assert_eq!(of(&figure("x", "ms", "/other"), &summary), None);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_two() {
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(vec![4.0]), Some(4.0));
        assert_eq!(median(Vec::new()), None);
    }
}
