//! The load that is sent.

use super::{Clocks, End, Ended, LOOK, RECEIVES, mono};
use crate::secret::secret;
use far_ends::udpst::{Burst, LONGEST_PAYLOAD, Sender, SendingRate, Status};
use sys::udp::{BATCH, Outgoing, RecvBatch};
use sys::{Error, clock};
use units::Instant;

/// Longest feedback.
const LONGEST: usize = 512;
/// Feedback that is taken at once.
const FEEDBACK: usize = 4;

/// Sends what `sender` says until the test is over. `heard` is told of each feedback, and when it came; it says what to send from then on.
///
/// # Errors
/// When the socket cannot be used any more.
pub fn send(
    end: &End<'_>,
    mut sender: Sender,
    mut heard: impl FnMut(&Status, Instant) -> SendingRate,
) -> Result<Ended, Error> {
    clock::timer_slack(1)?;
    let begun = clock::now();
    let mut clocks = Clocks::new();
    let mut datagrams = Datagrams::new(filler());
    let mut batch = RecvBatch::new(FEEDBACK, LONGEST);
    loop {
        let now = clock::now();
        if let Some(ended) = end.ended(begun, sender.heard(), now) {
            if ended == Ended::Interrupted {
                datagrams.send(end, &mut sender, &mut clocks, Burst::ONE, true)?;
            }
            return Ok(ended);
        }
        let is_over = end.is_over(begun, now);
        while let Some(burst) = sender.burst(now) {
            datagrams.send(end, &mut sender, &mut clocks, burst, is_over)?;
        }
        let next = sender.next().unwrap_or(now + LOOK);
        if !end.wait(next)? {
            continue;
        }
        for _ in 0..RECEIVES {
            if end.socket.recv(&mut batch)? == 0 {
                break;
            }
            for datagram in batch.iter() {
                let Some(status) = Status::parse(datagram.payload) else {
                    if let Some(answer) = (end.answer)(datagram.payload) {
                        end.say(&answer)?;
                    }
                    continue;
                };
                let now = mono(clocks.at(datagram.wall_ns));
                sender.handle(&status, now);
                if status.is_stop {
                    datagrams.send(end, &mut sender, &mut clocks, Burst::ONE, true)?;
                    return Ok(Ended::Stopped);
                }
                sender.change(heard(&status, now), clock::now());
            }
        }
    }
}

/// Where in the filler a datagram begins is one of so many places.
const PLACES: usize = 4_096;

/// What load is made of: nothing on the way can make it less.
fn filler() -> Vec<u8> {
    let mut state = secret() | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let words = (LONGEST_PAYLOAD as usize + PLACES) / 8 + 1;
    (0..words).flat_map(|_| next()).collect()
}

/// Datagrams of a burst, in the making.
struct Datagrams {
    filler: Vec<u8>,
    made: Vec<Vec<u8>>,
}

impl Datagrams {
    fn new(filler: Vec<u8>) -> Self {
        Self {
            filler,
            made: Vec::new(),
        }
    }

    /// Sends a burst, one datagram of it where the test is over. What the kernel has no room for is not sent at all, and has no number.
    fn send(
        &mut self,
        end: &End<'_>,
        sender: &mut Sender,
        clocks: &mut Clocks,
        burst: Burst,
        is_over: bool,
    ) -> Result<(), Error> {
        let mut left = burst.datagrams as usize + usize::from(burst.addon > 0);
        if is_over {
            left = left.min(1);
        }
        while left > 0 {
            let count = left.min(BATCH);
            let now = clocks.now();
            for which in 0..count {
                let is_last = left == which + 1;
                let payload = if is_last && burst.addon > 0 {
                    burst.addon
                } else {
                    burst.payload
                };
                let load = sender.load(payload, now, is_over);
                let from = load.number as usize * 61 % PLACES;
                self.write(which, |out| load.emit(out), usize::from(payload), from);
            }
            let batch: Vec<Outgoing<'_>> = self.made[..count]
                .iter()
                .map(|payload| Outgoing {
                    payload,
                    to: None,
                    from: None,
                    class: end.class,
                })
                .collect();
            let sent = end.socket.send(&batch)?.count;
            for _ in sent..batch.len() {
                sender.take_back();
            }
            if sent < batch.len() {
                return Ok(());
            }
            left -= count;
        }
        Ok(())
    }

    /// Makes datagram `which` of a head and so many octets in all, with the filler's `from` on.
    fn write(
        &mut self,
        which: usize,
        head: impl FnOnce(&mut Vec<u8>),
        payload: usize,
        from: usize,
    ) {
        if self.made.len() <= which {
            self.made.resize_with(which + 1, Vec::new);
        }
        let made = &mut self.made[which];
        head(made);
        let rest = payload.saturating_sub(made.len());
        made.extend_from_slice(&self.filler[from..][..rest]);
    }
}
