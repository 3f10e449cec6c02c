use super::*;
use crate::streams::{Common, StreamPlan};
use crate::tables::CallSample;
use record::Distribution;
use schema::tables::{PageLoad, PageObject, Sample, Series};

const SECOND: u64 = 1_000_000_000;

fn plan() -> Plan {
    crate::catalogue::parse(
        "summary = 'test'
         idle_before = '1s'
         duration = '3s'
         settle = '1s'
         idle_after = '1s'
         families = 'both'
         load = [{ direction = 'both', streams = 2 }]
         probe = [{ kind = 'udp_rr', class = 'EF' }, { kind = 'tcp_rr' }]",
        "test",
    )
    .unwrap()
}

fn tables(plan: &Plan) -> Tables {
    let common = Common {
        families: &[4, 6],
        cc: None,
    };
    Tables::new(&StreamPlan::all(plan, &common), None)
}

/// Bins of one second: `bytes` delivered in each, at the receiver's end; one ACK for every 10,000 octets.
fn deliver(tables: &mut Tables, stream: u16, end: &'static str, bytes: u64) {
    for second in 1..=5 {
        tables.series.push(Series {
            t_ns: second * SECOND - 1,
            bin_ns: SECOND,
            stream,
            direction: if end == "client" { "down" } else { "up" }.into(),
            end: end.into(),
            delivered_bytes: Some(bytes),
            segs_out: Some(second * bytes / 10_000 + 3),
            data_segs_out: Some(3),
            ..Series::default()
        });
    }
}

fn probe(tables: &mut Tables, stream: u16, second: u64, rtt_ms: Option<u64>) {
    tables.samples.push(Sample {
        t_ns: second * SECOND,
        stream,
        rtt_ns: rtt_ms.map(|ms| ms * 1_000_000),
        lost: rtt_ms.is_none(),
        tos_sent: 0xb8,
        tos_seen_far: rtt_ms.map(|_| 0x20),
        ..Sample::default()
    });
}

/// Holds rrul/throughput-sum, rrul/ack-octets, rrul/aggregate-bandwidth.
#[test]
fn throughput_is_what_was_delivered_in_the_loaded_seconds() {
    let plan = plan();
    let mut tables = tables(&plan);
    // Streams 0 and 2 go down, by IPv4 and IPv6; 1 and 3 up.
    deliver(&mut tables, 0, "client", 1_000_000);
    deliver(&mut tables, 2, "client", 3_000_000);
    deliver(&mut tables, 1, "server", 500_000);
    let summary = summarise(&plan, &tables);
    let rates = &summary.throughput_mbps;
    // The loaded time is from 2 s to 4 s.
    assert!((rates.down.unwrap() - 32.0).abs() < 1e-9, "{rates:?}");
    assert!((rates.up.unwrap() - 4.0).abs() < 1e-9);
    assert!((rates.sum.unwrap() - 36.0).abs() < 1e-9);
    // 100 ACKs of 52 octets and 300 of 72 in the second between the first look and the last.
    let octets = 100.0 * 52.0 + 300.0 * 72.0;
    assert!(
        (rates.ack_up.unwrap() - octets * 8e-6).abs() < 1e-9,
        "{rates:?}"
    );
    let acks = summary.acks.up.as_ref().unwrap();
    assert_eq!(acks.basis, "counted");
    assert!((acks.per_s - 400.0).abs() < 1e-9);
    assert!((acks.v6_encapsulated_mbps - 300.0 * 92.0 * 8e-6).abs() < 1e-9);
    assert!((rates.down_by_family["v6"] - 24.0).abs() < 1e-9);
    // Without counted segments full ones are taken: 1,448 octets of 1,500, and 1,428.
    let by_wire = 3.0 * 1_448.0 / 1_428.0;
    assert!((summary.fairness.v6_over_v4_down.unwrap() - by_wire).abs() < 1e-9);
    assert!((summary.fairness.down.unwrap() - 0.8).abs() < 1e-9);
    assert_eq!(
        summary.fairness.up,
        Some(0.5),
        "a stream that carried nothing counts"
    );
}

