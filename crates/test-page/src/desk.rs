//! Who is measuring at the moment, and whose reports there are.

use crate::call::CallEnd;
use crate::plan::{self, Carrier};
use data_encoding::HEXLOWER;
use kit::sampler::{Sampler, Sink, StreamEnd};
use kit::secret::secret;
use rrul::streams::{Kind, StreamPlan};
use schema::rrul::Plan;
use schema::tables::{Cpu, Series};
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use sys::clock;
use tokio::sync::Notify;
use units::{Instant, source};
use web::guests::Visits;

/// Runs at once, in all and of one source: each makes the path full.
const MOST_RUNS: usize = 4;
const MOST_FROM_ONE: usize = 2;
/// Records that strangers may leave here between two starts of the server, some 100 kB each.
const MOST_RECORDS: usize = 10_000;
/// Reports that can be had, of the latest runs.
const MOST_REPORTS: usize = 1_000;
/// Datagrams of a call, several times what a run has.
const MOST_HEARD: usize = 10_000;

/// See the module.
pub(crate) struct Desk {
    /// Where records go.
    pub(crate) records: PathBuf,
    plans: fn(Carrier) -> Plan,
    runs: Mutex<HashMap<String, Arc<Run>>>,
    kept: Mutex<Kept>,
    visits: Visits,
    /// Raised when nobody takes datagrams any more.
    without_datagrams: AtomicBool,
}

#[derive(Default)]
struct Kept {
    reports: VecDeque<(String, PathBuf)>,
    records: usize,
}

/// A run under way.
pub(crate) struct Run {
    pub(crate) id: String,
    /// Whose it is.
    pub(crate) peer: SocketAddr,
    plans: fn(Carrier) -> Plan,
    begun: Mutex<Option<Arc<Begun>>>,
    call: Mutex<CallEnd>,
    taken: Mutex<HashSet<u16>>,
    has_datagrams: AtomicBool,
    /// Connections that load a page at the moment: the number of the latest load, and what closes each.
    loading: Mutex<Vec<(u32, Weak<Notify>)>>,
    /// Raised when the run is over, however it ended.
    pub(crate) stop: Arc<AtomicBool>,
}

/// A run that has begun: by now it is known how its browser probes.
pub(crate) struct Begun {
    pub(crate) plan: Plan,
    pub(crate) streams: Vec<StreamPlan>,
    /// What looks at this end's connections.
    pub(crate) sampler: Arc<Sampler<Seen>>,
}

/// What this end has seen.
#[derive(Default)]
pub(crate) struct Seen(Mutex<Found>);

#[derive(Default)]
pub(crate) struct Found {
    pub(crate) series: Vec<Series>,
    pub(crate) cpu: Vec<Cpu>,
    pub(crate) ended: Vec<StreamEnd>,
}

impl Sink for Seen {
    fn series(&self, row: Series) {
        lock(&self.0).series.push(row);
    }

    fn cpu(&self, row: Cpu) {
        lock(&self.0).cpu.push(row);
    }

    fn ended(&self, end: StreamEnd) {
        lock(&self.0).ended.push(end);
    }
}

impl Seen {
    pub(crate) fn take(&self) -> Found {
        std::mem::take(&mut lock(&self.0))
    }
}

impl Desk {
    /// Keeps records of runs of `plans` below `records`; `visits` is told of runs.
    pub(crate) fn new(records: PathBuf, plans: fn(Carrier) -> Plan, visits: Visits) -> Self {
        Self {
            records,
            plans,
            runs: Mutex::default(),
            kept: Mutex::default(),
            visits,
            without_datagrams: AtomicBool::default(),
        }
    }

    /// Whether datagrams are taken, where there is a server of them.
    pub(crate) fn has_datagrams(&self) -> bool {
        !self.without_datagrams.load(Ordering::Relaxed)
    }

    pub(crate) fn end_datagrams(&self) {
        self.without_datagrams.store(true, Ordering::Relaxed);
    }

