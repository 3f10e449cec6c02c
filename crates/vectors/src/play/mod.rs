//! A vector, played: what each end says when, given what it has heard.
//!
//! # The idea
//!
//! A [`Player`] is one end of one connection. It knows the vector, counts the octets that it has sent and heard, and from these
//! alone tells what may be sent now, until when it waits, and when it is done; the octets themselves, the socket and the clock
//! are somebody else's. So the same player talks over a kernel's TCP and over a simulated one.
//!
//! - In a **sequential** connection an end takes its turn when every octet of the turns before it has been sent or heard, and
//!   the turn's wait has passed since. TCP keeps no boundaries of ADUs; the counts do.
//! - In a **concurrent** one an end's turns follow each other, each after its wait, whatever the other end does.
//! - An **epoch**'s response time runs from the first octet of the request that the end gave away to the last octet of the response that
//!   it was given (Aikat 2010, section 4.5.3).
//!
//! The initiator of a sequential connection closes first: when all is said, and the tail of the vector has passed. Its peer
//! closes when it hears that. The ends of a concurrent connection close each for itself. Which end closed first a vector does
//! not say.
//!
//! # Calling order
//!
//! [`Player::handle_established`] once; then [`Player::handle_sent`], [`Player::handle_heard`] and [`Player::handle_closed`] as it happens; after each of them, and at
//! [`Player::next_timeout`], send what [`Player::poll_send`] allows, close the sending direction when [`Player::poll_close`] says so, and take what
//! [`Player::poll_answered`] has.

//!
//! Flows of UDP have ends of another kind: [`datagrams`].

pub mod datagrams;
#[cfg(test)]
mod tests;

use crate::{Body, Side, Turn, Vector};
use core::time::Duration;
use units::Instant;

/// A response that has been heard to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Answered {
    /// Which epoch of its connection, from 0.
    pub epoch: u32,
    /// When the first octet of the request was sent.
    pub asked: Instant,
    /// When the last octet of the response was heard.
    pub answered: Instant,
    /// Octets of the request.
    pub request: u64,
    /// Octets of the response.
    pub response: u64,
}

/// The peer said what the vector does not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("heard {0} octets more than the vector has")]
pub struct TooMuch(pub u64);

/// One end of a connection that is played.
#[derive(Clone, Debug)]
pub struct Player {
    side: Side,
    /// The turn at hand: the first that is not over, or of a concurrent connection the end's own first.
    turn: usize,
    /// Octets of that turn which are not yet sent, or not yet heard.
    remaining: u64,
    /// Octets of later turns that are heard already.
    ahead: u64,
    /// Octets that are still to be heard, all turns together.
    expected: u64,
    /// When the turn at hand may begin; nothing before the connection is established, and in a turn of the other end.
    due: Option<Instant>,
    /// When this end closes, once it has nothing more to say.
    close: Option<Instant>,
    is_closed: bool,
    peer_closed: bool,
    epoch: u32,
    /// When this end began to ask, and how many octets its question has.
    asked: Option<(Instant, u64)>,
    answered: Option<Answered>,
}

impl Player {
    /// The end `side` of `vector`; every later call is given the same vector.
    pub fn new(vector: &Vector, side: Side) -> Self {
        let mut player = Self {
            side,
            turn: 0,
            remaining: 0,
            ahead: 0,
            expected: vector.body.bytes(side.other()),
            due: None,
            close: None,
            is_closed: false,
            peer_closed: false,
            epoch: 0,
            asked: None,
            answered: None,
        };
        player.seek(&vector.body);
        player
    }

    /// The connection is there.
    pub fn handle_established(&mut self, vector: &Vector, now: Instant) {
        self.enter(&vector.body, now);
    }

    /// The octets that may be sent at `now`, all of the turn at hand.
    pub fn poll_send(&self, vector: &Vector, now: Instant) -> u64 {
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due && self.own(&vector.body).is_some() {
            self.remaining
        } else {
            0
        }
    }

    /// Whether the rest of the turn at hand is the last that this end says.
    pub fn is_last(&self, vector: &Vector) -> bool {
        let later = vector.body.turns().get(self.turn + 1..).unwrap_or_default();
        later.iter().all(|turn| turn.side != self.side)
    }

    /// The network has taken `octets` (at most what [`Player::poll_send`] allowed).
    pub fn handle_sent(&mut self, vector: &Vector, octets: u64, now: Instant) {
        let Some(turn) = self.own(&vector.body).copied() else {
            return;
        };
        if octets > 0 && self.remaining == turn.bytes {
            self.asks(turn.bytes, now);
        }
        self.remaining = self.remaining.saturating_sub(octets);
        if self.remaining == 0 {
            self.advance(&vector.body, now);
        }
    }

