//! The sending end of a transfer: `transport`'s sender, driven by a socket and a clock.
//!
//! A thread of its own goes round a loop: take what has arrived, each acknowledgement at the time of its arrival; let
//! timers run out; send what may leave, in batches; wait. In one-way emulation an acknowledgement is worth the one
//! identifier that it names: the segment of that identifier is given to a receiver at this side, whose acknowledgements are
//! those that the sender gets.

use super::link::Link;
use super::plan::{Limit, Mode};
use super::results::{Outcome, SenderResult};
use super::watch::Watch;
use std::time::Duration;
use sys::{Error, clock};
use transport::wire::Datagram;
use transport::{Ack, Options, Receiver, Sender};
use units::{Ecn, Instant};

/// How often a sender that waits looks up.
const TICK: Duration = Duration::from_millis(50);
/// A socket that takes nothing is tried again after this.
const RETRY: Duration = Duration::from_millis(1);
/// After its time a transfer repairs what it has lost for so long at most: its counters are of whole segments then.
const SETTLE: Duration = Duration::from_secs(2);
/// Segments that are supplied at a time to a sender whose end is a moment.
const SUPPLY: u32 = u32::MAX;

/// What a sending end is to do.
pub(crate) struct Job<'a> {
    pub options: &'a Options,
    pub limit: Limit,
    pub mode: Mode,
    pub patience: Duration,
    /// A secret from which the identifiers are made.
    pub secret: u64,
    /// Told how it goes.
    pub watch: &'a Watch,
    /// Whether everything is to stop.
    pub abort: &'a (dyn Fn() -> bool + Sync),
}

/// A sender at work.
struct Sending<'a, 'b> {
    job: &'b Job<'b>,
    link: &'b mut Link<'a>,
    sender: Sender,
    /// The receiver at this side, in one-way emulation.
    emulated: Option<Receiver>,
    start: Instant,
    /// When the last acknowledgement came.
    heard: Instant,
    /// When the last one came that acknowledged something new, and how much was acknowledged then.
    progress: (Instant, u64),
    /// What had been acknowledged, segments and octets, when the time was over.
    at_end: Option<(u64, u64)>,
}

/// Sends until the job is done or cannot be.
pub(crate) fn run(id: u16, job: &Job<'_>, link: &mut Link<'_>) -> SenderResult {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let start = clock::now();
    let mut sending = Sending {
        job,
        link,
        sender: Sender::new(job.options, job.secret),
        emulated: (job.mode == Mode::OneWay).then(|| Receiver::new(job.options)),
        start,
        heard: start,
        progress: (start, 0),
        at_end: None,
    };
    match job.limit {
        Limit::Duration(_) => sending.sender.supply(SUPPLY),
        Limit::Segments(count) => sending.sender.supply(count),
    }
    let end = sending.drive();
    let now = clock::now();
    sending.link.log.look(&mut sending.sender, now);
    sending.link.log.hand_over(now);
    sending.counters(id, end)
}

impl Sending<'_, '_> {
    fn drive(&mut self) -> (Outcome, Option<String>) {
        loop {
            match self.turn() {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(error) => return (Outcome::Failed, Some(self.explain(&error))),
            }
        }
    }

    /// Once round the loop.
    fn turn(&mut self) -> Result<Option<(Outcome, Option<String>)>, Error> {
        let any = self.receive()?;
        let now = self.now();
        self.time_out(now);
        let is_idle = self.transmit(now)?;
        self.link.log.look(&mut self.sender, now);
        self.job.watch.sender(&self.sender);
        if let Some(end) = self.ended(now) {
            return Ok(Some(end));
        }
        if any {
            return Ok(None);
        }
        let mut deadline = now + if is_idle { TICK } else { RETRY };
        let timers = [
            self.sender.next_timeout(),
            self.emulated.as_ref().and_then(Receiver::next_timeout),
            self.end_of_time().filter(|end| *end > now),
        ];
        for timer in timers.into_iter().flatten() {
            deadline = deadline.min(timer);
        }
        self.link.wait(deadline)?;
        Ok(None)
    }

    fn now(&mut self) -> Instant {
        self.link.advance(clock::now())
    }

    /// Takes one batch; false when there was nothing.
    fn receive(&mut self) -> Result<bool, Error> {
        let (sender, emulated) = (&mut self.sender, &mut self.emulated);
        let mut last = None;
        let any = self.link.recv(|datagram, ecn, at| {
            let Datagram::Ack(ack) = datagram else { return };
            last = Some(at);
            match emulated {
                Some(receiver) => emulate(sender, receiver, ack, ecn, at),
                None => sender.handle_ack(ack, at),
            }
        })?;
        if let Some(at) = last {
            self.heard = at;
            let acked = self.sender.sent().acked;
            if acked > self.progress.1 {
                self.progress = (at, acked);
            }
        }
        Ok(any)
    }

