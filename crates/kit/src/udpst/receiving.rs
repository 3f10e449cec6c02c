//! The load that arrives.

use super::{Clocks, End, Ended, SILENT};
use far_ends::udpst::{Feedback, LOAD_LEN, Load, Receiver, SendingRate, Terms};
use std::time::Duration;
use sys::udp::{BATCH, Outgoing, RecvBatch};
use sys::{Error, clock};
use units::Instant;

/// Takes the load of a test on `terms` until it is over. `told` is told of each trial, and when it ended; it says what the sender is to
/// send from then on, where that is this end's affair. Returns how many datagrams the kernel had no room for, too.
///
/// # Errors
/// When the socket cannot be used any more.
pub fn receive(
    end: &End<'_>,
    terms: &Terms,
    mut told: impl FnMut(&Feedback, Instant) -> SendingRate,
) -> Result<(Ended, u32), Error> {
    let trial = Duration::from_millis(terms.trial_ms.into());
    let sub_interval = Duration::from_millis(terms.sub_interval_ms.into());
    let begun = clock::now();
    let mut clocks = Clocks::new();
    let mut receiver = Receiver::new(trial, sub_interval, begun);
    // Heads are enough: how long a datagram is it says itself.
    let mut batch = RecvBatch::new(BATCH, LOAD_LEN);
    let mut next = begun + trial;
    loop {
        let now = clock::now();
        if (end.is_interrupted)() {
            return Ok((Ended::Interrupted, batch.overflows()));
        }
        if now.since(receiver.heard()) > SILENT {
            return Ok((Ended::Silent, batch.overflows()));
        }
        if now >= next {
            let is_over = end.is_over(begun, now);
            if let Some(mut feedback) =
                receiver.feedback(clocks.now(), SendingRate::default(), is_over)
            {
                feedback.status.rate = told(&feedback, now);
                tell(end, &feedback)?;
            }
            // A host that was kept from it does not make up for it.
            next = (next + trial).max(now);
        }
        if !end.wait(next)? {
            continue;
        }
        let mut is_stop = false;
        // A load without end does not keep feedback waiting.
        while clock::now() < next && end.socket.recv(&mut batch)? > 0 {
            for datagram in batch.iter() {
                let Some(load) = Load::parse(datagram.payload) else {
                    continue;
                };
                is_stop |= load.is_stop;
                if !load.is_stop {
                    receiver.handle(&load, clocks.at(datagram.wall_ns));
                }
            }
        }
        if is_stop {
            if end.lasts.is_none()
                && let Some(last) = receiver.feedback(clocks.now(), SendingRate::default(), true)
            {
                tell(end, &last)?;
            }
            return Ok((Ended::Stopped, batch.overflows()));
        }
    }
}

/// A full buffer loses a feedback, as the path may.
fn tell(end: &End<'_>, feedback: &Feedback) -> Result<(), Error> {
    let pdu = feedback.status.emit();
    let out = Outgoing {
        payload: &pdu,
        to: None,
        from: None,
        class: end.class,
    };
    end.socket.send(&[out]).map(drop)
}
