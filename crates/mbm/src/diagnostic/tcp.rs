//! Which tests the kernel's TCP can carry, and how (thesis 3.6).
//!
//! A TCP is no generator of streams: it has its own window, paces only what it is told to pace, and slows down at a loss. Three shapes
//! can be had of it all the same:
//!
//! - a constant rate, by a limit of its pacing (`SO_MAX_PACING_RATE`) and a program that always has more to send;
//! - a constant window, by a receiver that offers no more;
//! - bursts, by a program that writes a burst when it is due: they leave whole as long as TCP's window is as large.
//!
//! All else is refused, with the reason ([`NotByTcp`]). That TCP slows down is part of the method: a path on which it does not keep
//! 0.9 of the target rate cannot support the target (thesis 3.5, table 3.1).

use super::{Setup, Test};
use crate::sequential::Ruling;
use crate::stream::Pattern;
use crate::verdict::JudgeOptions;
use std::time::Duration;
use thiserror::Error;

/// Bursts that are this far apart may find TCP's window shrunk: its retransmission timeout is at least as long (Linux: 200 ms beside the
/// round trip), and after an idle one the window falls back towards the initial one (RFC 5681 section 4.1, RFC 2861).
pub const IDLE: Duration = Duration::from_millis(200);

/// What the kernel's TCP is to do for a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TcpShape {
    /// Full segments at a constant rate.
    Paced {
        /// Segments a second.
        packets_per_s: f64,
    },
    /// As fast as acknowledgements let it, with at most so many segments in flight.
    Windowed {
        /// Segments.
        packets: u32,
    },
    /// Bursts that are written when they are due.
    Bursts(Pattern),
}

/// A test that TCP cannot carry.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "TCP cannot carry the test {test}: {why} - use --carrier udp, or --test {}",
    Self::TESTS
)]
pub struct NotByTcp {
    /// Which.
    pub test: Test,
    /// Why not.
    pub why: String,
}

impl NotByTcp {
    const TESTS: &str = "paced-full-rate,windowed-full-rate,background,sustained-burst";
}

impl Setup<'_> {
    /// How TCP carries `test`.
    ///
    /// # Errors
    /// [`NotByTcp`], when it cannot.
    pub fn by_tcp(&self, test: Test) -> Result<TcpShape, NotByTcp> {
        let refused = |why: &str| {
            let why = why.to_owned();
            Err(NotByTcp { test, why })
        };
        match test {
            Test::PacedFullRate | Test::Background => match self.pattern(test) {
                Some(pattern) => Ok(TcpShape::Paced {
                    packets_per_s: pattern.packets_per_s(),
                }),
                None => refused("it has no rate"),
            },
            Test::WindowedFullRate => Ok(TcpShape::Windowed {
                packets: self.target.test_window(self.path_rtt),
            }),
            Test::SustainedBurst => self.bursts(test),
            Test::CongestionAvoidance
            | Test::Bufferbloat
            | Test::NonExcessiveLoss
            | Test::DuplexSelfInterference => {
                refused("the kernel moves its window by its own rules, not by a scan")
            }
            Test::FullWindowSlowStart | Test::SlowStartAqm => {
                refused("sets of 4 packets within a burst are beyond what its pacing can be told")
            }
            Test::SenderRateBurst => {
                refused("in the long rests between bursts its window shrinks below a burst")
            }
            Test::Passive => refused("it sends nothing"),
        }
    }

    fn bursts(&self, test: Test) -> Result<TcpShape, NotByTcp> {
        let pattern = Pattern::sustained_bursts(self.target);
        if pattern.headway() >= IDLE {
            return Err(NotByTcp {
                test,
                why: format!(
                    "bursts {} ms apart, and after {} ms of rest its window shrinks",
                    pattern.headway().as_millis(),
                    IDLE.as_millis()
                ),
            });
        }
        Ok(TcpShape::Bursts(pattern))
    }

    /// How to judge `test` when TCP carries it, within `time_limit` in all.
    ///
    /// The growth period has time for TCP to grow its window back from a half of the test's, a packet each round trip.
    pub fn judge_tcp(&self, test: Test, ruling: Ruling, time_limit: Duration) -> JudgeOptions {
        let options = self.judge(test, ruling, time_limit);
        let half = self.target.test_window(self.path_rtt).div_ceil(2);
        let growth = self.path_rtt.saturating_mul(half);
        JudgeOptions {
            by_tcp: true,
            needs_stretch: false,
            growth_limit: options.growth_limit.saturating_add(growth),
            ..options
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::NamedTarget;

    /// Holds mbm/tcp-carrier.
    #[test]
    fn four_tests_can_be_carried_and_every_other_says_why_not() {
        let target = NamedTarget::find("video-rfc8337").unwrap().target;
        let setup = Setup::new(&target, Duration::from_millis(50));
        let carried = |test: &Test| setup.by_tcp(*test).is_ok();
        let names = Test::ALL.into_iter().filter(carried).map(Test::name);
        let names: Vec<_> = names.collect();
        assert_eq!(names.join(","), NotByTcp::TESTS);
        assert_eq!(
            setup.by_tcp(Test::WindowedFullRate),
            Ok(TcpShape::Windowed { packets: 11 })
        );
        let refused = setup.by_tcp(Test::Bufferbloat).unwrap_err().to_string();
        assert!(refused.contains("bufferbloat: the kernel") && !refused.contains('\n'));
    }

    #[test]
    fn bursts_that_let_tcp_rest_are_none() {
        let spec = crate::target::TargetSpec {
            rate: "10Mbit".parse().unwrap(),
            rtt: "250ms".parse().unwrap(),
            mtu: 1_500,
            overhead: 0,
            derating: None,
        };
        let target = crate::target::Target::new(spec).unwrap();
        let setup = Setup::new(&target, Duration::from_millis(250));
        let refused = setup.by_tcp(Test::SustainedBurst).unwrap_err();
        assert!(refused.why.contains("250 ms apart"), "{refused}");
    }
}
