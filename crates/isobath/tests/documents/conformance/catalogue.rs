//! A document's clauses and what the program makes of each.

use crate::read;
use serde::Deserialize;

/// A source document, clause by clause.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Catalogue {
    /// A short name, the heading of its page.
    pub(super) title: String,
    /// The document with its author and date.
    pub(super) source: String,
    /// Paragraphs of Markdown.
    pub(super) intro: String,
    section: Vec<Section>,
}

/// What stands under one heading.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) clause: Vec<Clause>,
}

/// What the document asks at one place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clause {
    /// Lower-case words and hyphens, unique in the document.
    pub(super) id: String,
    /// What is asked, with its place in the document.
    pub(super) text: String,
    pub(super) state: State,
    /// How it is done here, or why not.
    #[serde(default)]
    pub(super) here: String,
}

/// How far a clause is met.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As the document asks.
    Met,
    /// Differently, for a reason that is given.
    Deviation,
    #[serde(rename = "not met")]
    NotMet,
    /// The document leaves it open, or it has no meaning here.
    #[serde(rename = "not needed")]
    NotNeeded,
}

impl State {
    pub(super) const ALL: [Self; 4] = [Self::Met, Self::Deviation, Self::NotMet, Self::NotNeeded];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Deviation => "deviation",
            Self::NotMet => "not met",
            Self::NotNeeded => "not needed",
        }
    }
}

impl Catalogue {
    pub(super) fn of(name: &str) -> Self {
        let file = format!("docs/conformance/{name}.toml");
        toml::from_str(&read(&file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub(super) fn sections(&self) -> &[Section] {
        &self.section
    }

    pub(super) fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.section.iter().flat_map(|section| &section.clause)
    }

    /// How many clauses are in each state.
    pub(super) fn counts(&self) -> [usize; 4] {
        State::ALL.map(|state| {
            self.clauses()
                .filter(|clause| clause.state == state)
                .count()
        })
    }
}
