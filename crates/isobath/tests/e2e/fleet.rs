//! A fleet on loopback: a real nats-server, real agents, and what becomes of every run when they are killed.

mod outside;

use crate::support::{
    Machine, Ran, Running, Signal, children, eventually, folder, free_port, has, isobath, number,
    run, values,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use sys::clock;

/// Two hosts; probes each second, and as often as they fit what counts as a load, though it is none: so the test costs little.
const FLEET: &str = r#"
name = "pair"
[[host]]
name = "a"
site = "here"
[[host]]
name = "b"
[[measure]]
name = "rtt"
run = "estimate rtt --duration 300ms"
pairs = { mesh = ["all"] }
takes = "10s"
every = "1s"
[[measure.threshold]]
above = 1000
[[measure]]
name = "bulk"
run = "estimate owd --duration 300ms"
loads = true
pairs = { star = { centre = "a", hosts = ["b"] } }
takes = "2s"
every = "2s"
patience = "20s"
[[measure]]
name = "asked"
run = "estimate jitter --duration 300ms --reverse"
on_demand = true
pairs = { star = { centre = "b", hosts = ["a"] } }
takes = "10s"
[[measure]]
name = "back"
run = "estimate owd --duration 300ms"
loads = true
pairs = { star = { centre = "b", hosts = ["a"] } }
takes = "2s"
every = "2s"
patience = "20s"
"#;

/// Unpacked by scripts/setup.sh.
pub(crate) const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/tools/nats-server/bin/nats-server"
);

fn server(folder: &Path, port: u16, more: &[&str]) -> Running {
    assert!(
        Path::new(SERVER).is_file(),
        "no {SERVER} - run scripts/setup.sh test"
    );
    let mut command = Command::new(SERVER);
    command
        .args([
            "--jetstream",
            "--addr",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--store_dir",
        ])
        .arg(folder.join("nats"))
        .args(more)
        .current_dir(folder);
    Running::start(command)
}

struct Place<'a> {
    folder: &'a Path,
    nats: String,
}

impl Place<'_> {
    fn agent(&self, name: &str, more: &[&str]) -> Running {
        Running::start(self.command(name, more))
    }

    fn command(&self, name: &str, more: &[&str]) -> Command {
        let state = format!("agent-{name}");
        let arguments = [
            "agent",
            "--nats",
            &self.nats,
            "--name",
            name,
            "--site",
            "here",
            "--port",
            "0",
            "--advertise",
            "127.0.0.1",
            "--state",
            &state,
        ];
        isobath(self.folder, &[&arguments, more].concat())
    }

    fn fleet(&self, words: &[&str]) -> Ran {
        let arguments = [&["fleet"], words, &["--nats", &self.nats]].concat();
        run(self.folder, &arguments)
    }

    /// The account of everything until now.
    fn account(&self) -> Value {
        self.fleet(&["runs", "pair", "--last", "1h", "--json"])
            .ended(0)
            .json()
    }

    fn are_there(&self, names: &[&str]) -> bool {
        let status = self.fleet(&["status", "--json"]);
        let Ok(status) = serde_json::from_str::<Value>(&status.stdout) else {
            return false;
        };
        let there: BTreeSet<_> = values(&status["agents"])
            .filter_map(|agent| agent["name"].as_str().map(str::to_owned))
            .collect();
        names.iter().all(|name| there.contains(*name))
    }
}

/// How many of the agents' children load a path: the book of whoever looks at processes.
fn loads(agents: &[u32]) -> usize {
    let is_load = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|octet| *octet == 0).nth(2) == Some(b"owd")
    };
    agents
        .iter()
        .flat_map(|id| children(*id))
        .filter(is_load)
        .count()
}

fn kill_while_it_measures(agent: &mut Running) {
    eventually("a run is under way", || !children(agent.id()).is_empty());
    agent.signal(Signal::KILL);
    eventually("the agent is gone", || agent.is_over());
}

/// Runs that did not come to their end.
fn cut_short(counts: &Value) -> f64 {
    number(counts, "/incomplete") + number(counts, "/failed")
}

