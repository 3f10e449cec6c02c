//! The thread that decides: it alone has the service's machine, and others ask it by [`Command`]s.
//!
//! It waits for nobody. A client that does not take what it is told is forgotten; so is a peer's line when the peer's link does not keep up.

use super::answer::{Answer, More, estimate, refusal};
use super::command::{self, Command, Handle, Query, Sink, Token, Told};
use super::map::{Map, REFRESH};
use super::measuring::{self, Job};
use super::offers::{WAYS, Way, offers};
use super::onward::Onward;
use super::parameters::Asked;
use super::survey::Survey;
use super::wire::{Event, Reply, Words};
use crate::config::Config;
use crate::network::Network;
use estimate::riding::{Failed, Measured};
use mgrp::transaction::Refusal as TrainRefusal;
use probe::service::{Action, Failure, Known, Limits, News, Service, When, Wish};
use schema::estimate::plan::Method;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// Queries and measurements at once.
pub(super) const LIMITS: Limits = Limits {
    queries: 128,
    of_client: 64,
    measurements: 4,
};
/// The desk looks round this often at least.
const TICK: Duration = Duration::from_secs(1);

/// A long train that held is remembered for so long: token buckets do not come and go.
const HELD: Duration = Duration::from_secs(600);

/// A link with a peer's service.
pub(super) struct Link {
    session: u64,
    pub(super) words: SyncSender<Words>,
}

/// A measurement under way.
struct Measuring {
    stop: Arc<AtomicBool>,
    /// Which of the places of [`LIMITS`] it has.
    place: u8,
    /// Of the link that it is on.
    session: u64,
}

/// See the [module](self).
pub struct Desk {
    pub(super) config: Arc<Config>,
    commands: Receiver<Command>,
    handle: Handle,
    pub(super) service: Service<More>,
    /// Who is told what comes of a query of the machine.
    pub(super) sinks: BTreeMap<u64, (Sink, Option<Token>)>,
    measuring: BTreeMap<usize, Measuring>,
    /// When a long train held on a path, and at which rate in Mbit/s.
    held: BTreeMap<usize, (Instant, f64)>,
    pub(super) links: BTreeMap<usize, Link>,
    pub(super) map: Map,
    pub(super) onward: Onward,
    pub(super) announced: Instant,
}

impl Desk {
    /// A desk, and the way to give it commands.
    pub fn new(config: &Arc<Config>) -> (Self, Handle) {
        let (handle, commands) = command::channel();
        let desk = Self {
            config: Arc::clone(config),
            commands,
            handle: handle.clone(),
            service: Service::new(offers(), LIMITS),
            sinks: BTreeMap::new(),
            measuring: BTreeMap::new(),
            held: BTreeMap::new(),
            links: BTreeMap::new(),
            map: Map::new(config.name.clone()),
            onward: Onward::default(),
            announced: clock::now(),
        };
        (desk, handle)
    }

    /// Runs until `stop` is raised.
    pub fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let due = self.service.next_timeout().unwrap_or(Instant::FAR_FUTURE);
            let left = due.since(clock::now()).min(TICK);
            match self.commands.recv_timeout(left) {
                Ok(command) => self.follow(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = clock::now();
            self.service.handle_timeout(now);
            self.map.handle_timeout(now);
            self.give_up(now);
            if now.since(self.announced) >= REFRESH {
                self.announce(now);
            }
            self.act();
        }
        for measuring in self.measuring.values() {
            measuring.stop.store(true, Ordering::Relaxed);
        }
    }

    fn follow(&mut self, command: Command) {
        let now = clock::now();
        match command {
            Command::Ask(query) => self.ask(*query, now),
            Command::Gone(token) => self.gone(token),
            Command::Heard { peer, words } => self.hear(peer, words, now),
            Command::Linked {
                peer,
                session,
                words,
            } => {
                // It may be another network now.
                self.held.remove(&peer);
                self.unlinked(peer);
                self.links.insert(peer, Link { session, words });
                self.tell_all(peer);
                self.announce(now);
            }
            Command::Measured { path, result } => self.measured(path, result, now),
            Command::Survey(asker) => {
                // Who asked may be gone.
                let _ = asker.send(Survey::of(self, now));
            }
            Command::Unlinked { peer, session } => {
                let is_it = self
                    .links
                    .get(&peer)
                    .is_some_and(|link| link.session == session);
                if is_it {
                    self.unlinked(peer);
                    self.announce(now);
                }
            }
        }
    }