    /// A new run of `peer`'s.
    ///
    /// # Errors
    /// One line for whoever waits for it, where there are too many.
    pub(crate) fn admit(self: &Arc<Self>, peer: SocketAddr) -> Result<Admitted, &'static str> {
        let from = |run: &Arc<Run>| source(run.peer.ip()) == source(peer.ip());
        let mut runs = lock(&self.runs);
        if runs.len() >= MOST_RUNS || runs.values().filter(|run| from(run)).count() >= MOST_FROM_ONE
        {
            return Err("others are measuring at the moment - try again in half a minute");
        }
        if lock(&self.kept).records >= MOST_RECORDS {
            return Err("this server has kept as many records as it may - tell whoever runs it");
        }
        let number = [secret().to_be_bytes(), secret().to_be_bytes()].concat();
        let id = HEXLOWER.encode(&number);
        let run = Arc::new(Run {
            id: id.clone(),
            peer,
            plans: self.plans,
            begun: Mutex::default(),
            call: Mutex::default(),
            taken: Mutex::default(),
            has_datagrams: AtomicBool::default(),
            loading: Mutex::default(),
            stop: Arc::default(),
        });
        runs.insert(id, Arc::clone(&run));
        drop(runs);
        Ok(Admitted {
            desk: Arc::clone(self),
            run,
            _visit: (self.visits)(peer, "page"),
        })
    }

    pub(crate) fn run(&self, id: &str) -> Option<Arc<Run>> {
        lock(&self.runs).get(id).cloned()
    }

    /// A record is there, of which a report can be had.
    pub(crate) fn keep(&self, id: &str, folder: PathBuf) {
        let mut kept = lock(&self.kept);
        kept.records += 1;
        kept.reports.push_back((id.to_owned(), folder));
        if kept.reports.len() > MOST_REPORTS {
            kept.reports.pop_front();
        }
    }

    pub(crate) fn record(&self, id: &str) -> Option<PathBuf> {
        let kept = lock(&self.kept);
        let mut reports = kept.reports.iter();
        let (_, folder) = reports.find(|(of, _)| of == id)?;
        Some(folder.clone())
    }
}

/// A run's place; it is free again when this is dropped.
pub(crate) struct Admitted {
    desk: Arc<Desk>,
    pub(crate) run: Arc<Run>,
    _visit: Box<dyn Send + Sync>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.run.stop.store(true, Ordering::Relaxed);
        lock(&self.desk.runs).remove(&self.run.id);
    }
}

impl Run {
    /// What is planned with this carrier, and its streams.
    pub(crate) fn planned(&self, carrier: Carrier) -> (Plan, Vec<StreamPlan>) {
        let plan = (self.plans)(carrier);
        let streams = plan::streams(&plan, if self.peer.is_ipv4() { 4 } else { 6 });
        (plan, streams)
    }

    /// The run begins now: when, by this host's clock. None where it has begun already, or this host has no thread left for it.
    pub(crate) fn begin(&self, carrier: Carrier) -> Option<Instant> {
        let mut begun = lock(&self.begun);
        if begun.is_some() {
            return None;
        }
        let origin = clock::now();
        let sampler = Arc::new(Sampler::new(origin, "server", Seen::default()));
        let (looks, stop) = (Arc::clone(&sampler), Arc::clone(&self.stop));
        let thread = std::thread::Builder::new().spawn(move || looks.run(&stop));
        thread.ok()?;
        let (plan, streams) = self.planned(carrier);
        *begun = Some(Arc::new(Begun {
            plan,
            streams,
            sampler,
        }));
        Some(origin)
    }

    /// Whether all of the plan's time has passed: nobody can have seen all of it before.
    pub(crate) fn is_done(&self) -> bool {
        let passed = |begun: &Begun| clock::now().since(begun.sampler.origin());
        self.begun()
            .is_some_and(|begun| passed(&begun) >= begun.plan.total())
    }

