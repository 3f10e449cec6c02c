//! What is known of fleets and agents, and the pages that are made of it.

use super::board::Board;
use super::{history, html, matrix, overview};
use crate::account::{Counts, overdue};
use crate::estimates::Estimates;
use crate::messages::Presence;
use crate::outcome::HandedOver;
use crate::revisions::{Document, Revisions, Whose};
use crate::verbs::Program;
use crate::{Moment, Name};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The time of which it is said what is missing.
const RECENT: Duration = Duration::from_secs(3_600);

/// Clocks may be apart by so much.
const AHEAD: Duration = Duration::from_secs(3_600);

/// Outcomes that wait for a newer revision; of more the oldest go.
const MOST_UNPLANNED: usize = 100;

/// A fleet: what is planned, and what became of it.
pub(super) struct Fleet {
    pub(super) revisions: Revisions,
    pub(super) board: Board,
}

/// See the module.
#[derive(Default)]
pub(super) struct State {
    pub(super) fleets: BTreeMap<Name, Fleet>,
    pub(super) agents: Vec<Presence>,
    pub(super) estimates: Estimates,
    /// Outcomes of runs that no revision plans which is known: a newer one may.
    unplanned: VecDeque<HandedOver>,
    /// What cannot be had from NATS at this time, and why.
    pub(super) troubles: BTreeMap<&'static str, String>,
}

impl State {
    /// Takes the revisions of a fleet; those that are known, or that this version does not understand, change nothing.
    /// Of a fleet that is new all is known from `since` on.
    pub(super) fn revise(&mut self, name: Name, kept: Vec<(u64, Document)>, since: Moment) {
        let fleet = self.fleets.entry(name).or_insert_with(|| Fleet {
            revisions: Revisions::new(Whose::All),
            board: Board::new(since),
        });
        for (_, document) in kept {
            let _ = fleet.revisions.push(document);
        }
    }

    /// Takes an outcome as it was handed over by `now`, of a run that the fleet may have planned; another one waits for a revision that does.
    pub(super) fn take(&mut self, told: HandedOver, program: Program, now: Moment) {
        let run = &told.outcome.run;
        if run.instant > now + AHEAD {
            return;
        }
        let fleet = self.fleets.get_mut(&run.fleet);
        let Some(fleet) = fleet.filter(|fleet| fleet.revisions.may_plan(run)) else {
            if self.unplanned.len() >= MOST_UNPLANNED {
                self.unplanned.pop_front();
            }
            return self.unplanned.push_back(told);
        };
        if fleet.revisions.is_forged(&told) {
            fleet.board.take_forged(told.outcome.run);
        } else {
            let thresholds = fleet.revisions.thresholds(run);
            let register = program.register;
            fleet.board.take(&told.outcome, register, thresholds);
            self.estimates.take(&told.outcome, now);
        }
    }
}

impl State {
    /// Takes once more what no revision planned that was known before; what none plans now is dropped.
    pub(super) fn take_again(&mut self, program: Program, now: Moment) {
        for told in std::mem::take(&mut self.unplanned) {
            self.take(told, program, now);
        }
        self.unplanned.clear();
    }
}

/// `span` before `moment`.
pub(super) fn back(moment: Moment, span: Duration) -> Moment {
    let span = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    Moment::from_millis(moment.as_millis().saturating_sub(span))
}

/// The pages above those of a fleet.
pub(super) fn above(fleet: &Name) -> [(&str, String); 2] {
    [
        ("Fleets", "/".to_owned()),
        (fleet.as_str(), format!("/fleet/{fleet}")),
    ]
}

/// The page at a path, as things are at `now`.
pub(super) fn page(state: &mut State, parts: &[&str], now: Moment) -> Option<String> {
    let troubles = state.troubles.iter().map(|(what, why)| {
        let why = html::escape(why);
        format!("<p class=\"warning\">No new {what} from NATS: {why}</p>\n")
    });
    let trouble: String = troubles.collect();
    let name = |text: &str| text.parse::<Name>().ok();
    match parts {
        [""] => {
            let fleets: Vec<_> = state.fleets.iter().map(line).collect();
            let content = overview::content(&fleets, &state.agents, now);
            Some(html::page("Fleets", &[], &(trouble + &content)))
        }
        ["fleet", fleet] => {
            let fleet = name(fleet)?;
            let content = state.fleet(&fleet, now)?;
            Some(html::page(
                fleet.as_str(),
                &above(&fleet)[..1],
                &(trouble + &content),
            ))
        }
        ["fleet", fleet, measure, from, to] => {
            let (fleet, measure, ends) = (name(fleet)?, name(measure)?, [name(from)?, name(to)?]);
            let board = &state.fleets.get(&fleet)?.board;
            let pair = history::Pair {
                fleet: &fleet,
                measure: &measure,
                ends: &ends,
                now,
                since: board.since,
            };
            let measured = board.measures.get(&measure)?;
            let content = history::content(&pair, measured)?;
            let title = format!("{measure} from {} to {}", ends[0], ends[1]);
            Some(html::page(&title, &above(&fleet), &(trouble + &content)))
        }
        _ => None,
    }
}

fn line<'a>((name, fleet): (&'a Name, &Fleet)) -> overview::Line<'a> {
    let pairs = || {
        fleet
            .board
            .measures
            .values()
            .flat_map(|measured| measured.pairs.values())
    };
    let last = pairs().filter_map(|runs| runs.values().next_back());
    overview::Line {
        fleet: name,
        paused: fleet.revisions.latest().is_some_and(|latest| latest.paused),
        measures: fleet.board.measures.len(),
        pairs: pairs().count(),
        bad: last.filter(|told| told.look().is_bad()).count(),
    }
}

impl State {
    fn fleet(&mut self, name: &Name, now: Moment) -> Option<String> {
        let fleet = self.fleets.get_mut(name)?;
        let file = fleet
            .revisions
            .latest()
            .map(|latest| crate::file::FleetFile::parse(&latest.file, "the fleet file"));
        let hosts = file
            .and_then(Result::ok)
            .map_or_else(Vec::new, |file| file.hosts);
        let is_there = |host: &Name| self.agents.iter().any(|agent| agent.name == *host);
        let absent: Vec<Name> = hosts
            .iter()
            .map(|host| host.name.clone())
            .filter(|host| !is_there(host))
            .collect();
        let since = fleet.board.since;
        let length = RECENT.min(now.since(since));
        let about = matrix::About {
            fleet: name,
            paused: fleet.revisions.latest().is_some_and(|latest| latest.paused),
            hosts: hosts.len(),
            absent: &absent,
            recent: (length, recent(fleet, [back(now, length), now])),
            now,
            since,
        };
        Some(matrix::content(&about, &fleet.board))
    }
}

/// What became of the runs that were to begin in this time.
fn recent(fleet: &mut Fleet, [from, now]: [Moment; 2]) -> Counts {
    let mut counts = Counts::default();
    for due in fleet.revisions.between(from, now) {
        let run = due.id();
        // One that was moved to a later time may have been forgotten.
        if run.instant >= fleet.board.since {
            counts.add_run(fleet.board.status(&run), now > overdue(&due));
        }
    }
    for _ in fleet.revisions.left_out(from, now) {
        counts.add_left_out();
    }
    counts
}
