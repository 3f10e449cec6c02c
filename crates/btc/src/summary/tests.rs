use super::*;
use serde_json::{Value, json};

fn plan(parallel: u16) -> Plan {
    let plan = json!({
        "mode": "cooperative", "direction": "up", "limit": { "segments": 725 }, "parallel": parallel, "repeat": 2,
        "compare": true, "options": {}, "class": "CS0", "patience": "30s", "seed": 1
    });
    serde_json::from_value(plan).unwrap()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few megabytes"
)]
fn transfer(tool: &'static str, repeat: u32, start_ns: u64, mbps: Option<f64>) -> Transfer {
    Transfer {
        tool: tool.into(),
        repeat,
        start_ns,
        seconds: mbps.map(|_| 2.0),
        segments: 725,
        bytes: mbps.map_or(0, |mbps| (mbps * 250_000.0) as u64),
        throughput_mbps: mbps,
        sent_packets: 1_000,
        retransmits: 12,
        lost: 10,
        cc: "reno".into(),
        outcome: if mbps.is_some() { "complete" } else { "lied" }.into(),
        ..Transfer::default()
    }
}

fn summary(parallel: u16, transfers: Vec<Transfer>) -> Summary {
    let mut findings = Findings::default();
    findings.transfers = transfers;
    summarise(&plan(parallel), &findings)
}

/// Holds btc/cap-loss.
#[test]
fn pairs_are_of_one_repetition_and_say_who_was_first() {
    let summary = summary(
        1,
        vec![
            transfer("kernel", 0, 0, Some(10.0)),
            transfer("ours", 0, 5, Some(9.0)),
            transfer("ours", 1, 10, Some(12.0)),
            transfer("kernel", 1, 15, Some(10.0)),
        ],
    );
    let differences: Vec<_> = summary
        .pairs
        .iter()
        .map(|pair| pair.difference_pct)
        .collect();
    assert_eq!(differences, [-10.0, 20.0]);
    let first: Vec<_> = summary
        .pairs
        .iter()
        .map(|pair| pair.first.as_str())
        .collect();
    assert_eq!(first, ["kernel", "ours"]);
    assert_eq!(summary.throughput_mbps, Some(10.5));
    assert_eq!((summary.segments, summary.retransmits), (1_450, 24));
    assert_eq!(
        (summary.loss_pct, summary.loss_agreement_pct),
        (Some(1.0), Some(100.0))
    );
    let mean = summary.kernel.unwrap().throughput_mbps.unwrap().mean;
    assert!((mean - 10.0).abs() < 1e-9, "{mean}");
}

#[test]
fn parallel_transfers_are_added_and_a_liar_leaves_its_repetition_without_a_figure() {
    let summary = summary(
        2,
        vec![
            transfer("ours", 0, 0, Some(4.0)),
            transfer("ours", 0, 0, Some(6.0)),
            transfer("ours", 1, 9, Some(5.0)),
            transfer("ours", 1, 9, None),
        ],
    );
    assert_eq!(summary.throughput_mbps, Some(10.0));
    assert_eq!(summary.outcomes["lied"], 1);
    assert!(summary.pairs.is_empty() && summary.difference_pct.is_none());
}

#[test]
fn nothing_is_null_and_not_zero() {
    let summary = serde_json::to_value(summary(1, Vec::new())).unwrap();
    for field in [
        "throughput_mbps",
        "loss_pct",
        "rtt_ms",
        "seconds",
        "difference_pct",
    ] {
        assert_eq!(summary[field], Value::Null, "{field}");
    }
}

/// Holds btc/advanced-features.
#[test]
fn what_a_tcp_needs_follows_from_the_largest_flight_and_from_losses_in_one_window() {
    let of = |largest_flight, multiple_losses| {
        let transfer = Transfer {
            largest_flight,
            multiple_losses,
            ..transfer("ours", 0, 0, Some(9.0))
        };
        let summary = summary(1, vec![transfer]);
        (summary.tcp_needs, summary.largest_flight)
    };
    // 45 segments of 1,448 octets fit into a window without scaling, 46 do not.
    assert_eq!(of(Some(45), Some(0)), (Vec::new(), Some(45)));
    assert_eq!(of(Some(46), Some(0)).0, ["window-scaling"]);
    assert_eq!(of(Some(45), Some(1)).0, ["sack"]);
    assert_eq!(of(None, None), (Vec::new(), None));
    let mut without = plan(1);
    without.options.recovery = transport::Recovery::NewReno;
    let row = Transfer {
        multiple_losses: Some(1),
        ..transfer("ours", 0, 0, Some(9.0))
    };
    assert_eq!(
        needs(&without, &[&row]),
        Vec::<String>::new(),
        "it did without"
    );
}

/// Holds btc/lost-windows, btc/reordering-severity, btc/host-drops.
#[test]
fn what_is_known_of_several_transfers_is_summed_and_the_farthest_is_the_most() {
    let with = |most, dropped| Transfer {
        reordered: Some(5),
        reordered_by_3: Some(2),
        most_overtaking: most,
        lost_windows: Some(1),
        interface_dropped: dropped,
        ..transfer("ours", 0, 0, Some(9.0))
    };
    let both = summary(2, vec![with(Some(7), Some(2)), with(Some(4), Some(3))]);
    assert_eq!((both.reordered, both.reordered_by_3), (10, 4));
    assert_eq!((both.most_overtaking, both.lost_windows), (Some(7), 2));
    // At the same time they see the same, one after the other what each saw.
    assert_eq!(both.interface_dropped, Some(3));
    let again = Transfer {
        repeat: 1,
        ..with(None, Some(4))
    };
    let two = summary(1, vec![with(None, Some(3)), again]);
    assert_eq!(two.interface_dropped, Some(7));
    let one = summary(1, vec![with(None, None)]);
    assert_eq!((one.most_overtaking, one.interface_dropped), (None, None));
}

#[test]
fn together_they_get_no_more_than_was_acknowledged_in_their_time() {
    // Each has the whole of 10 Mbit/s for two seconds, one after the other.
    let after = |start_ns| transfer("ours", 0, start_ns, Some(10.0));
    let summary = summary(2, vec![after(0), after(2_000_000_000)]);
    assert_eq!(summary.throughput_mbps, Some(10.0));
}

#[test]
fn the_mean_of_repetitions_has_students_interval() {
    let transfers = [9.0, 10.0, 11.0]
        .into_iter()
        .zip(0..)
        .map(|(mbps, repeat)| transfer("ours", repeat, 0, Some(mbps)));
    let summary = summary(1, transfers.collect());
    let [low, high] = summary.throughput_ci_mbps.unwrap();
    // t of 2 degrees of freedom is 4.3027; the standard error is 1 / sqrt(3).
    assert!(
        (high - 12.4841).abs() < 1e-3 && (low - 7.5159).abs() < 1e-3,
        "{low} {high}"
    );
    let one = self::summary(1, vec![transfer("ours", 0, 0, Some(9.0))]);
    assert_eq!(one.throughput_ci_mbps, None);
}
