//! Packet traces that tshark reads, and transfers towards hosts that do not cooperate.

use crate::support::{Machine, entries, folder, has, isobath, number, rows, run, say, values};
use schema::btc::tables::{SegmentRow, Transfer};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// 8 Mbit/s and 30 ms over a router; 1 % lost on the way there.
const LOSSY: &str = r#"
summary = "a link with loss behind a router"
client = "near"
server = "far"
hosts = ["near", "far"]
routers = ["middle"]
[[link]]
between = ["near", "middle"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", packets = 50 } }, { kind = "loss", probability = 0.01 }, { kind = "delay", delay = "5ms" }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", packets = 50 } }, { kind = "delay", delay = "5ms" }]
[[link]]
between = ["middle", "far"]
up = [{ kind = "delay", delay = "10ms" }]
down = [{ kind = "delay", delay = "10ms" }]
"#;

/// 8 Mbit/s and 30 ms over a router, and a queue of 50 packets; errors come as `errors` says.
fn clean(errors: &str) -> String {
    let text = LOSSY.replace(", { kind = \"loss\", probability = 0.01 }", "");
    text.replace("routers", &format!("{errors}\nrouters"))
}

/// What tshark shows of each packet in `file`: values apart by commas.
fn shown(place: &Path, file: &str, fields: &[&str]) -> Vec<String> {
    let dissector = isobath(place, &["generate", "dissector"]).output().unwrap();
    std::fs::write(place.join("isobath.lua"), dissector.stdout).unwrap();
    let mut command = Command::new("tshark");
    let options = [
        "-2",
        "-X",
        "lua_script:isobath.lua",
        "-T",
        "fields",
        "-E",
        "separator=,",
    ];
    command.args(options).args(["-r", file]).current_dir(place);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// `isobath btc --lab lab.toml` with `more`; the record is in `r`.
#[track_caller]
fn in_lab(place: &Path, more: &[&str]) -> Value {
    let common = ["btc", "--lab", "lab.toml", "--quiet", "--json", "-o", "r"];
    run(place, &[&common, more].concat()).measured()
}

/// Holds btc/ancillary, btc/directions, btc/cap-two-traces.
#[test]
fn tshark_shows_the_very_packets_that_the_record_has_at_both_ends() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("tshark") {
        return;
    }
    let place = folder(&[("lab.toml", LOSSY)]);
    in_lab(place.path(), &["--segments", "725", "--trace"]);
    let record = rows::<SegmentRow>(&place.path().join("r"));
    for end in ["sender", "receiver"] {
        let fields = [
            "isobath.kind",
            "isobath.id",
            "isobath.seq",
            "isobath.copy",
            "frame.time_epoch",
        ];
        let seen = shown(place.path(), &format!("r/{end}.pcapng"), &fields);
        let passed: Vec<_> = record.iter().filter(|row| row.end == end).collect();
        assert_eq!(seen.len(), passed.len(), "{end}");
        let mut times: Vec<_> = passed.iter().map(|row| row.t_ns).collect();
        times.sort_unstable();
        let expected = |id: &str| {
            let id = u64::from_str_radix(id.trim_start_matches("0x"), 16).unwrap();
            move |row: &&&SegmentRow| row.id == id && row.kind == "data"
        };
        for line in &seen {
            let values: Vec<_> = line.split(',').collect();
            let [kind, id, seq, copy, _] = values[..] else {
                panic!("{line}");
            };
            if kind == "4" {
                let row = passed.iter().find(expected(id)).unwrap();
                assert_eq!(
                    (seq, copy),
                    (&*row.seq.to_string(), &*row.copy.to_string()),
                    "{line}"
                );
            }
        }
        // The first and the last packet are as far apart in the file as in the record, in microseconds.
        let micros = |line: &String| {
            let epoch = line.rsplit(',').next().unwrap();
            let (seconds, nanos) = epoch.split_once('.').unwrap();
            seconds.parse::<u64>().unwrap() * 1_000_000 + nanos[..6].parse::<u64>().unwrap()
        };
        let span = micros(seen.last().unwrap()) - micros(&seen[0]);
        let recorded = (times[times.len() - 1] - times[0]) / 1_000;
        assert!(span.abs_diff(recorded) <= 1, "{span} and {recorded}");
    }
}

