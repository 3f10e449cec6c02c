//! The five parts, each a share of what could be.

use super::Part;
use schema::rrul::{Marks, Phases, Summary};
use std::collections::BTreeMap;
use units::Dscp;

/// RRUL: "streams marked CS1 transmitting at 5% or less of available bandwidth (but not starved)".
const CS1_MOST: f64 = 0.05;
/// Below this share CS1 is starved.
const CS1_LEAST: f64 = 0.001;
/// RRUL: "streams marked EF at 30% or less (but not 95%!)".
const EF_MOST: f64 = 0.30;
const EF_ALL: f64 = 0.95;
/// How the classification part is divided: marks that survive, CS1's share, EF's share.
const DIVISION: [f64; 3] = [0.4, 0.3, 0.3];

/// How much of their idle speed pages keep.
pub(super) fn web(summary: &Summary) -> Option<Part> {
    let web = summary.web.as_ref()?;
    let (idle, loaded) = (web.idle_per_page_ms?, web.loaded_per_page_ms?);
    let share = web.responsiveness? / 100.0;
    Some(Part {
        share,
        why: format!(
            "a page takes {idle:.0} ms idle and {loaded:.0} ms under load (means): {share:.2} of its speed remains"
        ),
    })
}

/// How much of their idle quickness round trips keep, in the 95th percentile, class by class, and what is lost of them.
pub(super) fn realtime(summary: &Summary) -> Option<Part> {
    let is_loaded = summary.phases.loaded.is_some();
    let of = summary.latency_ms.words();
    let udp = summary.latency_ms.by_class.iter();
    let mut kept: Vec<(String, f64)> = udp
        .filter_map(|(class, phases)| Some((format!("{of} {class}"), remains(phases, is_loaded)?)))
        .collect();
    kept.extend(remains(&summary.tcp_rr_ms, is_loaded).map(|share| ("TCP".to_owned(), share)));
    let mean = mean(kept.iter().map(|(_, share)| *share))?;
    let lost = summary.loss_pct.loaded.unwrap_or_default() / 100.0;
    let each: Vec<String> = kept
        .iter()
        .map(|(name, share)| format!("{name} {share:.2}"))
        .collect();
    Some(Part {
        share: mean * (1.0 - lost),
        why: format!(
            "of its idle quickness (95th percentile) remains: {}; {:.2} % of requests lost",
            each.join(", "),
            lost * 100.0
        ),
    })
}

/// Idle over loaded 95th percentile; at most 1. What was answered before the load and never under it keeps nothing.
fn remains(phases: &Phases, is_loaded: bool) -> Option<f64> {
    let idle = phases.idle?;
    let Some(loaded) = phases.loaded else {
        return is_loaded.then_some(0.0);
    };
    (loaded.p95 > 0.0).then(|| (idle.p95 / loaded.p95).min(1.0))
}

/// How much of their idle rating calls keep: behind the specification's jitter buffer, which tells whether delays are still, and
/// behind one that adapts, which tells how bad it is where they are not. Each counts half.
pub(super) fn voip(summary: &Summary) -> Option<Part> {
    let ends = summary.voip.iter().flat_map(|(class, calls)| {
        [("up", &calls.up), ("down", &calls.down)]
            .into_iter()
            .filter_map(move |(way, figures)| {
                let (idle, loaded) = (figures.idle.as_ref()?, figures.loaded.as_ref()?);
                let strict = keeps(idle.r?, loaded.r?);
                let adaptive = idle.adaptive.zip(loaded.adaptive);
                // Records of before have no such figure.
                let adaptive = adaptive.map_or(Some(strict), |(idle, loaded)| {
                    Some(keeps(idle.r?, loaded.r?))
                })?;
                let words = format!("{class} {way} {strict:.2} and {adaptive:.2}");
                Some((words, f64::midpoint(strict, adaptive)))
            })
    });
    let (words, shares): (Vec<String>, Vec<f64>) = ends.unzip();
    Some(Part {
        share: mean(shares.into_iter())?,
        why: format!(
            "of the idle rating (E-model) remains, with a jitter buffer of 30 ms and with one that adapts: {}",
            words.join(", ")
        ),
    })
}

