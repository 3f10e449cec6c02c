//! A load over sockets: a [`Loading`], and the tasks that carry its requests out.

use super::Target;
use super::connect::{Dialer, Opened};
use super::exchange::{Sender, Wish, exchange};
use super::loading::{Loading, Outcome, Phase};
use super::queue::{Step, host_of};
use super::resolve::resolve;
use crate::model::PageModel;
use crate::names::host_name;
use crate::quic;
use crate::result::{Kind, PageLoad};
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use units::HttpVersion;

/// A look-up that all connections to a host share.
type LookUp = Arc<OnceCell<Result<Phase, String>>>;

/// What a task tells.
enum Event {
    /// A connection for the pool is there, after a look-up, or could not be had.
    Opened(u16, Result<(Phase, Opened), String>),
    /// So many octets of the document have come.
    Octets(u64),
    /// The request for the object over the connection is over; it is given back if it was the object's alone.
    Ended([u16; 2], Outcome, Option<Sender>),
}

pub(super) struct Run<'a> {
    model: &'a PageModel,
    target: Target,
    dialer: Dialer,
    loading: Loading<'a>,
    look_ups: Vec<LookUp>,
    /// Of each connection; `None` while the one request it can take is under way.
    senders: Vec<Option<Sender>>,
    // Bounded in fact: three events for a request, and what is read for the document.
    events: (UnboundedSender<Event>, UnboundedReceiver<Event>),
}

impl<'a> Run<'a> {
    pub(super) fn new(
        model: &'a PageModel,
        target: &Target,
        protocol: HttpVersion,
    ) -> Result<Self, String> {
        let (token, port) = (target.token, target.peer.port());
        Ok(Self {
            dialer: Dialer::new(target, protocol)?,
            loading: Loading::new(model, token, port, protocol, sys::clock::now()),
            look_ups: model.hosts().iter().map(|_| LookUp::default()).collect(),
            senders: Vec::new(),
            events: unbounded_channel(),
            target: *target,
            model,
        })
    }

    /// Loads until nothing more is to come.
    pub(super) async fn drive(&mut self) {
        self.loading.begin(sys::clock::now());
        self.advance();
        while !self.loading.is_finished() {
            let Some(event) = self.events.1.recv().await else {
                return;
            };
            self.handle(event);
            self.advance();
        }
    }

    /// Closes connections of QUIC: a server would keep them until they have been idle for long. TCP's end with their sockets.
    pub(super) async fn close(&self) {
        let senders = self.senders.iter().flatten();
        quic::close(senders.filter_map(Sender::quic).collect()).await;
    }

    /// The result; `cut` says why it is not complete, if it was cut off.
    pub(super) fn finish(self, cut: Option<String>) -> PageLoad {
        self.loading.finish(cut)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Octets(total) => self.loading.handle_octets(total),
            Event::Opened(pool, Ok((look_up, opened))) => {
                let phases = [look_up, opened.connect, opened.tls];
                self.loading.handle_open(pool, phases);
                self.senders.push(Some(opened.sender));
            }
            Event::Opened(pool, Err(why)) => self.loading.handle_open_failed(pool, why),
            Event::Ended([object, connection], outcome, sender) => {
                let place = self.senders.get_mut(usize::from(connection));
                if let (Some(place), Some(sender)) = (place, sender) {
                    *place = Some(sender);
                }
                self.loading.handle_end(object, outcome);
            }
        }
    }

    /// Does all that can be done now.
    fn advance(&mut self) {
        while let Some(step) = self.loading.poll(sys::clock::now()) {
            match step {
                Step::Open(pool) => self.open(pool),
                Step::Send { object, connection } => self.send(object, connection),
            }
        }
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
        let kept = self.senders.get_mut(usize::from(connection));
        let Some(kept) = kept else {
            return;
        };
        let shared = kept.as_ref().and_then(Sender::share);
        let gives_back = shared.is_none();
        let Some(mut sender) = shared.or_else(|| kept.take()) else {
            return;
        };
        let wish = self.wish(object);
        let events = self.events.0.clone();
        tokio::spawn(async move {
            let tell = |total| {
                if wish.kind == Kind::Document {
                    let _ = events.send(Event::Octets(total));
                }
            };
            let outcome = exchange(&mut sender, &wish, tell).await;
            let sender = gives_back.then_some(sender);
            let _ = events.send(Event::Ended([object, connection], outcome, sender));
        });
    }

    fn wish(&self, object: u16) -> Wish {
        let host = self.model.host_name(object, self.target.token);
        let facts = self.model.object(object);
        Wish {
            authority: format!("{host}:{}", self.target.peer.port()),
            path: self.model.path(object),
            kind: facts.map_or(Kind::Other, |facts| facts.kind),
            size: facts.map_or(0, |facts| facts.size.get()),
        }
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
