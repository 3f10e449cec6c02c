//! The TOML of a sweep: measurements of `isobath sim` x labs x parameters, and how often.
//!
//! ```toml
//! name = "buffers"
//! repetitions = 100
//! measurements = ["btc --duration 10s"]
//! [parameters]
//! rate = "10Mbit"
//! rtt = ["10ms", "40ms", "160ms"]
//! queue = ["0.25bdp", "1bdp", "4bdp"]
//! ```
//!
//! A parameter is an option of all of them without its dashes, as in a batch.

use super::cells::is_seed;
use crate::batch::parameters::{Parameters, not_toml, unique};
use kit::pool::error::Error;
use serde::Deserialize;

/// Most runs of a sweep: the columns of its table are in memory when it is made.
pub(crate) const MOST_RUNS: u64 = 200_000;

/// A sweep as its author wrote it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct SweepFile {
    /// What to call it; without one, the file's name.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// How many runs of each combination.
    #[serde(default = "once")]
    pub(crate) repetitions: u32,
    /// Each a verb of `isobath sim` and its own options, apart by spaces.
    pub(crate) measurements: Vec<String>,
    /// Labs: names, or TOML files.
    #[serde(default)]
    pub(crate) labs: Vec<String>,
    /// Tables of the runs that are kept; none unless named.
    #[serde(default)]
    pub(crate) tables: Vec<String>,
    /// Options of the measurements and their values: one, or a list.
    #[serde(default)]
    pub(crate) parameters: Parameters,
}

const fn once() -> u32 {
    1
}

impl SweepFile {
    /// Reads and checks the text of `file`, which is named in errors only.
    ///
    /// # Errors
    /// [`Error::Text`], with the line where the text itself is wrong.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, Error> {
        let sweep: Self = toml::from_str(text).map_err(|error| not_toml(&error, text, file))?;
        sweep.check().map_err(|what| Error::Text {
            file: file.to_owned(),
            line: String::new(),
            what,
        })?;
        Ok(sweep)
    }

    fn check(&self) -> Result<(), String> {
        unique("measurements", self.measurements.iter().map(String::as_str))?;
        unique("labs", self.labs.iter().map(String::as_str))?;
        unique("tables", self.tables.iter().map(String::as_str))?;
        self.parameters.check()?;
        if self.measurements.is_empty() {
            return Err("it says nothing to measure - add measurements = [..]".to_owned());
        }
        if self.repetitions == 0 {
            return Err("repetitions is 0 - write at least 1".to_owned());
        }
        if self.repetitions > 1 && self.has_own_seed() {
            return Err("with a seed of its own, each repetition is the same run - leave out the seed, or list several and leave out repetitions".to_owned());
        }
        if self.runs().is_none_or(|runs| runs > MOST_RUNS) {
            return Err(format!("a sweep has at most {MOST_RUNS} runs - split it"));
        }
        Ok(())
    }

    /// Whether it says which seeds to use; otherwise each repetition has another.
    fn has_own_seed(&self) -> bool {
        let mut words = self
            .measurements
            .iter()
            .flat_map(|of| of.split_whitespace());
        words.any(is_seed) || self.parameters.iter().any(|(name, _)| name == "seed")
    }

    /// How many combinations it asks for.
    pub(crate) fn combinations(&self) -> u64 {
        self.runs().unwrap_or_default() / u64::from(self.repetitions.max(1))
    }

    /// How many runs it has; `None` when there is no number for that.
    pub(crate) fn runs(&self) -> Option<u64> {
        let lists = [self.measurements.len(), self.labs.len().max(1)];
        let values = self.parameters.iter().map(|(_, values)| values.len());
        let lists = lists.into_iter().chain(values);
        lists
            .map(|length| length as u64)
            .try_fold(u64::from(self.repetitions), u64::checked_mul)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        SweepFile::parse(text, "my.toml").unwrap_err().to_string()
    }

    #[test]
    fn runs_are_all_combinations() {
        let text = "repetitions = 10\nmeasurements = ['btc', 'estimate loss']\nlabs = ['dsl', 'lte', 'lan']\n\
                    parameters = { cc = ['cubic', 'reno'], window = 100 }";
        let sweep = SweepFile::parse(text, "my.toml").unwrap();
        assert_eq!(sweep.runs(), Some(10 * 2 * 3 * 2));
    }

    #[test]
    fn what_is_no_sweep_is_told_in_one_line() {
        let with = |line: &str| message(&format!("measurements = ['btc']\n{line}"));
        assert!(with("speed = 9").starts_with("my.toml line 2: unknown field `speed`"));
        assert!(with("repetitions = 0").contains("repetitions is 0"));
        let own = "repetitions = 2\nparameters.seed = 1";
        assert!(with(own).contains("each repetition is the same run"));
        let own = message("measurements = ['btc --seed 4']\nrepetitions = 2");
        assert!(own.contains("each repetition is the same run"));
        assert!(with("repetitions = 4294967295").contains("at most 200000 runs"));
        assert!(with("parameters.key = 'iso1-x'").contains("'key' cannot be a parameter"));
        assert!(with("labs = ['dsl', 'dsl']").contains("labs has 'dsl' twice"));
        assert!(message("measurements = []").contains("nothing to measure"));
        assert!(message("").contains("missing field `measurements`"));
    }
}
