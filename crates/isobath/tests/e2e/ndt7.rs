//! ndt7: our client with our server, and Measurement Lab's own client (npm's `@m-lab/ndt7`) in a real browser with our server.

use crate::support::{
    Machine, PROGRAM, SMALL_LAB, folder, has, in_small_lab, number, once_there, run, short_plan,
};
use record::Record;
use schema::tables::{Series, Stream};
use serde_json::Value;
use std::fs;
use std::path::Path;

const SERVER: &str = "serve --also ndt7 --ephemeral --quiet --json > /dev/null";

/// `isobath rrul ndt7://far:4443` with the options, in the small lab once the server is there.
fn in_lab(place: &Path, options: &str) -> crate::support::Ran {
    let command = format!("{PROGRAM} rrul ndt7://far:4443 {options} -q --json -o out");
    let script = once_there(&command, "no ndt7 server");
    in_small_lab(place, &format!("exec {PROGRAM} {SERVER}"), &script)
}

#[test]
fn an_ndt7_server_takes_the_load_of_a_run_and_tells_of_its_tcp() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    let ran = in_lab(place.path(), "--plan plan.toml --insecure");
    // A machine that is too busy (4) changes no counts.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let run = ran.json();
    let summary = &run["summary"];
    assert_eq!(run["plan"]["far_end"], "ndt7://far:4443");
    assert_eq!(summary["latency_ms"]["of"], "icmp_rr");
    for way in ["down", "up"] {
        let mbps = number(summary, &format!("/throughput_mbps/{way}"));
        assert!((0.1..8.0).contains(&mbps), "{way}: {summary:#}");
    }
    // When the server tells something is its own affair.
    let late = run["instrument"]["lateness"].as_array().unwrap();
    assert!(
        late.iter().all(|late| late["of"] == "client sampler"),
        "{late:#?}"
    );
    let record = Record::open(&place.path().join("out")).unwrap();
    let streams: Vec<Stream> = record.rows().unwrap();
    let down = streams
        .iter()
        .find(|stream| stream.direction == "down" && stream.kind == "tcp_load");
    assert!(down.unwrap().retransmits.is_some(), "{streams:#?}");
    let series: Vec<Series> = record.rows().unwrap();
    let told: Vec<_> = series.iter().filter(|row| row.end == "server").collect();
    assert!(told.len() >= 2, "{told:#?}");
    // The path has 10 ms.
    assert!(
        told.iter()
            .all(|row| row.direction == "down" && row.rtt_us >= Some(10_000))
    );
    let acked: u64 = told.iter().filter_map(|row| row.acked_bytes).sum();
    let here = series
        .iter()
        .filter(|row| row.end == "client" && row.direction == "down");
    let delivered: u64 = here.filter_map(|row| row.delivered_bytes).sum();
    assert!(acked > 0 && acked <= delivered, "{acked} of {delivered}");
}

#[test]
fn a_server_whose_certificate_nobody_vouches_for_is_not_measured() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    let ran = in_lab(place.path(), "--plan plan.toml");
    assert_eq!(ran.code(), Some(3), "{ran:#?}");
    assert!(ran.stderr.contains("--insecure"), "{ran:#?}");
    assert!(!place.path().join("out").exists(), "{ran:#?}");
}

/// A page that has a test by Measurement Lab's own client, and asks its server for `/done?FIGURES` at the end.
const PAGE: &str = r#"<!doctype html><script src="ndt7.js"></script><script>
const last = {}, keep = name => told => { if (told.Source === 'server') last[name] = told.Data };
const config = { server: 'server:4443', mlabDataPolicyInapplicable: true };
ndt7.test(config, { downloadMeasurement: keep('down'), uploadMeasurement: keep('up'), error: why => last.error = String(why) })
  .then(status => fetch('/done?' + encodeURIComponent(JSON.stringify({ status, ...last }))));
</script>"#;

/// What the server told last, by that client over the lab `dsl`.
fn browse(place: &Path) -> Value {
    let server = format!("server=exec {PROGRAM} {SERVER}");
    let script = "python3 -m http.server --directory pages 8000 >log 2>&1 &
        pages=$!
        until curl -ksf -o /dev/null https://server:4443/ || [ $? = 22 ]; do sleep 0.1; done
        chromium --headless --no-sandbox --disable-gpu --ignore-certificate-errors --user-data-dir=profile http://localhost:8000/ >chromium.txt 2>&1 &
        for _ in $(seq 600); do grep -q 'GET /done' log && break; sleep 0.1; done
        kill $! $pages; wait";
    let ran = run(
        place,
        &[
            "lab", "run", "dsl", "--also", &server, "--", "sh", "-c", script,
        ],
    );
    assert_eq!(ran.code(), Some(0), "{ran:#?}");
    let log = fs::read_to_string(place.join("log")).unwrap();
    let told = log
        .split("GET /done?")
        .nth(1)
        .unwrap_or_else(|| panic!("{log}"));
    let told = told.split(' ').next().unwrap();
    serde_json::from_str(&unescaped(told)).unwrap()
}

/// `%7B` is `{`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| {
        let (code, rest) = part.split_at(2);
        let octet = u8::from_str_radix(code, 16).unwrap();
        format!("{all}{}{rest}", char::from(octet))
    })
}

#[test]
fn measurement_labs_own_client_has_both_tests_with_our_server() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("chromium") || !has("curl") {
        return;
    }
    let scripts = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/tools/ndt7/node_modules/@m-lab/ndt7/src"
    );
    let place = folder(&[]);
    let pages = place.path().join("pages");
    fs::create_dir(&pages).unwrap();
    fs::write(pages.join("index.html"), PAGE).unwrap();
    for name in [
        "ndt7.js",
        "ndt7-download-worker.js",
        "ndt7-upload-worker.js",
    ] {
        fs::copy(Path::new(scripts).join(name), pages.join(name)).unwrap();
    }
    let told = browse(place.path());
    assert_eq!(told["status"], 0, "{told:#}");
    // 20 Mbit/s down, 5 up, 24 ms; how much of them a busy browser gets is not the point.
    for (way, most) in [("down", 20.0), ("up", 5.0)] {
        let figure = |name: &str| number(&told, &format!("/{way}/{name}"));
        let mbps = figure("AppInfo/NumBytes") * 8.0 / figure("AppInfo/ElapsedTime");
        assert!((0.5..most).contains(&mbps), "{way}: {mbps} {told:#}");
        assert!(figure("TCPInfo/MinRTT") >= 24_000.0, "{told:#}");
        assert_eq!(told[way]["Origin"], "server");
        let client = told[way]["ConnectionInfo"]["Client"].as_str().unwrap();
        assert!(client.contains(':'), "{told:#}");
    }
    assert_eq!(told["down"]["Test"], "download");
    assert_eq!(told["up"]["Test"], "upload");
}
