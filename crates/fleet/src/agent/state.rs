//! What the tasks of an agent share, and what they do with it.

use super::book::Book;
use super::demands::Demands;
use super::far::FarEnd;
use super::metrics::{Metrics, Now};
use super::{run, wall};
use crate::bus::{self, Bus};
use crate::file::FleetFile;
use crate::ledger::{Beginning, Entry};
use crate::outcome::{Became, Outcome, Times};
use crate::revisions::{Document, Due, Revisions, Whose};
use crate::{Identity, Moment, Name, RunId};
use kit::register::Register;
use kit::usage::plain;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::process;
use tokio::sync::Notify;

/// Time that has passed while there was no agent is accounted for back to this.
pub(super) const LOOK_BACK: Duration = Duration::from_secs(2 * 86_400);

/// What the tasks of an agent share.
pub(super) struct State {
    pub(super) name: Name,
    pub(super) site: Option<Name>,
    pub(super) tags: Vec<Name>,
    /// Tells this process from others of the same name.
    pub(super) instance: String,
    pub(super) verbs: Vec<String>,
    /// Under all that it hands over.
    pub(super) identity: Identity,
    pub(super) dir: PathBuf,
    pub(super) keep: bool,
    pub(super) quiet: bool,
    pub(super) started: Moment,
    pub(super) book: Book,
    pub(super) far: FarEnd,
    pub(super) fleets: BTreeMap<Name, Revisions>,
    /// Fleets of which a revision has just been heard, and from when on it holds: some of its runs may be due since then.
    pub(super) heard: BTreeMap<Name, Moment>,
    /// The sequence number of the stream of revisions from which on nothing has been heard.
    pub(super) sequence: u64,
    /// How other agents let us in, as they said last.
    pub(super) doors: BTreeMap<Name, (SocketAddr, String)>,
    pub(super) running: BTreeSet<RunId>,
    /// What operators have asked this host to take part in, at either end, beside the schedule.
    pub(super) demands: Demands,
    pub(super) register: &'static Register,
    pub(super) metrics: Metrics,
    /// Whether the metrics are served or pushed.
    pub(super) is_watched: bool,
    /// The connection, while it works.
    pub(super) bus: Option<Bus>,
    pub(super) stop: Arc<AtomicBool>,
    /// Rung when there is something to hand over.
    pub(super) ended: Rc<Notify>,
}

impl State {
    pub(super) fn is_connected(&self) -> bool {
        self.bus.is_some()
    }

    /// For the metrics.
    pub(super) fn now(&self) -> Now {
        Now {
            is_connected: self.is_connected(),
            running: self.running.len(),
            unhanded: self.book.ledger().unhanded().count(),
        }
    }

    pub(super) fn folder(&self, run: &RunId) -> PathBuf {
        run::folder(&self.dir, run)
    }

    /// A line for the operator.
    pub(super) fn say(&self, line: &str) {
        if !self.quiet {
            let line = plain(line).replace('\n', " ");
            let mut stderr = std::io::stderr();
            // Whoever does not read must not stop renewals; with stderr closed there is nobody to tell.
            if process::can_write(&stderr) {
                let _ = writeln!(stderr, "{line}");
            }
        }
    }

    /// Runs of `fleet` that this host is to begin by `now` and that have no line yet.
    pub(super) fn due(&mut self, fleet: &Name, now: Moment) -> Vec<Due> {
        let back = now
            .as_millis()
            .saturating_sub(u64::try_from(LOOK_BACK.as_millis()).unwrap_or(0));
        let back = Moment::from_millis(back);
        let from = self.book.ledger().until(fleet).unwrap_or(back);
        let heard = self.heard.get(fleet).copied().unwrap_or(from);
        let from = from.min(heard).min(now).max(back);
        let Some(revisions) = self.fleets.get_mut(fleet) else {
            return Vec::new();
        };
        let mut due = revisions.between(from, now + Duration::from_millis(1));
        self.demands.add_to(&mut due, fleet, now);
        let (book, name) = (&self.book, &self.name);
        due.retain(|due| due.plan.host(due.run.from) == name && !book.ledger().knows(&due.id()));
        due
    }

