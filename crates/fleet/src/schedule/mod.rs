//! The schedule of a day: which runs begin when.
//!
//! It follows from the fleet file, its seed and the day, and from nothing else: each agent makes it for itself and finds its own runs in it,
//! so there is no scheduler that could die. The file says at which instants a pair is to be measured; where runs that load would meet on a
//! host or a shared link, [`packing`] moves them apart. A run is known by the instant that the file asks for ([`RunId`]), wherever it is moved.
//!
//! A day is planned by itself, so that an agent which begins after months does not begin with the first of them. A run that would not end
//! before its day does is left out.

mod demand;
pub mod packing;
mod renumber;
#[cfg(test)]
mod tests;

use crate::chance::Dice;
use crate::file::{FleetFile, MeasureSpec, Pairs};
use crate::{Day, Moment, Name, RunId};
use packing::{Jobs, Place};
pub use renumber::Renumber;
use std::time::Duration;

/// A file whose pairs are known.
#[derive(Clone, Debug)]
pub struct Plan {
    file: FleetFile,
    /// Of each measurement.
    pairs: Vec<Vec<[u32; 2]>>,
    /// Of each link: which hosts are behind it, or at its one end and its other.
    sides: Vec<Vec<Side>>,
}

/// Where a host stands towards a link.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Side {
    here: bool,
    there: bool,
}

/// A run of the schedule. Numbers are those of the file's lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Planned {
    /// The measurement.
    pub measure: u32,
    /// The host that measures.
    pub from: u32,
    /// The host that it measures towards.
    pub to: u32,
    /// When the file asks for it.
    pub instant: Moment,
    /// When it begins.
    pub begins: Moment,
}

/// Why a run is left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LeftOut {
    /// Its hosts or links are taken for longer than it may wait.
    NoRoom,
    /// Its hosts or links have spent what they may have a day.
    NoBudget,
}

/// What is planned for a day.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// By when they begin.
    pub runs: Vec<Planned>,
    /// What finds no room, with the beginning that the file asks for.
    pub left_out: Vec<(Planned, LeftOut)>,
}

impl Plan {
    /// The file that it is of.
    pub const fn file(&self) -> &FleetFile {
        &self.file
    }

    /// That of `file`.
    pub fn new(file: FleetFile) -> Self {
        let pairs = file.measures.iter().map(|measure| pairs(&file, measure));
        let sides = file.links.iter().map(|link| {
            let select = |names: &[Name]| file.select(names).unwrap_or_default();
            let mut sides = vec![Side::default(); file.hosts.len()];
            let [here, there] = if let Some([here, there]) = &link.between {
                [select(here), select(there)]
            } else {
                let behind = select(&link.behind);
                let all = 0..u32::try_from(file.hosts.len()).unwrap_or(u32::MAX);
                let others = all.filter(|host| !behind.contains(host)).collect();
                [behind, others]
            };
            for host in here {
                sides[host as usize].here = true;
            }
            for host in there {
                sides[host as usize].there = true;
            }
            sides
        });
        Self {
            pairs: pairs.collect(),
            sides: sides.collect(),
            file,
        }
    }

    /// The measurement of a run.
    pub fn measure(&self, run: &Planned) -> &MeasureSpec {
        &self.file.measures[run.measure as usize]
    }

    /// The name of host `number`.
    pub fn host(&self, number: u32) -> &Name {
        &self.file.hosts[number as usize].name
    }

    /// The identity of a run.
    pub fn id(&self, run: &Planned) -> RunId {
        RunId {
            fleet: self.file.name.clone(),
            measure: self.measure(run).name.clone(),
            from: self.host(run.from).clone(),
            to: self.host(run.to).clone(),
            instant: run.instant,
        }
    }

    /// The names of the links that a run crosses.
    pub fn links(&self, run: &Planned) -> impl Iterator<Item = &Name> {
        let links = self.crossed([run.from, run.to]);
        links.map(|link| &self.file.links[link].name)
    }

    /// Numbers of the links between two hosts.
    fn crossed(&self, [from, to]: [u32; 2]) -> impl Iterator<Item = usize> {
        let sides = self.sides.iter().enumerate();
        let crossed = sides.filter(move |(_, sides)| {
            let (from, to) = (sides[from as usize], sides[to as usize]);
            (from.here && to.there) || (from.there && to.here)
        });
        crossed.map(|(link, _)| link)
    }

