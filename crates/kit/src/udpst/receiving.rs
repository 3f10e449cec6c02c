//! The load that arrives.

use super::{Clocks, End, Ended, RECEIVES, mono};
use far_ends::udpst::Feedback;
use far_ends::udpst::{Load, Receiver, SendingRate, Terms};
use std::time::Duration;
use sys::udp::{BATCH, RecvBatch};
use sys::{Error, clock};
use units::Instant;

/// Octets of a datagram that are read: a head of load, or a request that was repeated.
const LONGEST: usize = 128;

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
    let mut receiving = Receiving {
        end,
        clocks: Clocks::new(),
        receiver: Receiver::new(trial, sub_interval, begun),
        batch: RecvBatch::new(BATCH, LONGEST),
        seen: begun,
    };
    let mut next = begun + trial;
    let ended = loop {
        end.wait(next)?;
        // What came before a trial's end is of that trial, however late this host looks.
        let is_stop = receiving.take()?;
        let now = clock::now();
        if is_stop {
            break Ended::Stopped;
        }
        if let Some(ended) = end.ended(begun, receiving.receiver.heard(), now) {
            break ended;
        }
        if now < next {
            continue;
        }
        let feedback = receiving.feedback(end.is_over(begun, now));
        if let Some(mut feedback) = feedback {
            feedback.status.rate = told(&feedback, now);
            end.say(&feedback.status.emit())?;
        }
        // A host that was kept from it does not make up for it.
        next = if next + trial > now {
            next + trial
        } else {
            now + trial
        };
    };
    // Confirmed by a client, and said by whoever is interrupted.
    if (ended == Ended::Interrupted || end.lasts.is_none())
        && let Some(last) = receiving.feedback(true)
    {
        end.say(&last.status.emit())?;
    }
    Ok((ended, receiving.batch.overflows()))
}

struct Receiving<'a> {
    end: &'a End<'a>,
    clocks: Clocks,
    receiver: Receiver,
    batch: RecvBatch,
    /// Until when all that came has been taken.
    seen: Instant,
}

impl Receiving<'_> {
    /// Takes what has come; whether the test is to stop.
    fn take(&mut self) -> Result<bool, Error> {
        let mut is_stop = false;
        for _ in 0..RECEIVES {
            let asked = clock::now();
            if self.end.socket.recv(&mut self.batch)? == 0 {
                self.seen = self.seen.max(asked);
                break;
            }
            for datagram in self.batch.iter() {
                let came = self.clocks.at(datagram.wall_ns);
                self.seen = self.seen.max(mono(came));
                let Some(load) = Load::parse(datagram.payload) else {
                    if let Some(answer) = (self.end.answer)(datagram.payload) {
                        self.end.say(&answer)?;
                    }
                    continue;
                };
                is_stop |= load.is_stop;
                // One that says that it is longer than it is counts for nothing.
                if !load.is_stop && usize::from(load.payload) == datagram.length {
                    self.receiver.handle(&load, came);
                }
            }
        }
        Ok(is_stop)
    }

    fn feedback(&mut self, is_over: bool) -> Option<Feedback> {
        let now = self.clocks.now();
        let rate = SendingRate::default();
        self.receiver.feedback(now, self.seen, rate, is_over)
    }
}
