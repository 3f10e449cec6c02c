//! An experiment as TOML, and those that come with the program.
//!
//! ```toml
//! title = "Does throughput follow the square root of loss?"
//! about = "Transfers in virtual time over paths without a limit but random loss."
//! papers = ["M. Mathis et al.: The macroscopic behavior of the TCP congestion avoidance algorithm, CCR 27(3), 1997"]
//!
//! [study.mathis]
//! losses = [0.0001, 0.001, 0.01]
//! ```

use super::composition::Composition;
use super::curves::Curves;
use super::error::Error;
use super::grid::Grid;
use super::growth::Growth;
use super::mathis::Mathis;
use super::medianet::MediaNet;
use super::replay::{Replays, World};
use super::stability::Stability;
use super::trials::Trials;
use super::verdicts::Verdicts;
use serde::{Deserialize, Serialize};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../experiments/", $name, ".toml")))),*]
    };
}

/// Name and text of each built-in experiment, in the order that a reader should meet them.
const EXPERIMENTS: &[(&str, &str)] = experiments![
    "btc/grid",
    "btc/grid-cubic",
    "btc/stability",
    "btc/mesh",
    "btc/growth",
    "btc/mathis",
    "mbm/vantage-point",
    "mbm/queue-size",
    "mbm/composition",
    "mbm/boundary",
    "mbm/testbed",
    "mbm/throughput-curves",
    "replay/structure",
    "replay/rtt",
    "manager/step",
    "manager/fixed5",
    "manager/web",
    "manager/medianet",
];

/// An experiment.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What it is run by: a built-in name, or that of its file.
    #[serde(default)]
    pub name: String,
    /// Its question, in one line.
    pub title: String,
    /// What is done, in a few sentences.
    pub about: String,
    /// Where the claims come from.
    #[serde(default)]
    pub papers: Vec<String>,
    /// The same of what is done in virtual time, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<Words>,
    /// What is done, for the program.
    pub study: Study,
}

/// What a reader is told of an experiment.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// See [`Description::title`].
    pub title: String,
    /// See [`Description::about`].
    pub about: String,
    /// See [`Description::papers`].
    pub papers: Vec<String>,
}

/// What is done.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Study {
    /// Losses of parts against that of the whole.
    Composition(Composition),
    /// TCP's throughput over round trip and loss, free and held to a rate.
    Curves(Curves),
    /// Ours, the kernel's and virtual time over a grid of paths.
    Grid(Grid),
    /// The growth of the window.
    Growth(Growth),
    /// Throughput against round trip and loss.
    Mathis(Mathis),
    /// An application that adapts to its path.
    Medianet(MediaNet),
    /// The same traffic, replayed by cruder and cruder models.
    Replay(Replays),
    /// Pairs of transfers between many hosts.
    Stability(Stability),
    /// An application and a tool on one path, with and without riding.
    Trials(Trials),
    /// Tests of model based metrics, and the verdicts that are expected of them.
    Verdicts(Verdicts),
}

impl Description {
    /// Names of the built-in experiments.
    pub fn names() -> impl Iterator<Item = &'static str> {
        EXPERIMENTS.iter().map(|(name, _)| *name)
    }

    /// The experiment of this name, or that in the TOML file of this name; and its text.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], [`Error::Read`] or [`Error::Text`].
    pub fn find(name: &str) -> Result<(Self, String), Error> {
        if let Some((_, text)) = EXPERIMENTS.iter().find(|(known, _)| *known == name) {
            return Ok((Self::parse(text, name)?, (*text).to_owned()));
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|extension| extension != "toml") {
            return Err(Error::Unknown {
                name: name.to_owned(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            });
        }
        let text = fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok((Self::parse(&text, &stem)?, text))
    }

    /// The same in another world, and its text.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] when it has no such world.
    pub fn in_world(mut self, world: World) -> Result<(Self, String), Error> {
        let wrong = |what: String| Error::Text {
            file: self.name.clone(),
            what,
        };
        self.study.in_world(world).map_err(&wrong)?;
        if let Some(words) = self.sim.take().filter(|_| world == World::Sim) {
            (self.title, self.about, self.papers) = (words.title, words.about, words.papers);
        }
        let text = toml::to_string(&self).map_err(|error| wrong(error.to_string()))?;
        Ok((self, text))
    }

    /// The experiment in `text`, called `name` unless it says otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Text`].
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let wrong = |what: String| Error::Text {
            file: name.to_owned(),
            what,
        };
        let mut read: Self = toml::from_str(text).map_err(|error| {
            let lines: Vec<_> = error.message().split_whitespace().collect();
            let line = error.span().map_or(0, |span| {
                let before = text.get(..span.start).unwrap_or_default();
                before.matches('\n').count() + 1
            });
            wrong(format!("line {line}: {}", lines.join(" ")))
        })?;
        read.study.check().map_err(wrong)?;
        if read.name.is_empty() {
            name.clone_into(&mut read.name);
        }
        Ok(read)
    }
}

impl Study {
    /// So many measurements at a time use this machine well: a real one waits most of the time, a simulated one never.
    pub fn side_by_side(&self) -> usize {
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        if self.is_simulated() {
            processors
        } else {
            2 * processors
        }
    }

    /// Whether all measurements are in virtual time.
    const fn is_simulated(&self) -> bool {
        match self {
            Self::Grid(grid) => grid.is_simulated(),
            Self::Mathis(_) => true,
            Self::Medianet(medianet) => medianet.is_simulated(),
            Self::Replay(replays) => replays.is_simulated(),
            Self::Trials(trials) => trials.is_simulated(),
            Self::Verdicts(verdicts) => verdicts.is_simulated(),
            Self::Composition(_) | Self::Curves(_) | Self::Growth(_) | Self::Stability(_) => false,
        }
    }

    /// Whether it can be done; if not, why.
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Composition(composition) => composition.check(),
            Self::Curves(curves) => curves.check(),
            Self::Grid(grid) => grid.check(),
            Self::Growth(growth) => growth.check(),
            Self::Mathis(mathis) => mathis.check(),
            Self::Medianet(medianet) => medianet.check(),
            Self::Replay(replays) => replays.check(),
            Self::Stability(stability) => stability.check(),
            Self::Trials(trials) => trials.check(),
            Self::Verdicts(verdicts) => verdicts.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds mbm/figure-4-7.
    #[test]
    fn every_built_in_experiment_can_be_read_and_has_a_paper() {
        for name in Description::names() {
            let (found, _) = Description::find(name).unwrap();
            assert_eq!(found.name, name);
            assert!(
                !found.papers.is_empty() && !found.about.is_empty(),
                "{name}"
            );
            assert!(found.title.ends_with('?'), "{name}");
            let words = found.sim.clone();
            let Ok((there, _)) = found.clone().in_world(World::Sim) else {
                continue;
            };
            let title = words.map_or(found.title, |words| words.title);
            assert!(there.study.side_by_side() < found.study.side_by_side());
            assert!(
                there.title == title && there.title.ends_with('?') && !there.papers.is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_document_names_every_built_in_experiment() {
        let document = include_str!("../../../../docs/experiments.md");
        for name in Description::names() {
            assert!(document.contains(&format!("| `{name}` |")), "{name}");
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let text = "title = 't?'\nabout = 'a'\n[study.mathis]\nlosses = [0.1]\nspeed = 3\n";
        let error = Description::parse(text, "my").unwrap_err().to_string();
        assert!(
            error.starts_with("my: line 5: unknown field `speed`"),
            "{error}"
        );
        let error = Description::find("btc/gird").unwrap_err().to_string();
        assert!(error.contains("btc/grid, "), "{error}");
    }
}
