//! The runs as they were found, drawn and tabled.

use super::curve::Curve;
use super::kept::{Count, Kept};
use super::measured::{LONG_MS, Measured, Pooled, long_packets};
use super::{CONTROL, Cell, FIDELITY, Mode, Replays, record};
use crate::experiment::Bench;
use crate::experiment::pool::{Outcome, outcome, shown};
use report::Subject;
use report::experiment::{Cell as Entry, Experiment, Table};
use report::replay::{self, Member, Thinned};
use tmix::replay::verify::Fidelity;
use units::Rate;
use vectors::model::Structure;

/// A cell in one mode.
pub(super) struct Group {
    pub(super) cell: Cell,
    pub(super) mode: Mode,
    pub(super) pooled: Pooled,
    /// One of its runs.
    pub(super) record: Option<String>,
    /// The same, to be drawn.
    drawn: Option<Thinned>,
}

#[cfg(test)]
impl Group {
    /// One of no runs.
    pub(super) const fn made_up(cell: Cell, mode: Mode, pooled: Pooled) -> Self {
        Self {
            cell,
            mode,
            pooled,
            record: None,
            drawn: None,
        }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Found {
    pub(super) groups: Vec<Group>,
    pub(super) fidelity: Option<Fidelity>,
    /// Of the constrained links, each of vectors of its own.
    pub(super) rates: Vec<Rate>,
    pub(super) starts_s: f64,
    /// What was over later than this is not played.
    pub(super) longest_s: f64,
    pub(super) kept: Option<Kept>,
    pub(super) invalid: usize,
    pub(super) failed: Vec<String>,
    pub(super) missing: usize,
}

impl Found {
    pub(super) fn of(replays: &Replays, bench: &Bench<'_>) -> anyhow::Result<Self> {
        let fidelity = bench.read(FIDELITY);
        let extent = replays.extent(bench.scale);
        let mut found = Self {
            fidelity: fidelity.and_then(|text| serde_json::from_str(&text).ok()),
            rates: replays
                .hours(bench.scale)
                .filter_map(|hour| hour.known_capacity(bench))
                .collect(),
            starts_s: extent.starts.as_secs_f64(),
            longest_s: if replays.is_simulated() {
                f64::INFINITY
            } else {
                extent.longest.as_secs_f64()
            },
            kept: Kept::known(bench),
            ..Self::default()
        };
        for mode in Mode::ALL {
            for cell in replays.cells() {
                found.look(replays, bench, (cell, mode))?;
            }
        }
        Ok(found)
    }

    fn look(
        &mut self,
        replays: &Replays,
        bench: &Bench<'_>,
        (cell, mode): (Cell, Mode),
    ) -> anyhow::Result<()> {
        let mut runs = Vec::new();
        let (mut record_of, mut drawn) = (None, None);
        for repeat in 0..replays.extent(bench.scale).repeats {
            let hour = replays.hour(repeat);
            let name = record(cell, mode, repeat);
            match outcome(bench, &name) {
                Outcome::Complete(record) => {
                    runs.push(Measured::read(&record, hour)?);
                    if drawn.is_none() {
                        drawn = Thinned::of(&Subject::from(*record))?;
                        record_of = Some(shown(bench, &name));
                    }
                }
                Outcome::Invalid => self.invalid += 1,
                Outcome::Failed(reason) => self.failed.push(format!("{name} ({reason})")),
                Outcome::Missing => self.missing += 1,
            }
        }
        if !runs.is_empty() {
            self.groups.push(Group {
                cell,
                mode,
                pooled: Pooled::of(&runs),
                record: record_of,
                drawn,
            });
        }
        Ok(())
    }

    /// The rate of the constrained link; of several their mean.
    pub(super) fn rate(&self) -> Option<Rate> {
        let sum: u64 = self.rates.iter().map(|rate| rate.as_bps()).sum();
        Rate::from_bps(sum.checked_div(self.rates.len() as u64)?)
    }

    /// What the runs of `cell` say, if there are any.
    pub(super) fn get(&self, cell: Cell, mode: Mode) -> Option<&Pooled> {
        self.group(cell, mode).map(|group| &group.pooled)
    }

    pub(super) fn group(&self, cell: Cell, mode: Mode) -> Option<&Group> {
        let is_it = |group: &&Group| group.cell == cell && group.mode == mode;
        self.groups.iter().find(is_it)
    }

    fn members(
        &self,
        belongs: &dyn Fn(Cell) -> bool,
        name: &dyn Fn(Cell) -> String,
    ) -> Vec<Member> {
        let groups = self.groups.iter().filter(|group| belongs(group.cell));
        let members = groups.filter_map(|group| {
            Some(Member {
                name: name(group.cell),
                mode: Some(group.mode.name().to_owned()),
                found: group.drawn.clone()?,
            })
        });
        members.collect()
    }
}

/// Figures, tables and notes.
pub(super) fn add(mut experiment: Experiment, replays: &Replays, found: &Found) -> Experiment {
    let like = |cell: Cell| Cell {
        structure: CONTROL.structure,
        ..cell
    };
    let by_structure = found.members(&|cell| like(cell) == CONTROL, &|cell| {
        cell.structure.to_string()
    });
    let by_rtt = |structure| {
        let family = move |cell: Cell| {
            Cell {
                rtt: cell.rtt,
                ..Cell::new(structure, cell.rtt)
            } == cell
        };
        found.members(&family, &|cell| cell.rtt.to_string())
    };
    let by_windows = found.members(
        &|cell| {
            Cell {
                windows: CONTROL.windows,
                ..cell
            } == CONTROL
        },
        &|cell| cell.windows.to_string(),
    );
    let families = [
        (
            "structure",
            "the structure",
            "By structure, usernet",
            by_structure,
        ),
        (
            "rtt",
            "the model of round trips",
            "By round trips, a-t-b-t",
            by_rtt(Structure::ATBT),
        ),
        (
            "rtt-block",
            "the model of round trips",
            "By round trips, block-sequential",
            by_rtt(Structure::BlockSequential),
        ),
        (
            "windows",
            "the windows",
            "By windows, a-t-b-t, usernet",
            by_windows,
        ),
    ];
    if let Some(kept) = found.kept.as_ref().filter(|_| !replays.is_simulated()) {
        experiment = experiment.table(played(kept, found.longest_s));
    }
    experiment = experiment.table(table(found));
    for (id, differ, title, members) in families {
        // One model in two modes is no family.
        if members.iter().any(|member| member.name != members[0].name) {
            let figures = replay::figures(id, differ, &members);
            experiment = figures.into_iter().fold(experiment, Experiment::figure);
            experiment = experiment.table(replay::table(title, &members));
        }
    }
    notes(experiment, replays, found)
}

/// What was drawn, and what of it every run plays.
fn played(kept: &Kept, longest_s: f64) -> Table {
    let share = |of: u64, all: u64| of as f64 * 100.0 / all.max(1) as f64;
    let row = |name: &str, of: Count| -> Vec<Entry> {
        vec![
            name.into(),
            of.connections.into(),
            share(of.connections, kept.drawn.connections).into(),
            (of.octets as f64 * 1e-6).into(),
            share(of.octets, kept.drawn.octets).into(),
        ]
    };
    Table::new(format!(
        "What is played: connections that the control ended within {longest_s} s over a free link"
    ))
    .column("", "")
    .column("connections", "")
    .column("share of connections", "%")
    .column("octets of both ends", "MB")
    .column("share of octets", "%")
    .row(row("drawn", kept.drawn))
    .row(row("kept", kept.short))
    .row(row("played, with the warm-up", kept.played))
}

/// Every cell, put together from its runs.
fn table(found: &Found) -> Table {
    let long = found.rate().map_or(f64::NAN, long_packets);
    let columns: [(&str, &str); 21] = [
        ("structure", ""),
        ("round trips", ""),
        ("windows", ""),
        ("mode", ""),
        ("runs", ""),
        ("ended", "connections"),
        ("cut", "connections"),
        ("median duration", "ms"),
        ("80 % take at most", "ms"),
        ("mean of those ended", "ms"),
        ("top 10 % take at least", "ms"),
        ("median response", "ms"),
        ("80 % come within", "ms"),
        ("mean response", "ms"),
        ("top 10 % take at least", "ms"),
        ("octets delivered", "MB"),
        ("load forward", "Mbit/s"),
        ("active connections", ""),
        ("queue empty", "% of time"),
        ("queue above 16 ms", "% of time"),
        ("runs differ by", "points"),
    ];
    let table = Table::new(format!(
        "Every model ({LONG_MS} ms are {long} packets over the constrained link)"
    ));
    let table = columns
        .iter()
        .fold(table, |table, (name, unit)| table.column(*name, *unit));
    found
        .groups
        .iter()
        .fold(table, |table, group| table.row(row(group)))
}

fn row(group: &Group) -> Vec<Entry> {
    let of = &group.pooled;
    let (d, r) = (&of.durations, &of.responses);
    let mean = |curve: &Curve| (curve.ended > 0).then_some(curve.mean);
    let constrained = (of.queue_ms.n() > 0).then(|| of.queue_ms.above(LONG_MS));
    vec![
        group.cell.structure.to_string().into(),
        group.cell.rtt.to_string().into(),
        group.cell.windows.to_string().into(),
        group.mode.name().into(),
        of.runs.into(),
        d.ended.into(),
        d.cut.into(),
        d.quantile(50.0).into(),
        d.quantile(80.0).into(),
        mean(d).into(),
        d.quantile(90.0).into(),
        r.quantile(50.0).into(),
        r.quantile(80.0).into(),
        mean(r).into(),
        r.quantile(90.0).into(),
        (of.octets * 1e-6).into(),
        of.mbps.into(),
        of.active.into(),
        of.empty_pct.into(),
        constrained.into(),
        of.disagreement.into(),
    ]
}

/// What is played for how long.
fn how(replays: &Replays, found: &Found) -> String {
    let (starts, longest) = (found.starts_s, found.longest_s);
    if replays.is_simulated() {
        return format!(
            "All runs are in virtual time. Connections start for {starts} s, {} of the trace's, none of them left out; what is open at the end is cut, \
             and figures of links are those of the time between warm-up and cool-down, but for the longest time with a queue. Each run of a model plays an hour of its own, drawn by another seed; runs of the same vectors would be identical. The first minute of the first hour is captured.",
            replays.share()
        );
    }
    format!(
        "Connections start for {starts} s, and runs go on until all are over. Played are those that the control ended within {longest} s, so that all models \
         carry the same octets; what lasts longer because it waits, and is most of D's active connections, is left out. Figures are those of the starts \
         after the warm-up, in which as many connections end as start: the warm-up's are those of the window's end once more."
    )
}

/// The rates of the constrained links, in words.
fn rates(found: &Found) -> String {
    if found.rates.is_empty() {
        return "a rate not yet known".to_owned();
    }
    let words: Vec<String> = found.rates.iter().map(|rate| rate.words()).collect();
    words.join(", ")
}

fn notes(mut experiment: Experiment, replays: &Replays, found: &Found) -> Experiment {
    experiment = experiment
        .note(format!(
            "Constrained runs had {}: {} times what the control carried forward. All models had the same; D does likewise.",
            rates(found),
            replays.capacity
        ))
        .note(how(replays, found))
        .note(
            "Durations are from the first octet to the last, unless a case says 'from connect'. A connection that was cut counts as one of at least the time \
             it was seen (product-limit estimate, Kaplan and Meier) in the cases and in the first table; in the figures and the other tables only those that ended do.",
        )
        .note(format!(
            "The vectors are drawn from what is printed of the trace, each quantity by itself: what belongs together in a connection is not printed. All \
             {} play the same vectors; distributions are those of all runs of a model together, the figures those of the first.",
            if replays.is_simulated() { "models" } else { "runs" }
        ));
    let runs = found.groups.iter().map(|group| group.pooled.runs);
    if replays.is_simulated() && runs.clone().min() != runs.max() {
        experiment = experiment.note(
            "Not all models have been run for all hours (column 'runs'): a difference between hours may look like one between models.",
        );
    }
    if found.invalid > 0 {
        experiment = experiment.note(format!(
            "{} runs do not count: this machine was too busy for them.",
            found.invalid
        ));
    }
    if !found.failed.is_empty() {
        experiment = experiment.note(format!("Failed: {}.", found.failed.join("; ")));
    }
    if found.missing > 0 {
        experiment = experiment.note(format!("{} runs have not been made.", found.missing));
    }
    experiment
}
