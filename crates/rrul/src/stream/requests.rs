//! Requests in datagrams that wait for their replies.

use std::collections::BTreeMap;
use std::time::Duration;
use units::Instant;

/// A reply is overdue after four times the longest round trip so far, but not sooner than `LEAST` and not later than `MOST`.
const LEAST: Duration = Duration::from_millis(250);
const MOST: Duration = Duration::from_secs(3);
/// Requests that may be unanswered: what bounds memory on a path that loses everything. With one each millisecond they are those of
/// 16 s, longer than any queue.
const MOST_OUTSTANDING: usize = 16_384;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<T> {
    pub sent: Instant,
    /// Whether it was given up; its reply is late.
    pub overdue: bool,
    /// What else is known of it.
    pub more: T,
}

/// The requests of a stream that are in flight, by their numbers.
#[derive(Debug)]
pub(crate) struct Requests<T> {
    outstanding: BTreeMap<u32, Request<T>>,
    /// The longest round trip so far.
    longest: Duration,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self {
            outstanding: BTreeMap::new(),
            longest: Duration::ZERO,
        }
    }
}

impl<T> Requests<T> {
    /// How long a reply is waited for.
    pub(crate) fn patience(&self) -> Duration {
        (self.longest * 4).clamp(LEAST, MOST)
    }

    /// Request number `sequence` has left.
    pub(crate) fn sent(&mut self, sequence: u32, sent: Instant, more: T) {
        let request = Request {
            sent,
            overdue: false,
            more,
        };
        self.outstanding.insert(sequence, request);
    }

    /// A reply to request number `sequence` has come; a copy of one finds its request gone.
    pub(crate) fn replied(&mut self, sequence: u32) -> Option<Request<T>> {
        self.outstanding.remove(&sequence)
    }

    /// A round trip took so long.
    pub(crate) fn took(&mut self, rtt: Duration) {
        self.longest = self.longest.max(rtt);
    }

    /// Request number `sequence` is not waited for any more.
    pub(crate) fn give_up(&mut self, sequence: u32) {
        if let Some(request) = self.outstanding.get_mut(&sequence) {
            request.overdue = true;
        }
    }

    /// The oldest request, when there are too many: it was never answered.
    pub(crate) fn forget_oldest(&mut self) -> Option<(u32, Request<T>)> {
        let is_full = self.outstanding.len() > MOST_OUTSTANDING;
        is_full.then(|| self.outstanding.pop_first()).flatten()
    }

    /// The requests that were never answered, at the end of the run. One that was waited for no longer than the longest round
    /// trip, or [`LEAST`], may still have been on its way: it is neither answered nor lost.
    pub(crate) fn unanswered(&mut self, ended: Instant) -> impl Iterator<Item = (u32, Request<T>)> {
        let enough = self.longest.max(LEAST);
        let left = std::mem::take(&mut self.outstanding).into_iter();
        left.filter(move |(_, request)| request.overdue || ended.since(request.sent) > enough)
    }

    /// Those in flight, the latest first.
    pub(crate) fn latest_mut(&mut self) -> impl Iterator<Item = &mut Request<T>> {
        self.outstanding.values_mut().rev()
    }

    /// Whether none is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.outstanding.is_empty()
    }
}

/// Number and time of the next paced request after that of `sequence`, which left at `sent`; the first left at `begun`. Times that have
/// passed are left out: what was not sent is not lost.
pub(crate) fn slot_after(
    gap: Duration,
    sequence: u32,
    begun: Instant,
    sent: Instant,
) -> (u32, Instant) {
    let passed = sent.since(begun).as_nanos() / gap.as_nanos().max(1);
    let next = u32::try_from(passed).unwrap_or(u32::MAX - 3).max(sequence) + 1;
    (next, begun + gap * next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_end_a_request_is_lost_that_was_waited_for_longer_than_any_reply() {
        let begun = Instant::ZERO + Duration::from_secs(1);
        let at = |ms| begun + Duration::from_millis(ms);
        let mut requests = Requests::default();
        for (sequence, sent_ms) in [(0, 0), (1, 600), (2, 700), (3, 950)] {
            requests.sent(sequence, at(sent_ms), ());
        }
        requests.took(Duration::from_millis(350));
        requests.replied(0);
        requests.give_up(1);
        let lost: Vec<u32> = requests.unanswered(at(1_100)).map(|(n, _)| n).collect();
        assert_eq!(lost, [1, 2], "the last was waited for too short a time");
    }

    #[test]
    fn a_reply_is_waited_for_that_takes_seconds_and_memory_is_bounded() {
        let mut requests = Requests::default();
        let at = |number: u32| Instant::ZERO + Duration::from_millis(1) * number;
        for number in 0..100_000 {
            requests.sent(number, at(number), ());
            while requests.forget_oldest().is_some() {}
            if let Some(number) = number.checked_sub(5_000) {
                assert!(requests.replied(number).is_some(), "{number}");
            }
        }
        for number in 0..100_000 {
            requests.sent(100_000 + number, at(number), ());
            while requests.forget_oldest().is_some() {}
        }
        assert_eq!(requests.outstanding.len(), MOST_OUTSTANDING);
    }

    #[test]
    fn paced_requests_keep_their_times_and_leave_out_those_that_have_passed() {
        let begun = Instant::ZERO + Duration::from_secs(1);
        let after = |number, late_ms| {
            let sent = begun + Duration::from_millis(20 * u64::from(number) + late_ms);
            let (next, at) = slot_after(Duration::from_millis(20), number, begun, sent);
            (next, at.since(begun).as_millis())
        };
        assert_eq!(after(0, 0), (1, 20));
        assert_eq!(after(7, 3), (8, 160), "late once is not late for good");
        assert_eq!(after(7, 65), (11, 220), "three times had passed");
    }
}
