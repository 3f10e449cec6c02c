//! Responsiveness, in a lab whose delays are known.

use crate::support::{Machine, PROGRAM, SMALL_LAB, folder, in_small_lab, number, once_there, run};
use record::Record;
use schema::rpm::tables::RpmInterval;
use schema::tables::Queue;
use serde_json::Value;

const RPM: &str = "rpm https://far:4043 --interval 1s --most 6s -q --json -o out";
const NGINX: &str = include_str!("rpm/nginx.conf");

/// A run of the options towards what `server` serves on the far host of the small lab.
fn measured(server: &str, options: &str) -> Value {
    let place = folder(&[("small.toml", SMALL_LAB), ("nginx.conf", NGINX)]);
    let absent = "cannot connect|no certificates|No such";
    let script = once_there(&format!("{PROGRAM} {RPM} {options}"), absent);
    let ran = in_small_lab(place.path(), server, &script);
    // A machine that is too busy (4), or a figure that did not settle, is none of this test's.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let run = ran.json();
    let shown = crate::support::run(place.path(), &["show", "out"])
        .ended(0)
        .stdout
        .clone();
    assert!(shown.contains(" RPM "), "{shown}");
    run
}

#[test]
fn our_server_is_as_responsive_as_the_lab_lets_it_be() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let server = format!("exec {PROGRAM} serve --also rpm --ephemeral --quiet --json > /dev/null");
    let run = measured(&server, "--insecure");
    let summary = &run["summary"];
    // Idle every step is a round trip of 10 ms and a little.
    for step in ["tcp_ms", "tls_ms", "http_ms"] {
        let ms = number(summary, &format!("/idle/{step}/min"));
        assert!((10.0..40.0).contains(&ms), "{step}: {summary:#}");
    }
    for way in ["down", "up"] {
        let of = |figure: &str| number(summary, &format!("/{way}/{figure}"));
        // The queue of 30 kB takes 30 ms at 8 Mbit/s: no request under load is as quick as on an idle path by much.
        assert!((100.0..6_000.0).contains(&of("rpm")), "{way}: {summary:#}");
        assert!(
            (1.0..9.0).contains(&of("goodput_mbps")),
            "{way}: {summary:#}"
        );
        assert!(of("foreign/tcp_ms/n") >= 3.0, "{way}: {summary:#}");
        assert!(of("self_ms/n") >= 3.0, "{way}: {summary:#}");
        // One at first, and more as long as they carry more: on a busy machine that is soon over.
        assert!(of("connections") >= 2.0, "{way}: {summary:#}");
    }
}

/// By QUIC there is one handshake, with TLS's in it; all else is measured as by TCP.
#[test]
fn by_http3_the_same_server_says_the_same_of_the_lab() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let server = format!("exec {PROGRAM} serve --also rpm --ephemeral --quiet --json > /dev/null");
    let run = measured(&server, "--insecure --http h3");
    assert_eq!(run["plan"]["http"], "h3");
    let summary = &run["summary"];
    assert!(summary["idle"]["tcp_ms"].is_null(), "{summary:#}");
    for step in ["tls_ms", "http_ms"] {
        let ms = number(summary, &format!("/idle/{step}/min"));
        assert!((10.0..40.0).contains(&ms), "{step}: {summary:#}");
    }
    for way in ["down", "up"] {
        let of = |figure: &str| number(summary, &format!("/{way}/{figure}"));
        assert!((100.0..6_000.0).contains(&of("rpm")), "{way}: {summary:#}");
        assert!(
            (1.0..9.0).contains(&of("goodput_mbps")),
            "{way}: {summary:#}"
        );
        assert!(of("foreign/tls_ms/n") >= 3.0, "{way}: {summary:#}");
        assert!(of("self_ms/n") >= 3.0, "{way}: {summary:#}");
        // One at first, and more as long as they carry more: on a busy machine that is soon over.
        assert!(of("connections") >= 2.0, "{way}: {summary:#}");
    }
}

/// The queues of the slow link, every 10 ms by the lab's own counters: when, and how long a packet then waits, in seconds.
fn waits(record: &Record, direction: &str, bps: f64) -> Vec<(f64, f64)> {
    let rows = record.rows::<Queue>().unwrap().into_iter();
    let rows = rows.filter(|row| row.link == "home-dslam" && row.direction == direction);
    rows.map(|row| (row.t_ns as f64 * 1e-9, row.bytes as f64 * 8.0 / bps))
        .collect()
}

