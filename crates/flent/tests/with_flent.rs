//! Against Flent itself: it opens what is exported, draws it, and says the same of it as the import.
//!
//! Without Flent these tests say so and pass; with `ISOBATH_TEST_NO_SKIP` in the environment they fail instead.
#![expect(clippy::unwrap_used, reason = "tests and what they share")]

use isobath_flent as flent;
use record::{Record, RecordWriter, Run};
use schema::tables::{Sample, Series, Stream};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MS: u64 = 1_000_000;

/// Whether Flent is there; says so when it is not.
fn has_flent() -> bool {
    let found = Command::new("flent").arg("--version").output().is_ok();
    if !found {
        assert!(
            std::env::var_os("ISOBATH_TEST_NO_SKIP").is_none(),
            "flent is not installed: apt-get install flent python3-matplotlib"
        );
        eprintln!("skipped: flent is not installed");
    }
    found
}

/// What Flent prints for each of these lists of arguments.
#[track_caller]
fn flent(lists: &[Vec<String>]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Ran {
        status: i32,
        out: String,
        err: String,
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/many.py");
    // Flent is a program of the system's Python. Its home is where the plotting library keeps its list of fonts for the next run.
    let mut child = Command::new("/usr/bin/python3")
        .arg(script)
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), lists).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let ran: Vec<Ran> = serde_json::from_slice(&output.stdout).unwrap();
    let each = ran.into_iter().zip(lists).map(|(ran, arguments)| {
        assert_eq!(ran.status, 0, "{arguments:?}: {}", ran.err);
        for word in ["ERROR", "Traceback", "Exception"] {
            assert!(!ran.err.contains(word), "{arguments:?}: {}", ran.err);
        }
        ran.out
    });
    each.collect()
}

/// Arguments for a run of Flent's on `file`.
fn on(file: &Path, more: &[&str]) -> Vec<String> {
    let arguments = ["-i", file.to_str().unwrap()]
        .into_iter()
        .chain(more.iter().copied());
    arguments.map(str::to_owned).collect()
}

/// Plots of Flent's tests, as many as there are of each kind.
fn plots(test: &str) -> &'static [&'static str] {
    match test {
        "rrul" => &[
            "all_scaled",
            "all",
            "ping",
            "ping_cdf",
            "totals",
            "box_ping",
            "box_totals",
            "download",
            "upload",
            "box_download",
            "icmp_cdf",
            "ellipsis",
            "box_combine",
        ],
        "rrul_be" | "rrul_cs8" => &["all_scaled", "box_combine"],
        "ping" => &["ping", "ping_cdf"],
        "tcp_nup" => &["totals", "upload", "ping", "ping_cdf", "box_totals"],
        "tcp_ndown" => &["totals", "download", "ping", "ping_cdf", "box_totals"],
        _ => &["totals", "box_totals"],
    }
}

/// Mean of each series in Flent's table of statistics.
fn means(table: &str) -> Vec<(String, f64)> {
    let lines = table.lines().filter(|line| line.contains(".flent.gz,"));
    let mean = |line: &str| {
        // Of a line: file, title, series, unit, count, mean. No series of ours has a comma in its name.
        let cells: Vec<&str> = line.split(',').collect();
        let mean = cells.get(5)?.trim().parse().ok()?;
        Some((cells[2].to_owned(), mean))
    };
    lines.filter_map(mean).collect()
}

/// What Flent can write of a file, besides plots.
const FORMATS: [&str; 4] = ["stats_csv", "summary", "csv", "metadata"];

