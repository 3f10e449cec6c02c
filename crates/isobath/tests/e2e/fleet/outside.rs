//! What a fleet hands to others: metrics to a collector, its archive to an object store.

use super::{Place, outcomes};
use crate::support::{Ran, Running, eventually, isobath, number, values};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// Python with what the tests need, as scripts/setup.sh test makes it.
fn python(script: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = root.join("../../target");
    let mut python = Command::new(target.join("python/venv/bin/python"));
    python.env("PYTHONPATH", target.join("tools/opentelemetry"));
    python.arg(root.join("tests/e2e/fleet").join(script));
    python
}

/// A collector of OTLP, which writes down what it is told.
pub(super) struct Collector {
    pub(super) address: String,
    running: Running,
}

impl Collector {
    pub(super) fn start() -> Self {
        let running = Running::start(python("collector.py"));
        eventually("the collector listens", || running.stdout().contains('\n'));
        let port = running.stdout();
        let port = port.lines().next().unwrap();
        Self {
            address: format!("http://127.0.0.1:{port}"),
            running,
        }
    }

    /// Waits until the agent `b` has pushed a figure, and looks at all that it has pushed with it.
    #[track_caller]
    pub(super) fn has_heard_of_it(&self) {
        let mut last = Value::Null;
        eventually("the collector has a figure", || {
            let pushes = self.running.stdout();
            // The last line may not be whole yet.
            let whole = pushes.lines().rev().skip(1).find_map(|line| {
                let push: Value = serde_json::from_str(line).ok()?;
                line.contains("isobath.agent.figure").then_some(push)
            });
            whole.is_some_and(|push| {
                last = push;
                true
            })
        });
        assert_eq!(last["path"], "/v1/metrics");
        assert_eq!(last["kind"], "application/x-protobuf");
        assert_eq!(last["key"], "a secret");
        let told = &last["request"]["resourceMetrics"][0];
        let is = |attribute: &Value, key: &str, value: &str| {
            attribute["key"] == key && attribute["value"]["stringValue"] == value
        };
        let resource = &told["resource"]["attributes"];
        for (key, value) in [
            ("service.name", "isobath-agent"),
            ("service.instance.id", "b"),
            ("isobath.site", "here"),
        ] {
            assert!(values(resource).any(|one| is(one, key, value)), "{told:#}");
        }
        let metrics: Vec<_> = values(&told["scopeMetrics"][0]["metrics"]).collect();
        let named = |name: &str| metrics.iter().find(|metric| metric["name"] == name);
        let runs = &named("isobath.agent.runs").unwrap()["sum"];
        assert_eq!(runs["isMonotonic"], true);
        assert_eq!(
            runs["aggregationTemporality"],
            "AGGREGATION_TEMPORALITY_CUMULATIVE"
        );
        let counted = values(&runs["dataPoints"]).map(|point| number(point, "/asDouble"));
        assert!(counted.sum::<f64>() > 3.0, "{runs:#}");
        let ended = named("isobath.agent.last_run_timestamp").unwrap();
        assert_eq!(ended["unit"], "s");
        let figures = &named("isobath.agent.figure").unwrap()["gauge"]["dataPoints"];
        let has = |point: &Value, key: &str, value: &str| {
            values(&point["attributes"]).any(|one| is(one, key, value))
        };
        let rtt =
            values(figures).find(|point| has(point, "measure", "rtt") && has(point, "unit", "ms"));
        let rtt = rtt.unwrap_or_else(|| panic!("{figures:#}"));
        let trips = &named("isobath.agent.round_trip").unwrap()["exponentialHistogram"];
        let of_rtt = values(&trips["dataPoints"]).find(|point| has(point, "measure", "rtt"));
        let of_rtt = of_rtt.unwrap_or_else(|| panic!("{trips:#}"));
        // In this JSON numbers of 64 bits are text.
        let count = |number: &Value| number.as_str().unwrap().parse::<u64>().unwrap();
        let counts = values(&of_rtt["positive"]["bucketCounts"]).map(count);
        assert_eq!(counts.sum::<u64>(), count(&of_rtt["count"]), "{of_rtt:#}");
        assert_eq!(of_rtt["scale"], 3);
        assert!(
            number(rtt, "/asDouble") > 0.0 && has(rtt, "to", "a"),
            "{rtt:#}"
        );
    }
}

/// An S3-compatible store, ended when dropped.
struct Bucket {
    child: Child,
    answers: BufReader<ChildStdout>,
    /// Its address, and a key that may do everything.
    access: Value,
}

