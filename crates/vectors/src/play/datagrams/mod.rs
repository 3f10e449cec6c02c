//! A flow of UDP, played: what each end sends when, though anything may be lost.
//!
//! # The idea
//!
//! A [`DatagramPlayer`] is one end of one flow, as a [`Player`](super::Player) is one of a connection. What differs is the network: a
//! datagram may come late, twice or never, nobody sends it again, and there is no connection that would end. What vectors of
//! flows mean is said in [`extract::udp`](crate::extract::udp).
//!
//! - In an **exchange** an end takes its turn when all turns before it were sent or heard, and the turn's wait has passed since.
//!   What is lost would stop both ends for ever, so who waits has a *patience*: beyond the wait that the other end has, a
//!   round trip and a second ([`PATIENCE`]) after it began to wait or last heard something of the turn, it goes on as if it had heard it.
//!   The real application's own timer is unknown. The initiator is twice as patient: if its request was lost, the
//!   acceptor has to lose patience and answer before the initiator does.
//! - In an **isochronous** flow each end's turns follow each other by its own clock, which begins with the flow: a turn that is
//!   sent late makes the next one no later.
//! - A turn of more octets than the end's largest datagram is a **train** ([`Train`]): full datagrams and one of what is left.
//!
//! # Labels
//!
//! What is in a datagram does not matter to the network, so its first four octets, if it has as many, are the number of its
//! turn ([`label`]). So an end that gave a turn up does not take its late datagrams for those of a later turn, and an end that
//! hears a turn which its peer can have come to only without it knows that what it waits for is lost.
//!
//! # Calling order
//!
//! [`DatagramPlayer::handle_begun`] once; then [`DatagramPlayer::handle_sent`] and [`DatagramPlayer::handle_heard`] as it happens, and
//! [`DatagramPlayer::handle_timeout`] at [`DatagramPlayer::next_timeout`]. After each of them send what
//! [`DatagramPlayer::poll_send`] allows. The end is done when [`DatagramPlayer::is_over`] says so; a flow is not closed.

#[cfg(test)]
mod tests;
mod train;

pub use train::{LABEL, Train, datagrams, label, labelled};

use crate::{Body, Side, Turn, Vector};
use core::time::Duration;
use std::collections::BTreeMap;
use units::Instant;

/// How long an end waits for what may be lost, beyond a round trip and the wait that its peer has.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// One end of a flow that is played.
#[derive(Clone, Debug)]
pub struct DatagramPlayer {
    side: Side,
    /// The first turn that is not over; of an isochronous flow, the end's own next.
    turn: usize,
    /// Octets of that turn which are not yet sent, or not yet heard.
    remaining: u64,
    /// Octets of turns that are not over which are heard already and not yet counted.
    early: BTreeMap<usize, u64>,
    /// Octets of all turns that are not heard.
    unheard: u64,
    /// When the turn at hand may begin, if it is this end's.
    due: Option<Instant>,
    /// When what is not heard is given up: of the turn at hand or, of an isochronous flow, everything.
    give_up: Option<Instant>,
    /// A round trip, and some time.
    patience: Duration,
}

impl DatagramPlayer {
    /// The end `side` of `vector`; every later call is given the same vector.
    pub fn new(vector: &Vector, side: Side) -> Self {
        let once = vector.min_rtt.unwrap_or_default().saturating_add(PATIENCE);
        let times = match side {
            Side::Initiator if vector.body.is_sequential() => 2,
            _ => 1,
        };
        Self {
            side,
            turn: 0,
            remaining: 0,
            early: BTreeMap::new(),
            unheard: vector.body.bytes(side.other()),
            due: None,
            give_up: None,
            patience: once.saturating_mul(times),
        }
    }

    /// The flow begins at `at`, which may be a little ago.
    pub fn handle_begun(&mut self, vector: &Vector, at: Instant) {
        let body = &vector.body;
        if !body.is_sequential() {
            let turns = body.turns().iter();
            let others = turns.filter(|turn| turn.side != self.side);
            let lasting = others.fold(self.patience, |sum, turn| sum.saturating_add(turn.wait));
            self.give_up = (self.unheard > 0).then(|| at + lasting);
        }
        self.enter(body, at);
    }

    /// What may be sent at `now`: the rest of the turn at hand.
    pub fn poll_send(&self, vector: &Vector, now: Instant) -> Option<Train> {
        self.due.filter(|&due| due <= now)?;
        Some(Train::new(vector, self.side, self.turn, self.remaining))
    }

