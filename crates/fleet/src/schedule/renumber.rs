//! Runs of one plan by the numbers of another.

use super::{Plan, Planned};
use crate::Name;
use std::collections::HashMap;

/// What hosts and measurements of a plan are in another one, by their numbers.
#[derive(Debug)]
pub struct Renumber {
    hosts: Vec<Option<u32>>,
    measures: Vec<Option<u32>>,
}

impl Plan {
    /// Those of `other` in this one.
    pub fn renumber(&self, other: &Self) -> Renumber {
        let hosts = |plan: &Self| names(plan.file.hosts.iter().map(|host| &host.name));
        let measures = |plan: &Self| names(plan.file.measures.iter().map(|measure| &measure.name));
        Renumber {
            hosts: numbers(&hosts(self), &hosts(other)),
            measures: numbers(&measures(self), &measures(other)),
        }
    }
}

impl Renumber {
    /// A run; none where one of its hosts or its measurement is not there.
    pub fn of(&self, run: &Planned) -> Option<Planned> {
        let number = |all: &[Option<u32>], number: u32| *all.get(number as usize)?;
        Some(Planned {
            measure: number(&self.measures, run.measure)?,
            from: number(&self.hosts, run.from)?,
            to: number(&self.hosts, run.to)?,
            ..*run
        })
    }
}

fn names<'a>(all: impl Iterator<Item = &'a Name>) -> Vec<Name> {
    all.cloned().collect()
}

/// Where the names of `other` are in `these`.
fn numbers(these: &[Name], other: &[Name]) -> Vec<Option<u32>> {
    let these: HashMap<&Name, u32> = these.iter().zip(0..).collect();
    other.iter().map(|name| these.get(name).copied()).collect()
}
