//! What a fleet file must be so that it can be carried out.

use super::{FleetFile, LinkSpec, MeasureSpec, Pairs, Threshold};
use crate::Name;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use units::{Bytes, Span};

/// Runs of a day at most: a day's schedule is made in memory.
const MOST_RUNS: u128 = 2_000_000;
/// Hosts among which pairs are drawn: all pairs are kept in memory.
const MOST_DRAWN: u128 = 1_000;
/// Hosts, links and measurements at most.
const MOST_ENTRIES: usize = 20_000;
const SHORTEST: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);
/// Verbs that measure from one host towards another and leave a record.
const VERBS: [&str; 4] = ["rrul", "btc", "mbm", "estimate"];
/// What the agent says itself, and what would write or open something else on its host.
const TAKEN: [&str; 8] = [
    "--key", "--out", "-o", "--lab", "--json", "--live", "--ndjson", "--by",
];

impl FleetFile {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.hosts.len() < 2 {
            return Err("it has fewer than two hosts - add a [[host]] for each agent".to_owned());
        }
        let entries = self.hosts.len() + self.links.len() + self.measures.len();
        if entries > MOST_ENTRIES {
            return Err(format!(
                "{entries} hosts, links and measurements - at most {MOST_ENTRIES} are possible"
            ));
        }
        unique("host", self.hosts.iter().map(|host| &host.name))?;
        unique("link", self.links.iter().map(|link| &link.name))?;
        unique("measure", self.measures.iter().map(|measure| &measure.name))?;
        self.check_tags()?;
        for link in &self.links {
            self.check_link(link)
                .map_err(|what| format!("link '{}': {what}", link.name))?;
        }
        let mut runs = 0;
        for measure in &self.measures {
            let of = |what| format!("measure '{}': {what}", measure.name);
            measure.check().map_err(of)?;
            self.check_budgets(measure).map_err(of)?;
            runs += self.runs_a_day(measure).map_err(of)?;
        }
        if runs > MOST_RUNS {
            return Err(format!(
                "{runs} runs a day - at most {MOST_RUNS} can be planned: raise 'every', measure fewer pairs, or split the fleet"
            ));
        }
        Ok(())
    }

    /// A tag that is also a host's name would select who knows what.
    fn check_tags(&self) -> Result<(), String> {
        let hosts: BTreeSet<_> = self.hosts.iter().map(|host| &host.name).collect();
        let mut tags = self.hosts.iter().flat_map(|host| &host.tags);
        if let Some(tag) = tags.clone().find(|tag| hosts.contains(tag)) {
            return Err(format!(
                "'{tag}' is both a host and a tag - rename one of them"
            ));
        }
        let mut names = hosts.iter().copied().chain(tags.by_ref());
        match names.find(|name| name.as_str() == super::ALL) {
            Some(name) => Err(format!("'{name}' means every host - choose another name")),
            None => Ok(()),
        }
    }

    fn check_link(&self, link: &LinkSpec) -> Result<(), String> {
        match (&link.between, link.behind.is_empty()) {
            (None, true) => Err(
                "it does not say whose it is - add behind = [..] or between = [[..], [..]]"
                    .to_owned(),
            ),
            (Some(_), false) => Err("it has 'behind' and 'between' - keep one of them".to_owned()),
            (Some([a, b]), true) => self.select(a).and_then(|_| self.select(b)).map(drop),
            (None, false) => self.select(&link.behind).map(drop),
        }
    }

    /// A run that no day has room for never takes place: that is a mistake, and told at once.
    fn check_budgets(&self, measure: &MeasureSpec) -> Result<(), String> {
        let hosts = self
            .hosts
            .iter()
            .map(|host| ("host", &host.name, host.daily));
        let links = self
            .links
            .iter()
            .map(|link| ("link", &link.name, link.daily));
        let pair = [("pair of", &measure.name, measure.daily)];
        let all = hosts.chain(links).chain(pair);
        let budgets = all.filter_map(|(kind, name, daily)| Some((kind, name, daily?)));
        for (kind, name, daily) in budgets {
            let Some(octets) = measure.octets else {
                return Err(format!(
                    "{kind} '{name}' has a budget of {daily} a day - state with octets = \"..\" what one run takes"
                ));
            };
            if octets > daily {
                return Err(format!(
                    "one run takes {octets}, and {kind} '{name}' has a budget of {daily} a day - raise 'daily', or measure less"
                ));
            }
        }
        Ok(())
    }

    /// Runs of `measure` in a day without windows and budgets.
    fn runs_a_day(&self, measure: &MeasureSpec) -> Result<u128, String> {
        let pairs = match &measure.pairs {
            Pairs::Mesh(hosts) => {
                let count = self.some(hosts)?;
                count * (count - 1)
            }
            Pairs::Random(hosts) => {
                let count = self.some(hosts)?;
                if count > MOST_DRAWN {
                    return Err(format!(
                        "random pairs are drawn from at most {MOST_DRAWN} hosts, not {count} - split the measure"
                    ));
                }
                1
            }
            Pairs::Star(star) => {
                if !self.hosts.iter().any(|host| host.name == star.centre) {
                    return Err(format!(
                        "centre '{}' is no host - name one [[host]]",
                        star.centre
                    ));
                }
                self.select(&star.hosts)?.len() as u128
            }
            Pairs::Between(between) => {
                let (from, to) = (self.select(&between.from)?, self.select(&between.to)?);
                (from.len() * to.len()) as u128
            }
        };
        // On demand only counts as one a day: all pairs are kept in memory.
        let of_pair = |interval: Span| DAY.as_nanos() / interval.0.as_nanos().max(1);
        Ok(match &measure.cron {
            Some(cron) => pairs * cron.a_day() as u128,
            None => pairs * measure.interval().map_or(1, of_pair),
        })
    }

    /// How many hosts these are: at least two.
    fn some(&self, names: &[Name]) -> Result<u128, String> {
        let count = self.select(names)?.len();
        if count < 2 {
            return Err("'pairs' has fewer than two hosts - add another, or a tag".to_owned());
        }
        Ok(count as u128)
    }
}

