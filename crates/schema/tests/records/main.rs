//! Whole records: written, killed, damaged, read and exported.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod crash;
mod damage;
mod export;
mod round_trip;
mod schema;

use isobath_schema::tables::{Counters, Cpu, Queue, Sample, Series, Stream};
use record::*;
use serde_json::{Map, json};

/// A run with nothing left out.
fn full_run() -> Run {
    let mut run = Run::new(
        "rrul",
        "2026-11-21T07:29:11.5Z".parse().unwrap(),
        json!({"plan": "rrul", "seed": 7, "duration": "60s"}),
    );
    run.status = Status::Complete;
    run.verdict = Some(Verdict::Pass);
    run.path = PathInfo {
        client: Endpoint {
            addresses: vec!["10.0.0.2".parse().unwrap()],
            seen_as: vec!["203.0.113.9".parse().unwrap()],
        },
        server: Endpoint {
            addresses: vec!["2001:db8::1".parse().unwrap()],
            seen_as: vec![],
        },
        families: vec![4, 6],
        lab: Some(LabInfo {
            name: "dsl".into(),
            links: vec![LabLink {
                name: "dsl".into(),
                up: json!(["rate 10Mbit", "fifo 100"]),
                down: json!(["rate 1Mbit", "fifo 100"]),
            }],
            congestion_control: Some("cubic".into()),
            programs_congestion_control: Some("reno".into()),
        }),
    };
    run.hosts = vec![host()];
    run.instrument = instrument();
    run.warnings = vec![Warning {
        code: "no_ipv6".into(),
        message: "the server has no IPv6 address".into(),
        advice: "give it one, or say -4".into(),
    }];
    run.summary = json!({"throughput_mbps": {"down": 9.4}});
    run
}

fn host() -> Host {
    Host {
        role: "client".into(),
        name: "ada".into(),
        kernel: "Linux 6.12.1".into(),
        cpu: "Model 3".into(),
        cpus: 2,
        isobath: "0.1.0".into(),
        congestion_control: CongestionControl {
            default: Some("cubic".into()),
            available: vec!["reno".into(), "cubic".into()],
        },
        tcp_ecn: Some(2),
        clock: Clock {
            source: Some("tsc".into()),
            synchronized: Some(true),
            error_us: Some(120.5),
        },
    }
}

fn instrument() -> Instrument {
    Instrument {
        cpu: vec![CpuUse {
            host: "client".into(),
            mean_pct: 12.5,
            max_pct: 40.0,
            steal_pct: 0.1,
        }],
        lateness: vec![Lateness {
            of: "client voip sender".into(),
            late_us: Distribution {
                n: 3,
                min: 1.0,
                mean: 2.0,
                p50: 2.0,
                p90: 3.0,
                p95: 3.0,
                p99: 3.0,
                max: 3.0,
            },
            missed: 0,
        }],
        stalls: Some(1),
        longest_stall_ms: Some(4.5),
        kernel_stamps_pct: Some(100.0),
        more: Map::from_iter([("spun_pct".to_owned(), json!(3.5))]),
    }
}

/// The `number`th of a sequence of samples, every field of which depends on it.
fn sample(number: u64) -> Sample {
    let answered = !number.is_multiple_of(7);
    Sample {
        t_ns: number * 10_000_000,
        stream: u16::try_from(number % 9).unwrap(),
        seq: number,
        rtt_ns: answered.then_some(20_000_000 + number * 3),
        owd_up_ns: answered.then_some(-5_000),
        owd_down_ns: answered.then(|| i64::try_from(number).unwrap()),
        lost: !answered,
        late: number.is_multiple_of(5),
        clock: if number.is_multiple_of(2) {
            "kernel"
        } else {
            "user"
        }
        .into(),
        tos_sent: 0xb8,
        tos_seen_far: answered.then_some(0),
        tos_seen_near: None,
    }
}

fn series() -> Vec<Series> {
    let full = Series {
        t_ns: u64::MAX,
        bin_ns: 100_000_000,
        stream: u16::MAX,
        direction: "down".into(),
        end: "client".into(),
        delivered_bytes: Some(125_000),
        acked_bytes: Some(124_000),
        rtt_us: Some(31_250),
        min_rtt_us: Some(20_000),
        cwnd_segments: Some(80),
        ssthresh_segments: Some(40),
        retransmits: Some(3),
        delivery_rate_bps: Some(9_600_000),
        pacing_rate_bps: Some(11_000_000),
        busy_us: Some(99_000),
        rwnd_limited_us: Some(1),
        sndbuf_limited_us: Some(2),
        segs_in: Some(90),
        segs_out: Some(91),
        data_segs_in: Some(89),
        data_segs_out: Some(0),
        ce_segs_in: Some(7),
        echoed_segs_out: Some(70),
    };
    vec![Series::default(), full]
}

fn streams() -> Vec<Stream> {
    let full = Stream {
        id: 1,
        name: "tcp up, \"CS1\" #2".into(),
        kind: "tcp_load".into(),
        direction: "up".into(),
        class: "CS1".into(),
        family: 6,
        server: Some(0),
        ecn: Some("ECT(0)".into()),
        ecn_agreed: Some(true),
        message_bytes: Some(1_200),
        congestion_control: Some("cubic".into()),
        planned_ns: 5_000_000_000,
        connected_ns: Some(5_020_000_000),
        first_byte_ns: Some(5_041_000_000),
        slew_ms: Some(20.1),
        total_bytes: Some(1 << 40),
        sent_bytes: Some(5),
        retransmits: Some(12),
    };
    vec![Stream::default(), full]
}

fn queue() -> Vec<Queue> {
    vec![Queue {
        t_ns: 10_000_000,
        link: "dsl".into(),
        direction: "up".into(),
        stage: "fifo".into(),
        packets: 99,
        bytes: 148_500,
        dropped_overflow: 4,
        dropped_aqm: 3,
        dropped_loss: 2,
        marked: 1,
    }]
}

fn counters() -> Vec<Counters> {
    vec![Counters {
        t_ns: 100_000,
        link: "dsl".into(),
        direction: "down".into(),
        packets: 2,
        bytes: 3_000,
    }]
}

fn cpu() -> Vec<Cpu> {
    vec![Cpu {
        t_ns: 1_000_000_000,
        host: "client".into(),
        busy_pct: 100.0 / 3.0,
        max_pct: 60.5,
        steal_pct: 0.0,
        process_pct: 130.25,
        throttled_pct: Some(12.5),
    }]
}

/// Appends a little of every table.
fn append_all(writer: &mut RecordWriter) {
    writer
        .append(&(0..20).map(sample).collect::<Vec<_>>())
        .unwrap();
    writer.append(&series()).unwrap();
    writer.append(&streams()).unwrap();
    writer.append(&queue()).unwrap();
    writer.append(&counters()).unwrap();
    writer.append(&cpu()).unwrap();
}

#[track_caller]
fn assert_has_all(record: &Record) {
    let samples: Vec<_> = (0..20).map(sample).collect();
    assert_eq!(record.rows::<Sample>().unwrap(), samples);
    assert_eq!(record.rows::<Series>().unwrap(), series());
    assert_eq!(record.rows::<Stream>().unwrap(), streams());
    assert_eq!(record.rows::<Queue>().unwrap(), queue());
    assert_eq!(record.rows::<Counters>().unwrap(), counters());
    assert_eq!(record.rows::<Cpu>().unwrap(), cpu());
}

/// The names in a folder, sorted.
fn listing(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}
