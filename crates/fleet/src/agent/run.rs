//! One run, from its leases to its outcome.

use super::{State, wall};
use crate::RunId;
use crate::bus::Bus;
use crate::lease::{Answer, Ask, Ending, Lessee};
use crate::messages::Knock;
use crate::outcome::{Became, Outcome, Times};
use crate::revisions::Due;
use kit::pool::child::{self, Ended};
use kit::pool::run_in;
use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::{clock, process};
use units::Instant;

/// How often a run that loads looks whether it still may.
const LOOK: Duration = Duration::from_millis(100);
/// A run that must stop has so long to close its record: less than leases have left.
const ENDING: Duration = Duration::from_secs(3);
/// How often a far end that does not answer is asked.
const KNOCKS: u32 = 3;
/// A far end that was asked before is tried as it was then, while NATS is away.
const BETWEEN_KNOCKS: Duration = Duration::from_secs(1);

/// A run under way.
pub(super) struct Running {
    state: Rc<RefCell<State>>,
    due: Due,
    id: RunId,
    /// When it must stop, in nanoseconds of the monotonic clock, unless its leases are renewed.
    safe_until: Arc<AtomicU64>,
}

impl Running {
    pub(super) fn new(state: Rc<RefCell<State>>, due: Due) -> Self {
        let id = due.id();
        Self {
            state,
            due,
            id,
            safe_until: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// Carries it out; what became of it.
    pub(super) async fn carry_out(self) -> Outcome {
        let measure = self.due.plan.measure(&self.due.run);
        if !self
            .state
            .borrow()
            .verbs
            .iter()
            .any(|verb| verb == measure.verb())
        {
            let verb = measure.verb();
            return self.missed(format!("this version does not know '{verb}' - update it"));
        }
        if !measure.is_load() {
            return self.measure(|| ()).await;
        }
        let Some(bus) = self.bus() else {
            return self.missed("NATS is away, so no lease can be had".to_owned());
        };
        let now = clock::now();
        let late = wall().since(self.due.run.begins);
        let patience = now + self.due.patience().saturating_sub(late);
        let seed = RandomState::new().hash_one(&self.id);
        let lessee = RefCell::new(Lessee::new(self.keys(), patience, seed));
        let token = format!("{} at {}", self.id, self.state.borrow().instance);
        while !lessee.borrow().may_load(clock::now()) {
            if let Some(ending) = lessee.borrow().ending() {
                return self.missed(told(ending));
            }
            if self.state.borrow().stop.load(Ordering::Relaxed) || lessee.borrow().must_stop() {
                lessee.borrow_mut().give_back();
            }
            step(&lessee, &bus, &token).await;
        }
        let safe_until = &*self.safe_until;
        let keeping = keep(&lessee, &bus, &token, safe_until);
        let measuring = self.measure(|| lessee.borrow_mut().give_back());
        let (lost, outcome) = tokio::join!(keeping, measuring);
        match lost {
            Some(lost) if outcome.status != Became::Complete => Outcome {
                reason: Some(lost),
                ..outcome
            },
            _ => outcome,
        }
    }

    fn bus(&self) -> Option<Bus> {
        self.state.borrow().bus.clone()
    }

    /// What a run that loads has for itself.
    fn keys(&self) -> Vec<String> {
        let run = &self.due.run;
        let hosts = [run.from, run.to].map(|host| format!("host.{}", self.due.plan.host(host)));
        let links = self.due.plan.links(run).map(|link| format!("link.{link}"));
        hosts.into_iter().chain(links).collect()
    }

    fn times(&self, has_begun: bool) -> Times {
        let planned = self.due.run.begins;
        let now = wall();
        Times {
            planned,
            began: has_begun.then_some(now),
            ended: now,
        }
    }

    fn missed(&self, reason: String) -> Outcome {
        let site = self.state.borrow().site.clone();
        Outcome::without_record(
            self.id.clone(),
            site,
            self.times(false),
            Became::Missed,
            reason,
        )
    }

    /// Runs the measurement in a process of its own, and says what its record says; `is_over` is told before anything else.
    async fn measure(&self, is_over: impl FnOnce()) -> Outcome {
        let (address, key) = match self.let_in().await {
            Ok(found) => found,
            Err(error) => {
                is_over();
                return self.missed(error.to_string());
            }
        };
        let folder = self.state.borrow().folder(&self.id);
        let began = self.times(true);
        let ended = self.child(&address, key, &folder).await;
        is_over();
        let site = self.state.borrow().site.clone();
        let times = Times {
            ended: wall(),
            ..began
        };
        match ended {
            Ok(ended) => of_folder(self.id.clone(), site, times, &folder, ended.said),
            Err(error) => Outcome::without_record(
                self.id.clone(),
                site,
                times,
                Became::Failed,
                error.to_string(),
            ),
        }
    }

    /// Asks the far end; while NATS is away, what it said last must do.
    async fn let_in(&self) -> anyhow::Result<(SocketAddr, String)> {
        let verb = self.due.plan.measure(&self.due.run).verb().to_owned();
        let knock = Knock {
            run: self.id.clone(),
            verb,
        };
        let to = &self.id.to;
        let mut said = None;
        for attempt in 0..KNOCKS {
            if attempt > 0 {
                tokio::time::sleep(BETWEEN_KNOCKS).await;
            }
            let Some(bus) = self.bus() else { break };
            match bus.knock(to, &knock).await {
                Ok(found) => {
                    let mut state = self.state.borrow_mut();
                    state.doors.insert(to.clone(), found.clone());
                    return Ok(found);
                }
                Err(error) => said = Some(error),
            }
        }
        let state = self.state.borrow();
        match state.doors.get(to).filter(|_| !state.is_connected()) {
            Some(door) => Ok(door.clone()),
            None => Err(said.unwrap_or_else(|| {
                anyhow::anyhow!("NATS is away, and agent '{to}' was never asked before")
            })),
        }
    }

    async fn child(
        &self,
        address: &SocketAddr,
        key: String,
        folder: &Path,
    ) -> anyhow::Result<Ended> {
        let measure = self.due.plan.measure(&self.due.run);
        let words = measure.run.split_whitespace().map(str::to_owned);
        let rest = [
            address.to_string(),
            "--quiet".to_owned(),
            "--out".to_owned(),
            folder.to_string_lossy().into_owned(),
        ];
        let arguments: Vec<String> = words.chain(rest).collect();
        let takes = measure.takes.0;
        let (safe_until, stopped) = (
            Arc::clone(&self.safe_until),
            self.state.borrow().stop.clone(),
        );
        let work = move || {
            // Being let in may have taken longer than the leases lasted.
            let is_safe = clock::now().as_nanos() < safe_until.load(Ordering::Relaxed);
            anyhow::ensure!(
                is_safe && !stopped.load(Ordering::Relaxed),
                "it had to stop before it began"
            );
            let mut command = child::command(&arguments, []);
            command.env("ISOBATH_KEY", key);
            let child = process::spawn_tied(command)?;
            let stop = AtomicBool::new(false);
            let watch = |elapsed| {
                let is_safe = clock::now().as_nanos() < safe_until.load(Ordering::Relaxed);
                if elapsed > takes || !is_safe || stopped.load(Ordering::Relaxed) {
                    stop.store(true, Ordering::Relaxed);
                }
            };
            anyhow::Ok(child::follow(child, &stop, ENDING, &watch)?)
        };
        tokio::task::spawn_blocking(work).await?
    }
}

/// What the record in `folder` says became of a run; `said` is what the run complained about.
pub(super) fn of_folder(
    id: RunId,
    site: Option<crate::Name>,
    times: Times,
    folder: &Path,
    said: Option<String>,
) -> Outcome {
    if let Some(record) = run_in(folder) {
        return Outcome::of_record(id, site, times, record, said);
    }
    let said = said.unwrap_or_else(|| "it left no record".to_owned());
    Outcome::without_record(id, site, times, Became::Failed, said)
}

/// Keeps the leases until they are given back, and says until when that is safe. When they are lost it says why.
async fn keep(
    lessee: &RefCell<Lessee>,
    bus: &Bus,
    token: &str,
    safe_until: &AtomicU64,
) -> Option<String> {
    let mut lost = None;
    loop {
        let (safe, ending) = {
            let lessee = lessee.borrow();
            (lessee.safe_until(), lessee.ending().cloned())
        };
        safe_until.store(safe.as_nanos(), Ordering::Relaxed);
        match ending {
            Some(ending @ Ending::Lost { .. }) => {
                lost = Some(told(&ending));
                break;
            }
            Some(_) => break,
            None => step(lessee, bus, token).await,
        }
    }
    lost
}

/// One request of a lessee, or a short rest.
async fn step(lessee: &RefCell<Lessee>, bus: &Bus, token: &str) {
    let (ask, next) = {
        let mut lessee = lessee.borrow_mut();
        (lessee.poll(clock::now()), lessee.next_event())
    };
    let Some(ask) = ask else {
        return rest(next).await;
    };
    let answer = bus.lease(&ask, token).await;
    let is_refused = matches!((&ask, &answer), (Ask::Create(_), Answer::Gone));
    let must_rest = is_refused || answer == Answer::Silence;
    lessee.borrow_mut().answer(answer, clock::now());
    if must_rest {
        tokio::time::sleep(LOOK).await;
    }
}

async fn rest(until: Option<Instant>) {
    let left = until.map_or(LOOK, |until| until.since(clock::now()));
    tokio::time::sleep(left.clamp(Duration::from_millis(1), LOOK)).await;
}

fn told(ending: &Ending) -> String {
    match ending {
        Ending::GivenBack => "the agent was ended before it began".to_owned(),
        Ending::Busy { key, holder } => {
            format!("{} was taken by {holder}", key.replacen('.', " ", 1))
        }
        Ending::Silence => "NATS is away, so no lease could be had".to_owned(),
        Ending::Lost { key } => format!("the lease of {} was lost", key.replacen('.', " ", 1)),
    }
}

/// Where the record of a run is kept until it is handed over.
pub(super) fn folder(dir: &Path, run: &RunId) -> PathBuf {
    dir.join("records").join(run.to_string())
}