/// Holds rrul/fair-to-both-versions.
#[test]
fn streams_that_share_a_link_alike_are_alike_in_either_version_of_ip() {
    let plan = plan();
    let mut tables = tables(&plan);
    // As many packets of 1,500 octets of each, counted or not.
    for counted in [None, Some(100)] {
        tables.series.clear();
        deliver(&mut tables, 0, "client", 144_800);
        deliver(&mut tables, 2, "client", 142_800);
        for (row, second) in tables
            .series
            .iter_mut()
            .zip([1, 2, 3, 4, 5].into_iter().cycle())
        {
            row.data_segs_in = counted.map(|segments| segments * second);
        }
        let summary = summarise(&plan, &tables);
        let ratio = summary.fairness.v6_over_v4_down.unwrap();
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    }
    let rates = summarise(&plan, &tables).throughput_mbps;
    let wire = 200.0 * 1_500.0 * 8e-6;
    assert!((rates.wire_down.unwrap() - wire).abs() < 1e-9, "{rates:?}");
    assert_eq!(rates.wire_sum, None, "nothing is known of the way up");
    deliver(&mut tables, 1, "server", 144_800);
    for row in &mut tables.series {
        row.data_segs_in.get_or_insert(0);
    }
    let rates = summarise(&plan, &tables).throughput_mbps;
    let sum = rates.wire_down.unwrap() + rates.wire_up.unwrap();
    assert_eq!(rates.wire_sum, Some(sum));
}

/// Holds rrul/packet-loss.
#[test]
fn what_was_sent_again_is_a_share_of_what_was_sent() {
    let plan = plan();
    let mut tables = tables(&plan);
    for second in 1..=5 {
        tables.series.push(Series {
            t_ns: second * SECOND - 1,
            bin_ns: SECOND,
            direction: "up".into(),
            stream: 1,
            end: "client".into(),
            retransmits: Some(second * 2),
            data_segs_out: Some(second * 100),
            ..Series::default()
        });
    }
    let found = summarise(&plan, &tables).retransmitted_pct;
    assert_eq!((found.up, found.down), (Some(2.0), None));
}

/// Holds rrul/light-probes.
#[test]
fn what_probes_take_of_the_path_is_told() {
    let plan = plan();
    let mut tables = tables(&plan);
    // Stream 4 is of datagrams of 92 octets over IPv4; one of those under load is not answered.
    for (second, rtt_ms) in [(0, Some(20)), (2, Some(100)), (3, None)] {
        probe(&mut tables, 4, second, rtt_ms);
    }
    let stream = tables.streams.iter().find(|s| s.id == 4).unwrap();
    let octets = f64::from(stream.message_bytes.unwrap() + 28);
    deliver(&mut tables, 0, "client", 1_000_000);
    let found = summarise(&plan, &tables).datagrams_mbps;
    let rate = |octets: f64, seconds: f64| octets * 8e-6 / seconds;
    let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-12;
    assert!(near(found.up.idle, rate(octets, 1.0)), "{found:?}");
    assert!(near(found.up.loaded, rate(2.0 * octets, 2.0)));
    assert!(near(found.down.loaded, rate(octets, 2.0)));
}

/// Holds rrul/classification, rrul/relative-to-idle, rrul/tcp-round-trips.
#[test]
fn round_trips_are_sorted_by_phase_and_class_and_the_settling_time_is_left_out() {
    let plan = plan();
    let mut tables = tables(&plan);
    for (second, rtt_ms) in [
        (0, Some(20)),
        (1, Some(500)),
        (2, Some(100)),
        (3, None),
        (4, Some(900)),
    ] {
        probe(&mut tables, 4, second, rtt_ms);
    }
    probe(&mut tables, 5, 2, Some(70));
    deliver(&mut tables, 0, "client", 1);
    let summary = summarise(&plan, &tables);
    let p50 = |d: Option<Distribution>| d.map(|d| d.p50);
    assert_eq!(p50(summary.latency_ms.idle), Some(20.0));
    assert_eq!(p50(summary.latency_ms.loaded), Some(100.0));
    assert_eq!(p50(summary.latency_ms.by_class["EF"].loaded), Some(100.0));
    assert_eq!(p50(summary.tcp_rr_ms.loaded), Some(70.0));
    assert_eq!(
        (summary.loss_pct.idle, summary.loss_pct.loaded),
        (Some(0.0), Some(50.0))
    );
    assert_eq!(summary.dscp["EF"].up["CS1"], 5, "EF arrived as CS1");
}

#[test]
fn paced_requests_have_figures_of_their_own() {
    let text = "summary = 'test'
         idle_before = '1s'
         duration = '3s'
         settle = '1s'
         load = [{ direction = 'both' }]
         probe = [{ kind = 'udp_rr' }, { kind = 'udp_paced' }]";
    let plan = crate::catalogue::parse(text, "test").unwrap();
    let mut tables = tables(&plan);
    probe(&mut tables, 2, 3, Some(30));
    probe(&mut tables, 3, 3, Some(90));
    probe(&mut tables, 3, 3, None);
    deliver(&mut tables, 0, "client", 1);
    let summary = summarise(&plan, &tables);
    assert_eq!(summary.latency_ms.loaded.map(|d| d.p50), Some(30.0));
    assert_eq!(
        summary.paced_ms.loaded.map(|d| (d.n, d.p50)),
        Some((1, 90.0))
    );
    assert_eq!(summary.paced_loss_pct.loaded, Some(50.0));
    assert_eq!(summary.loss_pct.loaded, Some(0.0));
}

