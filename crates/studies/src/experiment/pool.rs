//! Several things at once: measurements in processes of their own, and work in threads.
//!
//! Most measurements leave a machine idle, and several can be made side by side without disturbing each other; a *heavy*
//! one, of which two might not fit, is made alone. Each judges itself: one in which the instrument was the bottleneck says
//! so in its record, and nobody counts it.

use super::bench::Bench;
use kit::pool::child::{Ended, OWNER};
use kit::pool::{child, run_in, set_aside};
use record::{Record, Run, Status};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

/// What a measurement takes beside its transfers: start, agreement, closing the record.
pub(super) const OVERHEAD: Duration = Duration::from_millis(1_500);

/// A measurement in a process of its own.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// Its folder's name below that of the records.
    pub(super) name: String,
    /// What to run: `isobath` with these arguments, to which `--out` is added.
    pub(super) arguments: Vec<String>,
    /// How long its transfers take.
    pub(super) expected: Duration,
    /// Whether it needs the machine for itself.
    pub(super) is_heavy: bool,
}

/// What became of a measurement.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was made.
    Complete(Box<Record>),
    /// The instrument was the bottleneck.
    Invalid,
    /// It could not be made.
    Failed(String),
    /// It has not been made yet, or not to its end.
    Missing,
}

/// What is written down of one that was not made, beside its folder.
#[derive(Debug, Deserialize, Serialize)]
struct Failure {
    /// Exit status; none after death by a signal.
    exit_status: Option<i32>,
    /// What it said, or what is said of it.
    reason: String,
    /// How long it took.
    seconds: f64,
}

/// Makes every measurement of `jobs` that is not complete: the light ones side by side, then the heavy ones.
pub(super) fn run(bench: &Bench<'_>, jobs: &[Job]) {
    let due = |job: &&Job| !matches!(outcome(bench, &job.name), Outcome::Complete(_));
    let (heavy, light): (Vec<&Job>, Vec<&Job>) =
        jobs.iter().filter(due).partition(|job| job.is_heavy);
    let all = jobs.len();
    let watch = Watch {
        bench,
        done: Mutex::new(all - heavy.len() - light.len()),
        all,
        light: Mutex::new(light.iter().map(|job| cost(job)).sum()),
        heavy: Mutex::new(heavy.iter().map(|job| cost(job)).sum()),
    };
    for (jobs, workers) in [(light, bench.jobs), (heavy, 1)] {
        watch.show();
        map(&jobs, workers, bench, |job| {
            attempt(bench, job);
            watch.ended(job);
        });
    }
}

fn cost(job: &Job) -> Duration {
    job.expected + OVERHEAD
}

/// How far a set of jobs is.
struct Watch<'a, 'b> {
    bench: &'a Bench<'b>,
    done: Mutex<usize>,
    all: usize,
    light: Mutex<Duration>,
    heavy: Mutex<Duration>,
}

impl Watch<'_, '_> {
    fn ended(&self, job: &Job) {
        let left = if job.is_heavy {
            &self.heavy
        } else {
            &self.light
        };
        if let (Ok(mut left), Ok(mut done)) = (left.lock(), self.done.lock()) {
            *left = left.saturating_sub(cost(job));
            *done += 1;
        }
        self.show();
    }

    fn show(&self) {
        let left = |of: &Mutex<Duration>| of.lock().map_or(Duration::ZERO, |left| *left);
        let workers = u32::try_from(self.bench.jobs).unwrap_or(1).max(1);
        let left = left(&self.light) / workers + left(&self.heavy);
        let done = self.done.lock().map_or(0, |done| *done);
        self.bench
            .display
            .progress("measurement", done, self.all, left);
    }
}

fn attempt(bench: &Bench<'_>, job: &Job) {
    let folder = bench.folder(&job.name);
    let out = ["--quiet", "--out", &folder.display().to_string()].map(str::to_owned);
    let mut command = child::command(&[&job.arguments[..], &out].concat(), []);
    command.env(OWNER, bench.mark).current_dir(bench.dir);
    let begun = set_aside(bench.dir, &folder);
    let ended = begun
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(child::run(command, bench.interrupt, &|_| {})?));
    let failure = match ended {
        Ok(ended) => failure(&ended, run_in(&folder).as_ref()),
        Err(error) => Some(Failure {
            exit_status: None,
            reason: error.to_string(),
            seconds: 0.0,
        }),
    };
    note(bench, job, failure);
}

/// What is to be said of a measurement that was not made; nothing of one that was.
fn failure(ended: &Ended, run: Option<&Run>) -> Option<Failure> {
    if run.is_some_and(|run| run.status == Status::Complete) {
        return None;
    }
    let warning = run.and_then(|run| run.warnings.first());
    let unsaid = || format!("it ended with status {:?}", ended.exit_status);
    let said = warning.map(|warning| warning.message.clone());
    Some(Failure {
        exit_status: ended.exit_status,
        reason: said.or_else(|| ended.said.clone()).unwrap_or_else(unsaid),
        seconds: ended.took.as_secs_f64(),
    })
}

fn note(bench: &Bench<'_>, job: &Job, failure: Option<Failure>) {
    let name = failure_name(&job.name);
    // What cannot be written now will be found missing.
    let _ = fs::remove_file(bench.folder(&name));
    let Some(failure) = failure else { return };
    if bench.is_interrupted() {
        return;
    }
    bench
        .display
        .say(&format!("{}: {}", job.name, failure.reason));
    if let Ok(text) = serde_json::to_string_pretty(&failure) {
        let _ = bench.write(&name, &text);
    }
}

fn failure_name(name: &str) -> String {
    format!("{name}.failed.json")
}

/// What became of measurement `name`.
pub(super) fn outcome(bench: &Bench<'_>, name: &str) -> Outcome {
    let counts = |record: &Record| match record.run().status {
        Status::Complete => true,
        Status::Invalid => bench.with_invalid,
        Status::Failed | Status::Incomplete => false,
    };
    let record = Record::open(&bench.folder(name)).ok();
    if let Some(record) = record.filter(counts) {
        return Outcome::Complete(Box::new(record));
    }
    let failure = bench.read(&failure_name(name));
    let failure = failure.and_then(|text| serde_json::from_str::<Failure>(&text).ok());
    match (failure, run_in(&bench.folder(name))) {
        (Some(_), Some(run)) if run.status == Status::Invalid => Outcome::Invalid,
        (Some(failure), _) => Outcome::Failed(failure.reason),
        (None, _) => Outcome::Missing,
    }
}

/// Applies `work` to each of `items`, by so many threads at once, until all are done or the user interrupts. What was not
/// done is `None`.
pub(super) fn map<T: Sync, R: Send>(
    items: &[T],
    workers: usize,
    bench: &Bench<'_>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<Option<R>> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let results = Mutex::new(&mut done);
    let worker = || {
        while !bench.is_interrupted() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            if let Ok(mut results) = results.lock() {
                results[index] = Some(result);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, items.len().max(1)) {
            scope.spawn(worker);
        }
    });
    done
}

/// The folder of a record as the page names it: seen from the experiment's.
pub(super) fn shown(bench: &Bench<'_>, name: &str) -> String {
    let folder = bench.folder(name);
    let below = folder.strip_prefix(bench.dir).map(Path::to_owned);
    below.unwrap_or(folder).display().to_string()
}
