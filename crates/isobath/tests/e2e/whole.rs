//! The whole of RRUL, in labs in which one thing is wrong: it is named.

use crate::support::{Machine, Ran, folder, has, number, rows, run, values};
use schema::tables::{Hop, PageLoad, PageObject, Sample, Stream};
use serde_json::Value;
use std::path::Path;

/// A little of everything, for 15 seconds.
const SMALL: &str = r#"
summary = "a little of everything"
families = "both"
idle_before = "3s"
duration = "6s"
settle = "1s"
idle_after = "1s"
load = [
    { direction = "both", class = "CS1", streams = 2 },
    { direction = "both", class = "EF", streams = 2 },
]
probe = [
    { kind = "udp_rr", class = "EF", streams = 2, gap = "10ms" },
    { kind = "udp_rr", ecn = "ect0", gap = "20ms" },
    { kind = "udp_rr", ecn = "ect1", gap = "20ms" },
    { kind = "tcp_rr", gap = "10ms" },
    { kind = "dns", gap = "100ms" },
    { kind = "https", gap = "300ms" },
]
call = [{ class = "EF" }]
web = { page = "page.toml", before = "3s", protocols = ["h2", "http/1.1"] }
trace = { every = "300ms" }
"#;

/// A small page: a document, a style sheet, four images on another host.
const PAGE: &str = include_str!("small-page.toml");

fn measure(place: &Path, lab: &str, more: &[&str]) -> Ran {
    let common = [
        "rrul",
        "--lab",
        lab,
        "--plan",
        "small.toml",
        "--json",
        "-o",
        lab,
    ];
    run(place, &[&common[..], more].concat())
}

fn codes(list: &Value) -> Vec<&str> {
    values(list)
        .map(|entry| entry["code"].as_str().unwrap())
        .collect()
}

/// Holds rrul/families, rrul/web-series, rrul/dns, rrul/trace, rrul/like-100ms, rrul/time-stamps.
#[test]
fn everything_is_measured_idle_and_loaded_over_both_protocols() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    // On a busy machine a page that began before may take all of the time under load.
    let has_pages = |run: &Value| run["summary"]["web"]["responsiveness"].is_number();
    let runs = std::iter::repeat_with(|| {
        let place = folder(&[("small.toml", SMALL), ("page.toml", PAGE)]);
        let run = measure(place.path(), "cable-hops", &["--ndjson", "rows.ndjson"]).measured();
        (place, run)
    });
    let (place, run) = runs.take(3).find(|(_, run)| has_pages(run)).unwrap();
    let summary = &run["summary"];
    for pointer in [
        "/latency_ms/idle/p50",
        "/latency_ms/by_family/v4/loaded/p50",
        "/latency_ms/by_family/v6/loaded/p50",
        "/dns_ms/idle/p50",
        "/dns_ms/loaded/p50",
        "/web/idle_ms/mean",
        "/web/responsiveness",
        "/rpm/idle",
        "/rpm/loaded",
        "/voip/EF/up/idle/mos",
        "/voip/EF/down/loaded/r",
        "/score/web",
        "/score/total",
        "/fairness/v6_over_v4_down",
        "/fairness/like_100ms_up/p50",
        "/acks/up/v6_encapsulated_mbps",
        "/transferred_bytes/loaded_down",
        "/throughput_mbps/wire_down",
    ] {
        number(summary, pointer);
    }
    assert_eq!(run["path"]["families"], serde_json::json!([4, 6]));
    // The queue is behind the first hop, and the traces from both ends say so.
    let hops = values(&summary["bottleneck"]["up"]["hops"]).count();
    assert!(hops >= 4, "{:#}", summary["bottleneck"]);
    let record = place.path().join("cable-hops");
    keeps_its_promises_by_row(&record);
    let lines = std::fs::read_to_string(place.path().join("rows.ndjson")).unwrap();
    let tables: std::collections::BTreeSet<String> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["table"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    for table in ["samples", "series", "hops", "page_loads", "streams"] {
        assert!(tables.contains(table), "{tables:?}");
    }
}

