//! A tool's side of a manager's socket: it hands over trains, and learns how they left and what arrived.
//!
//! The manager takes a train as one transaction and says how it left and what rode on it ([`mgrp::message`]). On channels from
//! [`TOLD`](mgrp::echo::TOLD) on the peer's manager tells what arrived, and on those from
//! [`ECHOED`](mgrp::echo::ECHOED) on it sends probes back, so nothing else need run there ([`target`]).
//!
//! Each probe of a list says in its own octets which train it belongs to, and its place in it ([`number`]), so that whoever looks at
//! packets on the way knows as well. Trains that packets make have no octets of ours ([`ranges`]).

mod line;
mod ranges;
mod target;

pub use line::{LOOK, Line, Socket};
pub use target::Target;

use crate::trains::{PATIENCE, patience};
use mgrp::message::Message;
use mgrp::transaction::{Outcome, Probe, Refusal, Transaction};
use probe::riders::{Offered, Riders};
use probe::train::{Arrival, Extent, Passage, Train};
use ranges::Loose;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use sys::local::UnixStream;
use thiserror::Error;
use units::Instant;

/// A transaction may wait this long for others, beyond its own time.
const TURN: Duration = Duration::from_secs(30);
/// Outcomes that nobody has fetched: more than transactions can wait.
const MOST_OUTCOMES: usize = 1_024;

/// What a probe says of itself: the number of its train, and its place in it from 0.
pub const fn number(train: u32, place: u32) -> [u8; 8] {
    ((train as u64) << 32 | place as u64).to_be_bytes()
}

/// The train and the place that a probe's own octets say; none for those of another tool.
pub fn told_by(header: &[u8]) -> Option<(u32, u32)> {
    let number = u64::from_be_bytes(header.try_into().ok()?);
    Some(train_and_place(number))
}

/// The train and the place in a probe's number.
#[expect(clippy::cast_possible_truncation, reason = "they are its halves")]
const fn train_and_place(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

/// Why a train was not carried.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Trouble {
    /// The manager refuses it.
    #[error("the manager refuses: {0}")]
    Refused(#[from] Refusal),
    /// The manager is gone or does not answer, or an interrupt came.
    #[error("{0}")]
    Lost(String),
}

impl From<Trouble> for crate::control::Broken {
    fn from(trouble: Trouble) -> Self {
        Self::Far(trouble.into())
    }
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        trouble.to_string()
    }
}

/// A train that was carried.
pub struct Carried {
    /// The train as it left: what was asked for, or what packets made of it.
    pub train: Train,
    /// What came of it at the receiver.
    pub passage: Passage,
    /// And at the sender.
    pub outcome: Outcome,
}

/// A tool that is connected.
pub struct Tool<'a, L = Socket> {
    line: L,
    target: Target,
    interrupt: &'a AtomicBool,
    /// Of the last train.
    id: u32,
    /// Probes that have arrived and were not asked for yet, by what they say of themselves.
    arrived: BTreeMap<u64, Arrival>,
    /// Those of a train that packets make.
    loose: Loose,
    latest: Instant,
    outcomes: VecDeque<(u32, Result<Outcome, Refusal>)>,
}

/// Connects with the manager.
///
/// # Errors
/// When none listens there.
pub fn connect(socket: &Path) -> anyhow::Result<UnixStream> {
    UnixStream::connect(socket).map_err(|error| {
        anyhow::anyhow!(
            "no manager at {} ({error}) - start one with 'isobath manager up', or name its socket",
            socket.display()
        )
    })
}

fn riders(outcome: &Outcome) -> Riders {
    Riders {
        packets: outcome.riders.probes,
        octets: outcome.riders.octets,
        competing_octets: outcome.competing.octets,
        beside_octets: outcome.beside,
        // A train that was called off before its first probe has no end.
        offered: (!outcome.gaps.is_empty()).then(|| Offered {
            octets: outcome.offered.octets,
            at_ns: outcome.offered.at.as_nanos(),
        }),
    }
}

impl<'a> Tool<'a> {
    /// One that sends probes to `target`; an `interrupt` ends whatever it waits for.
    ///
    /// # Errors
    /// When the connection cannot be used.
    pub fn new(
        socket: UnixStream,
        target: Target,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, Trouble> {
        let socket = Socket::new(socket)?;
        Ok(Self::over(socket, target, first_train(), interrupt))
    }
}

impl<'a, L: Line> Tool<'a, L> {
    /// The same over a `line`; its first train has the number after `before`.
    pub fn over(line: L, target: Target, before: u32, interrupt: &'a AtomicBool) -> Self {
        Self {
            latest: line.now(),
            line,
            target,
            interrupt,
            id: before,
            arrived: BTreeMap::new(),
            loose: Loose::default(),
            outcomes: VecDeque::new(),
        }
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.line.now()
    }

