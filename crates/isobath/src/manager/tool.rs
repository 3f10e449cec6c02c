//! A tool's side of a manager's socket: it hands over trains, and learns how they left and what arrived.
//!
//! The manager takes a train as one transaction and says how it left and what rode on it ([`mgrp::message`]). On channels from
//! [`TOLD`](super::link::told::TOLD) on the peer's manager tells what arrived, so nothing else need run there.
//!
//! Each probe says in its own octets which train it belongs to, and its place in it ([`number`]), so that whoever looks at
//! packets on the way knows as well.

use mgrp::message::{Frames, Message};
use mgrp::transaction::{Outcome, Probe, Transaction};
use probe::train::{Arrival, Passage, Riders, Train};
use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How long is waited for the manager before an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(5);
/// A transaction may wait this long for others, beyond its own time.
const TURN: Duration = Duration::from_secs(30);
/// A probe that has not come this long after the last one of its train is lost.
const PATIENCE: Duration = crate::estimate::PATIENCE;
/// Outcomes that nobody has fetched: more than transactions can wait.
const MOST_OUTCOMES: usize = 1_024;

/// What a probe says of itself: the number of its train, and its place in it from 0.
pub(crate) const fn number(train: u32, place: u32) -> [u8; 8] {
    ((train as u64) << 32 | place as u64).to_be_bytes()
}

/// The train and the place that a probe's own octets say; none for those of another tool.
pub(crate) fn told_by(header: &[u8]) -> Option<(u32, u32)> {
    let number = u64::from_be_bytes(header.try_into().ok()?);
    let halves = (number >> 32, number & 0xffff_ffff);
    Some((halves.0.try_into().ok()?, halves.1.try_into().ok()?))
}

/// A train that was carried.
pub(crate) struct Carried {
    /// What came of it at the receiver.
    pub(crate) passage: Passage,
    /// And at the sender.
    pub(crate) outcome: Outcome,
}

/// A tool that is connected.
pub(crate) struct Tool<'a> {
    socket: UnixStream,
    frames: Frames,
    /// Who the probes are for, and on which channel.
    to: IpAddr,
    channel: u8,
    interrupt: &'a AtomicBool,
    /// Of the last train.
    id: u32,
    /// Probes that have arrived and were not asked for yet, by their numbers.
    arrived: BTreeMap<u64, (u64, u64)>,
    latest: Instant,
    outcomes: VecDeque<(u32, Result<Outcome, String>)>,
}

/// Connects with the manager.
///
/// # Errors
/// When none listens there.
pub(crate) fn connect(socket: &Path) -> anyhow::Result<UnixStream> {
    UnixStream::connect(socket).map_err(|error| {
        anyhow::anyhow!(
            "no manager at {} ({error}) - start one with 'isobath manager up', or name its socket",
            socket.display()
        )
    })
}

fn gone(error: &std::io::Error) -> String {
    format!("the manager is gone ({error})")
}

