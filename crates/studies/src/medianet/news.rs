//! What the threads of a run tell the one that collects.

use super::frames::Frame;
use super::local::Report;
use manager::service;
use std::sync::mpsc::{self, Receiver, SyncSender};
use units::Instant;

/// News that may wait: some ten seconds of them.
const MOST: usize = 4_096;

/// What has happened.
#[derive(Debug)]
pub enum News {
    /// A frame is due.
    Due(Frame),
    /// The local scheduler had no room for it.
    Dropped(Frame, Instant),
    /// It has arrived, and can be decoded or not.
    Arrived(Frame, bool, Instant),
    /// An interval of the local scheduler has ended.
    Report(Report),
    /// An estimation has come to its end.
    Answer(Answer),
    /// An end of the connection, or the estimator, can go on no longer.
    Broken(String),
}

/// What came of an estimation.
#[derive(Debug)]
pub struct Answer {
    pub began: Instant,
    pub ended: Instant,
    /// What was found; none when it was given up.
    pub estimate: Option<Found>,
}

/// What an estimation found that came to its end.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Whether it can be believed; if not, why.
    pub conclusive: bool,
    /// See `conclusive`.
    pub reason: Option<String>,
    /// In Mbit/s, corrected for what rode.
    pub value: Option<f64>,
    /// At least, and at most.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// Before that correction.
    pub uncorrected: Option<f64>,
    /// Octets that probing put on the path, riders apart, and those of the riders.
    pub overhead: u64,
    /// See `overhead`.
    pub ridden: u64,
}

impl From<service::Answer> for Found {
    fn from(answer: service::Answer) -> Self {
        Self {
            conclusive: answer.conclusive,
            reason: answer.reason,
            value: answer.value,
            low: answer.low,
            high: answer.high,
            uncorrected: answer.uncorrected.and_then(|of| of.value),
            overhead: answer.quality.overhead_bytes,
            ridden: answer.quality.rider_bytes,
        }
    }
}

/// The telling end.
#[derive(Clone)]
pub struct Teller(SyncSender<News>);

impl Teller {
    /// Tells; whoever has stopped listening misses nothing.
    pub fn tell(&self, news: News) {
        let _ = self.0.send(news);
    }
}

/// Both ends.
pub(super) fn channel() -> (Teller, Receiver<News>) {
    let (tell, news) = mpsc::sync_channel(MOST);
    (Teller(tell), news)
}
