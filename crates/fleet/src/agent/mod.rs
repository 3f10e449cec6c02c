//! `isobath agent`: one place of the fleet.
//!
//! Everything but the far end and the measurements happens in one thread. Its tasks share one [`State`]:
//!
//! - the **agenda** finds the runs that are due in the schedule and starts them, each a task that ends with an outcome in the ledger;
//! - the **link** (while there is one) says that the agent is there, takes revisions of fleets, answers who knocks, takes what operators
//!   ask for, and hands outcomes over.
//!
//! The link comes and goes with NATS; the agenda goes on, with the revisions that were last heard and are kept on disk.

mod book;
mod demands;
mod far;
mod link;
mod metrics;
mod run;
mod scrape;
mod state;

use crate::bus::{self, Access};
use crate::ledger::Entry;
use crate::outcome::{Became, Outcome};
use crate::revisions::Due;
use crate::{Identity, Moment, Name};
use anyhow::Context as _;
use book::Book;
use demands::Demands;
use far::FarEnd;
use kit::measurement::RoundTrips;
use kit::pool::lock;
use kit::register::Register;
use kit::usage::Usage;
use metrics::Metrics;
use metrics::otlp::Collector;
use record::Record;
use run::Running;
use state::State;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::{clock, process};
use tokio::net::TcpListener;
use tokio::task::LocalSet;

/// A run that is found so late is not begun any more: it would meet those after it.
const LATE: Duration = Duration::from_secs(10);
/// Its key, in the agent's folder, unless another file is given.
const NKEY: &str = "nkey";
/// How long the agenda sleeps at most.
const LOOK: Duration = Duration::from_millis(200);
/// How often it is written down that all is accounted for, when there is nothing to account for.
const NOTE: Duration = Duration::from_secs(60);
/// Runs under way at once; those that load are one at a time by their leases.
const MOST_RUNNING: usize = 16;
/// How long tasks have to end when the agent does.
const ENDING: Duration = Duration::from_secs(8);

/// How to be an agent.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    access: Access,
    /// Name of this agent, as used in fleet files.
    #[arg(long)]
    name: Name,
    /// Site of this host, by which the archive is partitioned.
    #[arg(long)]
    site: Option<Name>,
    /// Tags to show in 'fleet status --json'.
    #[arg(long, value_delimiter = ',')]
    tags: Vec<Name>,
    /// TCP and UDP port of the agent's far end; 0 for any free one.
    #[arg(long, default_value_t = session::DEFAULT_PORT)]
    port: u16,
    /// Address at which other agents reach this one [default: the source address towards NATS].
    #[arg(long, value_name = "ADDRESS")]
    advertise: Option<IpAddr>,
    /// Folder for the ledger, and for records until they are handed over [default: ~/.local/state/isobath/agent-NAME].
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
    /// Keep records on this host after they have been handed over.
    #[arg(long)]
    keep: bool,
    /// Where to serve metrics.
    #[arg(
        long,
        help = "Serve OpenMetrics at http://ADDRESS:PORT/metrics: run counts, the latest figures, and histograms of round trips",
        value_name = "ADDRESS:PORT"
    )]
    metrics: Option<SocketAddr>,
    /// Where to push metrics.
    #[arg(
        long,
        help = "Push the same metrics by OTLP over HTTP to a collector such as http://collector:4318, every 10 s",
        value_name = "URL",
        env = "ISOBATH_OTLP",
        hide_env_values = true
    )]
    otlp: Option<String>,
    /// Do not log runs to stderr.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs until interrupted; `register` says what the far end inside can do, and `verbs` which measurements this version knows.
