//! The end of a run on a terminal: a page of at most 25 lines, from `run.json` alone.

use super::summary::{Phases, Summary};
use record::{Distribution, Run, Status};
use std::fmt::Write as _;

/// Most warnings that are printed; all are in the record.
const MOST_WARNINGS: usize = 4;

/// The scorecard of `run`, whose summary is `summary`.
pub(crate) fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(page, "{}", title(run));
    let _ = writeln!(page, "{}\n", sentence(summary));
    let _ = writeln!(
        page,
        "{:14}{:>30}{:>32}",
        "round trips", "idle p50 / p95 / p99", "loaded p50 / p95 / p99"
    );
    for (class, phases) in &summary.latency_ms.by_class {
        row(&mut page, &format!("UDP {class}"), phases);
    }
    row(&mut page, "TCP, all", &summary.tcp_rr_ms);
    let percent = |share: Option<f64>| share.map_or_else(dash, |share| format!("{share:.2} %"));
    let loss = &summary.loss_pct;
    let _ = writeln!(
        page,
        "{:14}{:>30}{:>32}\n",
        "UDP loss",
        percent(loss.idle),
        percent(loss.loaded)
    );
    throughput(&mut page, summary);
    links(&mut page, summary);
    instrument(&mut page, run);
    warnings(&mut page, run);
    page
}

fn title(run: &Run) -> String {
    let plan = run.plan["name"].as_str().unwrap_or(&run.test);
    let towards = run.path.lab.as_ref().map_or_else(
        || {
            run.path
                .server
                .addresses
                .first()
                .map_or_else(dash, ToString::to_string)
        },
        |lab| format!("lab {}", lab.name),
    );
    let status = match run.status {
        Status::Complete => "",
        Status::Incomplete => " - INCOMPLETE",
        Status::Invalid => " - INVALID: the instrument was the bottleneck",
        Status::Failed => " - FAILED",
    };
    format!(
        "{plan} against {towards}, {}{status}",
        run.started.strftime("%Y-%m-%d %H:%M:%S UTC")
    )
}

/// The answer to the question that the test asks.
fn sentence(summary: &Summary) -> String {
    match (summary.latency_ms.idle, summary.latency_ms.loaded) {
        (Some(idle), Some(loaded)) => format!(
            "Under load this path adds {} to a round trip: {} idle, {} loaded (medians, UDP).",
            ms((loaded.p50 - idle.p50).max(0.0)),
            ms(idle.p50),
            ms(loaded.p50)
        ),
        (Some(idle), None) => format!(
            "A round trip takes {} without load (median, UDP).",
            ms(idle.p50)
        ),
        (None, Some(loaded)) => {
            format!(
                "A round trip takes {} under load (median, UDP).",
                ms(loaded.p50)
            )
        }
        (None, None) => "No UDP round trips were measured.".to_owned(),
    }
}

fn row(page: &mut String, name: &str, phases: &Phases) {
    if phases.idle.is_none() && phases.loaded.is_none() {
        return;
    }
    let three = |d: Option<Distribution>| {
        d.map_or_else(dash, |d| {
            // On a path within one room a tenth of a millisecond says nothing.
            let digits = if d.p50 < 1.0 { 3 } else { 1 };
            format!(
                "{:.digits$} / {:.digits$} / {:.digits$} ms",
                d.p50, d.p95, d.p99
            )
        })
    };
    let _ = writeln!(
        page,
        "{name:14}{:>30}{:>32}",
        three(phases.idle),
        three(phases.loaded)
    );
}

fn throughput(page: &mut String, summary: &Summary) {
    let rates = &summary.throughput_mbps;
    let Some(sum) = rates.sum else { return };
    let mbps = |rate: Option<f64>| rate.map_or_else(dash, |rate| format!("{rate:.2}"));
    let _ = writeln!(
        page,
        "throughput    down {}, up {}, sum {sum:.2} Mbit/s of TCP payload; ACKs {} down, {} up",
        mbps(rates.down),
        mbps(rates.up),
        mbps(rates.ack_down),
        mbps(rates.ack_up)
    );
    let index = |index: Option<f64>| index.map_or_else(dash, |index| format!("{index:.2}"));
    let slew = summary.slew_ms.map_or_else(dash, |d| {
        format!("{} median, {} worst", ms(d.p50), ms(d.max))
    });
    let _ = writeln!(
        page,
        "fairness      down {}, up {} (1 is equal shares);  start slew {slew}",
        index(summary.fairness.down),
        index(summary.fairness.up)
    );
}

/// The emulated links that can be the bottleneck.
fn links(page: &mut String, summary: &Summary) {
    for link in summary
        .lab
        .iter()
        .filter(|link| link.rate_mbps.is_some())
        .take(4)
    {
        let queue = link.queue_ms.map_or_else(dash, |d| {
            format!("{} median, {} most", ms(d.p50), ms(d.max))
        });
        let dropped = link.dropped_overflow + link.dropped_aqm + link.dropped_loss;
        let _ = writeln!(
            page,
            "lab {} {}: carried {:.2} of {:.2} Mbit/s, queue {queue}, dropped {dropped}",
            link.link,
            link.direction,
            link.carried_mbps,
            link.rate_mbps.unwrap_or_default()
        );
    }
}

fn instrument(page: &mut String, run: &Run) {
    let cpu: Vec<_> = run
        .instrument
        .cpu
        .iter()
        .map(|cpu| format!("{} {:.0} %", cpu.host, cpu.mean_pct))
        .collect();
    let stamps = run
        .instrument
        .kernel_stamps_pct
        .map_or_else(dash, |pct| format!("{pct:.0} %"));
    if !cpu.is_empty() {
        let _ = writeln!(
            page,
            "instrument    CPU under load: {}; stamped by the kernel: {stamps}",
            cpu.join(", ")
        );
    }
}

fn warnings(page: &mut String, run: &Run) {
    for warning in run.warnings.iter().take(MOST_WARNINGS) {
        let _ = writeln!(
            page,
            "warning       {} - {}",
            warning.message, warning.advice
        );
    }
    if let Some(more) = run
        .warnings
        .len()
        .checked_sub(MOST_WARNINGS)
        .filter(|more| *more > 0)
    {
        let _ = writeln!(page, "warning       and {more} more in the record");
    }
}

/// Milliseconds with as many digits as a reader needs; microseconds for very short times.
fn ms(value: f64) -> String {
    if value > 0.0 && value < 0.1 {
        return format!("{:.0} us", value * 1e3);
    }
    let digits = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    format!("{value:.digits$} ms")
}

/// What stands for a figure that was not measured.
fn dash() -> String {
    "-".to_owned()
}
