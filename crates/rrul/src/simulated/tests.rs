use super::{Context, Page, Wire, leave_out, run};
use crate::plan::Plan;
use crate::run::Outcome;
use crate::streams::{Common, StreamPlan};
use crate::summary::summarise;
use crate::{catalogue, plan};
use kit::virtual_links::Hop;
use path::{Assigned, Spec};
use record::{RecordWriter, Run};
use schema::LinkTruth;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use transport::CongestionControl;
use units::{HttpVersion, Span};
use web::PageModel;

/// The line of the lab `dsl`: 5 Mbit/s up, 20 Mbit/s down, 24 ms, queues of 200 ms; what `more` says comes after it.
fn dsl(more: &[Value]) -> Vec<Hop<Wire>> {
    let way = |rate: &str, bytes: &str, seed| {
        let queue = json!({ "kind": "fifo", "bytes": bytes });
        let rate = json!({ "kind": "rate", "rate": rate, "queue": queue });
        let mut stages = vec![rate, json!({ "kind": "delay", "delay": "12ms" })];
        stages.extend_from_slice(more);
        let spec: Spec = serde_json::from_value(Value::Array(stages)).unwrap();
        let no_trace = |name: &str| Err(format!("no trace {name}").into());
        spec.build(seed, &no_trace, &Assigned::default()).unwrap()
    };
    vec![Hop {
        name: "a-b".to_owned(),
        ways: [way("5Mbit", "125kB", 1), way("20Mbit", "500kB", 2)],
        rates: ["5Mbit".parse().ok(), "20Mbit".parse().ok()],
    }]
}

fn measured(plan: &Plan, hops: Vec<Hop<Wire>>) -> (Outcome, Vec<LinkTruth>) {
    let folder = tempfile::tempdir().unwrap();
    let started = "2026-11-21T07:29:11Z".parse().unwrap();
    let begun = Run::new("sim-rrul", started, Value::Null);
    let mut record = RecordWriter::create(&folder.path().join("run"), &begun).unwrap();
    let common = Common {
        families: &[4],
        cc: Some("cubic"),
    };
    let model = plan.web.as_ref();
    let model = model.map(|web| PageModel::find(&web.page).unwrap());
    let page = plan.web.as_ref().zip(model.as_ref());
    let context = Context {
        plan,
        streams: &StreamPlan::all(plan, &common),
        page: page.map(|(web, model)| Page {
            model,
            protocols: &web.protocols,
            pause: web.pause.0,
        }),
        congestion_control: CongestionControl::Cubic,
        seed: 1,
        interrupt: &AtomicBool::new(false),
        display: &|_| {},
    };
    let (outcome, truth, _) = run(&context, hops, &mut record).unwrap();
    (outcome, truth)
}

fn planned(name: &str, seconds: u64) -> Plan {
    Plan {
        duration: Span::from_millis(seconds * 1_000),
        ..catalogue::find(name).unwrap()
    }
}

#[test]
fn a_load_fills_both_ways_and_probes_wait_in_its_queue() {
    let mut plan = planned("rrul_be", 20);
    let warnings = leave_out(&mut plan);
    assert!(warnings.iter().all(|one| one.code == "not_simulated"));
    let (outcome, truth) = measured(&plan, dsl(&[]));
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let summary = summarise(&plan, &outcome.tables);
    // A request of 92 octets on both links, and the way.
    let idle = summary.latency_ms.idle.unwrap();
    let wire_ms = 92.0 * 8.0 / 5e3 + 92.0 * 8.0 / 20e3;
    assert!(
        (idle.min - 24.0 - wire_ms).abs() < 0.01,
        "{} {wire_ms}",
        idle.min
    );
    let loaded = summary.latency_ms.loaded.unwrap();
    assert!(loaded.p50 > 150.0 && loaded.max < 430.0, "{loaded:?}");
    // What arrived, with its headers, is what the links carried, but for probes and calls.
    let rates = &summary.throughput_mbps;
    for (truth, wire) in truth.iter().zip([rates.wire_up, rates.wire_down]) {
        let (carried, rate) = (truth.carried_mbps, truth.rate_mbps.unwrap());
        assert!(
            carried > 0.93 * rate && carried <= 1.001 * rate,
            "{truth:?}"
        );
        assert!(wire.unwrap() < carried * 1.005 && wire.unwrap() > carried * 0.7);
    }
    let slew = summary.slew_ms.unwrap();
    assert!((24.0..30.0).contains(&slew.min), "{slew:?}");
}

