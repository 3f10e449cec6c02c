//! What keeps the state fresh from NATS, and answers a browser.

use super::state::{State, above, back, page};
use super::{ask, drawing, html};
use crate::agent::wall;
use crate::bus::Bus;
use crate::verbs::Program;
use crate::{Moment, RunId, http};
use anyhow::Context as _;
use futures_util::StreamExt as _;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::scratch::Scratch;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How long a connection may last: the report of a large record takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
/// From one look at fleets and agents to the next.
const LOOK: Duration = Duration::from_secs(3);
/// From one look at whether to end to the next.
const TICK: Duration = Duration::from_millis(100);
/// What cannot be had.
const RESULTS: &str = "results";
const FLEETS: &str = "fleets and agents";
/// After NATS has failed.
const AGAIN: Duration = Duration::from_secs(1);
/// Outcomes may come so much later than others of the same time.
const OVERLAP: u64 = 60_000;
/// Octets of a record that is drawn; 'isobath fleet record' fetches longer ones.
const LONGEST_RECORD: u64 = 256 << 20;
/// Reports that are made at the same time.
const MOST_REPORTS: usize = 2;

/// What is served, and how.
pub(crate) struct Served {
    pub(crate) bus: Bus,
    pub(crate) program: Program,
    /// How far back it goes.
    pub(crate) last: Duration,
}

struct Site {
    served: Served,
    reports: Arc<Semaphore>,
    state: RefCell<State>,
}

/// Serves the pages on `listener` until `end` is raised.
pub(crate) async fn serve(
    served: Served,
    listener: std::net::TcpListener,
    end: &AtomicBool,
) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let site = Rc::new(Site {
        served,
        reports: Arc::new(Semaphore::new(MOST_REPORTS)),
        state: RefCell::default(),
    });
    site.look().await?;
    let tasks = tokio::task::LocalSet::new();
    tasks.spawn_local(follow(Rc::clone(&site)));
    tasks.spawn_local(look(Rc::clone(&site)));
    let answering = Rc::clone(&site);
    let answer = move |request| answer(Rc::clone(&answering), request);
    tasks.spawn_local(http::serve(listener, PATIENCE, answer));
    tasks
        .run_until(async {
            while !end.load(Ordering::Relaxed) {
                tokio::time::sleep(TICK).await;
            }
        })
        .await;
    Ok(())
}

/// Takes outcomes as they are handed over, for ever.
async fn follow(site: Rc<Site>) {
    let mut since = back(wall(), site.served.last);
    loop {
        let done = site.take_from(&mut since).await;
        let trouble = done.err().map_or_else(
            || "it sends no more results".to_owned(),
            |error| format!("{error:#}"),
        );
        site.state.borrow_mut().troubles.insert(RESULTS, trouble);
        tokio::time::sleep(AGAIN).await;
    }
}

async fn look(site: Rc<Site>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let done = site.look().await;
        let mut state = site.state.borrow_mut();
        match done {
            Ok(()) => state.troubles.remove(FLEETS),
            Err(error) => state.troubles.insert(FLEETS, format!("{error:#}")),
        };
    }
}

impl Site {
    /// Looks at fleets and agents, and forgets what is too old.
    async fn look(&self) -> anyhow::Result<()> {
        let fleets = self.served.bus.fleets().await?;
        let agents = self.served.bus.present().await?;
        let now = wall();
        let horizon = back(now, self.served.last);
        let mut state = self.state.borrow_mut();
        for (name, kept) in fleets {
            state.revise(name, kept, horizon);
        }
        state.take_again(self.served.program, now);
        for fleet in state.fleets.values_mut() {
            fleet.board.forget(horizon, now);
        }
        state.estimates.forget(horizon);
        state.agents = agents;
        Ok(())
    }

    /// Takes all that came after `since`, and what comes; `since` follows.
    async fn take_from(&self, since: &mut Moment) -> anyhow::Result<()> {
        let mut told = self.served.bus.follow(*since).await?;
        self.state.borrow_mut().troubles.remove(RESULTS);
        while let Some(told) = told.next().await {
            let told = told?;
            let ended = told.outcome.ended.as_millis().min(wall().as_millis());
            *since = (*since).max(Moment::from_millis(ended.saturating_sub(OVERLAP)));
            self.state
                .borrow_mut()
                .take(told, self.served.program, wall());
        }
        Ok(())
    }

    /// The page of a record's report.
    async fn report(&self, run: &RunId) -> anyhow::Result<String> {
        let place = Arc::clone(&self.reports).acquire_owned().await?;
        let bus = &self.served.bus;
        let told = bus
            .outcome(run)
            .await?
            .context("no outcome has been reported")?;
        let is_forged = {
            let state = self.state.borrow();
            let fleet = state.fleets.get(&run.fleet);
            fleet.is_none_or(|fleet| fleet.revisions.is_forged(&told))
        };
        anyhow::ensure!(!is_forged, "the outcome is not signed by its host");
        anyhow::ensure!(!told.outcome.files.is_empty(), "it has no record");
        let folder = Scratch::new("isobath-fleet-record-")?;
        bus.fetch_record(&told.outcome, folder.path(), LONGEST_RECORD)
            .await?;
        // It goes on when nobody waits for it any more: folder and place are kept until it is done.
        let draw = move || (drawing::page(folder.path()), folder, place);
        tokio::task::spawn_blocking(draw).await?.0
    }
}

async fn answer(site: Rc<Site>, request: Request<Incoming>) -> Response<String> {
    if request.method() != Method::GET {
        return http::plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "method not allowed - use GET\n",
        );
    }
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    if let ["run", run] = parts[..] {
        return report(&site, run).await;
    }
    let known = || site.state.borrow();
    match parts[..] {
        ["v1", "estimates", what] => {
            let query = request.uri().query().unwrap_or_default();
            return ask::estimate(&known().estimates, what, query, wall());
        }
        ["v1", "paths"] => return ask::paths(&known().estimates, wall()),
        _ => {}
    }
    let page = page(&mut site.state.borrow_mut(), &parts, wall());
    page.map_or_else(nothing, |page| html::answer(StatusCode::OK, page))
}

/// The page of a run's record.
async fn report(site: &Site, run: &str) -> Response<String> {
    let Ok(run) = run.parse::<RunId>() else {
        return nothing();
    };
    match site.report(&run).await {
        Ok(page) => html::report(StatusCode::OK, page),
        Err(error) => {
            let content = format!(
                "<h1>The report of {run} cannot be shown</h1>\n<p>{}</p>\n",
                html::escape(&format!("{error:#}"))
            );
            let above = above(&run.fleet);
            html::answer(
                StatusCode::NOT_FOUND,
                html::page(&run.to_string(), &above, &content),
            )
        }
    }
}

fn nothing() -> Response<String> {
    let content = "<h1>There is no such page</h1>\n";
    html::answer(
        StatusCode::NOT_FOUND,
        html::page("Nothing", &[("Fleets", "/".to_owned())], content),
    )
}