    /// Takes a query, or hands it on to the node that it is for.
    pub(super) fn ask(&mut self, query: Query, now: Instant) {
        let own = self.config.name.as_str();
        let elsewhere = query.asked.from.clone().filter(|from| from != own);
        if let Some(node) = elsewhere {
            self.send_onward(query, &node, now);
            return;
        }
        let told = match self.path(&query.asked.to) {
            Ok(path) => match self.service.ask(
                query.client,
                wish(path, &query.asked),
                query.asked.when,
                now,
            ) {
                Ok(number) => {
                    if query.asked.when != When::Once {
                        self.give(&query.sink, Told::taken());
                    }
                    self.sinks.insert(number, (query.sink, query.token));
                    return;
                }
                Err(reason) => {
                    let (status, line) = refusal(&reason);
                    Told::error(status, &line)
                }
            },
            Err(told) => told,
        };
        self.give(&query.sink, told);
    }

    /// The peer of this name, or behind this address, with which there is a link.
    fn path(&self, to: &str) -> Result<usize, Told> {
        let address: Option<IpAddr> = to.parse().ok();
        let mut peers = self.config.peers.iter();
        let found = match address {
            Some(address) => self.config.routes().find(address),
            None => peers.position(|peer| peer.name == to),
        };
        let Some(index) = found else {
            let names: Vec<_> = self
                .config
                .peers
                .iter()
                .map(|peer| peer.name.as_str())
                .collect();
            let line = format!(
                "there is no path from {} to that - its peers are {}",
                self.config.name,
                names.join(", ")
            );
            return Err(Told::error(404, &line));
        };
        if self.links.contains_key(&index) {
            return Ok(index);
        }
        let line = format!(
            "{} is not linked now - see 'isobath manager status'",
            self.name(index)
        );
        Err(Told::error(503, &line))
    }

    pub(super) fn name(&self, peer: usize) -> &str {
        self.config
            .peers
            .get(peer)
            .map_or("", |peer| peer.name.as_str())
    }

    fn measured(&mut self, path: usize, result: Result<Measured, Failed>, now: Instant) {
        let measuring = self.measuring.remove(&path);
        match result {
            Ok(measured) => {
                let is_its = |link: &Link| measuring.is_some_and(|of| of.session == link.session);
                if let Some(mbps) = measured.held_mbps
                    && self.links.get(&path).is_some_and(is_its)
                {
                    self.held.insert(path, (now, mbps));
                }
                self.service.handle_estimate(path, estimate(&measured), now);
            }
            Err(failed) => {
                let failure = match failed {
                    Failed::Refused(TrainRefusal::Budget(octets)) => Failure::Budget(octets),
                    Failed::Refused(reason) => {
                        Failure::Other(format!("the manager refuses: {reason}"))
                    }
                    Failed::TooMuch => Failure::Overhead,
                    Failed::Lost(reason) => Failure::Other(reason),
                };
                self.service.handle_failure(path, &failure, now);
            }
        }
    }

    /// Does what the machine wants.
    fn act(&mut self) {
        while let Some(action) = self.service.poll_action() {
            match action {
                Action::Start {
                    path,
                    offer,
                    most_octets,
                } => self.start(path, offer, most_octets),
                Action::Stop { path } => {
                    if let Some(measuring) = self.measuring.get(&path) {
                        measuring.stop.store(true, Ordering::Relaxed);
                    }
                }
                Action::Tell { query, news } => self.tell(query, news),
            }
        }
    }

