//! Whether the figure is the path's, or that of somebody who limits his ICMP errors.
//!
//! RFC 1812 section 4.3.2.8 and RFC 4443 section 2.4 (f) demand that ICMP errors be limited. A limiter is a policer of answers: behind it congestion control
//! settles at the limiter's rate and looks as healthy as at that of a link. But a limiter counts packets and a link counts
//! octets. So after the transfer a row of the shortest packets is sent, at several times the rate at which packets were answered in the
//! transfer, which is a fraction of its octets. A path that carried the long ones carries the short ones with ease; a
//! limiter answers no more of them than before.
//!
//! (Routers that are slow by the packet are taken for limiters, and so they are: no packet size would have got more through.)

use std::time::Duration;

/// How long the row lasts.
pub(super) const LASTS: Duration = Duration::from_secs(2);
/// Short packets for each packet that was answered in the transfer, in the same time.
const TIMES: f64 = 4.0;
/// The row is at least so fast, to be one: packets a second.
const SLOWEST: f64 = 20.0;
/// What was answered faster than this was answered by nobody who limits: packets a second.
const FASTEST: f64 = 20_000.0;
/// A row of which less comes back was cut by a limiter.
const SHARE: f64 = 0.6;

/// A row of short packets, and what came of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Found {
    /// Short packets sent.
    pub sent: u32,
    /// Those of them that were answered.
    pub answered: u32,
}

/// The time from one short packet to the next, after a transfer of which `answered` packets a second were answered;
/// nothing where no row is needed.
pub(super) fn interval(answered: f64) -> Option<Duration> {
    let rate = (TIMES * answered).max(SLOWEST);
    (rate <= FASTEST).then(|| Duration::from_secs_f64(1.0 / rate))
}

impl Found {
    /// Whether a limiter stands where the answers come from.
    pub(super) fn is_limited(self) -> bool {
        f64::from(self.answered) < SHARE * f64::from(self.sent)
    }

    /// Answers a second that the limiter gives.
    fn rate(self) -> f64 {
        f64::from(self.answered) / LASTS.as_secs_f64()
    }

    /// Why there is no figure, after a transfer of which `before` packets a second were answered.
    pub(super) fn reason(self, before: f64) -> String {
        format!(
            "whoever answers limits ICMP errors: {:.0} a second for long packets and {:.0} for short ones, of {:.0} that were sent",
            before,
            self.rate(),
            f64::from(self.sent) / LASTS.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a bucket of `burst` answers that fills at `rate` a second gives of a row after a transfer that has emptied it.
    fn behind_bucket(rate: f64, burst: f64) -> Found {
        let interval = interval(rate).unwrap().as_secs_f64();
        let mut found = Found::default();
        let mut tokens: f64 = 0.0;
        while f64::from(found.sent) * interval < LASTS.as_secs_f64() {
            found.sent += 1;
            tokens = (tokens + rate * interval).min(burst);
            if tokens >= 1.0 {
                tokens -= 1.0;
                found.answered += 1;
            }
        }
        found
    }

    #[test]
    fn buckets_of_hosts_and_routers_are_found() {
        // Linux for each destination, Linux for all, and what protects a router's processor.
        for (rate, burst) in [(1.0, 6.0), (1_000.0, 50.0), (100.0, 10.0), (4_000.0, 200.0)] {
            let found = behind_bucket(rate, burst);
            assert!(found.is_limited(), "{rate}/s: {found:?}");
            assert!(
                (found.rate() / rate - 1.0).abs() < 0.2,
                "{rate}/s: {found:?}"
            );
        }
    }

    #[test]
    fn a_path_that_loses_some_is_no_limiter() {
        let found = Found {
            sent: 3_200,
            answered: 3_000,
        };
        assert!(!found.is_limited());
        assert!(!Found::default().is_limited());
    }

    #[test]
    fn what_is_answered_at_once_needs_no_row() {
        assert_eq!(interval(86_000.0), None);
        assert_eq!(interval(0.0), Some(Duration::from_millis(50)));
    }
}