#[test]
fn a_fleet_loses_nothing_and_does_nothing_twice_when_agents_and_the_server_are_killed() {
    let _machine = Machine::without_networks();
    let place = folder(&[("fleet.toml", FLEET)]);
    let port = free_port();
    let mut nats = server(place.path(), port, &[]);
    let fleet = Place {
        folder: place.path(),
        nats: format!("nats://127.0.0.1:{port}"),
    };
    let mut a = fleet.agent("a", &[]);
    let metrics = format!("127.0.0.1:{}", free_port());
    let collector = outside::Collector::start();
    let pushes = ["--metrics", &metrics, "--otlp", &collector.address];
    let mut b = fleet.command("b", &pushes);
    b.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20secret");
    let b = Running::start(b);
    eventually("both agents are there", || fleet.are_there(&["a", "b"]));
    let applied = fleet.fleet(&["apply", "fleet.toml"]);
    assert!(
        applied.ended(0).stdout.contains("new fleet 'pair'"),
        "{applied:#?}"
    );
    let again = fleet.fleet(&["apply", "fleet.toml"]);
    assert!(
        again.ended(0).stdout.contains("nothing differs"),
        "{again:#?}"
    );
    let (over, most) = (
        AtomicBool::new(false),
        std::sync::atomic::AtomicUsize::new(0),
    );
    let ids = std::sync::Mutex::new(vec![a.id(), b.id()]);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let ids = ids.lock().unwrap().clone();
                most.fetch_max(loads(&ids), Ordering::Relaxed);
                clock::sleep_until(clock::now() + Duration::from_millis(3));
            }
        });
        // On a busy machine runs are invalid; they are measured all the same.
        let measured = |account: &Value| {
            number(account, "/counts/complete") + number(account, "/counts/invalid")
        };
        eventually("runs are measured", || measured(&fleet.account()) > 3.0);
        // Where the run has ended before the signal arrives, as on a busy machine, once more.
        for _ in 0..5 {
            kill_while_it_measures(&mut a);
            a = fleet.agent("a", &[]);
            ids.lock().unwrap().push(a.id());
            let before = measured(&fleet.account());
            eventually("it measures again", || {
                measured(&fleet.account()) > before + 3.0
            });
            if cut_short(&fleet.account()["counts"]) >= 1.0 {
                break;
            }
        }
        nats.signal(Signal::KILL);
        eventually("the server is gone", || nats.is_over());
        // Runs go on meanwhile, and their outcomes are kept.
        clock::sleep_until(clock::now() + Duration::from_secs(3));
        nats = server(place.path(), port, &[]);
        eventually("the agents are there again", || {
            fleet.are_there(&["a", "b"])
        });
        let before = measured(&fleet.account());
        eventually("runs are handed over again", || {
            measured(&fleet.account()) > before + 6.0
        });
        fleet.fleet(&["pause", "pair"]).ended(0);
        // It begins to hold a little later, when every agent has heard of it.
        clock::sleep_until(clock::now() + Duration::from_secs(3));
        eventually("nothing is open", || {
            number(&fleet.account(), "/counts/open") == 0.0
        });
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(most.load(Ordering::Relaxed), 1, "loads at once");
    let account = fleet.account();
    let counts = &account["counts"];
    for nothing in ["missing", "open"] {
        assert_eq!(counts[nothing], 0, "{account:#}");
    }
    for nothing in ["twice", "unplanned"] {
        assert_eq!(values(&account[nothing]).count(), 0, "{account:#}");
    }
    assert!(cut_short(counts) >= 1.0, "{counts:#}");
    exported(&fleet, counts);
    let trips = scraped(&metrics);
    watched_by_prometheus(place.path(), &metrics, trips);
    collector.has_heard_of_it();
    outside::exported_to_a_bucket(&fleet, counts);
    kept_for_a_time(&fleet);
    for agent in [a, b] {
        agent.signal(Signal::INT);
        agent.finish().ended(0);
    }
    drop(nats);
    assert!(
        fleet
            .fleet(&["status"])
            .refused(3)
            .contains("cannot be reached")
    );
}

/// What an agent counts, as the parser of Prometheus' own library reads it.
///
/// Returns how many round trips of `estimate rtt` there are.
fn scraped(address: &str) -> f64 {
    let script = r#"
import json, sys, urllib.request
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
text = urllib.request.urlopen(f"http://{sys.argv[1]}/metrics", timeout=20).read().decode()
print(json.dumps([[s.name, s.labels, s.value] for f in families(text) for s in f.samples]))
"#;
    let mut python = Command::new("/usr/bin/python3");
    let told = python.args(["-c", script, address]).output().unwrap();
    assert!(told.status.success(), "{told:?}");
    let samples: Vec<(String, Value, f64)> = serde_json::from_slice(&told.stdout).unwrap();
    let value = |name: &str, labels: &[(&str, &str)]| {
        let is_it = |(found, given, _): &&(String, Value, f64)| {
            found == name && labels.iter().all(|(key, label)| given[key] == *label)
        };
        samples
            .iter()
            .filter(is_it)
            .map(|(_, _, value)| value)
            .sum::<f64>()
    };
    assert!(value("isobath_agent_build_info", &[("name", "b")]) > 0.0);
    assert!(value("isobath_agent_connected", &[]) > 0.0);
    assert!(value("isobath_agent_unhanded", &[]) < 1.0, "{samples:?}");
    let rtt = [("fleet", "pair"), ("measure", "rtt"), ("to", "a")];
    assert!(value("isobath_agent_runs_total", &rtt) > 3.0, "{samples:?}");
    let ended = value("isobath_agent_last_run_timestamp_seconds", &rtt);
    let now = jiff::Timestamp::now().as_second() as f64;
    assert!((now - 600.0..now + 5.0).contains(&ended), "{ended}");
    let figure = [&rtt[..], &[("unit", "ms")]].concat();
    assert!(value("isobath_agent_figure", &figure) > 0.0, "{samples:?}");
    let held = |(name, labels, value): &(String, Value, f64)| {
        name == "isobath_agent_threshold_exceeded" && labels["figure"] == "value" && *value < 0.5
    };
    assert!(samples.iter().any(held), "{samples:?}");
    let idle = [&rtt[..], &[("load", "idle")]].concat();
    let trips = value("isobath_agent_round_trip_seconds_count", &idle);
    assert!(trips > 3.0, "{samples:?}");
    trips
}

