//! What the reader of a `btc` record should be warned of, each with what to do about it.

use super::plan::{Plan, Tool};
use super::run::Outcome;
use super::summary::summarise;
use kit::warnings::List;
use record::{Instrument, Warning};
use schema::btc::{Side, Summary};
use serde_json::Value;
use std::collections::BTreeMap;

/// A thread that took this share of a processor could not have driven the transfer any faster.
const SATURATED_PCT: f64 = 95.0;
/// What a kernel begins with (RFC 6928), whatever ours is told.
const KERNEL_INITIAL_WINDOW: u32 = 10;

/// Fewer pairs say nothing about how many agree.
const FEWEST_PAIRS: usize = 4;
/// Share of pairs whose losses agree within a point: the paper's (section V).
const AGREEING_PCT: f64 = 85.0;

/// All warnings of a run.
pub fn warnings(plan: &Plan, outcome: &Outcome, instrument: &Instrument) -> Vec<Warning> {
    let mut list = List::default();
    list.ending(&outcome.ending, "the figures are of the transfers before");
    transfers(&mut list, outcome);
    sender(&mut list, instrument);
    list.instrument(instrument, &outcome.findings.cpu, &outcome.findings.truth());
    comparison(&mut list, plan);
    losses(&mut list, &summarise(plan, &outcome.findings));
    traces(&mut list, outcome);
    if outcome.findings.is_by_port {
        list.add(
            "icmp_short_quotes",
            "ICMP errors quote nothing but UDP's header: each packet had to have a port of its own"
                .to_owned(),
            "a path that balances by flow may have reordered them; compare with another --hop",
        );
    }
    list.0
}

/// Transfers that did not end as they should, each reason once.
fn transfers(list: &mut List, outcome: &Outcome) {
    let mut reasons: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for transfer in &outcome.findings.transfers {
        if !["complete", "time"].contains(&&*transfer.outcome) {
            let reason = transfer.reason.as_deref().unwrap_or("for no known reason");
            *reasons.entry((&*transfer.outcome, reason)).or_default() += 1;
        }
    }
    for ((outcome, reason), count) in reasons {
        let (code, advice) = match outcome {
            "lied" => (
                "receiver_lied",
                "measure against a receiver that you trust; the record has what it said",
            ),
            "limited" => (
                "icmp_limited",
                "there is no figure: measure to another hop (--hop N), or to a host that runs 'isobath serve'",
            ),
            "stalled" => ("stalled", "see whether the path is up, and run again"),
            _ => (
                "transfer_failed",
                "run again; the record has what there was",
            ),
        };
        let times = if count == 1 {
            String::new()
        } else {
            format!(" ({count} times)")
        };
        list.add(code, format!("transfer {outcome}: {reason}{times}"), advice);
    }
}

fn sender(list: &mut List, instrument: &Instrument) {
    let figure = |name: &str| instrument.more.get(name).and_then(Value::as_f64);
    for end in ["sender", "receiver"] {
        let busy = figure(&format!("{end}_thread_pct")).unwrap_or_default();
        if busy >= SATURATED_PCT {
            list.add(
                "thread_saturated",
                format!("the {end}'s thread took {busy:.0} % of its processor"),
                "this run measured the host, not the path; use a faster host or a slower path",
            );
        }
    }
    let above = figure("datagrams_above_limit").unwrap_or_default();
    if above > 0.0 {
        list.add(
            "above_limit",
            format!("{above:.0} datagrams were above the server's limit and dropped by it"),
            "the loss is the server's; use a server with a key, or --compare",
        );
    }
    let held = figure("sends_held_by_limit").unwrap_or_default();
    if held > 0.0 {
        list.add(
            "held_by_limit",
            format!("sending waited {held:.0} times for the server's limit of datagrams"),
            "this run measured that limit, not the path; use a server with a key",
        );
    }
    let overflows = figure("socket_overflows").unwrap_or_default();
    if overflows > 0.0 {
        list.add(
            "overflows",
            format!(
                "{overflows:.0} datagrams found a socket's buffer full: that loss is not the path's"
            ),
            "use a faster receiver, or a smaller --window",
        );
    }
    let dropped = figure("interface_dropped").unwrap_or_default();
    if dropped > 0.0 {
        list.add(
            "interface_dropped",
            format!(
                "the sender's own interface dropped {dropped:.0} packets, of this transfer or others: that loss is not the path's"
            ),
            "give the interface a longer queue (ip link set IF txqueuelen N), or see what else sends by it",
        );
    }
    let refused = figure("datagrams_refused").unwrap_or_default();
    if refused > 0.0 {
        list.add(
            "datagrams_refused",
            format!(
                "{refused:.0} datagrams came that were not of the transfer, and were not taken"
            ),
            "somebody else sends to this port, or a box on the path changes packets",
        );
    }
    let left_out = figure("rows_left_out").unwrap_or_default()
        + figure("server_rows_lost").unwrap_or_default();
    if left_out > 0.0 {
        list.add(
            "rows_left_out",
            format!("{left_out:.0} rows of single datagrams are not in the record"),
            "the figures count them all; use a shorter transfer to see each",
        );
    }
}