///
/// # Errors
/// When the port, the folder or the address cannot be had.
pub fn run(args: &Args, register: &'static Register, verbs: &[&str]) -> anyhow::Result<u8> {
    let dir = match &args.state {
        Some(dir) => dir.clone(),
        None => session::state_file(&format!("agent-{}", args.name))
            .context("there is no home folder for the ledger - use --state FOLDER")
            .map_err(Usage::of)?,
    };
    let made = std::fs::create_dir_all(&dir);
    made.with_context(|| format!("{} cannot be made - use --state FOLDER", dir.display()))?;
    let dir = std::path::absolute(dir)?;
    // Two agents with one ledger would each do half of it.
    let refused = |error| match error {
        kit::pool::error::Error::Busy { .. } => anyhow::anyhow!(
            "another agent uses {} - end it, or use --state FOLDER",
            dir.display()
        ),
        other => other.into(),
    };
    let _lock = lock::lock(&dir).map_err(refused).map_err(Usage::of)?;
    let advertise = match args.advertise {
        Some(address) => address,
        None => far::own_address(&args.access.nats)
            .context("the address of this host is unknown - use --advertise ADDRESS")
            .map_err(Usage::of)?,
    };
    let mut access = args.access.clone();
    // A file that was named and is not there is a mistake: another key would sign what others then take for forged.
    let identity = if let Some(file) = &access.nkey {
        Identity::read(file).map_err(Usage::of)?
    } else {
        Identity::read_or_make(access.nkey.insert(dir.join(NKEY)))?
    };
    process::return_freed_memory();
    let collector = args.otlp.as_deref().filter(|url| !url.is_empty());
    let collector = collector.map(Collector::at).transpose()?;
    let stop = process::interrupt_flag()?;
    let now = wall();
    let state = State {
        name: args.name.clone(),
        site: args.site.clone(),
        tags: args.tags.clone(),
        instance: format!("{} {}", args.name, now.compact()),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        keep: args.keep,
        quiet: args.quiet,
        started: now,
        book: Book::open(&dir, now)
            .with_context(|| format!("the ledger in {} cannot be used", dir.display()))?,
        far: FarEnd::start(args.port, advertise, register, Arc::clone(&stop))?,
        fleets: BTreeMap::new(),
        heard: BTreeMap::new(),
        sequence: 1,
        doors: BTreeMap::new(),
        running: BTreeSet::new(),
        demands: Demands::default(),
        register,
        is_watched: args.metrics.is_some() || collector.is_some(),
        metrics: Metrics::of(
            args.name.as_str(),
            args.site.as_ref().map(Name::as_str),
            now,
        ),
        bus: None,
        stop,
        ended: Rc::default(),
        identity,
        dir,
    };
    state.say(&format!(
        "far end on {}, records in {}, key {}",
        state.far.address,
        state.dir.display(),
        state.identity.public()
    ));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let work = LocalSet::new();
    work.block_on(&runtime, live(state, &access, args.metrics, collector))?;
    Ok(0)
}

/// The life of an agent.
async fn live(
    mut state: State,
    access: &Access,
    metrics: Option<SocketAddr>,
    collector: Option<Collector>,
) -> anyhow::Result<()> {
    state.remember();
    state.close_what_was_cut_short()?;
    let scraped = match metrics {
        Some(address) => Some(TcpListener::bind(address).await.map_err(|error| {
            Usage::of(anyhow::anyhow!(
                "metrics cannot be served at {address}: {error}"
            ))
        })?),
        None => None,
    };
    let client = bus::connect(
        access,
        &format!("isobath agent {}", state.name),
        Some(&state.name),
    )
    .await?;
    let stop = Arc::clone(&state.stop);
    let state = Rc::new(RefCell::new(state));
    let link = tokio::task::spawn_local(link::keep(client, Rc::clone(&state)));
    if let Some(listener) = scraped {
        tokio::task::spawn_local(scrape::serve(listener, Rc::clone(&state)));
    }
    if let Some(collector) = collector {
        tokio::task::spawn_local(collector.keep(Rc::clone(&state)));
    }
    let (mut noted, mut is_told) = (wall(), false);
    while !stop.load(Ordering::Relaxed) {
        let now = wall();
        let is_time = now.since(noted) >= NOTE;
        if is_time {
            noted = now;
        }
        // Without a ledger nothing begins; with the disk there is room for it again, and what was due meanwhile is accounted for.
        let error = agenda(&state, now, is_time).err();
        if let Some(error) = error.as_ref().filter(|_| !is_told) {
            let told = format!(
                "the ledger cannot be written, so no run begins: {error} - free space on the disk"
            );
            state.borrow().say(&told);
        }
        is_told = error.is_some();
        tokio::time::sleep(LOOK).await;
    }
    let deadline = clock::now() + ENDING;
    while !state.borrow().running.is_empty() && clock::now() < deadline {
        tokio::time::sleep(LOOK).await;
    }
    let bus = state.borrow_mut().bus.take();
    if let Some(bus) = bus {
        let name = state.borrow().name.clone();
        // A server that is away learns it by itself.
        let _ = tokio::time::timeout(Duration::from_secs(1), bus.leave(&name)).await;
    }
    link.abort();
    Ok(())
}