fn keeps_its_promises_by_row(record: &Path) {
    let streams = rows::<Stream>(record);
    let load = || streams.iter().filter(|stream| stream.kind == "tcp_load");
    assert_eq!(load().count(), 8);
    assert_eq!(load().filter(|stream| stream.family == 6).count(), 4);
    let calls: Vec<u16> = streams
        .iter()
        .filter(|s| s.kind == "voip")
        .map(|s| s.id)
        .collect();
    let samples = rows::<Sample>(record);
    let asks = |sample: &&Sample| {
        let stream = streams.iter().find(|stream| stream.id == sample.stream);
        stream.is_some_and(|stream| stream.kind == "udp_rr") && !sample.lost
    };
    let has_both = |sample: &Sample| sample.owd_up_ns.is_some() && sample.owd_down_ns.is_some();
    assert!(samples.iter().filter(asks).all(has_both));
    for call in calls {
        let mut numbers: Vec<u64> = samples
            .iter()
            .filter(|s| s.stream == call)
            .map(|s| s.seq)
            .collect();
        numbers.sort_unstable();
        // Those whose moment had passed before their sender could send have no row.
        let is_once = numbers.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(is_once, "each datagram of a call has one row");
        let lost = samples.iter().filter(|s| s.stream == call && s.lost);
        let first = lost.map(|s| s.seq).min();
        assert_ne!(first, Some(0), "what was not sent is not lost");
        // 15.5 s of one every 10 ms, less what a late start costs.
        assert!(numbers.len() > 1_000, "{}", numbers.len());
    }
    let loads = rows::<PageLoad>(record);
    let whole: Vec<_> = loads.iter().filter(|load| load.load_ns.is_some()).collect();
    assert!(whole.len() >= 2, "{loads:?}");
    assert!(
        whole
            .iter()
            .all(|load| load.objects == 6 && load.failed == 0)
    );
    // One that its phase's end has cut off has objects without a response.
    let numbers: Vec<u32> = whole.iter().map(|load| load.load).collect();
    let objects = rows::<PageObject>(record);
    let mut objects = objects
        .iter()
        .filter(|object| numbers.contains(&object.load));
    assert!(objects.all(|object| object.status == Some(200)));
    let ways: std::collections::BTreeSet<_> = rows::<Hop>(record)
        .into_iter()
        .map(|hop| hop.direction)
        .collect();
    assert_eq!(ways.len(), 2, "traced from both ends");
}

/// Holds rrul/classification, rrul/classification-preserved, rrul/ecn.
#[test]
fn a_path_that_remarks_and_bleaches_is_named() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL), ("page.toml", PAGE)]);
    let run = measure(place.path(), "dsl-remark", &[]).measured();
    assert!(codes(&run["warnings"]).contains(&"dscp_changed"), "{run:#}");
    assert!(number(&run["summary"], "/dscp/EF/down/CS0") > 0.0);
    assert!((number(&run["summary"], "/ecn/bleached_pct") - 100.0).abs() < 1e-9);
    let ran = crate::support::run(place.path(), &["show", "dsl-remark"]);
    assert!(ran.stdout.contains("EF arrives as CS0"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("ECN bleached (100 %)"),
        "{}",
        ran.stdout
    );
}

/// Holds rrul/families.
#[test]
fn without_ipv6_or_with_ipv6_that_swallows_packets_as_many_streams_go_over_ipv4() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    for lab in ["dsl-v4", "dsl-v6-blackhole"] {
        let place = folder(&[("small.toml", SMALL), ("page.toml", PAGE)]);
        let run = measure(place.path(), lab, &[]).measured();
        assert!(
            codes(&run["warnings"]).contains(&"ipv6_missing"),
            "{lab}: {run:#}"
        );
        assert!(
            codes(&run["summary"]["penalties"]).contains(&"ipv6_missing"),
            "{lab}"
        );
        let streams = rows::<Stream>(&place.path().join(lab));
        let load = streams.iter().filter(|stream| stream.kind == "tcp_load");
        assert_eq!(load.filter(|stream| stream.family == 4).count(), 8, "{lab}");
    }
}

/// Holds rrul/boost.
#[test]
fn a_burst_allowance_is_found_and_left_out() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let plan = "summary = 'one stream down'\nidle_before = '1s'\nduration = '28s'\nidle_after = '1s'\nload = [{ direction = 'down', streams = 2 }]\nprobe = [{ kind = 'udp_rr', gap = '20ms' }]";
    let place = folder(&[("small.toml", plan)]);
    let run = measure(place.path(), "dsl-boost", &[]).measured();
    let discarded: Vec<_> = values(&run["summary"]["phases"]["discarded"]).collect();
    assert_eq!(discarded.len(), 1, "{:#}", run["summary"]["phases"]);
    let down = number(&run["summary"], "/throughput_mbps/down");
    assert!(down < 21.0, "{down} Mbit/s is what the line sustains");
    assert!(number(&run["summary"], "/phases/boost_mbps/0") > down * 1.5);
}

/// Holds rrul/cpu.
#[test]
fn quiet_a_client_with_a_tenth_of_a_processor_is_the_bottleneck_and_the_run_invalid() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if !rustix::process::geteuid().is_root() {
        return crate::support::skip("only root may limit processor time");
    }
    // Round trips as fast as they go, for the client to have something to do.
    let plan = SMALL.replace("gap = \"10ms\"", "gap = \"1ms\"");
    let place = folder(&[("small.toml", &plan), ("page.toml", PAGE)]);
    let ran = measure(place.path(), "weak-client", &[]);
    let run = ran.ended(4).json();
    assert_eq!(run["status"], "invalid");
    let found = codes(&run["warnings"]);
    assert!(found.contains(&"cpu_throttled"), "{found:?}");
}