/// Holds rrul/transferred.
#[test]
fn without_the_servers_side_what_was_acknowledged_counts() {
    let plan = plan();
    let mut tables = tables(&plan);
    deliver(&mut tables, 1, "server", 0);
    for row in &mut tables.series {
        row.end = "client".into();
        row.acked_bytes = Some(250_000);
    }
    let up = summarise(&plan, &tables).throughput_mbps.up;
    assert!((up.unwrap() - 2.0).abs() < 1e-9, "{up:?}");
}

#[test]
fn nothing_measured_gives_an_empty_summary() {
    let plan = plan();
    let summary = summarise(&plan, &tables(&plan));
    assert!(summary.latency_ms.loaded.is_none() && summary.throughput_mbps.sum.is_none());
}

/// A plan with a call, pages and marked probes.
fn whole() -> Plan {
    crate::catalogue::parse(
        "summary = 'test'
         idle_before = '1s'
         duration = '4s'
         settle = '1s'
         load = [{ direction = 'both' }]
         probe = [{ kind = 'udp_rr', ecn = 'ect0' }, { kind = 'https' }]
         call = [{ class = 'EF', direction = 'up' }]
         [web]
         page = 'rrul2013'
         before = '1s'",
        "test",
    )
    .unwrap()
}

/// Holds rrul/jitter-is-loss, rrul/call-delay, rrul/stream-delay.
#[test]
fn a_call_is_judged_by_what_was_lost_or_late() {
    let plan = whole();
    let mut tables = tables(&plan);
    let call = tables.streams.iter().find(|s| s.kind == "voip").unwrap().id;
    // 100 a second; from 3 s on every second one is 50 ms later than at first.
    for seq in 0..600_u32 {
        let late = seq >= 300 && seq.is_multiple_of(2);
        tables.call(&CallSample {
            stream: call,
            seq,
            t_ns: u64::from(seq) * 10_000_000,
            owd_ns: if late { 60_000_000 } else { 10_000_000 },
            kernel: true,
            tos: Some(0xb8),
        });
    }
    let last = Series {
        t_ns: 6 * SECOND,
        ..Series::default()
    };
    tables.series.push(last);
    tables.close_calls(true);
    let call = summarise(&plan, &tables).voip["EF"].up.clone();
    let (idle, loaded) = (call.idle.unwrap(), call.loaded.unwrap());
    assert_eq!((idle.sent, idle.late_pct, idle.loss_pct), (100, 0.0, 0.0));
    assert!(idle.mos.unwrap() > 4.3, "{idle:?}");
    assert_eq!((loaded.sent, loaded.late_pct), (300, 50.0));
    assert!(loaded.mos.unwrap() < 2.0, "{loaded:?}");
    assert!((call.jitter_ms.unwrap() - 50.0).abs() < 1e-6);
}

/// Holds rrul/call-loss, rrul/packet-loss.
#[test]
fn what_was_sent_on_a_call_and_never_arrived_is_lost() {
    let plan = whole();
    let mut tables = tables(&plan);
    let call = tables.streams.iter().find(|s| s.kind == "voip").unwrap().id;
    for seq in [0, 1, 3, 3, 4] {
        tables.call(&CallSample {
            stream: call,
            seq,
            t_ns: 0,
            owd_ns: 1,
            kernel: true,
            tos: None,
        });
    }
    tables.ended(
        "client",
        &kit::sampler::StreamEnd {
            id: call,
            sent: Some(12),
            unsent: vec![(7, 9), (11, 12)],
            ..Default::default()
        },
    );
    tables.close_calls(true);
    let lost: Vec<_> = tables
        .samples
        .iter()
        .filter(|s| s.lost)
        .map(|s| s.seq)
        .collect();
    assert_eq!(lost, [2, 5, 6, 9, 10], "what was not sent was not lost");
    assert_eq!(tables.samples.len(), 9, "a second copy says nothing new");
}

