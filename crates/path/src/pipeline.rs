//! Elements in a row.

use crate::{Count, Counters, Delay, Element, Fixed, Others, Packet};
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// A row of elements, itself an [`Element`]: what leaves one enters the next.
///
/// A packet enters each stage at the logical time at which it left the stage before, so a pipeline
/// that is called late does what it would have done on time. A stage with nothing due costs one
/// comparison a call, and nothing is allocated once the buffers have grown to the load.
///
/// A pipeline without stages is a wire.
pub struct Pipeline<B> {
    stages: Vec<Stage<B>>,
    /// What leaves one stage and is about to enter the next.
    between: VecDeque<Packet<B>>,
    /// What the stage at work gives out.
    leaving: VecDeque<Packet<B>>,
    /// The stage whose arrivals are noted, and those not yet taken.
    watched: Option<(usize, Vec<Arrival>)>,
}

/// When a packet came to a queue, and its octets.
pub type Arrival = (Instant, u32);

struct Stage<B> {
    name: String,
    element: Box<dyn Element<B>>,
    /// When the element wants to be called next.
    wake: Option<Instant>,
}

/// One stage of a pipeline at a moment, for logs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StageState<'a> {
    /// The stage's name.
    pub name: &'a str,
    /// The stage's counters.
    pub counters: Counters,
    /// What waits in the stage's queue, if it has one.
    pub backlog: Option<Count>,
    /// Other people's packets among those of the counters.
    pub others: Others,
}

impl<B: Send + 'static> Pipeline<B> {
    /// The pipeline of `stages`, each with the name that logs call it by.
    pub fn new(stages: Vec<(String, Box<dyn Element<B>>)>) -> Self {
        let mut stages: Vec<_> = stages
            .into_iter()
            .map(|(name, element)| Stage {
                name,
                element,
                wake: None,
            })
            .collect();
        if stages.is_empty() {
            stages.push(Stage {
                name: "wire".to_owned(),
                element: Box::new(Delay::new(Fixed::new(Duration::ZERO))),
                wake: None,
            });
        }
        Self {
            stages,
            between: VecDeque::new(),
            leaving: VecDeque::new(),
            watched: None,
        }
    }
}

impl<B> Pipeline<B> {
    /// Every stage's name, counters and backlog, in the order that packets pass them.
    pub fn stages(&self) -> impl Iterator<Item = StageState<'_>> {
        self.stages.iter().map(|stage| StageState {
            name: &stage.name,
            counters: stage.element.counters(),
            backlog: stage.element.backlog(),
            others: stage.element.others(),
        })
    }

    /// From now on notes every packet that comes to the first queue of the row, dropped there or not. Nothing without a
    /// queue.
    pub fn watch_queue(&mut self) {
        let has_queue = |stage: &Stage<B>| stage.element.backlog().is_some();
        let first = self.stages.iter().position(has_queue);
        self.watched = first.map(|stage| (stage, Vec::new()));
    }

    /// Takes what [`Pipeline::watch_queue`] has noted since the last call, in order.
    pub fn arrivals(&mut self) -> impl Iterator<Item = Arrival> {
        let noted = self.watched.iter_mut().map(|(_, arrivals)| arrivals);
        noted.flat_map(|arrivals| arrivals.drain(..))
    }
}

impl<B> Stage<B> {
    fn is_due(&self, now: Instant) -> bool {
        self.wake.is_some_and(|wake| wake <= now)
    }

    /// Takes all of `arrivals`, then does what is due by `now`.
    fn run(
        &mut self,
        arrivals: &mut VecDeque<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) {
        while let Some(packet) = arrivals.pop_front() {
            let at = packet.at;
            self.wake = self.element.process(Some(packet), at, out);
        }
        if self.is_due(now) {
            self.wake = self.element.process(None, now, out);
        }
    }
}

impl<B: Send> Element<B> for Pipeline<B> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        self.between.extend(packet);
        for (position, stage) in self.stages.iter_mut().enumerate() {
            if self.between.is_empty() && !stage.is_due(now) {
                continue;
            }
            if let Some((_, arrivals)) = self.watched.as_mut().filter(|(at, _)| *at == position) {
                arrivals.extend(self.between.iter().map(|packet| (packet.at, packet.size)));
            }
            stage.run(&mut self.between, now, &mut self.leaving);
            std::mem::swap(&mut self.between, &mut self.leaving);
        }
        if !self.between.is_empty() {
            out.append(&mut self.between);
        }
        self.stages.iter().filter_map(|stage| stage.wake).min()
    }

    /// `entered` is the first stage's and `left` the last one's, and besides each stage's of other people's packets; the
    /// rest are sums.
    fn counters(&self) -> Counters {
        let mut total = Counters::default();
        let mut others_left = Count::default();
        for (position, stage) in self.stages.iter().enumerate() {
            let (counters, others) = (stage.element.counters(), stage.element.others());
            total.entered = total.entered
                + if position == 0 {
                    counters.entered
                } else {
                    others.entered
                };
            total.left = counters.left + others_left;
            others_left = others_left + others.left;
            total.queued = total.queued + counters.queued;
            total.duplicated = total.duplicated + counters.duplicated;
            total.overflow = total.overflow + counters.overflow;
            total.aqm = total.aqm + counters.aqm;
            total.loss = total.loss + counters.loss;
            total.marked = total.marked + counters.marked;
        }
        total
    }

    fn others(&self) -> Others {
        let others = self.stages.iter().map(|stage| stage.element.others());
        others.fold(Others::default(), |sum, others| Others {
            entered: sum.entered + others.entered,
            left: sum.left + others.left,
        })
    }

    /// What waits in all queues together; `None` when no stage has a queue.
    fn backlog(&self) -> Option<Count> {
        let backlogs = self.stages.iter().filter_map(|s| s.element.backlog());
        backlogs.reduce(|a, b| a + b)
    }
}
