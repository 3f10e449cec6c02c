//! What becomes of the news of a run: the global scheduler hears them, and the record gets its rows.

use super::Live;
use super::frames::Frame;
use super::global::{Configuration, Estimate, GlobalScheduler};
use super::local::Report;
use super::news::{Answer, News};
use super::run::{Context, Outcome, deadline};
use super::sender::Times;
use super::summary::Rows;
use super::tables::{AskedRow, BottleneckRow, FrameRow, ReportRow, ViewRow};
use kit::control::{DISPLAY, FLUSH};
use kit::ending::Ending;
use record::RecordWriter;
use schema::tables::{Counters, Cpu, Queue};
use std::collections::BTreeMap;
use std::time::Duration;
use units::Instant;

/// The global scheduler, and the counters of a run.
pub(super) struct Collector<'a> {
    context: &'a Context<'a>,
    times: Times,
    record: &'a mut RecordWriter,
    scheduler: GlobalScheduler,
    /// Frames that are due and of which nothing more is known, by stream and number.
    open: BTreeMap<(u8, u64), Frame>,
    /// How far the bottleneck's counters have been taken, and what they said then.
    taken: Instant,
    left: u64,
    dropped: u64,
    /// Rows that are not in the record yet, and all that are.
    fresh: Rows,
    kept: Rows,
    shown: Instant,
    flushed: Instant,
}

/// What the shared direction of the bottleneck's link did since it was looked at last.
#[derive(Default)]
pub(super) struct Seen {
    /// Octets of the streams and of probes that left it.
    pub(super) own: u64,
    /// Octets that left it and packets that found its queue full, others' among them, since the beginning of all.
    pub(super) left: u64,
    pub(super) dropped: u64,
    /// Its rows of these tables.
    pub(super) queue: Vec<Queue>,
    pub(super) counters: Vec<Counters>,
    /// How busy the host was.
    pub(super) cpu: Vec<Cpu>,
}

/// Nanoseconds after `origin`.
fn nanos(at: Instant, origin: Instant) -> u64 {
    whole(at.since(origin))
}

