//! The global scheduler: what it believes the path has for its streams, and which frames it lets them send.
//!
//! Its *view* is one figure, the bits of frames a second that the path takes (T, 6.1 and 6.3.2.1):
//!
//! - it begins with what all streams want, since nothing is known;
//! - a report without drops is a lower bound: the view is at least what was sent, as far as it became due in that time. (A backlog
//!   that drains says that the path has more for a moment, not what it sustains.) So reports alone never say that there is room for
//!   a higher level;
//! - a report with drops is an upper bound: the view is at most what was sent;
//! - it creeps up at a configured rate, so that what was lost is tried again one day;
//! - an estimate of the available bandwidth sets it.
//!
//! An estimator measures what is left *beside* the streams' own packets, for they are cross traffic to it. (Those that ride in its
//! probes are not; its correction subtracts those that would have competed, so it means the same with riders.) What the path has *for* the
//! streams is therefore the estimate and what they sent themselves while it was made. The estimate counts whole IP packets, the view
//! frames alone: of the estimate only the share of payload counts.
//!
//! Within the view each stream gets as much as it can without another having less: the least level is as high as can be, then the
//! next one, and so on; of two streams the first is preferred. The thesis speaks of maximising *each* user's utility, and this
//! rule gives what it shows (high, medium, medium; medium, low, low; three times medium). The greatest *sum* of its utilities
//! would not: high, high, low is worth 2.3 and costs less than high, medium, medium, which is worth 2.0.

use super::frames::Level;
use super::local::Report;
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// Streams of a run.
pub const STREAMS: usize = 3;
/// Reports that are kept to know what was sent during an estimate: more than four minutes of them.
const MOST_REPORTS: usize = 128;

/// The level of each stream.
pub type Configuration = [Level; STREAMS];

/// What a scheduler is told beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// By how much the view creeps up, in bits a second each second.
    pub creep: f64,
    /// Of an IP packet that carries frames, the part that is frames.
    pub payload_share: f64,
}

/// What an estimator said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// When it began.
    pub began: Instant,
    /// What is left beside the streams, in bits of IP packets a second.
    pub beside_bps: f64,
}

/// What the scheduler believes, and what follows from it.
#[derive(Clone, Debug)]
pub struct GlobalScheduler {
    options: Options,
    view: f64,
    reports: VecDeque<Report>,
    ticked: Instant,
    configuration: Configuration,
    /// That of the last poll.
    told: Configuration,
}

/// Bits of frames a second that a configuration needs.
pub fn rate(configuration: Configuration) -> f64 {
    let octets: u64 = configuration.iter().map(|level| level.octets_per_s()).sum();
    octets as f64 * 8.0
}

/// The configuration that suits a view; the least one when nothing fits.
pub fn choose(view: f64) -> Configuration {
    let all = Level::ALL
        .into_iter()
        .flat_map(|a| Level::ALL.map(|b| (a, b)))
        .flat_map(|(a, b)| Level::ALL.map(|c| [a, b, c]));
    let fitting = all.filter(|configuration| rate(*configuration) <= view);
    let best = fitting.max_by_key(|configuration| {
        let mut ascending = *configuration;
        ascending.sort_unstable();
        (ascending, *configuration)
    });
    best.unwrap_or([Level::Low; STREAMS])
}

impl GlobalScheduler {
    /// One that believes everything can be sent, from `now` on.
    pub fn new(options: Options, now: Instant) -> Self {
        let configuration = [Level::High; STREAMS];
        Self {
            options,
            view: rate(configuration),
            reports: VecDeque::new(),
            ticked: now,
            configuration,
            told: configuration,
        }
    }

    /// Bits of frames a second that it believes the path takes.
    pub const fn view_bps(&self) -> f64 {
        self.view
    }

    /// What it has chosen.
    pub const fn configuration(&self) -> Configuration {
        self.configuration
    }

    /// A local scheduler says what it could send, or could not.
    pub fn handle_report(&mut self, report: Report) {
        let sent = report.sent_bps();
        self.view = if report.has_failed() {
            self.view.min(sent)
        } else {
            self.view.max(sent.min(report.wanted_bps()))
        };
        if self.reports.len() == MOST_REPORTS {
            self.reports.pop_front();
        }
        self.reports.push_back(report);
        self.reconfigure();
    }

    /// An estimator says what is left beside the streams.
    pub fn handle_estimate(&mut self, estimate: &Estimate) {
        let beside = estimate.beside_bps.max(0.0) * self.options.payload_share;
        self.view = self.own_bps(estimate.began) + beside;
        self.reconfigure();
    }

    /// Time has passed.
    pub fn handle_time(&mut self, now: Instant) {
        let elapsed: Duration = now.since(self.ticked);
        self.ticked = now;
        self.view += self.options.creep * elapsed.as_secs_f64();
        self.reconfigure();
    }

    /// The configuration, if it is another than at the last call.
    pub fn poll_configuration(&mut self) -> Option<Configuration> {
        let is_new = self.configuration != self.told;
        self.told = self.configuration;
        is_new.then_some(self.configuration)
    }

