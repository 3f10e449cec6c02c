//! Carries a trial out in virtual time.

use super::stage::Stage;
use super::watch::Watch;
use crate::dumbbell::Place;
use crate::dumbbell::managers::FAR;
use crate::dumbbell::simulated::links::Links;
use crate::dumbbell::simulated::{Course, Here, Host, late};
use crate::trial::books::{Books, TRANSIT, since};
use crate::trial::plan::Probes;
use crate::trial::prober::Prober;
use crate::trial::run::{Context, DRAIN, LEAD, Outcome, Times};
use crate::trial::source::Seconds;
use kit::control::FLUSH;
use kit::ending::Ending;
use kit::tool::{Target, Tool};
use lab::Topology;
use mgrp::message::Message;
use path::Element;
use record::RecordWriter;
use schema::tables::Queue;
use sim::{LinkId, NodeId, Work, World};
use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use units::Instant;

/// How often queues are looked at.
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
    let seconds = Seconds::default();
    // The application begins a little after the managers have found each other.
    let origin = Instant::ZERO + LEAD + late(context.plan.seed);
    let times = Times {
        origin,
        end: origin + context.plan.duration.0,
    };
    let stage = Stage::set(context.plan, topology, place, times, &seconds)?;
    let simulation = RefCell::new(Simulation {
        context,
        times,
        place,
        world: stage.world,
        near: stage.near,
        bottleneck: stage.bottleneck,
        links: Links::new(topology),
        books: Books::new(context.plan, place, &seconds, record),
        queue: Vec::new(),
        look_at: Instant::ZERO + LOOK,
        flush_at: Instant::ZERO + FLUSH,
    });
    let target = if context.plan.probes.pause().is_some() {
        Target::of_tool(FAR)
    } else {
        Target::unheard(FAR)
    };
    let mut prober = Prober {
        tool: Tool::over(Here::connect(&simulation), target, 0, context.interrupt),
        notes: |note| simulation.borrow_mut().books.note(note),
        origin,
        end: times.end,
    };
    if context.plan.probes != Probes::None {
        prober.run(context.plan);
    }
    drop(prober);
    Ok(simulation.into_inner().conclude()?)
}

/// A trial that goes on as far as somebody waits for it.
struct Simulation<'a> {
    context: &'a Context<'a>,
    times: Times,
    place: &'a Place,
    world: World<Host<'a>, Watch>,
    near: NodeId,
    bottleneck: LinkId,
    links: Links,
    books: Books<'a>,
    queue: Vec<Queue>,
    look_at: Instant,
    flush_at: Instant,
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
            let next = until.min(self.look_at).min(self.flush_at);
            self.world.run_until(next);
            if next == self.look_at {
                self.look_at += LOOK;
                self.look();
            }
            if next == self.flush_at {
                self.flush_at += FLUSH;
                self.flush()?;
            }
        }
        // At the moment itself others may act still.
        self.world.run_until(until);
        Ok(())
    }
}

impl Simulation<'_> {
    fn look(&mut self) {
        let rows = self.links.look(&self.world, self.times.origin);
        let now = self.now();
        if now >= self.times.origin {
            self.queue.extend(rows);
        }
        self.count();
    }

    /// Takes what the bottleneck says of itself.
    fn count(&mut self) {
        let now = self.now();
        if let Some(link) = self.world.link(self.bottleneck) {
            let at = (now >= self.times.origin).then(|| since(self.times.origin, now));
            self.books
                .counted(at, link.counters().left.bytes, link.others());
        }
    }

    /// Books what has come to the bottleneck and left it.
    fn take(&mut self) -> Vec<Queue> {
        let origin = self.times.origin;
        for passage in std::mem::take(&mut self.world.tap_mut().passages) {
            if passage.left {
                let at = since(origin, passage.at - self.place.behind);
                self.books.ledger.left(at, passage.octets, passage.seen);
            } else {
                self.books
                    .ledger
                    .entered(since(origin, passage.at), passage.seen);
            }
        }
        std::mem::take(&mut self.queue)
    }

    fn flush(&mut self) -> Result<(), record::Error> {
        let queue = self.take();
        let settled_ns = since(self.times.origin, self.now() - TRANSIT);
        self.books.flush(settled_ns, queue)?;
        let live = self.books.live(self.now().since(self.times.origin));
        (self.context.display)(&live);
        Ok(())
    }

    /// Lets the run go on to its end, unless it is over, and closes the books.
    fn conclude(mut self) -> Result<(Outcome, Work), record::Error> {
        let end = self.times.end + DRAIN;
        while self.now() < end && self.books.broken.is_none() && !self.context.is_interrupted() {
            self.go_on((self.now() + FLUSH).min(end))?;
        }
        let ending = match self.books.broken.take() {
            Some(reason) if !self.context.is_interrupted() => Ending::Lost(reason),
            _ => self.context.ending(),
        };
        self.count();
        let now = since(self.times.origin, self.now());
        let queue = self.take();
        let truth = self.links.truth(&self.world, now as f64 / 1e9);
        let outcome = self.books.close(ending, now, queue)?;
        Ok((Outcome { truth, ..outcome }, self.world.work()))
    }
}