impl<'a> Tool<'a> {
    /// One that sends probes to the peer behind `to`; an `interrupt` ends whatever it waits for.
    ///
    /// # Errors
    /// When the connection cannot be used.
    pub(crate) fn new(
        socket: UnixStream,
        to: IpAddr,
        channel: u8,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, String> {
        socket
            .set_read_timeout(Some(LOOK))
            .map_err(|error| gone(&error))?;
        Ok(Self {
            socket,
            frames: Frames::default(),
            to,
            channel,
            interrupt,
            id: 0,
            arrived: BTreeMap::new(),
            latest: clock::now(),
            outcomes: VecDeque::new(),
        })
    }

    /// Asks to be told of its own probes that arrive. Must come before the first train that is [carried](Self::carry).
    ///
    /// # Errors
    /// When the manager is gone.
    pub(crate) fn listen(&mut self) -> Result<(), String> {
        let channel = self.channel;
        self.say(&Message::Listen { channel })
    }

    /// Carries a train, and waits until all that will be known of it is.
    ///
    /// # Errors
    /// When the manager is gone or refuses, after an interrupt, or for trains to be echoed, which no manager does.
    pub(crate) fn carry(&mut self, train: &Train) -> Result<Carried, String> {
        if train.echo {
            return Err("a manager's peer sends no probes back".to_owned());
        }
        let id = self.offer(train)?;
        let outcome = self.finished(id, train)?;
        let arrivals = self.collect(id, outcome.gaps.len())?;
        let passage = Passage {
            sent: u32::try_from(outcome.gaps.len()).unwrap_or(u32::MAX),
            lasted: outcome.transmission,
            arrivals,
            riders: Riders {
                packets: outcome.riders.probes,
                octets: outcome.riders.octets,
                competing_octets: outcome.competing.octets,
            },
        };
        Ok(Carried { passage, outcome })
    }

    /// The number of the next train.
    pub(crate) const fn next(&self) -> u32 {
        self.id.wrapping_add(1)
    }

    /// Hands a train over and does not wait for it; its number.
    ///
    /// # Errors
    /// When the manager is gone.
    pub(crate) fn offer(&mut self, train: &Train) -> Result<u32, String> {
        self.id = self.next();
        let (id, to) = (self.id, self.to);
        let transaction = self.transaction(train);
        self.say(&Message::Begin {
            id,
            to,
            transaction,
        })?;
        Ok(id)
    }

    /// What came of a train that was [offered](Self::offer), and its number; nothing while nothing is known.
    pub(crate) fn poll_outcome(&mut self) -> Option<(u32, Result<Outcome, String>)> {
        self.outcomes.pop_front()
    }

    /// Waits, and hears the manager meanwhile.
    ///
    /// # Errors
    /// When the manager is gone, or after an interrupt.
    pub(crate) fn wait_until(&mut self, until: Instant) -> Result<(), String> {
        while clock::now() + LOOK < until {
            self.hear()?;
        }
        clock::sleep_until(until);
        Ok(())
    }

    fn say(&mut self, message: &Message) -> Result<(), String> {
        let mut octets = Vec::new();
        message
            .emit(&mut octets)
            .map_err(|error| error.to_string())?;
        self.socket.write_all(&octets).map_err(|error| gone(&error))
    }

    /// Takes what the manager says, for a few milliseconds.
    fn hear(&mut self) -> Result<(), String> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let mut octets = [0; 16_384];
        match self.socket.read(&mut octets) {
            Ok(0) => return Err("the manager is gone".to_owned()),
            Ok(count) => self.frames.push(&octets[..count], clock::now()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(gone(&error)),
        }
        while let Some(frame) = self.frames.poll().map_err(|error| error.to_string())? {
            self.take(frame.message.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Arrival { arrival, .. } if arrival.channel == self.channel => {
                if let Ok(number) = arrival.header.as_slice().try_into() {
                    self.latest = clock::now();
                    let times = (arrival.sent_ns, arrival.arrived_ns);
                    let number = u64::from_be_bytes(number);
                    self.arrived.entry(number).or_insert(times);
                }
            }
            Message::Outcome { id, outcome } => self.note(id, Ok(outcome)),
            Message::Refused { id, reason } => {
                self.note(id, Err(format!("the manager refuses: {reason}")));
            }
            _ => {}
        }
    }

    fn note(&mut self, id: u32, outcome: Result<Outcome, String>) {
        if self.outcomes.len() >= MOST_OUTCOMES {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((id, outcome));
    }

    /// What came of a transaction.
    fn finished(&mut self, id: u32, train: &Train) -> Result<Outcome, String> {
        let deadline = clock::now() + train.duration() + TURN;
        loop {
            match self.outcomes.pop_front() {
                Some((of, outcome)) if of == id => return outcome,
                Some(_) => {}
                None if clock::now() > deadline => {
                    return Err("the manager does not answer".to_owned());
                }
                None => self.hear()?,
            }
        }
    }

    /// The arrivals of the probes of a train, once all are there or no more come.
    fn collect(&mut self, train: u32, count: usize) -> Result<Vec<Arrival>, String> {
        let first = u64::from_be_bytes(number(train, 0));
        let began = clock::now();
        while self.arrived.range(first..).count() < count
            && clock::now().since(self.latest.max(began)) < PATIENCE
        {
            self.hear()?;
        }
        let mut all = std::mem::take(&mut self.arrived);
        let arrivals = all.split_off(&first).into_iter();
        Ok(arrivals
            .map(|(number, (sent_ns, arrived_ns))| Arrival {
                number: u32::try_from(number - first).unwrap_or(u32::MAX),
                sent_ns,
                arrived_ns,
                back: None,
            })
            .collect())
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
            channel: self.channel,
            probes: probes.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
