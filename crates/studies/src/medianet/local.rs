//! The local scheduler: frames of several streams into one connection, and what it reports of that.
//!
//! Frames wait in a buffer until TCP takes them. When they are too many the least important go: B frames before P frames
//! before I frames, of a kind the latest. Each interval it says what it wanted to send, what it sent and what
//! it had to drop (T, 6.1): without a drop what it sent is a lower bound of what the path has for it, with one an upper bound.

use super::frames::Frame;
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// Octets that may wait: what three whole streams bring in a second.
pub const BUFFER: u64 = 435_000;

/// What happened in an interval.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Report {
    /// Its end.
    pub at: Instant,
    /// How long it was.
    pub lasted: Duration,
    /// Octets of the frames that became due.
    pub wanted: u64,
    /// Octets that TCP took.
    pub sent: u64,
    /// Octets that wait at its end.
    pub waiting: u64,
    /// Frames that were dropped, by kind.
    pub dropped: [u64; 3],
}

impl Report {
    /// Bits a second that TCP took.
    pub fn sent_bps(&self) -> f64 {
        self.rate(self.sent)
    }

    /// Bits a second that became due.
    pub fn wanted_bps(&self) -> f64 {
        self.rate(self.wanted)
    }

    /// Whether frames were dropped.
    pub fn has_failed(&self) -> bool {
        self.dropped.iter().any(|count| *count > 0)
    }

    fn rate(&self, octets: u64) -> f64 {
        octets as f64 * 8.0 / self.lasted.as_secs_f64().max(1e-9)
    }
}

/// The buffer, and the counters of the interval.
#[derive(Debug)]
pub struct LocalScheduler {
    waiting: VecDeque<Frame>,
    /// Octets in it.
    octets: u64,
    since: Instant,
    wanted: u64,
    sent: u64,
    dropped: [u64; 3],
}

impl LocalScheduler {
    /// One with nothing to send, whose first interval begins at `now`.
    pub const fn new(now: Instant) -> Self {
        Self {
            waiting: VecDeque::new(),
            octets: 0,
            since: now,
            wanted: 0,
            sent: 0,
            dropped: [0; 3],
        }
    }

    /// Takes a frame that is due; returns those that there is no room for, this one perhaps among them.
    pub fn handle_frame(&mut self, frame: Frame) -> Vec<Frame> {
        self.wanted += u64::from(frame.kind.octets());
        self.octets += u64::from(frame.kind.octets());
        self.waiting.push_back(frame);
        let mut dropped = Vec::new();
        while self.octets > BUFFER {
            let Some(frame) = self.least() else { break };
            self.octets -= u64::from(frame.kind.octets());
            self.dropped[frame.kind as usize] += 1;
            dropped.push(frame);
        }
        dropped
    }

    /// Removes the latest frame of the least important kind.
    fn least(&mut self) -> Option<Frame> {
        let frames = self.waiting.iter().enumerate();
        let (place, _) = frames.max_by_key(|(place, frame)| (frame.kind, *place))?;
        self.waiting.remove(place)
    }

    /// The next frame to send. From now on it can no longer be dropped.
    pub fn poll_frame(&mut self) -> Option<Frame> {
        let frame = self.waiting.pop_front()?;
        self.octets -= u64::from(frame.kind.octets());
        Some(frame)
    }

    /// TCP has taken so many octets.
    pub const fn handle_sent(&mut self, octets: u64) {
        self.sent += octets;
    }

    /// Frames that wait.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Ends the interval at `now`.
    pub fn report(&mut self, now: Instant) -> Report {
        let report = Report {
            at: now,
            lasted: now.since(self.since),
            wanted: std::mem::take(&mut self.wanted),
            sent: std::mem::take(&mut self.sent),
            waiting: self.octets,
            dropped: std::mem::take(&mut self.dropped),
        };
        self.since = now;
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medianet::frames::{Kind, kind_at};

    fn frame(kind: Kind, number: u64) -> Frame {
        Frame {
            stream: 0,
            kind,
            number,
            due: Instant::ZERO,
        }
    }

    #[test]
    fn frames_go_in_the_order_in_which_they_came() {
        let mut local = LocalScheduler::new(Instant::ZERO);
        for number in 0..15 {
            assert!(
                local
                    .handle_frame(frame(kind_at(number), number))
                    .is_empty()
            );
        }
        let sent = std::iter::from_fn(|| local.poll_frame()).map(|frame| frame.number);
        assert!(sent.eq(0..15));
    }

    /// Holds manager/local-scheduler.
    #[test]
    fn the_least_important_go_first_and_of_them_the_latest() {
        let mut local = LocalScheduler::new(Instant::ZERO);
        // 28 I, 4 P and 9 B frames leave no room for another B frame.
        let kinds = [(Kind::I, 28), (Kind::P, 4), (Kind::B, 9)];
        let kinds = kinds
            .into_iter()
            .flat_map(|(kind, count)| std::iter::repeat_n(kind, count));
        let mut number = 0;
        for kind in kinds {
            assert!(local.handle_frame(frame(kind, number)).is_empty());
            number += 1;
        }
        let dropped = local.handle_frame(frame(Kind::B, number));
        assert_eq!(dropped, [frame(Kind::B, number)]);
        let dropped = local.handle_frame(frame(Kind::I, number));
        assert_eq!(dropped.len(), 5);
        assert!(dropped.iter().all(|frame| frame.kind == Kind::B));
        assert_eq!(dropped[0].number, number - 1);
        let dropped = local.handle_frame(frame(Kind::I, number));
        let kinds: Vec<_> = dropped.iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [Kind::B, Kind::B, Kind::B, Kind::B, Kind::P]);
    }

    /// Holds manager/local-scheduler.
    #[test]
    fn a_report_is_of_its_interval() {
        let mut local = LocalScheduler::new(Instant::ZERO);
        local.handle_frame(frame(Kind::I, 0));
        local.handle_frame(frame(Kind::P, 1));
        local.poll_frame();
        local.handle_sent(13_500);
        let report = local.report(Instant::from_millis(2_000));
        assert_eq!((report.wanted, report.sent), (21_125, 13_500));
        assert_eq!(report.waiting, 7_625);
        assert!((report.sent_bps() - 54_000.0).abs() < 1e-6 && !report.has_failed());
        let next = local.report(Instant::from_millis(3_000));
        assert_eq!((next.wanted, next.sent, next.waiting), (0, 0, 7_625));
        assert_eq!(next.lasted, Duration::from_secs(1));
    }
}