/// Holds rrul/score-web, rrul/page-statistics, rrul/short-flows.
#[test]
fn responsiveness_is_idle_over_loaded_page_time() {
    let plan = whole();
    let mut tables = tables(&plan);
    for (load, t_ns, ms) in [(0, SECOND, 20), (1, SECOND + 1, 20), (2, 4 * SECOND, 139)] {
        tables.pages.push(PageLoad {
            t_ns,
            load,
            loader: "native".into(),
            protocol: "h2".into(),
            page: "rrul2013".to_owned(),
            load_ns: Some(ms * 1_000_000),
            ..PageLoad::default()
        });
        tables.objects.push(PageObject {
            t_ns,
            load,
            wait_ns: Some(1_000_000),
            receive_ns: Some(1_000_000),
            bytes: 1_000,
            ..PageObject::default()
        });
    }
    tables.series.push(Series {
        t_ns: 6 * SECOND,
        ..Series::default()
    });
    let web = summarise(&plan, &tables).web.unwrap();
    // The specification's own example: 20 ms against 139 ms is 14.
    assert!(
        (web.responsiveness.unwrap() - 14.39).abs() < 0.01,
        "{web:?}"
    );
    assert_eq!(web.by_loader.keys().collect::<Vec<_>>(), ["native h2"]);
    assert!((web.short_flow_mbps.loaded.unwrap().p50 - 4.0).abs() < 1e-9);
    let idle = web.by_loader["native h2"].idle_mean_ms.unwrap();
    assert_eq!(
        (idle.mean, idle.sd, idle.ci95),
        (20.0, Some(0.0), Some([20.0, 20.0]))
    );
}

#[test]
fn pages_that_fail_or_are_cut_off_count_as_slow() {
    let plan = whole();
    let load = |t_ns, load_ms: Option<u64>, spent_ms: u64, error: Option<&str>| PageLoad {
        t_ns,
        loader: "native".into(),
        protocol: "h2".into(),
        load_ns: load_ms.map(|ms| ms * 1_000_000),
        spent_ns: Some(spent_ms * 1_000_000),
        error: error.map(str::to_owned),
        ..PageLoad::default()
    };
    let of_loaded = |loads: &[PageLoad]| {
        let mut tables = tables(&plan);
        tables.pages.push(load(SECOND, Some(200), 200, None));
        tables.pages.extend_from_slice(loads);
        tables.series.push(Series {
            t_ns: 6 * SECOND,
            ..Series::default()
        });
        summarise(&plan, &tables).web.unwrap()
    };
    let under_load = 4 * SECOND;
    let one = load(under_load, Some(1_000), 1_000, None);
    let failed = load(under_load, None, 500, Some("refused"));
    let cut = load(under_load, None, 2_500, Some(CUT_OFF));
    let web = of_loaded(&[one.clone(), failed.clone(), cut.clone()]);
    assert_eq!(web.loaded_per_page_ms, Some(4_000.0));
    assert_eq!(web.responsiveness, Some(5.0));
    assert_eq!((web.failed, web.cut_off), (1, 1));
    assert_eq!(web.loaded_ms.map(|ms| ms.n), Some(1), "of what finished");
    let web = of_loaded(&[cut, failed]);
    assert_eq!(web.loaded_per_page_ms, Some(3_000.0), "at least");
    assert_eq!(web.idle_per_page_ms, Some(200.0));
    assert_eq!(of_loaded(&[]).responsiveness, None, "nobody tried");
}

/// Holds rrul/ecn.
#[test]
fn the_ecn_field_is_compared_as_sent_and_as_arrived() {
    let plan = whole();
    let mut tables = tables(&plan);
    for (seen, times) in [(0x02, 6), (0x03, 3), (0x00, 1)] {
        for _ in 0..times {
            tables.samples.push(Sample {
                tos_sent: 0x02,
                tos_seen_far: Some(seen),
                ..Sample::default()
            });
        }
    }
    let ecn = summarise(&plan, &tables).ecn;
    assert_eq!(ecn.ce_pct, Some(30.0));
    assert_eq!(ecn.bleached_pct, Some(10.0));
    assert_eq!(ecn.sent["ECT(0)"].up["CE"], 3);
}

/// Holds rrul/boost.
#[test]
fn a_burst_allowance_is_left_out_of_the_loaded_time() {
    let plan = crate::catalogue::parse(
        "summary = 'test'
         idle_before = '1s'
         duration = '40s'
         load = [{ direction = 'down' }]",
        "test",
    )
    .unwrap();
    let mut tables = tables(&plan);
    for bin in 1..=410_u64 {
        let mbps = match bin {
            0..=10 => 0,
            11..=120 => 50,
            _ => 20,
        };
        // A little unrest, as every path has.
        let bytes = mbps * 12_500 + (bin * 7_919 % 1_000) * mbps.min(1);
        tables.series.push(Series {
            t_ns: bin * SECOND / 10,
            bin_ns: SECOND / 10,
            direction: "down".into(),
            end: "client".into(),
            delivered_bytes: Some(bytes),
            ..Series::default()
        });
    }
    let summary = summarise(&plan, &tables);
    let [from, to] = summary.phases.discarded[0];
    assert!(
        (from - 3.0).abs() < 0.01 && (12.0..14.0).contains(&to),
        "{from} {to}"
    );
    let [before, after] = summary.phases.boost_mbps.unwrap();
    assert!((before - 50.0).abs() < 1.0 && (after - 20.0).abs() < 1.0);
    let down = summary.throughput_mbps.down.unwrap();
    assert!((down - 20.0).abs() < 0.1, "{down}");
}

