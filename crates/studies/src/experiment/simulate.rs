//! The same transfer in virtual time.

use super::Bench;
use super::place::Cell;
use super::pool::map;
use serde::{Deserialize, Serialize};
use sim::{End, Plan, Transfers, pipeline};
use transport::Options;

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
    let began = sys::clock::now();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = bench.jobs.min(processors);
    let show = |done: usize| {
        let took = sys::clock::now().since(began).as_secs_f64();
        let left = took / done.max(1) as f64 * (cases.len() - done) as f64;
        let left = std::time::Duration::from_secs_f64(left);
        bench.display.progress("transfer", done, cases.len(), left);
    };
    let results = map(cases, workers, bench, |case| {
        let result = case.run();
        show(1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        result
    });
    results.into_iter().map(Option::flatten).collect()
}
