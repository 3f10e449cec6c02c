use super::*;
use crate::made::{link, replay_plan, replay_summary, udp};
use record::RecordWriter;
use schema::replay::tables::{Active, Connection, Epoch, Offered};
use schema::tables::Counters;
use serde_json::{Value, json};

/// Of `size` octets, that begins late by `late_ms` and whose data takes `took_ms`.
fn connection(connection: u64, size: u64, late_ms: u64, took_ms: Option<u64>) -> Connection {
    let ms = |ms: u64| ms * 1_000_000;
    let planned = ms(1_000 * connection);
    let first = planned + ms(late_ms + 20);
    Connection {
        connection,
        planned_ns: planned,
        started_ns: Some(planned + ms(late_ms)),
        first_byte_ns: Some(first),
        last_byte_ns: took_ms.map(|took| first + ms(took)),
        sequential: connection != 2,
        request_bytes: 100,
        response_bytes: size - 100,
        end: if took_ms.is_some() {
            "complete"
        } else {
            "reset"
        }
        .into(),
        ..Connection::default()
    }
}

fn queue(t_ms: u64, direction: &'static str, packets: u64) -> Queue {
    Queue {
        t_ns: t_ms * 1_000_000,
        link: "a-b".into(),
        direction: direction.into(),
        stage: "fifo".into(),
        packets,
        bytes: packets * 1_250,
        ..Queue::default()
    }
}

