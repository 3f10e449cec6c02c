//! The record of a lab in which other people's programs run: what each link carried, queued and dropped, which none of them can know.

use jiff::Timestamp;
use kit::begin::{Opened, lab_info};
use kit::ending::Ending;
use kit::host;
use kit::instrument::{self, Measured};
use kit::lab_counters::{LabCounters, LabRows};
use kit::measurement::{Figure, Measurement, figure, read};
use kit::warnings::List;
use lab::Network;
use record::{Record, Run};
use schema::{LabSummary, LinkTruth};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// What `test` says in such records.
const TEST: &str = "lab run";
/// What has been found is kept at most this often.
const KEEP: Duration = Duration::from_secs(1);

/// A record under way.
pub(super) struct Books<'a> {
    network: &'a Network,
    opened: Opened,
    run: Run,
    counters: LabCounters,
    rows: LabRows,
    origin: Instant,
    kept: Instant,
}

impl<'a> Books<'a> {
    /// Opens a record in the folder `out` of what the lab `name` does from now on.
    ///
    /// # Errors
    /// When the folder holds something else, or cannot be written.
    pub(super) fn open(
        (name, network): (&str, &'a Network),
        plan: Value,
        out: &Path,
    ) -> anyhow::Result<Self> {
        let mut run = Run::new(TEST, Timestamp::now(), plan);
        run.path.lab = Some(lab_info(name, network));
        run.hosts = vec![host::facts("client")];
        let opened = Opened::create(Some(out), name, &run)?;
        let origin = clock::now();
        let mut books = Self {
            network,
            opened,
            run,
            counters: LabCounters::new(network, origin, (Duration::ZERO, Duration::MAX)),
            rows: LabRows::default(),
            origin,
            kept: origin,
        };
        books.keep(origin)?;
        Ok(books)
    }

    /// The command could not be started: there is no record.
    pub(super) fn undo(&self) {
        self.opened.undo();
    }

    /// Takes what the links have counted.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        self.counters.take(self.network, &mut self.rows);
        // Nobody asked the lab for more than its counters.
        self.rows.extra.clear();
        let writer = &mut self.opened.writer;
        writer.append(&self.rows.queue)?;
        writer.append(&self.rows.counters)?;
        self.rows.queue.clear();
        self.rows.counters.clear();
        let now = clock::now();
        // A summary is made of all that there was, so it is made the more seldom the longer that is.
        if now.since(self.kept) >= KEEP.max(now.since(self.origin) / 100) {
            self.keep(now)?;
        }
        Ok(())
    }

    /// Keeps what has been found, so that it is there however the run ends.
    fn keep(&mut self, now: Instant) -> anyhow::Result<()> {
        self.kept = now;
        let writer = &mut self.opened.writer;
        writer.flush()?;
        let summary = summary(self.counters.truth(), now.since(self.origin), None);
        writer.keep(serde_json::to_value(summary)?)?;
        Ok(())
    }

    /// The command has ended with this exit status, by itself unless it was `cut` off; returns what a person reads of it.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn close(mut self, exit_status: u8, cut: bool) -> anyhow::Result<String> {
        self.look()?;
        let took = clock::now().since(self.origin);
        let summary = summary(self.counters.truth(), took, Some(exit_status));
        let ending = if cut {
            Ending::Interrupted
        } else {
            Ending::Complete
        };
        let mut list = List::default();
        list.ending(&ending, "the figures are of the time before");
        list.instrument(&self.run.instrument, &[], &summary.lab);
        let run = &mut self.run;
        run.warnings = list.0;
        run.status = instrument::status(&ending, Measured::All, &run.warnings, &[]);
        run.summary = serde_json::to_value(&summary)?;
        let dir = self.opened.writer.dir().to_owned();
        self.opened.writer.finish(&self.run)?;
        let card = scorecard(&self.run, &summary);
        Ok(format!("{card}record        {}", dir.display()))
    }
}

fn summary(lab: Vec<LinkTruth>, took: Duration, exit_status: Option<u8>) -> LabSummary {
    LabSummary {
        sentence: sentence(&lab),
        seconds: took.as_secs_f64(),
        exit_status,
        lab,
    }
}

