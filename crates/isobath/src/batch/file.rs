//! The TOML of a batch: plans and measurements x places x parameters, and how often.
//!
//! ```toml
//! name = "queues"
//! repetitions = 3
//! plans = ["rrul", "tcp_upload"]
//! labs = ["dsl", "dsl-fq_codel"]
//! [parameters]
//! cc = ["cubic", "bbr"]
//! ```
//!
//! A plan is one of `isobath rrul`; a measurement is any other verb with its own options, such as `"estimate available"`. A
//! parameter is an option of all of them without its dashes; `true` and `false` are for options that take no value.

use super::parameters::{Parameters, not_toml, unique};
use kit::pool::error::Error;
use serde::Deserialize;
use units::Span;

/// Most cells of a batch: at a second each they would take three hours, and the state of all is rewritten after each.
pub(crate) const MOST_CELLS: usize = 10_000;
/// Most retries of a cell: what fails more often does not fail by chance.
const MOST_RETRIES: u32 = 100;
/// Verbs that measure, and leave a record.
const VERBS: &[&str] = &["btc", "estimate", "manager", "mbm", "replay", "rrul"];
/// A batch as its author wrote it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchFile {
    /// What to call it; without one, the file's name.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// How many runs of each combination.
    #[serde(default = "once")]
    pub(crate) repetitions: u32,
    /// How many more times a run that did not measure is tried.
    #[serde(default)]
    pub(crate) retries: u32,
    /// Rest between two runs, so that queues drain and processors cool.
    #[serde(default = "pause")]
    pub(crate) pause: Span,
    /// Plans of `rrul`: names, or TOML files.
    #[serde(default)]
    pub(crate) plans: Vec<String>,
    /// Other measurements: each a verb and its own options, apart by spaces.
    #[serde(default)]
    pub(crate) measurements: Vec<String>,
    /// Labs: names, or TOML files.
    #[serde(default)]
    pub(crate) labs: Vec<String>,
    /// Far ends where `isobath serve` runs.
    #[serde(default)]
    pub(crate) hosts: Vec<Host>,
    /// How long the load lasts; without one, as each plan says.
    #[serde(default)]
    pub(crate) duration: Option<Span>,
    /// Options of the measurements and their values: one, or a list.
    #[serde(default)]
    pub(crate) parameters: Parameters,
}

/// A far end. Its key is named, never written: batch files are shared and kept.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Host {
    /// `HOST` or `HOST:PORT`.
    pub(crate) host: String,
    /// The environment variable that holds its access key; without one, `ISOBATH_KEY` if it is set.
    #[serde(default, alias = "key-env")]
    pub(crate) key_env: Option<String>,
}

const fn once() -> u32 {
    1
}

const fn pause() -> Span {
    Span::from_millis(2_000)
}

