//! What a run found, from its plan and its tables alone.

use super::findings::Findings;
use super::plan::Plan;
use super::tables::Transfer;
use record::Distribution;
use schema::btc::{Pair, Side, Summary};
use stats::interval;
use std::collections::BTreeMap;

/// Confidence of the interval of a mean.
const LEVEL: f64 = 0.95;
/// The largest window of TCP without window scaling (RFC 9293 section 3.1).
const UNSCALED_WINDOW: u64 = 65_535;

/// The summary of `findings`.
pub fn summarise(plan: &Plan, findings: &Findings) -> Summary {
    let of = |tool: &str| -> Vec<&Transfer> {
        let transfers = findings.transfers.iter();
        transfers
            .filter(|transfer| (transfer.tool == "kernel") == (tool == "kernel"))
            .collect()
    };
    let (ours, kernel) = (of("ours"), of("kernel"));
    let pairs = if plan.compare {
        pairs(&ours, &kernel)
    } else {
        Vec::new()
    };
    let mut outcomes = BTreeMap::new();
    for transfer in &findings.transfers {
        *outcomes.entry(transfer.outcome.to_string()).or_default() += 1;
    }
    let is_compared = plan.compare || !plan.tools.is_empty();
    let rates: Vec<f64> = rates(&ours).into_values().collect();
    let ci = interval::mean(&rates, LEVEL).map(|of| [of.low, of.high]);
    let sum = |figure: fn(&Transfer) -> u64| ours.iter().map(|transfer| figure(transfer)).sum();
    let most = |figure: fn(&Transfer) -> Option<u32>| {
        let figures = ours.iter().filter_map(|transfer| figure(transfer));
        figures.max()
    };
    let agreeing = |pair: &&Pair| {
        let both = pair.ours_loss_pct.zip(pair.kernel_loss_pct);
        both.is_some_and(|(ours, kernel)| (ours - kernel).abs() <= 1.0)
    };
    Summary {
        throughput_mbps: Distribution::of(rates).map(|rates| rates.mean),
        throughput_ci_mbps: ci,
        segments: sum(|transfer| transfer.segments),
        loss_pct: loss(&ours),
        retransmits: sum(|transfer| transfer.retransmits),
        reordered: sum(|transfer| transfer.reordered.unwrap_or_default()),
        reordered_by_3: sum(|transfer| transfer.reordered_by_3.unwrap_or_default()),
        most_overtaking: most(|transfer| transfer.most_overtaking),
        duplicates: sum(|transfer| transfer.duplicates.unwrap_or_default()),
        lost_windows: sum(|transfer| transfer.lost_windows.unwrap_or_default()),
        largest_flight: most(|transfer| transfer.largest_flight),
        tcp_needs: needs(plan, &ours),
        interface_dropped: interface_dropped(&ours),
        rtt_ms: findings.rtt_ms.distribution(),
        seconds: seconds(&ours),
        outcomes,
        ours: is_compared.then(|| side(&ours)),
        kernel: is_compared.then(|| side(&kernel)),
        difference_pct: Distribution::of(pairs.iter().map(|pair| pair.difference_pct)),
        loss_agreement_pct: (!pairs.is_empty())
            .then(|| pairs.iter().filter(agreeing).count() as f64 / pairs.len() as f64 * 100.0),
        pairs,
    }
}

/// What the sender's interface dropped, as far as that is known. Transfers of one repetition that ran at the same time saw the same drops.
pub fn interface_dropped(transfers: &[&Transfer]) -> Option<u64> {
    let mut repeats: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    for transfer in transfers {
        if let Some(dropped) = transfer.interface_dropped {
            let most = repeats
                .entry((&transfer.tool, transfer.repeat))
                .or_default();
            *most = dropped.max(*most);
        }
    }
    (!repeats.is_empty()).then(|| repeats.values().sum())
}