impl MeasureSpec {
    fn check(&self) -> Result<(), String> {
        let verb = self.verb();
        if !VERBS.contains(&verb) {
            return Err(format!(
                "run = \"{}\" is no measurement between two hosts - begin with one of {}",
                self.run,
                VERBS.join(", ")
            ));
        }
        self.check_words()?;
        self.check_instants()?;
        let interval = self
            .interval()
            .map(|interval| ("every or poisson", interval));
        for (name, span) in interval.into_iter().chain([("takes", self.takes)]) {
            if span.0 < SHORTEST || span.0 > DAY {
                return Err(format!("{name} is {span} - write 1s to 24h"));
            }
        }
        if self.octets.is_some_and(|octets| octets == Bytes::ZERO) {
            return Err("octets is 0 - write what one run sends and receives".to_owned());
        }
        self.thresholds.iter().try_for_each(Threshold::check)
    }

    /// It says in one way when it is taken.
    fn check_instants(&self) -> Result<(), String> {
        let ways = [
            ("every", self.every.is_some()),
            ("poisson", self.poisson.is_some()),
            ("cron", self.cron.is_some()),
        ];
        let mut said = ways.iter().filter(|(_, is_said)| *is_said);
        match (said.next(), said.next()) {
            (Some((one, _)), Some((other, _))) => {
                Err(format!("it has '{one}' and '{other}' - keep one of them"))
            }
            (None, _) if self.on_demand && self.phase.is_none() => Ok(()),
            (None, _) if self.on_demand => {
                Err("a phase is of 'every', which it does not have - remove 'phase'".to_owned())
            }
            (None, _) => Err(
                "it does not say when - add every = \"..\", poisson = \"..\" or cron = \"..\", or on_demand = true"
                    .to_owned(),
            ),
            (Some(("every", _)), None) => Ok(()),
            (Some((one, _)), None) if self.phase.is_some() => Err(format!(
                "a phase is of 'every', not of '{one}' - remove 'phase'"
            )),
            _ => Ok(()),
        }
    }

    /// Whoever writes fleet files may have agents measure, and no more.
    fn check_words(&self) -> Result<(), String> {
        let words = || self.run.split_whitespace();
        let taken = |word: &&str| TAKEN.contains(&word.split('=').next().unwrap_or_default());
        if let Some(word) = words().find(taken) {
            return Err(format!("{word} in 'run' is set by the agent - remove it"));
        }
        let is_toml = |word: &str| {
            Path::new(word)
                .extension()
                .is_some_and(|kind| kind.eq_ignore_ascii_case("toml"))
        };
        if let Some(word) = words().find(|word| word.contains('/') || is_toml(word)) {
            return Err(format!(
                "{word} in 'run' is a file on the agent's host - use a built-in one by its name"
            ));
        }
        let second = words().nth(1).filter(|word| !word.starts_with('-'));
        match second.filter(|_| self.verb() != "estimate") {
            Some(word) => Err(format!(
                "{word} in 'run' is no option of {} - the agent adds the host",
                self.verb()
            )),
            None => Ok(()),
        }
    }
}

/// Checks that nothing of one kind is there twice.
fn unique<'a>(kind: &str, names: impl Iterator<Item = &'a Name>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!(
                "there are two of [[{kind}]] '{name}' - rename or remove one"
            ));
        }
    }
    Ok(())
}
