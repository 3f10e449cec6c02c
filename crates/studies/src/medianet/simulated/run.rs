//! A run from its first frame to its end, in virtual time.

use super::stage::{Meter, Stage};
use super::{Told, asking};
use crate::dumbbell::Place;
use crate::dumbbell::simulated::links::Links;
use crate::dumbbell::simulated::{Course, Host, late};
use crate::medianet::asking::Patience;
use crate::medianet::collector::{Collector, Seen};
use crate::medianet::news::News;
use crate::medianet::plan::LINKING;
use crate::medianet::run::{Context, Outcome};
use crate::medianet::sender::Times;
use kit::ending::Ending;
use lab::Topology;
use mgrp::message::Message;
use path::Element;
use record::RecordWriter;
use schema::tables::{Counters, Queue};
use sim::{LinkId, NodeId, Work, World};
use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use units::Instant;

/// How often news are heard and queues looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Carries the plan out in the lab `topology`, writing what is found to `record` as it comes.
///
/// # Errors
/// When the lab cannot be simulated, or the record cannot be written.
pub fn run(
    context: &Context<'_>,
    topology: &Topology,
    place: &Place,
    record: &mut RecordWriter,
) -> anyhow::Result<(Outcome, Work)> {
    let plan = context.plan;
    // Others' packets begin with the first of the managers'.
    let begin = Instant::ZERO + LINKING + late(plan.seed);
    let times = Times {
        begin,
        end: begin + plan.duration.0,
        interval: plan.interval.0,
    };
    let (told, patience) = (Told::default(), Patience::default());
    let stage = Stage::set(plan, topology, place, times, &told)?;
    let simulation = RefCell::new(Simulation {
        context,
        times,
        place,
        world: stage.world,
        near: stage.near,
        bottleneck: stage.bottleneck,
        links: Links::new(topology),
        collector: Collector::new(context, times, record),
        told,
        patience: &patience,
        queue: Vec::new(),
        look_at: Instant::ZERO + LOOK,
        broken: None,
    });
    if let Some(method) = plan.probes.method() {
        asking::run(&simulation, method, &patience, begin)?;
    }
    Ok(simulation.into_inner().conclude()?)
}

/// A run that goes on as far as somebody waits for it.
pub(super) struct Simulation<'a> {
    context: &'a Context<'a>,
    times: Times,
    place: &'a Place,
    world: World<Host<'a>, Meter>,
    near: NodeId,
    bottleneck: LinkId,
    links: Links,
    collector: Collector<'a>,
    told: Told,
    patience: &'a Patience,
    queue: Vec<Queue>,
    look_at: Instant,
    broken: Option<String>,
}

impl Course for Simulation<'_> {
    fn now(&self) -> Instant {
        self.world.now()
    }

    fn next_deadline(&mut self) -> Instant {
        let next = self.world.next_deadline();
        next.unwrap_or(Instant::FAR_FUTURE)
    }

    fn connect(&mut self) -> Receiver<Message> {
        let words = self.world.act_on(self.near, |host, _| host.connect());
        // Without a manager nothing is said.
        words.flatten().unwrap_or_else(|| mpsc::channel().1)
    }

    fn say(&mut self, message: Message) {
        self.world
            .act_on(self.near, |host, now| host.say(message, now));
    }

    fn go_on(&mut self, until: Instant) -> Result<(), record::Error> {
        while self.now() < until {
            let next = until.min(self.look_at);
            self.world.run_until(next);
            if next == self.look_at {
                self.look_at += LOOK;
                self.look()?;
            }
        }
        // At the moment itself others may act still.
        self.world.run_until(until);
        Ok(())
    }
}

impl Simulation<'_> {
    /// The global scheduler hears something.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Broken(reason) => self.broken = Some(reason),
            news => self.collector.handle_news(news),
        }
    }

    fn look(&mut self) -> Result<(), record::Error> {
        let now = self.now();
        let is_ending = now >= self.times.end || self.is_stopped();
        self.patience
            .look(now, self.context.plan.patience.0, is_ending);
        let news: Vec<News> = self.told.news.borrow_mut().drain(..).collect();
        for news in news {
            self.hear(news);
        }
        if let Some(configuration) = self.collector.poll_configuration(now) {
            let mut configurations = self.told.configurations.borrow_mut();
            configurations.push_back(configuration);
        }
        let rows = self.links.look(&self.world, self.times.begin);
        let is_shared = |row: &Queue| {
            let of = &self.place.bottleneck;
            row.link == of.link && row.direction == of.direction
        };
        let is_begun = now >= self.times.begin;
        self.queue
            .extend(rows.into_iter().filter(|row| is_begun && is_shared(row)));
        if self.collector.is_due(now) {
            let seen = self.take();
            self.collector.flush(now, &seen)?;
        }
        self.collector.show(now);
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.broken.is_some() || self.context.is_interrupted()
    }

    /// What the bottleneck did since the last call.
    fn take(&mut self) -> Seen {
        let begin = self.times.begin.as_nanos();
        let bins = std::mem::take(&mut self.world.tap_mut().bins);
        let of = &self.place.bottleneck;
        let counters = bins.into_iter().filter(|(at, ..)| *at >= begin);
        let counters = counters.map(|(at, packets, bytes)| Counters {
            t_ns: at - begin,
            link: of.link.clone().into(),
            direction: of.direction.into(),
            packets,
            bytes,
        });
        let counters: Vec<_> = counters.collect();
        let totals = self.world.link(self.bottleneck).map(Element::counters);
        let totals = totals.unwrap_or_default();
        Seen {
            own: counters.iter().map(|row| row.bytes).sum(),
            left: totals.left.bytes,
            dropped: totals.overflow.packets,
            queue: std::mem::take(&mut self.queue),
            counters,
            cpu: Vec::new(),
        }
    }

    /// Lets the run go on to its end, unless it is over.
    fn conclude(mut self) -> Result<(Outcome, Work), record::Error> {
        while !self.collector.is_over(self.now()) && !self.is_stopped() {
            self.go_on(self.look_at)?;
        }
        let (now, seen) = (self.now(), self.take());
        let ending = match self.broken.take() {
            _ if self.context.is_interrupted() => Ending::Interrupted,
            Some(reason) => Ending::Lost(reason),
            None => Ending::Complete,
        };
        let seconds = now.since(Instant::ZERO).as_secs_f64();
        let truth = self.links.truth(&self.world, seconds);
        let outcome = self.collector.conclude(ending, now, &seen)?;
        Ok((Outcome { truth, ..outcome }, self.world.work()))
    }
}
