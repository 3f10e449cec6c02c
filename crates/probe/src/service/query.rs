//! A query: what is wanted, when, and how far it has come.

use super::threshold::{Bounds, Crossing, Side};
use super::{Cost, Figure, Offer, Path};
use std::time::Duration;
use units::Instant;

/// What a client wants to know, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Of which path.
    pub path: Path,
    /// What.
    pub what: &'static str,
    /// An estimate no older than this will do.
    pub max_age: Duration,
    /// Half of the interval is to be at most this share of the figure, in percent.
    pub within_pct: Option<f64>,
    /// No more octets of probes than this.
    pub most_octets: Option<u64>,
    /// By this estimator and no other.
    pub estimator: Option<&'static str>,
    /// An estimator that takes longer than this is not chosen; a query for one answer is refused after it.
    pub timeout: Duration,
}

impl Wish {
    /// Whether an offer finds what is wanted, in the way that is wanted.
    pub(super) fn insists_on(&self, offer: &Offer) -> bool {
        self.what == offer.what && self.estimator.is_none_or(|name| name == offer.estimator)
    }

    /// Whether an offer is expected to be good enough.
    pub(super) fn suits(&self, offer: &Offer, cost: &Cost) -> bool {
        let is_good = match self.within_pct {
            Some(within) => cost.interval_pct.is_some_and(|pct| pct <= within),
            None => offer.is_usual || self.estimator.is_some(),
        };
        self.insists_on(offer) && is_good
    }

    /// Whether what was too much for a bound of `most` octets is too much for its own.
    pub(super) fn costs_no_more(&self, most: Option<u64>) -> bool {
        let bounds = self.most_octets.zip(most);
        bounds.is_some_and(|(own, most)| own <= most)
    }

    /// Whether what an offer has found will do.
    pub(super) fn takes(&self, offer: &Offer, figure: &Figure) -> bool {
        let is_good = match self.within_pct {
            Some(within) => {
                figure.conclusive && figure.interval_pct().is_some_and(|pct| pct <= within)
            }
            None => offer.is_usual || self.estimator.is_some(),
        };
        self.insists_on(offer) && is_good
    }
}

/// When it is to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// Now, and that is all.
    Once,
    /// Now, and again and again: with bounds only when they are crossed.
    Every(Duration, Option<Bounds>),
}

/// What an estimate is to a client.
#[derive(Clone, Copy, Debug)]
pub(super) enum Worth {
    /// It is told as it is.
    Answer,
    /// By it the figure is on this side of its bounds now, and this is the bound.
    Crossing(Side, f64),
    /// It changes nothing.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// For a measurement.
    Waiting,
    /// Until it is time again.
    Resting(Instant),
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Once {
        deadline: Instant,
    },
    Watch {
        every: Duration,
        crossing: Option<Crossing>,
    },
}

#[derive(Debug)]
pub(super) struct Query {
    pub(super) client: u64,
    pub(super) wish: Wish,
    pub(super) state: State,
    /// When it was told an estimate last: none is told twice.
    pub(super) told: Option<Instant>,
    /// Offers that were tried for it and were not good enough.
    pub(super) tried: Vec<usize>,
    /// When its turn came.
    pub(super) woken: Instant,
    kind: Kind,
}

impl Query {
    pub(super) fn new(client: u64, wish: Wish, when: When, now: Instant) -> Self {
        let kind = match when {
            When::Once => Kind::Once {
                deadline: now + wish.timeout,
            },
            When::Every(every, bounds) => Kind::Watch {
                every,
                crossing: bounds.map(Crossing::new),
            },
        };
        Self {
            client,
            wish,
            state: State::Waiting,
            told: None,
            tried: Vec::new(),
            woken: now,
            kind,
        }
    }

    pub(super) const fn is_once(&self) -> bool {
        matches!(self.kind, Kind::Once { .. })
    }

    pub(super) const fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    /// When time does something to it.
    pub(super) const fn due(&self) -> Instant {
        match (self.kind, self.state) {
            (Kind::Once { deadline }, _) => deadline,
            (_, State::Resting(until)) => until,
            (_, State::Waiting) => Instant::FAR_FUTURE,
        }
    }

    /// It is time again.
    pub(super) fn wake(&mut self, now: Instant) {
        self.woken = now;
        self.state = State::Waiting;
        self.tried.clear();
    }

    /// Until the next time, which does not depend on how long the measurement took unless it took longer than that.
    pub(super) fn rest(&mut self, now: Instant) {
        if let Kind::Watch { every, .. } = self.kind {
            self.state = State::Resting((self.woken + every).max(now));
        }
    }

    /// Takes an estimate.
    pub(super) fn handle(&mut self, figure: &Figure, now: Instant) -> Worth {
        let is_first = self.told.replace(now).is_none();
        self.rest(now);
        let Kind::Watch {
            crossing: Some(crossing),
            ..
        } = &mut self.kind
        else {
            return Worth::Answer;
        };
        match crossing.handle(figure) {
            _ if is_first => Worth::Answer,
            Some(side) => Worth::Crossing(side, crossing.bounds().of(side)),
            None => Worth::Nothing,
        }
    }
}
