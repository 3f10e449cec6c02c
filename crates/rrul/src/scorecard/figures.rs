//! The lines of the scorecard between the answer and the notes.

use super::words::{dash, ms, number, quantiles, rate};
use record::Run;
use schema::rrul::{Bounds, CallFigures, Phases, Summary, TcpMarks};

/// Emulated links that are shown.
const MOST_LINKS: usize = 2;

/// Times, idle and loaded.
pub(super) fn table(summary: &Summary) -> Vec<String> {
    let mut lines = vec![format!(
        "{:16}{:>35}{:>41}",
        "round trips", "idle p50 ±95 % / p95 / p99", "loaded p50 ±95 % / p95 / p99"
    )];
    let named = |name: &str, path: &str, phases: &Phases| {
        let sure = |phase: &str| summary.ci95.get(&format!("{path}.{phase}.p50"));
        row(name, phases, [sure("idle"), sure("loaded")])
    };
    let of = summary.latency_ms.words();
    let by_class = summary.latency_ms.by_class.iter();
    lines.extend(by_class.filter_map(|(class, phases)| {
        let path = format!("latency_ms.by_class.{class}");
        named(&format!("{of} {class}"), &path, phases)
    }));
    lines.extend(named("UDP, paced", "paced_ms", &summary.paced_ms));
    lines.extend(named("TCP, all", "tcp_rr_ms", &summary.tcp_rr_ms));
    lines.extend(named("DNS", "dns_ms", &summary.dns_ms));
    for (far_end, figures) in &summary.beside {
        lines.extend(row(far_end, &figures.rtt_ms, [None; 2]));
    }
    for (loader, figures) in summary.web.iter().flat_map(|web| &web.by_loader) {
        let phases = Phases {
            idle: figures.idle_ms,
            loaded: figures.loaded_ms,
        };
        let name = loader.strip_prefix("native ").unwrap_or(loader);
        lines.extend(row(&format!("page, {name}"), &phases, [None; 2]));
    }
    lines
}

/// A row; `sure` are the intervals of both medians.
fn row(name: &str, phases: &Phases, sure: [Option<&Bounds>; 2]) -> Option<String> {
    if phases.idle.is_none() && phases.loaded.is_none() {
        return None;
    }
    // A long name takes the room before the figures.
    let idle = quantiles(phases.idle, sure[0]);
    let width = 51_usize.saturating_sub(name.chars().count() + 1);
    Some(format!(
        "{name} {idle:>width$}{:>41}",
        quantiles(phases.loaded, sure[1])
    ))
}

/// Calls: the opinion of whoever listened, and what spoilt it; then the same behind a jitter buffer that adapts.
pub(super) fn calls(summary: &Summary) -> Vec<String> {
    let heard = |figures: &CallFigures| {
        let missing = figures.loss_pct.unwrap_or_default() + figures.late_pct.unwrap_or_default();
        let mos = figures.mos?;
        Some(format!("{mos:.1} ({missing:.1} %)"))
    };
    let adaptive = |figures: &CallFigures| Some(format!("{:.1}", figures.mos_adaptive?));
    let strict = by_class(summary, heard)
        .map(|calls| format!("VoIP MOS      {calls}: up / down (lost or late)"));
    let adaptive = by_class(summary, adaptive)
        .map(|calls| format!("  adaptive    {calls}: up / down, with a jitter buffer that adapts"));
    strict.into_iter().chain(adaptive).collect()
}

/// A figure of each class's calls, up and down.
fn by_class(summary: &Summary, figure: impl Fn(&CallFigures) -> Option<String>) -> Option<String> {
    let calls: Vec<String> = summary
        .voip
        .iter()
        .filter_map(|(class, calls)| {
            let ends = [figure(&calls.up), figure(&calls.down)];
            if ends.iter().all(Option::is_none) {
                return None;
            }
            let [up, down] = ends.map(|end| end.unwrap_or_else(dash));
            Some(format!("{class} {up} / {down}"))
        })
        .collect();
    (!calls.is_empty()).then(|| calls.join(", "))
}

/// What the load carried, and how it was shared.
pub(super) fn load(summary: &Summary) -> Vec<String> {
    let rates = &summary.throughput_mbps;
    let percent = |share: Option<f64>| share.map_or_else(dash, |share| format!("{share:.2} %"));
    let loss = &summary.loss_pct;
    let sure = summary.ci95.get("loss_pct.loaded");
    let sure = sure.map(|bounds| format!(" ({:.2} to {:.2})", bounds.low, bounds.high));
    let unanswered = format!(
        "{} loss {} idle, {} loaded{}",
        summary.latency_ms.words(),
        percent(loss.idle),
        percent(loss.loaded),
        sure.unwrap_or_default()
    );
    if rates.sum.is_none() {
        return vec![format!("loss          {unanswered}")];
    }
    let sure_of = |way: &str| summary.ci95.get(&format!("throughput_mbps.{way}"));
    let slew = summary.slew_ms.map_or_else(dash, |d| {
        format!("{} median, {} worst", ms(d.p50), ms(d.max))
    });
    let fair = &summary.fairness;
    let lines = vec![
        format!(
            "throughput    down {}, up {}, sum {} Mbit/s of payload; ACKs {} down, {} up",
            rate(rates.down, sure_of("down")),
            rate(rates.up, sure_of("up")),
            rate(rates.sum, sure_of("sum")),
            number(rates.ack_down, 2),
            number(rates.ack_up, 2)
        ),
        format!(
            "fairness      down {}, up {} (1 is equal shares); start slew {slew}; {unanswered}",
            number(fair.down, 2),
            number(fair.up, 2)
        ),
    ];
    lines.into_iter().chain(udp_load(summary)).collect()
}