#[test]
fn a_load_of_a_rate_sends_no_more_and_builds_no_queue() {
    let mut plan = planned("tcp_bidirectional", 20);
    for load in &mut plan.load {
        load.rate = "2Mbit".parse().ok();
    }
    leave_out(&mut plan);
    let (outcome, _) = measured(&plan, dsl(&[]));
    let summary = summarise(&plan, &outcome.tables);
    for mbps in [summary.throughput_mbps.down, summary.throughput_mbps.up] {
        assert!((1.99..2.01).contains(&mbps.unwrap()), "{mbps:?}");
    }
    let latency = summary.latency_ms.loaded.unwrap();
    assert!(latency.p50 < 30.0, "{latency:?}");
}

#[test]
fn a_call_loses_what_the_path_loses() {
    let plan = planned("voip", 20);
    let random = [json!({ "kind": "loss", "probability": 0.1 })];
    let (outcome, _) = measured(&plan, dsl(&random));
    let calls = outcome.tables.streams.iter().filter(|s| s.kind == "voip");
    for stream in calls {
        let samples = outcome.tables.samples.iter();
        let samples: Vec<_> = samples.filter(|row| row.stream == stream.id).collect();
        let missing = samples.iter().filter(|row| row.lost).count();
        let share = missing as f64 / samples.len() as f64;
        assert!((0.06..0.14).contains(&share), "{share}");
        let heard = samples.iter().filter(|row| !row.lost);
        let owd = heard.filter_map(|row| row.owd_up_ns.or(row.owd_down_ns));
        assert!(owd.min().unwrap() >= 12_000_000);
    }
}

#[test]
fn what_is_not_simulated_is_left_out_and_said() {
    let mut rrul = catalogue::find("rrul").unwrap();
    let [warning] = &leave_out(&mut rrul)[..] else {
        panic!("one warning");
    };
    assert!(rrul.trace.is_none());
    let kept = |kind: plan::ProbeKind| rrul.probe.iter().any(|probe| probe.kind == kind);
    assert!(kept(plan::ProbeKind::Dns) && kept(plan::ProbeKind::Https));
    for what in ["trace", "IPv6"] {
        assert!(warning.message.contains(what), "{what}");
    }
    assert!(leave_out(&mut rrul).is_empty());
    let mut by_quic = catalogue::find("rrul").unwrap();
    let web = by_quic.web.as_mut().unwrap();
    web.protocols = vec![HttpVersion::H3, HttpVersion::Http1];
    let [warning] = &leave_out(&mut by_quic)[..] else {
        panic!("one warning");
    };
    assert!(warning.message.contains("pages over HTTP/3"));
    assert_eq!(by_quic.web.unwrap().protocols, [HttpVersion::Http1]);
}

/// A plan that loads `page` and nothing else, by both protocols in turn.
fn pages(page: &str, seconds: u64) -> Plan {
    Plan {
        load: Vec::new(),
        probe: Vec::new(),
        call: Vec::new(),
        idle_before: Span::default(),
        web: Some(plan::Web {
            page: page.to_owned(),
            protocols: vec![HttpVersion::H2, HttpVersion::Http1],
            before: Span::from_millis(seconds * 1_000),
            ..plan::Web::default()
        }),
        trace: None,
        ..planned("rrul_be", 1)
    }
}

