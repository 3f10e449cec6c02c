//! The estimation service of `isobath manager`: programs that ask by HTTP what a path is like.

use crate::manager::{SHARED, in_lab, key_of, place, read_json};
use crate::support::{Machine, PROGRAM, Running, TempDir, has, isobath, number, values};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Fetches from the service of the near manager: what, and into which file; its status goes into another.
const ASK: &str = r#"
ask() { curl -s -o $2 -w '%{http_code}' --max-time 100 --unix-socket m3-estimates.sock "http://isobath$1" > $2.status; }
counted() { curl -s --unix-socket m3-estimates.sock http://isobath/metrics | grep "^isobath_manager_$1" | cut -d' ' -f2; }
"#;

fn status(place: &Path, name: &str) -> String {
    fs::read_to_string(place.join(format!("{name}.status"))).unwrap()
}

/// The line of an error.
fn error(place: &Path, name: &str) -> String {
    read_json(place, name)["error"].as_str().unwrap().to_owned()
}

/// Adds lines to the near manager's file.
fn also(place: &TempDir, lines: &str) {
    let file = place.path().join("m3.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{lines}\n{text}")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

/// The events of a stream: kind and data.
fn events(place: &Path, name: &str) -> Vec<(String, Value)> {
    let text = fs::read_to_string(place.join(name)).unwrap();
    let blocks = text.split("\n\n").filter_map(|block| {
        let (kind, data) = block
            .trim_start()
            .strip_prefix("event: ")?
            .split_once('\n')?;
        let data = serde_json::from_str(data.strip_prefix("data: ")?).unwrap();
        Some((kind.to_owned(), data))
    });
    blocks.collect()
}

const FAR: &str = r#"exec "$isobath" manager up --config m5.toml"#;

/// Holds manager/quality, manager/properties, manager/quality-tuple, manager/queries.
#[test]
fn who_asks_by_curl_is_answered_and_shares_with_others() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("curl") {
        return;
    }
    let place = place("m5:4890");
    also(
        &place,
        "service = { listen = \"127.0.0.1:4894\", key = \"0123456789abcdef\" }",
    );
    let near = r#"
"$isobath" manager up --config m3.toml > m3.log 2>&1 &
linked m3.sock
ask "/v1/estimates/rtt?to=m5&timeout=90s" rtt &
ask "/v1/estimates/rtt?to=10.99.0.2&from=m3&timeout=90s" rtt.too &
wait %2 %3
ask "/v1/estimates/rtt?to=m5&max_overhead=0B&max_age=5min" rtt.kept
ask "/v1/estimates/owd?to=m5" owd
counted measurements_total > measurements
ask "/v1/paths" paths
ask "/openapi.json" openapi
ask "/metrics" metrics
ask "/v1/estimates/colour?to=m5" colour
ask "/v1/estimates/rtt?to=m9" stranger
ask "/v1/estimates/rtt?to=m5&from=m9" nowhere
ask "/v1/estimates/available?to=m5&within_pct=0.1" quality
ask "/v1/watch/available?to=m5&max_overhead=1kB" watch
ask "/other" other
code() { curl -s -o $1 -w '%{http_code}' "$2" -H "$3" > $1.status; }
code bare http://127.0.0.1:4894/v1/paths "X: y"
code wrong http://127.0.0.1:4894/v1/paths "Authorization: Bearer 0123456789abcdeF"
code right http://127.0.0.1:4894/v1/paths "Authorization: Bearer 0123456789abcdef"
code counters http://127.0.0.1:9489/v1/paths "X: y"
"$isobath" manager ask rtt m5 --service m3-estimates.sock --max-age 5min > told
"$isobath" manager ask rtt m9 --service m3-estimates.sock 2> told.wrong || echo $? > told.code
"$isobath" manager paths --service m3-estimates.sock > told.paths
"#;
    in_lab(place.path(), FAR, &format!("{ASK}{near}")).ended(0);
    let place = place.path();
    let round_trip = read_json(place, "rtt");
    // The path has 40 ms; what more there is, this machine adds.
    let value = number(&round_trip, "/value");
    assert!((40.0..90.0).contains(&value), "{round_trip:#}");
    assert_eq!(round_trip["unit"], "ms");
    assert_eq!(round_trip["quality"]["overhead_bytes"], 20_000);
    let shared = [&round_trip, &read_json(place, "rtt.too")].map(|answer| answer["shared"] == true);
    assert_eq!(shared.iter().filter(|shared| **shared).count(), 1);
    assert_eq!(
        read_json(place, "rtt.kept")["measured"],
        round_trip["measured"]
    );
    assert!(number(&read_json(place, "owd"), "/value") < value);
    let measurements = fs::read_to_string(place.join("measurements")).unwrap();
    assert_eq!(measurements.trim(), "2");
    let paths = read_json(place, "paths");
    assert_eq!(paths["nodes"][0]["paths"][0]["linked"], true, "{paths:#}");
    assert_eq!(values(&paths["nodes"][0]["paths"][0]["latest"]).count(), 2);
    assert_eq!(paths["nodes"][1]["name"], "m5", "{paths:#}");
    assert_eq!(read_json(place, "openapi")["openapi"], "3.1.0");
    let metrics = fs::read_to_string(place.join("metrics")).unwrap();
    assert!(
        metrics.contains("isobath_manager_estimate{peer=\"m5\",what=\"rtt\""),
        "{metrics}"
    );
    for (name, code, part) in [
        ("colour", "400", "use rtt, owd"),
        ("stranger", "404", "peers are m5"),
        ("nowhere", "404", "it knows m5"),
        ("quality", "409", "the best is pathload"),
        ("watch", "409", "the best is pathload"),
        ("other", "404", "/v1/estimates/"),
        ("bare", "401", "Bearer KEY"),
        ("wrong", "401", "Bearer KEY"),
    ] {
        let line = error(place, name);
        assert!(line.contains(part), "{line}");
        assert_eq!(status(place, name), code, "{name}");
    }
    assert_eq!(status(place, "right"), "200");
    assert_eq!(status(place, "counters"), "404");
    let told = |name: &str| fs::read_to_string(place.join(name)).unwrap();
    assert!(
        told("told").starts_with("rtt m3 to m5: "),
        "{}",
        told("told")
    );
    assert!(told("told.wrong").contains("peers are m5"));
    assert_eq!(told("told.code"), "3\n");
    assert!(
        told("told.paths").contains("m5 to m3"),
        "{}",
        told("told.paths")
    );
}

/// Fills the path with datagrams that no manager knows of, until a file is there.
const LOAD: &str = r#"
import os, socket, sys, time
load = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while not os.path.exists("calm"):
    for _ in range(20):
        load.sendto(bytes(1400), (sys.argv[1], 9))
    time.sleep(0.01)
"#;

/// Holds manager/queries.
#[test]
fn who_watches_is_told_when_a_threshold_is_crossed_and_not_else() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("curl") || !has("python3") {
        return;
    }
    let place = place("m5:4890");
    fs::write(place.path().join("load.py"), LOAD).unwrap();
    let near = r#"
"$isobath" manager up --config m3.toml > m3.log 2>&1 &
linked m3.sock
until_said() { until [ $(grep -c "$1" events) -ge $2 ]; do sleep 0.1; done; }
curl -sN --unix-socket m3-estimates.sock "http://isobath/v1/watch/rtt?to=m5&every=3s&above=80ms&below=60ms" > events &
watch=$!
until_said "event: estimate" 1
address=$(getent ahostsv4 m5 | head -1 | cut -d' ' -f1)
python3 load.py $address &
until_said "event: crossed" 1
touch calm
until_said "event: crossed" 2
counted queries_open > open
kill $watch
until [ "$(counted queries_open)" = 0 ]; do sleep 0.1; done
"#;
    in_lab(place.path(), FAR, &format!("{ASK}{near}")).ended(0);
    let place = place.path();
    let events = events(place, "events");
    let kinds: Vec<_> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["estimate", "crossed", "crossed"]);
    let sides = ["above", "below"].map(Value::from);
    for ((_, answer), side) in events.iter().skip(1).zip(&sides) {
        assert_eq!(&answer["threshold"]["side"], side, "{answer:#}");
    }
    assert!(number(&events[1].1, "/low") > 80.0);
    assert!(number(&events[2].1, "/high") < 60.0);
    let open = fs::read_to_string(place.join("open")).unwrap();
    assert_eq!(open.trim(), "1", "and none when the connection is closed");
}

