//! Two ends that agree, or do not: `isobath serve` and a client, over loopback or across a lab.

use crate::support::{
    Machine, PROGRAM, Running, SMALL_LAB, Signal, TempDir, entries, eventually, folder, has,
    is_alive, isobath, number, rows, run, short_plan, signal_process, values,
};
use schema::tables::Sample;
use serde_json::Value;
use session::AccessKey;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Round trips without load: over loopback a load would measure this machine.
const PROBES: &str = r#"
summary = "round trips"
idle_before = "300ms"
duration = "600ms"
idle_after = "100ms"
probe = [{ kind = "udp_rr", class = "EF" }, { kind = "tcp_rr" }]
"#;

/// A server on a port of its own.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) host: String,
    pub(crate) key: String,
}

impl Server {
    pub(crate) fn start(folder: &Path, more: &[&str]) -> Self {
        let common = ["serve", "--address", "127.0.0.1", "--port", "0", "--json"];
        let running = Running::start(isobath(folder, &[&common, more].concat()));
        eventually("the server listens", || running.stdout().ends_with('\n'));
        let said: Value = serde_json::from_str(&running.stdout()).unwrap();
        let field = |name: &str| said[name].as_str().unwrap().to_owned();
        Self {
            host: field("address"),
            key: field("key"),
            running,
        }
    }
}

fn place() -> TempDir {
    folder(&[("probes.toml", PROBES)])
}

#[track_caller]
fn refused(place: &Path, host: &str, more: &[&str], said: &str) {
    let before = entries(place);
    let common = ["rrul", host, "--plan", "probes.toml"];
    let ran = run(place, &[&common, more].concat());
    assert_eq!(ran.refused(3), format!("rrul: {said}"));
    assert_eq!(
        entries(place),
        before,
        "nothing was measured, so nothing is kept"
    );
}

#[test]
fn with_the_right_key_two_hosts_measure() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--identity", "id/identity.json"]);
    let common = ["rrul", &server.host, "--plan", "probes.toml", "--json"];
    let by_option = run(
        place.path(),
        &[&common[..], &["-o", "a", "--key", &server.key]].concat(),
    );
    let mut by_variable = isobath(place.path(), &[&common[..], &["-o", "b"]].concat());
    by_variable.env("ISOBATH_KEY", &server.key);
    for run in [
        by_option.measured(),
        Running::start(by_variable).finish().measured(),
    ] {
        assert!(run["path"]["lab"].is_null(), "{run:#}");
        assert_eq!(
            run["path"]["server"]["addresses"],
            serde_json::json!(["127.0.0.1"])
        );
        assert!(
            !run.to_string().contains(&server.key),
            "the key is no part of a record"
        );
    }
    for record in ["a", "b"] {
        let samples = rows::<Sample>(&place.path().join(record));
        assert!(
            samples.iter().filter(|sample| !sample.lost).count() > 20,
            "{}",
            samples.len()
        );
    }
    server.running.signal(Signal::TERM);
    server.running.finish().ended(0);
}

#[test]
fn a_server_logs_who_measured_what_and_who_was_refused() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let quiet = Server::start(place.path(), &["--ephemeral", "--quiet"]);
    let common = ["--plan", "probes.toml", "--json"];
    for server in [&server, &quiet] {
        let ours = ["rrul", &server.host, "--key", &server.key];
        run(place.path(), &[&ours[..], &common].concat()).measured();
        let nobody = ["rrul", &server.host];
        run(place.path(), &[&nobody[..], &common[..2]].concat()).refused(3);
    }
    for server in [&server, &quiet] {
        server.running.signal(Signal::TERM);
    }
    assert_eq!(quiet.running.finish().ended(0).stderr, "");
    let log = server.running.finish().ended(0).stderr.clone();
    let lines: Vec<&str> = log.lines().collect();
    let [begins, ends, refused] = lines[..] else {
        panic!("three lines: {log}");
    };
    let peer = begins.strip_suffix(" begins rrul").unwrap();
    assert!(peer.starts_with("127.0.0.1:"), "{log}");
    let ends = ends.strip_prefix(&format!("{peer} ends rrul after "));
    let (_, octets) = ends.unwrap().split_once(" s: received ").unwrap();
    let (received, sent) = octets.split_once(" octets, sent ").unwrap();
    let octets = |text: &str| text.parse::<u64>().unwrap();
    // Round trips over UDP and TCP: each end sends what it got.
    assert!(octets(received) > 1_000 && octets(sent) > 1_000, "{log}");
    let reason = refused.split_once(' ').unwrap().1;
    assert_eq!(reason, "refused: a key is needed");
}