    fn time_out(&mut self, now: Instant) {
        if let Some(receiver) = &mut self.emulated
            && receiver.next_timeout().is_some_and(|due| due <= now)
        {
            receiver.handle_timeout(now);
            hand_back(&mut self.sender, receiver, now);
        }
        if self.sender.next_timeout().is_some_and(|due| due <= now) {
            self.sender.handle_timeout(now);
        }
        if self.at_end.is_none() && self.end_of_time().is_some_and(|end| now >= end) {
            let sent = self.sender.sent();
            self.at_end = Some((sent.acked, sent.acked_bytes));
            self.sender.close();
        }
    }

    /// Sends all that may leave; false when the kernel does not take it all.
    fn transmit(&mut self, now: Instant) -> Result<bool, Error> {
        loop {
            while self.link.has_room()
                && let Some(segment) = self.sender.poll_transmit(now)
            {
                self.link.push(Datagram::Segment(segment));
            }
            let was_full = !self.link.has_room();
            if !self.link.flush(now)? || (was_full && !self.link.has_room()) {
                return Ok(false);
            }
            if !was_full {
                return Ok(true);
            }
        }
    }

    fn end_of_time(&self) -> Option<Instant> {
        Some(self.start + self.job.limit.duration()?)
    }

    /// How the transfer has ended, if it has.
    fn ended(&self, now: Instant) -> Option<(Outcome, Option<String>)> {
        let sent = self.sender.sent();
        if sent.violations > 0 {
            let reason =
                "the receiver acknowledged data that it cannot have: this transfer does not count";
            return Some((Outcome::Lied, Some(reason.to_owned())));
        }
        match self.job.limit {
            Limit::Segments(count) if sent.acked >= count.into() => {
                return Some((Outcome::Complete, None));
            }
            Limit::Duration(_) if self.at_end.is_some() && self.sender.is_done() => {
                return Some((Outcome::Time, None));
            }
            _ => {}
        }
        if (self.job.abort)() {
            return Some((Outcome::Failed, Some("it was called off".to_owned())));
        }
        if now.since(self.heard) >= self.job.patience {
            return Some((Outcome::Stalled, Some(self.silence(now))));
        }
        let settled = self.end_of_time().is_some_and(|end| now >= end + SETTLE);
        settled.then_some((Outcome::Time, None))
    }

    /// What is known of a path from which nothing comes back.
    fn silence(&self, now: Instant) -> String {
        let (sent, seconds) = (self.sender.sent(), now.since(self.heard).as_secs_f64());
        let packet = self.packet();
        if sent.acks == 0 {
            format!(
                "none of {} packets of {packet} octets was acknowledged in {seconds:.0} s, though short ones pass - \
                 if the path drops long packets, try --option mss=1200",
                sent.packets
            )
        } else {
            format!("nothing came back for {seconds:.0} s: the path or the receiver is gone")
        }
    }

    fn explain(&self, error: &Error) -> String {
        if !error.is_too_long() {
            return error.to_string();
        }
        let packet = self.packet();
        let Some(mtu) = self.link.socket.path_mtu() else {
            return format!(
                "packets of {packet} octets are too long for the path - use --option mss=1200"
            );
        };
        let over = packet.saturating_sub(mtu as usize);
        let mss = usize::from(self.job.options.mss).saturating_sub(over);
        format!(
            "the path takes packets of {mtu} octets, but a full segment needs one of {packet} - use --option mss={mss}"
        )
    }

    /// Octets of a packet with a full segment.
    fn packet(&self) -> usize {
        let v6 = self.link.socket.local_addr().is_ok_and(|a| a.is_ipv6());
        transport::wire::segment_length(self.job.options.mss) + if v6 { 48 } else { 28 }
    }

    fn counters(&self, id: u16, (outcome, reason): (Outcome, Option<String>)) -> SenderResult {
        let sent = self.sender.sent();
        let (segments, bytes) = self.at_end.unwrap_or((sent.acked, sent.acked_bytes));
        let last = match self.end_of_time() {
            Some(end) if self.at_end.is_some() => end,
            _ => self.progress.0,
        };
        SenderResult {
            id,
            start_ns: (sent.packets > 0).then(|| self.link.log.since_origin(self.start)),
            seconds: (segments > 0).then(|| last.since(self.start).as_secs_f64()),
            segments,
            bytes,
            sent_packets: sent.packets,
            retransmits: sent.retransmits,
            timeouts: sent.timeouts,
            recoveries: sent.recoveries,
            multiple_losses: Some(sent.multiple_losses),
            lost_windows: Some(sent.lost_windows),
            largest_flight: Some(sent.largest_flight),
            violations: sent.violations,
            cc: self.job.options.congestion_control.name().to_owned(),
            outcome,
            reason,
            quality: self.link.quality(),
        }
    }
}

/// One-way emulation: of an acknowledgement nothing counts but the one identifier.
fn emulate(sender: &mut Sender, receiver: &mut Receiver, ack: &Ack, ecn: Ecn, at: Instant) {
    if let Some(segment) = sender.find(ack.id) {
        receiver.handle_segment(&segment, ecn, at);
        hand_back(sender, receiver, at);
    }
}

/// Gives the sender what the receiver at its side wants to tell it.
fn hand_back(sender: &mut Sender, receiver: &mut Receiver, now: Instant) {
    while let Some(ack) = receiver.poll_transmit(now) {
        sender.handle_ack(&ack, now);
    }
}