    /// Asks to be told of its own probes that arrive. Must come before the first train that is [carried](Self::carry).
    ///
    /// # Errors
    /// When the manager is gone.
    pub fn listen(&mut self) -> Result<(), Trouble> {
        let mut channels = self.target.channels().into_iter();
        channels.try_for_each(|channel| self.line.say(Message::Listen { channel }))
    }

    /// Carries a train, and waits until all that will be known of it is.
    ///
    /// # Errors
    /// When the manager is gone or refuses, or after an interrupt.
    pub fn carry(&mut self, train: &Train) -> Result<Carried, Trouble> {
        self.loose.begin();
        let id = self.offer(train)?;
        let outcome = self.finished(id, train)?;
        let (train, arrivals) = if train.extent == Extent::Whole {
            let arrivals = self.collect(train, id, outcome.gaps.len())?;
            (train.clone(), arrivals)
        } else {
            let arrivals = self.collect_loose()?;
            (self.loose.train(train, &outcome), arrivals)
        };
        let passage = Passage {
            sent: u32::try_from(outcome.gaps.len()).unwrap_or(u32::MAX),
            octets: train.octets(),
            lasted: outcome.transmission,
            arrivals,
            riders: riders(&outcome),
        };
        Ok(Carried {
            train,
            passage,
            outcome,
        })
    }

    /// The number of the next train.
    pub const fn next(&self) -> u32 {
        self.id.wrapping_add(1)
    }

    /// Hands a train over and does not wait for it; its number.
    ///
    /// # Errors
    /// When the manager is gone.
    pub fn offer(&mut self, train: &Train) -> Result<u32, Trouble> {
        self.id = self.next();
        let (id, to) = (self.id, self.target.to);
        let message = match ranges::ranges(train, self.target.out(train)) {
            Some(ranges) => Message::BeginRanges { id, to, ranges },
            None => Message::Begin {
                id,
                to,
                transaction: self.transaction(train),
            },
        };
        self.line.say(message)?;
        Ok(id)
    }

    /// What came of a train that was [offered](Self::offer), and its number; nothing while nothing is known.
    pub fn poll_outcome(&mut self) -> Option<(u32, Result<Outcome, Refusal>)> {
        self.outcomes.pop_front()
    }

    /// Waits, and hears the manager meanwhile.
    ///
    /// # Errors
    /// When the manager is gone, or after an interrupt.
    pub fn wait_until(&mut self, until: Instant) -> Result<(), Trouble> {
        while self.line.now() + LOOK < until {
            self.hear()?;
        }
        self.line.sleep_until(until);
        Ok(())
    }

    /// Takes what the manager says, for a few milliseconds.
    fn hear(&mut self) -> Result<(), Trouble> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Trouble::Lost("interrupted".to_owned()));
        }
        for message in self.line.hear()? {
            self.take(message);
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Arrival { arrival, .. }
                if arrival.header.is_empty() && arrival.channel == self.target.channels()[0] =>
            {
                self.latest = self.line.now();
                self.loose.arrive(&arrival);
            }
            Message::Arrival { arrival, .. } => {
                if let Some((number, arrival)) = self.target.probe(&arrival) {
                    if train_and_place(number).0 == self.id {
                        self.latest = self.line.now();
                    }
                    self.arrived.entry(number).or_insert(arrival);
                }
            }
            Message::Sent { id, sent } if id == self.id => self.loose.tell(sent),
            Message::Outcome { id, outcome } => self.note(id, Ok(outcome)),
            Message::Refused { id, reason } => self.note(id, Err(reason)),
            _ => {}
        }
    }

    fn note(&mut self, id: u32, outcome: Result<Outcome, Refusal>) {
        if self.outcomes.len() >= MOST_OUTCOMES {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((id, outcome));
    }

    /// What came of a transaction.
    fn finished(&mut self, id: u32, train: &Train) -> Result<Outcome, Trouble> {
        let deadline = self.line.now() + train.duration() + TURN;
        loop {
            match self.outcomes.pop_front() {
                Some((of, outcome)) if of == id => return Ok(outcome?),
                Some(_) => {}
                None if self.line.now() > deadline => {
                    return Err(Trouble::Lost("the manager does not answer".to_owned()));
                }
                None => self.hear()?,
            }
        }
    }

    /// The arrivals of the `count` probes of train `id`, once all are there or no more come.
    fn collect(&mut self, train: &Train, id: u32, count: usize) -> Result<Vec<Arrival>, Trouble> {
        let began = self.line.now();
        loop {
            // What is still under way of trains before comes at any time.
            self.arrived
                .retain(|number, _| train_and_place(*number).0 == id);
            let longest = if train.echo {
                patience(&self.arrived)
            } else {
                PATIENCE
            };
            let waited = self.line.now().since(self.latest.max(began));
            if self.arrived.len() >= count || waited >= longest {
                break;
            }
            self.hear()?;
        }
        let arrivals = std::mem::take(&mut self.arrived).into_iter();
        Ok(arrivals
            .map(|(number, arrival)| Arrival {
                number: train_and_place(number).1,
                ..arrival
            })
            .collect())
    }

    /// The arrivals of a train that packets made, once all are there or no more come.
    fn collect_loose(&mut self) -> Result<Vec<Arrival>, Trouble> {
        let began = self.line.now();
        while !self.loose.is_whole() && self.line.now().since(self.latest.max(began)) < PATIENCE {
            self.hear()?;
        }
        Ok(self.loose.arrivals())
    }

    fn transaction(&self, train: &Train) -> Transaction {
        let probes = train.probes.iter().zip(0..);
        let probes = probes.map(|(probe, place)| Probe {
            header: number(self.id, place).to_vec(),
            octets: u16::try_from(probe.octets).unwrap_or(u16::MAX),
            gap: probe.gap,
            may_carry: probe.may_carry,
        });
        Transaction {
            channel: self.target.out(train),
            probes: probes.collect(),
        }
    }
}

