//! Which plots a test has, by Flent's names.
//!
//! A plot is a value of [`Plot`]: which series ([`Pick`]), in which order, on which axis. [`families`] makes those of each test.

mod families;

pub(super) use families::{describe, plots};

use super::scale::{ALL, Quantiles, SCALED};
use crate::import::Source;
use crate::naming::Role;
use plots::Side;

/// A plot of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Its name, as Flent has it.
    pub name: &'static str,
    /// What it shows, in a line.
    pub description: &'static str,
    pub(super) kind: Kind,
}

/// What kind of picture a plot is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Lines(Spec),
    Cdf(Spec),
    Boxes(Spec),
    /// Other plots of the test above each other.
    Panels(Vec<&'static str>),
}

/// What a plot is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec {
    pub(super) series: Vec<Pick>,
    pub(super) legend_title: &'static str,
    /// What the axes of y are called, if not by the unit.
    pub(super) left: Option<&'static str>,
    pub(super) right: Option<&'static str>,
    pub(super) scaling: Quantiles,
    /// Only what was measured under load.
    pub(super) only_loaded: bool,
}

/// Series of a plot that are drawn alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pick {
    which: Which,
    label: Label,
    pub(super) side: Side,
    /// Values of which the mean is drawn, around each; 0 for the values themselves.
    pub(super) smoothing: usize,
    /// Drawn thick and black.
    pub(super) is_mean: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    /// The one of that name.
    One(&'static str),
    /// Loads in a direction.
    Loads(&'static str),
    /// Round trips by UDP and ICMP.
    RoundTrips,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Label {
    This(&'static str),
    /// What follows these words in the series' name.
    After(&'static str),
}

/// Values around each that Flent's `Avg` is the mean of; Flent makes its 10 odd.
const SMOOTHING: usize = 11;

impl Pick {
    /// The series of a file that are meant, with their labels, in natural order.
    pub(super) fn find<'a>(&'a self, source: &'a Source) -> Vec<(&'a str, String, &'a Self)> {
        let named = source.roles.iter();
        let mut found: Vec<&str> = named
            .filter(|(name, role)| self.which.is(name, role))
            .map(|(name, _)| name.as_str())
            .collect();
        found.sort_by_key(|name| (rank(name), natural(name)));
        let label = |name: &str| match self.label {
            Label::This(label) => label.to_owned(),
            Label::After(words) => name.strip_prefix(words).unwrap_or(name).to_owned(),
        };
        found
            .into_iter()
            .map(|name| (name, label(name), self))
            .collect()
    }
}

impl Which {
    fn is(self, name: &str, role: &Role) -> bool {
        match self {
            Self::One(wanted) => name == wanted,
            Self::Loads(direction) => role.is_load() && role.direction == direction,
            Self::RoundTrips => {
                let is_plain = matches!(role.kind, "udp_rr" | "icmp_rr") && !role.marked;
                is_plain && !role.computed
            }
        }
    }
}

/// Round trips are listed as RRUL lists its classes, those by ICMP last.
fn rank(name: &str) -> u8 {
    let Some(rest) = name.strip_prefix("Ping (ms) ") else {
        return 0;
    };
    match rest.trim_start_matches("UDP ") {
        "EF" => 0,
        "BK" => 1,
        "BE" => 2,
        other if other.starts_with("ICMP") => 4,
        _ => 3,
    }
}

/// `TCP upload::2` before `TCP upload::10`.
fn natural(name: &str) -> (&str, u64) {
    let words = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (words, name[words.len()..].parse().unwrap_or_default())
}

impl Spec {
    fn of(series: Vec<Pick>) -> Self {
        Self {
            series,
            legend_title: "",
            left: None,
            right: None,
            scaling: ALL,
            only_loaded: false,
        }
    }

    fn titled(self, legend_title: &'static str) -> Self {
        Self {
            legend_title,
            ..self
        }
    }

    fn left(self, label: &'static str) -> Self {
        let left = Some(label);
        Self { left, ..self }
    }

    fn right(self, label: &'static str) -> Self {
        let right = Some(label);
        Self { right, ..self }
    }

    fn scaled(self) -> Self {
        let scaling = SCALED;
        Self { scaling, ..self }
    }

    fn loaded(self) -> Self {
        let only_loaded = true;
        Self {
            only_loaded,
            ..self
        }
    }
}

fn pick(which: Which, label: Label) -> Pick {
    Pick {
        which,
        label,
        side: Side::Left,
        smoothing: 0,
        is_mean: false,
    }
}

fn one(name: &'static str, label: &'static str) -> Pick {
    pick(Which::One(name), Label::This(label))
}

/// The thick black line.
fn mean(name: &'static str, label: &'static str, smoothing: usize) -> Pick {
    let is_mean = true;
    Pick {
        smoothing,
        is_mean,
        ..one(name, label)
    }
}

fn smooth(pick: Pick) -> Pick {
    let smoothing = SMOOTHING;
    Pick { smoothing, ..pick }
}

fn at_right(pick: Pick) -> Pick {
    let side = Side::Right;
    Pick { side, ..pick }
}

fn plot(name: &'static str, description: &'static str, kind: Kind) -> Plot {
    Plot {
        name,
        description,
        kind,
    }
}
