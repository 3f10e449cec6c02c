//! The fleet file: which hosts there are, who measures whom, what, when, and how much of it a day.
//!
//! ```toml
//! name = "mesh"
//! seed = 7
//!
//! [[host]]
//! name = "berlin-1"
//! site = "berlin"
//! tags = ["wired"]
//! daily = "20GB"                       # octets a day, as either end
//!
//! [[host]]
//! name = "paris-1"
//! site = "paris"
//! tags = ["wired"]
//!
//! [[link]]                             # what hosts share: no two loads at once
//! name = "berlin-uplink"
//! behind = ["berlin-1"]                # hosts or tags; crossed by whoever measures in or out
//! daily = "50GB"
//!
//! [[measure]]
//! name = "rtt"
//! run = "estimate rtt --duration 5s"   # the command line, without its host
//! pairs = { mesh = ["all"] }           # or star, between, random
//! takes = "8s"
//! every = "10min"                      # or poisson = "10min", or cron = "*/10 * * * *"
//! on_demand = true                     # and whenever an operator asks
//! octets = "100kB"
//! ```
//!
//! Nothing here reads a disk or a clock: a text goes in, and a file that hangs together or one line that says what to do comes out.

mod check;
mod cron;
#[cfg(test)]
mod tests;
mod threshold;
mod window;

use crate::{Name, PublicKey};
pub use cron::Cron;
use serde::Deserialize;
use std::time::Duration;
pub use threshold::Threshold;
use units::{Bytes, Span};
pub use window::Window;

/// By how much a run without a period may begin late.
pub(crate) const PATIENCE: Span = Span(Duration::from_secs(60));
/// The selector of every host.
const ALL: &str = "all";

/// A fleet as its author wrote it. Read it with [`FleetFile::parse`], which checks it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FleetFile {
    /// What it is called.
    pub name: Name,
    /// All that is drawn follows from it.
    #[serde(default)]
    pub seed: u64,
    /// The hosts, each with an agent of this name.
    #[serde(rename = "host")]
    pub hosts: Vec<HostSpec>,
    /// What hosts share.
    #[serde(default, rename = "link")]
    pub links: Vec<LinkSpec>,
    /// What is measured.
    #[serde(rename = "measure")]
    pub measures: Vec<MeasureSpec>,
}

/// A host.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// The name of its agent.
    pub name: Name,
    /// Where it stands.
    #[serde(default)]
    pub site: Option<Name>,
    /// Names that it shares with others, to select them by.
    #[serde(default)]
    pub tags: Vec<Name>,
    /// Octets a day of all runs in which it takes part.
    #[serde(default)]
    pub daily: Option<Bytes>,
    /// Whose signature its outcomes must have; any or none without it.
    #[serde(default)]
    pub key: Option<PublicKey>,
}

/// A link, or whatever else runs have in common: while one run that loads is on it, no other is.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// What it is called.
    pub name: Name,
    /// Hosts behind it: crossed by a run with one end there and the other elsewhere.
    #[serde(default)]
    pub behind: Vec<Name>,
    /// Hosts at its two ends: crossed by a run from one of these to one of those, and back.
    #[serde(default)]
    pub between: Option<[Vec<Name>; 2]>,
    /// Octets a day of all runs that cross it.
    #[serde(default)]
    pub daily: Option<Bytes>,
}

/// A measurement, and who takes it when.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MeasureSpec {
    /// What it is called.
    pub name: Name,
    /// The command line without the program, the far end and its key: `rrul --duration 10s`.
    pub run: String,
    /// Who measures whom.
    pub pairs: Pairs,
    /// How long its ends are taken by one run, everything included; a run that goes on for longer is interrupted.
    pub takes: Span,
    /// From one run of a pair to the next.
    #[serde(default)]
    pub every: Option<Span>,
    /// From midnight of Universal Time to the first of them.
    #[serde(default)]
    pub phase: Option<Span>,
    /// The mean time from one run of a pair to the next, when they come as a Poisson process.
    #[serde(default)]
    pub poisson: Option<Span>,
    /// The instants at which each pair is measured, by the calendar.
    #[serde(default)]
    pub cron: Option<Cron>,
    /// Whether operators may have a pair measured at once; then it may do without instants of its own.
    #[serde(default)]
    pub on_demand: bool,
    /// Times of the day in which it is taken, of Universal Time; all day without them.
    #[serde(default)]
    pub windows: Vec<Window>,
    /// By how much a run may begin late because its ends are taken; otherwise it is left out. One period without it, and a minute where there
    /// are no periods.
    #[serde(default)]
    pub patience: Option<Span>,
    /// Octets that a run sends and receives, for what hosts, links and pairs may have a day.
    #[serde(default)]
    pub octets: Option<Bytes>,
    /// Octets a day of each pair.
    #[serde(default)]
    pub daily: Option<Bytes>,
    /// Whether it loads its path, so that its ends and links are its own meanwhile. By itself, everything but `estimate` does, and of these
    /// `estimate bottleneck`, which fills it.
    #[serde(default)]
    pub loads: Option<bool>,
    /// Bounds beyond which somebody is to hear of a run.
    #[serde(default, rename = "threshold")]
    pub thresholds: Vec<Threshold>,
}

