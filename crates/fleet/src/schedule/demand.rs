//! Runs that somebody asks for now, beside those of the schedule.
//!
//! The file says which measurements may be had so (`on_demand`). Leases keep such a run and those of the schedule apart, as they keep runs of
//! two fleets apart; budgets hold for both together.

use super::{Plan, Planned, is_within, most_a_day};
use crate::{Name, RunId};
use units::Bytes;

impl Plan {
    /// The run `id` on demand, which begins at its instant.
    ///
    /// # Errors
    /// In one line, why the file does not have it.
    pub fn on_demand(&self, id: &RunId) -> Result<Planned, String> {
        let run = self.at_its_instant(id)?;
        let (fleet, measure) = (&id.fleet, self.measure(&run));
        let name = &measure.name;
        if !measure.on_demand {
            return Err(format!(
                "measure '{name}' of fleet '{fleet}' is not taken on demand - add on_demand = true to it"
            ));
        }
        if !is_within(measure, id.instant) {
            return Err(format!(
                "measure '{name}' of fleet '{fleet}' is not taken at this time of day - see its 'windows'"
            ));
        }
        Ok(run)
    }

    /// The run `id` as if nothing could move it.
    ///
    /// # Errors
    /// In one line, why this file cannot have it.
    pub fn at_its_instant(&self, id: &RunId) -> Result<Planned, String> {
        let RunId {
            fleet,
            measure: name,
            from,
            to,
            instant,
        } = id;
        let mut measures = (0..).zip(&self.file.measures);
        let found = measures.find(|(_, measure)| measure.name == *name);
        let Some((number, _)) = found else {
            return Err(format!("fleet '{fleet}' has no measure '{name}'"));
        };
        let number_of = |host: &Name| (0..).zip(&self.file.hosts).find(|(_, of)| of.name == *host);
        let ends = number_of(from).zip(number_of(to));
        let ends = ends.map(|((from, _), (to, _))| [from, to]);
        let pairs = &self.pairs[number as usize];
        let Some([from, to]) = ends.filter(|ends| pairs.contains(ends)) else {
            return Err(format!(
                "measure '{name}' of fleet '{fleet}' is not taken from '{from}' to '{to}' - see its 'pairs'"
            ));
        };
        Ok(Planned {
            measure: number,
            from,
            to,
            instant: *instant,
            begins: *instant,
        })
    }

    /// Whether `run` counts against a budget.
    pub fn has_budget(&self, run: &Planned) -> bool {
        self.measure(run).daily.is_some() || self.budgets(run).next().is_some()
    }

    /// What has too little left for `run` beside the `others` of its day, in one line.
    pub fn without_budget(&self, run: &Planned, others: &[Planned]) -> Option<String> {
        let octets = |run: &Planned| self.measure(run).octets.unwrap_or(Bytes::ZERO).get();
        for (name, daily, is_of) in self.budgets(run) {
            let others = others.iter().filter(|other| is_of(other));
            let taken = others.map(octets).fold(0, u64::saturating_add);
            if taken.saturating_add(octets(run)) > daily.get() {
                return Some(format!(
                    "{name} has a budget of {daily} a day, of which {} are planned or used - raise 'daily', or ask after midnight UTC",
                    Bytes::new(taken)
                ));
            }
        }
        let is_same = |other: &&Planned| {
            (other.measure, other.from, other.to) == (run.measure, run.from, run.to)
        };
        let measure = self.measure(run);
        (others.iter().filter(is_same).count() >= most_a_day(measure)).then(|| {
            format!(
                "this pair has had its {} runs of '{}' today - raise 'daily', or ask after midnight UTC",
                most_a_day(measure),
                measure.name
            )
        })
    }

    /// The budgets of the hosts and links of a run, and whether another one counts against the same.
    fn budgets<'a>(&'a self, run: &'a Planned) -> impl Iterator<Item = Budget<'a>> {
        let hosts = [run.from, run.to].into_iter().filter_map(|host| {
            let daily = self.file.hosts[host as usize].daily?;
            let is_of: IsOf = Box::new(move |other| [other.from, other.to].contains(&host));
            Some((format!("host '{}'", self.host(host)), daily, is_of))
        });
        let links = self.crossed([run.from, run.to]).filter_map(move |link| {
            let spec = &self.file.links[link];
            let is_of: IsOf = Box::new(move |other| {
                let mut crossed = self.crossed([other.from, other.to]);
                crossed.any(|other| other == link)
            });
            Some((format!("link '{}'", spec.name), spec.daily?, is_of))
        });
        hosts.chain(links)
    }
}

type IsOf<'a> = Box<dyn Fn(&Planned) -> bool + 'a>;
type Budget<'a> = (String, Bytes, IsOf<'a>);