/// Which queue was the longest, by its 95th percentile.
fn sentence(links: &[LinkTruth]) -> String {
    let queues = links.iter().filter_map(|link| Some((link, link.queue_ms?)));
    let longest = queues.max_by(|one, other| one.1.p95.total_cmp(&other.1.p95));
    let Some((link, queue)) = longest else {
        return "No link of this lab has a queue.".to_owned();
    };
    format!(
        "The longest queue was that of {} {}: median {:.1} ms, 95th percentile {:.1} ms.",
        link.link, link.direction, queue.p50, queue.p95
    )
}

/// Labs with other people's programs among the measurements.
pub(crate) struct LabRun;

impl Measurement for LabRun {
    const TESTS: &'static [&'static str] = &[TEST];
    const FIGURES: &'static [Figure] = &[figure("time", "s", "/seconds")];
    type Summary = LabSummary;

    fn summary(&self, record: &Record) -> anyhow::Result<LabSummary> {
        read(&record.run().summary, "summary")
    }

    fn scorecard(&self, run: &Run, summary: &LabSummary) -> String {
        scorecard(run, summary)
    }
}

/// Every direction of every link in a line.
fn scorecard(run: &Run, summary: &LabSummary) -> String {
    let mut page = format!("{}\n\n", kit::scorecard::title(run, "lab run"));
    let command = run.plan["command"].as_array().into_iter().flatten();
    let command: Vec<_> = command.filter_map(Value::as_str).collect();
    let status = summary.exit_status.map_or_else(
        || "running, or killed".to_owned(),
        |status| format!("exit status {status}"),
    );
    let _ = writeln!(
        page,
        "command       {}: {status}, after {:.1} s",
        command.join(" "),
        summary.seconds
    );
    for link in &summary.lab {
        let rate = link
            .rate_mbps
            .map_or_else(String::new, |rate| format!(" of {rate:.2}"));
        let queue = link.queue_ms.as_ref().map_or_else(String::new, |queue| {
            format!(
                "; queue {:.1} ms median, {:.1} ms 95 %",
                queue.p50, queue.p95
            )
        });
        let gone = [
            ("overflow", link.dropped_overflow),
            ("AQM", link.dropped_aqm),
            ("loss", link.dropped_loss),
        ];
        let gone = gone.into_iter().filter(|(_, packets)| *packets > 0);
        let gone: Vec<_> = gone
            .map(|(why, packets)| format!("{packets} by {why}"))
            .collect();
        let gone = if gone.is_empty() {
            String::new()
        } else {
            format!("; dropped {}", gone.join(", "))
        };
        let marked = match link.marked {
            0 => String::new(),
            marked => format!("; {marked} marked CE"),
        };
        let name = format!("{} {}", link.link, link.direction);
        let _ = writeln!(
            page,
            "{name:24}{:.2}{rate} Mbit/s{queue}{gone}{marked}",
            link.carried_mbps
        );
    }
    for line in kit::scorecard::closing(run) {
        let _ = writeln!(page, "{line}");
    }
    page.push('\n');
    page
}

/// What is asked for, as the record has it.
pub(super) fn plan(place: &super::Place, command: &[String]) -> Value {
    json!({
        "lab": place.name,
        "on": place.on,
        "also": place.also,
        "seed": place.seed,
        "command": command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_queue_is_a_queue() {
        let link = |name: &str, queue_ms: Option<f64>| LinkTruth {
            link: name.to_owned(),
            direction: "up".to_owned(),
            rate_mbps: None,
            carried_mbps: 0.0,
            queue_ms: queue_ms.and_then(|ms| record::Distribution::of([ms])),
            dropped_overflow: 0,
            dropped_aqm: 0,
            dropped_loss: 0,
            marked: 0,
            emulator_late_p50_us: 0.0,
            emulator_late_p99_us: 0.0,
            unwritten: 0,
        };
        let of = |links: &[LinkTruth]| sentence(links);
        let all = [link("a-b", Some(0.0)), link("b-c", None)];
        assert!(of(&all).contains("a-b up: median 0.0 ms"), "{}", of(&all));
        assert!(of(&all[1..]).starts_with("No link"));
    }
}