/// The share of an idle rating that remains. Ratings below 0 exist; a call that bad is no call.
fn keeps(idle: f64, loaded: f64) -> f64 {
    (loaded.max(0.0) / idle.max(1.0)).min(1.0)
}

/// Whether classes survive and are treated as the specification's ideal has it.
pub(super) fn classification(summary: &Summary) -> Option<Part> {
    let kept = marks_kept(&summary.dscp)?;
    let rates = &summary.throughput_mbps;
    let share_of = |class: Dscp| {
        let ways = [&rates.down_by_class, &rates.up_by_class];
        mean(
            ways.into_iter()
                .filter_map(|rates| share(rates, &class.to_string())),
        )
    };
    let (cs1, ef) = (share_of(Dscp::CS1)?, share_of(Dscp::EF)?);
    // With all classes alike nothing was classified.
    let equal = 1.0
        / rates
            .down_by_class
            .len()
            .max(rates.up_by_class.len())
            .max(1) as f64;
    let background = if cs1 < CS1_LEAST {
        0.0
    } else {
        falling(cs1, CS1_MOST, equal.max(CS1_MOST * 2.0))
    };
    let urgent = falling(ef, EF_MOST, EF_ALL);
    let shares = [kept, background, urgent];
    Some(Part {
        share: shares
            .iter()
            .zip(DIVISION)
            .map(|(share, of)| share * of)
            .sum(),
        why: format!(
            "{:.0} % of marks survive; CS1 has {:.1} % of the load's rate (ideal: some, at most 5 %), EF {:.1} % (ideal: at most 30 %)",
            kept * 100.0,
            cs1 * 100.0,
            ef * 100.0
        ),
    })
}

/// Share of marked packets that arrived with their mark; best effort has none to lose.
fn marks_kept(dscp: &BTreeMap<String, Marks>) -> Option<f64> {
    let best_effort = Dscp::CS0.to_string();
    let marked = dscp.iter().filter(|(class, _)| **class != best_effort);
    let (mut kept, mut all) = (0_u64, 0_u64);
    for (class, marks) in marked {
        for (seen, count) in marks.up.iter().chain(&marks.down) {
            all += count;
            kept += if seen == class { *count } else { 0 };
        }
    }
    (all > 0).then(|| kept as f64 / all as f64)
}

/// A class's share of a direction's rate; `None` where it has no load.
pub(super) fn share(rates: &BTreeMap<String, f64>, class: &str) -> Option<f64> {
    let total: f64 = rates.values().sum();
    let rate = rates.get(class)?;
    (total > 0.0).then(|| rate / total)
}

/// 1 up to `good`, 0 from `bad` on, a straight line in between.
fn falling(value: f64, good: f64, bad: f64) -> f64 {
    (1.0 - (value - good) / (bad - good)).clamp(0.0, 1.0)
}

/// Whether like streams share alike, and IPv6 as IPv4.
pub(super) fn fairness(summary: &Summary) -> Option<Part> {
    let fair = &summary.fairness;
    let like = mean([fair.like_down, fair.like_up].into_iter().flatten())?;
    let family = |ratio: f64| ratio.min(1.0 / ratio);
    let families = [fair.v6_over_v4_down, fair.v6_over_v4_up];
    let families = mean(families.into_iter().flatten().map(family));
    let words = families.map_or_else(
        || "only one version of IP".to_owned(),
        |share| format!("IPv4 and IPv6 within {share:.2} of each other"),
    );
    Some(Part {
        share: like * families.unwrap_or(1.0),
        why: format!("like streams share with index {like:.2} (1 is equal); {words}"),
    })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
