//! Which duplicate acknowledgements are left out (the kernel's compression of SACKs).
//!
//! While a segment is missing, each that comes beyond it is worth an acknowledgement at once (RFC 5681 section 4.2): the sender counts three to
//! detect the loss. What later ones say, one of them says for all while its SACK blocks have room for everything that came. So Linux from 4.18 on
//! sends three at once after each number expected, and then one for all that come within a twentieth of the RTT, and within 1 ms
//! (`__tcp_ack_snd_check`). None waits for a segment that begins or extends a third range: those go at once (the kernel sends what waits then, and
//! has the segment wait: as many acknowledgements, each one segment later).

use std::time::Duration;
use units::Instant;

/// Duplicates that go at once: as many as a sender counts (the kernel's `TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;
/// Most that one acknowledgement stands for, itself not counted (`tcp_comp_sack_nr`).
const MOST: u8 = 44;

/// Its timer is late by this, unless something else wakes the processor (`tcp_comp_sack_slack_ns`).
const SLACK: Duration = Duration::from_micros(100);

/// What has been sent at once, and what waits.
#[derive(Debug)]
pub(super) struct Compression {
    /// The number that was expected when a duplicate was counted last, and duplicates that went at once since.
    next: u64,
    at_once: u8,
    /// Duplicates that one acknowledgement will stand for, and when it is due; [`Instant::FAR_FUTURE`] when none waits.
    waiting: u8,
    until: Instant,
}

impl Compression {
    pub(super) const fn new() -> Self {
        Self {
            next: 0,
            at_once: 0,
            waiting: 0,
            until: Instant::FAR_FUTURE,
        }
    }

    /// A segment came beyond `next`, or brought `next` one further with something still missing. Whether it is acknowledged at once; else
    /// that happens after `delay`.
    pub(super) fn is_at_once(&mut self, next: u64, delay: Duration, now: Instant) -> bool {
        if self.waiting >= MOST {
            return true;
        }
        if self.next != next {
            (self.next, self.at_once) = (next, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return true;
        }
        if delay.is_zero() {
            return true;
        }
        self.waiting += 1;
        if self.until == Instant::FAR_FUTURE {
            self.until = now + delay + SLACK;
        }
        false
    }

    /// An acknowledgement leaves, which says it all.
    pub(super) const fn end(&mut self) {
        (self.waiting, self.until) = (0, Instant::FAR_FUTURE);
    }

    /// When the acknowledgement for what waits is due; [`Instant::FAR_FUTURE`] when nothing does.
    #[inline]
    pub(super) const fn deadline(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Which of the segments beyond `next`, one each 10 us, are acknowledged at once.
    fn at_once(compression: &mut Compression, next: u64, segments: usize) -> Vec<usize> {
        let now = |n: usize| Instant::ZERO + Duration::from_micros(10) * u32::try_from(n).unwrap();
        let each = (1..=segments).filter(|n| compression.is_at_once(next, MS, now(*n)));
        each.collect()
    }

    #[test]
    fn three_go_at_once_and_one_stands_for_the_rest() {
        let mut compression = Compression::new();
        assert_eq!(at_once(&mut compression, 7, 10), [1, 2, 3]);
        let due = Instant::ZERO + Duration::from_micros(40) + MS + SLACK;
        assert_eq!(compression.deadline(), due, "from the first that waits on");
        compression.end();
        assert_eq!(compression.deadline(), Instant::FAR_FUTURE);
        // Three are enough until the number expected is another.
        assert_eq!(at_once(&mut compression, 7, 2), [0; 0]);
        assert_eq!(at_once(&mut compression, 9, 4), [1, 2, 3]);
    }

    #[test]
    fn no_acknowledgement_stands_for_more_than_44_others() {
        let mut compression = Compression::new();
        assert_eq!(at_once(&mut compression, 7, 50), [1, 2, 3, 48, 49, 50]);
    }
}
