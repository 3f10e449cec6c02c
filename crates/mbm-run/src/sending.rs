//! The sending end of a test over a socket: drives its [`Sender`].
//!
//! A thread of its own goes round a loop: take reports, each at the time of its arrival; send what is due; judge what is known;
//! wait, asleep until shortly before the next departure and spinning for the rest.

use super::messages::Passed;
use super::plan::Plan;
use super::report::Totals;
use super::results::SenderResult;
use super::sender::{Report, Sender, TICK, Task, called_off};
use kit::datagrams::{Link, expand};
use mbm::diagnostic::Test;
use mbm::loss::Counts;
use mbm::verdict::{Outcome, Reason, Verdict};
use session::wire::Kind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use sys::{Error, clock};
use units::{Ecn, Instant};

/// A departure is slept towards until this long before it.
const SPIN: Duration = Duration::from_micros(80);

/// What a sending end is to do.
pub(crate) struct Job<'a> {
    pub plan: &'a Plan,
    pub test: Test,
    pub path_rtt: Duration,
    pub together: &'a Together,
    pub abort: &'a (dyn Fn() -> bool + Sync),
    /// Told how it goes.
    pub watch: &'a Mutex<Counts>,
}

/// Streams side by side: they begin at one instant, and each goes on until all have their verdicts, so that none is judged with
/// fewer beside it.
pub(crate) struct Together {
    pub(super) start: Instant,
    undecided: AtomicUsize,
}

impl Together {
    /// So many streams, which begin soon.
    pub(crate) fn of(streams: usize) -> Self {
        Self {
            start: clock::now() + TICK,
            undecided: AtomicUsize::new(streams),
        }
    }

    fn is_decided(&self) -> bool {
        self.undecided.load(Ordering::Relaxed) == 0
    }
}

/// A stream without a verdict; however it ends, the others need not wait for it any longer.
struct Undecided<'a>(&'a Together);

impl Drop for Undecided<'_> {
    fn drop(&mut self) {
        self.0.undecided.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A sender at work.
struct Sending<'a> {
    job: &'a Job<'a>,
    link: &'a mut Link,
    sender: Sender<'a>,
}

/// Sends until there is a verdict; the rows of its first packets beside the counters.
pub(crate) fn run(job: &Job<'_>, link: &mut Link) -> Result<(SenderResult, Vec<Passed>), String> {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let undecided = Undecided(job.together);
    let task = Task {
        plan: job.plan,
        test: job.test,
        path_rtt: job.path_rtt,
    };
    let mut sending = Sending {
        job,
        link,
        sender: Sender::new(task, job.together.start)?,
    };
    let verdict = sending.drive(undecided);
    Ok(sending.sender.end(verdict, sending.link.quality()))
}

impl Sending<'_> {
    fn drive(&mut self, undecided: Undecided<'_>) -> Verdict {
        let mut undecided = Some(undecided);
        let mut verdict = None;
        loop {
            match self.turn(verdict.is_none()) {
                Ok(found) => verdict = verdict.or(found),
                Err(error) => return verdict.unwrap_or_else(|| failed(&error)),
            }
            if verdict.is_some() {
                drop(undecided.take());
            }
            if let Some(verdict) = verdict.take_if(|_| self.job.together.is_decided()) {
                return verdict;
            }
            if (self.job.abort)() {
                return verdict.unwrap_or_else(called_off);
            }
        }
    }

    /// Once round the loop.
    fn turn(&mut self, judges: bool) -> Result<Option<Verdict>, Error> {
        let any = self.receive()?;
        let now = self.link.advance(clock::now());
        self.send(now)?;
        if judges
            && self.sender.is_due(now)
            && let Some(verdict) = self.judge(now)
        {
            return Ok(Some(verdict));
        }
        if !any {
            self.wait(now)?;
        }
        Ok(None)
    }

    fn judge(&mut self, now: Instant) -> Option<Verdict> {
        if self.link.clock_stepped() {
            self.sender.note_clock_step();
        }
        let verdict = self.sender.judge(now);
        if let Ok(mut watch) = self.job.watch.lock() {
            *watch = self.sender.settled();
        }
        verdict
    }

    /// Takes one batch of reports; false when there was none.
    fn receive(&mut self) -> Result<bool, Error> {
        let sender = &mut self.sender;
        self.link.recv(|probe, payload, receipt| {
            if probe.kind == Kind::Reply
                && let Some(totals) = Totals::parse(payload)
            {
                let report = Report {
                    seq: expand(probe.sequence, sender.last()),
                    sent: probe.sent,
                    received: probe.received,
                    reported: receipt.received,
                    ce: probe.arrived().is_some_and(|class| class.ecn == Ecn::Ce),
                };
                sender.handle_report(&report, &totals);
            }
        })
    }

    fn send(&mut self, now: Instant) -> Result<(), Error> {
        while let Some(burst) = self.sender.poll(now) {
            let (first, last) = self.link.send_burst(burst.first, burst.packets)?;
            self.sender.left(&burst, first, last);
            if last.since(now) >= TICK {
                // A stream that is behind for good still hears and is judged.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for a report or for the next departure, whichever is first.
    fn wait(&mut self, now: Instant) -> Result<(), Error> {
        let due = self.sender.next_due().filter(|due| *due > now);
        let deadline = due.map_or(now + TICK, |due| due.min(now + TICK));
        if deadline.since(now) > SPIN {
            return self.link.wait(deadline - SPIN);
        }
        while clock::now() < deadline {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

/// The sender's own failure is no property of the path.
fn failed(error: &Error) -> Verdict {
    Verdict {
        outcome: Outcome::Error,
        reason: Reason::SenderRate,
        says: format!("the sender could not send: {error}"),
        would_change: if error.is_too_long() {
            "packets that fit the interface: a smaller --mtu".to_owned()
        } else {
            "a host whose network works".to_owned()
        },
    }
}
