//! What the sender of one transfer did from moment to moment. Times count from the transfer's start.

use super::Transfer;
use super::sequence::{Collector, Sequence};
use crate::distribution::{Blocks, Curve, Figures, sorted};
use crate::envelope::{Envelope, Line};
use crate::grid::{Grid, Steps};
use crate::number::{ms, seconds, short};
use crate::view::each;
use record::Record;
use schema::btc::tables::{EventRow, RoundTrip, SegmentRow, WindowRow};
use serde::Serialize;
use std::collections::BTreeMap;

/// The most events of a transfer.
const MOST_EVENTS: usize = 2_000;
/// The most strokes of a kind of one transfer, and of all transfers of a page together.
const MOST_STROKES: (usize, usize) = (30_000, 160_000);
const RATE_BIN_NS: u64 = 100_000_000;
const MOST_RATE_BINS: usize = 600;

/// The course of one transfer.
#[derive(Serialize)]
pub(super) struct Course {
    transfer: u16,
    cwnd_segments: Line,
    ssthresh_segments: Line,
    flight_segments: Line,
    srtt_ms: Line,
    rtt_ms: Line,
    /// The distribution of round trips; null without any.
    rtt: Option<Spread>,
    /// Octets acknowledged in order, over time; null when the acknowledgements are not in the record.
    goodput_mbps: Option<Steps>,
    events: Vec<Event>,
    events_total: u64,
    sequence: Option<Sequence>,
}

#[derive(Serialize)]
struct Spread {
    ms: Figures,
    curve: Curve,
}

#[derive(Serialize)]
struct Event {
    t_s: f64,
    what: String,
    from_segments: Option<f64>,
    to_segments: Option<f64>,
}

/// Collects the courses of the chosen transfers.
pub(super) struct Courses(BTreeMap<u16, Collected>);

struct Collected {
    start_ns: u64,
    segment_bytes: f64,
    /// Congestion window, threshold, flight and smoothed round trip.
    windows: [Envelope; 4],
    rtt: Envelope,
    rtts: Blocks,
    acked: Grid<()>,
    highest_ack: Option<u64>,
    events: Vec<Event>,
    events_total: u64,
    packets: Collector,
}

impl Courses {
    /// Reads the courses of `transfers`.
    pub(super) fn read(
        record: &Record,
        transfers: &[&Transfer],
    ) -> Result<Vec<Course>, record::Error> {
        let most = (MOST_STROKES.1 / transfers.len().max(1)).min(MOST_STROKES.0);
        let collected = transfers
            .iter()
            .map(|t| (t.transfer, Collected::of(t, most)));
        let mut courses = Self(collected.collect());
        each(record, |row: WindowRow| {
            courses.with(row.transfer, |one| one.window(&row));
        })?;
        each(record, |row: RoundTrip| {
            courses.with(row.transfer, |one| one.round_trip(&row));
        })?;
        each(record, |row: EventRow| {
            courses.with(row.transfer, |one| one.event(&row));
        })?;
        each(record, |row: SegmentRow| {
            courses.with(row.transfer, |one| one.segment(&row));
        })?;
        let all = courses.0.into_iter();
        Ok(all.map(|(transfer, one)| one.course(transfer)).collect())
    }

    fn with(&mut self, transfer: u16, see: impl FnOnce(&mut Collected)) {
        if let Some(one) = self.0.get_mut(&transfer) {
            see(one);
        }
    }
}

impl Collected {
    fn of(transfer: &Transfer, most: usize) -> Self {
        Self {
            start_ns: transfer.start_ns,
            segment_bytes: transfer.segment_bytes().unwrap_or(0.0),
            windows: Default::default(),
            rtt: Envelope::default(),
            rtts: Blocks::default(),
            acked: Grid::new(RATE_BIN_NS, MOST_RATE_BINS),
            highest_ack: None,
            events: Vec::new(),
            events_total: 0,
            packets: Collector::new(transfer.start_ns, most),
        }
    }

    fn since_start(&self, t_ns: u64) -> u64 {
        t_ns.saturating_sub(self.start_ns)
    }

    fn window(&mut self, row: &WindowRow) {
        let t_ns = self.since_start(row.t_ns);
        let [cwnd, ssthresh, flight, srtt] = &mut self.windows;
        cwnd.push(t_ns, row.cwnd);
        flight.push(t_ns, row.flight.into());
        match row.ssthresh {
            Some(segments) => ssthresh.push(t_ns, segments),
            None => ssthresh.gap(t_ns),
        }
        if let Some(rtt_ns) = row.srtt_ns {
            srtt.push(t_ns, ms(rtt_ns));
        }
    }

    fn round_trip(&mut self, row: &RoundTrip) {
        let t_ns = self.since_start(row.t_ns);
        self.rtt.push(t_ns, ms(row.rtt_ns));
        self.rtts.push(0.0, ms(row.rtt_ns));
    }

    fn event(&mut self, row: &EventRow) {
        self.events_total += 1;
        if self.events.len() < MOST_EVENTS {
            self.events.push(Event {
                t_s: seconds(self.since_start(row.t_ns)),
                what: row.what.clone().into_owned(),
                from_segments: row.from_segments.map(short),
                to_segments: row.to_segments.map(short),
            });
        }
    }

    fn segment(&mut self, row: &SegmentRow) {
        self.packets.see(row);
        if let (Some(ack), "ack", "sender") = (row.ack, &*row.kind, &*row.end) {
            let more = ack.saturating_sub(self.highest_ack.unwrap_or(0));
            self.highest_ack = self.highest_ack.max(Some(ack));
            let t_ns = self.since_start(row.t_ns);
            self.acked
                .add(&(), (t_ns, t_ns), more as f64 * self.segment_bytes);
        }
    }

    fn course(self, transfer: u16) -> Course {
        let values = sorted(&[&self.rtts]);
        let rtt = Figures::of(&values, self.rtts.n()).map(|ms| Spread {
            ms,
            curve: Curve::of(&values),
        });
        let [cwnd, ssthresh, flight, srtt] = self.windows.each_ref().map(Envelope::line);
        let goodput = self.acked.per_second(8e-6).next().map(|((), steps)| steps);
        Course {
            transfer,
            cwnd_segments: cwnd,
            ssthresh_segments: ssthresh,
            flight_segments: flight,
            srtt_ms: srtt,
            rtt_ms: self.rtt.line(),
            rtt,
            goodput_mbps: goodput.filter(|_| self.segment_bytes > 0.0),
            events: self.events,
            events_total: self.events_total,
            sequence: self.packets.sequence(),
        }
    }
}