/// Holds manager/opportunistic.
#[test]
fn a_budget_holds_whoever_asks() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("curl") {
        return;
    }
    let place = place("m5:4890");
    also(&place, "budget = { rate = \"200kbit\" }");
    let near = r#"
"$isobath" manager up --config m3.toml > m3.log 2>&1 &
linked m3.sock
ask "/v1/estimates/available?to=m5" available
ask "/v1/estimates/available?to=m5&max_overhead=10kB" dear
ask "/v1/estimates/available?to=m5&estimator=semi-elastic" semi
ask "/v1/estimates/available?to=m5&estimator=elastic&timeout=2s" elastic
ask "/v1/estimates/available?to=m5&estimator=opportunistic&timeout=2s" opportunistic
ask "/v1/estimates/rtt?to=m5" rtt
"$isobath" manager stats --socket m3.sock --json > stats
"#;
    in_lab(place.path(), FAR, &format!("{ASK}{near}")).ended(0);
    let place = place.path();
    let line = error(place, "available");
    assert!(line.contains("25000 octets a second"), "{line}");
    assert_eq!(status(place, "available"), "503");
    assert_eq!(status(place, "dear"), "409");
    assert_eq!(status(place, "semi"), "503");
    // They listen to applications for longer than that.
    for name in ["elastic", "opportunistic"] {
        let line = error(place, name);
        assert!(line.contains(name), "{line}");
        assert_eq!(status(place, name), "409");
    }
    assert!(number(&read_json(place, "rtt"), "/value") > 40.0);
    assert!(number(&read_json(place, "stats"), "/peers/m5/refused_budget") > 0.0);
}

