//! What a repeat plays: in the lab all play the same vectors; in virtual time each has vectors of its own, drawn by another seed, and a
//! constrained link that fits them.

use super::pool::{self, Outcome};
use super::{Bench, CONTROL, Mode, Replays, Scale, record};
use schema::replay::Summary;
use serde::Deserialize;
use units::Rate;

/// What was found in single runs, each with what it played.
pub(super) type Runs = Vec<(Hour, f64)>;

/// A set of vectors, by its number.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Hour(usize);

impl Hour {
    pub(super) const FIRST: Self = Self(0);

    /// The repeat that plays it, counted from 1, where each has one of its own.
    pub(super) const fn repeat(self) -> usize {
        self.0 + 1
    }

    /// The file of its vectors, below the folder of records.
    pub(super) fn vectors(self) -> String {
        self.file("vectors", "parquet")
    }

    /// What it is drawn by, where the first is drawn by `seed`.
    pub(super) const fn seed(self, seed: u64) -> u64 {
        seed.wrapping_add(self.0 as u64)
    }

    /// What its constrained link carries, if that has been found out.
    pub(super) fn known_capacity(self, bench: &Bench<'_>) -> Option<Rate> {
        let bps = bench.read(&self.capacity())?;
        Rate::from_bps(serde_json::from_str(&bps).ok()?)
    }

    fn capacity(self) -> String {
        self.file("capacity", "json")
    }

    fn file(self, what: &str, kind: &str) -> String {
        match self {
            Self::FIRST => format!("{what}.{kind}"),
            Self(number) => format!("{what}-{number}.{kind}"),
        }
    }
}

impl Replays {
    /// What repeat number `repeat` plays.
    pub(super) const fn hour(&self, repeat: usize) -> Hour {
        if self.is_simulated() {
            Hour(repeat)
        } else {
            Hour::FIRST
        }
    }

    /// What is played at `scale`.
    pub(super) fn hours(&self, scale: Scale) -> impl Iterator<Item = Hour> + use<> {
        let repeats = self.extent(scale).repeats;
        let last = self.hour(repeats.saturating_sub(1));
        (0..=last.0).map(Hour)
    }

    /// Says that the control of `hour` does not count.
    pub(super) fn uncontrolled(&self, hour: Hour) -> String {
        let runs = if self.is_simulated() {
            format!(
                "the control's run of repeat {} does not count",
                hour.repeat()
            )
        } else {
            "no run of the control counts".to_owned()
        };
        format!("{runs}, so there is no load to constrain the others to")
    }
}

/// What the constrained link carries: from the control of the same vectors as it was when this was first asked.
pub(super) fn capacity(
    replays: &Replays,
    bench: &Bench<'_>,
    hour: Hour,
) -> anyhow::Result<Option<Rate>> {
    if let Some(rate) = hour.known_capacity(bench) {
        return Ok(Some(rate));
    }
    let repeats = 0..replays.extent(bench.scale).repeats;
    let loads = repeats
        .filter(|repeat| replays.hour(*repeat) == hour)
        .filter_map(|repeat| load(bench, &record(CONTROL, Mode::Unconstrained, repeat)));
    let loads: Vec<f64> = loads.collect();
    if loads.is_empty() {
        return Ok(None);
    }
    let mean = loads.iter().sum::<f64>() / loads.len() as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and a conversion that saturates serves"
    )]
    let bps = (mean * replays.capacity * 1e6).round() as u64;
    bench.write(&hour.capacity(), &serde_json::to_string(&bps)?)?;
    Ok(Rate::from_bps(bps))
}

/// What a run carried in the forward direction, in Mbit/s.
fn load(bench: &Bench<'_>, name: &str) -> Option<f64> {
    let Outcome::Complete(record) = pool::outcome(bench, name) else {
        return None;
    };
    let summary: Summary = Deserialize::deserialize(&record.run().summary).ok()?;
    Some(summary.throughput_mbps?.forward).filter(|mbps| *mbps > 0.0)
}