#[test]
fn a_page_is_loaded_whole_and_a_small_object_takes_its_round_trips() {
    for name in ["rrul2013", "today"] {
        let plan = pages(name, 10);
        let (outcome, _) = measured(&plan, dsl(&[]));
        assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
        let model = PageModel::find(name).unwrap();
        let loads = &outcome.tables.pages;
        assert!(loads.len() >= 4, "{loads:?}");
        let (last, whole) = loads.split_last().unwrap();
        for load in whole {
            assert_eq!(load.error, None);
            assert_eq!(
                (load.objects as usize, load.failed),
                (model.objects().len(), 0)
            );
            assert_eq!(load.bytes, model.bytes().get());
            // What the line needs for the octets, and the round trips before the first.
            let at_least = load.bytes as f64 * 8.0 / 20e6 + 0.1;
            let took = load.load_ns.unwrap() as f64 / 1e9;
            assert!(
                (at_least..2.0 * at_least).contains(&took),
                "{took} {at_least}"
            );
        }
        assert!(last.load_ns.is_some() || last.error.is_some());
        assert_eq!(whole[0].protocol, "h2");
        assert_eq!(whole[1].protocol, "http/1.1");
        // Look-up, TCP, TLS and the request are a round trip each; the document takes 40 ms to make.
        let document = outcome
            .tables
            .objects
            .iter()
            .find(|object| object.object == 0);
        let document = document.unwrap();
        let ms = |ns: Option<u64>| ns.unwrap() as f64 / 1e6;
        for phase in [document.dns_ns, document.connect_ns, document.tls_ns] {
            assert!((24.0..26.5).contains(&ms(phase)), "{document:?}");
        }
        assert!((64.0..68.0).contains(&ms(document.wait_ns)), "{document:?}");
    }
}

#[test]
fn loads_survive_loss_and_are_the_same_for_the_same_seed() {
    let plan = pages("rrul2013", 30);
    let random = [json!({ "kind": "loss", "probability": 0.03 })];
    let [one, other] = [(); 2].map(|()| measured(&plan, dsl(&random)).0.tables);
    assert!(one.pages.len() > 5);
    let (_, whole) = one.pages.split_last().unwrap();
    assert!(whole.iter().all(|load| load.error.is_none()), "{whole:?}");
    let rows = |tables: &crate::tables::Tables| format!("{:?}{:?}", tables.pages, tables.objects);
    assert_eq!(rows(&one), rows(&other));
}

#[test]
fn a_page_that_the_end_of_its_phase_cuts_off_says_so() {
    let (outcome, _) = measured(&pages("today", 1), dsl(&[]));
    let [load] = &outcome.tables.pages[..] else {
        panic!("{:?}", outcome.tables.pages);
    };
    assert_eq!(load.error.as_deref(), Some(crate::summary::CUT_OFF));
    assert_eq!(load.spent_ns, Some(1_000_000_000));
    assert!(load.load_ns.is_none() && load.objects > 0);
}

#[test]
fn requests_on_new_connections_take_a_round_trip_for_each_step() {
    let mut plan = planned("rrul", 10);
    leave_out(&mut plan);
    plan.web = None;
    let (outcome, _) = measured(&plan, dsl(&[]));
    let until = plan.load_start().as_nanos() - 1_000_000_000;
    let idle = |row: &&schema::tables::HttpsProbe| u128::from(row.t_ns) < until;
    let rows = outcome.tables.https.iter().filter(idle);
    let mut count = 0;
    for row in rows {
        for phase in [row.connect_ns, row.tls_ns, row.http_ns] {
            let ms = phase.unwrap() as f64 / 1e6;
            assert!((24.0..27.0).contains(&ms), "{row:?}");
        }
        count += 1;
    }
    assert!(count >= 3);
    let summary = summarise(&plan, &outcome.tables);
    assert!(summary.rpm.is_some(), "RPM is told");
}

#[test]
fn what_the_end_of_a_run_cuts_off_ends_with_it() {
    let mut plan = planned("rrul", 1);
    leave_out(&mut plan);
    plan.web = None;
    plan.load.clear();
    for probe in &mut plan.probe {
        probe.gap = Span::from_millis(10);
    }
    // Most requests are under way for longer than their gap.
    let random = [json!({ "kind": "loss", "probability": 0.2 })];
    let (outcome, _) = measured(&plan, dsl(&random));
    assert!(outcome.tables.https.len() > 3);
}

#[test]
fn a_page_whose_hosts_nobody_knows_says_so() {
    let all = [json!({ "kind": "loss", "probability": 1.0 })];
    let (outcome, _) = measured(&pages("rrul2013", 20), dsl(&all));
    let load = &outcome.tables.pages[0];
    let why = load.error.as_deref().unwrap();
    assert!(why.starts_with("cannot look up www."), "{why}");
    // Three questions, a second, two and four apart; then the document is given up, and with it the page.
    assert_eq!(load.spent_ns, Some(7_000_000_000));
    assert!(outcome.tables.pages.len() > 1);
}