    /// When what [`DatagramPlayer::poll_send`] allows was to be sent.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The network has taken so many `datagrams` of what [`DatagramPlayer::poll_send`] allowed.
    pub fn handle_sent(&mut self, vector: &Vector, datagrams: usize, now: Instant) {
        let Some(due) = self.due else {
            return;
        };
        let train = Train::new(vector, self.side, self.turn, self.remaining);
        let octets = train
            .sizes()
            .take(datagrams)
            .fold(0, |sum, size| sum + u64::from(size));
        self.remaining = self.remaining.saturating_sub(octets);
        if self.remaining == 0 {
            self.turn += 1;
            // A clock is not set back by whoever is late.
            let since = if vector.body.is_sequential() {
                now
            } else {
                due
            };
            self.enter(&vector.body, since);
        }
    }

    /// A datagram of the other end has come, with so many `octets`, of the turn that its label says.
    pub fn handle_heard(&mut self, vector: &Vector, turn: Option<u32>, octets: u64, now: Instant) {
        self.unheard = self.unheard.saturating_sub(octets);
        let body = &vector.body;
        if !body.is_sequential() {
            let patient = now + self.patience;
            self.give_up = self.give_up.map(|give_up| give_up.max(patient));
            return;
        }
        let Some(turn) = self.turn_of(body, turn).filter(|&turn| turn >= self.turn) else {
            // It was given up.
            return;
        };
        let noted = self.early.entry(turn).or_default();
        *noted = noted.saturating_add(octets);
        if self.due.is_some() {
            return;
        }
        let between = body.turns().get(self.turn..turn).unwrap_or_default();
        if between.iter().any(|turn| turn.side == self.side) {
            // The other end has gone on without this one: of what it said before nothing more comes.
            self.seek(body);
            self.enter(body, now);
        } else {
            let patient = now + self.patience;
            self.give_up = self.give_up.map(|give_up| give_up.max(patient));
            if self.hears() {
                self.turn += 1;
                self.enter(body, now);
            }
        }
    }

    /// What was waited for until `now` will not come.
    pub fn handle_timeout(&mut self, vector: &Vector, now: Instant) {
        let body = &vector.body;
        if body.is_sequential() && self.due.is_none() && self.has_given_up(now) {
            self.turn += 1;
            self.enter(body, now);
        }
    }

    /// When there is something to do even if nothing happens.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.due.or(self.give_up)
    }

    /// Whether there is nothing left to say, and nothing left to wait for.
    pub fn is_over(&self, vector: &Vector, now: Instant) -> bool {
        let waits = self.unheard > 0 && !self.has_given_up(now);
        let is_last = self.turn >= vector.body.turns().len();
        is_last && (vector.body.is_sequential() || !waits)
    }

    /// Octets that are not heard, given up or not.
    pub const fn unheard(&self) -> u64 {
        self.unheard
    }

    fn has_given_up(&self, now: Instant) -> bool {
        self.give_up.is_some_and(|give_up| give_up <= now)
    }

    /// The turn of a datagram: that of its label or, without one, the first that is not over.
    fn turn_of(&self, body: &Body, label: Option<u32>) -> Option<usize> {
        let is_theirs = |turn: &Turn| turn.side != self.side;
        let labelled = label.and_then(|label| usize::try_from(label).ok());
        let labelled = labelled.filter(|&turn| body.turns().get(turn).is_some_and(is_theirs));
        labelled.or_else(|| {
            let rest = body.turns().get(self.turn..)?;
            Some(self.turn + rest.iter().position(is_theirs)?)
        })
    }

    /// Begins the turn at `self.turn` at the end of what went before it, or the first after it that is not heard already.
    fn enter(&mut self, body: &Body, now: Instant) {
        self.due = None;
        if !body.is_sequential() {
            self.seek(body);
        }
        while let Some(turn) = body.turns().get(self.turn) {
            self.remaining = turn.bytes;
            if turn.side == self.side {
                self.due = Some(now + turn.wait);
                return;
            }
            self.give_up = Some(now + turn.wait.saturating_add(self.patience));
            if !self.hears() {
                return;
            }
            self.turn += 1;
        }
    }

    /// Makes this end's next turn the one at hand.
    fn seek(&mut self, body: &Body) {
        let rest = body.turns().get(self.turn..).unwrap_or_default();
        let mine = rest.iter().position(|turn| turn.side == self.side);
        self.turn += mine.unwrap_or(rest.len());
    }

    /// Counts what has come of the turn at hand, which is the other end's; whether that was all.
    fn hears(&mut self) -> bool {
        self.early = self.early.split_off(&self.turn);
        let heard = self.early.remove(&self.turn).unwrap_or_default();
        self.remaining = self.remaining.saturating_sub(heard);
        self.remaining == 0
    }
}
