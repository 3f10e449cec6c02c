//! A load in progress: what has been found, asked for and received, and when.
//!
//! A state machine without I/O, for loads over sockets and in virtual time alike. Calls: a `handle_*` for what has happened,
//! then [`Loading::poll`] until it has no more to do. Once [`Loading::is_finished`], or when it is given up,
//! [`Loading::finish`] gives the result.

use super::page::Page;
use super::queue::{Queue, Step};
use crate::content::{Urls, layout};
use crate::model::PageModel;
use crate::result::{Kind, ObjectLoad, PageLoad};
use std::time::Duration;
use units::{HttpVersion, Instant};

/// A time from its begin to its end.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// When it began.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
}

impl Phase {
    pub(super) fn length(&self) -> Duration {
        self.end.since(self.begin)
    }

    /// What of it lies between two moments; `None` when that is nothing.
    fn within(&self, from: Instant, to: Instant) -> Option<Duration> {
        let common = self.end.min(to).since(self.begin.max(from));
        (!common.is_zero()).then_some(common)
    }
}

/// What came of a request.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// When it left.
    pub sent: Instant,
    /// When the first octets of the answer came, if any did.
    pub first: Option<Instant>,
    /// When the last came; `None` when the answer is not whole.
    pub last: Option<Instant>,
    /// Status of the answer.
    pub status: Option<u16>,
    /// Octets of the body.
    pub bytes: u64,
    /// Whether the connection can take another request.
    pub is_usable: bool,
    /// What went wrong, in one line.
    pub error: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub struct Loading<'a> {
    model: &'a PageModel,
    token: u64,
    page: Page<'a>,
    queue: Queue<'a>,
    /// Of each connection look-up, TCP, TLS or QUIC: until the first request has taken them as its own.
    phases: Vec<Option<[Phase; 3]>>,
    /// By number of the object; `None` before it is found.
    bars: Vec<Option<ObjectLoad>>,
    /// In the order in which they were found.
    order: Vec<u16>,
    load: PageLoad,
}

impl<'a> Loading<'a> {
    /// A load by `protocol` that begins at `now`, of the page that a server at `port` gives the session `token`.
    pub fn new(
        model: &'a PageModel,
        token: u64,
        port: u16,
        protocol: HttpVersion,
        now: Instant,
    ) -> Self {
        let document = layout(model, 0, Urls::OfHosts { token, port });
        Self {
            model,
            token,
            page: Page::new(model, document.reveals),
            queue: Queue::new(model, protocol),
            phases: Vec::new(),
            bars: vec![None; model.objects().len()],
            order: Vec::new(),
            load: PageLoad::begun(protocol, now),
        }
    }

    /// The load begins at `now`, not before.
    pub const fn begin(&mut self, now: Instant) {
        self.load.started = now;
    }

    /// `total` octets of the document have come.
    pub fn handle_octets(&mut self, total: u64) {
        self.page.handle_octets(total);
        self.look();
    }

    /// The connection that [`Step::Open`] asked for is there, after these times for look-up, TCP and TLS (with QUIC: nothing, and
    /// QUIC). Connections are numbered in this order.
    pub fn handle_open(&mut self, pool: u16, phases: [Phase; 3]) {
        let number = u16::try_from(self.phases.len()).unwrap_or(u16::MAX);
        self.phases.push(Some(phases));
        self.queue.handle_open(pool, number);
    }

    /// It could not be had, for this reason.
    pub fn handle_open_failed(&mut self, pool: u16, why: String) {
        for object in self.queue.handle_open_failed(pool) {
            self.page.handle_end(object, false);
        }
        self.fail(why);
        self.look();
    }

    /// The request for `object` is over.
    pub fn handle_end(&mut self, object: u16, outcome: Outcome) {
        let started = self.load.started;
        let Some(bar) = self.bar(object) else {
            return;
        };
        record(bar, &outcome, started);
        let number = bar.connection.unwrap_or(u16::MAX);
        if object == 0 {
            self.load.first_byte = outcome.first.map(|first| first.since(started));
        }
        self.queue.handle_end(object, number, outcome.is_usable);
        self.page.handle_end(object, outcome.error.is_none());
        if let Some(why) = outcome.error {
            self.fail(why);
        }
        self.look();
    }

