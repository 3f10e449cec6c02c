//! How long a round trip is when nothing else is under way: what is asked when, without clock and socket.

use mbm::target::Target;
use mbm::verdict::judge_reach;
use std::time::Duration;
use units::Instant;

/// Round trips by which the idle path is known, and how far apart they begin.
const TRIPS: u32 = 10;
pub(super) const TRIP: Duration = Duration::from_millis(20);
/// A round trip that takes longer is none.
const LONGEST_TRIP: Duration = Duration::from_secs(3);
/// Times that a path is looked at which seems longer than the target's: a queue that stood there may be gone.
const LOOKS: u32 = 3;

/// Least round trips over the idle path.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Idle {
    /// Of packets as long as the target's, both ways: what a link takes to send one belongs to the round trip of a window.
    pub(super) full: Duration,
    /// Of packets of any length: the path itself, and hardly what its links take to send a packet.
    pub(super) least: Duration,
}

/// A few round trips of packets of one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trips {
    began: Instant,
    sent: u32,
    least: Option<Duration>,
}

impl Trips {
    /// The first begins now.
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            began: now,
            sent: 0,
            least: None,
        }
    }

    /// Whether one more begins at `now`.
    pub(super) fn poll(&mut self, now: Instant) -> bool {
        let is_due = self.next_due().is_some_and(|due| due <= now);
        self.sent += u32::from(is_due);
        is_due
    }

    /// When the next one begins.
    pub(super) fn next_due(&self) -> Option<Instant> {
        (self.sent < TRIPS).then(|| self.began + TRIP * self.sent)
    }

    /// One is over.
    pub(super) fn handle_reply(&mut self, took: Duration) {
        self.least = Some(self.least.map_or(took, |least| least.min(took)));
    }

    /// Whether no more is waited for.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let enough = |least: Duration| now >= self.began + TRIP * TRIPS + least;
        now.since(self.began) >= LONGEST_TRIP
            || self.sent == TRIPS && self.least.is_some_and(enough)
    }

    /// The least of them; none when none came back.
    pub(super) const fn least(&self) -> Option<Duration> {
        self.least
    }
}

/// Looks at the idle path, again while it seems longer than the complete path of `target`; `look` takes the least round trips of
/// short and of full packets, and knows whether it has looked before.
pub(super) fn idle<E>(
    target: &Target,
    mut look: impl FnMut(bool) -> Result<[Duration; 2], E>,
) -> Result<Idle, E> {
    let of = |[short, full]: [Duration; 2]| Idle {
        full,
        least: short.min(full),
    };
    let mut idle = of(look(false)?);
    for _ in 1..LOOKS {
        if judge_reach(target, idle.least).is_none() {
            break;
        }
        let again = of(look(true)?);
        idle.full = idle.full.min(again.full);
        idle.least = idle.least.min(again.least);
    }
    Ok(idle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mbm::target::NamedTarget;
    use std::convert::Infallible;

    #[test]
    fn ten_round_trips_begin_at_a_distance_and_the_least_counts() {
        let mut trips = Trips::new(Instant::ZERO);
        let mut now = Instant::ZERO;
        while let Some(due) = trips.next_due() {
            now = due;
            assert!(trips.poll(now) && !trips.poll(now));
            trips.handle_reply(
                Duration::from_millis(40).saturating_sub(now.since(Instant::ZERO) / 10),
            );
        }
        assert_eq!(now, Instant::from_millis(180));
        let least = Duration::from_millis(22);
        assert_eq!(trips.least(), Some(least));
        assert!(!trips.is_over(Instant::from_millis(200)));
        assert!(trips.is_over(Instant::from_millis(222)));
        // Where nothing comes back it is over after 3 s.
        let none = Trips::new(Instant::ZERO);
        assert!(
            !none.is_over(Instant::from_millis(2_999)) && none.is_over(Instant::from_millis(3_000))
        );
    }

    #[test]
    fn a_path_that_seems_too_long_is_looked_at_twice_more() {
        let target = NamedTarget::find("video-rfc8337").unwrap().target;
        let looks = |ms: [u64; 3]| {
            let mut count = 0;
            let found = idle(&target, |_| {
                count += 1;
                let least = Duration::from_millis(ms[count - 1]);
                Ok::<_, Infallible>([least, least * 2])
            });
            (count, found.unwrap().least.as_millis())
        };
        assert_eq!(looks([40, 0, 0]), (1, 40));
        assert_eq!(looks([90, 50, 0]), (2, 50));
        assert_eq!(looks([90, 80, 85]), (3, 80));
    }
}
