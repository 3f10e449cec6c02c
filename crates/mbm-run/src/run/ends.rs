//! The near end's half of a test, as its sender or as its receiver.

use super::super::messages::{Far, FarResult, Near as Say, Passed, TestSetup};
use super::super::results::{ReceiverResult, SenderResult};
use super::super::sender::MOST_ROWS;
use super::super::sending::Together;
use super::super::{far, receiving, sending};
use super::Run;
use kit::control;
use kit::control::{ANSWER, Broken, LOOK};
use kit::datagrams::Link;
use kit::far::StopOnDrop;
use mbm::diagnostic::Test;
use mbm::loss::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use sys::clock;

/// What there is of a stream when it is over: the counters of both ends, and the packets that were reported.
pub(in super::super) type Halves = (SenderResult, Option<ReceiverResult>, Vec<Passed>);

impl Run<'_> {
    /// This end sends.
    pub(super) fn send(
        &mut self,
        setup: TestSetup,
        index: usize,
        links: &mut [Link],
    ) -> Result<Vec<Halves>, Broken> {
        let stop = AtomicBool::new(false);
        let abort = || stop.load(Ordering::Relaxed);
        let watches: Vec<Mutex<Counts>> = links.iter().map(|_| Mutex::default()).collect();
        let together = Together::of(links.len());
        let plan = self.context.plan;
        let sends = links.iter_mut().zip(&watches).map(|(link, watch)| {
            let job = sending::Job {
                plan,
                test: setup.test,
                path_rtt: Duration::from_nanos(setup.path_rtt_ns),
                together: &together,
                abort: &abort,
                watch,
            };
            move || sending::run(&job, link)
        });
        let sent = self.watched(setup.test, index, &watches, &stop, sends.collect())?;
        self.say(&Say::End(
            sent.iter().map(|(counters, _)| counters.sent).collect(),
        ))?;
        let found = sent.into_iter().map(|(counters, rows)| match self.hear()? {
            Far::Results(FarResult::Receiver(receiver)) => Ok((counters, Some(*receiver), rows)),
            Far::Refused(reason) => Err(Broken::refused(&reason)),
            _ => Err(Broken::out_of_turn()),
        });
        found.collect()
    }

    /// What each of `sends` returns; meanwhile the far end is listened to, and whoever watches is told.
    pub(in super::super) fn watched<T: Send>(
        &mut self,
        test: Test,
        index: usize,
        watches: &[Mutex<Counts>],
        stop: &AtomicBool,
        sends: Vec<impl FnOnce() -> Result<T, String> + Send>,
    ) -> Result<Vec<T>, Broken> {
        let (sent, lost) = std::thread::scope(|scope| {
            let _stop = StopOnDrop(stop);
            let sending = sends.into_iter().map(|send| scope.spawn(send));
            let sending: Vec<_> = sending.collect();
            let mut lost = None;
            while !sending.iter().all(ScopedJoinHandle::is_finished) {
                match self.client.control.recv::<Far>(LOOK) {
                    Err(session::Error::Timeout { .. }) => {}
                    Ok(Far::Refused(reason)) => lost = Some(Broken::refused(&reason)),
                    Ok(_) => lost = Some(Broken::out_of_turn()),
                    Err(error) => lost = Some(error.into()),
                }
                if lost.is_some() || self.is_interrupted() {
                    stop.store(true, Ordering::Relaxed);
                }
                self.look(test, index, watches)?;
                if lost.is_some() {
                    break;
                }
            }
            let broken = |_| Err("the sender broke down".to_owned());
            let sent = sending.into_iter();
            let sent = sent.map(|sending| sending.join().unwrap_or_else(broken));
            Ok::<_, Broken>((sent.collect::<Result<Vec<_>, _>>(), lost))
        })?;
        let sent = sent.map_err(Broken::Far)?;
        match lost {
            Some(broken) => Err(broken),
            None => Ok(sent),
        }
    }

    /// The far end sends.
    pub(super) fn receive(
        &mut self,
        setup: TestSetup,
        index: usize,
        links: &mut [Link],
    ) -> Result<Vec<Halves>, Broken> {
        let sent = links.iter().map(|_| AtomicU64::new(receiving::UNKNOWN));
        let sent: Vec<_> = sent.collect();
        let stop = AtomicBool::new(false);
        let abort = || stop.load(Ordering::Relaxed);
        let plan = self.context.plan;
        let report_every = far::report_every(plan, setup);
        self.say(&Say::Go)?;
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            let receiving = links.iter_mut().zip(&sent).map(|(link, sent)| {
                let job = receiving::Job {
                    plan,
                    report_every,
                    sent,
                    abort: &abort,
                };
                scope.spawn(move || receiving::run(&job, link))
            });
            let receiving: Vec<_> = receiving.collect();
            let mut senders = Vec::new();
            for sent in &sent {
                let (sender, rows) = self.told(setup.test, index)?;
                sent.store(sender.sent.min(receiving::UNKNOWN - 1), Ordering::Relaxed);
                senders.push((sender, rows));
            }
            let both = senders.into_iter().zip(receiving);
            let both = both.map(|((sender, rows), receiver)| (sender, receiver.join().ok(), rows));
            Ok(both.collect())
        })
    }

    /// What the far end tells of one of its streams when that is done: its counters, and the packets that were reported.
    pub(in super::super) fn told(
        &mut self,
        test: Test,
        index: usize,
    ) -> Result<(SenderResult, Vec<Passed>), Broken> {
        let mut rows = Vec::new();
        let mut is_told = false;
        let mut deadline = clock::now() + self.context.plan.timeout.0 + far::GRACE;
        while clock::now() < deadline {
            match self.client.control.recv::<Far>(LOOK) {
                Ok(Far::Rows(more)) if rows.len() + more.len() <= MOST_ROWS => {
                    rows.extend(more);
                }
                Ok(Far::Results(FarResult::Sender(counters))) => {
                    return Ok((plain(*counters), rows));
                }
                Ok(Far::Refused(reason)) => return Err(Broken::refused(&reason)),
                Err(session::Error::Timeout { .. }) => {}
                Ok(_) => return Err(Broken::out_of_turn()),
                Err(error) => return Err(error.into()),
            }
            if self.is_interrupted() && !is_told {
                is_told = true;
                deadline = deadline.min(clock::now() + ANSWER);
                self.say(&Say::End(Vec::new()))?;
            }
            self.look(test, index, &[])?;
        }
        Err(Broken::Far("the server does not end the test".to_owned()))
    }
}

/// Counters whose words a terminal can show: they are another host's.
fn plain(mut counters: SenderResult) -> SenderResult {
    let verdict = &mut counters.verdict;
    for words in [&mut verdict.says, &mut verdict.would_change] {
        *words = control::plain(words);
    }
    if let Some(tcp) = &mut counters.tcp {
        tcp.congestion_control = control::plain(&tcp.congestion_control);
    }
    counters
}