/// Starts what is due, and accounts for what is too late.
fn agenda(state: &Rc<RefCell<State>>, now: Moment, is_time: bool) -> std::io::Result<()> {
    let fleets: Vec<Name> = state.borrow().fleets.keys().cloned().collect();
    for fleet in fleets {
        let due = state.borrow_mut().due(&fleet, now);
        let is_any = !due.is_empty();
        for due in due {
            let late = now.since(due.run.begins);
            let mut this = state.borrow_mut();
            if late > LATE || this.running.len() >= MOST_RUNNING {
                let reason = if late > LATE {
                    format!(
                        "the agent was not there, or its clock was stepped: {} s late",
                        late.as_secs()
                    )
                } else {
                    format!("{MOST_RUNNING} runs were under way - plan fewer at once")
                };
                this.miss(&due, reason)?;
                continue;
            }
            this.begin(&due, now)?;
            drop(this);
            tokio::task::spawn_local(go(Rc::clone(state), due));
        }
        // A clock that was ahead and was set back: what is due by the right one counts.
        let until = state.borrow().book.ledger().until(&fleet);
        let is_ahead = until.is_some_and(|until| until > now + Duration::from_millis(1));
        if is_ahead {
            state
                .borrow()
                .say("the clock was set back: runs go on by it");
        }
        state.borrow_mut().heard.remove(&fleet);
        if is_any || is_time || is_ahead {
            let at = now + Duration::from_millis(1);
            state.borrow_mut().book.write(Entry::Until { fleet, at })?;
        }
    }
    if is_time {
        state.borrow_mut().book.tidy(now)?;
    }
    Ok(())
}

/// For the metrics, where anybody wants them, and before the record may be cleared away.
async fn round_trips(state: &RefCell<State>, outcome: &Outcome) -> Option<RoundTrips> {
    let (folder, register, is_wanted) = {
        let state = state.borrow();
        let folder = state.folder(&outcome.run);
        (folder, state.register, state.is_watched)
    };
    // As with figures: an invalid run says more of its host than of its path.
    if !is_wanted || outcome.status != Became::Complete {
        return None;
    }
    let read = move || register.round_trips(&Record::open(&folder)?);
    let found = tokio::task::spawn_blocking(read).await;
    match found.map_err(anyhow::Error::from).flatten() {
        Ok(found) => Some(found),
        Err(error) => {
            let run = &outcome.run;
            let told = format!("{run}: its round trips are not in the metrics: {error:#}");
            state.borrow().say(&told);
            None
        }
    }
}

/// One run from its beginning in the ledger to its end there.
async fn go(state: Rc<RefCell<State>>, due: Due) {
    let (id, on_demand) = (due.id(), due.is_on_demand);
    let outcome = Box::pin(Running::new(Rc::clone(&state), due).carry_out()).await;
    let outcome = Outcome {
        on_demand,
        ..outcome
    };
    let found = round_trips(&state, &outcome).await;
    let mut is_told = false;
    // The disk may have room again later; if the agent ends before, its next start closes the run.
    loop {
        let ended = state.borrow_mut().end(&outcome);
        let Err(error) = ended else { break };
        if !std::mem::replace(&mut is_told, true) {
            let told = format!("{id}: the ledger cannot be written: {error}");
            state.borrow().say(&told);
        }
        if state.borrow().stop.load(Ordering::Relaxed) {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    let mut state = state.borrow_mut();
    if let Some(found) = found {
        state.metrics.took(&id, found);
    }
    state.running.remove(&id);
}

/// The wall clock.
pub(crate) fn wall() -> Moment {
    Moment::from_millis(clock::stamp().wall_ns / 1_000_000)
}
