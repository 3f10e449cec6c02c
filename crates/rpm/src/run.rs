//! Does what the plan says: idle, then one direction after the other.

use super::Live;
use super::load::Load;
use super::probes::{Probes, responsiveness};
use super::target::Target;
use kit::control::{self, LOOK};
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use kit::secret::secret;
use kit::stream::nanos;
use probe::stability::{MAD, MovingAverage, Settling};
use record::RecordWriter;
use schema::rpm::Plan;
use schema::rpm::tables::{RpmInterval, RpmProbe};
use schema::tables::Cpu;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use tokio::time::sleep;
use units::Instant;

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// Octets that a pair of requests takes, a foreign one and a self one: the draft's estimate (section 4.3).
const PAIR: f64 = 5_000.0 + 1_000.0;
/// Percentage of Total Capacity: what requests may take of it.
const PTC: f64 = 0.05;
/// Pairs in a second while nothing is known of the capacity.
const FIRST_PAIRS_PER_S: f64 = 5.0;
/// A request on an idle path that takes longer is given up.
const IDLE_PATIENCE: Duration = Duration::from_secs(10);

/// What came of a run.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// All requests.
    pub probes: Vec<RpmProbe>,
    /// All intervals.
    pub intervals: Vec<RpmInterval>,
    /// How busy this host was.
    pub cpu: Vec<Cpu>,
}

/// Carries the plan out.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    target: &Target,
    runtime: &tokio::runtime::Runtime,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let origin = clock::now();
    let cpus = Cpus::default();
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        let mut run = Run {
            context,
            target,
            origin,
            probes: Probes::new(origin),
            found: Vec::new(),
            intervals: Vec::new(),
            record,
        };
        let ending = runtime.block_on(run.pass());
        let ending = match ending {
            Ok(()) => context.ending(),
            Err(Broken::Record(error)) => return Err(error),
            Err(Broken::Path(_)) if context.is_interrupted() => Ending::Interrupted,
            Err(Broken::Path(reason)) => Ending::Lost(reason),
        };
        run.take()?;
        let cpu = cpus.take();
        run.record.append(&cpu)?;
        run.record.flush()?;
        Ok(Outcome {
            ending,
            probes: run.found,
            intervals: run.intervals,
            cpu,
        })
    })
}

/// Why there is no more of a run.
enum Broken {
    Path(String),
    Record(record::Error),
}

impl From<String> for Broken {
    fn from(reason: String) -> Self {
        Self::Path(reason)
    }
}

impl From<record::Error> for Broken {
    fn from(error: record::Error) -> Self {
        Self::Record(error)
    }
}

struct Run<'a> {
    context: &'a Context<'a>,
    target: &'a Target,
    origin: Instant,
    probes: Probes,
    found: Vec<RpmProbe>,
    intervals: Vec<RpmInterval>,
    record: &'a mut RecordWriter,
}

impl Run<'_> {
    async fn pass(&mut self) -> Result<(), Broken> {
        let live = |phase| Live {
            phase,
            ..Live::default()
        };
        (self.context.display)(&live("idle"));
        for _ in 0..self.context.plan.idle_probes {
            let asked = self.probes.foreign_alone(self.target);
            let asked = tokio::time::timeout(IDLE_PATIENCE, asked).await;
            self.interrupted()?;
            asked.map_err(|_| "the server does not answer".to_owned())?;
            self.take()?;
        }
        if self.found.iter().all(|probe| probe.http_ns.is_none()) {
            return Err(Broken::Path("no request was answered".to_owned()));
        }
        for direction in self.context.plan.ways.directions() {
            (self.context.display)(&live(direction));
            self.direction(direction).await?;
        }
        Ok(())
    }

    fn interrupted(&self) -> Result<(), Broken> {
        if self.context.is_interrupted() {
            return Err(Broken::Path("interrupted".to_owned()));
        }
        Ok(())
    }

    /// Takes what requests have found.
    fn take(&mut self) -> Result<(), record::Error> {
        let found = self.probes.take();
        self.record.append(&found)?;
        self.found.extend(found);
        Ok(())
    }

    /// Loads one direction until its figures have settled, or its time is over.
    async fn direction(&mut self, direction: &'static str) -> Result<(), Broken> {
        let plan = self.context.plan;
        let begun = clock::now();
        let mut load = Load::new(direction);
        let (mut average, mut goodput, mut rpm) = (
            MovingAverage::default(),
            Settling::default(),
            Settling::default(),
        );
        let mut known_bps = None;
        for interval in 0.. {
            if load.asked() < plan.most_connections as usize {
                load.add(self.target);
            }
            let before = (clock::now(), load.carried());
            let end = begun + plan.interval.0 * (interval + 1);
            self.interval(direction, &mut load, end, known_bps).await?;
            let lasted = clock::now().since(before.0);
            let carried = load.carried() - before.1;
            let bps = carried as f64 * 8.0 / lasted.as_secs_f64().max(1e-3);
            known_bps = Some(bps);
            self.take()?;
            let t_ns = nanos(clock::now().since(self.origin));
            let goodput_bps = average.push(bps);
            let found = if goodput.has_settled() {
                let window = plan.interval.0 * u32::try_from(MAD).unwrap_or(1);
                responsiveness(&self.found, direction, t_ns, window)
            } else {
                None
            };
            goodput.push(goodput_bps);
            let found = found.and_then(|found| found.rpm);
            let has_settled = found.is_some_and(|found| rpm.push(found));
            let row = RpmInterval {
                interval,
                load: direction.into(),
                t_ns,
                lasted_ns: nanos(lasted),
                connections: u32::try_from(load.connections()).unwrap_or(u32::MAX),
                carried_bytes: carried,
                goodput_bps,
                rpm: found,
            };
            (self.context.display)(&Live {
                phase: direction,
                intervals: interval + 1,
                goodput_mbps: bps / 1e6,
                rpm: found,
            });
            self.record.append(std::slice::from_ref(&row))?;
            self.record.flush()?;
            self.intervals.push(row);
            let is_last = clock::now() + plan.interval.0 > begun + plan.most.0;
            if has_settled || is_last {
                break;
            }
        }
        self.probes.give_up();
        Ok(())
    }

    /// Sends pairs of requests until `end`, as many as the capacity bears.
    async fn interval(
        &mut self,
        direction: &'static str,
        load: &mut Load,
        end: Instant,
        known_bps: Option<f64>,
    ) -> Result<(), Broken> {
        let gap = self.gap(known_bps);
        let mut due = clock::now();
        loop {
            let now = clock::now();
            if now >= end {
                return Ok(());
            }
            self.interrupted()?;
            if now >= due {
                self.probes.foreign(self.target, direction);
                if let Some(link) = load.any(secret()) {
                    self.probes.of_load(link, &self.target.small, direction);
                }
                due += gap;
                // What was missed is not made up for.
                due = due.max(now);
            }
            let next = due.min(end).since(clock::now()).min(LOOK);
            tokio::select! {
                reason = load.broken() => return Err(Broken::Path(reason)),
                () = sleep(next) => {}
            }
        }
    }

    /// From one pair of requests to the next.
    fn gap(&self, known_bps: Option<f64>) -> Duration {
        let most = f64::from(self.context.plan.most_probes_per_s) / 2.0;
        let bearable = known_bps.map_or(FIRST_PAIRS_PER_S, |bps| bps * PTC / (PAIR * 8.0));
        // On the slowest path there is still one in a second.
        Duration::from_secs_f64(1.0 / bearable.clamp(1.0, most.max(1.0)))
    }
}
