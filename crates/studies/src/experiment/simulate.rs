//! The same transfer in virtual time.

use super::Bench;
use super::place::Cell;
use super::pool::map;
use serde::{Deserialize, Serialize};
use sim::{End, Plan, Transfers, pipeline};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use transport::Options;
use units::Instant;

/// What came of a transfer in virtual time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Simulated {
    /// Payload acknowledged over the time it took; nothing when none was.
    pub(super) throughput_mbps: Option<f64>,
    /// Share of its packets that were lost.
    pub(super) loss_pct: Option<f64>,
    /// How long it took.
    pub(super) seconds: f64,
}

/// A transfer to be made.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Over which path.
    pub(super) cell: Cell,
    /// Share of acknowledgements lost.
    pub(super) ack_loss: f64,
    /// By which rules.
    pub(super) options: Options,
    /// Until when.
    pub(super) end: End,
    /// Where chance comes from.
    pub(super) seed: u64,
}

impl Case {
    /// Makes it. Nothing when there is no such path.
    pub(super) fn run(&self) -> Option<Simulated> {
        let topology = self.cell.topology(self.ack_loss).ok()?;
        let link = topology.links.first()?;
        let up = pipeline(&link.up, self.seed.wrapping_mul(2)).ok()?;
        let down = pipeline(&link.down, self.seed.wrapping_mul(2).wrapping_add(1)).ok()?;
        let mut plan = Plan::new(self.options.clone(), self.end);
        plan.seed = self.seed;
        let mut transfers = Transfers::duplex([(plan, [(), ()])], up, down);
        transfers.run();
        let report = *transfers.reports().first()?;
        Some(Simulated {
            throughput_mbps: report.throughput_mbps(),
            loss_pct: report.loss_pct(),
            seconds: report.time?.as_secs_f64(),
        })
    }
}

/// Makes every one of `cases`, several at once, and shows how far things are. What was not made is `None`.
pub(super) fn all(bench: &Bench<'_>, cases: &[Case]) -> Vec<Option<Simulated>> {
    let progress = Progress::new(bench, cases.len());
    let results = map(cases, workers(bench), bench, |case| progress.make(case));
    results.into_iter().map(Option::flatten).collect()
}

/// Makes every group of cases, several groups at once, and has `keep` keep what came of a group as soon as all of it is there: whatever
/// stops this costs the groups at hand, not those before. What was not made is not kept.
///
/// # Errors
///
/// That of `keep`; no other transfer is begun after it.
pub(super) fn groups<K: Sync>(
    bench: &Bench<'_>,
    groups: &[(K, Vec<Case>)],
    keep: impl Fn(&K, &[Simulated]) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let progress = Progress::new(bench, groups.iter().map(|(_, cases)| cases.len()).sum());
    let has_failed = AtomicBool::new(false);
    let kept = map(groups, workers(bench), bench, |(key, cases)| {
        let go_on = || !bench.is_interrupted() && !has_failed.load(Ordering::Relaxed);
        let cases = cases
            .iter()
            .map(|case| if go_on() { progress.make(case) } else { None });
        let Some(made) = cases.collect::<Option<Vec<_>>>() else {
            return Ok(());
        };
        keep(key, &made).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))
    });
    kept.into_iter().flatten().collect()
}

/// No more threads than processors: a simulation waits for nothing.
fn workers(bench: &Bench<'_>) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    bench.jobs.min(processors)
}

/// How many transfers have been made.
struct Progress<'a> {
    bench: &'a Bench<'a>,
    began: Instant,
    all: usize,
    done: AtomicUsize,
}

impl<'a> Progress<'a> {
    fn new(bench: &'a Bench<'a>, all: usize) -> Self {
        Self {
            bench,
            began: sys::clock::now(),
            all,
            done: AtomicUsize::new(0),
        }
    }

    /// Makes one more, and shows it.
    fn make(&self, case: &Case) -> Option<Simulated> {
        let result = case.run();
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        let took = sys::clock::now().since(self.began).as_secs_f64();
        let left = took / done as f64 * (self.all - done) as f64;
        let left = Duration::from_secs_f64(left);
        self.bench
            .display
            .progress("transfer", done, self.all, left);
        result
    }
}
