//! What the service is told, and what it says.

use super::{Cost, Path, Side};
use std::time::Duration;
use units::Instant;

/// How much is taken on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Queries at once, of all clients.
    pub queries: usize,
    /// Of each.
    pub of_client: usize,
    /// Measurements at once, on different paths.
    pub measurements: usize,
}

/// A figure of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// The best guess.
    pub value: Option<f64>,
    /// The truth is at least this.
    pub low: Option<f64>,
    /// And at most this.
    pub high: Option<f64>,
    /// Whether it can be believed.
    pub conclusive: bool,
}

impl Figure {
    /// Half of the interval as a share of the figure, in percent; none where one of the two is missing.
    pub fn interval_pct(&self) -> Option<f64> {
        let half = (self.high? - self.low?) / 2.0;
        let share = 100.0 * half / self.value?.abs();
        share.is_finite().then_some(share)
    }
}

/// What came of a measurement; of what else belongs to it (`T`) nothing need be known here.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate<T> {
    /// The figure.
    pub figure: Figure,
    /// Octets of probes that it took.
    pub octets: u64,
    /// How long it took.
    pub took: Duration,
    /// See above.
    pub more: T,
}

/// An estimate that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<T> {
    /// Of which path.
    pub path: Path,
    /// The estimate.
    pub estimate: Estimate<T>,
    /// The number of the offer that it is by.
    pub offer: usize,
    /// When it was over: its age counts from then.
    pub ended: Instant,
}

/// Why a measurement came to nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// The path's budget of so many octets a second is spent.
    Budget(u64),
    /// It would have taken more octets than its query allowed.
    Overhead,
    /// Something else, in words.
    Other(String),
}

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Nobody finds that.
    What,
    /// No estimator is good enough, fast enough and cheap enough; the best of them, and what it would take.
    Quality(Option<(&'static str, Cost)>),
    /// So many queries are open, and no more are taken.
    Queries(usize),
    /// The measurement came to nothing.
    Failed(Failure),
    /// There was no answer in time.
    Timeout,
}

/// What a client is told.
#[derive(Clone, Debug, PartialEq)]
pub enum News<T> {
    /// An estimate; `is_shared` when it was made for somebody else.
    Estimate {
        /// What is known.
        known: Known<T>,
        /// See above.
        is_shared: bool,
    },
    /// One by which the figure is on this side of its bounds now.
    Crossed {
        /// What is known.
        known: Known<T>,
        /// See above.
        is_shared: bool,
        /// Where it is now.
        side: Side,
        /// The bound on that side.
        bound: f64,
    },
    /// There is none. A query for one answer is over.
    Refused(Refusal),
}

/// What the caller is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<T> {
    /// Measure.
    Start {
        /// Which path.
        path: Path,
        /// By the offer with this number.
        offer: usize,
        /// With no more octets than this.
        most_octets: Option<u64>,
    },
    /// Nobody wants to know any more: stop, and say so by [`Service::handle_failure`](super::Service::handle_failure).
    Stop {
        /// Which path.
        path: Path,
    },
    /// Tell the client of this query.
    Tell {
        /// Its number.
        query: u64,
        /// What.
        news: News<T>,
    },
}

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Queries that were taken.
    pub queries: u64,
    /// Queries that were refused, at once or later.
    pub refused: u64,
    /// Measurements that were begun.
    pub measurements: u64,
    /// Answers that cost nothing: from what was kept or under way.
    pub shared: u64,
}
