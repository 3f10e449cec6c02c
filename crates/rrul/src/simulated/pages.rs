//! Loads of a page, one after the other: what the native loader does on sockets.

use super::https::{Client, News, Request};
use super::look_up::LookUp;
use super::{Datagram, PORT, Wire};
use crate::stream::page::{PATIENCE, Told};
use crate::streams::StreamPlan;
use crate::summary::CUT_OFF;
use schema::tables::{PageLoad, PageObject};
use sim::Parcel;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use units::{HttpVersion, Instant};
use web::names::host_name;
use web::{Loading, Outcome, PageModel, Step, host_of};

/// The page of a run, and how it is loaded.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Its hosts and objects.
    pub model: &'a PageModel,
    /// By which protocols, in turn.
    pub protocols: &'a [HttpVersion],
    /// From the end of one load to the start of the next.
    pub pause: Duration,
}

/// A stream of loads.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    plan: &'a StreamPlan,
    page: Page<'a>,
    token: u64,
    client: Client,
    /// When loads may begin and must end, the phase at hand first.
    phases: VecDeque<[Instant; 2]>,
    /// When the next load may begin.
    next: Instant,
    current: Option<Current<'a>>,
    /// Loads that have ended.
    pub(super) number: u32,
    pub(super) found: Vec<(PageLoad, Vec<PageObject>)>,
}

#[derive(Debug)]
struct Current<'a> {
    begun: Instant,
    /// When it is given up.
    until: Instant,
    protocol: HttpVersion,
    loading: Loading<'a>,
    /// One for each host.
    look_ups: Vec<LookUp>,
    /// Pools that wait for a look-up, or whose connection (by its number) is being made.
    waiting: Vec<u16>,
    opening: BTreeMap<u32, u16>,
    /// Numbers at the client, by those of the load.
    connections: Vec<u32>,
    /// By object, of requests under way: with the connection.
    asked: BTreeMap<u16, (u32, Outcome)>,
}

impl<'a> Pages<'a> {
    /// Loads `page` in the two `phases`.
    pub(super) fn new(
        plan: &'a StreamPlan,
        page: Page<'a>,
        phases: [(Duration, Duration); 2],
        client: Client,
        token: u64,
    ) -> Self {
        let phases = phases.map(|(from, to)| [Instant::ZERO + from, Instant::ZERO + to]);
        Self {
            plan,
            page,
            token,
            client,
            next: phases[0][0],
            phases: phases.into(),
            current: None,
            number: 0,
            found: Vec::new(),
        }
    }