#[test]
fn a_server_has_as_many_sessions_as_it_was_told() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral", "--sessions", "1"]);
    let key: AccessKey = server.key.parse().unwrap();
    let first = session::connect(
        &server.host,
        None,
        Some(&key),
        std::time::Duration::from_secs(20),
    );
    let first = first.unwrap();
    let said = format!(
        "{} is busy: 1 sessions at once - try again when those have ended",
        server.host
    );
    refused(place.path(), &server.host, &["--key", &server.key], &said);
    drop(first);
    eventually("the session has ended", || {
        let again = session::connect(
            &server.host,
            None,
            Some(&key),
            std::time::Duration::from_secs(20),
        );
        again.is_ok()
    });
}

#[test]
fn the_identity_is_kept_for_its_owner_and_names_the_same_key_again() {
    let _machine = Machine::without_networks();
    let place = place();
    let show = ["serve", "--show-key", "--identity", "id/identity.json"];
    let shown = run(place.path(), &show).ended(0).stdout.clone();
    let key: AccessKey = shown.parse().unwrap();
    assert_eq!(shown.trim(), key.to_string());
    let file = place.path().join("id/identity.json");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let server = Server::start(place.path(), &["--identity", "id/identity.json"]);
    assert_eq!(server.key, key.to_string());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let line = run(place.path(), &show).refused(3).to_owned();
    assert!(
        line.contains("must not be readable by others - run: chmod 600 id/identity.json"),
        "{line}"
    );
}

#[test]
fn whoever_cannot_be_measured_against_is_told_apart_in_one_line() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let host = &*server.host;
    let advice = "print the right one with 'isobath serve --show-key' there";
    let key: AccessKey = server.key.parse().unwrap();
    let guessed = AccessKey {
        secret: session::Secret([7; 16]),
        ..key
    };
    let said = format!("{host} refused the key - {advice}");
    refused(place.path(), host, &["--key", &guessed.to_string()], &said);
    let other = run(place.path(), &["serve", "--ephemeral", "--show-key"])
        .ended(0)
        .stdout
        .clone();
    let said = format!(
        "{host} is not the host that the key was made for (its certificate differs) - print its key with \
         'isobath serve --show-key' there"
    );
    refused(place.path(), host, &["--key", other.trim()], &said);
    let said = format!(
        "{host} wants an access key - print it with 'isobath serve --show-key' there, and pass it with --key"
    );
    refused(place.path(), host, &[], &said);
    let key = ["--key", &server.key];
    refused(
        place.path(),
        "127.0.0.1:1",
        &key,
        "cannot reach 127.0.0.1:1: Connection refused (os error 111) - is 'isobath serve' running there, and \
         the port open?",
    );
    refused(
        place.path(),
        "a b",
        &key,
        "'a b' is not a host - write HOST, HOST:PORT or [IPv6]:PORT",
    );
    let said = "cannot find the address of 127.0.0.1: it has no IPv6 address - check the name";
    refused(place.path(), host, &["-6"], said);
    let web = web_server();
    let said = format!("{web} is not an isobath server - is the port right?");
    refused(place.path(), &web, &key, &said);
    // After all that it still serves those that may.
    let good = [
        "rrul",
        host,
        "--plan",
        "probes.toml",
        "--json",
        "-o",
        "good",
        key[0],
        key[1],
    ];
    run(place.path(), &good).measured();
}

/// Something else that listens: answers one connection as a web server would.
fn web_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut hello = [0; 512];
        let _ = socket.read(&mut hello);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    address
}

#[test]
fn an_open_server_takes_strangers() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral", "--open"]);
    run(
        place.path(),
        &[
            "rrul",
            &server.host,
            "--plan",
            "probes.toml",
            "--json",
            "-o",
            "run",
        ],
    )
    .measured();
}

#[test]
fn a_port_that_is_taken_is_told() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let port = server.host.rsplit_once(':').unwrap().1;
    let again = [
        "serve",
        "--ephemeral",
        "--address",
        "127.0.0.1",
        "--port",
        port,
    ];
    let line = run(place.path(), &again).refused(3).to_owned();
    assert!(
        line.contains(&format!("cannot listen on {}: ", server.host)),
        "{line}"
    );
    assert!(
        line.ends_with("choose another with --port or --address"),
        "{line}"
    );
}

