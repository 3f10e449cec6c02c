//! A load: the page, its queue of requests, and the tasks that carry them out.

use super::Target;
use super::connect::{Dialer, Opened, Phase};
use super::exchange::{Outcome, Sender, Wish, exchange};
use super::page::Page;
use super::queue::{Queue, Step, host_of};
use super::resolve::resolve;
use crate::content::{Port, layout};
use crate::model::PageModel;
use crate::names::host_name;
use crate::quic;
use crate::result::{Kind, ObjectLoad, PageLoad};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use units::HttpVersion;
use units::Instant;

/// A look-up that all connections to a host share.
type LookUp = Arc<OnceCell<Result<Phase, String>>>;

/// What a task tells.
enum Event {
    /// A connection for the pool is there, after a look-up, or could not be had.
    Opened(u16, Result<(Phase, Opened), String>),
    /// So many octets of the document have come.
    Octets(u64),
    /// The request for the object is over; the connection is given back if it was the object's alone.
    Ended(u16, Outcome, Option<Sender>),
}

struct Connection {
    /// Not there while the one request it can take is under way.
    sender: Option<Sender>,
    /// Look-up, TCP, TLS or QUIC: until the first request has taken them as its own.
    phases: Option<[Phase; 3]>,
}

pub(super) struct Run<'a> {
    model: &'a PageModel,
    target: Target,
    dialer: Dialer,
    page: Page<'a>,
    queue: Queue<'a>,
    look_ups: Vec<LookUp>,
    connections: Vec<Connection>,
    /// By number of the object; `None` before it is found.
    bars: Vec<Option<ObjectLoad>>,
    /// In the order in which they were found.
    order: Vec<u16>,
    load: PageLoad,
    // Bounded in fact: three events for a request, and what is read for the document.
    events: (UnboundedSender<Event>, UnboundedReceiver<Event>),
}

impl<'a> Run<'a> {
    pub(super) fn new(
        model: &'a PageModel,
        target: &Target,
        protocol: HttpVersion,
    ) -> Result<Self, String> {
        let (token, number) = (target.token, target.peer.port());
        let document = layout(model, 0, Port { token, number });
        Ok(Self {
            dialer: Dialer::new(target, protocol)?,
            page: Page::new(model, document.reveals),
            queue: Queue::new(model, protocol),
            look_ups: model.hosts().iter().map(|_| LookUp::default()).collect(),
            connections: Vec::new(),
            bars: vec![None; model.objects().len()],
            order: Vec::new(),
            load: super::failed(protocol, String::new()),
            events: unbounded_channel(),
            target: *target,
            model,
        })
    }

    /// Loads until nothing more is to come.
    pub(super) async fn drive(&mut self) {
        self.load.error = None;
        self.load.started = sys::clock::now();
        self.advance();
        while !self.page.is_finished() {
            let Some(event) = self.events.1.recv().await else {
                return;
            };
            self.handle(event);
            self.advance();
        }
    }

    /// Closes connections of QUIC: a server would keep them until they have been idle for long. TCP's end with their sockets.
    pub(super) async fn close(&self) {
        let senders = self
            .connections
            .iter()
            .filter_map(|kept| kept.sender.as_ref());
        quic::close(senders.filter_map(Sender::quic).collect()).await;
    }