    fn start(&mut self, path: usize, offer: usize, most_octets: Option<u64>) {
        let taken: Vec<_> = self
            .measuring
            .values()
            .map(|measuring| measuring.place)
            .collect();
        let place = (0..u8::MAX).find(|place| !taken.contains(place));
        let stop = Arc::new(AtomicBool::new(false));
        let plan = WAYS.get(offer).and_then(Way::plan);
        let session = self.links.get(&path).map_or(0, |link| link.session);
        let job = plan.zip(place).and_then(|(plan, place)| {
            Some(Job {
                path,
                plan,
                socket: self.config.socket.clone(),
                to: self
                    .config
                    .peers
                    .get(path)?
                    .routes
                    .first()
                    .map(Network::first)?,
                place,
                most_octets,
                held_mbps: self.held_mbps(path),
                stop: Arc::clone(&stop),
            })
        });
        let begun = job.ok_or_else(|| "there is no such path".to_owned());
        let begun = begun.and_then(|job| measuring::begin(job, self.handle.clone()));
        match begun {
            Ok(()) => {
                let place = place.unwrap_or_default();
                let measuring = Measuring {
                    stop,
                    place,
                    session,
                };
                self.measuring.insert(path, measuring);
            }
            Err(reason) => self
                .service
                .handle_failure(path, &Failure::Other(reason), clock::now()),
        }
    }

    /// At which rate a long train has held lately.
    fn held_mbps(&self, path: usize) -> f64 {
        let held = self.held.get(&path);
        let held = held.filter(|(at, _)| clock::now().since(*at) < HELD);
        held.map_or(0.0, |(_, mbps)| *mbps)
    }

    fn tell(&mut self, number: u64, news: News<More>) {
        let Some((sink, _)) = self.sinks.get(&number) else {
            return;
        };
        let more = self.service.is_open(number);
        let told = Told {
            more,
            ..self.told(news)
        };
        let is_taken = self.give(sink, told);
        if !more {
            self.sinks.remove(&number);
        } else if !is_taken {
            self.sinks.remove(&number);
            self.service.handle_gone(number);
        }
    }

    fn told(&self, news: News<More>) -> Told {
        let now = clock::now();
        let answer = |known: &Known<More>, is_shared| {
            let ends = [self.config.name.as_str(), self.name(known.path)];
            Answer::new(known, ends, is_shared, now)
        };
        match news {
            News::Estimate { known, is_shared } => {
                Told::answer(Event::Estimate, &answer(&known, is_shared))
            }
            News::Crossed {
                known,
                is_shared,
                side,
                bound,
            } => {
                let answer = answer(&known, is_shared);
                Told::answer(
                    Event::Crossed,
                    &answer.map(|answer| answer.crossed(side, bound)),
                )
            }
            News::Refused(reason) => {
                let (status, line) = refusal(&reason);
                Told::error(status, &line)
            }
        }
    }

    /// Tells somebody; false when nobody is there, or does not keep up.
    pub(super) fn give(&self, sink: &Sink, told: Told) -> bool {
        match sink {
            Sink::Client(client) => client.try_send(told).is_ok(),
            Sink::Peer { peer, id } => {
                let reply = Reply {
                    id: *id,
                    status: told.status,
                    body: told.body,
                    event: told.event,
                    more: told.more,
                };
                let link = self.links.get(peer);
                link.is_some_and(|link| link.words.try_send(Words::Answer(reply)).is_ok())
            }
        }
    }

    fn gone(&mut self, token: Token) {
        self.forget(|_, other| other == Some(token));
    }

    /// Whoever these are has gone.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Sink, Option<Token>) -> bool) {
        let gone = |(number, (sink, token)): (&u64, &(Sink, Option<Token>))| {
            is_gone(sink, *token).then_some(*number)
        };
        let numbers: Vec<u64> = self.sinks.iter().filter_map(gone).collect();
        for number in numbers {
            self.sinks.remove(&number);
            self.service.handle_gone(number);
        }
        self.forget_onward(is_gone);
    }

    /// There is no link with the peer any more, or another one.
    fn unlinked(&mut self, peer: usize) {
        self.links.remove(&peer);
        self.lost(peer);
        self.forget(|sink, _| matches!(sink, Sink::Peer { peer: other, .. } if *other == peer));
    }
}

fn wish(path: usize, asked: &Asked) -> Wish {
    Wish {
        path,
        what: asked.what.name(),
        max_age: asked.max_age,
        within_pct: asked.within_pct,
        most_octets: asked.most_octets,
        estimator: asked.estimator.map(Method::name),
        timeout: asked.timeout,
    }
}
