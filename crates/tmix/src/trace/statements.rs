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

/// As figures; what they are beside is `published`, or `measured`.
pub fn figures(rows: &[Row], beside: &str) -> Vec<Value> {
    let figures = |row: &Row| {
        let statement = &row.statement;
        json!({
            "measure": statement.measure,
            "statistic": statement.statistic.to_string(),
            "unit": unit(statement),
            beside: statement.published,
            "from": statement.from,
            "fitted": statement.fitted,
            "fitted_error_pct": 100.0 * statement.error(),
            "realised": row.realised,
            "realised_error_pct": row.error().map(|error| 100.0 * error),
        })
    };
    rows.iter().map(figures).collect()
}

/// What a table has beside the fit: where its figures are from, the set, and where each stands.
pub type Heads = [&'static str; 3];

/// Of a mix.
pub const PRINTED: Heads = ["printed", "this set", "section"];
/// Of a mix of one's own.
pub const OWN: Heads = ["the mix", "this set", "from"];
/// Of a set of one's own.
pub const MEASURED: Heads = ["measured", "a synthesis", "from"];

/// As a table for a terminal.
pub fn table<'a>(rows: impl IntoIterator<Item = &'a Row>, heads: Heads) -> String {
    let [beside, set, from] = heads;
    let mut table = format!(
        "{:<27}{:<18}{beside:>10}{:>21}{set:>21}  {from}\n",
        "", "", "the fit"
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
    /// Whether it is one of the few that say most: mean and deviation, median, nine tenths and 99 of 100, or shares of decades.
    pub fn is_main(&self) -> bool {
        match self.statement.statistic {
            Statistic::Mean | Statistic::Deviation => true,
            Statistic::Quantile(q) => [0.5, 0.9, 0.99].iter().any(|main| (q - main).abs() < 1e-9),
            Statistic::ShareFrom(value) => [2.0, 10.0, 100.0, 1_000.0]
                .iter()
                .any(|main| (value - main).abs() < 1e-9),
        }
    }

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
        let table = table(&rows, PRINTED);
        assert_eq!(table.lines().count(), 1 + rows.len());
        let request = table
            .lines()
            .find(|line| line.starts_with("size of a request"))
            .unwrap();
        let words: Vec<_> = request.split_whitespace().collect();
        assert_eq!(words[4..10], ["median", "460", "B", "460", "B", "+0.0"]);
        assert_eq!(words.last(), Some(&"3.1.3.2"));
        let figures = figures(&rows, "published");
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
        assert!(
            figures(&rows, "published")
                .iter()
                .all(|row| row["realised"].is_null())
        );
        assert!(
            table(&rows, PRINTED)
                .lines()
                .skip(1)
                .all(|line| line.contains(" -  "))
        );
    }
}