    /// What the streams sent on average in the reported intervals that ended after `began`; without any, in the latest.
    pub fn own_bps(&self, began: Instant) -> f64 {
        let mean = |reports: &mut dyn Iterator<Item = &Report>| {
            let (mut octets, mut seconds) = (0, 0.0);
            for report in reports {
                octets += report.sent;
                seconds += report.lasted.as_secs_f64();
            }
            (seconds > 0.0).then(|| octets as f64 * 8.0 / seconds)
        };
        let since = mean(&mut self.reports.iter().filter(|report| report.at > began));
        let latest = || mean(&mut self.reports.back().into_iter());
        since.or_else(latest).unwrap_or_default()
    }

    fn reconfigure(&mut self) {
        self.configuration = choose(self.view);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Level::{High as H, Low as L, Medium as M};

    const PLAIN: Options = Options {
        creep: 0.0,
        payload_share: 1.0,
    };

    fn report(s: u64, sent_mbps: f64, dropped: u64) -> Report {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a figure of a test"
        )]
        let sent = (sent_mbps * 1e6 / 8.0 * 2.0) as u64;
        Report {
            at: Instant::from_millis(s * 1_000),
            lasted: Duration::from_secs(2),
            wanted: sent,
            sent,
            waiting: 0,
            dropped: [0, 0, dropped],
        }
    }

    fn is(scheduler: &GlobalScheduler, mbps: f64) -> bool {
        (scheduler.view_bps() / 1e6 - mbps).abs() < 1e-3
    }

    /// Holds manager/global-scheduler.
    #[test]
    fn a_view_gives_the_configurations_of_the_thesis() {
        assert_eq!(choose(9e6), [H, H, H]);
        assert_eq!(choose(3.48e6), [H, H, H]);
        assert_eq!(choose(3.47e6), [H, H, M]);
        assert_eq!(choose(2.9e6), [H, M, M]);
        assert_eq!(choose(2.4e6), [M, M, M]);
        // The sum of utilities would be greater with high, low, low.
        assert_eq!(choose(2.0e6), [M, M, L]);
        assert_eq!(choose(1.5e6), [M, L, L]);
        assert_eq!(choose(0.7e6), [L, L, L]);
        assert_eq!(choose(0.0), [L, L, L]);
    }

    /// Holds manager/view.
    #[test]
    fn failures_push_the_view_down_and_successes_up() {
        let mut scheduler = GlobalScheduler::new(PLAIN, Instant::ZERO);
        assert!(is(&scheduler, 3.48) && scheduler.poll_configuration().is_none());
        scheduler.handle_report(report(2, 1.0, 0));
        assert!(is(&scheduler, 3.48), "what was not wanted says nothing");
        scheduler.handle_report(report(4, 1.9, 7));
        assert!(is(&scheduler, 1.9));
        assert_eq!(scheduler.poll_configuration(), Some([M, M, L]));
        assert_eq!(scheduler.poll_configuration(), None);
        scheduler.handle_report(report(6, 2.2, 0));
        assert!(is(&scheduler, 2.2));
        assert_eq!(scheduler.poll_configuration(), Some([M, M, M]));
        scheduler.handle_report(report(8, 2.6, 1));
        assert!(is(&scheduler, 2.2), "more was sent than was believed");
        let backlog = Report {
            wanted: 0,
            ..report(10, 3.0, 0)
        };
        scheduler.handle_report(backlog);
        assert!(is(&scheduler, 2.2), "a backlog drained");
    }

    /// Holds manager/view.
    #[test]
    fn without_creep_and_estimates_what_was_lost_does_not_come_back() {
        let mut scheduler = GlobalScheduler::new(PLAIN, Instant::ZERO);
        scheduler.handle_report(report(2, 1.2, 9));
        for second in 3..300 {
            scheduler.handle_report(report(second, 1.136, 0));
            scheduler.handle_time(Instant::from_millis(second * 1_000));
        }
        assert_eq!(scheduler.configuration(), [M, L, L]);
        let creep = Options {
            creep: 1e4,
            ..PLAIN
        };
        let mut scheduler = GlobalScheduler::new(creep, Instant::ZERO);
        scheduler.handle_report(report(2, 1.2, 9));
        scheduler.handle_time(Instant::from_millis(100_000));
        assert!(is(&scheduler, 2.2));
    }

    /// Holds manager/view.
    #[test]
    fn an_estimate_is_beside_what_was_sent_while_it_was_made() {
        let options = Options {
            payload_share: 0.5,
            ..PLAIN
        };
        let mut scheduler = GlobalScheduler::new(options, Instant::ZERO);
        let estimate = Estimate {
            began: Instant::from_millis(10_000),
            beside_bps: 2e6,
        };
        scheduler.handle_estimate(&estimate);
        assert!(is(&scheduler, 1.0), "nothing was reported");
        scheduler.handle_report(report(9, 3.0, 0));
        scheduler.handle_report(report(12, 1.0, 0));
        scheduler.handle_report(report(14, 1.4, 0));
        scheduler.handle_estimate(&estimate);
        assert!(is(&scheduler, 2.2));
        let late = Estimate {
            began: Instant::from_millis(20_000),
            ..estimate
        };
        scheduler.handle_estimate(&late);
        assert!(is(&scheduler, 2.4), "the latest report stands for now");
    }
}
