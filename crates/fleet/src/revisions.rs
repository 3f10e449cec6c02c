//! A fleet over time: each time its file is applied, paused or resumed there is a **revision**, which holds from a moment on.
//!
//! A revision plans the runs that are asked for while it holds and that begin while it does. So no run is in two of them, and what was
//! planned at any time in the past can be told from the revisions alone.

use crate::file::{FileError, FleetFile, PATIENCE, Threshold};
use crate::outcome::HandedOver;
use crate::schedule::{LeftOut, Plan, Planned};
use crate::{Day, Moment, Name, PublicKey, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A revision as it is kept.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Document {
    /// The text of the fleet file.
    pub file: String,
    /// From when on it holds.
    pub since: Moment,
    /// Whether nothing is to be measured.
    pub paused: bool,
}

/// A run, and the plan that it is of.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its plan.
    pub plan: Arc<Plan>,
    /// When it begins, and between whom.
    pub run: Planned,
    /// Whether an operator asks for it, and not the schedule.
    pub is_on_demand: bool,
}

impl Due {
    /// Its identity.
    pub fn id(&self) -> RunId {
        self.plan.id(&self.run)
    }

    /// By how much it may begin late. Whoever asks for a run now waits for it: no period, which may be a day, but a minute.
    pub fn patience(&self) -> Duration {
        let measure = self.plan.measure(&self.run);
        if self.is_on_demand {
            measure.patience.unwrap_or(PATIENCE).0
        } else {
            measure.patience().0
        }
    }

    /// When it is over at the latest: after its patience, and the time that it takes.
    pub fn over_by(&self) -> Moment {
        self.run.begins + self.patience() + self.plan.measure(&self.run).takes.0
    }
}

/// Whose runs are kept in mind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Whose {
    /// Everybody's.
    All,
    /// Those in which this host takes part.
    Of(Name),
}

/// The revisions of one fleet, in the order of time.
#[derive(Debug)]
pub struct Revisions {
    whose: Whose,
    revisions: Vec<Revision>,
}

#[derive(Debug)]
struct Revision {
    document: Document,
    /// Whose signature outcomes must have, by the host that measures.
    keys: BTreeMap<Name, PublicKey>,
    /// None while the fleet is paused.
    plan: Option<Arc<Plan>>,
    /// The days that have been asked for.
    days: BTreeMap<Day, DayRuns>,
}

/// What is kept of a day.
#[derive(Debug, Default)]
struct DayRuns {
    /// By when they begin.
    runs: Vec<Planned>,
    left_out: Vec<(Planned, LeftOut)>,
}

/// Days that are kept in mind.
const MOST_DAYS: usize = 3;

impl Revisions {
    /// Those of a fleet that has none yet.
    pub const fn new(whose: Whose) -> Self {
        Self {
            whose,
            revisions: Vec::new(),
        }
    }

    /// Takes a revision that is later than all others; one that is not is known already, and changes nothing.
    ///
    /// # Errors
    /// When its file is none that this version can carry out.
    pub fn push(&mut self, document: Document) -> Result<bool, FileError> {
        let last = self.revisions.last().map(|last| last.document.since);
        if last.is_some_and(|last| last >= document.since) {
            return Ok(false);
        }
        let file = FleetFile::parse(&document.file, "the fleet file")?;
        let keys = file.hosts.iter();
        let keys = keys.filter_map(|host| Some((host.name.clone(), host.key.clone()?)));
        let keys = keys.collect();
        let plan = (!document.paused).then(|| Arc::new(Plan::new(file)));
        self.revisions.push(Revision {
            document,
            keys,
            plan,
            days: BTreeMap::new(),
        });
        Ok(true)
    }

    /// The one that holds now.
    pub fn latest(&self) -> Option<&Document> {
        self.revisions.last().map(|revision| &revision.document)
    }

