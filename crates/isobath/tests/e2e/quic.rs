//! Pages and load over QUIC, through a lab.

use crate::support::{Machine, folder, number, rows, run};
use schema::tables::{PageLoad, Series, Stream};

const PLAN: &str = r#"
summary = "pages by HTTP/3, and load over QUIC beside TCP's"
idle_before = "1s"
duration = "8s"
settle = "1s"
idle_after = "1s"
load = [
    { direction = "both", transport = "quic", class = "CS1" },
    { direction = "down", class = "CS1" },
    { direction = "up", transport = "quic", rate = "500kbit" },
]
probe = [{ kind = "udp_rr", gap = "20ms" }]
web = { page = "page.toml", before = "2s", protocols = ["h3", "h2"] }
"#;

const PAGE: &str = include_str!("small-page.toml");

#[test]
fn pages_and_load_go_over_quic_beside_tcp() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("plan.toml", PLAN), ("page.toml", PAGE)]);
    let arguments = "rrul --lab dsl --plan plan.toml --json -o run";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let run = run(place.path(), &arguments).measured();
    let record = place.path().join("run");

    let loads = rows::<PageLoad>(&record);
    let mut whole = loads.iter().filter(|load| load.protocol == "h3");
    let first = whole.next().unwrap();
    assert_eq!((first.objects, first.failed), (6, 0), "{first:?}");
    for protocol in ["h3", "h2"] {
        let mean = format!("/web/by_loader/native {protocol}/idle_mean_ms/mean");
        assert!(number(&run["summary"], &mean) > 24.0);
    }

    let streams = rows::<Stream>(&record);
    let names: Vec<_> = streams[..4].iter().map(|stream| &*stream.name).collect();
    let expected = [
        "QUIC down CS1 #1",
        "QUIC up CS1 #1",
        "TCP down CS1 #1",
        "QUIC up CS0 #1",
    ];
    assert_eq!(names, expected);
    let series = rows::<Series>(&record);
    for stream in &streams[..4] {
        let is_quic = stream.kind == "quic_load";
        assert_eq!(is_quic, stream.name.starts_with("QUIC"));
        assert_eq!(stream.congestion_control.as_deref(), Some("cubic"));
        assert!(stream.connected_ns.is_some(), "{stream:?}");
        assert!(stream.connected_ns < stream.first_byte_ns, "{stream:?}");
        // What was counted bin by bin is what came in all.
        let end = if stream.direction == "down" {
            "client"
        } else {
            "server"
        };
        let of = series
            .iter()
            .filter(|row| row.stream == stream.id && row.end == end);
        let bins: u64 = of.filter_map(|row| row.delivered_bytes).sum();
        assert_eq!(Some(bins), stream.total_bytes, "{}", stream.name);
        assert!(bins > 10_000, "{stream:?}");
        let sender = if end == "client" { "server" } else { "client" };
        let mut of = series
            .iter()
            .filter(|row| row.stream == stream.id && row.end == sender);
        assert!(of.any(|row| row.cwnd_segments > Some(1) && row.rtt_us > Some(20_000)));
    }
    let limited = streams[3].total_bytes.unwrap() as f64 * 8.0 / 8.0;
    assert!(limited < 505_000.0, "{limited} bit/s");
    let (down, up) = ("/throughput_mbps/down", "/throughput_mbps/up");
    let [down, up] = [down, up].map(|way| number(&run["summary"], way));
    assert!(down < 20.0 && up < 5.0, "{down} and {up} Mbit/s");
    if run["status"] == "complete" {
        assert!(down > 14.0 && up > 3.0, "{down} and {up} Mbit/s");
    }
}

#[test]
fn load_over_quic_is_refused_where_there_is_none() {
    let place = folder(&[("plan.toml", PLAN), ("page.toml", PAGE)]);
    let refused = |arguments: &str| {
        let arguments: Vec<_> = arguments.split(' ').collect();
        run(place.path(), &arguments).ended(2).stderr.clone()
    };
    let said = refused("sim rrul --lab dsl --plan plan.toml");
    assert!(
        said.contains("load over QUIC, which is not simulated"),
        "{said}"
    );
    let said = refused("rrul iperf3://127.0.0.1:1 --plan plan.toml");
    assert!(said.contains("load over QUIC, and"), "{said}");
    let other = PLAN.replace(
        "transport = \"quic\", class",
        "transport = \"quic\", cc = \"reno\", class",
    );
    std::fs::write(place.path().join("plan.toml"), other).unwrap();
    let said = refused("rrul --lab dsl --plan plan.toml");
    assert!(said.contains("has CUBIC - leave cc out"), "{said}");
}
