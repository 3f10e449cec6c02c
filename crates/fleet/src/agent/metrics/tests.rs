use super::*;
use crate::RunId;
use crate::outcome::Times;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

static NOTHING: Register = Register {
    measurements: &[],
    far_ends: &[],
    page: None,
};
const IDLE: Now = Now {
    is_connected: true,
    running: 0,
    unhanded: 0,
};

fn ended(metrics: &mut Metrics, run: &str) {
    let run: RunId = run.parse().unwrap();
    let times = Times {
        planned: run.instant,
        began: None,
        ended: run.instant,
    };
    let mut outcome = Outcome::without_record(run, None, times, Became::Complete, String::new());
    outcome.verdict = Some(Verdict::Fail);
    metrics.ended(&outcome, &NOTHING, &[]);
    let [fleet, measure, to] =
        [&outcome.run.fleet, &outcome.run.measure, &outcome.run.to].map(ToString::to_string);
    let told = metrics.runs.get_mut(&Runs { fleet, measure, to }).unwrap();
    told.figures = vec![Found {
        name: "throughput".to_owned(),
        unit: "Mbit/s".to_owned(),
        value: 4.5,
    }];
    told.exceeded.insert("throughput".to_owned(), true);
}

#[test]
fn what_the_file_does_not_ask_for_any_more_is_no_longer_told() {
    let mut metrics = Metrics::of("a", None, Moment::default());
    for run in ["f.m.a.b", "f.m.a.c", "f.n.a.b", "g.n.a.b"] {
        ended(&mut metrics, &format!("{run}.20261125T080000000Z"));
    }
    let file = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\nrun = 'btc'\n\
                pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'";
    metrics.keep_to(&FleetFile::parse(file, "f").unwrap());
    let text = openmetrics::text(&metrics, &IDLE).unwrap();
    let told = |labels: &str| text.lines().filter(|line| line.contains(labels)).count();
    // Runs, the last one's time, a figure, a verdict, a threshold.
    assert_eq!(told(r#"fleet="f",measure="m",to="b""#), 5, "{text}");
    assert_eq!(told(r#"fleet="g""#), 5, "{text}");
    assert_eq!(told(r#"fleet="f""#), 5, "{text}");
}

/// The names of metrics in a text.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let ours = words.filter(|word| word.starts_with("isobath_agent_"));
    ours.map(str::to_owned).collect()
}

#[test]
fn rules_dashboards_and_documents_name_metrics_that_are_there() {
    let mut metrics = Metrics::of("a", Some("here"), Moment::default());
    let run = "f.m.a.b.20261125T080000000Z";
    ended(&mut metrics, run);
    let found = RoundTrips {
        idle: vec![0.02],
        loaded: vec![0.1],
    };
    metrics.took(&run.parse().unwrap(), found);
    let text = openmetrics::text(&metrics, &IDLE).unwrap();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let mut told = named(&samples.collect::<Vec<_>>().join("\n"));
    // Of a histogram there is also the whole, where it is native.
    let whole = |name: &String| name.strip_suffix("_bucket").map(str::to_owned);
    told.extend(told.iter().filter_map(whole).collect::<Vec<_>>());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| named(&fs::read_to_string(root.join(path)).unwrap());
    for path in [
        "share/prometheus/isobath-alerts.yml",
        "share/grafana/isobath-fleet.json",
    ] {
        let unknown: Vec<_> = read(path).difference(&told).cloned().collect();
        assert!(unknown.is_empty(), "{path}: {unknown:?} of {told:?}");
    }
    let missing: Vec<_> = told.difference(&read("docs/fleet.md")).cloned().collect();
    assert!(
        missing.is_empty(),
        "docs/fleet.md does not have {missing:?}"
    );
}

#[test]
fn round_trips_of_all_runs_add_up() {
    let mut metrics = Metrics::of("a", None, Moment::default());
    let run: RunId = "f.m.a.b.20261125T080000000Z".parse().unwrap();
    for _ in 0..2 {
        let found = RoundTrips {
            idle: vec![0.02, 0.03],
            loaded: vec![0.1],
        };
        metrics.took(&run, found);
    }
    let text = openmetrics::text(&metrics, &IDLE).unwrap();
    let of = r#"fleet="f",measure="m",to="b",load="idle""#;
    for line in [
        format!("isobath_agent_round_trip_seconds_count{{{of}}} 4"),
        format!(r#"isobath_agent_round_trip_seconds_bucket{{le="0.015625",{of}}} 0"#),
        format!(r#"isobath_agent_round_trip_seconds_bucket{{le="0.03125",{of}}} 4"#),
        format!(r#"isobath_agent_round_trip_seconds_bucket{{le="+Inf",{of}}} 4"#),
    ] {
        assert!(text.lines().any(|told| told == line), "{line}: {text}");
    }
}
