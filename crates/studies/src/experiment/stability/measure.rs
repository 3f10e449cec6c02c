//! Making the measurements: each at its time, in a process on its source host.

use super::background::{self, Background};
use super::found::{Failed, Failure, Made, Measurement, name};
use super::schedule::Planned;
use crate::experiment::{Bench, PAPER_SEGMENTS};
use kit::lab_server::Far;
use kit::pool::child::{Ended, OWNER};
use kit::pool::{child, set_aside};
use lab::{Network, Options, Topology};
use record::{Record, Status};
use schema::btc::plan::Tool;
use schema::btc::tables::Transfer;
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
/// A measurement of which nothing has been heard for so long is ended.
const PATIENCE: Duration = Duration::from_secs(180);
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
    // Other people's traffic is by the same rules: the paper's time had no other.
    let options = Options {
        congestion_control: Some(CONTROL.to_owned()),
        ..Options::default()
    };
    let network = Network::up_with(topology, bench.seed, &options)?;
    let hosts = network.topology().hosts.clone();
    for host in &hosts {
        network.node(host)?.run(settle)?;
    }
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
        if let Some(failure) = &measurement.failure {
            let Planned {
                number, from, to, ..
            } = planned;
            let said = format!(
                "{number} {from} - {to}: {} ({})",
                failure.said, failure.class
            );
            self.bench.display.say(&said);
        }
        if let Ok(text) = serde_json::to_string_pretty(&measurement) {
            // One that cannot be written will be found missing, and made again.
            let _ = self.bench.write(&name(planned.number), &text);
        }
    }

    fn attempt(&self, planned: &Planned) -> Measurement {
        let of = |transfers, failure| Measurement {
            planned: planned.clone(),
            transfers,
            failure,
        };
        let folder = format!("{:04}", planned.number);
        let mut ended = match self.run(planned, &folder) {
            Ok(ended) => ended,
            Err(error) => {
                let failure = failure(Failed::Infrastructure, "lab", error.to_string());
                return of(Vec::new(), Some(failure));
            }
        };
        let record = Record::open(&self.bench.folder(&folder));
        let rows = record.as_ref().map(Record::rows::<Transfer>);
        let mut rows = rows.ok().and_then(Result::ok).unwrap_or_default();
        rows.sort_unstable_by_key(|row| row.transfer);
        let made: Vec<Made> = rows.iter().filter_map(made).collect();
        let run = record.as_ref().ok().map(Record::run);
        let warning = run.and_then(|run| run.warnings.first());
        ended.said = ended
            .said
            .or_else(|| warning.map(|warning| warning.message.clone()));
        let status = run.map(|run| run.status);
        let failure = judge(status, &rows, made.len(), &ended);
        of(made, failure)
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
    let tools = planned.tools.map(Tool::label).join(",");
    let text = format!(
        "btc {host} --tools {tools} --segments {PAPER_SEGMENTS} --cc {CONTROL} --window 135 --option growth=per-window \
         --option recovery=newreno --option rack=false --trace --seed {} --quiet --out",
        planned.number
    );
    let words = text.split(' ').map(str::to_owned);
    words.chain([out.to_owned()]).collect()
}

/// A transfer that came to its end.
fn made(row: &Transfer) -> Option<Made> {
    let seconds = row.seconds.filter(|seconds| *seconds > 0.0)?;
    let is_complete = &*row.outcome == "complete";
    is_complete.then_some(Made {
        tool: if &*row.tool == Tool::Ours.label() {
            Tool::Ours
        } else {
            Tool::Kernel
        },
        bytes_per_s: row.bytes as f64 / seconds,
        loss_pct: row.loss_pct?,
        seconds,
    })
}

fn failure(of: Failed, class: &str, said: String) -> Failure {
    Failure {
        of,
        class: class.to_owned(),
        said,
    }
}

/// What failed, if anything did. Without a transfer that began, what carries the measurements did.
fn judge(status: Option<Status>, rows: &[Transfer], made: usize, ended: &Ended) -> Option<Failure> {
    let said = ended.said.clone();
    let said = said.unwrap_or_else(|| format!("it ended with status {:?}", ended.exit_status));
    if status == Some(Status::Invalid) {
        return Some(failure(Failed::Instrument, "invalid", said));
    }
    if made == 2 {
        return None;
    }
    if ended.took > PATIENCE {
        return Some(failure(Failed::Transfer, "out of time", said));
    }
    match rows.iter().find(|row| &*row.outcome != "complete") {
        Some(row) => {
            let reason = row.reason.clone().unwrap_or(said);
            Some(failure(Failed::Transfer, &row.outcome, reason))
        }
        None if status.is_none() => {
            Some(failure(Failed::Infrastructure, "far end not reached", said))
        }
        None => Some(failure(Failed::Infrastructure, "not measured", said)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(said: &str) -> Ended {
        Ended {
            exit_status: Some(3),
            said: Some(said.to_owned()),
            took: Duration::from_secs(1),
        }
    }

    fn transfer(outcome: &'static str) -> Transfer {
        Transfer {
            tool: "ours".into(),
            direction: "up".into(),
            seconds: Some(2.0),
            end_ns: Some(2_000_000_000),
            segments: 725,
            bytes: 1_049_800,
            throughput_mbps: Some(4.2),
            sent_packets: 730,
            retransmits: 5,
            lost: 5,
            loss_pct: Some(0.7),
            cc: "reno".into(),
            outcome: outcome.into(),
            ..Transfer::default()
        }
    }

    #[test]
    fn a_transfer_is_what_its_row_says() {
        let made = made(&transfer("complete")).unwrap();
        assert!((made.bytes_per_s - 524_900.0).abs() < 1e-6 && made.tool == Tool::Ours);
        assert!(super::made(&transfer("stalled")).is_none());
    }

    /// Holds btc/cap-failures.
    #[test]
    fn what_carries_the_measurements_and_what_is_measured_fail_apart() {
        let of = |status, rows: &[Transfer], made| {
            judge(status, rows, made, &ended("no route")).map(|f| (f.of, f.class))
        };
        let both = [transfer("complete"), transfer("complete")];
        assert_eq!(of(Some(Status::Complete), &both, 2), None);
        let infrastructure = (Failed::Infrastructure, "far end not reached".to_owned());
        assert_eq!(of(None, &[], 0), Some(infrastructure));
        let stalled = [transfer("complete"), transfer("stalled")];
        assert_eq!(
            of(Some(Status::Complete), &stalled, 1),
            Some((Failed::Transfer, "stalled".to_owned()))
        );
        assert_eq!(
            of(Some(Status::Invalid), &both, 2).map(|f| f.0),
            Some(Failed::Instrument)
        );
    }
}
