//! What a run has seen so far, whichever end counted it: rows of its tables, written as they come.

use super::Live;
use far_ends::udpst::{Arrived, Errors, Feedback, Status, SubInterval, Terms};
use kit::control::FLUSH;
use kit::stream::nanos;
use record::RecordWriter;
use schema::udpst::tables::{UdpstInterval, UdpstTrial};
use std::cell::Cell;
use sys::clock;
use units::Instant;

/// Octets of IP's and UDP's headers, by version.
const HEADERS: [u64; 2] = [28, 48];

/// See the module.
pub(crate) struct Seen<'a> {
    pub(crate) origin: Instant,
    pub(crate) trials: Vec<UdpstTrial>,
    pub(crate) intervals: Vec<UdpstInterval>,
    pub(crate) display: &'a dyn Fn(&Live),
    pub(crate) record: &'a mut RecordWriter,
    /// Raised when the record cannot be written: then there is no run.
    pub(crate) is_broken: &'a Cell<bool>,
    failure: Option<record::Error>,
    /// Rows of each table that are written.
    written: (usize, usize),
    flushed: Instant,
    way: Way,
}

/// A direction.
pub(crate) struct Way {
    load: &'static str,
    headers: u64,
    begun: Instant,
    last_interval: u32,
    /// Those of the test's time; it goes on for half a second.
    most_intervals: u32,
}

impl Way {
    /// Load that begins now, on these terms.
    pub(crate) fn new(load: &'static str, is_v6: bool, terms: &Terms) -> Self {
        Self {
            load,
            headers: HEADERS[usize::from(is_v6)],
            begun: clock::now(),
            last_interval: 0,
            most_intervals: u32::from(terms.test_s) * 1_000 / u32::from(terms.sub_interval_ms),
        }
    }
}

impl<'a> Seen<'a> {
    /// Of a run that began at `origin`.
    pub(crate) const fn new(
        origin: Instant,
        way: Way,
        display: &'a dyn Fn(&Live),
        record: &'a mut RecordWriter,
        is_broken: &'a Cell<bool>,
    ) -> Self {
        Self {
            origin,
            trials: Vec::new(),
            intervals: Vec::new(),
            display,
            record,
            is_broken,
            failure: None,
            written: (0, 0),
            flushed: origin,
            way,
        }
    }
}

