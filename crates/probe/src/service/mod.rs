//! Who wants to know what of which path, and which estimator runs when: the decisions of an estimation service.
//!
//! # The idea
//!
//! Clients ask for *what*, not *how* (Papageorgiou 2008, section 8.1): a property of a path, how old the answer may be, how
//! well it must be known, and how many octets of probes it may cost. The service has a list of [`Offer`]s, estimators with what they
//! typically cost, and answers each query by the cheapest means that are good enough:
//!
//! 1. an estimate that is kept and young enough;
//! 2. a measurement that is under way, begun for somebody else;
//! 3. a measurement of its own, by the estimator that sends the fewest octets among those that are expected to be good enough.
//!
//! On a path there is never more than one measurement at a time, for two would measure each other. What a run took and how well it
//! knew its figure is what is expected of the next one on that path, for ten minutes.
//!
//! # Calling order
//!
//! Whatever happens is told by [`Service::ask`] and the `handle_*` methods; after each, and when [`Service::next_timeout`] has come
//! ([`Service::handle_timeout`]), [`Service::poll_action`] is called until it has nothing more. Each [`Action::Start`] is answered by one call of
//! [`Service::handle_estimate`] or [`Service::handle_failure`].
//!
//! # What is bounded
//!
//! Queries in all and of each client ([`Limits`]); kept estimates, to one of each offer and path. Paths are numbers of the caller's, who
//! knows how many there are.

mod offer;
mod query;
mod terms;
#[cfg(test)]
mod tests;
mod threshold;

pub use offer::{Cost, Offer};
pub use query::{When, Wish};
pub use terms::{Action, Counters, Estimate, Failure, Figure, Known, Limits, News, Refusal};
pub use threshold::{Bounds, Crossing, Side};

use offer::Costs;
use query::{Query, State, Worth};
use std::collections::{BTreeMap, VecDeque};
use units::Instant;

/// A path, by the caller's number.
pub type Path = usize;