    /// The runs of `day` that the file asks for at `since` or later.
    pub fn of(&self, day: Day, since: Moment) -> Schedule {
        let mut asked = self.asked(day, since);
        asked.sort_unstable_by_key(|(order, run)| (run.begins, *order));
        let hosts = self.file.hosts.len();
        let mut jobs = Jobs::default();
        for (_, run) in &asked {
            let measure = self.measure(run);
            let takes = millis(measure.takes.0);
            let begins = run.begins.as_millis();
            let latest = begins.saturating_add(millis(measure.patience().0));
            let last = day.ends().as_millis().saturating_sub(takes);
            let links = self.crossed([run.from, run.to]);
            let links = links.map(|link| u32::try_from(hosts + link).unwrap_or(u32::MAX));
            let octets = measure.octets.map_or(0, units::Bytes::get);
            jobs.push(
                [begins, latest.min(last), takes],
                measure.is_load(),
                octets,
                [run.from, run.to].into_iter().chain(links),
            );
        }
        let of_hosts = self.file.hosts.iter().map(|host| host.daily);
        let budgets = of_hosts.chain(self.file.links.iter().map(|link| link.daily));
        let budgets: Vec<_> = budgets.map(|daily| daily.map(units::Bytes::get)).collect();
        let mut schedule = Schedule::default();
        for ((_, run), place) in asked.into_iter().zip(jobs.place(&budgets)) {
            match place {
                Place::At(at) => schedule.runs.push(Planned {
                    begins: Moment::from_millis(at),
                    ..run
                }),
                Place::NoRoom => schedule.left_out.push((run, LeftOut::NoRoom)),
                Place::NoBudget => schedule.left_out.push((run, LeftOut::NoBudget)),
            }
        }
        schedule.runs.sort_by_key(|run| run.begins);
        schedule
    }

    /// What the file asks for, with a number for each by which those of one instant are put in order.
    fn asked(&self, day: Day, since: Moment) -> Vec<(u64, Planned)> {
        let mut asked = Vec::new();
        for (number, (measure, pairs)) in (0..).zip(self.file.measures.iter().zip(&self.pairs)) {
            let is_random = matches!(measure.pairs, Pairs::Random(_));
            // With random pairs there is one sequence of instants, and a pair is drawn for each.
            let sequences = if is_random { 1 } else { pairs.len() };
            let calendar = measure.cron.as_ref().map(|cron| cron.of(day));
            for index in 0..sequences {
                let names = pairs[index].map(|host| self.host(host).as_str());
                let of = if is_random { [""; 2] } else { names };
                let purpose = [measure.name.as_str(), of[0], of[1]];
                let mut dice = Dice::new(self.file.seed, &purpose, day.begins().as_millis());
                let instants = match &calendar {
                    Some(calendar) => by_calendar(measure, calendar),
                    None => instants(measure, day, &mut dice),
                };
                for instant in instants {
                    let drawn = if is_random {
                        usize::try_from(dice.below(pairs.len() as u64)).unwrap_or(0)
                    } else {
                        index
                    };
                    let [from, to] = pairs[drawn];
                    let run = Planned {
                        measure: number,
                        from,
                        to,
                        instant,
                        begins: instant,
                    };
                    // Drawn for each run: who comes second at every instant would be left out at every instant.
                    let order = dice.below(u64::MAX);
                    if instant >= since {
                        asked.push((order, run));
                    }
                }
            }
        }
        asked
    }
}

/// Whom a measurement takes place between.
fn pairs(file: &FleetFile, measure: &MeasureSpec) -> Vec<[u32; 2]> {
    let select = |names: &[Name]| file.select(names).unwrap_or_default();
    let (from, to) = match &measure.pairs {
        Pairs::Mesh(hosts) | Pairs::Random(hosts) => (select(hosts), select(hosts)),
        Pairs::Star(star) => (
            select(std::slice::from_ref(&star.centre)),
            select(&star.hosts),
        ),
        Pairs::Between(between) => (select(&between.from), select(&between.to)),
    };
    let to = &to;
    let all = from
        .iter()
        .flat_map(|from| to.iter().map(|to| [*from, *to]));
    all.filter(|[from, to]| from != to).collect()
}

/// The instants of a day at which a pair is to be measured: as many as it may have.
fn instants(measure: &MeasureSpec, day: Day, dice: &mut Dice) -> Vec<Moment> {
    let mut instants = Vec::new();
    let Some(interval) = measure.interval() else {
        return instants;
    };
    let most = most_a_day(measure);
    let mut after = match measure.every {
        Some(_) => Some(measure.phase.unwrap_or_default().0),
        None => dice.exponential(interval.0),
    };
    // Nanoseconds are added up, so that rounding to milliseconds does not.
    while let Some(passed) = after.filter(|passed| day.begins() + *passed < day.ends()) {
        let instant = day.begins() + passed;
        if is_within(measure, instant) {
            if instants.len() == most {
                break;
            }
            instants.push(instant);
        }
        let step = match measure.every {
            Some(every) => Some(every.0),
            None => dice.exponential(interval.0),
        };
        after = step.and_then(|step| passed.checked_add(step));
    }
    instants
}

/// Those of its calendar, which has all of a day.
fn by_calendar(measure: &MeasureSpec, calendar: &[Moment]) -> Vec<Moment> {
    let within = calendar
        .iter()
        .filter(|instant| is_within(measure, **instant));
    within.copied().take(most_a_day(measure)).collect()
}

/// Runs that a pair may have a day.
fn most_a_day(measure: &MeasureSpec) -> usize {
    match (measure.daily, measure.octets) {
        (Some(daily), Some(octets)) => {
            usize::try_from(daily.get() / octets.get().max(1)).unwrap_or(usize::MAX)
        }
        _ => usize::MAX,
    }
}

/// Whether `instant` lies in one of its windows.
fn is_within(measure: &MeasureSpec, instant: Moment) -> bool {
    let mut windows = measure.windows.iter();
    measure.windows.is_empty() || windows.any(|window| window.holds(instant.time_of_day()))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