/// Round trips on new connections are those that the lab's queues make: the draft's mean of the fastest 95 % over the last four intervals.
#[test]
fn requests_on_new_connections_wait_as_long_as_the_labs_queues_say() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let also = format!("server={PROGRAM} serve --also rpm --ephemeral --quiet --json >/dev/null");
    let asked =
        "rpm https://server:4043 --insecure --ways down --interval 1s --most 8s -q --json -o out";
    let script = once_there(
        &format!("{PROGRAM} {asked}"),
        "cannot connect|no certificates",
    );
    let ran = run(
        place.path(),
        &[
            "lab", "run", "dsl", "--also", &also, "--out", "lab", "--", "sh", "-c", &script,
        ],
    );
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    if ran.code() == Some(4) {
        // Where the hosts had to wait for the processor, the queues are not all that requests waited in.
        return;
    }
    let [out, lab] = ["out", "lab"].map(|name| Record::open(&place.path().join(name)).unwrap());
    let later = out
        .run()
        .started
        .duration_since(lab.run().started)
        .as_secs_f64();
    let (up, down) = (waits(&lab, "up", 5e6), waits(&lab, "down", 20e6));
    let at = |waits: &[(f64, f64)], t: f64| {
        let next = waits.partition_point(|(at, _)| *at < t);
        waits.get(next).map_or(0.0, |(_, wait)| *wait)
    };
    let intervals = out.rows::<RpmInterval>().unwrap();
    assert!(!intervals.is_empty(), "{ran:#?}");
    let last = &intervals[intervals.len().saturating_sub(4)..];
    let ends = |row: &RpmInterval| row.t_ns as f64 * 1e-9 + later;
    let from = ends(&last[0]) - last[0].lasted_ns as f64 * 1e-9;
    let counted = from..ends(&last[last.len() - 1]);
    let ticks = up.iter().filter(|(t, _)| counted.contains(t));
    // Delays of 12 ms each way, and what small packets take to be sent.
    let mut round_trips: Vec<_> = ticks
        .map(|(t, there)| 0.0242 + there + at(&down, t + there + 0.012))
        .collect();
    round_trips.sort_by(f64::total_cmp);
    let fastest = &round_trips[..round_trips.len() * 95 / 100];
    let by_lab = 60.0 * fastest.len() as f64 / fastest.iter().sum::<f64>();
    let ours = number(&ran.json()["summary"], "/down/foreign_rpm");
    // Within 1.2 % where the machine is quiet.
    assert!((0.85..1.1).contains(&(ours / by_lab)), "{ours} {by_lab}");
}

/// Runs nginx with a certificate of its own.
fn nginx() -> String {
    let nginx = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/tools/nginx/usr/sbin/nginx"
    );
    format!(
        "printf '[req]\\ndistinguished_name=d\\nx509_extensions=x\\nprompt=no\\n[d]\\nCN=far\\n[x]\\nsubjectAltName=DNS:far\\n' >req.cnf; \
         openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -config req.cnf -keyout key.pem -out new.pem 2>/dev/null; \
         truncate -s 8G large; mv new.pem cert.pem; exec {nginx} -p $PWD -e errors -c nginx.conf"
    )
}

/// Its certificate is believed because a file vouches for it.
#[test]
fn nginx_is_a_server_of_responsiveness() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let run = measured(&nginx(), "--ca cert.pem --ways down");
    let summary = &run["summary"];
    let of = |figure: &str| number(summary, &format!("/down/{figure}"));
    assert!((100.0..6_000.0).contains(&of("rpm")), "{summary:#}");
    assert!((1.0..9.0).contains(&of("goodput_mbps")), "{summary:#}");
    assert!(of("self_ms/n") >= 3.0, "{summary:#}");
    assert!(summary["up"].is_null());
}

#[test]
fn a_redirect_is_told_with_its_address_and_a_certificate_nobody_vouches_for_is_not_believed() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("nginx.conf", NGINX)]);
    let asks = |url: &str, options: &str| {
        let command = format!("{PROGRAM} rpm {url} {options} -q -o out");
        let script = once_there(&command, "cannot connect|No such");
        let ran = in_small_lab(place.path(), &nginx(), &script);
        assert_eq!(ran.code(), Some(3), "{ran:#?}");
        // The lab has its say before.
        ran.stderr.lines().last().unwrap().to_owned()
    };
    let line = asks("https://far:4043/moved", "--ca cert.pem");
    let told = "302 Found, a redirect to 'https://portal.example/login'";
    assert!(line.contains(told), "{line}");
    let line = asks("https://far:4043/absent", "--ca cert.pem");
    assert!(line.contains("404 Not Found"), "{line}");
    let line = asks("https://far:4043", "");
    assert!(
        line.contains("give its authority's certificate by --ca"),
        "{line}"
    );
}

#[test]
fn who_is_no_responsiveness_server_is_told_in_a_line() {
    let place = folder(&[]);
    let refused = |arguments: &[&str], code| {
        let ran = run(place.path(), &[&["rpm"], arguments].concat());
        ran.refused(code).to_owned()
    };
    assert!(refused(&["gopher://h"], 2).contains("no https://"));
    assert!(refused(&["https://h", "--interval", "1ms"], 2).contains("200ms"));
    let nobody = ["https://127.0.0.1:9", "--insecure"];
    assert!(refused(&nobody, 3).contains("cannot connect"));
    assert!(refused(&["https://h", "--http", "http/1.1"], 2).contains("h2 or h3"));
    assert!(refused(&["https://h", "--http", "4"], 2).contains("h2 or h3"));
}