fn traces(list: &mut List, outcome: &Outcome) {
    let Some(traced) = &outcome.traced else {
        return;
    };
    if let Some(reason) = &traced.failure {
        list.add(
            "trace_failed",
            format!("the packet traces are not whole: {reason}"),
            "the figures do not need them; run again where they matter",
        );
    }
    if traced.left_out > 0 {
        list.add(
            "trace_cut",
            format!("{} datagrams are not in the packet traces", traced.left_out),
            "the figures count them all; use a shorter transfer to see each",
        );
    }
}

/// Losses of ours and of the kernel's that do not agree as the paper's did.
fn losses(list: &mut List, summary: &Summary) {
    let Some(share) = summary.loss_agreement_pct else {
        return;
    };
    if summary.pairs.len() < FEWEST_PAIRS || share >= AGREEING_PCT {
        return;
    }
    let loss = |side: &Option<Side>| side.as_ref().and_then(|side| side.loss_pct);
    list.add(
        "losses_differ",
        format!(
            "the losses agree within 1 point in {share:.0} % of {} pairs: {:.2} % for ours, {:.2} % for the kernel's",
            summary.pairs.len(),
            loss(&summary.ours).unwrap_or_default(),
            loss(&summary.kernel).unwrap_or_default()
        ),
        "the tables 'windows' and 'events' show where they part: a window of the receiver's, a shorter slow start, bursts",
    );
}

fn comparison(list: &mut List, plan: &Plan) {
    let has_kernel = plan.rounds().iter().any(|round| round.tool == Tool::Kernel);
    if has_kernel && plan.options.initial_window != KERNEL_INITIAL_WINDOW {
        list.add(
            "initial_window",
            format!(
                "ours began with {} segments and the kernel's with {KERNEL_INITIAL_WINDOW}",
                plan.options.initial_window
            ),
            "set the kernel's by 'ip route change ... initcwnd' where both must be alike",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::btc::Pair;

    fn warned(pairs: usize, agreeing: f64) -> bool {
        let pair = Pair {
            repeat: 0,
            first: "ours".to_owned(),
            ours_mbps: 4.8,
            kernel_mbps: 4.8,
            difference_pct: 0.0,
            ours_loss_pct: Some(4.4),
            kernel_loss_pct: Some(0.0),
        };
        let mut list = List::default();
        let summary = Summary {
            loss_agreement_pct: Some(agreeing),
            pairs: vec![pair; pairs],
            ..Summary::default()
        };
        losses(&mut list, &summary);
        list.0.iter().any(|warning| warning.code == "losses_differ")
    }

    #[test]
    fn losses_that_agree_less_often_than_the_papers_are_told() {
        assert!(warned(4, 0.0) && warned(20, 80.0));
        assert!(!warned(4, 100.0) && !warned(20, 85.0) && !warned(3, 0.0));
    }
}
