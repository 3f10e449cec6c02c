//! Elements in a row.

use crate::{Arrival, Count, Counters, Delay, Element, Fixed, Others, Packet};
use std::collections::VecDeque;
use std::time::Duration;
use units::{Instant, nanos};

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
    /// The stage that notes what comes to its queue.
    watched: Option<usize>,
}

struct Stage<B> {
    name: String,
    element: Box<dyn Element<B>>,
    /// When the element wants to be called next; [`Instant::FAR_FUTURE`] when it does not.
    wake: Instant,
    /// What it gives out leaves the pipeline no earlier than this after that, and nobody minds that it waits so long.
    slack_ns: u64,
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
                wake: Instant::FAR_FUTURE,
                slack_ns: 0,
            })
            .collect();
        if stages.is_empty() {
            stages.push(Stage {
                name: "wire".to_owned(),
                element: Box::new(Delay::new(Fixed::new(Duration::ZERO))),
                wake: Instant::FAR_FUTURE,
                slack_ns: 0,
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
    /// From now on asks to be called only when a packet may leave it, not when one goes from stage to stage within: half as many
    /// calls, and the same packets at the same instants. Counters and backlogs are brought up to date by
    /// [`Pipeline::catch_up`] alone.
    pub fn be_lazy(&mut self) {
        let mut slack = Duration::ZERO;
        for stage in self.stages.iter_mut().rev() {
            stage.slack_ns = nanos(slack);
            slack = slack.saturating_add(stage.element.least_delay());
        }
    }

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
        self.watched = self.stages.iter().position(has_queue);
        if let Some(stage) = self.watched {
            self.stages[stage].element.watch();
        }
    }

    /// Takes what [`Pipeline::watch_queue`] has noted since the last call, in order.
    pub fn arrivals(&mut self) -> Vec<Arrival> {
        let stage = self.watched.and_then(|stage| self.stages.get_mut(stage));
        stage.map_or_else(Vec::new, |stage| stage.element.take_arrivals())
    }
}

impl<B> Stage<B> {
    /// Takes `first` and all of `arrivals`, then does what is due by `now`; if `all`, it is called even when nothing is.
    fn run(
        &mut self,
        first: Option<Packet<B>>,
        arrivals: &mut VecDeque<Packet<B>>,
        (now, all): (Instant, bool),
        out: &mut VecDeque<Packet<B>>,
    ) {
        let mut next = first;
        while let Some(packet) = next.or_else(|| arrivals.pop_front()) {
            let at = packet.at;
            self.call(Some(packet), at, out);
            next = None;
        }
        if all || self.wake <= now {
            self.call(None, now, out);
        }
    }

    /// The same where there is no other stage; says when to call again.
    #[inline]
    fn alone(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        let at = packet.as_ref().map_or(now, |packet| packet.at);
        let wake = self.element.process(packet, at, out);
        if at < now && wake.is_some_and(|wake| wake <= now) {
            return self.element.process(None, now, out);
        }
        wake
    }

    fn call(&mut self, packet: Option<Packet<B>>, now: Instant, out: &mut VecDeque<Packet<B>>) {
        let wake = self.element.process(packet, now, out);
        self.wake = wake.unwrap_or(Instant::FAR_FUTURE);
    }
}

impl<B: Send> Pipeline<B> {
    /// Does what [`Element::process`] does without a packet, and brings the counters and backlogs of a lazy pipeline up to `now`.
    pub fn catch_up(&mut self, now: Instant, out: &mut VecDeque<Packet<B>>) -> Option<Instant> {
        self.advance(None, now, out, true)
    }

    fn advance(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
        all: bool,
    ) -> Option<Instant> {
        let Self {
            stages,
            between,
            leaving,
            watched: _,
        } = self;
        let last = stages.len().saturating_sub(1);
        let mut first = packet;
        let mut wake = Instant::FAR_FUTURE;
        for (position, stage) in stages.iter_mut().enumerate() {
            if all || first.is_some() || !between.is_empty() || stage.wake <= now {
                if position == last {
                    stage.run(first.take(), between, (now, all), out);
                } else {
                    stage.run(first.take(), between, (now, all), leaving);
                    std::mem::swap(between, leaving);
                }
            }
            wake = wake.min(Instant::from_nanos(
                stage.wake.as_nanos().saturating_add(stage.slack_ns),
            ));
        }
        (wake < Instant::FAR_FUTURE).then_some(wake)
    }
}

impl<B: Send> Element<B> for Pipeline<B> {
    #[inline]
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let [stage] = &mut self.stages[..] {
            return stage.alone(packet, now, out);
        }
        self.advance(packet, now, out, false)
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

    fn foresee(&mut self, now: Instant, see: &mut dyn FnMut(&Packet<B>)) {
        for stage in &mut self.stages {
            stage.element.foresee(now, see);
        }
    }

    /// What waits in all queues together; `None` when no stage has a queue.
    fn backlog(&self) -> Option<Count> {
        let backlogs = self.stages.iter().filter_map(|s| s.element.backlog());
        backlogs.reduce(|a, b| a + b)
    }
}