/// Flent draws all plots of these records' exports, writes these formats, and says of each in the first what the import says.
#[track_caller]
fn assert_drawn_and_agreed(records: &[Record], folder: &Path, formats: &[&str]) {
    let mut exports = Vec::new();
    let mut lists = Vec::new();
    for (number, record) in records.iter().enumerate() {
        let path = folder.join(format!("{number}.flent.gz"));
        let exported = flent::export(record, File::create(&path).unwrap()).unwrap();
        let formats = formats.iter();
        lists.extend(formats.map(|format| on(&path, &["-f", format, "-o", "-"])));
        for plot in plots(&exported.test) {
            let picture = picture(&path, plot);
            lists.push(on(&path, &["-p", plot, "-o", picture.to_str().unwrap()]));
        }
        exports.push((path, exported));
    }
    let said = flent(&lists);
    let mut said = said.iter();
    for (path, exported) in &exports {
        let texts: Vec<&String> = formats.iter().map(|_| said.next().unwrap()).collect();
        for (format, text) in formats.iter().zip(&texts) {
            assert!(!text.contains("No data"), "{format}: {text}");
        }
        for plot in plots(&exported.test) {
            said.next().unwrap();
            let drawn = picture(path, plot).metadata().unwrap();
            assert!(drawn.len() > 2_000, "{plot}");
        }
        let back = flent::import(File::open(path).unwrap(), &flent::Limits::default()).unwrap();
        let means = means(texts[0]);
        assert_eq!(means.len(), exported.series, "{means:?}");
        for (name, mean) in means {
            let found = back.run.summary["series"][&name]["mean"].as_f64().unwrap();
            assert!(
                (found - mean).abs() < 1e-9 * mean.abs(),
                "{name}: {found} is not {mean}"
            );
        }
    }
}

/// Where a plot of `file` is drawn.
fn picture(file: &Path, plot: &str) -> PathBuf {
    file.with_extension(format!("{plot}.png"))
}