/// Holds btc/cap-two-traces.
#[test]
fn both_ends_are_on_one_clock() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("tshark") {
        return;
    }
    let place = folder(&[("lab.toml", &clean(""))]);
    for direction in [
        &["--segments", "100", "--trace"][..],
        &["--segments", "100", "--trace", "--reverse"],
    ] {
        let _ = std::fs::remove_dir_all(place.path().join("r"));
        in_lab(place.path(), direction);
        let first = |end: &str| -> f64 {
            let fields = ["frame.time_epoch", "isobath.kind"];
            let seen = shown(place.path(), &format!("r/{end}.pcapng"), &fields);
            let data = seen.iter().find(|line| line.ends_with(",4")).unwrap();
            data.split(',').next().unwrap().parse().unwrap()
        };
        // 15 ms of delay and 1.5 ms of transmission; the clocks are known to half a round trip.
        let way = first("receiver") - first("sender");
        assert!(way > 0.0, "{way} s from the sender to the receiver");
    }
}

/// Holds btc/cap-icmp, btc/reverse-load.
#[test]
fn without_a_far_end_icmp_finds_the_rate_of_the_link() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("lab.toml", &clean(""))]);
    for more in [&[][..], &["--hop", "1"], &["-6"]] {
        let _ = std::fs::remove_dir_all(place.path().join("r"));
        let run = in_lab(
            place.path(),
            &[&["--icmp", "--duration", "4s", "--trace"], more].concat(),
        );
        let mbps = number(&run, "/summary/throughput_mbps");
        let most = 8.0 * 1_448.0 / 1_500.0;
        say(&format!("by ICMP {more:?}: {mbps:.2} Mbit/s of {most:.2}"));
        assert!(mbps > 0.6 * most && mbps < 1.02 * most, "{mbps} of {most}");
        assert_eq!(run["verdict"], Value::Null);
        let record = place.path().join("r");
        let [transfer] = &rows::<Transfer>(&record)[..] else {
            panic!("one transfer");
        };
        assert_eq!((&*transfer.tool, &*transfer.outcome), ("icmp", "time"));
        // What the way back carried: an error for each packet that was answered.
        let errors = rows::<SegmentRow>(&record);
        let errors = errors.iter().filter(|row| row.kind == "icmp").count() as u64;
        assert!(errors >= transfer.segments, "{errors}: {transfer:?}");
        let files = entries(&record);
        assert!(files.contains(&"sender.pcapng".to_owned()), "{files:?}");
        assert!(!files.contains(&"receiver.pcapng".to_owned()), "{files:?}");
    }
}

#[test]
fn where_icmp_errors_are_limited_there_is_no_figure() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("lab.toml", &clean("icmp_interval = \"10ms\""))]);
    let common = ["btc", "--lab", "lab.toml", "--quiet", "--json", "-o", "r"];
    let ended = run(
        place.path(),
        &[&common[..], &["--icmp", "--duration", "4s"]].concat(),
    );
    let run = ended.json();
    // 5 on a machine that has the time to measure.
    assert!(matches!(ended.code(), Some(4 | 5)), "{ended:#?}");
    assert_eq!(run["verdict"], "INCONCLUSIVE");
    assert_eq!(run["summary"]["throughput_mbps"], Value::Null);
    assert!(values(&run["warnings"]).any(|warning| warning["code"] == "icmp_limited"));
}

#[test]
fn full_segments_that_do_not_fit_are_said_so() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("lab.toml", &clean(""))]);
    let common = ["btc", "--lab", "lab.toml", "--quiet", "--json", "-o", "r"];
    let more = ["--icmp", "--duration", "2s", "--option", "mss=3000"];
    let ended = run(place.path(), &[&common[..], &more].concat());
    let run = ended.ended(3).json();
    assert_eq!(run["status"], "failed");
    let record = place.path().join("r");
    let reason = rows::<Transfer>(&record)[0].reason.clone().unwrap();
    assert!(reason.contains("--option mss=1448"), "{reason}");
}
