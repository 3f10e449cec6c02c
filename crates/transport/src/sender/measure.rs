//! What an acknowledgement measures: a round trip.

use super::progress::{Departures, Progress};
use super::{Event, Sender};
use crate::controller::Growing;
use std::time::Duration;
use units::Instant;

impl Sender {
    /// Round trips: of segments that were sent once by the sender's own clock, which is what RFC 7323 section 4 measures too;
    /// of others by the echo. Without time stamps one a window, never of what was sent twice (RFC 6298 section 3).
    pub(super) fn measure(&mut self, progress: &mut Progress) {
        let since = |sent: Option<Instant>| sent.map(|sent| progress.now.since(sent));
        let ordered = if progress.resent {
            Departures::default()
        } else {
            progress.ordered
        };
        let by_echo = if progress.advanced {
            since(progress.echo)
        } else {
            None
        };
        let sample = if self.options.timestamps {
            since(ordered.first)
                .or_else(|| since(progress.selected.first))
                .or(by_echo)
        } else if self
            .repair
            .timed
            .is_some_and(|timed| self.board.una() > timed)
        {
            self.repair.timed = None;
            since(ordered.first)
        } else {
            None
        };
        let latest = since(progress.selected.last)
            .or_else(|| since(ordered.last))
            .or(sample);
        // SACK restarts the timer only when it tells of what left before the head's latest copy: else a head that is lost
        // again would never time out.
        if let (Some(head), Some(first)) = (self.board.head(), progress.selected.first) {
            progress.rearm |= sample.is_some() && first < head.sent;
        }
        if let (Some(sample), Some(latest)) = (sample, latest) {
            self.learn_round_trip(sample, latest, progress);
        }
    }

    fn learn_round_trip(&mut self, sample: Duration, latest: Duration, progress: &Progress) {
        let (una, next) = (self.board.una(), self.board.next());
        self.round_trips.sample_min(latest, progress.now);
        self.round_trips.sample(&self.options, sample, una, next);
        self.events.push(Event::RoundTrip(latest));
        let growing = self.growing(progress);
        self.controller.measured(&mut self.window, latest, &growing);
    }

    pub(super) fn growing(&self, progress: &Progress) -> Growing {
        Growing {
            acked: progress.delivered,
            una: self.board.una(),
            next: self.board.next(),
            now: progress.now,
        }
    }
}
