//! From the number of a run to everything about it.

use super::file::SweepFile;
use crate::batch::parameters::{Parameter, option, spoken};

/// One run to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    /// From 1, in the order of the file's lists, repetitions innermost.
    pub(crate) number: u64,
    /// What is measured: a verb and its own options.
    pub(crate) measurement: String,
    /// Where; none where the parameters say it.
    pub(crate) lab: Option<String>,
    /// Options of the measurement and their values, by name.
    pub(crate) parameters: Vec<(String, Parameter)>,
    /// Which repetition of its combination, from 1.
    pub(crate) repetition: u32,
}

impl Cell {
    /// Number `number` of `sweep`; none beyond the last one.
    pub(crate) fn of(sweep: &SweepFile, number: u64) -> Option<Self> {
        let mut rest = number.checked_sub(1)?;
        // Like the hands of a clock: the last list goes fastest.
        let mut next = |length: usize| {
            let length = length.max(1) as u64;
            let index = usize::try_from(rest % length).unwrap_or_default();
            rest /= length;
            index
        };
        let repetition = next(sweep.repetitions as usize);
        let lists: Vec<_> = sweep.parameters.iter().collect();
        let mut parameters = Vec::with_capacity(lists.len());
        for (name, values) in lists.iter().rev() {
            parameters.push(((*name).to_owned(), values[next(values.len())].clone()));
        }
        parameters.reverse();
        let lab = sweep.labs.get(next(sweep.labs.len())).cloned();
        let measurement = sweep.measurements[next(sweep.measurements.len())].clone();
        (rest == 0).then_some(Self {
            number,
            measurement,
            lab,
            parameters,
            repetition: u32::try_from(repetition).unwrap_or_default() + 1,
        })
    }

    /// The arguments after `isobath sim` that carry it out.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let words = self.measurement.split_whitespace();
        let mut arguments: Vec<_> = words.map(str::to_owned).collect();
        arguments.extend(self.lab.iter().map(|lab| format!("--lab={lab}")));
        let options = self.parameters.iter();
        arguments.extend(options.filter_map(|(name, value)| option(name, value)));
        if !arguments.iter().any(|word| is_seed(word)) {
            // Repetitions with the same chance would be one run told several times.
            arguments.push(format!("--seed={}", self.repetition));
        }
        arguments.push("--quiet".to_owned());
        arguments
    }

    /// What distinguishes its combination, in words: what kind of thing, and which.
    pub(crate) fn parts(&self) -> Vec<(String, String)> {
        let part = |kind: &str, which: String| (kind.to_owned(), which);
        let what = part("plan", self.measurement.clone());
        let place = part("place", self.lab.clone().unwrap_or_default());
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(name, value)| part(name, spoken(name, value)));
        [what, place].into_iter().chain(parameters).collect()
    }

    /// In one line, for people.
    pub(crate) fn title(&self) -> String {
        let parts = self.parts().into_iter().map(|(_, which)| which);
        let parts: Vec<_> = parts.filter(|which| !which.is_empty()).collect();
        format!("{}, run {}", parts.join(", "), self.repetition)
    }
}

/// Whether a word of a measurement gives it a seed of its own.
pub(super) fn is_seed(word: &str) -> bool {
    word == "--seed" || word.starts_with("--seed=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_number_is_another_cell_and_there_are_no_more() {
        let text = "repetitions = 2\nmeasurements = ['btc', 'estimate loss']\nlabs = ['dsl', 'lte', 'lan']\n\
                    parameters = { cc = ['cubic', 'reno'], ecn = [true, false] }";
        let sweep = SweepFile::parse(text, "my.toml").unwrap();
        let cells: Vec<_> = (1..).map_while(|number| Cell::of(&sweep, number)).collect();
        assert_eq!(cells.len(), 48);
        let titles: BTreeSet<_> = cells.iter().map(Cell::title).collect();
        assert_eq!(titles.len(), 48);
        assert_eq!(cells[1].title(), "btc, dsl, cubic, ecn, run 2");
        assert_eq!(
            cells[1].arguments().join(" "),
            "btc --lab=dsl --cc=cubic --ecn --seed=2 --quiet"
        );
        assert_eq!(
            cells[47].arguments().join(" "),
            "estimate loss --lab=lan --cc=reno --seed=2 --quiet"
        );
        assert_eq!(Cell::of(&sweep, 0), None);
    }
}