/// A measurement that is under way.
#[derive(Clone, Copy, Debug)]
struct Running {
    offer: usize,
    /// The query that it was begun for.
    cause: u64,
    /// What it may cost.
    most_octets: Option<u64>,
    /// Nobody wants it any more.
    is_stopped: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Service<T> {
    offers: Vec<Offer>,
    limits: Limits,
    costs: Costs,
    kept: BTreeMap<(Path, usize), Known<T>>,
    running: BTreeMap<Path, Running>,
    queries: BTreeMap<u64, Query>,
    next: u64,
    actions: VecDeque<Action<T>>,
    counters: Counters,
}

impl<T: Clone> Service<T> {
    /// One that has these estimators.
    pub fn new(offers: Vec<Offer>, limits: Limits) -> Self {
        Self {
            offers,
            limits,
            costs: Costs::default(),
            kept: BTreeMap::new(),
            running: BTreeMap::new(),
            queries: BTreeMap::new(),
            next: 0,
            actions: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Takes a query of a client; its number, by which the client is told things.
    ///
    /// # Errors
    /// [`Refusal::What`], [`Refusal::Queries`] and [`Refusal::Quality`], all at once and for good.
    pub fn ask(
        &mut self,
        client: u64,
        wish: Wish,
        when: When,
        now: Instant,
    ) -> Result<u64, Refusal> {
        let taken = self.take(client, wish, when, now);
        match taken {
            Ok(_) => self.counters.queries += 1,
            Err(_) => self.counters.refused += 1,
        }
        self.begin(now);
        taken
    }

    /// What came of the measurement on a path.
    pub fn handle_estimate(&mut self, path: Path, estimate: Estimate<T>, now: Instant) {
        let Some(running) = self.running.remove(&path) else {
            return;
        };
        let number = running.offer;
        let Some(offer) = self.offers.get(number) else {
            return;
        };
        self.costs.learn(path, number, offer, &estimate, now);
        let known = Known {
            path,
            estimate,
            offer: number,
            ended: now,
        };
        self.kept.insert((path, number), known.clone());
        for query in self.waiting_for(path, offer.what) {
            self.try_fresh(query, &known, running.cause, now);
        }
        self.begin(now);
    }

    /// Why nothing came of it.
    pub fn handle_failure(&mut self, path: Path, failure: &Failure, now: Instant) {
        let Some(running) = self.running.remove(&path) else {
            return;
        };
        let offer = self.offers.get(running.offer).copied();
        let waiting = offer.map_or_else(Vec::new, |offer| self.waiting_for(path, offer.what));
        for number in waiting.into_iter().filter(|_| !running.is_stopped) {
            let query = self.queries.get(&number);
            let suits = query.zip(offer.as_ref()).is_some_and(|(query, offer)| {
                query.wish.insists_on(offer)
                    && (*failure != Failure::Overhead
                        || query.wish.costs_no_more(running.most_octets))
            });
            if suits {
                self.refuse(number, Refusal::Failed(failure.clone()), now);
            }
        }
        self.begin(now);
    }

    /// The client of a query is gone.
    pub fn handle_gone(&mut self, query: u64) {
        let Some(gone) = self.queries.remove(&query) else {
            return;
        };
        let path = gone.wish.path;
        let Some(running) = self.running.get(&path).copied() else {
            return;
        };
        let what = self.offers.get(running.offer).map(|offer| offer.what);
        let is_wanted = what.is_some_and(|what| !self.waiting_for(path, what).is_empty());
        if let Some(running) = self.running.get_mut(&path)
            && !is_wanted
            && !running.is_stopped
        {
            running.is_stopped = true;
            self.actions.push_back(Action::Stop { path });
        }
    }

    /// Time has passed: some have waited too long, for others it is time again.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due = |(number, query): (&u64, &Query)| (query.due() <= now).then_some(*number);
        let due: Vec<u64> = self.queries.iter().filter_map(due).collect();
        for number in due {
            match self.queries.get_mut(&number) {
                Some(query) if query.is_once() => self.refuse(number, Refusal::Timeout, now),
                Some(query) => {
                    query.wake(now);
                    self.try_kept(number, now);
                }
                None => {}
            }
        }
        self.begin(now);
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.queries.values().map(Query::due).min()
    }

    /// What is to be done next.
    pub fn poll_action(&mut self) -> Option<Action<T>> {
        self.actions.pop_front()
    }

    /// The number of the offer that is being carried out on a path.
    pub fn running(&self, path: Path) -> Option<usize> {
        self.running.get(&path).map(|running| running.offer)
    }

    /// What is kept of a path.
    pub fn kept(&self, path: Path) -> impl Iterator<Item = &Known<T>> {
        let all = self.kept.range((path, 0)..=(path, usize::MAX));
        all.map(|(_, known)| known)
    }

    /// The offers, by their numbers.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Whether a query is not over.
    pub fn is_open(&self, query: u64) -> bool {
        self.queries.contains_key(&query)
    }

    /// Whether a query is one that is answered again and again.
    pub fn is_watch(&self, query: u64) -> bool {
        let query = self.queries.get(&query);
        query.is_some_and(|query| !query.is_once())
    }

    /// Queries that are open.
    pub fn open(&self) -> usize {
        self.queries.len()
    }

    /// What has been done so far.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    fn take(&mut self, client: u64, wish: Wish, when: When, now: Instant) -> Result<u64, Refusal> {
        if !self.offers.iter().any(|offer| offer.what == wish.what) {
            return Err(Refusal::What);
        }
        let of_client = self.queries.values().filter(|query| query.client == client);
        let of_client = of_client.count();
        if self.queries.len() >= self.limits.queries || of_client >= self.limits.of_client {
            let open = self.queries.len().max(of_client);
            return Err(Refusal::Queries(open));
        }
        let number = self.next;
        let query = Query::new(client, wish, when, now);
        let is_possible = self.choose(&query, now).is_some();
        self.queries.insert(number, query);
        if !self.try_kept(number, now) && !is_possible {
            self.queries.remove(&number);
            return Err(self.quality(&wish, now));
        }
        self.next += 1;
        Ok(number)
    }

    /// Begins what is wanted and can be begun, for who has waited longest.
    fn begin(&mut self, now: Instant) {
        let queries = self.queries.iter();
        let mut waiting: Vec<_> = queries
            .map(|(number, query)| (query.woken, *number))
            .collect();
        // A watch has its low number for ever, and waits anew each time.
        waiting.sort_unstable();
        for (_, number) in waiting {
            let Some(query) = self.queries.get(&number) else {
                continue;
            };
            let (path, most_octets) = (query.wish.path, query.wish.most_octets);
            if !query.is_waiting() || self.running.contains_key(&path) {
                continue;
            }
            let Some(offer) = self.choose(query, now) else {
                let wish = query.wish;
                self.refuse(number, self.quality(&wish, now), now);
                continue;
            };
            if self.running.len() >= self.limits.measurements {
                break;
            }
            let running = Running {
                offer,
                cause: number,
                most_octets,
                is_stopped: false,
            };
            self.running.insert(path, running);
            self.counters.measurements += 1;
            self.actions.push_back(Action::Start {
                path,
                offer,
                most_octets,
            });
        }
    }

