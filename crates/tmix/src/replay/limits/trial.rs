//! Trials: replays of made vectors, and what they say.

use super::criterion::broken;
use super::script::{MEASURED, Script, script};
use super::search::Search;
use super::{Bound, Component, Found, Trial};
use crate::replay::collector::Context;
use crate::replay::forecast::Forecast;
use crate::replay::plan::{Models, Plan, RttAt, Way};
use crate::replay::quality::{self, LeftOut};
use crate::replay::room::Room;
use crate::replay::run::{self, Place};
use crate::replay::{place, room};
use jiff::Timestamp;
use kit::ending::Ending;
use path::Assigned;
use record::{Instrument, RecordWriter, Run};
use schema::replay::Summary;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::{Rate, Span};

/// The lab of all trials.
const LAB: &str = "dumbbell";
/// The rate of its link, which is not to be the limit.
const LINK: Option<Rate> = Rate::from_bps(100_000_000_000);
/// The most connections that are tried to have open at once.
const MOST_OPEN: u64 = 1 << 17;
/// What a connection takes of memory, both ends with their sockets, at least.
const PER_CONNECTION: u64 = 16 << 10;
/// The longest that connections may take to be opened in one trial.
const LONGEST: f64 = 6.0;
/// Connections that are opened a second at least, whatever rate was found.
const LEAST_OPENING: f64 = 100.0;
/// Pairs of ports beyond those that are needed.
const SPARE: u32 = 64;

/// How thoroughly limits are sought.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Trials of each component.
    trials: u32,
}

impl Effort {
    /// In about a minute.
    pub const FULL: Self = Self { trials: 6 };
    /// In some seconds.
    pub const QUICK: Self = Self { trials: 1 };

    /// Trials of all components.
    pub fn all(self) -> f64 {
        f64::from(self.trials) * Component::ALL.len() as f64
    }
}

/// A search for the limits of all components.
pub struct Seeker<'a> {
    /// How thoroughly it seeks.
    pub effort: Effort,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told before each trial: its component, its load, and trials of the whole that are done or not needed.
    pub display: &'a dyn Fn(Component, f64, u32),
}

impl Seeker<'_> {
    /// The limits of all components; `None` when it was interrupted.
    ///
    /// # Errors
    /// When a trial could not be made.
    pub fn seek(&self) -> anyhow::Result<Option<Vec<Found>>> {
        let mut all: Vec<Found> = Vec::new();
        for component in Component::ALL {
            let starts = all.first().map_or(0.0, |found| found.limit);
            // Well below what is known to be held.
            let opening = (starts / 2.0).max(LEAST_OPENING);
            match self.component(component, opening, all.len())? {
                Some(found) => all.push(found),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    fn component(
        &self,
        component: Component,
        opening: f64,
        before: usize,
    ) -> anyhow::Result<Option<Found>> {
        let (most, bound) = most(component, opening);
        let first = first(component, most);
        let mut search = Search::new(first, most, self.effort.trials);
        let mut trials = Vec::new();
        let before = u32::try_from(before).unwrap_or(0) * self.effort.trials;
        while let Some(load) = search.next() {
            let made = u32::try_from(trials.len()).unwrap_or(0);
            (self.display)(component, load, before + made);
            let script = script(component, load, opening);
            let Some(trial) = self.trial(component, load, &script)? else {
                return Ok(None);
            };
            search.enter(load, trial.broke.is_empty());
            trials.push(trial);
        }
        let largest = trials.iter().map(|trial| trial.asked).fold(0.0, f64::max);
        let bound = if largest < most { Bound::Time } else { bound };
        Ok(Some(Found::of(component, trials, bound)))
    }

    fn trial(
        &self,
        component: Component,
        asked: f64,
        script: &Script,
    ) -> anyhow::Result<Option<Trial>> {
        let Some(played) = play(script, self.interrupt)? else {
            return Ok(None);
        };
        let (summary, instrument) = (&played.summary, &played.instrument);
        let worst = |late: f64, link: f64| late.max(link / 1e3);
        let links = summary.links.iter().map(|link| link.emulator_late_p99_us);
        Ok(Some(Trial {
            asked,
            carried: carried(component, asked, summary),
            broke: broken(&played.warnings, summary, script.answers),
            start_late_p99_ms: summary.start_lateness_ms.map_or(0.0, |late| late.of.p99),
            emulator_late_p99_ms: links.fold(0.0, worst),
            cpu_pct: instrument.cpu.first().map(|cpu| cpu.mean_pct),
        }))
    }
}

/// The load with which a search begins: what a small machine holds with ease.
const fn first(component: Component, most: f64) -> f64 {
    match component {
        Component::Starts => 1_000.0,
        Component::Open => most / 4.0,
        Component::Packets => 10_000.0,
        Component::Rate => 200.0,
    }
}

/// The largest load that is tried, and what keeps it from being larger.
fn most(component: Component, opening: f64) -> (f64, Bound) {
    if component != Component::Open {
        return (1e6, Bound::Time);
    }
    let bounds = [
        (room::most_open() as f64, Bound::Descriptors),
        (
            free_memory() as f64 / 2.0 / PER_CONNECTION as f64,
            Bound::Memory,
        ),
        (opening * LONGEST, Bound::Time),
        (MOST_OPEN as f64, Bound::Time),
    ];
    let least = bounds
        .into_iter()
        .min_by(|one, other| one.0.total_cmp(&other.0));
    let (most, bound) = least.unwrap_or((1.0, Bound::Time));
    (most.floor().max(1.0), bound)
}

/// Octets of memory that programs may still have; all that can be counted where the kernel does not tell.
fn free_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available(&text).unwrap_or(u64::MAX)
}

/// The octets available, of `/proc/meminfo`, which has them in KiB.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1_024)
}

