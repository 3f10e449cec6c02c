//! How the window that a receiver offers grows (Linux 6.18).
//!
//! Nothing here limits the sender: what matters is that the kernel acknowledges each segment with which its window grows. The window grows by
//! two segments with each that comes, until its bound (`tcp_grow_window`). The bound is what the receive buffer has room for, and
//! follows what the application reads in a round trip: twice that, and more while it becomes more (`tcp_rcvbuf_grow`). So it grows through the
//! sender's slow start, and hardly later. Here the application reads at once.
//!
//! Known differences: the round trip is the smoothed one of this host's own sender, where the kernel has one of what arrives, which grows with a
//! queue; and segments beyond a gap do not make the window grow.

use std::time::Duration;
use units::Instant;

/// Octets of the window that is offered at first, and of the one for which the buffer has room then (`tcp_rmem`: 131,072 octets).
const FIRST: u32 = 64_240;
const ROOM: u32 = 80_896;
/// What is offered at first is a multiple of this (`tcp_select_initial_window`).
const MSS: u32 = 1_460;
/// Most for which a buffer ever has room (33,554,432 octets, of which about three quarters are payload).
const MOST: u64 = 25 << 20;
/// Octets that are expected in the first round trip.
const FIRST_ROUND: u32 = 14_480;
/// The window grows with segments of so many octets or more (`tcp_event_data_recv`).
const GROWS_WITH: u16 = 128;

/// See the module.
#[derive(Debug)]
pub(super) struct Offer {
    window: u32,
    bound: u32,
    /// Most octets of a round trip, zero where the bound is fixed.
    most: u32,
    /// The beginning of the present round trip, and octets before it.
    since: Instant,
    before: u64,
}

impl Offer {
    /// A window without limit.
    pub(super) const UNLIMITED: Self = Self {
        window: u32::MAX,
        bound: u32::MAX,
        most: 0,
        since: Instant::ZERO,
        before: 0,
    };

    /// A window up to `bound` octets; without one it follows what is read.
    pub(super) fn new(bound: Option<u32>, now: Instant) -> Self {
        Self {
            window: bound.map_or(FIRST, |bound| FIRST.min(bound - bound % MSS)),
            bound: bound.unwrap_or(ROOM),
            most: if bound.is_none() { FIRST_ROUND } else { 0 },
            since: now,
            before: 0,
        }
    }

    /// Octets that are offered.
    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    /// A segment of `len` octets came in order, of `full` at most, and makes `bytes` in all: whether the window grows with it.
    pub(super) fn grows(
        &mut self,
        (len, full): (u16, u16),
        bytes: u64,
        rtt: Duration,
        now: Instant,
    ) -> bool {
        if self.most > 0 && !rtt.is_zero() && now.since(self.since) >= rtt {
            self.end_round(bytes);
            self.since = now;
        }
        if self.window >= self.bound || len < GROWS_WITH {
            return false;
        }
        let two = 2 * u32::from(len.max(full));
        self.window = self.window.saturating_add(two).min(self.bound);
        true
    }

    fn end_round(&mut self, bytes: u64) {
        let (read, most) = (bytes - self.before, u64::from(self.most));
        self.before = bytes;
        if read > most {
            let twice = read.saturating_mul(2);
            let more = twice.saturating_mul(read - most) / most;
            let bound = twice.saturating_add(more.saturating_mul(2)).min(MOST);
            self.bound = self.bound.max(u32::try_from(bound).unwrap_or(u32::MAX));
            self.most = u32::try_from(read).unwrap_or(u32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    #[test]
    fn a_bounded_window_grows_to_its_bound() {
        let grown = |bound| {
            let mut offer = Offer::new(bound, Instant::ZERO);
            let all = (1..).map(|n| n * 1_448);
            all.take_while(|bytes| offer.grows((1_448, 1_448), *bytes, RTT, Instant::ZERO))
                .count()
        };
        // As Linux 6.18 did it: from 64,240 to 80,896 octets with six segments, to 65,535 with one, to 68,000 with two.
        let bounds = [None, Some(65_535), Some(68_000), Some(30_000)];
        assert_eq!(bounds.map(grown), [6, 1, 2, 1]);
        assert_eq!(Offer::new(Some(30_000), Instant::ZERO).window(), 29_200);
    }

    #[test]
    fn the_bound_follows_what_is_read_in_a_round_trip() {
        let mut offer = Offer::new(None, Instant::ZERO);
        let mut bytes = 0;
        // A slow start: 10, 20, 40 segments a round trip; then 40 again and again.
        let mut grown = Vec::new();
        for (round, segments) in (1..).zip([10_u32, 20, 40, 40, 40, 40, 40]) {
            let now = Instant::ZERO + RTT * round;
            let comes = |_: &u32| {
                bytes += 1_448;
                offer.grows((1_448, 1_448), bytes, RTT, now)
            };
            grown.push((0..segments).filter(comes).count());
        }
        // 14,480 octets are no more than expected; 28,960 and 57,920 make the bound six times as many.
        assert_eq!(grown, [6, 0, 33, 40, 20, 0, 0]);
    }
}
