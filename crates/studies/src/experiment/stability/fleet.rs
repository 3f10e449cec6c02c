//! Making the measurements by a fleet: an agent on each host, NATS on one more, and a fleet file whose four measurements, one for each pair of
//! tools, are Poisson processes of a quarter of the rate between random hosts. Together they are the process that [`super::schedule`] draws.

use super::background;
use super::found::Measurement;
use super::measure::{network, transfers};
use super::outcome::{self, PATIENCE};
use super::schedule::Planned;
use super::{Stability, found};
use crate::experiment::{Bench, bench};
use ::fleet::file::FleetFile;
use ::fleet::outcome::Outcome;
use ::fleet::stage::{self, Stage};
use ::fleet::{Moment, RunId};
use anyhow::{Context as _, bail};
use kit::pool::child::{self, Ended};
use kit::pool::set_aside;
use lab::Network;
use schema::btc::plan::Tool;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use sys::clock;

/// The fleet.
const FLEET: &str = "mesh";
/// From one look at what has been done to the next.
const LOOK: Duration = Duration::from_secs(2);
/// How often an interrupt is looked for.
const GLANCE: Duration = Duration::from_millis(50);
/// Of the expected time; chance may be slower.
const LONGEST: u32 = 3;
/// Every pair of tools.
const PAIRS: [[Tool; 2]; 4] = [
    [Tool::Ours, Tool::Ours],
    [Tool::Ours, Tool::Kernel],
    [Tool::Kernel, Tool::Ours],
    [Tool::Kernel, Tool::Kernel],
];

/// What `isobath fleet runs --json` tells.
#[derive(Deserialize)]
struct Account {
    counts: Counts,
    runs: Vec<Line>,
}

#[derive(Deserialize)]
struct Counts {
    open: usize,
}

#[derive(Deserialize)]
struct Line {
    run: RunId,
    begins: Moment,
    status: String,
    reason: Option<String>,
    outcome: Option<Outcome>,
}

/// A sitting: the lab is up, and the fleet measures until there is enough.
struct Sitting<'a> {
    bench: &'a Bench<'a>,
    network: &'a Network,
    stage: Stage,
    hub: &'a str,
    dir: PathBuf,
    /// The number of the first measurement, and how many are to be made.
    first: usize,
    due: usize,
    /// Mean time between starts.
    mean: Duration,
}

/// Brings up the lab and the fleet, makes `due` measurements, the first of them called `first`, and writes down what became of each.
pub(super) fn all(
    study: &Stability,
    hub: &str,
    bench: &Bench<'_>,
    first: usize,
    due: usize,
) -> anyhow::Result<()> {
    let server = stage::server(None)?;
    let network = network(study.topology().map_err(anyhow::Error::msg)?, bench.seed)?;
    let dir = bench.dir.join(format!("fleet-{first}"));
    // Agents of a sitting that was cut short would go on with its runs.
    set_aside(bench.dir, &dir)?;
    fs::create_dir_all(&dir)?;
    let text = file(&study.measured(), bench.seed, study.mean());
    bench::write(&dir.join("fleet.toml"), &text)?;
    let hosts = FleetFile::parse(&text, "the mesh")
        .map_err(anyhow::Error::msg)?
        .hosts;
    let sitting = Sitting {
        bench,
        stage: Stage::start(&network, hub, &hosts, &server, &dir)?,
        network: &network,
        hub,
        dir,
        first,
        due,
        mean: study.mean(),
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let done = background::start(scope, &network, &study.background, bench.seed, &stop)
            .and_then(|()| network.node(hub)?.run(|| sitting.go()));
        stop.store(true, Ordering::Relaxed);
        done
    })
}

/// The fleet file: between `hosts`, starts at this `mean` distance.
fn file(hosts: &[&String], seed: u64, mean: Duration) -> String {
    let mut text = format!("name = \"{FLEET}\"\nseed = {seed}\n");
    for host in hosts {
        let _ = writeln!(text, "[[host]]\nname = \"{host}\"");
    }
    let mean = (mean * 4).as_millis();
    for tools in PAIRS {
        // They overlap as chance will have it, so no run waits for another.
        let _ = writeln!(
            text,
            "[[measure]]\nname = \"{}\"\nrun = \"btc {}\"\npairs = {{ random = [\"all\"] }}\nloads = false\npoisson = \"{mean}ms\"\n\
             takes = \"{}s\"",
            measure(tools),
            transfers(tools),
            PATIENCE.as_secs()
        );
    }
    text
}

/// What the measurement with these tools is called.
fn measure(tools: [Tool; 2]) -> String {
    tools.map(Tool::label).join("-")
}