/// The load that there was in the second that is measured. Starts and open connections are as many as the script has, or
/// something broke.
fn carried(component: Component, asked: f64, summary: &Summary) -> f64 {
    let packets = summary.packets_per_s.unwrap_or_default();
    let mbps = summary.throughput_mbps.unwrap_or_default();
    match component {
        Component::Starts | Component::Open => asked,
        Component::Packets => packets.forward + packets.reverse,
        Component::Rate => mbps.forward + mbps.reverse,
    }
}

struct Played {
    summary: Summary,
    instrument: Instrument,
    warnings: Vec<record::Warning>,
}

/// Plays `script` in a lab of its own: nothing of the trial before is left in it. `None` when it was interrupted.
fn play(script: &Script, interrupt: &AtomicBool) -> anyhow::Result<Option<Played>> {
    let plan = plan(script.end);
    let forecast = Forecast::of(&script.workload, Some(script.end));
    let delays = Assigned::default();
    let network = place::up(LAB, &plan, &delays)?;
    let folder = tempfile::tempdir()?;
    let run = Run::new("replay", Timestamp::now(), serde_json::Value::Null);
    let mut writer = RecordWriter::create(&folder.path().join("run"), &run)?;
    let pairs = u32::try_from(forecast.connections).unwrap_or(u32::MAX);
    let context = Context {
        plan: &plan,
        workload: &script.workload,
        lab: Some(&network),
        interrupt,
        display: &|_| {},
    };
    let shares = room::shares(forecast.open);
    let place = Place {
        network: &network,
        delays: &delays,
        room: Room {
            shares,
            tuples: [pairs.saturating_add(SPARE), SPARE],
        },
        v6: false,
    };
    let outcome = run::run(&context, &place, &mut writer)?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let (ending, cpu) = (outcome.ending, outcome.cpu);
    if let Ending::Lost(reason) = &ending {
        anyhow::bail!("a trial could not be played to its end: {reason}");
    }
    let rate = place::rate(network.topology(), plan.forward);
    let summary = outcome
        .figures
        .summary(&plan, outcome.length, rate, outcome.truth);
    let instrument = quality::instrument(&cpu, &summary, Some(network.cpu()));
    let warnings = quality::warnings(&ending, &cpu, &summary, &instrument, LeftOut::default());
    Ok(Some(Played {
        summary,
        instrument,
        warnings,
    }))
}

/// As a replay is by default.
fn plan(end: Duration) -> Plan {
    let [from, to] = MEASURED;
    Plan {
        vectors: PathBuf::new(),
        models: Models::default(),
        duration: Some(Span(end)),
        warm_up: Span(from),
        cool_down: Span(end.saturating_sub(to)),
        rtt_at: RttAt::Both,
        add_rtt: false,
        bottleneck: LINK,
        constrained: false,
        forward: Way::Down,
        congestion_control: None,
        initial_window: None,
        capture: true,
        udp: true,
        seed: 1,
    }
}

/// Makes sure that this machine can make labs, and that it may make more when there are other threads.
///
/// # Errors
/// When it cannot.
pub fn get_ready() -> anyhow::Result<()> {
    let plan = plan(Duration::ZERO);
    drop(place::up(LAB, &plan, &Assigned::default())?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_read_in_octets() {
        let text = "MemTotal:       24000 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(available(text), Some(2 << 20));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn connections_are_bounded_by_the_time_that_they_take_to_open() {
        assert_eq!(most(Component::Open, 10.0), (60.0, Bound::Time));
        assert!(most(Component::Open, 1e9).0 <= MOST_OPEN as f64);
    }

    #[test]
    fn a_trial_is_measured_in_its_second() {
        let plan = plan(Duration::from_millis(5_500));
        assert_eq!(plan.window(Duration::MAX), MEASURED);
    }
}