/// What did not arrive of load by UDP.
fn udp_load(summary: &Summary) -> Option<String> {
    let ways = [
        ("down", summary.load_loss_pct.down),
        ("up", summary.load_loss_pct.up),
    ];
    let lost = ways
        .into_iter()
        .filter_map(|(way, lost)| Some(format!("{way} {} % lost", number(Some(lost?), 2))));
    let lost: Vec<_> = lost.collect();
    (!lost.is_empty()).then(|| format!("UDP load      {}", lost.join(", ")))
}

/// What became of the marks, and by which versions of IP.
pub(super) fn marks(summary: &Summary) -> Option<String> {
    let changed = summary.dscp.iter().flat_map(|(class, marks)| {
        [("up", &marks.up), ("down", &marks.down)]
            .into_iter()
            .flat_map(move |(way, seen)| {
                let others = seen.keys().filter(move |name| *name != class);
                others.map(move |name| format!("{class} arrives as {name} {way}"))
            })
    });
    let changed: Vec<String> = changed.collect();
    if summary.dscp.is_empty() {
        return None;
    }
    let dscp = if changed.is_empty() {
        "DSCP kept".to_owned()
    } else {
        changed.join(", ")
    };
    let ecn = match (summary.ecn.bleached_pct, summary.ecn.ce_pct) {
        (Some(bleached), _) if bleached > 0.0 => format!("; ECN bleached ({bleached:.0} %)"),
        (Some(_), Some(ce)) => format!("; ECN kept, {ce:.2} % CE"),
        _ => String::new(),
    };
    let families: Vec<_> = summary
        .families
        .keys()
        .map(|family| family.replace('v', "IPv"))
        .collect();
    Some(format!(
        "marks         {dscp}{ecn}{}; over {}",
        tcp_ecn(summary),
        families.join(" and ")
    ))
}

/// How much of the TCP load was ECN-capable, and how much of it was marked; nothing where none was.
fn tcp_ecn(summary: &Summary) -> String {
    let ways = [("down", &summary.ecn.tcp.down), ("up", &summary.ecn.tcp.up)];
    let ways: Vec<_> = ways
        .into_iter()
        .filter_map(|(way, marks)| Some((way, marks.as_ref()?)))
        .collect();
    let sum = |figure: fn(&TcpMarks) -> u32| ways.iter().map(|(_, marks)| figure(marks)).sum();
    let (streams, agreed): (u32, u32) = (sum(|marks| marks.streams), sum(|marks| marks.agreed));
    if agreed == 0 {
        return String::new();
    }
    let marked = ways.iter().filter_map(|(way, marks)| {
        let ce = marks.ce_pct?;
        Some(format!(", {ce:.2} % CE {way}"))
    });
    let marked: String = marked.collect();
    format!("; TCP with ECN ({agreed} of {streams}){marked}")
}

/// Where the queue is.
pub(super) fn path(summary: &Summary) -> Option<String> {
    let path = summary.bottleneck.as_ref()?;
    let rise = [path.up.rise_ms, path.down.rise_ms];
    let rise = rise.into_iter().flatten().reduce(f64::max)?;
    let at = path.between.as_ref().map_or_else(
        || {
            let hop = |hop: Option<u8>| hop.map_or_else(dash, |hop| hop.to_string());
            format!("hop {} up, {} down", hop(path.up.hop), hop(path.down.hop))
        },
        |[near, far]| format!("between {near} and {far}"),
    );
    Some(format!("bottleneck    delay rises by {} {at}", ms(rise)))
}

/// The emulated links that can be the bottleneck.
pub(super) fn links(summary: &Summary) -> Vec<String> {
    let links = summary.lab.iter().filter(|link| link.rate_mbps.is_some());
    links
        .take(MOST_LINKS)
        .map(|link| {
            let queue = link.queue_ms.map_or_else(dash, |d| {
                format!("{} median, {} most", ms(d.p50), ms(d.max))
            });
            let dropped = link.dropped_overflow + link.dropped_aqm + link.dropped_loss;
            format!(
                "lab {} {}: carried {:.2} of {:.2} Mbit/s, queue {queue}, dropped {dropped}",
                link.link,
                link.direction,
                link.carried_mbps,
                link.rate_mbps.unwrap_or_default()
            )
        })
        .collect()
}

/// Whether the figures are the path's.
pub(super) fn instrument(run: &Run) -> Option<String> {
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
    (!cpu.is_empty()).then(|| {
        format!(
            "instrument    CPU under load: {}; stamped by the kernel: {stamps}",
            cpu.join(", ")
        )
    })
}