impl Sitting<'_> {
    /// Everything; on the hub.
    fn go(&self) -> anyhow::Result<()> {
        self.stage.until_there(self.bench.interrupt)?;
        let file = self.dir.join("fleet.toml").display().to_string();
        self.fleet(&["apply", &file])?;
        let begin = clock::now();
        let expected = self.mean * u32::try_from(self.due).unwrap_or(u32::MAX);
        while clock::now().since(begin) < expected * LONGEST {
            self.rest(LOOK);
            // Who counts may have no answer once; what has begun goes on.
            let runs = self.account().map_or(0, |account| account.runs.len());
            let left = expected.saturating_sub(clock::now().since(begin));
            let display = self.bench.display;
            display.progress("measurement", runs, self.due, left);
            if runs >= self.due || self.bench.is_interrupted() {
                break;
            }
        }
        self.persist(|| self.fleet(&["pause", FLEET]))?;
        // It begins to hold a little later.
        clock::sleep_until(clock::now() + LOOK + LOOK);
        let paused = clock::now();
        while clock::now().since(paused) < PATIENCE && !self.bench.is_interrupted() {
            if self.account().is_ok_and(|account| account.counts.open == 0) {
                break;
            }
            self.rest(LOOK);
        }
        self.keep(self.persist(|| self.account())?.runs)
    }

    /// Tries again what failed, for a time.
    fn persist<T>(&self, mut work: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let begin = clock::now();
        loop {
            let done = work();
            if done.is_ok() || clock::now().since(begin) > PATIENCE || self.bench.is_interrupted() {
                return done;
            }
            self.rest(LOOK);
        }
    }

    /// Fetches the records and writes down what became of each run.
    fn keep(&self, runs: Vec<Line>) -> anyhow::Result<()> {
        let Some(begin) = runs.first().map(|run| run.begins) else {
            bail!(
                "no measurement began - see the logs in {}",
                self.dir.display()
            );
        };
        // What is under way when the user interrupts is not made.
        let over = runs.into_iter().filter(|run| run.outcome.is_some());
        for (number, run) in (self.first..).zip(over) {
            let tools = PAIRS
                .into_iter()
                .find(|tools| measure(*tools) == run.run.measure.as_str());
            let planned = Planned {
                number,
                start: run.begins.since(begin),
                from: run.run.from.to_string(),
                to: run.run.to.to_string(),
                tools: tools.context("a run of no measurement")?,
            };
            self.outcome(&planned, &run).write(self.bench);
        }
        Ok(())
    }

    fn outcome(&self, planned: &Planned, run: &Line) -> Measurement {
        let folder = self.bench.folder(&format!("{:04}", planned.number));
        let name = run.run.to_string();
        let outcome = run
            .outcome
            .as_ref()
            .filter(|outcome| !outcome.files.is_empty());
        let Some(outcome) = outcome else {
            let said = run.reason.clone().unwrap_or_default();
            return outcome::without_record(planned, &run.status, said);
        };
        if let Err(error) = self.fetch(&name, &folder) {
            return outcome::without_record(planned, "record", error.to_string());
        }
        let took = outcome
            .began
            .map_or(Duration::ZERO, |began| outcome.ended.since(began));
        let ended = Ended {
            exit_status: None,
            said: outcome.reason.clone(),
            took,
        };
        outcome::of_record(planned, &folder, ended)
    }

    /// Fetches the record of a run.
    fn fetch(&self, run: &str, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(self.bench.folder(""))?;
        set_aside(self.bench.dir, folder)?;
        self.fleet(&["record", run, "--out", &folder.display().to_string()])?;
        Ok(())
    }

    /// All that was planned until now.
    fn account(&self) -> anyhow::Result<Account> {
        let text = self.fleet(&["runs", FLEET, "--last", "24h", "--json"])?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Says to the fleet what an operator would type, and returns what it answers.
    fn fleet(&self, words: &[&str]) -> anyhow::Result<String> {
        let all = [&["fleet"], words, &["--nats", self.stage.nats()]].concat();
        let all: Vec<_> = all.into_iter().map(str::to_owned).collect();
        let mut command = child::command(&all, []);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let answer = self.network.spawn(self.hub, command)?.wait_with_output()?;
        if !answer.status.success() {
            let said = String::from_utf8_lossy(&answer.stderr);
            bail!("{}: {}", words.join(" "), said.trim());
        }
        Ok(String::from_utf8(answer.stdout)?)
    }

    fn rest(&self, span: Duration) {
        let end = clock::now() + span;
        while clock::now() < end && !self.bench.is_interrupted() {
            clock::sleep_until(end.min(clock::now() + GLANCE));
        }
    }
}

/// What is written down of all that was made.
pub(super) fn made(bench: &Bench<'_>) -> Vec<Measurement> {
    (0..)
        .map_while(|number| found::read(bench, number))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds btc/cap-mesh, btc/cap-schedule, btc/cap-tool-choice.
    #[test]
    fn a_fleet_is_asked_for_every_pair_of_tools_at_a_quarter_of_the_rate() {
        let hosts = ["a", "b", "c"].map(str::to_owned);
        let text = file(&hosts.each_ref(), 7, Duration::from_millis(2_500));
        let file = FleetFile::parse(&text, "mesh").unwrap();
        assert_eq!(
            (file.hosts.len(), file.seed, file.measures.len()),
            (3, 7, 4)
        );
        let names: Vec<_> = file
            .measures
            .iter()
            .map(|measure| measure.name.as_str())
            .collect();
        assert_eq!(
            names,
            ["ours-ours", "ours-kernel", "kernel-ours", "kernel-kernel"]
        );
        assert!(
            text.contains("poisson = \"10000ms\"") && text.contains("--tools kernel,ours "),
            "{text}"
        );
    }
}
