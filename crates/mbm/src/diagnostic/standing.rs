//! The standing-queue tests: four questions to one scan (RFC 8337 section 8.2).
//!
//! A queue is to take a whole window that stands in it for a while (or transports never reach the target), and then to say so by a few losses or marks
//! (or delay grows without bound). So the first loss is to come when the queue is between one and two target round trips long.
//!
//! A path that is much faster than the target shows neither queue nor loss to the largest window of the scan. That answers the four questions
//! as far as the target asks them ([`beyond`]); a queue that stands without an end answers none.

use super::{Onset, Setup, Test, beyond, onset};
use crate::model::RunLength;
use crate::stream::ScanReport;
use crate::verdict::{Outcome, Reason, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of a standing queue.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QueueLimits {
    /// Packets that must pass between the onset of queueing and the first loss: the target run length (section 8.2.1).
    pub run_length: u64,
    /// Standing queue at the first loss, at most: twice the target round trip (section 8.2.2).
    pub queue_ns: u64,
    /// Losses in the round of the first, at most: by how much the window grew (section 8.2.3). The window grows by one packet at a time.
    pub round_marks: u64,
    /// Round trip beyond what the queue explains, at most. Section 8.2.4 wants less than half of the target round trip; this is a quarter.
    pub interference_ns: u64,
    /// Window at which the path carries the target, in packets; counted from where no onset is found (section 8.2.1).
    pub test_window: u32,
    /// Packets per second that the path carries at least: of a known bottleneck, or of the target. A queue is reckoned to drain at this rate, or
    /// at that of the onset if it is higher.
    pub capacity_packets_per_s: f64,
}

impl QueueLimits {
    /// For the target and the path of `setup`; the target's run length is `run_length`.
    pub fn new(setup: &Setup<'_>, run_length: RunLength) -> Self {
        let target = setup.target;
        let rtt = u64::try_from(target.rtt().as_nanos()).unwrap_or(u64::MAX);
        let capacity = setup.bottleneck.max(Some(target.least_capacity()));
        let bits = capacity.map_or(0.0, |rate| rate.as_bps() as f64);
        Self {
            run_length: run_length.packets,
            queue_ns: rtt.saturating_mul(2),
            round_marks: 1,
            interference_ns: rtt / 4,
            test_window: target.test_window(setup.path_rtt),
            capacity_packets_per_s: bits / 8.0 / f64::from(target.mtu()),
        }
    }
}

/// What `scan` says to `test`, one of the four; any other test is an ERROR.
pub fn judge_scan(test: Test, scan: &ScanReport, limits: &QueueLimits) -> Verdict {
    let found = onset(scan);
    let Some(rtt_min_ns) = scan.rtt_min_ns else {
        return Verdict::new(
            Outcome::Fail,
            Reason::Silence,
            "nothing came back",
            "a path that lets these packets through, both ways",
        );
    };
    if let Some(verdict) = beyond::judge(test, scan, limits) {
        return verdict;
    }
    match test {
        Test::CongestionAvoidance => congestion_avoidance(scan, found, limits),
        Test::Bufferbloat => bufferbloat(scan, limits),
        Test::NonExcessiveLoss => non_excessive(scan, limits),
        Test::DuplexSelfInterference => interference(scan, found, rtt_min_ns, limits),
        other => Verdict::new(
            Outcome::Error,
            Reason::NoOnset,
            format!("{other} is not decided by a scan"),
            "another test",
        ),
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The scan ended before the queue did what was waited for.
fn too_short(scan: &ScanReport, what: &str) -> Verdict {
    let (last, end) = (
        scan.steps.last().map_or(0, |step| step.window),
        if scan.is_done {
            "stopped"
        } else {
            "was cut short"
        },
    );
    Verdict::new(
        Outcome::Inconclusive,
        Reason::NoOnset,
        format!("{what} up to a window of {last} packets, where the scan {end}"),
        "a scan of larger windows, or more time",
    )
}

fn congestion_avoidance(scan: &ScanReport, found: Option<Onset>, limits: &QueueLimits) -> Verdict {
    let wanted = limits.run_length;
    let at_test_window = || {
        let step = scan
            .steps
            .iter()
            .find(|step| step.window >= limits.test_window)?;
        Some((
            step.first_seq,
            format!("the window of {} that carries the target", step.window),
        ))
    };
    let start = found
        .map(|onset| {
            (
                onset.seq,
                format!("the onset of queueing at a window of {}", onset.window),
            )
        })
        .or_else(at_test_window);
    let Some((first, whence)) = start else {
        return too_short(scan, "neither a queue nor the target's window was reached");
    };
    let mark = scan.first_mark.map(|mark| mark.seq);
    let passed = mark.unwrap_or(scan.sent).saturating_sub(first);
    if passed > wanted {
        return Verdict::new(
            Outcome::Pass,
            Reason::QueueGood,
            format!(
                "{passed} packets passed between {whence} and the first loss or mark; more than {wanted} are asked for"
            ),
            format!("a loss {} packets earlier would fail", passed - wanted),
        );
    }
    if mark.is_none() {
        return too_short(scan, "no loss or mark was seen");
    }
    Verdict::new(
        Outcome::Fail,
        Reason::QueueShort,
        format!(
            "only {passed} packets passed between {whence} and the first loss or mark; more than {wanted} are asked for"
        ),
        "a longer queue, or an end to the losses that no queue causes",
    )
}

fn bufferbloat(scan: &ScanReport, limits: &QueueLimits) -> Verdict {
    let limit = limits.queue_ns;
    let longest = scan
        .first_mark
        .map_or(scan.queue_max_ns, |mark| mark.queue_ns);
    if longest > limit {
        return Verdict::new(
            Outcome::Fail,
            Reason::QueueLong,
            format!(
                "the queue stood {:.1} ms long before anything was lost or marked; at most {:.1} ms are allowed",
                ms(longest),
                ms(limit)
            ),
            "a shorter queue, or active queue management",
        );
    }
    let Some(mark) = scan.first_mark else {
        return too_short(scan, "no loss or mark was seen");
    };
    Verdict::new(
        Outcome::Pass,
        Reason::QueueGood,
        format!(
            "the first loss or mark came at a standing queue of {:.1} ms, a window of {}; at most {:.1} ms are allowed",
            ms(mark.queue_ns),
            mark.window,
            ms(limit)
        ),
        format!("a queue longer by {:.1} ms would fail", ms(limit - longest)),
    )
}

fn non_excessive(scan: &ScanReport, limits: &QueueLimits) -> Verdict {
    let Some(mark) = scan.first_mark else {
        return too_short(scan, "no loss or mark was seen");
    };
    let (marks, most) = (mark.round_marks, limits.round_marks);
    if marks <= most {
        Verdict::new(
            Outcome::Pass,
            Reason::QueueGood,
            format!(
                "{marks} of {} packets were lost or marked in the round trip of the first loss, and the window had grown by {most}",
                mark.window
            ),
            "more losses in that round trip would fail",
        )
    } else {
        Verdict::new(
            Outcome::Fail,
            Reason::LossExcessive,
            format!(
                "{marks} of {} packets were lost or marked in the round trip of the first loss, though the window had grown by {most} only",
                mark.window
            ),
            "a bottleneck that queues what is too much instead of dropping it all: policers fail here, as they are meant to",
        )
    }
}

fn interference(
    scan: &ScanReport,
    found: Option<Onset>,
    rtt_min_ns: u64,
    limits: &QueueLimits,
) -> Verdict {
    let Some(onset) = found else {
        return too_short(scan, "no queue was seen");
    };
    // Each packet beyond the pipe waits for those before it, and no longer. By Little's law it waits for the window over the *present* rate; so what tells
    // is whether that is the rate that the path has when nothing comes back.
    let capacity = onset.packets_per_s.max(limits.capacity_packets_per_s);
    let excess = |window: u32, rtt_ms: f64| {
        let queue_ms = f64::from(window.saturating_sub(onset.window)) / capacity * 1e3;
        rtt_ms - ms(rtt_min_ns).max(onset.rtt_ms) - queue_ms
    };
    let beyond = scan
        .steps
        .iter()
        .skip(onset.step)
        .filter(|step| step.delivered > 0);
    let worst = beyond
        .map(|step| excess(step.window, step.rtt_ms))
        .fold(0.0, f64::max);
    let bound = ms(limits.interference_ns);
    let says = format!(
        "round trips were up to {worst:.1} ms longer than the queue explains; {bound:.1} ms are allowed"
    );
    if worst <= bound {
        Verdict::new(
            Outcome::Pass,
            Reason::QueueGood,
            says,
            format!("{:.1} ms more would fail", bound - worst),
        )
    } else {
        Verdict::new(
            Outcome::Fail,
            Reason::Interference,
            says,
            "a link on which acknowledgements need not wait for the data of the other direction",
        )
    }
}
