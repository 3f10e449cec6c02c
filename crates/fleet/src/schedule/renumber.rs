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
        let files = [&self.file, &other.file];
        let hosts = files.map(|file| file.hosts.iter().map(|host| &host.name));
        let measures = files.map(|file| file.measures.iter().map(|measure| &measure.name));
        Renumber {
            hosts: numbers(hosts),
            measures: numbers(measures),
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

/// Where the second names are among the first.
fn numbers<'a>([these, other]: [impl Iterator<Item = &'a Name>; 2]) -> Vec<Option<u32>> {
    let these: HashMap<&Name, u32> = these.zip(0..).collect();
    other.map(|name| these.get(name).copied()).collect()
}