/// Unpacked by scripts/setup.sh.
const PROMETHEUS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/tools/prometheus/usr/bin"
);
const SHARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../share");

/// What is so with the alerts after two hours of a fleet that fares badly.
const BAD: &str = r#"
rule_files: [RULES]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - { series: 'up{job="isobath", instance="a"}', values: '0x180' }
      - { series: 'isobath_agent_connected{job="isobath", instance="a"}', values: '0x180' }
      - { series: 'isobath_agent_unhanded{job="isobath", instance="a"}', values: '200x180' }
      - { series: 'isobath_agent_passed{fleet="f", measure="voice", to="b"}', values: '0x180' }
      - { series: 'isobath_agent_passed{fleet="f", measure="voice", to="c"}', values: '1x180' }
      - { series: 'isobath_agent_threshold_exceeded{fleet="f", measure="voice", to="b", figure="value"}', values: '1x180' }
      - { series: 'isobath_agent_threshold_exceeded{fleet="f", measure="voice", to="c", figure="value"}', values: '0x180' }
      - { series: 'isobath_agent_last_run_timestamp_seconds{fleet="f", measure="voice", to="b"}', values: '0x180' }
      - { series: 'isobath_agent_last_run_timestamp_seconds{fleet="f", measure="voice", to="c"}', values: '0+60x180' }
      - { series: 'isobath_agent_runs_total{fleet="f", measure="voice", to="b", status="complete"}', values: '0+2x180' }
      - { series: 'isobath_agent_runs_total{fleet="f", measure="voice", to="b", status="failed"}', values: '0+1x180' }
      - { series: 'isobath_agent_runs_total{fleet="f", measure="voice", to="c", status="complete"}', values: '0+2x180' }
      - { series: 'isobath_agent_figure{figure="value", unit="ms", to="b"}', values: '20x100 60x80' }
      - { series: 'isobath_agent_figure{figure="value", unit="ms", to="c"}', values: '20x100 25x80' }
      - { series: 'isobath_agent_figure{figure="throughput", unit="Mbit/s", to="b"}', values: '90x100 40x80' }
    promql_expr_test:
      - expr: count by (alertname) (ALERTS{alertstate="firing"})
        eval_time: 175m
        exp_samples:
          - { labels: '{alertname="IsobathAgentDown"}', value: 1 }
          - { labels: '{alertname="IsobathAgentAway"}', value: 1 }
          - { labels: '{alertname="IsobathOutcomesUnhanded"}', value: 1 }
          - { labels: '{alertname="IsobathVerdictFails"}', value: 1 }
          - { labels: '{alertname="IsobathThresholdExceeded"}', value: 1 }
          - { labels: '{alertname="IsobathRunOverdue"}', value: 1 }
          - { labels: '{alertname="IsobathRunsNotComplete"}', value: 1 }
          - { labels: '{alertname="IsobathDelayUp"}', value: 1 }
          - { labels: '{alertname="IsobathThroughputDown"}', value: 1 }
"#;

fn promtool(place: &Path, words: &[&str]) {
    let mut command = Command::new(format!("{PROMETHEUS}/promtool"));
    let told = command.args(words).current_dir(place).output();
    let told = told.expect("promtool, as scripts/setup.sh test unpacks it");
    assert!(told.status.success(), "{told:?}");
}

