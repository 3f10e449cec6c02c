//! Making the measurements: each at its time, in a process on its source host.

use super::background::{self, Background};
use super::found::Measurement;
use super::outcome::{self, PATIENCE};
use super::schedule::Planned;
use crate::experiment::{Bench, PAPER_SEGMENTS};
use kit::lab_server::Far;
use kit::pool::child::{Ended, OWNER};
use kit::pool::{child, set_aside};
use lab::{Network, Options, Topology};
use schema::btc::plan::Tool;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};
use sys::clock;
use units::Instant;

/// By which rules, in words.
pub(super) const RULES: &str = "Both tools: Reno's window with NewReno and without SACK (NetBSD 1.3, the paper's TCP, had none), time \
    stamps, delayed acknowledgements, at most 135 segments in flight, an initial window of 10 as the kernel's. Ours grows once for each \
    window acknowledged, as the paper's tool did; the kernel counts what is acknowledged, which comes to the same.";
/// How often a start or an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// Congestion control of both tools and of other people's traffic.
const CONTROL: &str = "reno";
/// What the kernel of each host is told: no SACK, and nothing remembered of earlier connections.
const SETTINGS: [(&str, &str); 2] = [("tcp_sack", "0"), ("tcp_no_metrics_save", "1")];

/// What the measurements are made with.
struct Mesh<'a> {
    bench: &'a Bench<'a>,
    network: &'a Network,
    far: &'a BTreeMap<String, Far>,
    /// Those that are over.
    done: AtomicUsize,
    all: usize,
}

/// Brings up the lab and makes the measurements `due`, which are in the order of their starts.
pub(super) fn all(
    bench: &Bench<'_>,
    topology: Topology,
    background: &[Background],
    due: &[Planned],
) -> anyhow::Result<()> {
    let network = network(topology, bench.seed)?;
    let hosts = network.topology().hosts.clone();
    let far = |host: &String| Ok((host.clone(), Far::start(&network, host, false)?));
    let far = hosts.iter().map(far).collect::<anyhow::Result<_>>()?;
    let mesh = Mesh {
        bench,
        network: &network,
        far: &far,
        done: AtomicUsize::new(0),
        all: due.len(),
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let started = background::start(scope, &network, background, bench.seed, &stop);
        if started.is_ok() {
            mesh.keep_time(due);
        }
        stop.store(true, Ordering::Relaxed);
        started
    })
}

/// The lab, by the rules of the paper's time, for other people's traffic too.
pub(super) fn network(topology: Topology, seed: u64) -> anyhow::Result<Network> {
    let options = Options {
        congestion_control: Some(CONTROL.to_owned()),
        ..Options::default()
    };
    let network = Network::up_with(topology, seed, &options)?;
    for host in &network.topology().hosts {
        network.node(host)?.run(settle)?;
    }
    Ok(network)
}

/// Sets the kernel of the calling thread's host up.
fn settle() -> Result<(), sys::Error> {
    SETTINGS.into_iter().try_for_each(|(name, value)| {
        let path = format!("/proc/sys/net/ipv4/{name}");
        fs::write(&path, value).map_err(|error| sys::Error::io("write", &path, error))
    })
}

impl Mesh<'_> {
    /// Starts each measurement at its time and waits for all. Those of an experiment that goes on keep their distances.
    fn keep_time(&self, due: &[Planned]) {
        let skipped = due.first().map_or(Duration::ZERO, |first| first.start);
        let last = due.last().map_or(Duration::ZERO, |last| last.start);
        let last = last.saturating_sub(skipped);
        let begin = clock::now();
        thread::scope(|scope| {
            for planned in due {
                let start = begin + planned.start.saturating_sub(skipped);
                if !self.wait_until(start) {
                    return;
                }
                let left = last.saturating_sub(clock::now().since(begin));
                self.show(left);
                scope.spawn(move || self.measure(planned));
            }
        });
    }

    /// Waits; says whether the user did not interrupt.
    fn wait_until(&self, start: Instant) -> bool {
        while clock::now() < start && !self.bench.is_interrupted() {
            clock::sleep_until(start.min(clock::now() + LOOK));
        }
        !self.bench.is_interrupted()
    }

    fn show(&self, left: Duration) {
        let done = self.done.load(Ordering::Relaxed);
        self.bench
            .display
            .progress("measurement", done, self.all, left);
    }

    /// Makes one, and writes down what became of it.
    fn measure(&self, planned: &Planned) {
        let measurement = self.attempt(planned);
        self.done.fetch_add(1, Ordering::Relaxed);
        if self.bench.is_interrupted() {
            return;
        }
        measurement.write(self.bench);
    }

    fn attempt(&self, planned: &Planned) -> Measurement {
        let folder = format!("{:04}", planned.number);
        let ended = match self.run(planned, &folder) {
            Ok(ended) => ended,
            Err(error) => {
                return outcome::without_record(planned, "lab", error.to_string());
            }
        };
        outcome::of_record(planned, &self.bench.folder(&folder), ended)
    }

    /// The process, to its end.
    fn run(&self, planned: &Planned, folder: &str) -> anyhow::Result<Ended> {
        let far = self.far.get(&planned.to);
        let far = far.ok_or_else(|| anyhow::anyhow!("{} has no far end", planned.to))?;
        let out = self.bench.folder(folder);
        set_aside(self.bench.dir, &out)?;
        let mut command = child::command(
            &arguments(planned, &far.host(), &out.display().to_string()),
            [],
        );
        command
            .env(OWNER, self.bench.mark)
            .env("ISOBATH_KEY", far.key().to_string())
            .current_dir(self.bench.dir);
        let child = self.network.spawn(&planned.from, command)?;
        let stop = AtomicBool::new(false);
        let watch = |took| {
            if took > PATIENCE || self.bench.is_interrupted() {
                stop.store(true, Ordering::Relaxed);
            }
        };
        Ok(child::follow(child, &stop, child::ENDING, &watch)?)
    }
}

fn arguments(planned: &Planned, host: &str, out: &str) -> Vec<String> {
    let transfers = transfers(planned.tools);
    let text = format!(
        "btc {host} {transfers} --trace --seed {} --quiet --out",
        planned.number
    );
    let words = text.split(' ').map(str::to_owned);
    words.chain([out.to_owned()]).collect()
}

/// Two transfers, as `isobath btc` is asked for them.
pub(super) fn transfers(tools: [Tool; 2]) -> String {
    let tools = tools.map(Tool::label).join(",");
    format!(
        "--tools {tools} --segments {PAPER_SEGMENTS} --cc {CONTROL} --window 135 --option growth=per-window \
         --option recovery=newreno --option rack=false"
    )
}