impl BatchFile {
    /// Reads and checks the text of `file`, which is named in errors only.
    ///
    /// # Errors
    ///
    /// [`Error::Text`], with the line where the text itself is wrong.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, Error> {
        let batch: Self = toml::from_str(text).map_err(|error| not_toml(&error, text, file))?;
        batch.check().map_err(|what| Error::Text {
            file: file.to_owned(),
            line: String::new(),
            what,
        })?;
        Ok(batch)
    }

    /// How many cells it has; `None` when there is no number for that.
    fn cells(&self) -> Option<usize> {
        let places = self.labs.len().checked_add(self.hosts.len())?;
        let repetitions = usize::try_from(self.repetitions).ok()?;
        self.parameters
            .iter()
            .map(|(_, values)| values.len())
            .chain([places, repetitions])
            .try_fold(
                self.plans.len() + self.measurements.len(),
                usize::checked_mul,
            )
    }

    fn check(&self) -> Result<(), String> {
        let hosts = || self.hosts.iter().map(|host| host.host.as_str());
        unique("plans", self.plans.iter().map(String::as_str))?;
        unique("measurements", self.measurements.iter().map(String::as_str))?;
        for measurement in &self.measurements {
            let verb = measurement.split_whitespace().next().unwrap_or_default();
            if !VERBS.contains(&verb) {
                return Err(format!(
                    "'{measurement}' is no measurement - begin with one of: {}",
                    VERBS.join(", ")
                ));
            }
        }
        unique("labs", self.labs.iter().map(String::as_str))?;
        unique("hosts", hosts())?;
        self.parameters.check()?;
        if self.duration.is_some() && self.parameters.has("duration") {
            return Err("duration is given twice - keep it above or in [parameters]".to_owned());
        }
        if self.plans.is_empty() && self.measurements.is_empty() {
            return Err(
                "it says nothing to measure - add plans = [..] or measurements = [..]".to_owned(),
            );
        }
        if self.labs.is_empty() && self.hosts.is_empty() {
            return Err("it says nowhere to measure - add labs = [..] or hosts = [..]".to_owned());
        }
        if self.repetitions == 0 {
            return Err("repetitions is 0 - write at least 1".to_owned());
        }
        if self.retries > MOST_RETRIES {
            return Err(format!("retries is above {MOST_RETRIES} - write fewer"));
        }
        if self.cells().is_none_or(|cells| cells > MOST_CELLS) {
            return Err(format!("a batch has at most {MOST_CELLS} cells - split it"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUES: &str = r#"
name = "queues"
repetitions = 3
retries = 1
pause = "500ms"
plans = ["rrul", "tcp_upload"]
labs = ["dsl", "dsl-fq_codel"]
hosts = [{ host = "far.example.org", key_env = "FAR_KEY" }, { host = "near.example.org" }]
duration = "60s"
[parameters]
cc = ["cubic", "bbr"]
dscp = "EF"
ipv6 = [true, false]
"#;

    fn message(text: &str) -> String {
        BatchFile::parse(text, "my.toml").unwrap_err().to_string()
    }

    #[test]
    fn all_fields_are_read() {
        let batch = BatchFile::parse(QUEUES, "queues.toml").unwrap();
        assert_eq!(batch.name.as_deref(), Some("queues"));
        assert_eq!((batch.repetitions, batch.retries), (3, 1));
        assert_eq!(batch.pause, Span::from_millis(500));
        assert_eq!(batch.duration, Some(Span::from_millis(60_000)));
        assert_eq!(batch.hosts[0].key_env.as_deref(), Some("FAR_KEY"));
        assert_eq!(batch.hosts[1].key_env, None);
        let parameters: Vec<_> = batch.parameters.iter().collect();
        assert_eq!(parameters[0], ("cc", vec!["cubic".into(), "bbr".into()]));
        assert_eq!(parameters[1], ("dscp", vec!["EF".into()]));
        assert_eq!(parameters[2], ("ipv6", vec![true.into(), false.into()]));
        assert_eq!(batch.cells(), Some(2 * 4 * 2 * 2 * 3));
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let batch = BatchFile::parse("plans = ['rrul']\nlabs = ['dsl']", "my.toml").unwrap();
        assert_eq!((batch.repetitions, batch.retries), (1, 0));
        assert_eq!(batch.pause, Span::from_millis(2_000));
        assert_eq!(batch.duration, None);
    }

    #[test]
    fn what_is_no_batch_is_told_in_one_line() {
        let with = |line: &str| message(&format!("plans = ['rrul']\nlabs = ['dsl']\n{line}"));
        assert!(with("speed = 9").starts_with("my.toml line 3: unknown field `speed`"));
        assert!(with("pause = '60'").starts_with("my.toml line 3: '60' is not a time"));
        assert!(with("repetitions = 0").contains("repetitions is 0"));
        assert!(with("repetitions = 4294967295").contains("at most 10000 cells"));
        assert!(with("parameters.key = 'iso1-x'").contains("'key' cannot be a parameter"));
        assert!(with("parameters.cc = []").contains("parameter cc has no values"));
        assert!(with("parameters.cc = [['x']]").contains("no text, number or switch"));
        assert!(with("parameters.cc = ['bbr', 'bbr']").contains("cc has 'bbr' twice"));
        assert!(
            with("duration = '3s'\nparameters.duration = '2s'").contains("duration is given twice")
        );
        assert!(message("plans = ['rrul']").contains("nowhere to measure"));
        assert!(message("plans = []\nlabs = ['dsl']").contains("nothing to measure"));
        assert!(message("plans = ['a', 'a']\nlabs = ['dsl']").contains("plans has 'a' twice"));
        let text = "plans = ['rrul']\nhosts = [{ host = 'h', key = 'iso1-x' }]";
        assert!(message(text).contains("unknown field `key`"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(line in "[a-z]{1,12} = (\\[[-0-9a-z\"',]{0,20}\\]|\\PC{0,20})") {
            let _ = BatchFile::parse(&format!("plans = ['rrul']\nlabs = ['dsl']\n{line}"), "my.toml");
            let _ = BatchFile::parse(&line, "my.toml");
        }
    }
}