fn whole(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn levels(configuration: Configuration) -> String {
    configuration.iter().map(|level| level.letter()).collect()
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        times: Times,
        record: &'a mut RecordWriter,
    ) -> Self {
        let mut collector = Self {
            context,
            times,
            record,
            scheduler: GlobalScheduler::new(context.plan.options(), times.begin),
            open: BTreeMap::new(),
            taken: times.begin,
            left: 0,
            dropped: 0,
            fresh: Rows::default(),
            kept: Rows::default(),
            shown: times.begin,
            flushed: times.begin,
        };
        collector.enter_view("start", times.begin, false);
        collector
    }

    /// Whether everything has arrived that will, or the time for it is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now > deadline(self.times) || (now > self.times.end + FLUSH && self.open.is_empty())
    }

    pub(super) fn handle_news(&mut self, news: News) {
        match news {
            News::Due(frame) => {
                self.open.insert((frame.stream, frame.number), frame);
            }
            News::Dropped(frame, at) => self.close(&frame, "dropped", Some(at)),
            News::Arrived(frame, true, at) => self.close(&frame, "decoded", Some(at)),
            News::Arrived(frame, false, at) => self.close(&frame, "undecodable", Some(at)),
            News::Report(report) => self.report(report),
            News::Answer(answer) => self.answer(&answer),
            // The caller's to act on.
            News::Broken(_) => {}
        }
    }

    fn close(&mut self, frame: &Frame, fate: &'static str, at: Option<Instant>) {
        // A frame of which nobody said that it was due is none of ours.
        let Some(frame) = self.open.remove(&(frame.stream, frame.number)) else {
            return;
        };
        let origin = self.times.begin;
        self.fresh.frames.push(FrameRow {
            t_ns: nanos(frame.due, origin),
            stream: frame.stream,
            kind: frame.kind.name().into(),
            number: frame.number,
            bytes: frame.kind.octets(),
            fate: fate.into(),
            ended_ns: at.map(|at| nanos(at, origin)),
        });
    }

    fn report(&mut self, report: Report) {
        let [dropped_i, dropped_p, dropped_b] = report.dropped;
        self.fresh.reports.push(ReportRow {
            t_ns: nanos(report.at, self.times.begin),
            lasted_ns: whole(report.lasted),
            wanted_bytes: report.wanted,
            sent_bytes: report.sent,
            waiting_bytes: report.waiting,
            dropped_i,
            dropped_p,
            dropped_b,
        });
        let before = self.scheduler.configuration();
        self.scheduler.handle_report(report);
        self.enter_view(
            "report",
            report.at,
            before != self.scheduler.configuration(),
        );
    }

    fn answer(&mut self, answer: &Answer) {
        let origin = self.times.begin;
        let estimate = answer.estimate.as_ref();
        let reason = estimate.map_or_else(
            || Some("it took too long and was given up".to_owned()),
            |of| of.reason.clone(),
        );
        self.fresh.asked.push(AskedRow {
            t_ns: nanos(answer.began, origin),
            ended_ns: nanos(answer.ended, origin),
            conclusive: estimate.is_some_and(|of| of.conclusive),
            value_mbps: estimate.and_then(|of| of.value),
            low_mbps: estimate.and_then(|of| of.low),
            high_mbps: estimate.and_then(|of| of.high),
            uncorrected_mbps: estimate.and_then(|of| of.uncorrected),
            own_mbps: self.scheduler.own_bps(answer.began) / 1e6,
            overhead_bytes: estimate.map(|of| of.overhead),
            rider_bytes: estimate.map(|of| of.ridden),
            reason,
        });
        let believed = estimate.filter(|of| of.conclusive);
        let Some(value) = believed.and_then(|of| of.value) else {
            return;
        };
        let before = self.scheduler.configuration();
        self.scheduler.handle_estimate(&Estimate {
            began: answer.began,
            beside_bps: value * 1e6,
        });
        let is_new = before != self.scheduler.configuration();
        self.enter_view("estimate", answer.ended, is_new);
    }

    fn enter_view(&mut self, cause: &'static str, at: Instant, reconfigured: bool) {
        self.fresh.views.push(ViewRow {
            t_ns: nanos(at, self.times.begin),
            cause: cause.into(),
            view_mbps: self.scheduler.view_bps() / 1e6,
            levels: levels(self.scheduler.configuration()).into(),
            reconfigured,
        });
    }

    /// Lets time pass for the scheduler; what the sender is to be told, if anything.
    pub(super) fn poll_configuration(&mut self, now: Instant) -> Option<Configuration> {
        let before = self.scheduler.configuration();
        self.scheduler.handle_time(now);
        if before != self.scheduler.configuration() {
            self.enter_view("time", now, true);
        }
        self.scheduler.poll_configuration()
    }

    /// Shows how it goes, if it is time.
    pub(super) fn show(&mut self, now: Instant) {
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            (self.context.display)(&Live {
                elapsed: now.since(self.times.begin),
                planned: self.context.plan.duration.0,
                view_mbps: self.scheduler.view_bps() / 1e6,
                levels: levels(self.scheduler.configuration()),
                decoded: self.kept.decoded(),
                estimates: self.kept.estimates(),
            });
        }
    }

    /// Whether what there is is to be written down.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        now.since(self.flushed) >= FLUSH
    }

    /// Writes down what there is, and what the bottleneck did meanwhile.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn flush(&mut self, now: Instant, seen: &Seen) -> Result<(), record::Error> {
        self.flushed = now;
        let carried = self.bottleneck_row(now, seen);
        self.fresh.carried.extend(carried);
        self.fresh.append_to(self.record)?;
        self.kept.take(&mut self.fresh);
        self.record.append(&seen.queue)?;
        self.record.append(&seen.counters)?;
        self.record.append(&seen.cpu)?;
        self.record.flush()
    }

    /// What the shared direction has carried since the last call; nothing before the first frame.
    fn bottleneck_row(&mut self, now: Instant, seen: &Seen) -> Option<BottleneckRow> {
        let (left_before, dropped_before) = (self.left, self.dropped);
        (self.left, self.dropped) = (seen.left, seen.dropped);
        let from = self.taken;
        self.taken = now.max(from);
        // What was before the first frame is not known of its own.
        (left_before > 0 && now > from).then(|| BottleneckRow {
            t_ns: nanos(from, self.times.begin),
            lasted_ns: whole(now.since(from)),
            own_bytes: seen.own,
            cross_bytes: (seen.left - left_before).saturating_sub(seen.own),
            dropped: seen.dropped - dropped_before,
        })
    }

    /// The end of the run.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn conclude(
        mut self,
        ending: Ending,
        now: Instant,
        seen: &Seen,
    ) -> Result<Outcome, record::Error> {
        let under_way: Vec<Frame> = self.open.values().copied().collect();
        for frame in under_way {
            self.close(&frame, "under_way", None);
        }
        self.flush(now, seen)?;
        let planned = self.context.plan.duration.0;
        let seconds = now.since(self.times.begin).min(planned).as_secs_f64();
        Ok(Outcome {
            ending,
            seconds,
            rows: self.kept,
            cpu: Vec::new(),
            truth: Vec::new(),
        })
    }
}
