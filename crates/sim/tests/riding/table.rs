//! The table.

use super::Said;

/// One path, and what was found.
pub(crate) struct Cell {
    pub(crate) said: Said,
    /// What others leave, and what the application sends, in bit/s.
    pub(crate) left: f64,
    pub(crate) own: f64,
    pub(crate) seconds: f64,
    /// Octets, and those of them that are padding.
    pub(crate) added: u64,
    pub(crate) padding: u64,
    /// Packets of the application.
    pub(crate) lost: u64,
}

/// What of the riders is subtracted (Papageorgiou 2008, section 3.2.3.1): then the figure is what is left beside the application, else what it and
/// others could have together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Correction {
    None,
    /// The rate of those that would have competed with the last stream.
    Last,
    /// And with the streams of the last fleet, on average.
    Mean,
    /// What the last fleet was spared.
    Spared,
}

impl Cell {
    fn truth(&self, correction: Correction) -> f64 {
        match correction {
            Correction::None => self.left,
            _ => self.left - self.own,
        }
    }

    /// The range that is told.
    fn range(&self, correction: Correction) -> [Option<f64>; 2] {
        let Said {
            low,
            high,
            competing,
            ..
        } = self.said;
        let riders = match correction {
            Correction::None => 0.0,
            Correction::Last => competing.last_bps,
            Correction::Mean => competing.mean_bps,
            Correction::Spared => {
                let none = [0.0, f64::INFINITY];
                let known = [low.unwrap_or(none[0]), high.unwrap_or(none[1])];
                let [lower, upper] = competing.beside(known);
                return [low.map(|_| lower), high.map(|_| upper)];
            }
        };
        [low, high].map(|bps| bps.map(|bps| (bps - riders).max(0.0)))
    }

    /// Figures are shares of what others leave.
    fn error(&self, correction: Correction) -> Option<f64> {
        let [low, high] = self.range(correction);
        let middle = f64::midpoint(low?, high?);
        let error = (middle - self.truth(correction)) / self.left;
        self.said.is_conclusive.then_some(error)
    }

    fn width(&self) -> Option<f64> {
        let said = &self.said;
        let width = (said.high? - said.low?) / self.left;
        said.is_conclusive.then_some(width)
    }

    /// Whether what is told is so, give or take a twentieth; none when nothing is told.
    fn holds(&self, correction: Correction) -> Option<bool> {
        let [low, high] = self.range(correction);
        low.or(high)?;
        let (truth, slack) = (self.truth(correction), 0.05 * self.left);
        let is_above = low.is_none_or(|low| low <= truth + slack);
        Some(is_above && high.is_none_or(|high| high >= truth - slack))
    }
}

/// One estimator.
pub(crate) struct Row {
    name: String,
    pub(crate) cells: usize,
    pub(crate) conclusive: usize,
    /// Those that told a bound, and those of them whose bounds hold.
    pub(crate) told: usize,
    pub(crate) hold: usize,
    /// Medians over what is conclusive: of the error without its sign, and with it, and of the width.
    pub(crate) error: f64,
    pub(crate) bias: f64,
    pub(crate) width: f64,
    /// Medians over all.
    pub(crate) seconds: f64,
    pub(crate) added: f64,
    /// Octets added and octets of padding at most.
    pub(crate) most_added: u64,
    pub(crate) most_padding: u64,
    /// Of all.
    pub(crate) lost: u64,
}

impl Row {
    pub(crate) fn new(name: String, cells: &[Cell], correction: Correction) -> Self {
        let errors: Vec<f64> = cells
            .iter()
            .filter_map(|cell| cell.error(correction))
            .collect();
        let holds: Vec<bool> = cells
            .iter()
            .filter_map(|cell| cell.holds(correction))
            .collect();
        Self {
            name,
            cells: cells.len(),
            conclusive: errors.len(),
            told: holds.len(),
            hold: holds.iter().filter(|holds| **holds).count(),
            error: median(errors.iter().map(|error| error.abs())),
            bias: median(errors.iter().copied()),
            width: median(cells.iter().filter_map(Cell::width)),
            seconds: median(cells.iter().map(|cell| cell.seconds)),
            added: median(cells.iter().map(|cell| cell.added as f64)),
            most_added: most(cells, |cell| cell.added),
            most_padding: most(cells, |cell| cell.padding),
            lost: cells.iter().map(|cell| cell.lost).sum(),
        }
    }
}

fn most(cells: &[Cell], octets: impl Fn(&Cell) -> u64) -> u64 {
    cells.iter().map(octets).max().unwrap_or(0)
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints it as docs/estimate.md has it.
pub(crate) fn print(rows: &[Row]) {
    println!(
        "| | conclusive | error | with its sign | width | bounds hold | seconds | added, kB | at most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        let Row {
            name,
            cells,
            conclusive,
            hold,
            told,
            seconds,
            ..
        } = row;
        let [error, bias, width] = [row.error, row.bias, row.width].map(|share| share * 100.0);
        let [added, most] = [row.added, row.most_added as f64].map(|octets| octets / 1e3);
        println!(
            "| {name} | {conclusive} of {cells} | {error:.1} % | {bias:+.1} % | {width:.1} % | {hold} of {told} | {seconds:.1} | {added:.1} | {most:.1} |",
        );
    }
}
