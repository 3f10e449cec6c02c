//! Carries a plan out towards a host that does not cooperate: one transfer after the other.
//!
//! The transfer has a thread of its own. The calling thread writes what it finds to the record once a second, shows how it
//! goes, and notices when the user has had enough.

use super::round::{Told, Transfer};
use crate::Live;
use crate::capture::{Ends, NearTrace, Tracing};
use crate::findings::{Findings, Inbox};
use crate::plan::{PAUSE, Round};
use crate::results::{Outcome as How, SenderResult};
use crate::run::{Context, Outcome};
use crate::watch::Watch;
use kit::control::{DISPLAY, FLUSH, LOOK};
use kit::far::StopOnDrop;
use kit::lab_counters::LabCounters;
use kit::sampler::Sampler;
use record::RecordWriter;
use session::ClockOffset;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// A run at work.
struct Run<'a> {
    context: &'a Context<'a>,
    to: SocketAddr,
    record: &'a mut RecordWriter,
    origin: Instant,
    findings: Findings,
    inbox: &'a Inbox,
    tracing: Option<Tracing>,
    flushed: Instant,
    shown: Instant,
}

/// Carries the plan out towards `to`, writing what is found to `record` as it comes.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    to: SocketAddr,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let origin = clock::now();
    let inbox = Inbox::default();
    let whole = (Duration::ZERO, Duration::MAX);
    let counters = context.lab.map(|lab| LabCounters::new(lab, origin, whole));
    let tracing = Tracing::begin(record.dir(), context.plan, origin, None);
    let mut run = Run {
        context,
        to,
        record,
        origin,
        findings: Findings::new(counters),
        inbox: &inbox,
        tracing,
        flushed: origin,
        shown: Instant::ZERO,
    };
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &inbox);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        run.rounds()
    })?;
    run.collect();
    run.flush()?;
    let ending = context.ending();
    Ok(Outcome {
        ending,
        findings: run.findings,
        clock: ClockOffset::default(),
        far: None,
        traced: run.tracing.map(Tracing::finish),
    })
}

impl Run<'_> {
    fn rounds(&mut self) -> Result<(), record::Error> {
        let rounds = self.context.plan.rounds();
        for (index, round) in rounds.iter().enumerate() {
            if index > 0 {
                let until = clock::now() + PAUSE;
                while clock::now() < until && !self.is_interrupted() {
                    clock::sleep_until(until.min(clock::now() + LOOK));
                }
            }
            let told = self.round(round, index as f64 / rounds.len() as f64)?;
            self.collect();
            self.conclude(round, told);
            self.flush()?;
            if self.is_interrupted() {
                break;
            }
        }
        Ok(())
    }

    fn round(&mut self, round: &Round, before: f64) -> Result<Told, record::Error> {
        let started = clock::now();
        let watches = [Arc::new(Watch::default())];
        let stop = AtomicBool::new(false);
        let interrupt = self.context.interrupt;
        let abort = || stop.load(Ordering::Relaxed) || interrupt.load(Ordering::Relaxed);
        let transfer = Transfer {
            id: round.first,
            plan: self.context.plan,
            to: self.to,
            origin: self.origin,
            sink: self.inbox,
            watch: &watches[0],
            abort: &abort,
        };
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            let thread = scope.spawn(|| transfer.run());
            while !thread.is_finished() {
                clock::sleep_until(clock::now() + LOOK);
                self.look(&watches, started, before)?;
            }
            Ok(thread.join().unwrap_or_else(|_| Told::broken(round.first)))
        })
    }

    fn look(
        &mut self,
        watches: &[Arc<Watch>],
        started: Instant,
        before: f64,
    ) -> Result<(), record::Error> {
        self.collect();
        let now = clock::now();
        if now.since(self.flushed) >= FLUSH {
            self.flush()?;
        }
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            let elapsed = now.since(started);
            (self.context.display)(&Live::of(self.context.plan, watches, elapsed, before));
        }
        Ok(())
    }

    fn collect(&mut self) {
        let first_seq = self.context.plan.options.first_seq;
        self.findings.collect(self.inbox, first_seq);
    }

    fn flush(&mut self) -> Result<(), record::Error> {
        self.flushed = clock::now();
        if let Some(network) = self.context.lab {
            self.findings.take_lab(network);
        }
        self.findings.write(self.record)
    }

    fn conclude(&mut self, round: &Round, told: Told) {
        let Told {
            mut sender,
            receiver,
            trace,
            is_by_port,
        } = told;
        if let (Some(tracing), Some((local, journal))) = (&mut self.tracing, trace) {
            let near = NearTrace {
                id: round.first,
                ends: Ends {
                    sender: local,
                    receiver: self.to,
                },
                journal,
            };
            tracing.end_round(&[near], |_| 0);
        }
        if sender.outcome == How::Failed && self.is_interrupted() {
            sender.reason = Some("it was interrupted".to_owned());
        }
        self.findings.is_by_port |= is_by_port;
        self.findings
            .conclude(self.context.plan, round, sender, receiver);
    }

    fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }
}

impl Told {
    /// Of a transfer whose thread has broken down.
    pub(super) fn broken(id: u16) -> Self {
        Self {
            sender: SenderResult {
                id,
                outcome: How::Failed,
                reason: Some("its thread broke down".to_owned()),
                ..SenderResult::default()
            },
            receiver: None,
            trace: None,
            is_by_port: false,
        }
    }
}
