//! Whether the path under test can be a part of the target's complete path at all.
//!
//! `target_RTT` is the least round trip of the longest complete path for which the answer is to hold, of full packets there and acknowledgements
//! back (RFC 8337 section 3). A part of that path takes less. A path that takes longer by itself is in no such path: its losses would be judged
//! by the run length of another, shorter one.

use super::checks::RATE_SHARE;
use super::{Outcome, Reason, Verdict};
use crate::target::Target;
use std::time::Duration;

/// What both hosts may add to the least of a few round trips: a departure is stamped before the system call, not on the wire.
const HOSTS: Duration = Duration::from_micros(500);

/// The longest round trip of an idle path that is still taken for a part of the target's: a target window in each of these gives 0.9 of the
/// target rate (as much as the rate itself may lack, thesis 4.2.2), and what hosts may add.
pub fn longest_part(target: &Target) -> Duration {
    target.rtt().div_f64(RATE_SHARE).saturating_add(HOSTS)
}

/// FAIL when `least`, the least round trip of short packets over the idle path, is longer than the target's complete path.
pub fn judge_reach(target: &Target, least: Duration) -> Option<Verdict> {
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    (least > longest_part(target)).then(|| {
        Verdict::new(
            Outcome::Fail,
            Reason::RoundTripLong,
            format!(
                "the idle path takes {:.1} ms there and back, the target's complete path {:.1} ms: it is no part of such a path",
                ms(least),
                ms(target.rtt())
            ),
            format!(
                "--rtt {:.0}ms or more: the round trip of the complete path, however short the part under test",
                ms(least).ceil()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetSpec;

    fn judged(rtt: &str, least_us: u64) -> Option<Verdict> {
        let target = Target::new(TargetSpec {
            rate: "10Mbit".parse().unwrap(),
            rtt: rtt.parse().unwrap(),
            mtu: 1_500,
            overhead: 64,
            derating: None,
        });
        judge_reach(&target.unwrap(), Duration::from_micros(least_us))
    }

    /// Holds mbm/smaller-rtt.
    #[test]
    fn a_path_longer_than_the_complete_one_is_no_part_of_it() {
        let verdict = judged("5ms", 80_900).unwrap();
        assert_eq!(
            (verdict.outcome, verdict.reason),
            (Outcome::Fail, Reason::RoundTripLong)
        );
        assert!(verdict.says.contains("80.9 ms") && verdict.says.contains("5.0 ms"));
        assert!(verdict.would_change.contains("--rtt 81ms"));
    }

    /// Holds mbm/smaller-rtt.
    #[test]
    fn a_part_and_the_whole_path_itself_are_judged() {
        assert_eq!(judged("80ms", 10_400), None);
        // What hosts and links add to the whole path's nominal 80 or 10 ms.
        assert_eq!(judged("80ms", 80_900), None);
        assert_eq!(judged("10ms", 10_400), None);
        assert_eq!(judged("10ms", 11_600), None);
        assert!(judged("10ms", 11_700).is_some());
        assert_eq!(judged("4ms", 4_900), None);
        assert!(judged("4ms", 5_000).is_some());
    }
}