    /// All of them, the oldest first.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.revisions.iter().map(|revision| &revision.document)
    }

    /// Whether an outcome lacks the signature that its host's outcomes must have, by the revision that planned it. That follows from the
    /// run's name: what else the outcome says, whoever made it could choose.
    pub fn is_forged(&self, told: &HandedOver) -> bool {
        let run = &told.outcome.run;
        let revision = self.of(run.instant).or_else(|| self.revisions.first());
        let key = revision.and_then(|revision| revision.keys.get(&run.from));
        key.is_some_and(|key| told.signer.as_ref() != Some(key))
    }

    /// Whether `run` is of a measurement and between hosts of the revision that held at its instant.
    pub fn may_plan(&self, run: &RunId) -> bool {
        self.plan(run.instant).is_some_and(|plan| {
            let file = plan.file();
            let has = |name: &Name| file.hosts.iter().any(|host| host.name == *name);
            file.measures
                .iter()
                .any(|measure| measure.name == run.measure)
                && has(&run.from)
                && has(&run.to)
        })
    }

    /// The run `id` on demand, by the revision that holds at its instant.
    ///
    /// # Errors
    /// In one line, why it cannot be had.
    pub fn on_demand(&self, id: &RunId) -> Result<Due, String> {
        let plan = self.plan(id.instant);
        let plan = plan.ok_or_else(|| {
            let fleet = &id.fleet;
            format!(
                "fleet '{fleet}' is paused, or was applied this moment - 'isobath fleet status' shows which"
            )
        })?;
        let run = plan.on_demand(id)?;
        Ok(Due {
            plan: Arc::clone(plan),
            run,
            is_on_demand: true,
        })
    }

    /// The plan that holds at a moment, unless the fleet is paused.
    pub fn plan(&self, at: Moment) -> Option<&Arc<Plan>> {
        self.of(at)?.plan.as_ref()
    }

    /// What the figures of `run` are held against.
    pub fn thresholds(&self, run: &RunId) -> &[Threshold] {
        let plan = self.plan(run.instant).into_iter();
        let mut measures = plan.flat_map(|plan| &plan.file().measures);
        let measure = measures.find(|measure| measure.name == run.measure);
        measure.map_or(&[], |measure| &measure.thresholds)
    }

    /// The one that holds at a moment.
    fn of(&self, at: Moment) -> Option<&Revision> {
        let mut earlier = self.revisions.iter().rev();
        earlier.find(|revision| revision.document.since <= at)
    }

    /// The runs that begin from `from` to before `to`, in the order of time.
    pub fn between(&mut self, from: Moment, to: Moment) -> Vec<Due> {
        let mut due = Vec::new();
        self.each(from, to, |plan, day, [from, to], since| {
            let runs = day.runs.iter();
            let wanted =
                runs.filter(|run| (from..to).contains(&run.begins) && run.instant >= since);
            due.extend(wanted.map(|run| Due {
                plan: Arc::clone(plan),
                run: *run,
                is_on_demand: false,
            }));
        });
        due
    }

    /// What finds no room of the days from `from` to `to`, if the file asks for it in that time.
    pub fn left_out(&mut self, from: Moment, to: Moment) -> Vec<(Due, LeftOut)> {
        let mut left_out = Vec::new();
        self.each(from, to, |plan, day, [from, to], _| {
            let runs = day.left_out.iter();
            let wanted = runs.filter(|(run, _)| (from..to).contains(&run.instant));
            left_out.extend(wanted.map(|(run, why)| {
                let plan = Arc::clone(plan);
                let due = Due {
                    plan,
                    run: *run,
                    is_on_demand: false,
                };
                (due, *why)
            }));
        });
        left_out
    }

    /// The next run after `now`, within a day.
    pub fn next(&mut self, now: Moment, is_wanted: impl Fn(&Due) -> bool) -> Option<Due> {
        let horizon = now + Duration::from_secs(86_400);
        let mut from = now;
        // Most often it is soon, and the rest of a busy day need not be copied.
        for span in [60, 3_600, 86_400].map(Duration::from_secs) {
            let to = horizon.min(now + span);
            let found = self.between(from, to).into_iter().find(&is_wanted);
            if found.is_some() {
                return found;
            }
            from = to;
        }
        None
    }

    fn each(
        &mut self,
        from: Moment,
        to: Moment,
        mut take: impl FnMut(&Arc<Plan>, &DayRuns, [Moment; 2], Moment),
    ) {
        let whose = self.whose.clone();
        let ends: Vec<_> = self
            .revisions
            .iter()
            .skip(1)
            .map(|next| next.document.since)
            .collect();
        let ends = ends.into_iter().chain([Moment::from_millis(u64::MAX)]);
        for (revision, end) in self.revisions.iter_mut().zip(ends) {
            let since = revision.document.since;
            let (from, to) = (from.max(since), to.min(end));
            let Some(plan) = revision.plan.clone().filter(|_| from < to) else {
                continue;
            };
            let mut day = from.day();
            while day.begins() < to {
                take(&plan, revision.day(&plan, day, &whose), [from, to], since);
                day = day.next();
            }
        }
    }
}