/// A run of made-up rates and round trips: idle for 2 s, loaded for 4 s, idle for 2 s.
fn record(
    dir: &Path,
    plan: &str,
    streams: &[(&'static str, &'static str, &'static str)],
) -> Record {
    let plan = json!({"name": plan, "duration": "4s", "note": "made up"});
    let run = Run::new("rrul", "2026-11-21T07:29:11.5Z".parse().unwrap(), plan);
    let mut writer = RecordWriter::create(dir, &run).unwrap();
    for (id, &(kind, direction, class)) in (0..).zip(streams) {
        writer
            .append(&[stream(id, kind, direction, class)])
            .unwrap();
        if kind == "tcp_load" {
            writer.append(&load(id, direction)).unwrap();
        } else {
            writer.append(&probes(id)).unwrap();
        }
    }
    writer.finish(&run).unwrap();
    Record::open(dir).unwrap()
}

fn stream(id: u16, kind: &'static str, direction: &'static str, class: &'static str) -> Stream {
    Stream {
        id,
        kind: kind.into(),
        direction: direction.into(),
        class: class.into(),
        family: 4,
        planned_ns: if kind == "tcp_load" { 2_000 * MS } else { 0 },
        connected_ns: Some(0),
        ..Stream::default()
    }
}

fn load(stream: u16, direction: &'static str) -> Vec<Series> {
    let row = |bin: u64| Series {
        t_ns: (2_100 + bin * 100) * MS,
        bin_ns: 100 * MS,
        stream,
        direction: direction.into(),
        end: if direction == "down" {
            "client"
        } else {
            "server"
        }
        .into(),
        delivered_bytes: Some(12_500 * (5 + bin % 7) * (1 + u64::from(stream))),
        ..Series::default()
    };
    (0..40).map(row).collect()
}

fn probes(stream: u16) -> Vec<Sample> {
    let row = |seq: u64| Sample {
        t_ns: seq * 30 * MS,
        stream,
        seq,
        rtt_ns: (seq % 50 != 49).then_some((20 + seq % 13 + u64::from(stream)) * MS),
        owd_up_ns: Some(9_000_000),
        owd_down_ns: Some(11_000_000),
        lost: seq % 50 == 49,
        ..Sample::default()
    };
    (0..266).map(row).collect()
}

#[test]
fn flent_draws_and_sums_up_an_exported_rrul_run() {
    if !has_flent() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut streams = vec![
        ("udp_rr", "both", "EF"),
        ("udp_rr", "both", "CS0"),
        ("udp_rr", "both", "CS1"),
        ("tcp_rr", "both", "EF"),
    ];
    for class in ["CS1", "CS0", "CS5", "EF"] {
        streams.extend([
            ("tcp_load", "down", class),
            ("tcp_load", "up", class),
            ("tcp_load", "up", class),
        ]);
    }
    let record = record(&folder.path().join("run"), "rrul", &streams);
    assert_drawn_and_agreed(&[record], folder.path(), &FORMATS);
}

#[test]
fn flent_draws_and_sums_up_every_other_layout() {
    if !has_flent() {
        return;
    }
    let ping = ("udp_rr", "both", "CS0");
    let (up, down) = (("tcp_load", "up", "CS0"), ("tcp_load", "down", "CS0"));
    let layouts = [
        ("ping", vec![ping]),
        ("tcp_upload", vec![up, ping]),
        ("tcp_download", vec![down, ping]),
        ("tcp_bidirectional", vec![up, down, ping]),
        (
            "rrul_be",
            vec![up, up, up, up, down, down, down, down, ping],
        ),
        ("many up", vec![up, up, up, ping]),
        ("many down", vec![down, down, ping]),
        ("rrul_cs8", vec![up, down, ("tcp_load", "up", "CS7"), ping]),
        ("tcp_12up", vec![up, up, up, ping]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let records = layouts.map(|(plan, streams)| record(&folder.path().join(plan), plan, &streams));
    assert_drawn_and_agreed(&records, folder.path(), &FORMATS[..1]);
}

#[test]
fn flent_and_the_import_agree_on_files_that_flent_wrote() {
    if !has_flent() {
        return;
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let names = ["rrul", "tcp_bidirectional", "ping", "voip"];
    let files = names.map(|name| data.join(format!("{name}.flent.gz")));
    let summaries = flent(
        &files
            .each_ref()
            .map(|file| on(file, &["-f", "summary", "-o", "-"])),
    );
    for ((name, path), summary) in names.iter().zip(files).zip(summaries) {
        let back = flent::import(File::open(&path).unwrap(), &flent::Limits::default()).unwrap();
        let series = back.run.summary["series"].as_object().unwrap();
        let own = flent::summary(&back);
        for line in summary
            .lines()
            .filter(|line| line.contains(" : ") && !line.contains("No data"))
        {
            let (series_name, figures) = line.split_once(" : ").unwrap();
            let printed = figures.split_whitespace().next().unwrap();
            let mean = series[series_name.trim()]["mean"].as_f64().unwrap();
            assert_eq!(format!("{mean:.2}"), printed, "{name}: {line}");
            // Mean, median and percentile; Flent has neither of these for what it computes.
            let words = |text: &str| {
                text.split_whitespace()
                    .take(3)
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let own = own.lines().find_map(|line| {
                line.split_once(" : ")
                    .filter(|(name, _)| name.trim() == series_name.trim())
            });
            let own = own.unwrap_or_else(|| panic!("{name}: no {series_name}")).1;
            assert!(
                words(own) == words(figures) || figures.contains("N/A"),
                "{name}: {line}, {own}"
            );
        }
        assert!(series.values().all(Value::is_object));
    }
}

/// The ends of the axes of a figure of Flent's, left and right ones of a panel one after the other.
fn axes(said: &str) -> Vec<[[f64; 2]; 2]> {
    let last = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("AXES "));
    serde_json::from_str(last.unwrap()).unwrap()
}

#[test]
fn our_axes_end_where_those_of_flent_do() {
    if !has_flent() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let look = flent::Look {
        size_in: (6.4, 4.8),
        from_zero: false,
    };
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let figures = [
        ("ping", "ping"),
        ("ping", "ping_cdf"),
        ("tcp_bidirectional", "totals"),
        ("tcp_bidirectional", "ping"),
    ];
    let file = |name: &str| data.join(format!("{name}.flent.gz"));
    let out = folder.path().join("flent.png");
    let out = out.to_str().unwrap();
    let said = flent(&figures.map(|(name, plot)| on(&file(name), &["-p", plot, "-o", out])));
    for ((name, plot), said) in figures.iter().zip(&said) {
        let opened = File::open(file(name)).unwrap();
        let file = flent::import(opened, &flent::Limits::default()).unwrap();
        let theirs = axes(said);
        let figure = flent::draw(std::slice::from_ref(&file), plot, look).unwrap();
        let panel = &figure.panels[0];
        let ours = [Some(&panel.left), panel.right.as_ref()]
            .into_iter()
            .flatten();
        assert_eq!(ours.clone().count(), theirs.len(), "{name} {plot}");
        for (axis, [x, y]) in ours.zip(theirs) {
            let ends = [
                panel.x.bounds.0,
                panel.x.bounds.1,
                axis.bounds.0,
                axis.bounds.1,
            ];
            for (own, flents) in ends.into_iter().zip([x[0], x[1], y[0], y[1]]) {
                let error = (own - flents).abs();
                assert!(
                    error < 1e-6 * flents.abs().max(1.0),
                    "{name} {plot}: {own}, {flents}"
                );
            }
        }
    }
}
