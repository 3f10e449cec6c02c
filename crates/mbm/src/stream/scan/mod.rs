//! Scanned window: from too small to too large, to see the queue begin and overflow (RFC 8337 section 6.3).
//!
//! The window grows by one packet at a time, as slowly as Reno's with delayed acknowledgements: one packet for two windows that were
//! delivered. While the path has room, the rate grows and the round trip stays; from the *onset of queueing* on the rate
//! stays and the round trip grows; in the end the queue is full, and something is lost or marked. A round trip after that the scan is over.
//! Without a loss it ends at a window far beyond the target's; where a queue stands by then, it goes on to find that queue's end.
//!
//! Each packet is accounted to the window by which it *left*, for its queue is that window's doing.

mod options;
mod report;

pub use options::{Growth, ScanOptions};
use report::Tally;
pub use report::{FirstMark, ScanReport, Step};

use super::constant::Clock;
use super::flight::News;
use super::{Ack, Burst, Shape, Stream};
use std::time::Duration;
use units::Instant;

/// Steps that are told apart, at most; a longer scan has several windows in a step.
pub const MAX_STEPS: u32 = 1_024;

/// Grows a window until something is lost.
#[derive(Clone, Debug)]
pub struct Scan {
    options: ScanOptions,
    clock: Clock,
    /// Packets delivered since the window grew.
    delivered: u64,
    /// Windows in a step.
    per_step: u32,
    steps: Vec<Tally>,
    rtt_min: Option<Duration>,
    rtt_max: Duration,
    rtt_last: Duration,
    first_mark: Option<FirstMark>,
    is_done: bool,
}

impl Scan {
    /// A scan by `options` from `start` on.
    pub fn new(options: ScanOptions, start: Instant) -> Self {
        let from = options.from.max(1);
        let furthest = options.furthest.max(options.to);
        let windows = furthest.saturating_sub(from).saturating_add(1);
        Self {
            clock: Clock::new(from, options.path_rtt, start),
            delivered: 0,
            per_step: windows.div_ceil(MAX_STEPS).max(1),
            steps: Vec::new(),
            rtt_min: None,
            rtt_max: Duration::ZERO,
            rtt_last: Duration::ZERO,
            first_mark: None,
            is_done: false,
            options: ScanOptions { from, ..options },
        }
    }

    /// The step of `window`, which is at most the present one.
    fn step(&mut self, window: u32, seq: u64) -> Option<&mut Tally> {
        let index = (window.saturating_sub(self.options.from) / self.per_step) as usize;
        while self.steps.len() <= index {
            let next = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
            let step = Step {
                window: self
                    .options
                    .from
                    .saturating_add(next.saturating_mul(self.per_step)),
                first_seq: seq,
                ..Step::default()
            };
            self.steps.push(Tally::new(step));
        }
        self.steps.get_mut(index)
    }

    fn arrived(&mut self, news: News, ce: bool, now: Instant) {
        let rtt = news.rtt.unwrap_or_default();
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        self.rtt_max = self.rtt_max.max(rtt);
        self.rtt_last = rtt;
        if let Some(tally) = self.step(news.window, news.seq) {
            tally.deliver(rtt, ce, now);
        }
        if ce {
            self.mark(news, Some(rtt));
        }
        self.delivered += 1;
        self.grow();
    }

    /// The window grows, unless the queue has shown its end.
    fn grow(&mut self) {
        let window = u64::from(self.clock.window());
        let needed = match self.options.growth {
            Growth::Reno => 2 * window,
            Growth::Every { packets } => u64::from(packets.max(1)),
        };
        if self.delivered < needed || self.first_mark.is_some() {
            return;
        }
        self.delivered = 0;
        let queue = self
            .rtt_last
            .saturating_sub(self.rtt_min.unwrap_or_default());
        if self.is_far_enough() || queue > self.options.delay_limit {
            self.is_done = true;
        } else {
            self.clock.widen();
        }
    }

    /// Whether the window need not grow: no queue stands at which to wait for a loss.
    fn is_far_enough(&self) -> bool {
        let ScanOptions {
            to,
            furthest,
            standing,
            ..
        } = self.options;
        let window = self.clock.window();
        let least_ms = self.rtt_min.unwrap_or_default().as_secs_f64() * 1e3;
        let queue_ms = self.steps.last().map_or(0.0, |last| last.step.rtt_ms) - least_ms;
        window >= furthest.max(to) || window >= to && queue_ms <= standing.as_secs_f64() * 1e3
    }

    fn mark(&mut self, news: News, rtt_before: Option<Duration>) {
        let least = self.rtt_min.unwrap_or_default();
        let queue = rtt_before.map_or(Duration::ZERO, |rtt| rtt.saturating_sub(least));
        let first = self.first_mark.get_or_insert_with(|| FirstMark {
            seq: news.seq,
            window: news.window,
            queue_ns: u64::try_from(queue.as_nanos()).unwrap_or(u64::MAX),
            round_marks: 0,
        });
        let round = first.seq..first.seq.saturating_add(u64::from(first.window));
        first.round_marks += u64::from(round.contains(&news.seq));
    }

    fn give_up(&mut self, now: Instant) {
        while let Some(news) = self.clock.lost(now) {
            if let Some(tally) = self.step(news.window, news.seq) {
                tally.step.lost += 1;
            }
            self.mark(news, news.rtt_before);
        }
    }

    /// A window after the first mark nothing more leaves, and what is under way is waited for.
    fn is_closing(&self) -> bool {
        let end = |first: FirstMark| first.seq + u64::from(first.window);
        self.is_done
            || self
                .first_mark
                .is_some_and(|first| self.clock.next_seq() >= end(first))
    }
}

impl Stream for Scan {
    fn poll(&mut self, now: Instant) -> Option<Burst> {
        self.give_up(now);
        if self.is_closing() {
            self.is_done |= self.clock.is_empty();
            return None;
        }
        let (window, seq) = (self.clock.window(), self.clock.next_seq());
        let burst = self.clock.poll(now)?;
        self.step(window, seq);
        Some(burst)
    }

    fn next_due(&self) -> Option<Instant> {
        if self.is_done {
            None
        } else {
            self.clock.next_due()
        }
    }

    fn handle_ack(&mut self, ack: Ack, now: Instant) {
        if let Some(news) = self.clock.acked(ack.seq, now) {
            self.arrived(news, ack.ce, now);
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn shape(&self) -> Shape {
        Shape {
            burst_packets: 1,
            headway: None,
        }
    }

    fn scan(&self) -> Option<ScanReport> {
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Some(ScanReport {
            steps: self.steps.iter().map(|tally| tally.step).collect(),
            rtt_min_ns: self.rtt_min.map(ns),
            first_mark: self.first_mark,
            queue_max_ns: ns(self
                .rtt_max
                .saturating_sub(self.rtt_min.unwrap_or(self.rtt_max))),
            sent: self.clock.next_seq(),
            to: self.options.to,
            is_done: self.is_done,
        })
    }
}
