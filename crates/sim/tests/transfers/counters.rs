//! What both ends and the links say of a transfer agrees.

use crate::path::Path;
use ::path::{Element, Probability, Spec, StageSpec};
use isobath_sim::{End, LinkId, Log, Outcome, Plan, Side, Transfers, pipeline};
use std::ops::ControlFlow;
use std::time::Duration;
use transport::Options;
use transport::wire::Datagram;
use units::Instant;

fn seconds(seconds: u64) -> End {
    End::After(Duration::from_secs(seconds))
}

/// Holds btc/same-everywhere.
#[test]
fn the_same_seed_is_the_same_transfer_to_the_last_packet_and_another_one_is_not() {
    let run = |seed| {
        let path = Path::new("10Mbit", 40, 0.01, 1.0);
        let mut transfers = path.transfer(&Options::default(), seconds(5), seed, Log::new(100_000));
        transfers.run();
        let report = transfers.reports()[0];
        let [sender, receiver] = transfers.into_observers().remove(0);
        (
            report,
            sender.packets,
            receiver.packets,
            sender.windows,
            sender.events,
        )
    };
    let (first, second, other) = (run(7), run(7), run(8));
    assert_eq!(first, second);
    assert_ne!(first.1, other.1);
}

#[test]
fn what_was_sent_has_arrived_or_is_counted_as_dropped() {
    for (loss, queue, seed) in [(0.0, 0.25, 1), (0.02, 1.0, 2), (0.2, 4.0, 3)] {
        let path = Path::new("5Mbit", 30, loss, queue);
        let mut transfers =
            path.transfer(&Options::default(), seconds(20), seed, Log::new(usize::MAX));
        transfers.run();
        let report = transfers.reports()[0];
        let counters = transfers.world().link(LinkId(0)).unwrap().counters();
        assert_eq!(
            counters.queued.packets, 0,
            "nothing is under way at the end"
        );
        assert_eq!(report.lost, counters.dropped().packets);
        assert_eq!(report.sent.packets, counters.entered.packets);
        assert_eq!(report.receipts.packets, counters.left.packets);
        // Every loss was repaired, or the end came first; nothing else was sent twice but by mistake.
        assert!(
            report.sent.retransmits
                <= report.lost + report.sent.spurious + report.receipts.duplicates
        );
        let [sender, receiver] = transfers.into_observers().remove(0);
        let data = |log: &Log| {
            log.packets
                .iter()
                .filter(|p| matches!(p.body, Datagram::Segment(_)))
                .count() as u64
        };
        assert_eq!(
            (data(&sender), data(&receiver)),
            (report.sent.packets, report.receipts.packets)
        );
        assert!(
            sender
                .packets
                .iter()
                .all(|packet| packet.side == Side::Sender)
        );
    }
}

#[test]
fn copies_that_the_network_made_are_not_counted_as_arrivals_of_what_was_lost() {
    let copied = vec![
        StageSpec::Loss {
            probability: Probability::try_from(0.02).unwrap(),
        },
        StageSpec::Duplicate {
            probability: Probability::try_from(0.1).unwrap(),
        },
        StageSpec::Rate {
            rate: "10Mbit".parse().unwrap(),
            queue: ::path::QueueSpec::default(),
            cross: None,
        },
        StageSpec::Delay {
            delay: "10ms".parse().unwrap(),
        },
    ];
    let back = Spec(vec![StageSpec::Delay {
        delay: "10ms".parse().unwrap(),
    }]);
    let plan = Plan::new(Options::default(), End::Segments(3_000));
    let (up, down) = (
        pipeline(&Spec(copied), 5).unwrap(),
        pipeline(&back, 0).unwrap(),
    );
    let mut transfers = Transfers::duplex([(plan, [(), ()])], up, down);
    transfers.run();
    let report = transfers.reports()[0];
    let counters = transfers.world().link(LinkId(0)).unwrap().counters();
    assert!(counters.duplicated.packets > 200);
    assert_eq!(report.lost, counters.loss.packets);
    assert_eq!(report.outcome, Some(Outcome::Complete));
    assert_eq!(
        (report.receipts.segments, report.sent.acked),
        (3_000, 3_000)
    );
}

#[test]
fn a_transfer_ends_by_its_segments_or_by_its_time_and_an_impossible_one_is_given_up() {
    let run = |loss: f64, end| {
        let path = Path::new("10Mbit", 40, loss, 1.0);
        let mut transfers = path.transfer(&Options::default(), end, 1, ());
        transfers.run();
        (transfers.reports()[0], transfers.world().now())
    };
    let (report, _) = run(0.0, End::Segments(725));
    assert_eq!(
        (report.outcome, report.sent.acked_bytes),
        (Some(Outcome::Complete), 725 * 1_448)
    );
    let (report, now) = run(0.0, seconds(3));
    assert_eq!(
        (report.outcome, report.time),
        (Some(Outcome::Time), Some(Duration::from_secs(3)))
    );
    assert!(now < Instant::from_millis(3_200), "{now}");
    let (report, now) = run(1.0, End::Segments(5));
    assert_eq!(
        (report.outcome, report.throughput_mbps()),
        (Some(Outcome::Stalled), None)
    );
    assert_eq!(report.loss_pct(), Some(100.0));
    assert_eq!(now, Instant::from_millis(300_000));
}

#[test]
fn transfers_at_a_bottleneck_share_it_and_fill_it() {
    let path = Path::new("20Mbit", 40, 0.0, 1.0);
    let plans = (0..4_u64).map(|number| {
        let mut plan = Plan::new(Options::default(), seconds(120));
        plan.start = Duration::from_millis(500 * number);
        plan.seed = number;
        (plan, [(), ()])
    });
    let mut transfers = Transfers::duplex(plans, path.up(1), path.down());
    let mut longest = 0;
    transfers.run_watched(Duration::from_millis(10), |world| {
        let backlog = world.link(LinkId(0)).and_then(Element::backlog).unwrap();
        longest = longest.max(backlog.bytes);
        ControlFlow::Continue(())
    });
    let rates: Vec<f64> = transfers
        .reports()
        .iter()
        .filter_map(isobath_sim::Report::throughput_mbps)
        .collect();
    let (sum, squares) = (
        rates.iter().sum::<f64>(),
        rates.iter().map(|rate| rate * rate).sum::<f64>(),
    );
    let jain = sum * sum / (4.0 * squares);
    assert!(jain > 0.95 && sum > 18.5, "{jain} {rates:?}");
    // The queue's limit is 100,000 octets, and every so often it is full.
    assert!((98_000..=100_000).contains(&longest), "{longest}");
}
