//! From a target and a few facts about the path to a stream and its judge.

use super::Test;
use crate::sequential::Ruling;
use crate::stream::{
    ConstantWindow, Growth, Pattern, Scan, ScanOptions, Schedule, Stream, UntilLoss,
};
use crate::target::{MAX_WINDOW, Target};
use crate::verdict::JudgeOptions;
use std::time::Duration;
use units::{Instant, Rate};

/// Share of the target rate at which the background test sends.
pub const BACKGROUND_SHARE: f64 = 0.1;
/// The path is idle for so many times as long as a burst test's burst stands for.
const RESTS: u32 = 3;
/// A scan stops when the standing queue is so many target round trips long: beyond twice, the bufferbloat test has failed.
const SCAN_ROUND_TRIPS: f64 = 2.5;
/// Mean delay of a window that is a standing queue, in target round trips: as much as the duplex test allows beyond what a queue explains.
pub(super) const STANDING_ROUND_TRIPS: f64 = 0.25;
/// Where a queue stands at the end of a scan, its end is looked for up to so many times that window: enough for the queue of 2.5 target round trips
/// at whatever a path of the target's round trip can have that shows a queue at all (3.5 times the target's rate).
const FURTHER: u32 = 4;
/// But not beyond this, for the state of each packet is kept.
const FURTHEST: u32 = 1 << 17;
/// Packets of a slow-start round, in windows that the path can hold at most.
const ROUND_WINDOWS: u64 = 4;

/// Bursts over which a rate is measured: of the last one a part may be missing.
const RATE_BURSTS: u32 = 16;
/// Packets over which a rate is measured, so that a loss or two are no lower rate.
const RATE_PACKETS: f64 = 100.0;
/// Time to reach the preconditions, at least.
const LEAST_GROWTH: Duration = Duration::from_secs(5);

/// What is known when a test is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The target.
    pub target: &'a Target,
    /// Round trip of the path under test, when it is idle.
    pub path_rtt: Duration,
    /// Rate of the sender's interface, where known.
    pub line: Option<Rate>,
    /// IP capacity of the bottleneck, where known and above the least that carries the target.
    pub bottleneck: Option<Rate>,
    /// How fast a scanned window grows.
    pub growth: Growth,
    /// Window at which a scan stops; `None` chooses by the target.
    pub max_window: Option<u32>,
    /// Bursts of the sender-rate test as a share of the target window: 1, or up to 2 for the peak of Reno's sawtooth.
    pub burst_share: f64,
    /// Rounds of the slow-start AQM test.
    pub rounds: u32,
    /// Whether bursts at slow-start rate proved slower than twice the bottleneck. Then slow-start bursts leave at the rate of the interface, as RFC 8337
    /// section 3 has it where the bottleneck has more than half of that: too fast is acceptable, too slow is not (section 8.3.1).
    pub at_line_rate: bool,
}

impl<'a> Setup<'a> {
    /// For `target` on a path with round trip `path_rtt`; all else as usual.
    pub const fn new(target: &'a Target, path_rtt: Duration) -> Self {
        Self {
            target,
            path_rtt,
            line: None,
            bottleneck: None,
            growth: Growth::Reno,
            max_window: None,
            burst_share: 1.0,
            rounds: 5,
            at_line_rate: false,
        }
    }

    /// The stream of `test` from `start` on; `None` for the passive test, which sends nothing.
    pub fn stream(&self, test: Test, start: Instant) -> Option<Box<dyn Stream>> {
        if let Some(pattern) = self.pattern(test) {
            return Some(if test == Test::SlowStartAqm {
                let schedule = Schedule::new(pattern, start);
                let most = u64::from(self.scan().to) * ROUND_WINDOWS;
                Box::new(UntilLoss::new(schedule, self.rounds, most))
            } else {
                Box::new(Schedule::new(pattern, start))
            });
        }
        match test {
            Test::WindowedFullRate => {
                let window = self.target.test_window(self.path_rtt);
                Some(Box::new(ConstantWindow::new(window, self.path_rtt, start)))
            }
            Test::Passive => None,
            _ => Some(Box::new(Scan::new(self.scan(), start))),
        }
    }

    /// The pattern of an open-loop test; `None` for the others.
    pub fn pattern(&self, test: Test) -> Option<Pattern> {
        let target = self.target;
        match test {
            Test::PacedFullRate => Some(Pattern::paced(target, target.rate(), 1)),
            Test::Background => Some(Pattern::paced(target, background(target.rate()), 1)),
            Test::FullWindowSlowStart if self.at_line_rate => {
                Some(Pattern::sender_rate_bursts(target, 1.0, 1))
            }
            Test::FullWindowSlowStart => Some(Pattern::slow_start_bursts(
                target,
                self.bottleneck,
                self.line,
            )),
            Test::SlowStartAqm => {
                Some(Pattern::slow_start_rate(target, self.bottleneck, self.line))
            }
            Test::SenderRateBurst => Some(Pattern::sender_rate_bursts(
                target,
                self.burst_share * target.burst_derating(),
                RESTS,
            )),
            Test::SustainedBurst => Some(Pattern::sustained_bursts(target)),
            _ => None,
        }
    }

    /// The scan of the standing-queue tests: from half of the test window to beyond a standing queue of twice the target round trip.
    pub fn scan(&self) -> ScanOptions {
        let target = self.target;
        let from = target.test_window(self.path_rtt).div_ceil(2).max(2);
        let limit = target.rtt().mul_f64(SCAN_ROUND_TRIPS);
        let longest = target.test_window(self.path_rtt.saturating_add(limit));
        let to = self.max_window.unwrap_or(longest).clamp(from, MAX_WINDOW);
        let furthest = to.saturating_mul(FURTHER).min(FURTHEST);
        ScanOptions {
            from,
            to,
            furthest: self.max_window.unwrap_or(furthest).max(to),
            standing: target.rtt().mul_f64(STANDING_ROUND_TRIPS),
            growth: self.growth,
            path_rtt: self.path_rtt,
            delay_limit: limit,
        }
    }

    /// How to judge `test` by its losses, within `time_limit` in all.
    pub fn judge(&self, test: Test, ruling: Ruling, time_limit: Duration) -> JudgeOptions {
        let pattern = self.pattern(test);
        let target = self.target;
        let headway = pattern.map_or(self.path_rtt, |p| p.headway());
        let packets_per_s = pattern.map_or_else(|| target.packets_per_s(), |p| p.packets_per_s());
        let many =
            Duration::try_from_secs_f64(RATE_PACKETS / packets_per_s).unwrap_or(Duration::MAX);
        let rate_window = headway.saturating_mul(RATE_BURSTS).max(many);
        let growth = rate_window.saturating_mul(3).max(LEAST_GROWTH);
        JudgeOptions {
            ruling,
            packets_per_s,
            is_self_clocked: test.is_self_clocked(),
            by_tcp: false,
            needs_stretch: test == Test::FullWindowSlowStart && !self.at_line_rate,
            rate_window,
            growth_limit: growth.saturating_add(self.path_rtt.saturating_mul(4)),
            time_limit,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a tenth of a rate"
)]
fn background(rate: Rate) -> Rate {
    Rate::from_bps((rate.as_bps() as f64 * BACKGROUND_SHARE) as u64).unwrap_or(rate)
}