/// Holds rrul/mark-ecn.
#[test]
fn the_loads_marks_are_those_that_its_receivers_counted() {
    let plan = plan();
    let mut tables = tables(&plan);
    assert_eq!(summarise(&plan, &tables).ecn.tcp.down.unwrap().streams, 0);
    // Streams 0 and 2 go down; one of them is refused ECN. The sender hears an echo of a whole window.
    for (stream, agreed) in [(0, true), (2, false)] {
        let end = |id| kit::sampler::StreamEnd {
            id,
            ecn: Some(agreed),
            ..Default::default()
        };
        tables.ended("client", &end(stream));
        for (t, end) in [(2, "client"), (2, "server"), (3, "client"), (3, "server")] {
            let marks = u64::from(agreed) * 5 * t;
            tables.series.push(Series {
                t_ns: t * SECOND,
                stream,
                direction: "down".into(),
                end: end.into(),
                data_segs_in: (end == "client").then_some(t * 100),
                ce_segs_in: (end == "client").then_some(marks),
                echoed_segs_out: (end == "server").then_some(marks * 10),
                ..Series::default()
            });
        }
    }
    let tcp = summarise(&plan, &tables).ecn.tcp;
    let down = tcp.down.unwrap();
    assert_eq!((down.streams, down.agreed), (2, 1));
    assert_eq!(
        (down.ce_segments, down.echoed_segments),
        (Some(15), Some(150))
    );
    assert_eq!(down.ce_pct, Some(2.5), "of 600 segments");
    assert_eq!(tcp.up.unwrap().ce_segments, None);
}

#[test]
fn the_figures_asked_for_first_have_intervals_from_their_seconds() {
    let plan = crate::catalogue::parse(
        "summary = 'test'
         idle_before = '4s'
         duration = '8s'
         settle = '1s'
         load = [{ direction = 'down' }]
         probe = [{ kind = 'udp_rr' }]",
        "test",
    )
    .unwrap();
    let mut tables = tables(&plan);
    // Idle round trips are alike; under load those of a second are, and the seconds differ by 20 ms.
    for tenth in 0..120_u64 {
        let second = tenth / 10;
        let rtt_ms = match second {
            0..=3 => 20,
            even if even % 2 == 0 => 100,
            _ => 120,
        };
        tables.samples.push(Sample {
            t_ns: tenth * SECOND / 10,
            stream: 1,
            rtt_ns: (tenth != 60).then_some(rtt_ms * 1_000_000),
            lost: tenth == 60,
            ..Sample::default()
        });
        tables.series.push(Series {
            t_ns: (tenth + 1) * SECOND / 10,
            bin_ns: SECOND / 10,
            direction: "down".into(),
            end: "client".into(),
            delivered_bytes: Some(100_000 + 1_000 * (second % 2)),
            ..Series::default()
        });
    }
    let summary = summarise(&plan, &tables);
    let of = |path: &str| summary.ci95[path];
    let idle = of("latency_ms.idle.p50");
    assert_eq!((idle.low, idle.high, idle.n), (20.0, 20.0, 4.0));
    let loaded = of("latency_ms.by_class.CS0.loaded.p50");
    // Seven seconds, 100 and 120 in turn: Student's half width is 2.447 s / sqrt(7), s = 10.69.
    assert!((loaded.n - 7.0).abs() < 1e-9);
    let half = (loaded.high - loaded.low) / 2.0;
    assert!((half - 9.886).abs() < 0.01, "{loaded:?}");
    let down = of("throughput_mbps.down");
    let rate = summary.throughput_mbps.down.unwrap();
    assert!(down.low < rate && rate < down.high, "{rate} {down:?}");
    let loss = of("loss_pct.loaded");
    // 1 of 70 by Wilson.
    assert!(
        (loss.low - 0.253).abs() < 0.01 && (loss.high - 7.66).abs() < 0.02,
        "{loss:?}"
    );
    assert!(!summary.ci95.contains_key("throughput_mbps.up"));
}