impl Seen<'_> {
    /// Begins to see another direction.
    pub(crate) fn begin(&mut self, way: Way) {
        self.way = way;
    }

    /// Writes what has not been written, so that a run that is killed keeps it.
    fn write(&mut self) {
        let written = self.try_to_write();
        if let Err(error) = written {
            self.failure.get_or_insert(error);
            self.is_broken.set(true);
        }
    }

    fn try_to_write(&mut self) -> Result<(), record::Error> {
        let (trials, intervals) = self.written;
        self.record.append(&self.trials[trials..])?;
        self.record.append(&self.intervals[intervals..])?;
        self.written = (self.trials.len(), self.intervals.len());
        self.record.flush()
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// When it cannot be written, or could not before.
    pub(crate) fn end(&mut self) -> Result<(), record::Error> {
        self.write();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// A trial that this host has counted.
    pub(crate) fn received(&mut self, feedback: &Feedback, at: Instant) {
        let Arrived {
            lasted,
            datagrams,
            bytes,
            errors,
            delay,
            rtt,
        } = feedback.trial;
        self.trial(
            &UdpstTrial {
                number: feedback.status.number,
                lasted_ns: nanos(lasted),
                datagrams,
                ip_bytes: self.with_headers(bytes, datagrams),
                owd_variation_ns: delay.mean().map(nanos),
                rtt_variation_ns: (rtt.count > 0).then(|| nanos(rtt.latest)),
                least_rtt_ns: feedback.least_rtt.map(nanos),
                ..UdpstTrial::default()
            },
            errors,
            at,
        );
        if let Some(sub) = feedback.sub_interval {
            let row = UdpstInterval {
                lasted_ns: nanos(sub.lasted),
                ip_bytes: self.with_headers(sub.bytes, sub.datagrams),
                datagrams: sub.datagrams,
                owd_variation_most_ns: (sub.delay.count > 0).then(|| nanos(sub.delay.greatest)),
                rtt_variation_most_ns: (sub.rtt.count > 0).then(|| nanos(sub.rtt.greatest)),
                ..UdpstInterval::default()
            };
            self.interval(&row, sub.errors, at);
        }
    }

    /// A trial that the server has told of.
    pub(crate) fn told(&mut self, status: &Status, at: Instant) {
        let ns = |ms: u32| u64::from(ms) * 1_000_000;
        let delay = status.delay;
        let mean = (ns(delay.sum)).checked_div(delay.count.into());
        self.trial(
            &UdpstTrial {
                number: status.number,
                lasted_ns: u64::from(status.lasted_us) * 1_000,
                asked_bps: Some(status.rate.bps()),
                datagrams: status.datagrams,
                ip_bytes: self.with_headers(status.bytes.into(), status.datagrams),
                owd_variation_ns: mean,
                rtt_variation_ns: status.rtt_variation_ms.map(ns),
                least_rtt_ns: status.least_rtt_ms.map(ns),
                ..UdpstTrial::default()
            },
            status.errors,
            at,
        );
        // Feedback that comes late tells of one that is known.
        if status.sub_interval_number <= self.way.last_interval {
            return;
        }
        self.way.last_interval = status.sub_interval_number;
        let SubInterval {
            datagrams,
            bytes,
            lasted_us,
            errors,
            delay,
            rtt_variation_ms,
            ..
        } = status.sub_interval;
        let row = UdpstInterval {
            lasted_ns: u64::from(lasted_us) * 1_000,
            ip_bytes: self.with_headers(bytes, datagrams),
            datagrams,
            owd_variation_most_ns: delay.least.map(|_| ns(delay.greatest)),
            rtt_variation_most_ns: rtt_variation_ms.0.map(|_| ns(rtt_variation_ms.1)),
            ..UdpstInterval::default()
        };
        self.interval(&row, errors, at);
    }

    fn with_headers(&self, bytes: u64, datagrams: u32) -> u64 {
        bytes.saturating_add(self.way.headers * u64::from(datagrams))
    }

    fn trial(&mut self, row: &UdpstTrial, errors: Errors, at: Instant) {
        let row = UdpstTrial {
            t_ns: nanos(at.since(self.origin)),
            load: self.way.load.into(),
            lost: errors.lost,
            reordered: errors.reordered,
            duplicates: errors.duplicates,
            ..row.clone()
        };
        let capacities = self
            .intervals
            .iter()
            .filter(|row| row.load == self.way.load);
        let capacity_bps = capacities.map(|row| row.ip_bps).max_by(f64::total_cmp);
        (self.display)(&Live {
            load: self.way.load,
            elapsed_s: at.since(self.way.begun).as_secs_f64(),
            ip_mbps: rate(row.ip_bytes, row.lasted_ns) / 1e6,
            capacity_mbps: capacity_bps.map(|bps| bps / 1e6),
        });
        self.trials.push(row);
        if at.since(self.flushed) >= FLUSH {
            self.flushed = at;
            self.write();
        }
    }

    fn interval(&mut self, row: &UdpstInterval, errors: Errors, at: Instant) {
        let number = self
            .intervals
            .iter()
            .filter(|row| row.load == self.way.load);
        let number = u32::try_from(number.count()).unwrap_or(u32::MAX);
        if number >= self.way.most_intervals || row.lasted_ns == 0 {
            return;
        }
        let row = UdpstInterval {
            t_ns: nanos(at.since(self.origin)),
            load: self.way.load.into(),
            interval: number,
            ip_bps: rate(row.ip_bytes, row.lasted_ns),
            lost: errors.lost,
            reordered: errors.reordered,
            duplicates: errors.duplicates,
            ..row.clone()
        };
        self.intervals.push(row);
    }
}

/// Bits per second.
fn rate(bytes: u64, lasted_ns: u64) -> f64 {
    bytes as f64 * 8e9 / lasted_ns.max(1) as f64
}