/// What a TCP needs to get what these `transfers` got.
fn needs(plan: &Plan, transfers: &[&Transfer]) -> Vec<String> {
    let mss = u64::from(plan.options.mss);
    let is_wide = |transfer: &&Transfer| {
        let out = transfer.largest_flight.map(u64::from);
        out.is_some_and(|out| out * mss > UNSCALED_WINDOW)
    };
    let has_sack = plan.options.recovery == transport::Recovery::Sack;
    let has_many = |transfer: &&Transfer| has_sack && transfer.multiple_losses > Some(0);
    let needs = [
        ("window-scaling", transfers.iter().any(is_wide)),
        ("sack", transfers.iter().any(has_many)),
    ];
    let needed = needs.into_iter().filter(|(_, is_needed)| *is_needed);
    needed.map(|(name, _)| name.to_owned()).collect()
}

/// The throughput of each repetition of which all transfers have one.
fn rates(transfers: &[&Transfer]) -> BTreeMap<u32, f64> {
    let mut repeats: BTreeMap<u32, Vec<&Transfer>> = BTreeMap::new();
    for transfer in transfers {
        repeats.entry(transfer.repeat).or_default().push(transfer);
    }
    let known = repeats.into_iter();
    known
        .filter_map(|(repeat, together)| Some((repeat, rate(&together)?)))
        .collect()
}

/// What transfers got together: all that was acknowledged, over the time from the first start to the last end. (Their own rates
/// are over times of their own; the sum of those may be more than the path carries.)
fn rate(together: &[&Transfer]) -> Option<f64> {
    if let [only] = together {
        return only.throughput_mbps;
    }
    let (mut bytes, mut start_s, mut end_s) = (0, f64::INFINITY, 0.0_f64);
    for transfer in together {
        transfer.throughput_mbps?;
        let start = transfer.start_ns as f64 / 1e9;
        bytes += transfer.bytes;
        start_s = start_s.min(start);
        end_s = end_s.max(start + transfer.seconds?);
    }
    let seconds = end_s - start_s;
    (seconds > 0.0).then(|| bytes as f64 * 8e-6 / seconds)
}

fn loss<'a>(transfers: impl IntoIterator<Item = &'a &'a Transfer>) -> Option<f64> {
    let mut total = (0, 0);
    for transfer in transfers {
        total.0 += transfer.lost;
        total.1 += transfer.sent_packets;
    }
    (total.1 > 0).then(|| total.0 as f64 / total.1 as f64 * 100.0)
}

fn seconds(transfers: &[&Transfer]) -> Option<f64> {
    let seconds = transfers.iter().filter_map(|transfer| transfer.seconds);
    Distribution::of(seconds).map(|seconds| seconds.mean)
}

fn side(transfers: &[&Transfer]) -> Side {
    let sum = |figure: fn(&Transfer) -> u64| transfers.iter().map(|t| figure(t)).sum();
    Side {
        throughput_mbps: Distribution::of(rates(transfers).into_values()),
        loss_pct: loss(transfers),
        sent_packets: sum(|transfer| transfer.sent_packets),
        retransmits: sum(|transfer| transfer.retransmits),
        seconds: seconds(transfers),
        cc: transfers
            .iter()
            .map(|transfer| transfer.cc.to_string())
            .find(|cc| !cc.is_empty())
            .unwrap_or_default(),
    }
}

/// The repetitions of which both sides have a figure.
fn pairs(ours: &[&Transfer], kernel: &[&Transfer]) -> Vec<Pair> {
    let (our_rates, kernel_rates) = (rates(ours), rates(kernel));
    let of = |transfers: &[&Transfer], repeat: u32| -> (Option<f64>, u64) {
        let these: Vec<_> = transfers.iter().filter(|t| t.repeat == repeat).collect();
        let start = these.iter().map(|transfer| transfer.start_ns).min();
        (loss(these.iter().copied()), start.unwrap_or(u64::MAX))
    };
    let both = our_rates.into_iter().filter_map(|(repeat, ours_mbps)| {
        let kernel_mbps = *kernel_rates.get(&repeat)?;
        let (ours_loss_pct, our_start) = of(ours, repeat);
        let (kernel_loss_pct, kernel_start) = of(kernel, repeat);
        Some(Pair {
            repeat,
            first: if our_start < kernel_start {
                "ours"
            } else {
                "kernel"
            }
            .to_owned(),
            ours_mbps,
            kernel_mbps,
            difference_pct: (ours_mbps - kernel_mbps) / kernel_mbps * 100.0,
            ours_loss_pct,
            kernel_loss_pct,
        })
    });
    both.collect()
}

#[cfg(test)]
mod tests;