    /// The result; `cut` says why it is not complete, if it was cut off.
    pub(super) fn finish(mut self, cut: Option<String>) -> PageLoad {
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

    fn handle(&mut self, event: Event) {
        match event {
            Event::Octets(total) => self.page.handle_octets(total),
            Event::Opened(pool, Ok((look_up, opened))) => self.handle_opened(pool, look_up, opened),
            Event::Opened(pool, Err(why)) => {
                for object in self.queue.handle_open_failed(pool) {
                    self.page.handle_end(object, false);
                }
                self.fail(why);
            }
            Event::Ended(object, outcome, sender) => self.handle_ended(object, outcome, sender),
        }
        if self.page.is_loaded() && self.load.load_time.is_none() && self.load.error.is_none() {
            self.load.load_time = self.last_awaited();
        }
    }

    fn handle_opened(&mut self, pool: u16, look_up: Phase, opened: Opened) {
        let number = u16::try_from(self.connections.len()).unwrap_or(u16::MAX);
        self.connections.push(Connection {
            sender: Some(opened.sender),
            phases: Some([look_up, opened.connect, opened.tls]),
        });
        self.queue.handle_open(pool, number);
    }

    fn handle_ended(&mut self, object: u16, outcome: Outcome, sender: Option<Sender>) {
        let Some(bar) = self.bars[usize::from(object)].as_mut() else {
            return;
        };
        record(bar, &outcome, self.load.started);
        let number = bar.connection.unwrap_or(u16::MAX);
        if let (Some(sender), Some(kept)) = (sender, self.connections.get_mut(usize::from(number)))
        {
            kept.sender = Some(sender);
        }
        if object == 0 {
            self.load.first_byte = outcome.first.map(|first| self.elapsed(first));
        }
        self.queue.handle_end(object, number, outcome.is_usable);
        self.page.handle_end(object, outcome.error.is_none());
        if let Some(why) = outcome.error {
            self.fail(why);
        }
    }

    /// Does all that can be done now.
    fn advance(&mut self) {
        while let Some(object) = self.page.poll_found() {
            self.find(object);
        }
        while let Some(step) = self.queue.poll(self.page.is_blocked()) {
            match step {
                Step::Open(pool) => self.open(pool),
                Step::Send { object, connection } => self.send(object, connection),
            }
        }
    }

    fn find(&mut self, object: u16) {
        let kind = self.kind(object);
        let found = self.elapsed(sys::clock::now());
        self.order.push(object);
        self.bars[usize::from(object)] = Some(ObjectLoad {
            host: self.model.host_name(object, self.target.token),
            path: self.model.path(object),
            ..ObjectLoad::found(object, kind, found)
        });
        self.queue.handle_found(object);
    }

    fn open(&self, pool: u16) {
        let host = host_of(pool);
        let label = self.model.hosts().get(usize::from(host));
        let name = host_name(label.map_or("", String::as_str), self.target.token);
        let (dialer, target) = (self.dialer.clone(), self.target);
        let look_up = Arc::clone(&self.look_ups[usize::from(host)]);
        let events = self.events.0.clone();
        tokio::spawn(async move {
            let opened = open(&dialer, &target, &name, &look_up).await;
            // Nobody listens any more when the load is over.
            let _ = events.send(Event::Opened(pool, opened));
        });
    }

    fn send(&mut self, object: u16, connection: u16) {
        let kept = self.connections.get_mut(usize::from(connection));
        let bar = self.bars[usize::from(object)].as_mut();
        let (Some(kept), Some(bar)) = (kept, bar) else {
            return;
        };
        let shared = kept.sender.as_ref().and_then(Sender::share);
        let gives_back = shared.is_none();
        let Some(mut sender) = shared.or_else(|| kept.sender.take()) else {
            return;
        };
        bar.connection = Some(connection);
        wait(bar, kept.phases.take(), self.load.started);
        let wish = Wish {
            authority: format!("{}:{}", bar.host, self.target.peer.port()),
            path: bar.path.clone(),
            kind: bar.kind,
            size: self
                .model
                .object(object)
                .map_or(0, |object| object.size.get()),
        };
        let events = self.events.0.clone();
        tokio::spawn(async move {
            let tell = |total| {
                if wish.kind == Kind::Document {
                    let _ = events.send(Event::Octets(total));
                }
            };
            let outcome = exchange(&mut sender, &wish, tell).await;
            let sender = gives_back.then_some(sender);
            let _ = events.send(Event::Ended(object, outcome, sender));
        });
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

    fn kind(&self, object: u16) -> Kind {
        let object = self.model.object(object);
        object.map_or(Kind::Other, |object| object.kind)
    }

    fn elapsed(&self, at: Instant) -> Duration {
        at.since(self.load.started)
    }
}

async fn open(
    dialer: &Dialer,
    target: &Target,
    name: &str,
    look_up: &LookUp,
) -> Result<(Phase, Opened), String> {
    let asked = look_up.get_or_init(|| async {
        let begin = sys::clock::now();
        resolve(target.resolver, name, target.class()).await?;
        let end = sys::clock::now();
        Ok(Phase { begin, end })
    });
    let phase = asked.await.clone()?;
    Ok((phase, dialer.open(name).await?))
}

/// Writes down how a request waited that is sent now. The first on a connection has paid for it, as far as
/// it had been found.
fn wait(bar: &mut ObjectLoad, phases: Option<[Phase; 3]>, started: Instant) {
    let (found, now) = (started + bar.found, sys::clock::now());
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