impl Revision {
    fn day(&mut self, plan: &Plan, day: Day, whose: &Whose) -> &DayRuns {
        while self.days.len() >= MOST_DAYS && !self.days.contains_key(&day) {
            self.days.pop_first();
        }
        let since = self.document.since;
        self.days.entry(day).or_insert_with(|| {
            let schedule = plan.of(day, since);
            let is_wanted = |run: &Planned| match whose {
                Whose::All => true,
                Whose::Of(host) => [run.from, run.to].iter().any(|end| plan.host(*end) == host),
            };
            let mut day = DayRuns {
                runs: schedule.runs,
                left_out: schedule.left_out,
            };
            day.runs.retain(is_wanted);
            day.left_out.retain(|(run, _)| is_wanted(run));
            day
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;
    use crate::outcome::{Became, Outcome, Times};
    use std::collections::HashSet;

    fn at(text: &str) -> Moment {
        format!("2026-11-25T{text}Z").parse().unwrap()
    }

    fn document(every: &str, since: &str, paused: bool) -> Document {
        let file = format!(
            "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[host]]\nname = 'c'\n\
             [[measure]]\nname = 'm'\nrun = 'btc'\npairs = {{ mesh = ['all'] }}\ntakes = '20s'\nevery = '{every}'"
        );
        Document {
            file,
            since: at(since),
            paused,
        }
    }

    fn hours(revisions: &mut Revisions) -> Vec<String> {
        let all = revisions.between(at("00:00:00"), at("23:59:00"));
        let mut hours: Vec<_> = all
            .iter()
            .map(|due| due.run.instant.compact()[9..15].to_owned())
            .collect();
        hours.dedup();
        hours
    }

    #[test]
    fn each_revision_plans_what_is_asked_for_and_begins_while_it_holds() {
        let mut revisions = Revisions::new(Whose::All);
        assert!(revisions.push(document("2h", "03:00:00", false)).unwrap());
        assert_eq!(hours(&mut revisions)[..2], ["040000", "060000"]);
        assert!(revisions.push(document("2h", "06:00:30", true)).unwrap());
        assert!(!revisions.push(document("1h", "05:00:00", true)).unwrap());
        assert!(revisions.push(document("5h", "13:00:00", false)).unwrap());
        assert_eq!(
            hours(&mut revisions),
            ["040000", "060000", "150000", "200000"]
        );
        // Of the six runs of six o'clock, which take 20 s each, two had begun when the fleet was paused.
        let of_six = revisions.between(at("06:00:00"), at("07:00:00"));
        assert_eq!(of_six.len(), 2);
    }

    #[test]
    fn an_outcome_needs_the_signature_that_held_when_it_was_planned() {
        let place = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| {
            let identity = Identity::read_or_make(&place.path().join(name));
            identity.unwrap().public()
        });
        let mut revisions = Revisions::new(Whose::All);
        for (key, since) in [
            (None, "01:00:00"),
            (Some(&old), "02:00:00"),
            (Some(&new), "03:00:00"),
        ] {
            let mut document = document("1h", since, false);
            if let Some(key) = key {
                let keyed = format!("name = 'a'\nkey = '{key}'");
                document.file = document.file.replacen("name = 'a'", &keyed, 1);
            }
            assert!(revisions.push(document).unwrap());
        }
        let is_forged = |planned: &str, from: &str, signer: Option<&PublicKey>| {
            let run = format!("mesh.rtt.{from}.c.{}", at(planned).compact());
            // Whoever forges says what suits him.
            let times = Times {
                planned: Moment::from_millis(0),
                began: None,
                ended: at(planned),
            };
            let reason = String::new();
            let outcome =
                Outcome::without_record(run.parse().unwrap(), None, times, Became::Missed, reason);
            revisions.is_forged(&HandedOver {
                outcome,
                signer: signer.cloned(),
            })
        };
        assert!(
            !is_forged("00:30:00", "a", None),
            "nothing was planned then"
        );
        assert!(!is_forged("01:30:00", "a", None), "no key then");
        assert!(!is_forged("02:30:00", "a", Some(&old)));
        assert!(is_forged("02:30:00", "a", Some(&new)) && is_forged("02:30:00", "a", None));
        assert!(!is_forged("03:00:00", "a", Some(&new)));
        assert!(is_forged("03:00:00", "a", Some(&old)));
        assert!(!is_forged("03:00:00", "b", None), "a host without a key");
    }

    #[test]
    fn an_unchanged_file_keeps_its_runs_and_a_host_knows_its_own() {
        let ids = |mut revisions: Revisions| -> HashSet<RunId> {
            let all = revisions.between(at("00:00:00"), at("23:59:00"));
            all.iter().map(Due::id).collect()
        };
        let mut one = Revisions::new(Whose::All);
        one.push(document("1h", "00:00:00", false)).unwrap();
        let mut two = Revisions::new(Whose::All);
        two.push(document("1h", "00:00:00", false)).unwrap();
        two.push(document("1h", "09:30:00", false)).unwrap();
        let all = ids(one);
        assert_eq!(all, ids(two));
        let mut own = Revisions::new(Whose::Of("a".parse().unwrap()));
        own.push(document("1h", "00:00:00", false)).unwrap();
        let next = own.next(at("10:30:00"), |due| {
            due.plan.host(due.run.from).as_str() == "a"
        });
        assert_eq!(next.unwrap().run.instant, at("11:00:00"));
        let own = ids(own);
        assert_eq!(own.len(), all.len() * 4 / 6);
        assert!(own.is_subset(&all));
    }
}