    /// The next thing to do at `now`, if any.
    pub fn poll(&mut self, now: Instant) -> Option<Step> {
        while let Some(object) = self.page.poll_found() {
            self.find(object, now);
        }
        let step = self.queue.poll(self.page.is_blocked())?;
        if let Step::Send { object, connection } = step {
            let started = self.load.started;
            let phases = self.phases.get_mut(usize::from(connection));
            let phases = phases.and_then(Option::take);
            if let Some(bar) = self.bar(object) {
                bar.connection = Some(connection);
                wait(bar, phases, started, now);
            }
        }
        Some(step)
    }

    /// Whether nothing more is to come.
    pub fn is_finished(&self) -> bool {
        self.page.is_finished()
    }

    /// The result; `cut` says why it is not complete, if it was cut off.
    pub fn finish(mut self, cut: Option<String>) -> PageLoad {
        if let Some(cut) = cut {
            let (missing, all) = (self.page.missing(), self.model.objects().len());
            self.fail(format!("{cut}: {missing} of {all} objects are missing"));
        }
        let bars = self
            .order
            .iter()
            .filter_map(|object| self.bars[usize::from(*object)].take());
        self.load.objects = bars.collect();
        self.load
    }

    /// Looks whether the load event has been reached.
    fn look(&mut self) {
        if self.page.is_loaded() && self.load.load_time.is_none() && self.load.error.is_none() {
            self.load.load_time = self.last_awaited();
        }
    }

    fn find(&mut self, object: u16, now: Instant) {
        let kind = self.model.object(object).map(|object| object.kind);
        let found = now.since(self.load.started);
        self.order.push(object);
        if let Some(place) = self.bars.get_mut(usize::from(object)) {
            *place = Some(ObjectLoad {
                host: self.model.host_name(object, self.token),
                path: self.model.path(object),
                ..ObjectLoad::found(object, kind.unwrap_or(Kind::Other), found)
            });
        }
        self.queue.handle_found(object);
    }

    fn bar(&mut self, object: u16) -> Option<&mut ObjectLoad> {
        self.bars.get_mut(usize::from(object))?.as_mut()
    }

    /// Keeps the first thing that went wrong; the rest mostly follows from it.
    fn fail(&mut self, why: String) {
        self.load.error.get_or_insert(why);
    }

    /// From the start to the last octet of those objects that the load event waits for.
    fn last_awaited(&self) -> Option<Duration> {
        let bars = self.bars.iter().flatten();
        let awaited = bars.filter(|bar| bar.kind != Kind::Fetch);
        awaited.filter_map(|bar| Some(bar.found + bar.total?)).max()
    }
}

/// Writes down how a request waited that is sent now. The first on a connection has paid for it, as far as
/// it had been found.
fn wait(bar: &mut ObjectLoad, phases: Option<[Phase; 3]>, started: Instant, now: Instant) {
    let found = started + bar.found;
    if let Some([dns, connect, tls]) = phases {
        bar.dns = dns.within(found, now);
        bar.connect = connect.within(found, now);
        bar.tls = tls.within(found, now);
    }
    let known = [bar.dns, bar.connect, bar.tls];
    let known: Duration = known.into_iter().flatten().sum();
    bar.blocked = Some(now.since(found).saturating_sub(known));
}

/// Writes down what came of a request.
fn record(bar: &mut ObjectLoad, outcome: &Outcome, started: Instant) {
    let found = started + bar.found;
    bar.wait = outcome.first.map(|first| first.since(outcome.sent));
    bar.receive = outcome
        .last
        .and_then(|last| Some(last.since(outcome.first?)));
    bar.total = outcome.last.map(|last| last.since(found));
    bar.bytes = outcome.bytes;
    bar.status = outcome.status.filter(|_| outcome.error.is_none());
}
