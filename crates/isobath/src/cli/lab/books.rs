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
/// What has been found is kept this often.
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
        Ok(Self {
            network,
            opened,
            run,
            counters: LabCounters::new(network, origin, (Duration::ZERO, Duration::MAX)),
            rows: LabRows::default(),
            origin,
            kept: origin,
        })
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
        if now.since(self.kept) >= KEEP {
            self.kept = now;
            writer.flush()?;
            let summary = summary(self.counters.truth(), now.since(self.origin), None);
            writer.keep(serde_json::to_value(summary)?)?;
        }
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

/// What the longest queue was.
fn sentence(links: &[LinkTruth]) -> String {
    let high = |link: &&LinkTruth| link.queue_ms.as_ref().map_or(0.0, |queue| queue.p95);
    let longest = links
        .iter()
        .max_by(|one, other| high(one).total_cmp(&high(other)));
    let Some((link, queue)) = longest.and_then(|link| Some((link, link.queue_ms.as_ref()?))) else {
        return "No link of this lab has a queue.".to_owned();
    };
    format!(
        "The longest queue was that of {} {}: {:.1} ms for half of the time, {:.1} ms for 5 % of it.",
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
        || "killed".to_owned(),
        |status| format!("exit status {status}"),
    );
    let _ = writeln!(
        page,
        "command       {}: {status} after {:.1} s",
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
