//! A plan of `btc`, carried out in virtual time.

use super::bounds;
use super::queues;
use crate::findings::{Findings, Inbox};
use crate::log::{Log, MOST_PASSED};
use crate::results::{Outcome as How, Quality, ReceiverResult, SenderResult};
use crate::run::Outcome;
use kit::ending::Ending;
use kit::virtual_path::Path;
use record::RecordWriter;
use schema::btc::Plan;
use schema::btc::plan::Limit;
use schema::btc::tables::SegmentRow;
use session::ClockOffset;
use sim::{End, Observer, Report, Side, Transfers, Work};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transport::Sender;
use transport::wire::Datagram;
use units::{Ecn, Instant, Span};

/// How often queues are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often what was found goes to the record; many rows go earlier.
const FLUSH: Duration = Duration::from_secs(1);

/// What looks on at one end of a transfer: the same log as that of a real one.
struct Watch<'a> {
    log: Log<'a>,
    /// Whether each packet is noted.
    notes_packets: bool,
}

impl Observer for Watch<'_> {
    fn packet(&mut self, _: Side, datagram: &Datagram, ecn: Ecn, now: Instant) {
        if self.notes_packets {
            self.log.passed(datagram, ecn, now);
            // A receiver has no window to be looked at, and a long run too many packets to wait for its end.
            self.log.tick(now);
        }
    }

    fn sender(&mut self, sender: &mut Sender, now: Instant) {
        self.log.look(sender, now);
    }
}

/// Carries `plan` out over `path`, its transfers `apart` from each other at their start, writing what is found to `record`,
/// until it is over or `interrupt` is raised.
///
/// # Errors
/// When the path cannot be built, or the record cannot be written.
pub fn run(
    plan: &Plan,
    path: &Path,
    apart: Duration,
    interrupt: &AtomicBool,
    record: &mut RecordWriter,
) -> anyhow::Result<(Outcome, Work)> {
    let inbox = Inbox::default();
    let notes_packets = record.wants::<SegmentRow>();
    let watch = |id, at_sender| Watch {
        log: Log::new(&inbox, Instant::ZERO, id, at_sender, MOST_PASSED),
        notes_packets,
    };
    let plans = (0..plan.parallel).map(|id| {
        (
            transfer(plan, id, apart),
            [watch(id, true), watch(id, false)],
        )
    });
    let mut transfers = Transfers::over(plans, path.build()?, |_| None);
    let mut findings = Findings::new(None);
    let mut flushed = Instant::ZERO;
    let mut written = Ok(());
    let last = bounds::last(plan, apart);
    let mut is_interrupted = false;
    transfers.run_watched(LOOK, |world| {
        findings.take_queues(queues::rows(path, world));
        if world.now().since(flushed) >= FLUSH || inbox.is_heavy() {
            flushed = world.now();
            findings.collect(&inbox, plan.options.first_seq);
            written = findings.write(record);
        }
        is_interrupted = interrupt.load(Ordering::Relaxed);
        if written.is_err() || is_interrupted || world.now() > last {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    written?;
    if transfers.world().now() > last {
        anyhow::bail!(
            "after {} of virtual time packets are still on their way - write shorter delays and queues, or fewer segments",
            Span(last.since(Instant::ZERO)).words()
        );
    }
    let (reports, work) = (transfers.reports(), transfers.world().work());
    let ends = transfers.into_observers();
    let logs = (0..).zip(reports).zip(ends);
    let counters: Vec<_> = logs
        .map(|((id, report), ends)| counters(plan, id, &report, ends))
        .collect();
    findings.collect(&inbox, plan.options.first_seq);
    for (sender, receiver) in counters {
        findings.conclude(plan, &plan.rounds()[0], sender, Some(receiver));
    }
    findings.write(record)?;
    let outcome = Outcome {
        ending: if is_interrupted {
            Ending::Interrupted
        } else {
            Ending::Complete
        },
        findings,
        clock: ClockOffset::default(),
        far: None,
        traced: None,
    };
    Ok((outcome, work))
}

/// One of the plan's transfers.
fn transfer(plan: &Plan, id: u16, apart: Duration) -> sim::Plan {
    let end = match plan.limit {
        Limit::Duration(span) => End::After(span.0),
        Limit::Segments(count) => End::Segments(count),
    };
    sim::Plan {
        start: apart * u32::from(id),
        seed: plan.seed.wrapping_add(id.into()),
        ..sim::Plan::new(plan.options.clone(), end)
    }
}

/// What the two ends have to say, and the last of their rows.
fn counters(
    plan: &Plan,
    id: u16,
    report: &Report,
    ends: [Watch<'_>; 2],
) -> (SenderResult, ReceiverResult) {
    let [sender, receiver] = ends.map(|Watch { mut log, .. }| {
        log.hand_over(Instant::FAR_FUTURE);
        Quality {
            rows_left_out: log.left_out(),
            ..Quality::default()
        }
    });
    let (sent, receipts) = (report.sent, report.receipts);
    let (outcome, reason) = match report.outcome {
        Some(sim::Outcome::Complete) => (How::Complete, None),
        Some(sim::Outcome::Time) => (How::Time, None),
        Some(sim::Outcome::Stalled) | None => (
            How::Stalled,
            Some("nothing new was acknowledged for five minutes".to_owned()),
        ),
    };
    let seconds = report.time.filter(|_| sent.acked > 0);
    let sender = SenderResult {
        id,
        start_ns: Some(u64::try_from(report.start.as_nanos()).unwrap_or(u64::MAX)),
        seconds: seconds.map(|time| time.as_secs_f64()),
        segments: sent.acked,
        bytes: sent.acked_bytes,
        sent_packets: sent.packets,
        retransmits: sent.retransmits,
        timeouts: sent.timeouts,
        recoveries: sent.recoveries,
        multiple_losses: Some(sent.multiple_losses),
        lost_windows: Some(sent.lost_windows),
        largest_flight: Some(sent.largest_flight),
        violations: sent.violations,
        cc: plan.options.congestion_control.name().to_owned(),
        outcome,
        reason,
        quality: sender,
    };
    let receiver = ReceiverResult {
        id,
        packets: sent.packets.saturating_sub(report.lost),
        reordered: receipts.reordered,
        reordered_by_3: Some(receipts.reordered_by_3),
        most_overtaking: Some(receipts.most_overtaking),
        duplicates: receipts.duplicates,
        marked: receipts.marked,
        quality: receiver,
        ..ReceiverResult::default()
    };
    (sender, receiver)
}
