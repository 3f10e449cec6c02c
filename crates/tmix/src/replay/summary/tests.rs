use super::*;
use crate::replay::monitors::Rows;
use crate::replay::plan::{Models, Plan};
use crate::replay::tables::{Connection, Goodput, Offered};
use crate::replay::totals::Totals;
use kit::lab_counters::LabRows;
use schema::replay::Spread;
use schema::replay::plan::Way;
use schema::tables::{Counters, Queue};
use std::path::PathBuf;
use std::time::Duration;
use units::{Rate, Span};

fn plan() -> Plan {
    Plan {
        vectors: PathBuf::from("u.parquet"),
        models: Models::default(),
        duration: Some(Span::from_millis(6_000)),
        warm_up: Span::from_millis(1_000),
        cool_down: Span::from_millis(2_000),
        add_rtt: false,
        rtt_at: crate::replay::plan::RttAt::Both,
        bottleneck: None,
        constrained: false,
        forward: Way::Down,
        congestion_control: None,
        initial_window: None,
        capture: false,
        udp: true,
        seed: 1,
    }
}

fn connection(end: &'static str, started_ms: u64) -> Connection {
    let ns = |ms: u64| ms * 1_000_000;
    Connection {
        connection: 0,
        planned_ns: ns(100),
        started_ns: Some(ns(started_ms)),
        established_ns: Some(ns(started_ms + 20)),
        first_byte_ns: Some(ns(started_ms + 20)),
        last_byte_ns: Some(ns(started_ms + 70)),
        closed_ns: None,
        initiator: "client".into(),
        source_port: None,
        destination_port: None,
        sequential: true,
        rtt_us: 20_000,
        min_rtt_us: None,
        request_bytes: 100,
        response_bytes: 200,
        received_by_acceptor: 100,
        received_by_initiator: 150,
        epochs: 1,
        end: end.into(),
        retransmits: None,
    }
}

fn carried(t_s: u64, direction: &'static str, packets: u64) -> Counters {
    Counters {
        t_ns: t_s * 1_000_000_000,
        link: "left-right".into(),
        direction: direction.into(),
        packets,
        bytes: packets * 1_000,
    }
}

fn waiting(t_ms: u64, packets: u64) -> Queue {
    Queue {
        t_ns: t_ms * 1_000_000,
        link: "left-right".into(),
        direction: "down".into(),
        stage: "all".into(),
        packets,
        bytes: packets * 1_250,
        dropped_overflow: 0,
        dropped_aqm: 0,
        dropped_loss: 0,
        marked: 0,
    }
}

/// Holds tmix/duration, tmix/queue-samples, tmix/load-figures, tmix/tables, tmix/marginals, tmix/warm-up.
#[test]
fn durations_are_of_complete_connections_and_series_of_the_window() {
    let plan = plan();
    let mut figures = Figures::new(&plan, &Totals::default());
    figures.connection(&connection("complete", 103));
    figures.connection(&connection("unfinished", 100));
    figures.lab(&LabRows {
        // Before, in and after the window, and the other way.
        counters: vec![
            carried(0, "down", 900),
            carried(1, "down", 10),
            carried(3, "down", 20),
            carried(3, "up", 6),
            carried(4, "down", 900),
        ],
        queue: vec![
            waiting(999, 7),
            waiting(1_000, 0),
            waiting(2_000, 4),
            waiting(4_000, 9),
        ],
        ..LabRows::default()
    });
    let offered = |t_ms: u64, direction: &'static str, packets| Offered {
        t_ns: t_ms * 1_000_000,
        link: "left-right".into(),
        direction: direction.into(),
        packets,
        bytes: packets * 1_000,
    };
    figures.monitors(&Rows {
        // 3 and 9 packets in two of three seconds; before the window and the other way is not counted.
        offered: vec![
            offered(500, "down", 50),
            offered(1_200, "down", 3),
            offered(2_000, "up", 7),
            offered(3_999, "down", 9),
        ],
        active: Vec::new(),
    });
    let rate = "10Mbit".parse::<Rate>().unwrap();
    let summary = figures.summary(&plan, Duration::from_secs(9), Some(rate), Vec::new());
    assert_eq!(
        (
            summary.connections.completed,
            summary.connections.unfinished
        ),
        (1, 1)
    );
    assert_eq!(summary.bytes.sent, 500);
    let near = |spread: Option<Spread>, n: u64, mean: f64| {
        let of = spread.unwrap().of;
        assert_eq!(of.n, n);
        assert!((of.mean - mean).abs() < 1e-9, "{of:?}");
    };
    near(summary.duration_ms, 1, 50.0);
    near(summary.duration_from_connect_ms, 1, 70.0);
    near(summary.start_lateness_ms, 2, 1.5);
    near(summary.queue_packets, 2, 2.0);
    let queue = summary.queue_packets.unwrap();
    // Of none and 4.
    assert!((queue.p80 - 3.2).abs() < 1e-9 && (queue.sd - 2.0).abs() < 1e-9);
    // 1,250 octets take 1 ms at 10 Mbit/s.
    near(summary.queue_ms, 2, 2.0);
    assert_eq!(summary.queue_empty_pct, Some(50.0));
    // Three seconds carried 10, nothing and 20 packets of 1,000 octets.
    assert!((summary.throughput_mbps.unwrap().forward - 0.08).abs() < 1e-9);
    assert!((summary.packets_per_s.unwrap().forward - 10.0).abs() < 1e-9);
    assert!((summary.packets_per_s.unwrap().reverse - 2.0).abs() < 1e-9);
    let arrivals = summary.arrivals.unwrap();
    assert!(
        (arrivals.mean_kpps - 12.0 / 3_000.0).abs() < 1e-12,
        "{arrivals:?}"
    );
    // 3, 0 and 9 packets: 4 on average, with a standard deviation of the square root of 21.
    let cov = arrivals.cov_1s.unwrap();
    assert!((cov - f64::sqrt(21.0) / 4.0).abs() < 1e-9, "{cov}");
}

#[test]
fn a_damaged_record_does_not_take_all_memory() {
    let mut figures = Figures::new(&plan(), &Totals::default());
    figures.goodput(&[Goodput {
        t_ns: u64::MAX,
        host: "server".into(),
        bytes: u64::MAX,
    }]);
    figures.monitors(&Rows {
        offered: vec![Offered {
            t_ns: u64::MAX,
            link: "a-b".into(),
            direction: "down".into(),
            packets: 1,
            bytes: 1,
        }],
        ..Rows::default()
    });
    let summary = figures.summary(&plan(), Duration::from_secs(9), None, Vec::new());
    assert!(summary.goodput_mbps.forward.abs() < 1e-9 && summary.arrivals.is_none());
}
