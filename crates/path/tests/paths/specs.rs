//! Topology text: what is read, what is refused, and how a path is described.

use crate::world::{build, spec};
use isobath_path::{Assigned, Spec};
use std::time::Duration;

const ALL: &str = r#"[
    { kind = "rate", rate = "16Mbit", queue = { kind = "fifo", bytes = "200kB" } },
    { kind = "delay", delay = "12.5ms" },
    { kind = "jitter", delay = "5ms", jitter = "2ms", distribution = "pareto", reorder = true },
    { kind = "flow_delay", min = "10ms", max = "150ms" },
    { kind = "loss", probability = 0.01 },
    { kind = "gilbert_elliott", p = 0.01, r = 0.25 },
    { kind = "reorder", probability = 0.02, delay = "5ms" },
    { kind = "duplicate", probability = 0.001 },
    { kind = "trace", trace = "lte", queue = { kind = "codel" } },
    { kind = "token_bucket", rate = "20Mbit", burst = "64KiB", peak = "100Mbit", queue = { kind = "pie", ecn = true } },
    { kind = "rate", rate = "1Gbit", queue = { kind = "fq_codel", quantum = "300B" } },
    { kind = "rate", rate = "1Gbit", queue = { kind = "red", min = 20, max = 60, packets = 200 } },
    { kind = "blackhole", family = 6 },
    { kind = "drop", packets = [3] },
    { kind = "drop", packets = [7, 3, 40] },
    { kind = "drop", packets = [1, 2, 3, 4, 5, 6, 7, 8, 9] },
    { kind = "remark", dscp = { EF = "CS1", 3 = "LE", "*" = "CS0" }, ecn = "bleach" },
    { kind = "remark", ecn = "ce", probability = 0.05 },
    { kind = "remark", dscp = { "*" = "CS0" } },
    { kind = "connection_delay" },
]"#;

#[test]
fn every_kind_is_read_described_and_built() {
    let path = spec(ALL);
    insta::assert_snapshot!(path.describe().replace("; ", "\n"));
    let pipeline = build(&path, 1).unwrap();
    let kinds: Vec<String> = pipeline
        .stages()
        .map(|stage| stage.name.to_owned())
        .collect();
    assert_eq!(kinds.len(), 20);
    assert_eq!(kinds[9], "token_bucket");
    assert_eq!(
        pipeline
            .stages()
            .filter(|stage| stage.backlog.is_some())
            .count(),
        5
    );
}

#[test]
fn a_description_survives_writing_and_reading() {
    let path = spec(ALL);
    let text = toml::to_string(&toml::Table::try_from(Topology { path: path.clone() }).unwrap());
    let again: Topology = toml::from_str(&text.unwrap()).unwrap();
    assert_eq!(again.path, path);
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Topology {
    path: Spec,
}

#[test]
fn the_figures_of_a_path_follow_from_its_stages() {
    let path = spec(ALL);
    // 12.5 + (5 + 2) + 80 + 0.02 * 5 ms.
    assert_eq!(path.base_delay(), Duration::from_micros(99_600));
    assert_eq!(path.rate(), Some("16Mbit".parse().unwrap()));
    assert_eq!(path.drain_time(), Some(Duration::from_millis(100)));
    let wire = spec("[]");
    assert_eq!(wire.describe(), "wire");
    assert_eq!((wire.rate(), wire.drain_time()), (None, None));
    assert_eq!(wire.base_delay(), Duration::ZERO);
}

/// The first line that says what is wrong with `stage`.
fn refusal(stage: &str) -> String {
    let text = format!("path = [{{ {stage} }}]");
    match toml::from_str::<Topology>(&text) {
        Err(error) => error.message().to_owned(),
        Ok(topology) => match build(&topology.path, 1) {
            Err(error) => error.to_string(),
            Ok(_) => "accepted".to_owned(),
        },
    }
}

#[test]
fn what_is_wrong_is_refused_with_what_to_write_instead() {
    let stages = [
        "kind = 'warp', factor = 9",
        "kind = 'delay', delay = 12",
        "kind = 'delay', delay = '12'",
        "kind = 'delay', delay = '12ms', colour = 'red'",
        "kind = 'loss', probability = 1.5",
        "kind = 'loss', probability = nan",
        "kind = 'loss', probability = 1",
        "kind = 'rate', rate = '0Mbit'",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'fifo', limit = 5 }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'fifo', packets = 0 }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'fifo', bytes = 5 }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'red', min = 9, max = 9 }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'red', weight = 0 }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'codel', target = '1s' }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'fq_codel', flows = 0 }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'fq_codel', quantum = '1B' }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'pie', update = '1ns' }",
        "kind = 'rate', rate = '1Mbit', queue = { kind = 'pie', target = '0ms' }",
        "kind = 'token_bucket', rate = '1Mbit', burst = '0B'",
        "kind = 'token_bucket', rate = '2Mbit', burst = '3kB', peak = '1Mbit'",
        "kind = 'jitter', delay = '1ms', jitter = '2ms'",
        "kind = 'flow_delay', min = '2ms', max = '1ms'",
        "kind = 'connection_delay', delay = '1ms'",
        "kind = 'blackhole', family = 5",
        "kind = 'drop'",
        "kind = 'drop', packets = []",
        "kind = 'drop', packets = [0, 1]",
        "kind = 'drop', packets = [-1]",
        "kind = 'remark'",
        "kind = 'remark', dscp = { GOLD = 'CS0' }",
        "kind = 'remark', dscp = { EF = 'CS0', 46 = 'CS1' }",
        "kind = 'remark', dscp = 'CS0'",
        "kind = 'remark', ecn = 'clear'",
    ];
    let table: Vec<String> = stages
        .iter()
        .map(|stage| format!("{stage}\n    {}", refusal(stage)))
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn a_trace_that_cannot_be_had_or_read_is_named() {
    let path = spec("[{ kind = 'delay', delay = '1ms' }, { kind = 'trace', trace = 'mars' }]");
    let missing = path.build::<u64>(
        1,
        &|name| Err(format!("no {name} here").into()),
        &Assigned::default(),
    );
    assert_eq!(
        missing.err().unwrap().to_string(),
        "stage 2: trace 'mars' cannot be read (no mars here) - give the name of a known trace or a file"
    );
    let bad = path.build::<u64>(1, &|_| Ok("1\ntwo\n".to_owned()), &Assigned::default());
    assert_eq!(
        bad.err().unwrap().to_string(),
        "stage 2: mars: trace line 2: 'two' is not a time in ms - write one whole number a line, never falling"
    );
}
