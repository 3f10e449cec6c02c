//! A call: datagrams at even intervals, each way a stream of its own.
//!
//! RRUL, the component for calls: UDP streams marked with three classes, every 10 ms, both ways, of a size typical of G.711. What
//! a datagram says of itself (its number, when it left) lets the receiver tell what was lost; nobody answers.

use super::line::Line;
use kit::stream::{PATIENCE, wait_until};
use session::TagKey;
use session::wire::{Kind, Probe};
use std::time::Duration;
use sys::udp::RecvBatch;
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// When the system has no room for a datagram, it is tried again after this.
const AGAIN: Duration = Duration::from_millis(1);
/// Until the other end talks it is asked this often; its first datagrams open what stands between.
const ASK: Duration = Duration::from_millis(100);

/// Gaps of a sender that are told, at most; what it leaves out after so many counts as lost.
pub(crate) const MOST_GAPS: usize = 500;

/// What a sender did.
pub(crate) struct Talked {
    /// How many datagrams there were to send.
    pub count: u32,
    /// Numbers of those that were not, from the first of each pair to below the second.
    pub unsent: Vec<(u32, u32)>,
}

/// A call's datagrams, as their sender knows them.
pub(crate) struct Talk<'a> {
    pub line: Line<'a>,
    pub size: usize,
    pub every: Duration,
}

impl Talk<'_> {
    /// Sends datagram n at `start + n * every`, until `until`. Those whose moment has passed are not made up for: a burst is no
    /// call. They are told apart from what the path lost, unless there was no route: that is the path's.
    ///
    /// # Errors
    ///
    /// When nothing could be sent for the whole time, for the last reason.
    pub(crate) fn run(
        &self,
        start: Instant,
        until: Instant,
        abort: &dyn Fn() -> bool,
    ) -> Result<Talked, Error> {
        // Without it every datagram would leave 50 us later than it could; it only fails where /proc is closed.
        let _ = clock::timer_slack(1);
        let mut datagram = vec![0; self.size.max(Probe::LEN)];
        let (mut next, mut sent_any, mut failure) = (0_u32, false, None);
        let (mut unsent, mut has_route) = (Vec::new(), true);
        let mut due = start;
        while due < until && wait_until(due, abort) {
            let current = self.number_at(start, clock::now());
            if next < current {
                if has_route && unsent.len() < MOST_GAPS {
                    unsent.push((next, current));
                }
                next = current;
            }
            let sent = self.send(next, Kind::OneWay, &mut datagram);
            has_route = sent.is_ok();
            match sent {
                Ok(true) => {
                    sent_any = true;
                    next += 1;
                    due = start + self.every * next;
                }
                Ok(false) => due = clock::now() + AGAIN,
                // No route for the moment.
                Err(error) => {
                    failure = Some(error);
                    due = clock::now() + PATIENCE;
                }
            }
        }
        match failure {
            Some(error) if !sent_any => Err(error),
            _ => Ok(Talked {
                count: next,
                unsent,
            }),
        }
    }

    /// The number of the datagram whose moment was last.
    fn number_at(&self, start: Instant, now: Instant) -> u32 {
        let passed = now.since(start).as_nanos() / self.every.as_nanos().max(1);
        u32::try_from(passed).unwrap_or(u32::MAX)
    }

    /// Sends one datagram; false when the system had no room for it.
    fn send(&self, sequence: u32, kind: Kind, datagram: &mut [u8]) -> Result<bool, Error> {
        self.line.emit(sequence, kind, datagram);
        let sent = self.line.socket.send(&[self.line.outgoing(datagram)])?;
        Ok(sent.count > 0)
    }
}

/// A datagram that arrived.
pub(crate) struct Heard {
    pub sequence: u32,
    /// On the sender's clock.
    pub sent: Instant,
    /// On the receiver's.
    pub arrived: Instant,
    /// Whether the kernel stamped it.
    pub kernel: bool,
    /// Traffic-class octet as it arrived.
    pub class: Option<u8>,
}

/// Asks the far end to talk (by `ask`, whose socket is connected to it), and reports what is heard until `until`.
///
/// # Errors
///
/// When the socket cannot be used.
pub(crate) fn listen(
    ask: &Talk<'_>,
    key: &TagKey,
    until: Instant,
    abort: &dyn Fn() -> bool,
    mut each: impl FnMut(Heard),
) -> Result<(), Error> {
    let mut batch = RecvBatch::new(16, 2_048);
    let mut request = vec![0; Probe::LEN];
    let (mut asked, mut ask_at, mut heard_any) = (0, clock::now(), false);
    loop {
        let now = clock::now();
        if now >= until || abort() {
            return Ok(());
        }
        if !heard_any && now >= ask_at {
            // Whether it could be sent or not: it is tried again.
            let _ = ask.send(asked, Kind::Request, &mut request);
            (asked, ask_at) = (asked + 1, now + ASK);
        }
        let ready = ask.line.socket.wait(until.since(now).min(PATIENCE))?;
        if ready.event {
            while ask.line.socket.poll_event()?.is_some() {}
        }
        while ask.line.socket.recv(&mut batch)? > 0 {
            let stamp = clock::stamp();
            for datagram in batch.iter() {
                let Some(probe) = ask.line.ours(datagram.payload, key) else {
                    continue;
                };
                heard_any = true;
                each(Heard {
                    sequence: probe.sequence,
                    sent: probe.sent,
                    arrived: datagram.wall_ns.map_or(stamp.mono, |ns| stamp.mono_at(ns)),
                    kernel: datagram.wall_ns.is_some(),
                    class: datagram.class.map(TrafficClass::octet),
                });
            }
        }
    }
}
