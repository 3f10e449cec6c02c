//! The near end's half of a test, as its sender or as its receiver.

use super::super::books::{ReceiverBooks, SenderBooks};
use super::super::link::Link;
use super::super::messages::{Far, FarBooks, Near as Say, Passed, TestSetup};
use super::super::{far, receiving, sending};
use super::Run;
use crate::dialogue::{Broken, LOOK};
use crate::serve::StopOnDrop;
use mbm::loss::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Rows that a far end may send for a test: more is no measurement.
const MOST_FAR_ROWS: usize = 100_000;

/// The books of both ends, and the packets that were reported.
pub(super) type Halves = (SenderBooks, Option<ReceiverBooks>, Vec<Passed>);

impl Run<'_> {
    /// This end sends.
    pub(super) fn send(
        &mut self,
        setup: TestSetup,
        index: usize,
        link: &mut Link,
    ) -> Result<Halves, Broken> {
        let stop = AtomicBool::new(false);
        let abort = || stop.load(Ordering::Relaxed);
        let watch = Mutex::new(Counts::default());
        let context = self.context;
        let job = sending::Job {
            plan: context.plan,
            test: setup.test,
            path_rtt: Duration::from_nanos(setup.path_rtt_ns),
            abort: &abort,
            watch: &watch,
        };
        let (sent, lost) = std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            let sending = scope.spawn(|| sending::run(&job, link));
            let mut lost = None;
            while !sending.is_finished() {
                match self.client.control.recv::<Far>(LOOK) {
                    Err(session::Error::Timeout { .. }) => {}
                    Ok(_) => lost = Some("the server spoke out of turn".to_owned()),
                    Err(error) => lost = Some(error.to_string()),
                }
                if lost.is_some() || self.is_interrupted() {
                    stop.store(true, Ordering::Relaxed);
                }
                self.look(setup.test, index, &watch)?;
                if lost.is_some() {
                    break;
                }
            }
            let sent = sending
                .join()
                .unwrap_or_else(|_| Err("the sender broke down".to_owned()));
            Ok::<_, Broken>((sent, lost))
        })?;
        let (books, rows) = sent.map_err(Broken::Far)?;
        if let Some(reason) = lost {
            return Err(Broken::Far(reason));
        }
        self.say(&Say::End(books.sent))?;
        match self.hear()? {
            Far::Books(FarBooks::Receiver(receiver)) => Ok((books, Some(*receiver), rows)),
            Far::Refused(reason) => Err(Broken::refused(&reason)),
            _ => Err(Broken::out_of_turn()),
        }
    }

    /// The far end sends.
    pub(super) fn receive(
        &mut self,
        setup: TestSetup,
        index: usize,
        link: &mut Link,
    ) -> Result<Halves, Broken> {
        let sent = AtomicU64::new(receiving::UNKNOWN);
        let stop = AtomicBool::new(false);
        let abort = || stop.load(Ordering::Relaxed);
        let context = self.context;
        let job = receiving::Job {
            plan: context.plan,
            report_every: far::report_every(context.plan, setup),
            sent: &sent,
            abort: &abort,
        };
        let watch = Mutex::new(Counts::default());
        self.say(&Say::Go)?;
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            let receiving = scope.spawn(|| receiving::run(&job, link));
            let mut rows = Vec::new();
            let mut is_told = false;
            let sender = loop {
                match self.client.control.recv::<Far>(LOOK) {
                    Ok(Far::Rows(more)) if rows.len() + more.len() <= MOST_FAR_ROWS => {
                        rows.extend(more);
                    }
                    Ok(Far::Books(FarBooks::Sender(books))) => break *books,
                    Ok(Far::Refused(reason)) => return Err(Broken::refused(&reason)),
                    Err(session::Error::Timeout { .. }) => {}
                    Ok(_) => return Err(Broken::out_of_turn()),
                    Err(error) => return Err(Broken::Far(error.to_string())),
                }
                if self.is_interrupted() && !is_told {
                    is_told = true;
                    self.say(&Say::End(0))?;
                }
                self.look(setup.test, index, &watch)?;
            };
            sent.store(sender.sent.min(receiving::UNKNOWN - 1), Ordering::Relaxed);
            Ok((sender, receiving.join().ok(), rows))
        })
    }
}