/// In a lab, as on a real path, nothing but silence tells the client.
#[test]
fn a_server_that_is_killed_mid_run_leaves_an_incomplete_record_with_the_reason() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(30))]);
    let key = run(
        place.path(),
        &["serve", "--identity", "id/i.json", "--show-key"],
    )
    .ended(0)
    .stdout
    .clone();
    let program = PROGRAM;
    let server =
        format!("far=echo $$ > server.pid; exec {program} serve --identity id/i.json >server.txt");
    let client = [
        program,
        "rrul",
        "far",
        "--plan",
        "plan.toml",
        "--json",
        "-o",
        "run",
        "--key",
        key.trim(),
    ];
    let both = [
        &["lab", "run", "small.toml", "--also", &server, "--"],
        &client[..],
    ]
    .concat();
    let running = Running::start(isobath(place.path(), &both));
    let record = place.path().join("run");
    eventually("samples are on disk", || {
        record.join("samples.arrows").exists()
    });
    let pid = fs::read_to_string(place.path().join("server.pid")).unwrap();
    let pid = pid.trim().parse().unwrap();
    signal_process(pid, Signal::KILL);
    let ran = running.finish();
    let run_json = ran.ended(3).json();
    assert!(!is_alive(pid));
    assert_eq!(run_json["status"], "incomplete");
    let lost: Vec<_> = values(&run_json["warnings"])
        .filter(|w| w["code"] == "server_lost")
        .collect();
    assert_eq!(lost.len(), 1, "{run_json:#}");
    let message = lost[0]["message"].as_str().unwrap();
    assert!(
        message.contains("far:4890 closed the connection") && !message.contains('\n'),
        "{message}"
    );
    assert!(number(&run_json, "/summary/latency_ms/idle/p50") >= 10.0);
    assert!(
        rows::<Sample>(&record).len() > 20,
        "what was measured is kept"
    );
    let shown = run(place.path(), &["show", "run"]).ended(0).stdout.clone();
    assert!(
        shown.contains("INCOMPLETE") && shown.contains("the server was lost"),
        "{shown}"
    );
}

/// What is lost in between is told as lost; what comes after is measured.
#[test]
fn a_path_that_is_cut_for_a_while_is_lived_through() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("ip") {
        return;
    }
    let routed = SMALL_LAB
        .replace("hosts =", "routers = [\"mid\"]\nhosts =")
        .replace(
            "between = [\"near\", \"far\"]",
            "between = [\"near\", \"mid\"]",
        )
        + "[[link]]\nbetween = [\"mid\", \"far\"]\nup = []\ndown = []\n";
    let place = folder(&[("routed.toml", &routed), ("plan.toml", &short_plan(8))]);
    let show = ["serve", "--identity", "id/i.json", "--show-key"];
    let key = run(place.path(), &show).ended(0).stdout.clone();
    let server = format!("far=exec {PROGRAM} serve --identity id/i.json >server.txt");
    let cut = "mid=while [ ! -e run/series.arrows ]; do sleep 0.1; done; sleep 1; \
               ip route replace blackhole 10.77.0.2/32; sleep 3; \
               ip route replace 10.77.0.2/32 dev to-far; exec sleep 600";
    let lab = [
        "lab",
        "run",
        "routed.toml",
        "--also",
        &server,
        "--also",
        cut,
        "--",
    ];
    let common = [
        "--plan",
        "plan.toml",
        "--json",
        "-o",
        "run",
        "--key",
        key.trim(),
    ];
    let client = [&[PROGRAM, "rrul", "10.77.0.2"], &common[..]].concat();
    let ran = run(place.path(), &[&lab[..], &client].concat());
    ran.ended(3);
    assert!(ran.stdout.contains("path_stood_still"), "{}", ran.stdout);
    let mut samples = rows::<Sample>(&place.path().join("run"));
    samples.sort_by_key(|sample| sample.t_ns);
    let lost = samples
        .iter()
        .rposition(|sample| sample.lost)
        .expect("nothing was lost");
    let after = samples[lost..]
        .iter()
        .filter(|sample| sample.rtt_ns.is_some())
        .count();
    assert!(after > 10, "{after} round trips after the cut");
}

#[test]
fn whoever_says_nothing_is_given_up() {
    let _machine = Machine::without_networks();
    let place = place();
    // The system takes the connection; nobody ever reads from it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = silent.local_addr().unwrap().to_string();
    let before = entries(place.path());
    let ran = run(place.path(), &["rrul", &host, "--plan", "probes.toml"]);
    let line = ran.refused(3);
    assert!(
        line.starts_with(&format!("rrul: {host} did not answer in time")),
        "{line}"
    );
    assert_eq!(entries(place.path()), before);
}

#[test]
fn a_server_serves_several_at_once_and_outlives_one_that_dies() {
    let _machine = Machine::without_networks();
    let long = PROBES.replace("600ms", "60s");
    let place = folder(&[("probes.toml", PROBES), ("long.toml", &long)]);
    let server = Server::start(place.path(), &["--ephemeral"]);
    let client = |plan: &str, out: &str| {
        let common = ["rrul", &server.host, "--key", &server.key, "--json"];
        let own = ["--plan", plan, "-o", out];
        Running::start(isobath(place.path(), &[&common[..], &own].concat()))
    };
    let dying = client("long.toml", "dying");
    let record = place.path().join("dying");
    eventually("it measures", || record.join("samples.arrows").exists());
    let others = ["a", "b", "c"].map(|out| client("probes.toml", out));
    dying.signal(Signal::KILL);
    for other in others {
        other.finish().measured();
    }
    client("probes.toml", "later").finish().measured();
}
