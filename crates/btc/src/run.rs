//! Carries a plan out between two hosts: round after round, each agreed on, carried out and told.
//!
//! The calling thread agrees with the far end, then collects what the transfers' threads find, writes it to the record
//! once a second, shows how it goes, and notices when the far end is gone or the user has had enough.

mod both;

use super::capture::{Traced, Tracing};
use super::findings::{Findings, Inbox};
use super::messages::{Done, Far, FarResult, Near as Say, Setup};
use super::near::{Near, Results, Shared};
use super::plan::{PAUSE, Plan, Round};
use super::{Live, Opening};
use kit::control;
use kit::control::{Broken, DISPLAY, FLUSH, LOOK};
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::lab_counters::LabCounters;
use kit::sampler::Sampler;
use record::RecordWriter;
use schema::Direction;
use session::{Client, ClockOffset};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// When a sender is done, what it sent needlessly may still be on its way.
const DRAIN: Duration = Duration::from_millis(300);
/// Rows that a far end may send in a round: more is no measurement.
const MOST_FAR_ROWS: usize = 1_000_000;

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// What came of a run.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// What was measured, for the summary and the quality of the instrument.
    pub findings: Findings,
    /// The far end's clock against this one, as compared before the run.
    pub clock: ClockOffset,
    /// What the far end said of itself; none when it was lost.
    pub far: Option<Done>,
    /// What came of the packet traces, where there are any.
    pub traced: Option<Traced>,
}

/// A run at work.
struct Run<'a> {
    context: &'a Context<'a>,
    client: &'a mut Client,
    record: &'a mut RecordWriter,
    origin: Instant,
    findings: Findings,
    inbox: &'a Inbox,
    tracing: Option<Tracing>,
    flushed: Instant,
    shown: Instant,
}

/// Compares the clocks and tells the far end that a run begins. This must be followed by the run at once.
///
/// # Errors
/// When the far end does not answer.
pub fn agree(client: &mut Client) -> anyhow::Result<(Instant, ClockOffset)> {
    Ok(control::agree(client, |origin_ns| {
        Opening::Btc(Setup { origin_ns })
    })?)
}

/// Carries the plan out with `client`, writing what is found to `record` as it comes.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    (origin, clock): (Instant, ClockOffset),
    client: &mut Client,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let inbox = Inbox::default();
    let whole = (Duration::ZERO, Duration::MAX);
    let counters = context.lab.map(|lab| LabCounters::new(lab, origin, whole));
    let tracing = Tracing::begin(record.dir(), context.plan, origin, Some(clock));
    let mut run = Run {
        context,
        client,
        record,
        tracing,
        origin,
        findings: Findings::new(counters),
        inbox: &inbox,
        flushed: origin,
        shown: Instant::ZERO,
    };
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &inbox);
    let ending = std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        run.rounds()
    });
    let (ending, far) = match ending {
        Ok((ending, far)) => (ending, far),
        Err(broken) => (broken.ending(false)?, None),
    };
    run.collect();
    run.flush()?;
    Ok(Outcome {
        ending,
        traced: run.tracing.take().map(Tracing::finish),
        findings: run.findings,
        clock,
        far,
    })
}

