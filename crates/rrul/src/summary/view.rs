//! The tables of a run with what the plan says about their streams and times.

use super::super::Plan;
use super::super::plan::Direction;
use super::super::tables::Tables;
use record::Distribution;
use schema::tables::{Sample, Series, Stream};
use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

/// A run as its summary sees it.
pub(super) struct View<'a> {
    pub(super) plan: &'a Plan,
    pub(super) tables: &'a Tables,
    pub(super) streams: HashMap<u16, &'a Stream>,
    /// Nothing but probes.
    pub(super) idle: Range<u64>,
    /// Pages over the idle path.
    pub(super) web_idle: Range<u64>,
    /// Every load stream runs and has settled, and no burst allowance is left.
    pub(super) loaded: Range<u64>,
    /// Left out of the loaded time: a burst allowance.
    pub(super) discarded: Option<Range<u64>>,
}

impl<'a> View<'a> {
    pub(super) fn new(plan: &'a Plan, tables: &'a Tables) -> Self {
        let (start, end) = plan.loaded();
        // A run that was cut short was loaded only as long as it lasted.
        let times = tables.series.iter().map(|row| row.t_ns);
        let last = times.max().unwrap_or_default();
        let loaded_until = nanos(end).min(last).max(nanos(start));
        let mut view = Self {
            plan,
            tables,
            streams: tables
                .streams
                .iter()
                .map(|stream| (stream.id, stream))
                .collect(),
            idle: range(plan.idle()),
            web_idle: range(plan.web_idle()),
            loaded: nanos(start)..loaded_until,
            discarded: None,
        };
        view.discard_boost();
        view
    }

    /// Length of the loaded time.
    pub(super) fn seconds(&self) -> f64 {
        (self.loaded.end - self.loaded.start) as f64 / 1e9
    }

    /// The samples of the streams that are `wanted`.
    pub(super) fn samples(
        &self,
        wanted: &dyn Fn(&Stream) -> bool,
    ) -> impl Iterator<Item = &'a Sample> {
        let is_wanted = |id| self.streams.get(&id).is_some_and(|stream| wanted(stream));
        let samples = self.tables.samples.iter();
        samples.filter(move |sample| is_wanted(sample.stream))
    }

    /// Round trips in ms of the wanted streams within `when`.
    pub(super) fn milliseconds(
        &self,
        when: &Range<u64>,
        wanted: &dyn Fn(&Stream) -> bool,
    ) -> impl Iterator<Item = f64> {
        let samples = self
            .samples(wanted)
            .filter(|sample| when.contains(&sample.t_ns));
        samples.filter_map(|sample| Some(sample.rtt_ns? as f64 / 1e6))
    }

    /// Their distribution.
    pub(super) fn round_trips(
        &self,
        when: &Range<u64>,
        wanted: &dyn Fn(&Stream) -> bool,
    ) -> Option<Distribution> {
        Distribution::of(self.milliseconds(when, wanted))
    }

    /// The bins of the load streams of `direction` within the loaded time, as the receiver or the sender saw them.
    pub(super) fn bins(
        &self,
        direction: &str,
        at_receiver: bool,
    ) -> impl Iterator<Item = &'a Series> {
        let loaded = self.loaded.clone();
        self.all_bins(direction, at_receiver).filter(move |row| {
            // A bin belongs where most of it lies.
            loaded.contains(&row.t_ns.saturating_sub(row.bin_ns / 2))
        })
    }

    /// The same, of the whole run.
    pub(super) fn all_bins(
        &self,
        direction: &str,
        at_receiver: bool,
    ) -> impl Iterator<Item = &'a Series> {
        let end = if (direction == "down") == at_receiver {
            "client"
        } else {
            "server"
        };
        let rows = self.tables.series.iter();
        rows.filter(move |row| row.direction == direction && row.end == end)
    }

    /// The load streams of `direction` that run to the load's end and take what they get: those of a given length had less time, not less
    /// of a share, and UDP sends at its rate.
    pub(super) fn lasting_load(&self, direction: &str) -> impl Iterator<Item = &'a Stream> {
        let ends: Vec<bool> = self
            .plan
            .load
            .iter()
            .flat_map(|load| {
                let ways = if load.direction == Direction::Both {
                    2
                } else {
                    1
                };
                vec![load.length.is_some(); usize::from(load.streams) * ways]
            })
            .collect();
        // Load streams are numbered first, in the order of their groups.
        self.load(direction)
            .filter(|stream| stream.kind != "udp_load")
            .filter(move |stream| !ends.get(usize::from(stream.id)).is_some_and(|ends| *ends))
    }

    /// The load streams of `direction`.
    pub(super) fn load(&self, direction: &str) -> impl Iterator<Item = &'a Stream> {
        let streams = self.tables.streams.iter();
        streams.filter(move |s| s.direction == direction && s.is_load())
    }
}

/// Whether the stream is an open loop of UDP requests.
pub(super) fn is_paced(stream: &Stream) -> bool {
    stream.kind == "udp_paced"
}

/// Whether the stream's round trips are the run's latency: of UDP, or of what a plan has in its place. Every path must treat them
/// alike, so they are not marked for ECN.
pub(super) fn is_latency(stream: &Stream) -> bool {
    matches!(
        &*stream.kind,
        "udp_rr" | "icmp_rr" | "tcp_connect" | "ws_rr" | "wt_rr"
    ) && stream.ecn.as_deref().is_none_or(|ecn| ecn == "Not-ECT")
}

pub(super) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn range((start, end): (Duration, Duration)) -> Range<u64> {
    nanos(start)..nanos(end)
}