    /// The cheapest offer that is expected to give what is wanted, and was not tried for it before.
    fn choose(&self, query: &Query, now: Instant) -> Option<usize> {
        let wish = &query.wish;
        let offers = self.offers.iter().enumerate();
        let suiting = offers.filter_map(|(number, offer)| {
            let cost = self.costs.expected(wish.path, number, offer, now);
            let is_fine = wish.suits(offer, &cost)
                && wish.most_octets.is_none_or(|most| cost.octets <= most)
                && cost.time <= wish.timeout
                && !query.tried.contains(&number);
            is_fine.then_some((cost.octets, cost.time, number))
        });
        suiting.min().map(|(.., number)| number)
    }

    /// That no offer is good enough, and which comes nearest.
    fn quality(&self, wish: &Wish, now: Instant) -> Refusal {
        let offers = self.offers.iter().enumerate();
        let all = offers.filter(|(_, offer)| wish.insists_on(offer));
        let costs = all.map(|(number, offer)| {
            let cost = self.costs.expected(wish.path, number, offer, now);
            (offer.estimator, cost)
        });
        let interval = |cost: &Cost| cost.interval_pct.unwrap_or(f64::INFINITY);
        let order = |a: &(&str, Cost), b: &(&str, Cost)| interval(&a.1).total_cmp(&interval(&b.1));
        Refusal::Quality(costs.min_by(order))
    }

    /// Answers a query by what is kept, if that will do.
    fn try_kept(&mut self, number: u64, now: Instant) -> bool {
        let Some(query) = self.queries.get(&number) else {
            return false;
        };
        let wish = query.wish;
        let is_fine = |known: &&Known<T>| {
            let offer = self.offers.get(known.offer);
            offer.is_some_and(|offer| wish.takes(offer, &known.estimate.figure))
                && now.since(known.ended) <= wish.max_age
                && query.told.is_none_or(|told| told < known.ended)
        };
        let fine = self.kept(wish.path).filter(is_fine);
        let Some(known) = fine.max_by_key(|known| known.ended).cloned() else {
            return false;
        };
        self.tell(number, known, true, now);
        true
    }

    /// Answers a query by what has just been measured, or remembers that it does not do.
    fn try_fresh(&mut self, number: u64, known: &Known<T>, cause: u64, now: Instant) {
        let offer = self.offers.get(known.offer);
        let Some((query, offer)) = self.queries.get_mut(&number).zip(offer) else {
            return;
        };
        let figure = &known.estimate.figure;
        let cost = self
            .costs
            .expected(query.wish.path, known.offer, offer, now);
        let was_good_enough = query.wish.suits(offer, &cost);
        // That the path does not let itself be measured is an answer, too.
        if query.wish.takes(offer, figure) || (!figure.conclusive && was_good_enough) {
            self.tell(number, known.clone(), cause != number, now);
        } else if was_good_enough {
            query.tried.push(known.offer);
        }
    }

    fn tell(&mut self, number: u64, known: Known<T>, is_shared: bool, now: Instant) {
        self.counters.shared += u64::from(is_shared);
        let Some(query) = self.queries.get_mut(&number) else {
            return;
        };
        let figure = known.estimate.figure;
        let news = match query.handle(&figure, now) {
            Worth::Answer => Some(News::Estimate { known, is_shared }),
            Worth::Crossing(side, bound) => Some(News::Crossed {
                known,
                is_shared,
                side,
                bound,
            }),
            Worth::Nothing => None,
        };
        let action = news.map(|news| Action::Tell {
            query: number,
            news,
        });
        self.actions.extend(action);
        if query.is_once() {
            self.queries.remove(&number);
        }
    }

    fn refuse(&mut self, number: u64, refusal: Refusal, now: Instant) {
        self.counters.refused += 1;
        let news = News::Refused(refusal);
        self.actions.push_back(Action::Tell {
            query: number,
            news,
        });
        match self.queries.get_mut(&number) {
            Some(query) if query.is_once() => {
                self.queries.remove(&number);
            }
            Some(query) => query.rest(now),
            None => {}
        }
    }

    /// Queries that wait for this of a path, the oldest first.
    fn waiting_for(&self, path: Path, what: &str) -> Vec<u64> {
        let is_it = |query: &Query| {
            matches!(query.state, State::Waiting)
                && query.wish.path == path
                && query.wish.what == what
        };
        let all = self.queries.iter();
        all.filter(|(_, query)| is_it(query))
            .map(|(number, _)| *number)
            .collect()
    }
}