impl Run<'_> {
    fn rounds(&mut self) -> Result<(Ending, Option<Done>), Broken> {
        let rounds = self.context.plan.rounds();
        for (index, round) in rounds.iter().enumerate() {
            if index > 0 {
                self.pause(PAUSE)?;
            }
            if self.is_interrupted() {
                break;
            }
            self.round(round, index as f64 / rounds.len() as f64)?;
        }
        let far = self.finish()?;
        Ok((self.context.ending(), Some(far)))
    }

    /// One round: agreed on, carried out, told.
    fn round(&mut self, round: &Round, progress: f64) -> Result<(), Broken> {
        let context = self.context;
        let dialer = Arc::clone(&self.client.dialer);
        let shared = Shared {
            plan: context.plan,
            dialer: &dialer,
            peer: self.client.peer,
            limit: self.client.welcome.limits.datagrams_per_s,
            origin: self.origin,
            sink: self.inbox,
        };
        let numbers = round.first..round.first + context.plan.parallel;
        let transfers = numbers.map(|id| Near::new(id, round.tool, &shared));
        let mut transfers = transfers.collect::<Result<Vec<_>, _>>()?;
        self.ready(&transfers)?;
        for transfer in &mut transfers {
            transfer.open()?;
        }
        let before = self.dropped()?;
        self.say(&Say::Go)?;
        let (counters, lost) = self.transfer(&mut transfers, progress)?;
        let after = self.dropped()?;
        let dropped = after.zip(before).map(|(after, before)| after - before);
        self.collect();
        let far = match &lost {
            None => self.ask(),
            Some(reason) => Err(Broken::Far(reason.clone())),
        };
        let told = far.as_ref().map_or(&[][..], Vec::as_slice);
        self.trace(&mut transfers, told);
        self.conclude(round, counters, told, lost.as_deref(), dropped);
        self.flush()?;
        far.map(drop)
    }

    /// Agrees on a round.
    fn ready(&mut self, transfers: &[Near<'_>]) -> Result<(), Broken> {
        let setups = transfers.iter().map(Near::setup).collect();
        self.say(&Say::Round(setups))?;
        match control::until_answered(self.client, || transfers.iter().for_each(Near::hello))? {
            Far::Ready => Ok(()),
            Far::Refused(reason) => Err(Broken::refused(&reason)),
            _ => Err(Broken::out_of_turn()),
        }
    }

    /// Lets the transfers run; the counters of this end, and why the far end was lost if it was.
    fn transfer(
        &mut self,
        transfers: &mut [Near<'_>],
        progress: f64,
    ) -> Result<(Vec<Results>, Option<String>), Broken> {
        let stop = AtomicBool::new(false);
        let up = self.context.plan.direction == Direction::Up;
        let started = clock::now();
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            let abort = || stop.load(Ordering::Relaxed);
            let watches: Vec<_> = transfers.iter().map(|t| Arc::clone(&t.watch)).collect();
            let threads: Vec<_> = transfers
                .iter_mut()
                .map(|transfer| scope.spawn(move || transfer.run(&abort)))
                .collect();
            let lost = loop {
                let done = |watch: &Arc<super::watch::Watch>| watch.done.load(Ordering::Relaxed);
                if up && watches.iter().all(done) || self.is_interrupted() {
                    break None;
                }
                match self.client.control.recv::<Far>(LOOK) {
                    Err(session::Error::Timeout { .. }) => {}
                    Ok(Far::Over) if !up => break None,
                    Ok(_) => break Some("the server sent an unexpected message".to_owned()),
                    Err(error) => break Some(error.to_string()),
                }
                self.look(&watches, started, progress)?;
            };
            if lost.is_none() && !self.is_interrupted() {
                self.pause(DRAIN)?;
            }
            stop.store(true, Ordering::Relaxed);
            let counters = threads.into_iter().filter_map(|t| t.join().ok()).collect();
            Ok((counters, lost))
        })
    }

    /// Waits, and goes on collecting.
    fn pause(&mut self, time: Duration) -> Result<(), Broken> {
        let until = clock::now() + time;
        while clock::now() < until && !self.is_interrupted() {
            clock::sleep_until(until.min(clock::now() + LOOK));
            self.collect();
            self.flush_in_time()?;
        }
        Ok(())
    }

    fn look(
        &mut self,
        watches: &[Arc<super::watch::Watch>],
        started: Instant,
        progress: f64,
    ) -> Result<(), Broken> {
        self.collect();
        self.flush_in_time()?;
        let now = clock::now();
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            (self.context.display)(&Live::of(
                self.context.plan,
                watches,
                now.since(started),
                progress,
            ));
        }
        Ok(())
    }

    /// What the emulated network has dropped so far of the data's way, if that is one transfer's alone.
    fn dropped(&mut self) -> Result<Option<u64>, Broken> {
        let context = self.context;
        let Some(network) = context.lab.filter(|_| context.plan.parallel == 1) else {
            return Ok(None);
        };
        self.flush()?;
        Ok(self.findings.dropped(network, context.plan.direction))
    }

    fn collect(&mut self) {
        let first_seq = self.context.plan.options.first_seq;
        self.findings.collect(self.inbox, first_seq);
    }

    fn flush_in_time(&mut self) -> Result<(), record::Error> {
        if clock::now().since(self.flushed) >= FLUSH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), record::Error> {
        self.flushed = clock::now();
        if let Some(network) = self.context.lab {
            self.findings.take_lab(network);
        }
        self.findings.write(self.record)
    }

    /// Ends a round and asks the far end for its side.
    fn ask(&mut self) -> Result<Vec<FarResult>, Broken> {
        self.say(&Say::End)?;
        let mut left = MOST_FAR_ROWS;
        let first_seq = self.context.plan.options.first_seq;
        loop {
            match self.hear()? {
                Far::Rows(rows) if rows.len() <= left => {
                    left -= rows.len();
                    for row in rows {
                        self.findings.take(row, first_seq);
                    }
                }
                Far::Rows(_) => return Err(Broken::Far("the server sends without end".to_owned())),
                Far::Trace { id, octets } => {
                    if let Some(tracing) = &mut self.tracing {
                        tracing.take(id, &octets);
                    }
                }
                Far::Results(counters) => return Ok(counters),
                // It was on its way when this end had enough.
                Far::Over => {}
                Far::Done(_) | Far::Ready | Far::Refused(_) => return Err(Broken::out_of_turn()),
            }
        }
    }

    /// Writes the packet traces of a round.
    fn trace(&mut self, transfers: &mut [Near<'_>], far: &[FarResult]) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        let near: Vec<_> = transfers
            .iter_mut()
            .filter_map(|t| t.trace.take())
            .collect();
        tracing.end_round(&near, |id| {
            let counters = far.iter().find(|counters| counters.id() == id);
            counters.map_or(0, |counters| counters.quality().trace_left_out)
        });
    }

    fn finish(&mut self) -> Result<Done, Broken> {
        self.say(&Say::Finish)?;
        match self.hear()? {
            Far::Done(done) => Ok(done),
            _ => Err(Broken::out_of_turn()),
        }
    }

    fn say(&mut self, line: &Say) -> Result<(), Broken> {
        control::say(self.client, line)
    }

    fn hear(&mut self) -> Result<Far, Broken> {
        control::hear(self.client)
    }

    fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }
}