/// Four seconds of which the second and third count, over 10 Mbit/s down.
fn replay() -> Replay {
    let dir = tempfile::tempdir().unwrap();
    let mut run = Run::new(TEST, "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
    run.plan = replay_plan(json!({"structure": "a-b", "rtt": "da:30", "constrained": true}));
    run.summary = replay_summary(json!({
        "window": {"from_s": 1.0, "to_s": 3.0}, "forward": "down",
        "links": [link("a-b", "up", Some(1.0), 0.0), link("a-b", "down", Some(10.0), 0.0)],
    }));
    let folder = dir.path().join("run");
    let mut writer = RecordWriter::create(&folder, &run).unwrap();
    let connections = [
        connection(0, 2_000, 1, Some(100)),
        connection(1, 5_000, 2, Some(300)),
        connection(2, 2_000_000, 3, Some(900)),
        connection(3, 500, 4, None),
    ];
    writer.append(&connections).unwrap();
    let epochs = [(0, 50.0), (1, 150.0), (2, 8_000.0)];
    let epochs = epochs.map(|(connection, response_ms)| Epoch {
        connection,
        response_ms,
        ..Epoch::default()
    });
    writer.append(&epochs).unwrap();
    let second = |(s, connections): (u64, u32)| Active {
        t_ns: s * 1_000_000_000,
        syn: 1,
        fin: 0,
        rst: 0,
        connections,
    };
    let seconds = [(0, 90), (1, 10), (2, 20), (3, 90)].map(second);
    writer.append(&seconds).unwrap();
    // In the part that counts three of four samples are empty, and one way has nothing to do with the other.
    let samples = [
        (500, 800),
        (1_000, 0),
        (1_500, 8),
        (2_000, 0),
        (2_500, 0),
        (3_000, 700),
    ];
    writer
        .append(&samples.map(|(t_ms, packets)| queue(t_ms, "down", packets)))
        .unwrap();
    writer
        .append(&samples.map(|(t_ms, _)| queue(t_ms, "up", 50)))
        .unwrap();
    let bins =
        |t_ms: u64, direction: &'static str, packets: u64| (t_ms * 1_000_000, direction, packets);
    let bins = [
        bins(100, "down", 99),
        bins(1_000, "down", 300),
        bins(1_009, "down", 100),
        bins(2_990, "down", 200),
        bins(1_500, "up", 40),
    ];
    let offered = bins.map(|(t_ns, direction, packets)| Offered {
        t_ns,
        link: "a-b".into(),
        direction: direction.into(),
        packets,
        ..Offered::default()
    });
    writer.append(&offered).unwrap();
    let counters = bins.map(|(t_ns, direction, packets)| Counters {
        t_ns,
        link: "a-b".into(),
        direction: direction.into(),
        packets,
        bytes: packets * 1_250,
    });
    writer.append(&counters).unwrap();
    writer.finish(&run).unwrap();
    read(&Record::open(&folder).unwrap(), &run, 4_000_000_000)
        .unwrap()
        .unwrap()
}

#[track_caller]
fn assert_is(quantity: Option<&Quantity>, values: &[f64]) {
    let quantity = quantity.unwrap();
    assert_eq!(quantity.n, values.len() as u64);
    assert_eq!(quantity.curve.v, values);
}

/// Holds tmix/duration, tmix/response-time, tmix/strata.
#[test]
fn durations_are_of_complete_connections_and_responses_of_sequential_ones() {
    let replay = replay();
    let of = &replay.connections;
    assert_is(of.duration_ms.as_ref(), &[100.0, 300.0, 900.0]);
    let json = serde_json::to_value(&replay).unwrap();
    assert_eq!(
        json["duration_from_connect_ms"]["curve"]["v"],
        json!([120.0, 320.0, 920.0])
    );
    assert_eq!(
        json["start_lateness_ms"]["curve"]["v"],
        json!([1.0, 2.0, 3.0, 4.0])
    );
    assert_eq!(json["ends"], json!({"complete": 3, "reset": 1}));
    assert_is(of.response_ms.as_ref(), &[50.0, 150.0]);
    let strata = json["strata"].as_array().unwrap();
    let strata: Vec<_> = strata
        .iter()
        .map(|one| &one["duration_ms"]["curve"]["v"])
        .collect();
    assert_eq!(
        strata,
        [&json!([100.0]), &json!([300.0, 900.0]), &json!([900.0])]
    );
}

/// Holds tmix/active, tmix/tables, tmix/warm-up.
#[test]
fn queue_and_active_connections_are_of_the_part_that_counts_and_lines_of_all() {
    let replay = replay();
    let queue = replay.queue.as_ref().unwrap();
    assert_is(queue.packets.as_ref(), &[0.0, 0.0, 0.0, 8.0]);
    // 8 packets of 1250 octets at 10 Mbit/s.
    assert_is(queue.ms.as_ref(), &[0.0, 0.0, 0.0, 8.0]);
    assert!((queue.empty_pct - 75.0).abs() < 1e-9);
    assert_eq!(queue.ms_line.as_ref().unwrap().n, 6);
    let active = replay.active.as_ref().unwrap();
    assert_is(active.counted.as_ref(), &[10.0, 20.0]);
    assert_eq!(active.connections.n, 4);
}

/// Holds tmix/marginals, tmix/load-figures.
#[test]
fn arrivals_are_forward_and_counted_in_bins_of_the_window() {
    let replay = replay();
    let arrivals = replay.arrivals.as_ref().unwrap();
    let seconds = arrivals.of_bins(1.0).unwrap();
    assert_is(Some(&seconds.kpps), &[0.2, 0.4]);
    // 200 and 400 a second: a standard deviation of 141 over 300.
    assert!((seconds.cov.unwrap() - 0.4714).abs() < 1e-4);
    let fine = arrivals.of_bins(0.01).unwrap();
    assert_eq!((fine.kpps.n, fine.kpps.max), (200, 40.0));
    let throughput = serde_json::to_value(&replay.throughput).unwrap();
    assert_eq!(throughput["forward"]["kpps"]["v"], json!([0.099, 0.4, 0.2]));
    assert_eq!(throughput["reverse"]["mbps"]["v"], json!([0.0, 0.4]));
}

#[test]
fn models_are_told_by_their_names() {
    let models = replay().models;
    let told = [
        models.structure.as_deref(),
        models.rtt.as_deref(),
        models.mode.as_deref(),
    ];
    assert_eq!(told, [Some("a-b"), Some("da:30"), Some("constrained")]);
    assert_eq!(
        (models.forward.as_str(), models.rate_mbps),
        ("down", Some(10.0))
    );
}

#[test]
fn flows_of_udp_are_told_beside_connections_or_alone() {
    let mut run = Run::new(TEST, "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
    let udp = udp(json!({"planned": 5, "completed": 4, "datagrams": {"lost": 2}}));
    let told = "4 of 5 flows of UDP came to their end; 2 of their datagrams were lost.";
    for (planned, before) in [
        (0, ""),
        (3, "All 3 connections of the replay came to their end. "),
    ] {
        let connections = json!({"planned": planned, "completed": planned});
        run.summary = replay_summary(json!({"connections": connections, "udp": udp}));
        assert_eq!(sentence(&run), Some(format!("{before}{told}")));
    }
}

#[test]
fn a_window_that_is_none_is_not_one() {
    let mut run = Run::new(TEST, "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
    for window in [
        json!(null),
        json!({"from_s": 3.0, "to_s": 3.0}),
        json!({"from_s": -1.0, "to_s": 1e300}),
    ] {
        run.summary = replay_summary(json!({"window": window}));
        assert_eq!(window_s(&run), None);
    }
}