#[test]
fn two_servers_at_two_distances_share_one_link() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let arguments = [
        "rrul",
        "--lab",
        "rtt-fair",
        "--plan",
        "rtt_fair",
        "--duration",
        "5",
        "--json",
        "-o",
        "fair",
    ];
    let run = run(place.path(), &arguments).measured();
    let roles: Vec<_> = values(&run["hosts"])
        .map(|host| host["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["client", "server", "server-1"]);
    let streams = rows::<Stream>(&place.path().join("fair"));
    let load = streams.iter().filter(|stream| stream.kind == "tcp_load");
    for stream in load {
        assert!(
            stream.total_bytes.is_some_and(|bytes| bytes > 0),
            "{stream:?}"
        );
    }
    let wrong = crate::support::run(
        place.path(),
        &[
            "rrul",
            "--lab",
            "dsl",
            "--plan",
            "rtt_fair",
            "--duration",
            "5",
        ],
    );
    assert!(
        wrong
            .refused(3)
            .contains("needs 2 servers and this lab has 1")
    );
}

/// Holds rrul/chromium.
#[test]
fn quiet_chromium_loads_the_page_beside_the_native_loader() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if !has("chromium") {
        return;
    }
    let plan = SMALL.replace("before = \"3s\"", "before = \"6s\"");
    let place = folder(&[("small.toml", &plan), ("page.toml", PAGE)]);
    let run = measure(place.path(), "cable-hops", &["--browser", "chromium"]).measured();
    let loaders = run["summary"]["web"]["by_loader"].as_object().unwrap();
    assert!(
        loaders.contains_key("chromium") && loaders.contains_key("native h2"),
        "{run:#}"
    );
    number(&run["summary"], "/web/by_loader/chromium/idle_ms/p50");
    let objects = rows::<PageLoad>(&place.path().join("cable-hops"));
    let chromium = objects
        .iter()
        .find(|load| load.loader == "chromium")
        .unwrap();
    assert_eq!((chromium.objects, chromium.failed), (6, 0), "{chromium:?}");
}

#[test]
fn a_browser_that_is_missing_is_a_warning_and_pages_are_loaded_all_the_same() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let plan = "summary = 'pages'\nidle_before = '1s'\nduration = '0s'\nidle_after = '1s'\nweb = { page = 'page.toml', before = '2s' }";
    let place = folder(&[("small.toml", plan), ("page.toml", PAGE)]);
    let mut command = crate::support::isobath(
        place.path(),
        &[
            "rrul",
            "--lab",
            "lan",
            "--plan",
            "small.toml",
            "--browser",
            "chromium",
            "--json",
            "-o",
            "run",
        ],
    );
    command.env("ISOBATH_CHROMIUM", "/nonexistent/chromium");
    let run = crate::support::Running::start(command).finish().measured();
    assert!(
        codes(&run["warnings"]).contains(&"browser_missing"),
        "{run:#}"
    );
    number(&run["summary"], "/web/idle_ms/p50");
}

#[test]
fn a_record_becomes_a_page_and_a_flent_file_and_comes_back() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let measured = [
        "rrul",
        "--lab",
        "dsl",
        "--plan",
        "rrul_be",
        "--duration",
        "4",
        "-q",
        "-o",
        "run",
    ];
    let code = run(place.path(), &measured).code();
    assert!([Some(0), Some(4)].contains(&code), "{code:?}");
    let page = run(place.path(), &["report", "run"])
        .ended(0)
        .stdout
        .clone();
    let text = std::fs::read_to_string(place.path().join(page.trim())).unwrap();
    assert!(
        text.starts_with("<!") && text.contains("rrul_be"),
        "{}",
        text.len()
    );
    assert!(text.len() < 5_000_000);
    let exported = run(
        place.path(),
        &["export", "--flent", "run", "-o", "x.flent.gz"],
    );
    exported.ended(0);
    let imported = run(place.path(), &["import", "x.flent.gz", "-o", "again"]);
    imported.ended(0);
    let shown = run(place.path(), &["show", "again", "--json"])
        .ended(0)
        .json();
    let before = run(place.path(), &["show", "run", "--json"])
        .ended(0)
        .json();
    let rates = |run: &Value| number(run, "/summary/throughput_mbps/down");
    let error = (rates(&shown) - rates(&before)).abs() / rates(&before);
    assert!(error < 0.25, "{} and {}", rates(&shown), rates(&before));
    let card = run(place.path(), &["show", "again"])
        .ended(0)
        .stdout
        .clone();
    assert!(card.contains("TCP download sum"), "{card}");
    run(place.path(), &["show", "run", "--explain"]).ended(0);
}