/// Asks three hundred times at once, and sends what is no request.
const FLOOD: &str = r#"
import collections, json, socket, sys
def connect():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(100)
    client.connect("m3-estimates.sock")
    return client
for garbage in [b"", b"\r\n\r\n", b"\x16\x03\x01" * 99, b"GET / HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n", b"GET " + b"/" * 9000]:
    rude = connect()
    try:
        rude.sendall(garbage)
        rude.shutdown(socket.SHUT_WR)
        rude.recv(100)
    except OSError:
        pass
silent = [connect() for _ in range(20)]
whats = ["rtt", "owd", "jitter"]
clients = []
for number in range(300):
    client = connect()
    client.sendall(b"GET /v1/estimates/%s?to=m5 HTTP/1.1\r\nHost: x\r\n\r\n" % whats[number % 3].encode())
    clients.append(client)
codes = collections.Counter()
for client in clients:
    answer = b""
    while more := client.recv(65536):
        answer += more
    codes[answer.split(b" ")[1].decode()] += 1
    assert b"429" not in answer[:20] or b"retry-after" in answer.lower()
print(json.dumps(codes))
"#;

#[test]
fn a_flood_of_queries_is_refused_in_part_and_makes_no_more_trains() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("python3") || !has("curl") {
        return;
    }
    let place = place("m5:4890");
    fs::write(place.path().join("flood.py"), FLOOD).unwrap();
    let near = r#"
"$isobath" manager up --config m3.toml > m3.log 2>&1 &
manager=$!
linked m3.sock
memory() { grep VmHWM /proc/$manager/status | tr -dc 0-9; }
memory > before
python3 flood.py > codes
memory > after
counted measurements_total > measurements
counted queries_open > open
"#;
    in_lab(place.path(), FAR, &format!("{ASK}{near}")).ended(0);
    let place = place.path();
    let codes = read_json(place, "codes");
    let count = |code: &str| codes[code].as_u64().unwrap_or(0);
    assert_eq!(count("200") + count("429"), 300, "{codes}");
    assert!(count("200") >= 64 && count("429") > 0, "{codes}");
    let figure = |name: &str| -> u64 {
        let text = fs::read_to_string(place.join(name)).unwrap();
        text.trim().parse().unwrap()
    };
    // One of each kind for all, and what was begun again for who came late.
    assert!(figure("measurements") <= 9, "{}", figure("measurements"));
    assert_eq!(figure("open"), 0);
    let grown_kb = figure("after") - figure("before");
    assert!(grown_kb < 64 << 10, "{grown_kb} kB");
}