    /// A packet of a connection arrived.
    pub(super) fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        self.client.handle_packet(parcel, now);
        self.act(now);
    }

    /// The answer to a look-up arrived.
    pub(super) fn handle_answer(&mut self, sequence: u32, now: Instant) {
        if let Some(current) = &mut self.current {
            let load = self.number;
            let look_ups = current.look_ups.iter_mut();
            look_ups.for_each(|look_up| look_up.handle_answer(load, sequence, now));
        }
        self.act(now);
    }

    /// The instant of [`Pages::next_timeout`] has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
        self.act(now);
    }

    /// When to call [`Pages::handle_timeout`].
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let next = match &self.current {
            Some(current) => {
                let look_ups = current.look_ups.iter().filter_map(LookUp::next_due);
                look_ups.chain([current.until]).min()
            }
            None => (!self.phases.is_empty()).then_some(self.next),
        };
        [self.client.next_timeout(), next]
            .into_iter()
            .flatten()
            .min()
    }

    /// The next packet of a connection.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        self.client.poll_transmit(now)
    }

    /// The next question of a look-up.
    pub(super) fn poll_question(&mut self) -> Option<Datagram> {
        let load = self.number;
        let current = self.current.as_mut()?;
        let mut look_ups = current.look_ups.iter_mut();
        look_ups.find_map(|look_up| look_up.poll(load))
    }

    fn act(&mut self, now: Instant) {
        self.advance(now);
        while let Some(news) = self.client.poll_news() {
            self.take(news, now);
            self.advance(now);
        }
        let is_over =
            |current: &mut Current<'_>| current.loading.is_finished() || current.until <= now;
        if let Some(current) = self.current.take_if(is_over) {
            self.end(current, now);
        }
        self.begin(now);
    }

    /// Begins a load if it is time for one.
    fn begin(&mut self, now: Instant) {
        while self.current.is_none()
            && let Some(&[from, to]) = self.phases.front()
        {
            self.next = self.next.max(from);
            if self.next + self.page.pause >= to {
                self.phases.pop_front();
                continue;
            }
            if self.next > now {
                return;
            }
            let ways = self.page.protocols;
            let Some(&protocol) = ways.get(self.number as usize % ways.len().max(1)) else {
                return self.phases.clear();
            };
            let (model, token) = (self.page.model, self.token);
            let look_up = |(number, host): (u32, &String)| LookUp::new(number, host, token);
            self.current = Some(Current {
                begun: now,
                until: to.min(now + PATIENCE),
                protocol,
                loading: Loading::new(model, token, PORT, protocol, now),
                look_ups: (0..).zip(model.hosts()).map(look_up).collect(),
                waiting: Vec::new(),
                opening: BTreeMap::new(),
                connections: Vec::new(),
                asked: BTreeMap::new(),
            });
            self.advance(now);
        }
    }

    /// The load at hand is over.
    fn end(&mut self, current: Current<'a>, now: Instant) {
        let is_whole = current.loading.is_finished();
        let patience = current.until.since(current.begun);
        let cut = (!is_whole).then(|| format!("not done within {patience:?}"));
        let mut load = current.loading.finish(cut);
        if !is_whole && load.load_time.is_none() && patience < PATIENCE {
            load.error = Some(CUT_OFF.to_owned());
        }
        self.client.close_all(!is_whole);
        let told = Told {
            stream: self.plan.id,
            number: self.number,
            loader: "native",
            page: self.page.model.name(),
            started_ns: current.begun.as_nanos(),
            spent: now.since(current.begun),
        };
        self.found.push(told.rows(&load));
        self.number += 1;
        self.next = now + self.page.pause;
    }

    fn take(&mut self, news: News, now: Instant) {
        let Some(current) = &mut self.current else {
            return;
        };
        match news {
            News::Ready(number, [connect, tls]) => {
                let Some(pool) = current.opening.remove(&number) else {
                    return;
                };
                let look_up = current.look_ups.get(usize::from(host_of(pool)));
                if let Some(dns) = look_up.and_then(LookUp::done) {
                    current.loading.handle_open(pool, [dns, connect, tls]);
                    current.connections.push(number);
                }
            }
            News::Lost(number) => {
                self.client.close(number, true);
                current.lose(number);
            }
            News::Head(object) => {
                if let Some((_, outcome)) = current.asked.get_mut(&object) {
                    outcome.first = Some(now);
                    outcome.status = Some(200);
                }
            }
            News::Piece(piece) => {
                let Some((_, outcome)) = current.asked.get_mut(&piece.object) else {
                    return;
                };
                outcome.bytes += piece.octets;
                if piece.object == 0 {
                    current.loading.handle_octets(outcome.bytes);
                }
                if piece.is_last
                    && let Some((_, mut outcome)) = current.asked.remove(&piece.object)
                {
                    outcome.last = Some(now);
                    outcome.is_usable = true;
                    current.loading.handle_end(piece.object, outcome);
                }
            }
        }
    }

    /// Does all of the load at hand that can be done now.
    fn advance(&mut self, now: Instant) {
        let Some(current) = &mut self.current else {
            return;
        };
        for look_up in &mut current.look_ups {
            look_up.handle_timeout(now);
        }
        current.give_up();
        while let Some(step) = current.loading.poll(now) {
            match step {
                Step::Open(pool) => {
                    if let Some(look_up) = current.look_ups.get_mut(usize::from(host_of(pool))) {
                        look_up.begin(now);
                    }
                    current.waiting.push(pool);
                    current.give_up();
                }
                Step::Send { object, connection } => {
                    let number = current.connections.get(usize::from(connection));
                    let (Some(&number), Some(facts)) = (number, self.page.model.object(object))
                    else {
                        continue;
                    };
                    let sent = Outcome {
                        sent: now,
                        ..Outcome::default()
                    };
                    current.asked.insert(object, (number, sent));
                    let request = Request {
                        object,
                        size: facts.size.get(),
                        delay: facts.delay.0,
                    };
                    let host = self.page.model.host_name(object, self.token);
                    let authority = format!("{host}:{PORT}");
                    let path = self.page.model.path(object);
                    self.client.ask(number, request, &authority, &path);
                }
            }
        }
        self.client.flush();
        self.open(now);
    }

    /// Opens the connections whose hosts have been looked up.
    fn open(&mut self, now: Instant) {
        let Some(current) = &mut self.current else {
            return;
        };
        let waiting = std::mem::take(&mut current.waiting);
        for pool in waiting {
            let host = usize::from(host_of(pool));
            if current.look_ups.get(host).and_then(LookUp::done).is_none() {
                current.waiting.push(pool);
                continue;
            }
            let label = self.page.model.hosts().get(host);
            let name = host_name(label.map_or("", String::as_str), self.token);
            let number = self.client.open(&name, current.protocol, now);
            current.opening.insert(number, pool);
        }
    }
}

impl Current<'_> {
    /// Hosts whose look-ups came to nothing have no address, so their connections cannot be opened.
    fn give_up(&mut self) {
        for pool in std::mem::take(&mut self.waiting) {
            let look_up = self.look_ups.get(usize::from(host_of(pool)));
            match look_up.and_then(LookUp::failure) {
                Some(why) => self.loading.handle_open_failed(pool, why),
                None => self.waiting.push(pool),
            }
        }
    }

    /// The connection is no more, and with it what was under way over it.
    fn lose(&mut self, number: u32) {
        let why = "the connection was lost";
        if let Some(pool) = self.opening.remove(&number) {
            self.loading.handle_open_failed(pool, why.to_owned());
        }
        let lost: Vec<_> = self
            .asked
            .iter()
            .filter(|(_, (over, _))| *over == number)
            .map(|(object, _)| *object)
            .collect();
        for object in lost {
            if let Some((_, mut outcome)) = self.asked.remove(&object) {
                outcome.error = Some(why.to_owned());
                self.loading.handle_end(object, outcome);
            }
        }
    }
}