impl Drop for Bucket {
    fn drop(&mut self) {
        // It may be over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Bucket {
    fn start() -> Self {
        let mut command = python("bucket.py");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut this = Self {
            child,
            answers,
            access: Value::Null,
        };
        this.access = this.answer();
        this
    }

    fn secret(&self) -> &str {
        self.access["secret"].as_str().unwrap()
    }

    /// The fleet's archive is written to it.
    fn take(&self, fleet: &Place<'_>, secret: &str) -> Ran {
        let place = "s3://archive/all/fleets";
        let line = ["fleet", "export", "--out", place, "--nats", &fleet.nats];
        let text = |key: &str| self.access[key].as_str().unwrap();
        let mut command = isobath(fleet.folder, &line);
        command
            .env("AWS_ENDPOINT_URL", text("address"))
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", text("id"))
            .env("AWS_SECRET_ACCESS_KEY", secret);
        Running::start(command).finish()
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// What is in it.
    fn list(&mut self) -> Value {
        let mut stdin = self.child.stdin.as_ref().unwrap();
        stdin.write_all(b"list\n").unwrap();
        self.answer()
    }
}

/// The same archive in a bucket, which takes nothing without the right signature.
#[track_caller]
pub(super) fn exported_to_a_bucket(fleet: &Place<'_>, counts: &Value) {
    let mut bucket = Bucket::start();
    let refused = bucket.take(fleet, "wrong");
    let word = "s3://archive/all/fleets cannot be written to: it does not let this key read (SignatureDoesNotMatch)";
    assert!(refused.refused(3).contains(word), "{refused:?}");
    assert_eq!(bucket.list()["names"].as_array().unwrap().len(), 0);
    // Again, and nothing is there twice.
    for _ in 0..2 {
        let told = bucket.take(fleet, bucket.secret());
        assert!(
            told.ended(0).stdout.contains("in s3://archive/all/fleets"),
            "{told:?}"
        );
        let found = bucket.list();
        let runs: BTreeSet<_> = values(&found["runs"]).map(Value::to_string).collect();
        assert_eq!(runs.len(), found["runs"].as_array().unwrap().len());
        assert!(
            (runs.len() as f64 - outcomes(counts)).abs() < 0.5,
            "{found:#}"
        );
        let is_partition = |name: &Value| {
            let name = name.as_str().unwrap_or_default();
            name.starts_with("all/fleets/day=") && name.ends_with("/site=here/pair.parquet")
        };
        assert!(values(&found["names"]).all(is_partition), "{found:#}");
    }
}

/// Says this to the server in its own protocol, and waits until it has heard it.
fn tell(nats: &str, subject: &str, payload: &str) {
    let address = nats.trim_start_matches("nats://");
    let mut stream = TcpStream::connect(address).unwrap();
    let length = payload.len();
    write!(
        stream,
        "CONNECT {{}}\r\nPUB {subject} {length}\r\n{payload}\r\nPING\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "PONG"), "{subject}");
}

/// What is handed over days late joins those of its day that only the archive still has.
#[track_caller]
pub(super) fn late_outcomes_join_the_archive(fleet: &Place<'_>) {
    let account = fleet.account();
    let outcome = values(&account["runs"]).find(|run| run["status"] == "complete");
    let outcome = &outcome.unwrap()["outcome"];
    let run = outcome["run"].as_str().unwrap();
    let (path, _) = run.rsplit_once('.').unwrap();
    let late = |instant: &str| {
        let mut late = outcome.clone();
        late["run"] = format!("{path}.{instant}").into();
        late["planned"] = instant.into();
        let subject = format!("isobath.result.{path}.{instant}");
        tell(&fleet.nats, &subject, &late.to_string());
        subject
    };
    let mut bucket = Bucket::start();
    let mut exported = |kept: bool| {
        let told = bucket.take(fleet, bucket.secret());
        let only_archived = told.ended(0).stdout.contains("1 beside them");
        assert_eq!(only_archived, kept, "{told:?}");
        let found = bucket.list();
        let runs = values(&found["runs"]).filter_map(Value::as_str);
        let old = runs.filter(|run| run.contains(".20200101T"));
        old.map(str::to_owned).collect::<BTreeSet<_>>().len()
    };
    let subject = late("20200101T080000000Z");
    assert_eq!(exported(false), 1);
    // The stream forgets it.
    let purge = format!(r#"{{"filter":"{subject}"}}"#);
    tell(&fleet.nats, "$JS.API.STREAM.PURGE.isobath-results", &purge);
    late("20200101T090000000Z");
    assert_eq!(exported(true), 2);
}