/// Holds manager/estimation-overlay.
#[test]
fn any_node_answers_for_any_pair() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("curl") {
        return;
    }
    let place = place("m5:4890");
    let far = fs::read_to_string(place.path().join("m5.toml")).unwrap();
    let third = "[[peer]]\nname = \"m7\"\nroutes = [\"10.99.0.3/32\"]\n";
    fs::write(place.path().join("m5.toml"), format!("{far}{third}")).unwrap();
    let near = fs::read_to_string(place.path().join("m3.toml")).unwrap();
    let [ours, third] = ["m3", "m7"].map(|peer| key_of(peer, place.path()));
    let near = near
        .replace(&ours, &third)
        // Names are in quotes; a key may have these letters, too.
        .replace("\"m3", "\"m7")
        .replace("10.99.0.1/24\", \"fd99::1/64", "10.99.0.3/24")
        .replace(", \"fd99::2/128\"", "");
    let file = place.path().join("m7.toml");
    fs::write(&file, near).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let near = r#"
"$isobath" manager up --config m3.toml > m3.log 2>&1 &
linked m3.sock
until ask "/v1/estimates/rtt?from=m7&to=m5" rtt; [ $(cat rtt.status) != 404 ]; do sleep 0.2; done
ask "/v1/estimates/rtt?from=m5&to=m7&max_age=5min" back
ask "/v1/estimates/rtt?from=m7&to=m3" stranger
at_m7() { [ "$(curl -s --unix-socket m7-estimates.sock http://isobath/metrics | sed -n 's/^isobath_manager_queries_open //p')" = $1 ]; }
curl -sN --unix-socket m3-estimates.sock "http://isobath/v1/watch/rtt?from=m7&to=m5&every=1s&max_age=500ms" > events &
watch=$!
until [ $(grep -c "event: estimate" events) -ge 2 ] && at_m7 1; do sleep 0.1; done
kill $watch
until at_m7 0; do sleep 0.1; done
ask "/v1/watch/rtt?from=m7&to=m3" watch
"$isobath" manager paths --service m3-estimates.sock > paths
"#;
    let far = format!("m5={SHARED}{FAR}");
    let third = format!("c2={SHARED}exec \"$isobath\" manager up --config m7.toml");
    let near = format!("set -e; {SHARED}{ASK}{near}");
    let arguments = [
        "lab",
        "run",
        "manager-dumbbell",
        "--also",
        &far,
        "--also",
        &third,
        "--",
        "sh",
        "-c",
        &near,
    ];
    let mut command = isobath(place.path(), &arguments);
    command.env("isobath", PROGRAM);
    Running::start(command).finish().ended(0);
    let place = place.path();
    let answer = read_json(place, "rtt");
    // Between the two is no bottleneck and no delay: not the path from here.
    assert!(number(&answer, "/value") < 40.0, "{answer:#}");
    assert_eq!(answer["from"], "m7");
    assert_eq!(answer["to"], "m5");
    assert_eq!(read_json(place, "back")["from"], "m5");
    assert!(error(place, "stranger").contains("no path from m7"));
    assert_eq!(status(place, "stranger"), "404");
    assert_eq!(status(place, "watch"), "404");
    for (kind, answer) in events(place, "events") {
        assert_eq!((&*kind, &answer["from"]), ("estimate", &"m7".into()));
    }
    let paths = fs::read_to_string(place.join("paths")).unwrap();
    assert!(
        paths.contains("m7 to m5") && paths.contains("m5 to m7"),
        "{paths}"
    );
}