/// Each question of the dashboard, as a rule that promtool checks.
fn questions() -> String {
    let text = fs::read_to_string(format!("{SHARE}/grafana/isobath-fleet.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let targets = values(&dashboard["panels"]).flat_map(|panel| values(&panel["targets"]));
    let rules = targets.zip(0..).map(|(target, number)| {
        let question = target["expr"].as_str().unwrap();
        let asked = question
            .replace("$__range", "1h")
            .replace("$__rate_interval", "5m");
        format!(
            "  - {{ record: 'q{number}', expr: {} }}\n",
            Value::from(asked)
        )
    });
    let rules: Vec<_> = rules.collect();
    assert!(rules.len() >= 10, "{rules:?}");
    format!("groups:\n- name: asked\n  rules:\n{}", rules.concat())
}

#[test]
fn alerts_fire_where_a_fleet_fares_badly_and_dashboards_ask_what_prometheus_understands() {
    let rules = format!("{SHARE}/prometheus/isobath-alerts.yml");
    let bad = BAD.replace("RULES", &rules);
    let place = folder(&[("bad.yml", &bad), ("asked.yml", &questions())]);
    promtool(place.path(), &["check", "rules", &rules]);
    promtool(place.path(), &["check", "rules", "asked.yml"]);
    promtool(place.path(), &["test", "rules", "bad.yml"]);
}

/// Prometheus itself, with our rules, until it has found figures at the agent's `address`, and so many round trips in native histograms.
fn watched_by_prometheus(place: &Path, address: &str, trips: f64) {
    let port = free_port();
    let config = format!(
        "global: {{ scrape_interval: 1s }}\nrule_files: ['{SHARE}/prometheus/isobath-alerts.yml']\n\
         scrape_configs: [{{ job_name: isobath, static_configs: [{{ targets: ['{address}'] }}] }}]\n"
    );
    fs::write(place.join("prometheus.yml"), config).unwrap();
    let mut command = Command::new(format!("{PROMETHEUS}/prometheus"));
    command
        .arg("--config.file=prometheus.yml")
        .arg("--enable-feature=native-histograms")
        .arg("--storage.tsdb.path=prometheus")
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .current_dir(place);
    let prometheus = Running::start(command);
    let asked = |question: &str| {
        let mut curl = Command::new("curl");
        curl.args(["-sG", "--data-urlencode", &format!("query={question}")]);
        let told = curl.arg(format!("http://127.0.0.1:{port}/api/v1/query"));
        let told = told.output().unwrap().stdout;
        let answer: Value = serde_json::from_slice(&told).unwrap_or_default();
        let value = answer.pointer("/data/result/0/value/1")?.as_str()?;
        value.parse::<f64>().ok()
    };
    eventually("Prometheus has a figure of the agent", || {
        asked("isobath_agent_figure{job=\"isobath\",measure=\"rtt\",unit=\"ms\"} > 0").is_some()
    });
    let idle = r#"isobath_agent_round_trip_seconds{measure="rtt",load="idle"}"#;
    let ask = |function: &str| asked(&format!("{function}{idle})")).unwrap();
    let count = ask("histogram_count(");
    assert!((count - trips).abs() < 0.5, "{count} of {trips}");
    let [low, median, high] =
        ["0", "0.5", "1"].map(|quantile| ask(&format!("histogram_quantile({quantile}, ")));
    let mean = ask("histogram_sum(") / count;
    assert!(
        0.0 < low && low <= median && median <= high,
        "{low} {median} {high}"
    );
    // A bound of a bucket may be an eighth of a doubling beyond what is in it.
    assert!(low / 1.1 < mean && mean < high * 1.1, "{low} {mean} {high}");
    prometheus.signal(Signal::TERM);
    prometheus.finish();
}

/// For how long things are kept can be said, and what is not old is kept.
fn kept_for_a_time(fleet: &Place<'_>) {
    let short = fleet.fleet(&["retention", "--records", "1d"]);
    assert!(
        short.refused(2).contains("keep them for at least 3d"),
        "{short:?}"
    );
    let told = fleet.fleet(&["retention"]);
    let forever = "outcomes are kept forever, records forever";
    assert_eq!(told.ended(0).stdout.trim(), forever);
    let before = number(&fleet.account(), "/counts/planned");
    fleet
        .fleet(&["retention", "--outcomes", "4d", "--records", "72h"])
        .ended(0);
    let told = fleet.fleet(&["retention", "--json"]).ended(0).json();
    assert_eq!(
        (
            number(&told, "/outcomes_days"),
            number(&told, "/records_days")
        ),
        (4.0, 3.0)
    );
    let after = fleet.account();
    assert!(number(&after, "/counts/planned") >= before, "{after:#}");
    assert!(number(&after, "/counts/missing") < 0.5, "{after:#}");
    outside::late_outcomes_join_the_archive(fleet);
}

/// How many runs have an outcome.
fn outcomes(counts: &Value) -> f64 {
    number(counts, "/planned") - number(counts, "/left_out")
}

fn exported(fleet: &Place<'_>, counts: &Value) {
    let told = fleet
        .fleet(&["export", "--out", "archive", "--json"])
        .ended(0)
        .json();
    assert!(
        (number(&told, "/runs") - outcomes(counts)).abs() < 0.5,
        "{told:#}"
    );
    let days = fs::read_dir(fleet.folder.join("archive")).unwrap();
    for day in days {
        let partition = day
            .unwrap()
            .path()
            .join("measure=rtt/site=here/pair.parquet");
        assert!(partition.is_file(), "{}", partition.display());
    }
}

/// The page and the command line say the same of a path.
fn programs_are_told(fleet: &Place, get: &impl Fn(&str) -> String) {
    let http = |query: &str| -> Value { serde_json::from_str(&get(query)).unwrap() };
    // On a busy machine some are not conclusive.
    let of_command = || {
        let told = fleet.fleet(&["ask", "rtt", "a", "b", "--json"]);
        if told.code() == Some(0) {
            told.json()
        } else {
            Value::Null
        }
    };
    eventually("both know the same estimate", || {
        let known = http("v1/estimates/rtt?from=a&to=b");
        let (one, other) = (known.pointer("/value"), of_command());
        one.is_some_and(Value::is_number)
            && known["run"] == other["run"]
            && one == other.get("value")
    });
    let known = http("v1/paths");
    let is_known = |to: &str| values(&known["estimates"]).any(|known| known["to"] == *to);
    assert!(is_known("a") && is_known("b"), "{known:#}");
    let error = http("v1/estimates/rtt?from=a");
    assert!(error["error"].as_str().unwrap().contains("'to' is missing"));
    let loss = fleet.fleet(&["ask", "loss", "a", "b"]);
    assert!(loss.refused(3).contains("known of this pair: "), "{loss:?}");
    let exact = fleet.fleet(&["ask", "rtt", "a", "b", "--within", "0.000001"]);
    assert!(
        exact.refused(3).contains("or less accurate one"),
        "{exact:?}"
    );
    let none = fleet.fleet(&["ask", "rtt", "a", "b", "--within", "0"]);
    assert!(none.refused(2).contains("such as 10"), "{none:?}");
    measured_now(fleet);
    let other = fleet.fleet(&["ask", "rtt", "a", "b", "--fleet", "other"]);
    assert!(
        other.refused(2).contains("there is no fleet 'other'"),
        "{other:?}"
    );
}

/// An estimate that nobody has planned is there when somebody asks for it.
fn measured_now(fleet: &Place) {
    let none = fleet.fleet(&["ask", "jitter", "a", "b"]);
    assert!(none.refused(3).contains("measure now"), "{none:?}");
    let ask = ["ask", "jitter", "a", "b", "--measure", "--json"];
    let mut told = fleet.fleet(&ask);
    // On a busy machine a run may be invalid, or not conclusive.
    eventually("an estimate on demand", || {
        let is_told = matches!(told.code(), Some(0 | 5));
        if !is_told {
            assert!(told.refused(3).contains("is invalid"), "{told:?}");
            told = fleet.fleet(&ask);
        }
        is_told
    });
    let told = told.json();
    let run = told["run"].as_str().unwrap();
    assert!(run.starts_with("pair.asked.b.a."), "{told:#}");
    assert_eq!(
        (&told["from"], &told["to"]),
        (&"a".into(), &"b".into()),
        "{told:#}"
    );
    // It is known now, and is not measured again.
    let again = fleet.fleet(&ask[..5]);
    assert!(again.stdout.contains(run), "{again:?}");
    let account = fleet.account();
    assert!(number(&account, "/counts/on_demand") >= 1.0, "{account:#}");
    let line = values(&account["runs"]).find(|line| line["run"] == *run);
    assert_eq!(line.unwrap()["on_demand"], true);
    for (words, why) in [
        (&["loss", "a", "b"][..], "add a measurement with run"),
        (
            &["rtt", "a", "b", "--max-age", "1us"],
            "is not taken on demand",
        ),
        (&["jitter", "b", "a"], "is not taken from 'a' to 'b'"),
    ] {
        let refused = fleet.fleet(&[&["ask"], words, &["--measure"]].concat());
        assert!(refused.refused(3).contains(why), "{refused:?}");
    }
}

#[test]
fn what_cannot_be_applied_is_refused_in_one_line() {
    let broken = FLEET.replace("every = \"1s\"", "evry = \"1s\"");
    let unknown = FLEET.replace("estimate rtt", "estimate weather");
    let place = folder(&[
        ("broken.toml", &broken),
        ("unknown.toml", &unknown),
        ("fleet.toml", FLEET),
    ]);
    let said = |words: &[&str]| {
        let ran = run(
            place.path(),
            &[&["fleet"], words, &["--nats", "nats://127.0.0.1:1"]].concat(),
        );
        ran.refused(if words[1] == "fleet.toml" { 3 } else { 2 })
            .to_owned()
    };
    assert!(said(&["apply", "broken.toml"]).contains("broken.toml line 13: unknown field `evry`"));
    let unknown = said(&["apply", "unknown.toml"]);
    assert!(
        unknown.contains("measure 'rtt'") && unknown.contains("'weather'"),
        "{unknown}"
    );
    assert!(said(&["apply", "none.toml"]).contains("none.toml cannot be read"));
    assert!(said(&["apply", "fleet.toml"]).contains("NATS at nats://127.0.0.1:1"));
}

/// Of a server, not of an authority.
const CERTIFICATE: &str = "[req]\ndistinguished_name = d\nx509_extensions = x\nprompt = no\n\
                           [d]\nCN = localhost\n[x]\nsubjectAltName = DNS:localhost\n";

#[test]
fn nats_may_want_tls_and_a_password() {
    let _machine = Machine::without_networks();
    let place = folder(&[("req.cnf", CERTIFICATE)]);
    let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -config req.cnf -keyout key.pem -out cert.pem";
    let mut openssl = Command::new("openssl");
    openssl.args(request.split_whitespace());
    let made = openssl.current_dir(place.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let port = free_port();
    let options =
        "--tls --tlscert cert.pem --tlskey key.pem --user isobath --pass 7ef3a1".split(' ');
    let _nats = server(place.path(), port, &options.collect::<Vec<_>>());
    let status = |word: &str, more: &[&str]| {
        let nats = format!("tls://isobath:{word}@localhost:{port}");
        let arguments = ["fleet", "status", "--nats", &nats];
        run(place.path(), &[&arguments, more].concat())
    };
    let trusted = ["--nats-ca", "cert.pem"];
    eventually("it lets us in", || {
        status("7ef3a1", &trusted).code() == Some(0)
    });
    let unknown = status("7ef3a1", &[]);
    let unknown = unknown.refused(3);
    assert!(unknown.contains("certificate"), "{unknown}");
    assert!(!unknown.contains("7ef3a1"), "{unknown}");
    let wrong = status("7ef3a2", &trusted);
    let wrong = wrong.refused(3);
    assert!(wrong.contains("authorization"), "{wrong}");
}

/// The fleet of above, but for what each host's agent signs with.
fn keyed(keys: [&str; 2]) -> String {
    let [a, b] = keys.map(|key| format!("key = \"{key}\"\n"));
    let fleet = FLEET.replace("name = \"a\"\n", &format!("name = \"a\"\n{a}"));
    fleet.replace("name = \"b\"\n", &format!("name = \"b\"\n{b}"))
}

#[test]
fn an_agent_can_do_its_work_with_its_own_key_and_nothing_in_the_name_of_another() {
    let _machine = Machine::without_networks();
    let place = folder(&[("nats.conf", "include users.conf\n")]);
    let key = |name: &str| {
        let made = run(place.path(), &["fleet", "key", name]);
        made.ended(0).stdout.trim().to_owned()
    };
    let [operator, a, b, _] = ["operator.nk", "a.nk", "b.nk", "stranger.nk"].map(key);
    assert_eq!(key("a.nk"), a, "made once");
    fs::write(place.path().join("fleet.toml"), keyed([&a, &b])).unwrap();
    let users = run(
        place.path(),
        &["fleet", "users", "fleet.toml", "--operator", &operator],
    );
    fs::write(place.path().join("users.conf"), &users.ended(0).stdout).unwrap();
    let port = free_port();
    let nats = server(place.path(), port, &["-c", "nats.conf"]);
    let fleet = Place {
        folder: place.path(),
        nats: format!("nats://127.0.0.1:{port}"),
    };
    let as_operator = |words: &[&str]| fleet.fleet(&[words, &["--nkey", "operator.nk"]].concat());
    eventually("the operator is let in", || {
        as_operator(&["status"]).code() == Some(0)
    });
    let agents = [
        fleet.agent("a", &["--nkey", "a.nk"]),
        fleet.agent("b", &["--nkey", "b.nk"]),
    ];
    as_operator(&["apply", "fleet.toml"]).ended(0);
    let account = || as_operator(&["runs", "pair", "--json"]).ended(0).json();
    let measured = |account: &Value, measure: &str, from: &str| {
        let is_it = |run: &&Value| {
            let name = run["run"].as_str().unwrap();
            let status = run["status"].as_str().unwrap();
            name.starts_with(&format!("pair.{measure}.{from}."))
                && ["complete", "invalid"].contains(&status)
        };
        let found = values(&account["runs"]).find(is_it);
        found.map(|run| run["run"].as_str().unwrap().to_owned())
    };
    // Loads take leases; both measure towards the other, which lets them in.
    eventually("all is measured", || {
        let account = account();
        let all = [("rtt", "a"), ("rtt", "b"), ("bulk", "a"), ("back", "b")];
        all.iter()
            .all(|(measure, from)| measured(&account, measure, from).is_some())
    });
    let told = account();
    assert_eq!(values(&told["forged"]).count(), 0, "{told:#}");
    let of_b = measured(&told, "rtt", "b").unwrap();
    as_operator(&["record", &of_b, "-o", "record"]).ended(0);
    let shown = run(place.path(), &["show", "record"]);
    assert!(shown.ended(0).stdout.contains("estimate"), "{shown:?}");
    let again = as_operator(&["record", &of_b, "-o", "record"]);
    assert!(again.refused(2).contains("cannot be made"), "{again:?}");

    let as_a = fleet.fleet(&["status", "--nkey", "a.nk"]);
    assert!(as_a.refused(3).contains("refuses"), "{as_a:?}");
    let unknown = fleet.fleet(&["status", "--nkey", "stranger.nk"]);
    assert!(unknown.refused(3).contains("--nkey"), "{unknown:?}");
    assert!(
        fleet
            .fleet(&["status"])
            .refused(3)
            .contains("authorization")
    );
    for agent in agents {
        agent.signal(Signal::INT);
        agent.finish().ended(0);
    }

    // A server that lets everybody in: an agent with another key is found out.
    nats.signal(Signal::INT);
    nats.finish();
    let _nats = server(place.path(), port, &[]);
    eventually("it is there", || fleet.fleet(&["status"]).code() == Some(0));
    let honest = fleet.agent("b", &["--nkey", "b.nk"]);
    let forger = fleet.agent("a", &["--nkey", "stranger.nk"]);
    eventually("forgeries are told of", || {
        values(&fleet.account()["forged"]).count() > 0
    });
    let told = fleet.fleet(&["runs", "pair", "--last", "1h"]);
    assert!(told.ended(0).stdout.contains("do not have the signature"));
    let told = fleet.fleet(&["export", "--out", "archive"]);
    assert!(told.ended(0).stdout.contains("left out: "), "{told:?}");
    for (agent, name) in [(honest, "b"), (forger, "a")] {
        agent.signal(Signal::INT);
        agent.finish().ended(0);
        assert!(!fleet.are_there(&[name]), "{name} is gone in order");
    }
}

#[test]
fn a_browser_sees_what_the_fleet_finds_as_it_comes() {
    if !has("chromium") {
        return;
    }
    // Seldom: this is about what is shown.
    let seldom = FLEET
        .replace("every = \"1s\"", "every = \"3s\"")
        .replace("every = \"2s\"", "every = \"6s\"");
    let place = folder(&[("fleet.toml", &seldom)]);
    let port = free_port();
    let _server = server(place.path(), port, &[]);
    let fleet = Place {
        folder: place.path(),
        nats: format!("nats://127.0.0.1:{port}"),
    };
    eventually("NATS is there", || {
        fleet.fleet(&["status"]).code() == Some(0)
    });
    let arguments = [
        "fleet",
        "web",
        "--listen",
        "127.0.0.1:0",
        "--nats",
        &fleet.nats,
    ];
    let web = Running::start(isobath(place.path(), &arguments));
    eventually("the page is there", || web.stdout().ends_with('\n'));
    let url = web.stdout().trim().to_owned();
    // Pages are whole as they are sent.
    let get = |path: &str| {
        let mut curl = Command::new("curl");
        let told = curl.args(["-s", &format!("{url}{path}")]).output();
        String::from_utf8(told.unwrap().stdout).unwrap()
    };
    let in_browser = |path: &str| {
        let mut command = Command::new("chromium");
        command.args(["--headless", "--no-sandbox", "--disable-gpu"]);
        command.args(["--virtual-time-budget=2000", "--dump-dom"]);
        command.arg(format!("{url}{path}"));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let first = get("");
    assert!(
        first.contains("0 agents are there, and no fleet"),
        "{first}"
    );
    let agents = ["a", "b"].map(|name| fleet.agent(name, &[]));
    fleet.fleet(&["apply", "fleet.toml"]).ended(0);
    let matrix = || get("fleet/pair");
    eventually("all paths have a figure", || {
        let page = matrix();
        page.matches("href=\"/fleet/pair/").count() == 4 && !page.contains("<b>-</b>")
    });
    let page = in_browser("fleet/pair");
    assert!(page.contains("<h2>rtt, ms</h2>"), "{page}");
    assert!(!page.contains("have no agent"), "{page}");
    let history = get("fleet/pair/rtt/a/b");
    assert!(history.contains("<circle class=\"measured\""), "{history}");
    programs_are_told(&fleet, &get);
    // The report of a record is that of 'isobath report', drawn by its own script.
    let run = history
        .split("href=\"/run/")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let report = in_browser(&format!("run/{}", run.unwrap()));
    assert!(report.contains("class=\"sentence\""), "{report}");
    let missing = get("run/pair.rtt.a.b.20200101T000000000Z");
    assert!(
        missing.contains("no outcome has been reported"),
        "{missing}"
    );
    assert!(get("fleet/other").contains("There is no such page"));
    // Nothing is as fast as this.
    let strict = seldom.replace("above = 1000", "above = 0.001");
    fs::write(place.path().join("fleet.toml"), strict).unwrap();
    fleet.fleet(&["apply", "fleet.toml"]).ended(0);
    eventually("what is beyond the threshold is told", || {
        let told = fleet.fleet(&["runs", "pair"]).ended(0).stdout.clone();
        let is_told = |text: &str| text.contains(" ms is above 0.00");
        is_told(&told)
            && ["a/b", "b/a"]
                .iter()
                .any(|pair| is_told(&get(&format!("fleet/pair/rtt/{pair}"))))
    });
    fs::write(
        place.path().join("odd.toml"),
        FLEET.replace("above = 1000", "figure = 'speed'\nabove = 1"),
    )
    .unwrap();
    let odd = fleet.fleet(&["apply", "odd.toml"]);
    assert!(
        odd.refused(2)
            .contains("no figure of estimate - there are value"),
        "{odd:?}"
    );
    for running in agents.into_iter().chain([web]) {
        running.signal(Signal::INT);
        running.finish().ended(0);
    }
}

/// Four hosts of the lab, and nothing of what two of them share.
const SHARED: &str = r#"
name = "shared"
[[host]]
name = "berlin-1"
[[host]]
name = "berlin-2"
[[host]]
name = "paris-1"
[[host]]
name = "oslo-1"
[[measure]]
name = "path"
run = "estimate bottleneck --duration 3s"
pairs = { between = { from = ["berlin-1", "berlin-2"], to = ["paris-1", "oslo-1"] } }
takes = "9s"
every = "20s"
"#;

#[test]
fn what_two_hosts_share_is_found_by_path_traces() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("shared.toml", SHARED)]);
    let line = "fleet demo --file shared.toml --duration 45s -q -o demo --nats-server";
    let arguments: Vec<_> = line.split(' ').chain([SERVER]).collect();
    let ran = run(place.path(), &arguments);
    let told = &ran.ended(0).stdout;
    let links = told.split("$ isobath fleet links shared\n").nth(1).unwrap();
    let links = links.split("\n$ ").next().unwrap();
    // On a busy machine it is not known whether a queue grew, or too few runs end: then the entry is a comment.
    let entry = links.lines().map(|line| line.trim_start_matches("# "));
    let entry = entry.skip_while(|line| *line != "[[link]]");
    let entry: Vec<_> = entry.take_while(|line| !line.is_empty()).collect();
    let entry: toml::Table = entry.join("\n").parse().unwrap();
    let behind = entry["link"][0]["behind"].as_array();
    let behind: Vec<_> = behind
        .unwrap()
        .iter()
        .filter_map(|host| host.as_str())
        .collect();
    assert_eq!(behind, ["berlin-1", "berlin-2"], "{told}");
}

/// Two hosts of the lab, probes and loads.
const SHOWN: &str = r#"
name = "two"
[[host]]
name = "berlin-1"
site = "berlin"
[[host]]
name = "paris-1"
site = "paris"
[[measure]]
name = "rtt"
run = "estimate rtt --duration 500ms"
pairs = { mesh = ["all"] }
takes = "5s"
every = "2s"
[[measure]]
name = "bulk"
run = "btc --duration 1s"
pairs = { mesh = ["all"] }
takes = "5s"
every = "10s"
patience = "10s"
[[measure]]
name = "asked"
run = "estimate jitter --duration 500ms"
pairs = { mesh = ["all"] }
takes = "5s"
on_demand = true
"#;

#[test]
fn a_fleet_is_shown_at_work_in_a_lab() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("two.toml", SHOWN)]);
    let line = "fleet demo --file two.toml --duration 6s -q -o demo --nats-server";
    let arguments: Vec<_> = line.split(' ').chain([SERVER]).collect();
    let ran = run(place.path(), &arguments);
    let told = &ran.ended(0).stdout;
    for verb in [
        "apply",
        "ask jitter berlin-1 paris-1 --measure",
        "pause",
        "status",
        "runs two --matrix",
        "export two",
    ] {
        assert!(told.contains(&format!("$ isobath fleet {verb}")), "{told}");
    }
    assert!(told.contains("asked: complete/planned"), "{told}");
    // On a busy machine runs are late and invalid; each has an outcome all the same.
    assert!(told.contains("rtt") && !told.contains("missing"), "{told}");
    for site in ["berlin", "paris"] {
        let days = fs::read_dir(place.path().join("demo/archive")).unwrap();
        let parts = days.map(|day| {
            let partition = format!("measure=rtt/site={site}/two.parquet");
            day.unwrap().path().join(partition)
        });
        assert!(parts.into_iter().any(|part| part.is_file()), "{site}");
    }
}