/// Where trains are numbered from. What is still under way of whoever had the channels before has lower numbers: a train takes longer than
/// a millisecond to be handed over and answered.
fn first_train() -> u32 {
    const MILLIS: u64 = 1_000_000;
    let now = clock::now();
    let millis = clock::stamp().wall_at(now) / MILLIS;
    u32::try_from(millis % u64::from(u32::MAX / 2)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    const FAR: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// A manager that says these one after the other, whatever it hears.
    struct Scripted {
        now: Instant,
        says: VecDeque<Message>,
    }

    impl Line for Scripted {
        fn now(&self) -> Instant {
            self.now
        }

        fn say(&mut self, _: Message) -> Result<(), Trouble> {
            Ok(())
        }

        fn hear(&mut self) -> Result<Vec<Message>, Trouble> {
            self.now += LOOK;
            Ok(self.says.pop_front().into_iter().collect())
        }

        fn sleep_until(&mut self, until: Instant) {
            self.now = until;
        }
    }

    fn arrival(train: u32, place: u32) -> Message {
        Message::Arrival {
            from: FAR,
            arrival: mgrp::transaction::Arrival {
                channel: Target::of_manager(FAR, 0).channels()[0],
                octets: 500,
                sequence: 0,
                sent_ns: 0,
                arrived_ns: 0,
                header: number(train, place).to_vec(),
            },
        }
    }

    #[test]
    fn a_late_probe_of_the_train_before_is_none_of_this_one() {
        let outcome = |id| Message::Outcome {
            id,
            outcome: Outcome {
                gaps: vec![mgrp::transaction::Gap::default(); 2],
                ..Outcome::default()
            },
        };
        let line = Scripted {
            now: Instant::ZERO,
            says: VecDeque::new(),
        };
        let never = AtomicBool::new(false);
        let mut tool = Tool::over(line, Target::of_manager(FAR, 0), 6, &never);
        let train = Train::periodic(2, 500, Duration::from_millis(1));
        let mut carried = |says: &[Message]| -> Vec<u32> {
            tool.line.says.extend(says.iter().cloned());
            let arrivals = tool.carry(&train).unwrap().passage.arrivals;
            arrivals.iter().map(|arrival| arrival.number).collect()
        };
        // The first train's second probe is late, and comes when the second train's are awaited.
        assert_eq!(carried(&[outcome(7), arrival(7, 0)]), [0]);
        let late = [outcome(8), arrival(8, 0), arrival(7, 1), arrival(8, 1)];
        assert_eq!(carried(&late), [0, 1]);
    }

    #[test]
    fn a_probe_says_its_train_and_its_place() {
        assert_eq!(told_by(&number(7, 99)), Some((7, 99)));
        assert_eq!(
            told_by(&number(u32::MAX, u32::MAX)),
            Some((u32::MAX, u32::MAX))
        );
        assert_eq!(told_by(b"another"), None);
    }
}
