//! Figures side by side.

use super::scene::TooBusy;
use crate::support::{attempts, is_hopeless, say, skip_as_busy};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// How far apart two figures may be.
#[derive(Clone, Copy, Debug)]
enum Tolerance {
    /// Counts and marks.
    Exact,
    /// Rates and octets: 1 %.
    Rate,
    /// Delays in milliseconds: 1 % or 50 us.
    Delay,
    /// Counts and shares of a phase: a packet or two at its edges may be on either side.
    Edge(f64),
    /// A share of the other figure, where the document of the measurement promises no more.
    Within(f64),
}

#[derive(Debug)]
struct Row {
    figure: String,
    ours: f64,
    theirs: f64,
    tool: &'static str,
    tolerance: Tolerance,
}

impl Row {
    fn holds(&self) -> bool {
        let apart = (self.ours - self.theirs).abs();
        let share = |share: f64| self.theirs.abs() * share;
        match self.tolerance {
            Tolerance::Exact => apart < 1e-6,
            Tolerance::Rate => apart <= share(0.01),
            Tolerance::Delay => apart <= share(0.01).max(0.05),
            Tolerance::Edge(most) => apart <= most + 1e-6,
            Tolerance::Within(most) => apart <= share(most),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let apart = self.ours - self.theirs;
        let (difference, tolerance) = match self.tolerance {
            Tolerance::Exact => (format!("{apart:+}"), "exact".to_owned()),
            Tolerance::Edge(most) => (format!("{apart:+.3}"), figures(most)),
            _ if self.theirs == 0.0 => (format!("{apart:+.3}"), "exact".to_owned()),
            Tolerance::Rate => (percent(apart / self.theirs), "1 %".to_owned()),
            Tolerance::Delay => (percent(apart / self.theirs), "1 % or 50 us".to_owned()),
            Tolerance::Within(most) => (
                percent(apart / self.theirs),
                format!("{:.0} %", most * 100.0),
            ),
        };
        let holds = if self.holds() { "yes" } else { "**no**" };
        let [ours, theirs] = [self.ours, self.theirs].map(figures);
        write!(
            out,
            "{} | {ours} | {theirs} | {} | {difference} | {tolerance} | {holds}",
            self.figure, self.tool
        )
    }
}

fn percent(share: f64) -> String {
    format!("{:+.2} %", share * 100.0)
}

/// Whole numbers as they are, others with four figures.
fn figures(value: f64) -> String {
    if value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    let digits = 3 - value.abs().log10().floor().clamp(-3.0, 3.0) as i32;
    format!("{value:.*}", digits as usize)
}

/// What is compared, once it holds. A run that fell badly is repeated twice at most: a wrong figure is wrong each time. One that this
/// machine was too busy for is repeated until the test is skipped.
fn decided(compare: impl Fn() -> Table) -> Option<Table> {
    let mut wrong = 0;
    for _ in attempts().take(6) {
        match catch_unwind(AssertUnwindSafe(&compare)) {
            Ok(table) if table.all_holds() => return Some(table),
            Err(panic) if panic.is::<TooBusy>() => {
                if is_hopeless() {
                    break;
                }
                say("note: this machine was too busy, so once more");
            }
            _ if wrong < 2 => {
                wrong += 1;
                say("note: it did not hold, so once more");
            }
            Ok(table) => return Some(table),
            Err(panic) => resume_unwind(panic),
        }
    }
    skip_as_busy();
    None
}

/// Fails if what is compared does not hold.
#[track_caller]
pub(super) fn assert_holds(compare: impl Fn() -> Table) {
    if let Some(table) = decided(compare) {
        table.assert_holds();
    }
}

/// Prints what is compared, and says how many rows do not hold.
#[must_use]
pub(super) fn print_decided(compare: impl Fn() -> Table) -> usize {
    let table = decided(compare);
    table.map_or(0, |table| {
        assert!(!table.rows.is_empty(), "nothing was compared");
        table.print();
        table.rows.iter().filter(|row| !row.holds()).count()
    })
}

/// What was compared in one lab.
pub(super) struct Table {
    verb: &'static str,
    lab: String,
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn new(verb: &'static str, lab: &str) -> Self {
        Self {
            verb,
            lab: lab.to_owned(),
            rows: Vec::new(),
        }
    }

    /// In which lab.
    pub(super) fn lab(&self) -> &str {
        &self.lab
    }

    fn add(
        &mut self,
        figure: &str,
        ours: f64,
        theirs: f64,
        tool: &'static str,
        tolerance: Tolerance,
    ) {
        self.rows.push(Row {
            figure: figure.to_owned(),
            ours,
            theirs,
            tool,
            tolerance,
        });
    }

    pub(super) fn exact(&mut self, figure: &str, ours: f64, theirs: f64, tool: &'static str) {
        self.add(figure, ours, theirs, tool, Tolerance::Exact);
    }

    pub(super) fn edge(
        &mut self,
        most: f64,
        figure: &str,
        ours: f64,
        theirs: f64,
        tool: &'static str,
    ) {
        self.add(figure, ours, theirs, tool, Tolerance::Edge(most));
    }

    pub(super) fn rate(&mut self, figure: &str, ours: f64, theirs: f64, tool: &'static str) {
        self.add(figure, ours, theirs, tool, Tolerance::Rate);
    }

    pub(super) fn delay(&mut self, figure: &str, ours: f64, theirs: f64, tool: &'static str) {
        self.add(figure, ours, theirs, tool, Tolerance::Delay);
    }

    pub(super) fn within(
        &mut self,
        most: f64,
        figure: &str,
        ours: f64,
        theirs: f64,
        tool: &'static str,
    ) {
        self.add(figure, ours, theirs, tool, Tolerance::Within(most));
    }

    /// Says every row.
    fn print(&self) {
        for row in &self.rows {
            say(&format!("| {} | {} | {row} |", self.verb, self.lab));
        }
    }

    /// Whether all of it does.
    fn all_holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }

    /// Says what does not hold, and fails if anything does not.
    #[track_caller]
    fn assert_holds(&self) {
        assert!(!self.rows.is_empty(), "nothing was compared");
        let failed: Vec<_> = self.rows.iter().filter(|row| !row.holds()).collect();
        let lines: Vec<_> = failed.iter().map(ToString::to_string).collect();
        assert!(
            failed.is_empty(),
            "{} in {}:\n{}",
            self.verb,
            self.lab,
            lines.join("\n")
        );
    }
}