    /// `octets` of the other end have come.
    ///
    /// # Errors
    /// When they are more than the vector has; they are not counted.
    pub fn handle_heard(
        &mut self,
        vector: &Vector,
        octets: u64,
        now: Instant,
    ) -> Result<(), TooMuch> {
        let Some(expected) = self.expected.checked_sub(octets) else {
            return Err(TooMuch(octets - self.expected));
        };
        self.expected = expected;
        if vector.body.is_sequential() {
            self.ahead += octets;
            self.hear(&vector.body, now);
        } else if self.turn >= vector.body.turns().len() {
            self.ends(&vector.body, now);
        }
        Ok(())
    }

    /// The other end has closed: it will say nothing more.
    pub fn handle_closed(&mut self, vector: &Vector, now: Instant) {
        self.peer_closed = true;
        if self.turn >= vector.body.turns().len() {
            self.ends(&vector.body, now);
        }
    }

    /// Whether this end closes its sending direction now; said once.
    pub fn poll_close(&mut self, now: Instant) -> bool {
        let closes = !self.is_closed && self.close.is_some_and(|close| close <= now);
        self.is_closed |= closes;
        closes
    }

    /// An epoch that is over; each is told once, and before the next call with news.
    pub fn poll_answered(&mut self) -> Option<Answered> {
        self.answered.take()
    }

    /// When there is something to do even if nothing happens; nothing while the player waits for its peer or the network.
    pub fn next_timeout(&self, now: Instant) -> Option<Instant> {
        let close = self.close.filter(|_| !self.is_closed);
        close.or(self.due).filter(|&due| due > now)
    }

    /// Whether everything was said and heard.
    pub fn is_complete(&self, vector: &Vector) -> bool {
        self.expected == 0 && self.turn >= vector.body.turns().len()
    }

    /// Octets that are still to be heard.
    pub const fn expected(&self) -> u64 {
        self.expected
    }

    /// The turn at hand, if it is this end's.
    fn own<'a>(&self, body: &'a Body) -> Option<&'a Turn> {
        let turn = body.turns().get(self.turn)?;
        (turn.side == self.side).then_some(turn)
    }

    /// Makes the turn at `self.turn`, or in a concurrent connection the end's next, the one at hand.
    fn seek(&mut self, body: &Body) {
        let turns = body.turns();
        if !body.is_sequential() {
            let mine = |turn: &Turn| turn.side == self.side;
            let rest = turns.get(self.turn..).unwrap_or_default();
            self.turn += rest.iter().position(mine).unwrap_or(rest.len());
        }
        self.remaining = turns.get(self.turn).map_or(0, |turn| turn.bytes);
    }

    /// Begins the turn at hand, at the end of what went before it; of a sequential connection perhaps hears it at once.
    fn enter(&mut self, body: &Body, now: Instant) {
        let Some(turn) = body.turns().get(self.turn) else {
            self.due = None;
            self.ends(body, now);
            return;
        };
        self.due = (turn.side == self.side).then(|| now + turn.wait);
        if turn.side != self.side {
            self.hear(body, now);
        }
    }

    /// The turn at hand is over.
    fn advance(&mut self, body: &Body, now: Instant) {
        self.turn += 1;
        self.seek(body);
        self.enter(body, now);
    }

    /// Gives what has been heard to the turns it belongs to, while they are the other end's.
    fn hear(&mut self, body: &Body, now: Instant) {
        while let Some(turn) = body.turns().get(self.turn)
            && turn.side != self.side
        {
            let part = self.ahead.min(self.remaining);
            self.ahead -= part;
            self.remaining -= part;
            if self.remaining > 0 {
                return;
            }
            self.hears(turn.bytes, now);
            self.turn += 1;
            self.seek(body);
            match body.turns().get(self.turn) {
                Some(next) if next.side == self.side => self.due = Some(now + next.wait),
                Some(_) => {}
                None => self.ends(body, now),
            }
        }
    }

    /// This end begins to say something of `octets`.
    fn asks(&mut self, octets: u64, now: Instant) {
        if self.side == Side::Initiator {
            // What was asked before was not answered: its epoch is over.
            self.epoch += u32::from(self.asked.is_some());
            self.asked = Some((now, octets));
        }
    }

    /// The other end has said something of `octets` to its end.
    fn hears(&mut self, octets: u64, now: Instant) {
        if self.side == Side::Initiator {
            if let Some((asked, request)) = self.asked.take() {
                self.answered = Some(Answered {
                    epoch: self.epoch,
                    asked,
                    answered: now,
                    request,
                    response: octets,
                });
            }
            self.epoch += 1;
        }
    }

    /// Nothing more is to be said; the end closes after its tail, if it is its to close.
    fn ends(&mut self, body: &Body, now: Instant) {
        let tail = match body {
            Body::Concurrent { tails, .. } => tails[self.side.index()],
            Body::Sequential { tail, .. } => match self.side {
                Side::Initiator => *tail,
                Side::Acceptor if self.peer_closed => Some(Duration::ZERO),
                Side::Acceptor => return,
            },
        };
        let close = now + tail.unwrap_or_default();
        self.close = self.close.or(Some(close));
    }
}
