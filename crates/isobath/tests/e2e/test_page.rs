//! `isobath serve --also page`: a real browser in an emulated network.

use crate::support::{
    Machine, PROGRAM, attempts, folder, free_port, has, is_hopeless, number, run, skip_as_busy,
};
use crate::two_hosts::Server;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The one record of a browser.
fn record(place: &Path) -> PathBuf {
    let mut all = fs::read_dir(place.join("browsers")).unwrap();
    all.next().unwrap().unwrap().path()
}

/// A run of Chromium over `lab`, which starts by itself and ends when its record is there; the server has `more` options.
fn browse(place: &Path, lab: &str, scheme: &str, more: &str) -> Value {
    let server =
        format!("server={PROGRAM} serve --ephemeral -q --also page --records browsers {more}");
    let script = format!(
        "until curl -skf {scheme}://server:4898/ >page.html; do sleep 0.1; done
        chromium --headless --no-sandbox --disable-gpu --ignore-certificate-errors --user-data-dir=profile '{scheme}://server:4898/#start' >chromium.txt 2>&1 &
        for _ in $(seq 600); do grep -qs '\"status\": \"\\(complete\\|invalid\\)\"' browsers/*/run.json && break; sleep 0.1; done
        kill $!; wait"
    );
    let _ = fs::remove_dir_all(place.join("browsers"));
    let ran = run(
        place,
        &[
            "lab", "run", lab, "--also", &server, "--", "sh", "-c", &script,
        ],
    );
    assert_eq!(ran.code(), Some(0), "{ran:#?}");
    let told = fs::read_to_string(record(place).join("run.json")).unwrap();
    serde_json::from_str(&told).unwrap()
}

/// The first run whose figures are to be believed; none on a machine that is too busy.
fn valid(run: impl Fn() -> Value) -> Option<Value> {
    let mut runs = attempts().take(5).map(|_| run());
    let is_valid = |told: &Value| told["status"] != "invalid";
    let last = runs.find(|told| is_valid(told) || is_hopeless());
    last.filter(is_valid)
}

#[test]
fn quiet_a_browser_finds_what_the_program_finds() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if !has("chromium") {
        return;
    }
    let place = folder(&[]);
    let Some(told) = valid(|| browse(place.path(), "dsl", "http", "")) else {
        return skip_as_busy();
    };
    assert_eq!(told["status"], "complete", "{:#}", told["warnings"]);
    let summary = &told["summary"];
    // 20 Mbit/s down, 5 up, 24 ms, and buffers of 200 ms.
    for (figure, least, most) in [
        ("/latency_ms/idle/p50", 24.0, 30.0),
        ("/latency_ms/loaded/p50", 100.0, 450.0),
        ("/throughput_mbps/down", 13.0, 19.5),
        ("/throughput_mbps/up", 3.2, 4.95),
        // All streams are open when the load begins.
        ("/slew_ms/max", 0.0, 50.0),
        // A page takes six round trips, three of them for its document.
        ("/web/idle_ms/min", 144.0, 600.0),
        ("/web/idle_ms/n", 3.0, 7.0),
        ("/web/first_byte_ms/idle/min", 68.0, 120.0),
        ("/web/responsiveness", 1.0, 70.0),
        // A round trip of 24 ms is 2,500 a minute; what else the page loads takes its time, too.
        ("/rpm/idle", 400.0, 2_500.0),
        ("/rpm/loaded", 60.0, 500.0),
        ("/rpm/tcp_ms", 60.0, 600.0),
        ("/rpm/self_ms", 60.0, 600.0),
    ] {
        let value = number(summary, figure);
        assert!((least..most).contains(&value), "{figure}: {value}");
    }
    assert_eq!(summary["latency_ms"]["of"], "ws_rr");
    let agent = told["hosts"][0]["kernel"].as_str().unwrap();
    assert!(agent.contains("Chrome"), "{agent}");
    assert_eq!(summary["web"]["failed"], 0, "{summary:#}");
    // A browser is no limit to 20 Mbit/s.
    let full = number(&told, "/instrument/browser_full_pct");
    assert!((0.0..10.0).contains(&full), "{full}");
    // It is a record like any other.
    let folder = record(place.path());
    let folder = folder.to_str().unwrap();
    let shown = run(place.path(), &["show", folder]);
    assert!(shown.stdout.contains("medians, WebSocket"), "{shown:#?}");
    run(place.path(), &["report", folder, "-o", "report.html"]).ended(0);
    let compared = run(place.path(), &["compare", folder, folder]);
    assert!(compared.stdout.contains("RTT loaded p50"), "{compared:#?}");
}

#[test]
fn quiet_a_browser_that_is_too_slow_is_said_to_be_the_limit() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if !has("chromium") {
        return;
    }
    let place = folder(&[]);
    // 1 Gbit/s, and a tenth of a processor for the browser.
    let told = browse(place.path(), "weak-client", "http", "");
    let codes = told["warnings"].as_array().unwrap().iter();
    let mut codes = codes.map(|warning| &warning["code"]);
    assert!(codes.any(|code| code == "browser_limit"), "{told:#}");
}

#[test]
fn quiet_a_browser_on_a_page_by_https_counts_lost_packets_of_a_call() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if !has("chromium") {
        return;
    }
    let place = folder(&[]);
    let own = rcgen::generate_simple_self_signed(["server".to_owned()]).unwrap();
    fs::write(place.path().join("chain.pem"), own.cert.pem()).unwrap();
    fs::write(
        place.path().join("key.pem"),
        own.signing_key.serialize_pem(),
    )
    .unwrap();
    let given = "--certificate chain.pem --private-key key.pem";
    let Some(told) = valid(|| browse(place.path(), "lossy", "https", given)) else {
        return skip_as_busy();
    };
    assert_eq!(told["status"], "complete", "{:#}", told["warnings"]);
    let summary = &told["summary"];
    assert_eq!(summary["latency_ms"]["of"], "wt_rr");
    let idle = number(summary, "/latency_ms/idle/p50");
    // 40 ms, and 1 % of packets lost each way; of 600 of a call under load, and of both ways together, none is most unlikely.
    assert!((40.0..60.0).contains(&idle), "{idle}");
    let lost = |way| number(summary, &format!("/voip/CS0/{way}/loss_pct"));
    let both = [lost("up"), lost("down")];
    assert!((0.2..6.0).contains(&both.iter().sum()), "{both:?}");
    for way in ["up", "down"] {
        // How good it is depends on when a busy machine lets the browser send and read.
        let heard = number(summary, &format!("/voip/CS0/{way}/mos_adaptive"));
        assert!((1.0..=4.5).contains(&heard), "{way}: {heard}");
        let sent = number(summary, &format!("/voip/CS0/{way}/idle/sent"));
        assert!(sent > 50.0, "{way}: {sent}");
    }
}

#[test]
fn the_page_and_responsiveness_show_the_certificate_that_they_are_given() {
    let _machine = Machine::without_networks();
    if !has("curl") {
        return;
    }
    let place = folder(&[]);
    let place = place.path();
    let own = rcgen::generate_simple_self_signed(["near.example".to_owned()]).unwrap();
    fs::write(place.join("chain.pem"), own.cert.pem()).unwrap();
    fs::write(place.join("key.pem"), own.signing_key.serialize_pem()).unwrap();
    let (page, rpm) = (free_port(), free_port());
    let also = format!("page:{page},rpm:{rpm}");
    let given = |key| {
        [
            "--also",
            &*also,
            "--certificate",
            "chain.pem",
            "--private-key",
            key,
        ]
    };
    let server = Server::start(place, &[&["--ephemeral"], &given("key.pem")[..]].concat());
    let told: Value = serde_json::from_str(&server.running.stdout()).unwrap();
    let urls = [page, rpm].map(|port| format!("https://127.0.0.1:{port}"));
    assert_eq!(told["also"], json!(urls));
    let asked = |port: u16, path: &str, more: &[&str]| {
        let resolve = format!("near.example:{port}:127.0.0.1");
        let url = format!("https://near.example:{port}{path}");
        let mut curl = Command::new("curl");
        curl.args(["-sSi", "--cacert", "chain.pem", "--resolve", &resolve, &url]);
        let answer = curl.args(more).current_dir(place).output().unwrap();
        String::from_utf8_lossy(&answer.stdout).into_owned()
    };
    assert!(asked(page, "/", &[]).contains("<title>"));
    assert!(asked(rpm, "/.well-known/nq", &[]).contains("large_download_url"));
    let upgrade = "--http1.1 -m 3 -H Connection:Upgrade -H Upgrade:websocket -H Sec-WebSocket-Version:13 -H Sec-WebSocket-Key:AAAAAAAAAAAAAAAAAAAAAA==";
    let upgrade: Vec<_> = upgrade.split(' ').collect();
    assert!(asked(page, "/v1/test", &upgrade).starts_with("HTTP/1.1 101 "));

    let refused = run(
        place,
        &[&["serve", "--ephemeral"], &given("chain.pem")[..]].concat(),
    );
    assert!(refused.refused(2).contains("chain.pem: "), "{refused:?}");
}