/// Who measures whom: hosts, tags, or `all`. Both ways of a pair are two pairs.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Pairs {
    /// Each of them all others.
    Mesh(Vec<Name>),
    /// One of them the others.
    Star(Star),
    /// Those of one list those of another.
    Between(Between),
    /// At each instant one pair of them, drawn by chance.
    Random(Vec<Name>),
}

/// One host, and the others.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// The one that measures.
    pub centre: Name,
    /// Those that it measures towards.
    pub hosts: Vec<Name>,
}

/// Two lists of hosts.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// Those that measure.
    pub from: Vec<Name>,
    /// Those that they measure towards.
    pub to: Vec<Name>,
}

/// The file is none, or does not hang together.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{file}{line}: {what}")]
pub struct FileError {
    file: String,
    /// Empty where it is the whole that is wrong.
    line: String,
    what: String,
}

impl FleetFile {
    /// Reads and checks the text of `file`, which is named in errors only.
    ///
    /// # Errors
    /// With the line where the text itself is wrong.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        let wrong = |line: String, what: String| FileError {
            file: file.to_owned(),
            line,
            what,
        };
        let fleet: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            let message = error.message().replace('\n', ", ");
            let advice = if message.starts_with("unknown field") {
                " - remove it, or correct its name"
            } else {
                ""
            };
            wrong(format!(" line {line}"), format!("{message}{advice}"))
        })?;
        fleet.check().map_err(|what| wrong(String::new(), what))?;
        Ok(fleet)
    }

    /// The numbers of the hosts that `names` select: by their own names, by tags, or all; each once, in the file's order.
    ///
    /// # Errors
    /// For a name that is neither a host's nor a tag.
    pub fn select(&self, names: &[Name]) -> Result<Vec<u32>, String> {
        for name in names {
            let is_known = |host: &HostSpec| host.name == *name || host.tags.contains(name);
            if name.as_str() != ALL && !self.hosts.iter().any(is_known) {
                return Err(format!(
                    "'{name}' is neither a host nor a tag - add it to a [[host]], or write 'all'"
                ));
            }
        }
        let is_wanted = |host: &HostSpec| {
            let by = |name: &Name| {
                name.as_str() == ALL || host.name == *name || host.tags.contains(name)
            };
            names.iter().any(by)
        };
        let hosts = (0_u32..).zip(&self.hosts);
        let wanted = hosts.filter(|(_, host)| is_wanted(host));
        Ok(wanted.map(|(number, _)| number).collect())
    }
}

impl MeasureSpec {
    /// Whether a run of it loads its path.
    pub fn is_load(&self) -> bool {
        let is_load = || self.verb() != "estimate" || self.is_bottleneck();
        self.loads.unwrap_or_else(is_load)
    }

    /// Whether a run of it traces its path; with `rrul` that is up to its plan, too.
    pub fn is_traced(&self) -> bool {
        self.verb() == "rrul" || self.is_bottleneck()
    }

    /// Whether it is `estimate bottleneck`.
    fn is_bottleneck(&self) -> bool {
        self.estimates("bottleneck")
    }

    /// Whether it estimates this property; options may stand before it.
    pub fn estimates(&self, what: &str) -> bool {
        self.verb() == "estimate" && self.run.split_whitespace().any(|word| word == what)
    }

    /// Who measures whom (or, the other way round, the ends of the path that is measured) where the path goes from the first of `ends` to the
    /// second: the far end sends with `--reverse`.
    pub fn ends<T>(&self, ends: [T; 2]) -> [T; 2] {
        let [from, to] = ends;
        if self.run.split_whitespace().any(|word| word == "--reverse") {
            [to, from]
        } else {
            [from, to]
        }
    }

    /// Its verb.
    pub fn verb(&self) -> &str {
        self.run.split_whitespace().next().unwrap_or_default()
    }

    /// The (mean) time from one run of a pair to the next; by the calendar, the shortest. None where it is measured on demand only.
    pub fn interval(&self) -> Option<Span> {
        let shortest = || self.cron.as_ref().map(|cron| Span(cron.shortest()));
        let regular = self.every.or(self.poisson);
        regular.or_else(shortest)
    }

    /// By how much a run may begin late.
    pub fn patience(&self) -> Span {
        self.patience
            .or_else(|| self.interval())
            .unwrap_or(PATIENCE)
    }
}
