//! The receiving end of a transfer: `transport`'s receiver, driven by a socket and a clock, until it is told to stop.

use super::link::{Link, Once};
use super::results::ReceiverResult;
use super::watch::Watch;
use std::time::Duration;
use sys::{Error, clock};
use transport::wire::Datagram;
use transport::{Options, Receiver};

/// How often a receiver that waits looks up.
const TICK: Duration = Duration::from_millis(50);
/// A socket that takes nothing is tried again after this.
const RETRY: Duration = Duration::from_millis(1);

/// Receives until `abort` says so. A socket that fails ends it too: the sender notices that nothing comes back.
pub(crate) fn run(
    id: u16,
    options: &Options,
    link: &mut Link<'_>,
    watch: &Watch,
    abort: &dyn Fn() -> bool,
) -> ReceiverResult {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let mut receiving = Receiving {
        receiver: Receiver::new(options),
        once: Once::new(),
        link,
    };
    while !abort() && receiving.turn().is_ok() {
        watch.receiver(&receiving.receiver);
    }
    receiving.link.log.hand_over(clock::now());
    let receipts = receiving.receiver.receipts();
    ReceiverResult {
        id,
        packets: receiving.once.packets,
        reordered: receipts.reordered,
        reordered_by_3: Some(receipts.reordered_by_3),
        most_overtaking: Some(receipts.most_overtaking),
        duplicates: receipts.duplicates,
        marked: receipts.marked,
        quality: receiving.link.quality(),
        ..ReceiverResult::default()
    }
}

/// A receiver at work.
struct Receiving<'a, 'b> {
    receiver: Receiver,
    once: Once,
    link: &'b mut Link<'a>,
}

impl Receiving<'_, '_> {
    /// Once round the loop.
    fn turn(&mut self) -> Result<(), Error> {
        let mut acks = Vec::new();
        let (receiver, once) = (&mut self.receiver, &mut self.once);
        let any = self.link.recv(|datagram, ecn, at| {
            let Datagram::Segment(segment) = datagram else {
                return;
            };
            if !segment.flags.probe {
                once.note(segment);
            }
            receiver.handle_segment(segment, ecn, at);
            acks.extend(std::iter::from_fn(|| receiver.poll_transmit(at)));
        })?;
        let now = self.link.advance(clock::now());
        if self.receiver.next_timeout().is_some_and(|due| due <= now) {
            self.receiver.handle_timeout(now);
        }
        acks.extend(std::iter::from_fn(|| self.receiver.poll_transmit(now)));
        let is_idle = self.send(&mut acks)?;
        self.link.log.tick(now);
        if any {
            return Ok(());
        }
        let deadline = now + if is_idle { TICK } else { RETRY };
        let due = self.receiver.next_timeout();
        self.link
            .wait(due.map_or(deadline, |due| due.min(deadline)))
    }

    /// Sends `acks`; those that the kernel does not take are as if lost, which acknowledgements may be.
    fn send(&mut self, acks: &mut Vec<transport::Ack>) -> Result<bool, Error> {
        let mut is_idle = true;
        for ack in acks.drain(..) {
            if !self.link.has_room() {
                is_idle &= self.link.flush(clock::now())?;
            }
            if self.link.has_room() {
                self.link.push(Datagram::Ack(ack));
            }
        }
        Ok(self.link.flush(clock::now())? && is_idle)
    }
}