    pub(super) fn begin(&mut self, due: &Due, now: Moment) -> std::io::Result<()> {
        let run = due.id();
        self.book.write(Entry::Began {
            run: run.clone(),
            beginning: Beginning {
                planned: due.run.begins,
                at: now,
                on_demand: due.is_on_demand,
            },
        })?;
        self.running.insert(run);
        Ok(())
    }

    pub(super) fn miss(&mut self, due: &Due, reason: String) -> std::io::Result<()> {
        let times = Times {
            planned: due.run.begins,
            began: None,
            ended: wall(),
        };
        let site = self.site.clone();
        let outcome = Outcome::without_record(due.id(), site, times, Became::Missed, reason);
        self.end(&Outcome {
            on_demand: due.is_on_demand,
            ..outcome
        })
    }

    pub(super) fn end(&mut self, outcome: &Outcome) -> std::io::Result<()> {
        let reason = outcome.reason.as_ref().map(|reason| format!(": {reason}"));
        let said = format!(
            "{} {}{}",
            outcome.run,
            outcome.status,
            reason.unwrap_or_default()
        );
        self.book.write(Entry::Ended(Box::new(outcome.clone())))?;
        let revisions = self.fleets.get(&outcome.run.fleet);
        let thresholds = revisions.map_or(&[][..], |revisions| revisions.thresholds(&outcome.run));
        self.metrics.ended(outcome, self.register, thresholds);
        self.say(&said);
        self.ended.notify_one();
        Ok(())
    }

    /// Runs that an earlier process of this agent had begun: what they left is their record.
    pub(super) fn close_what_was_cut_short(&mut self) -> std::io::Result<()> {
        let begun = self.book.ledger().begun();
        let begun: Vec<_> = begun
            .map(|(run, beginning)| (run.clone(), beginning))
            .collect();
        for (run, beginning) in begun {
            let times = Times {
                planned: beginning.planned,
                began: Some(beginning.at),
                ended: wall(),
            };
            let folder = self.folder(&run);
            let said = Some("the agent was ended while it ran".to_owned());
            let outcome = run::of_folder(run, self.site.clone(), times, &folder, said);
            self.end(&Outcome {
                on_demand: beginning.on_demand,
                ..outcome
            })?;
        }
        Ok(())
    }

    /// The revisions that were last heard, from the disk.
    pub(super) fn remember(&mut self) {
        let text = match fs::read(self.dir.join(FLEETS)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.say(&format!("{FLEETS} cannot be read: {error}")),
        };
        let kept = bus::parse::<BTreeMap<Name, Vec<Document>>>(&text);
        let Some(kept) = kept else {
            return self.say(&format!(
                "{FLEETS} cannot be understood - fleets are known again when NATS is there"
            ));
        };
        for (name, documents) in kept {
            for document in documents {
                self.take(&name, document);
            }
        }
    }

    /// Takes a revision of a fleet; true if it is new.
    pub(super) fn take(&mut self, name: &Name, document: Document) -> bool {
        let whose = Whose::Of(self.name.clone());
        let file = FleetFile::parse(&document.file, "the fleet file");
        let revisions = self.fleets.entry(name.clone());
        let pushed = revisions
            .or_insert_with(|| Revisions::new(whose))
            .push(document);
        if let (Ok(true), Ok(file)) = (&pushed, file) {
            self.metrics.keep_to(&file);
        }
        pushed.unwrap_or_else(|error| {
            self.say(&format!(
                "fleet '{name}' cannot be carried out by this version: {error}"
            ));
            false
        })
    }

    /// Keeps the revisions on disk, for a start while NATS is away.
    pub(super) fn note(&self) -> std::io::Result<()> {
        let fleets: BTreeMap<&Name, Vec<&Document>> = self
            .fleets
            .iter()
            .map(|(name, revisions)| (name, revisions.documents().collect()))
            .collect();
        write_whole(&self.dir.join(FLEETS), &serde_json::to_vec(&fleets)?)
    }
}

/// The revisions that were last heard, in the agent's folder.
const FLEETS: &str = "fleets.json";

/// Replaces a file in one step, also where the power fails.
fn write_whole(path: &Path, octets: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(octets)?;
    file.sync_all()?;
    fs::rename(new, path)
}
