//! What is printed of a trace, what a fit makes of it, and what a set that was drawn from the fit came to.

use super::words;
use serde_json::{Value, json};
use std::fmt::Write as _;
use vectors::describe::{Describer, Unit};
use vectors::synth::{Copula, Statement, Statistic};

/// A printed figure, the fit's, and this set's; the last is missing when the set has no such value.
pub struct Row {
    statement: Statement,
    realised: Option<f64>,
}

/// All statements of a fit, beside the set that `describer` has seen.
pub fn rows(statements: Vec<Statement>, describer: &Describer) -> Vec<Row> {
    let row = |statement: Statement| Row {
        realised: statement.statistic.of(describer, statement.measure),
        statement,
    };
    statements.into_iter().map(row).collect()
}

/// As figures.
pub fn figures(rows: &[Row]) -> Vec<Value> {
    let figures = |row: &Row| {
        let statement = &row.statement;
        json!({
            "measure": statement.measure,
            "statistic": statement.statistic.to_string(),
            "unit": unit(statement),
            "published": statement.published,
            "from": statement.from,
            "fitted": statement.fitted,
            "fitted_error_pct": 100.0 * statement.error(),
            "realised": row.realised,
            "realised_error_pct": row.error().map(|error| 100.0 * error),
        })
    };
    rows.iter().map(figures).collect()
}

/// As a table for a terminal.
pub fn table(rows: &[Row]) -> String {
    let mut table = format!(
        "{:<27}{:<18}{:>10}{:>21}{:>21}  section\n",
        "", "", "printed", "the fit", "this set"
    );
    let mut last = "";
    for row in rows {
        let statement = &row.statement;
        let of = |value| words::value(value, unit(statement));
        let beside = |value, error: f64| format!("{} {:>+8.1} %", of(value), 100.0 * error);
        let realised = row.realised.zip(row.error());
        let realised =
            realised.map_or_else(|| "-".to_owned(), |(value, error)| beside(value, error));
        let name = statement.measure.words();
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "{:<27}{:<18}{:>10}{:>21}{realised:>21}  {}",
            if name == last { "" } else { name },
            statistic(statement),
            of(statement.published),
            beside(statement.fitted, statement.error()),
            statement.from,
        );
        last = name;
    }
    table
}

impl Row {
    /// How far the set is off, as a part of what is printed.
    fn error(&self) -> Option<f64> {
        let realised = self.realised?;
        Some(realised / self.statement.published - 1.0)
    }
}

/// In what the figures of a statement are: those of its measure, or shares.
const fn unit(statement: &Statement) -> Unit {
    match statement.statistic {
        Statistic::ShareFrom(_) => Unit::Share,
        _ => statement.measure.unit(),
    }
}

fn statistic(statement: &Statement) -> String {
    match statement.statistic {
        Statistic::Quantile(0.5) => "median".to_owned(),
        Statistic::Quantile(q) => format!("{} % are up to", words::digits(100.0 * q)),
        Statistic::ShareFrom(value) => {
            format!("from {}", words::value(value, statement.measure.unit()))
        }
        Statistic::Deviation => "standard deviation".to_owned(),
        Statistic::Mean => "mean".to_owned(),
    }
}

/// The ties of a copula, each pair of quantities once.
pub fn ties(copula: &Copula) -> Vec<Value> {
    let pairs = (0..Copula::SIZE).flat_map(|one| (0..one).map(move |other| (other, one)));
    let tie = |(one, other): (usize, usize)| {
        let [first, second] = [one, other].map(|place| Copula::MEASURES[place]);
        json!({ "measures": [first, second], "correlation": copula.tie(one, other) })
    };
    pairs.map(tie).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use vectors::synth::{Fit, Synthesis};

    #[test]
    fn every_statement_has_a_line_and_figures() {
        let fit = Fit::named("unc-2008").unwrap();
        let mut describer = Describer::default();
        for vector in Synthesis::new(&fit, Duration::from_secs(20), 1.0, 1) {
            describer.enter(&vector);
        }
        let rows = rows(fit.statements(), &describer);
        let table = table(&rows);
        assert_eq!(table.lines().count(), 1 + rows.len());
        let request = table
            .lines()
            .find(|line| line.starts_with("size of a request"))
            .unwrap();
        let words: Vec<_> = request.split_whitespace().collect();
        assert_eq!(words[4..10], ["median", "460", "B", "460", "B", "+0.0"]);
        assert_eq!(words.last(), Some(&"3.1.3.2"));
        let figures = figures(&rows);
        let median = figures
            .iter()
            .find(|row| row["measure"] == "request_bytes")
            .unwrap();
        assert_eq!(median["published"], 460.0);
        assert!(median["realised_error_pct"].as_f64().unwrap().abs() < 5.0);
    }

    #[test]
    fn a_set_without_a_value_has_no_figure() {
        let fit = Fit::named("ibm-2006").unwrap();
        let rows = rows(fit.statements(), &Describer::default());
        assert!(figures(&rows).iter().all(|row| row["realised"].is_null()));
        assert!(
            table(&rows)
                .lines()
                .skip(1)
                .all(|line| line.contains(" -  "))
        );
    }
}