    /// What is known once the run has begun.
    pub(crate) fn begun(&self) -> Option<Arc<Begun>> {
        lock(&self.begun).clone()
    }

    /// Its session of datagrams, once only.
    pub(crate) fn claim_datagrams(&self) -> bool {
        !self.has_datagrams.swap(true, Ordering::Relaxed)
    }

    /// The connection that `closes` closes carries the load of a page with this number.
    pub(crate) fn loads_by(&self, load: u32, closes: &Arc<Notify>) {
        let connection = Arc::downgrade(closes);
        let mut loading = lock(&self.loading);
        loading.retain(|(_, known)| known.strong_count() > 0 && !known.ptr_eq(&connection));
        loading.push((load, connection));
    }

    /// The load of this number is over, and its connections are.
    pub(crate) fn end_load(&self, load: u32) {
        lock(&self.loading).retain(|(of, connection)| {
            if *of <= load
                && let Some(connection) = connection.upgrade()
            {
                connection.notify_one();
            }
            *of > load
        });
    }

    /// This end of the call.
    pub(crate) fn call(&self) -> MutexGuard<'_, CallEnd> {
        lock(&self.call)
    }

    /// A datagram of the call came, `ns` after the run's start.
    pub(crate) fn heard(&self, number: u32, ns: u64) {
        let mut call = self.call();
        if call.heard.len() < MOST_HEARD {
            call.heard.entry(number).or_insert(ns);
        }
    }

    /// The stream of load number `id`, once only.
    pub(crate) fn claim(&self, id: u16) -> Option<StreamPlan> {
        let is_load = |of: &&StreamPlan| of.id == id && matches!(of.kind, Kind::Down | Kind::Up);
        let stream = self.begun()?.streams.iter().find(is_load)?.clone();
        lock(&self.taken).insert(id).then_some(stream)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind them is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use web::guests::untold;

    #[test]
    fn few_measure_at_once_and_a_place_is_free_again_when_its_run_is_over() {
        let here = Arc::new(());
        let visits: Visits = {
            let here = Arc::clone(&here);
            Arc::new(move |_, _| Box::new(Arc::clone(&here)))
        };
        let desk = Arc::new(Desk::new(PathBuf::new(), plan::plan, visits));
        let visitors = || Arc::strong_count(&here) - 2;
        let peer = |last: u8| SocketAddr::from(([192, 0, 2, last], 40_000));
        let one = desk.admit(peer(1)).unwrap();
        let two = desk.admit(peer(1)).unwrap();
        assert!(desk.admit(peer(1)).is_err());
        let _more = [desk.admit(peer(2)).unwrap(), desk.admit(peer(3)).unwrap()];
        assert!(desk.admit(peer(4)).is_err());
        assert_ne!(one.run.id, two.run.id);
        let (id, run) = (one.run.id.clone(), Arc::clone(&one.run));
        assert!(desk.run(&id).is_some() && !run.is_over());
        assert_eq!(visitors(), 4);
        drop(one);
        assert_eq!(visitors(), 3);
        assert!(desk.run(&id).is_none() && run.is_over());
        assert!(desk.admit(peer(4)).is_ok());
    }

    #[test]
    fn a_stream_is_had_once_and_only_by_those_who_load() {
        let desk = Arc::new(Desk::new(PathBuf::new(), plan::plan, untold()));
        let admitted = desk.admit(([192, 0, 2, 1], 40_000).into()).unwrap();
        let run = &admitted.run;
        assert!(run.claim(0).is_none() && run.begun().is_none());
        assert!(run.begin(Carrier::WebSocket).is_some());
        assert!(run.begin(Carrier::Datagrams).is_none() && run.begun().is_some());
        assert!(run.claim(0).is_some() && run.claim(0).is_none());
        // The probe's, and nobody's.
        assert!(run.claim(8).is_none() && run.claim(9).is_none());
    }
}
