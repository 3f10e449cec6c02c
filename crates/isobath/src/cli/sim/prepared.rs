//! What all measurements in virtual time have in common: they are prepared, begun, carried out and told in the same way.

use crate::register::REGISTER;
use jiff::Timestamp;
use kit::ending::Ending;
use kit::host;
use kit::options::{self, Output};
use kit::virtual_path::Path;
use record::{PathInfo, RecordWriter, Run};
use serde_json::{Value, json};
use sim::Work;
use sys::{clock, proc};

/// A measurement that can begin: what could be refused has been.
pub(crate) struct Prepared<'a> {
    /// As it is before the run.
    pub(crate) run: Run,
    /// Lines for a person below the scorecard.
    pub(super) notes: String,
    /// Does it: rows go to the record, the conclusion into the run.
    pub(super) simulate: Box<Simulate<'a>>,
}

type Simulate<'a> =
    dyn FnOnce(&mut Run, &mut RecordWriter) -> anyhow::Result<(Ending, Option<Work>)> + 'a;

impl Prepared<'_> {
    /// Carries it out; rows go to the record.
    ///
    /// # Errors
    /// When the record cannot be written, or the simulation failed.
    pub(crate) fn carry_out(self, writer: &mut RecordWriter) -> anyhow::Result<(Run, Ending)> {
        let mut run = self.run;
        let begun = clock::now();
        let (ending, work) = (self.simulate)(&mut run, writer)?;
        let took = clock::now().since(begun).as_secs_f64();
        let more = &mut run.instrument.more;
        more.insert("wall_s".to_owned(), json!(took));
        if let Some(work) = work {
            more.insert("packet_events".to_owned(), json!(work.events()));
        }
        Ok((run, ending))
    }

    /// Carries it out, leaves a record of what is called `name`, and tells what came of it. Returns the exit status.
    pub(super) fn run(self, name: &str, output: &Output) -> anyhow::Result<u8> {
        let mut opened = output.open(name, &self.run)?;
        let notes = self.notes.clone();
        let carried_out = self.carry_out(&mut opened.writer);
        let (mut run, ending) = carried_out.inspect_err(|_| opened.undo())?;
        if let Some(octets) = proc::peak_memory() {
            let megabytes = json!(octets as f64 / 1e6);
            let more = &mut run.instrument.more;
            more.insert("peak_memory_mb".to_owned(), megabytes);
        }
        let dir = opened.writer.dir().to_owned();
        opened.writer.finish(&run)?;
        output.tell(&run, &dir, || {
            Ok(REGISTER.of_test(&run.test)?.scorecard_of(&run)? + &notes)
        })?;
        Ok(options::exit_status(&run, &ending))
    }
}

/// What is known before a run of `test` over `path`.
pub(super) fn new_run(test: &str, mut plan: Value, output: &Output, path: PathInfo) -> Run {
    plan["note"] = json!(output.note);
    let mut run = Run::new(test, Timestamp::now(), plan);
    run.path = path;
    run.hosts = vec![host::of_virtual_time()];
    run
}

/// The links in words.
pub(super) fn links(path: &Path) -> String {
    let line = |link: &kit::virtual_path::Link| {
        let (up, down) = (link.up.describe(), link.down.describe());
        format!("link          {}: {up} | back: {down}\n", link.name)
    };
    path.links.iter().map(line).collect()
}
