//! How often a receiver of load is woken. Nobody needs the data, so it is woken rarely, but often enough for the window to grow.
//!
//! Linux enlarges a connection's window with what the application reads in a round trip, less what then still waits to be read
//! (`tcp_rcv_space_adjust`, from 6.16 on). A reader that always leaves much until there is more therefore keeps the window small: woken once per 32 KiB, the
//! receiver of 5 Mbit/s over 24 ms held the sender back for 7 s. This one is woken about every other millisecond; where more than
//! 130 Mbit/s come, once per 32 KiB. When the rate falls, the receiver sleeps once more for what came in 2 ms before, or until its read times out.

use std::net::TcpStream;
use std::time::Duration;
use sys::tcp;
use units::Instant;

/// Octets that may wait until the receiver is woken: at high rates that is more often.
const MOST: u64 = 32 << 10;
/// Fewer than this are no reason to wait.
const LEAST: u64 = 2 << 10;
/// Milliseconds for which octets come until the receiver is woken.
const WAIT_MS: u64 = 2;
/// How long they are counted for one look at their rate.
const LOOK: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Debug)]
pub(crate) struct Waking {
    since: Instant,
    octets: u64,
    threshold: u32,
}

impl Waking {
    /// Woken by every segment, until it is known how many come.
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            since: now,
            octets: 0,
            threshold: 1,
        }
    }

    /// `socket` has read `count` octets more at `now`.
    pub(crate) fn apply(&mut self, socket: &TcpStream, count: usize, now: Instant) {
        if let Some(threshold) = self.next(count as u64, now) {
            // Where the kernel refuses one it refuses all, and every segment wakes the receiver.
            let _ = tcp::set_receive_threshold(socket, threshold);
        }
    }

    /// The threshold to set, if it is another one: what comes in [`WAIT_MS`], rounded down to a power of two.
    fn next(&mut self, count: u64, now: Instant) -> Option<u32> {
        self.octets += count;
        let elapsed = now.since(self.since);
        if elapsed < LOOK {
            return None;
        }
        // No less than that of a look.
        let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let in_one = self.octets.saturating_mul(WAIT_MS) / ms;
        (self.since, self.octets) = (now, 0);
        let threshold = match in_one.min(MOST) {
            few if few < LEAST => 1,
            many => 1 << many.ilog2(),
        };
        let is_other = std::mem::replace(&mut self.threshold, threshold) != threshold;
        is_other.then_some(threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The thresholds that are set when `octets` come each millisecond for 200 of them.
    fn of(waking: &mut Waking, from: u64, octets: u64) -> Vec<u32> {
        let each = (from..from + 200).map(|ms| waking.next(octets, Instant::from_millis(ms)));
        each.flatten().collect()
    }

    #[test]
    fn a_receiver_is_woken_every_2_ms_or_by_32_kib() {
        let mut waking = Waking::new(Instant::ZERO);
        // 5 Mbit/s: by each segment; 50: by six; 10,000: by what is most.
        assert_eq!(of(&mut waking, 1, 625), [0_u32; 0]);
        assert_eq!(of(&mut waking, 201, 6_250), [8_192]);
        assert_eq!(of(&mut waking, 401, 1_250_000), [32_768]);
        // It falls, too.
        assert_eq!(of(&mut waking, 601, 625), [1]);
    }

    proptest! {
        #[test]
        fn any_rate_has_a_threshold(reads in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 40), 1..40)) {
            let (mut waking, mut ms) = (Waking::new(Instant::ZERO), 0);
            for (octets, later) in reads {
                ms += later;
                if let Some(threshold) = waking.next(octets, Instant::from_millis(ms)) {
                    prop_assert!(threshold == 1 || (LEAST..=MOST).contains(&threshold.into()));
                }
            }
        }
    }
}
