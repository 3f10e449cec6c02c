//! A synthesis as a capture would have it: with connections in progress at its beginning and at its end.
//!
//! A capture is a window on traffic that began long before. If connections start at a constant rate, so many are in progress
//! when it opens as start in the mean duration of one (J. D. C. Little, "A proof for the queuing formula", 1961), long ones
//! in proportion to their length, each at an age between none and its duration. What they go on to say is as much as those that
//! start within the window say after its end; so octets per second are the rate of starts times the mean octets of a connection,
//! at any time within the window, which without them they would be hours later.
//!
//! So a *lap* of time before the window is drawn, in which as many connections start as in the window, or 131,072 if those are
//! few. Each of them stands for its like in the lap before that, and in the one before it, and so on for ever: a connection
//! that started `age` before the window, and lasts longer than that, is in progress, and so is one that started `age + lap`
//! before it, if it lasts longer than that, with what it says then. Numbers and octets so have the right mean whatever the
//! distributions and their ties are. As a lap is no shorter than the window, no part of a connection is in it twice; but
//! parts of one that is longer than a lap have their round-trip time and windows in common.
//!
//! When ADUs pass, and how connections are cut at both ends, says [`timeline`](super::timeline).
//!
//! What is kept are the moments at which connections in progress first say something: 24 octets for each. They are drawn again
//! when it is their turn.

use super::Synthesis;
use super::timeline::{Timeline, cut};
use crate::Vector;
use core::iter::Peekable;
use core::time::Duration;
use std::vec::IntoIter;

/// Connections of a lap, at least: the number of those in progress then lies within some percent of its mean.
const LEAST: f64 = 131_072.0;
/// And at most. A longer window has parts of a long connection twice.
const MOST: f64 = 1e8;

/// Vectors within a window of time, in the order of their starts.
#[derive(Clone, Debug)]
pub struct Stationary {
    synthesis: Synthesis,
    lap: Lap,
    in_progress: u64,
    earlier: Peekable<IntoIter<Earlier>>,
    /// The next of those that start within the window.
    later: Option<Vector>,
}

/// A connection in progress at the beginning.
#[derive(Clone, Copy, Debug)]
struct Earlier {
    /// When it first says something, from the beginning.
    first: Duration,
    index: u64,
    lap: u32,
}

impl Synthesis {
    /// With the connections that are in progress at the beginning, and cut at the end of the span.
    pub fn stationary(self) -> Stationary {
        let lap = Lap::of(&self);
        let mut earlier = Vec::new();
        for index in 0..lap.connections {
            lap.in_progress(&self, index, &mut earlier);
        }
        earlier.sort_unstable_by_key(|one| (one.first, one.index, one.lap));
        let mut stationary = Stationary {
            lap,
            in_progress: u64::try_from(earlier.len()).unwrap_or(u64::MAX),
            synthesis: self,
            earlier: earlier.into_iter().peekable(),
            later: None,
        };
        stationary.later = stationary.next_later();
        stationary
    }
}

/// The time before the window that is drawn.
#[derive(Clone, Copy, Debug)]
struct Lap {
    seconds: f64,
    connections: u64,
}

impl Lap {
    fn of(synthesis: &Synthesis) -> Self {
        let rate = synthesis.first_rate();
        let connections = (rate * synthesis.window.as_secs_f64()).ceil();
        if connections.is_nan() || connections <= 0.0 {
            return Self {
                seconds: 0.0,
                connections: 0,
            };
        }
        let connections = connections.clamp(LEAST, MOST);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within bounds"
        )]
        Self {
            seconds: connections / rate,
            connections: connections as u64,
        }
    }

    /// Age at the beginning of the connection with this index, that of its like so many laps before.
    fn age(&self, synthesis: &Synthesis, index: u64, lap: u32) -> Duration {
        let unit = synthesis.age(index).unit();
        let age = (unit + f64::from(lap)) * self.seconds;
        Duration::try_from_secs_f64(age).unwrap_or(Duration::MAX)
    }

    /// Those of a connection's laps that say something within the window.
    fn in_progress(&self, synthesis: &Synthesis, index: u64, into: &mut Vec<Earlier>) {
        let vector = synthesis.earlier(index, Duration::MAX);
        let timeline = Timeline::of(&vector);
        let end = timeline.end();
        for lap in 0..u32::MAX {
            let age = self.age(synthesis, index, lap);
            if age > end {
                return;
            }
            let first = timeline.first(age, age.saturating_add(synthesis.window));
            into.extend(first.map(|first| Earlier {
                first: first.saturating_sub(age),
                index,
                lap,
            }));
        }
    }
}

impl Stationary {
    /// Connections that are in progress at the beginning and say something later, before the end.
    pub const fn in_progress(&self) -> u64 {
        self.in_progress
    }

    fn next_later(&mut self) -> Option<Vector> {
        let start = self.synthesis.next_start()?;
        let until = self.synthesis.window.saturating_sub(start.at);
        cut(&self.synthesis.later(start, until), Duration::ZERO, until)
    }

    fn cut_earlier(&self, earlier: Earlier) -> Option<Vector> {
        let Earlier { index, lap, .. } = earlier;
        let from = self.lap.age(&self.synthesis, index, lap);
        let to = from.saturating_add(self.synthesis.window);
        let vector = self.synthesis.earlier(index, to);
        cut(&vector, from, to)
    }
}

impl Iterator for Stationary {
    type Item = Vector;

    fn next(&mut self) -> Option<Vector> {
        let later = self.later.as_ref().map(|vector| vector.start);
        let earlier = self
            .earlier
            .next_if(|earlier| later.is_none_or(|later| earlier.first <= later));
        if let Some(earlier) = earlier {
            return self.cut_earlier(earlier);
        }
        let next = self.later.take()?;
        self.later = self.next_later();
        Some(next)
    }
}
