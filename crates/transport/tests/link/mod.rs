//! A link for tests, in virtual time: a rate, a delay, a queue with a limit, and a list of what is lost.

use isobath_transport::{Ack, Event, Options, Receiver, Segment, Sender, Snapshot};
use std::collections::VecDeque;
use std::time::Duration;
use units::{Ecn, Instant};

/// What the link does with the packet that is the `n`th to enter it.
pub(crate) type Fate = Box<dyn FnMut(u64, &Segment) -> Verdict>;

/// The same for an acknowledgement.
pub(crate) type AckFate = Box<dyn FnMut(u64, &Ack) -> Verdict>;

/// See [`Fate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Pass,
    Drop,
    Mark,
    Late(Duration),
    Twice,
}

/// A sender, a receiver and what is between them.
pub(crate) struct Link {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now: Instant,
    pub(crate) fate: Fate,
    pub(crate) ack_fate: AckFate,
    /// Time on the wire of one packet.
    pub(crate) serial: Duration,
    pub(crate) delay: Duration,
    /// Packets that may wait.
    pub(crate) limit: usize,
    /// While nothing leaves the queue.
    pub(crate) outage: Option<(Instant, Instant)>,
    pub(crate) queue_drops: u64,
    pub(crate) events: Vec<(Instant, Event)>,
    /// The sender after each of `events`.
    pub(crate) states: Vec<Snapshot>,
    pub(crate) trace: Vec<(Instant, Segment)>,
    pub(crate) acks: Vec<(Instant, Ack)>,
    free_at: Instant,
    forth: Vec<(Instant, Segment, Ecn)>,
    back: Vec<(Instant, Ack)>,
    waiting: VecDeque<Instant>,
    entered: u64,
    acks_entered: u64,
}

impl Link {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            sender: Sender::new(options, 42),
            receiver: Receiver::new(options),
            now: Instant::from_millis(1_000),
            fate: Box::new(|_, _| Verdict::Pass),
            ack_fate: Box::new(|_, _| Verdict::Pass),
            serial: Duration::from_micros(1_200),
            delay: Duration::from_millis(20),
            limit: 1_000_000,
            outage: None,
            queue_drops: 0,
            events: Vec::new(),
            states: Vec::new(),
            trace: Vec::new(),
            acks: Vec::new(),
            free_at: Instant::ZERO,
            forth: Vec::new(),
            back: Vec::new(),
            waiting: VecDeque::new(),
            entered: 0,
            acks_entered: 0,
        }
    }

    /// Runs until nothing is left to happen, or `until`.
    pub(crate) fn run(&mut self, until: Duration) {
        let end = self.now + until;
        loop {
            self.transmit();
            let times = [
                self.sender.next_timeout(),
                self.receiver.next_timeout(),
                self.forth.iter().map(|item| item.0).min(),
                self.back.iter().map(|item| item.0).min(),
            ];
            let Some(next) = times.into_iter().flatten().min() else {
                break;
            };
            if next > end {
                self.now = end;
                break;
            }
            self.now = self.now.max(next);
            self.deliver();
            if self.sender.is_done() && self.forth.is_empty() && self.back.is_empty() {
                break;
            }
        }
    }

    fn deliver(&mut self) {
        let now = self.now;
        while let Some(at) = earliest(&self.forth, |item| item.0, now) {
            let (_, segment, ecn) = self.forth.remove(at);
            self.receiver.handle_segment(&segment, ecn, now);
        }
        while let Some(at) = earliest(&self.back, |item| item.0, now) {
            let (_, ack) = self.back.remove(at);
            self.sender.handle_ack(&ack, now);
            self.transmit();
        }
        if self.receiver.next_timeout().is_some_and(|at| at <= now) {
            self.receiver.handle_timeout(now);
        }
        if self.sender.next_timeout().is_some_and(|at| at <= now) {
            self.sender.handle_timeout(now);
        }
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.trace.push((self.now, segment));
            self.enter(segment);
        }
        while let Some(ack) = self.receiver.poll_transmit(self.now) {
            self.acks.push((self.now, ack));
            let verdict = (self.ack_fate)(self.acks_entered, &ack);
            self.acks_entered += 1;
            match verdict {
                Verdict::Drop => {}
                Verdict::Late(extra) => self.back.push((self.now + self.delay + extra, ack)),
                _ => self.back.push((self.now + self.delay, ack)),
            }
        }
        while let Some(event) = self.sender.poll_event() {
            self.events.push((self.now, event));
            self.states.push(self.sender.snapshot());
        }
    }

    fn enter(&mut self, segment: Segment) {
        let verdict = (self.fate)(self.entered, &segment);
        self.entered += 1;
        while self.waiting.front().is_some_and(|at| *at <= self.now) {
            self.waiting.pop_front();
        }
        if verdict == Verdict::Drop {
            return;
        }
        if self.waiting.len() >= self.limit {
            self.queue_drops += 1;
            return;
        }
        let start = self.free_at.max(self.now);
        let outage = self
            .outage
            .filter(|(from, to)| *from <= start && start < *to);
        self.free_at = outage.map_or(start, |(_, to)| to) + self.serial;
        self.waiting.push_back(self.free_at);
        let ecn = if verdict == Verdict::Mark {
            Ecn::Ce
        } else {
            Ecn::Ect0
        };
        let mut at = self.free_at + self.delay;
        if let Verdict::Late(extra) = verdict {
            at += extra;
        }
        self.forth.push((at, segment, ecn));
        if verdict == Verdict::Twice {
            self.forth.push((at, segment, ecn));
        }
    }
}

/// The first of `items` with the least time, if that has come.
fn earliest<T>(items: &[T], at: impl Fn(&T) -> Instant, now: Instant) -> Option<usize> {
    let found = items.iter().enumerate().min_by_key(|(_, item)| at(item));
    found
        .filter(|(_, item)| at(item) <= now)
        .map(|(index, _)| index)
}
