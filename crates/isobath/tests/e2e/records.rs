//! Records after the run: shown, exported, damaged.

use crate::support::{Machine, PROGRAM, SMALL_LAB, TempDir, entries, folder, run, short_plan};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder with the record `run` in it.
fn recorded() -> Option<TempDir> {
    let _machine = Machine::shared()?;
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(1))]);
    let arguments = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "--json",
        "-o",
        "run",
    ];
    run(place.path(), &arguments).measured();
    Some(place)
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let _machine = Machine::without_networks();
    let place = folder(&[]);
    let record = place.path().join("run");
    fs::create_dir(&record).unwrap();
    let made = Command::new("mkfifo").arg(record.join("run.json")).status();
    assert!(made.unwrap().success());
    for command in ["show", "report", "export"] {
        let csv = (command == "export").then_some("--csv");
        let arguments: Vec<&str> = [command, "run"].into_iter().chain(csv).collect();
        let ran = run(place.path(), &arguments);
        let line = ran.stderr.clone();
        assert!(line.contains("it is no regular file"), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert_ne!(ran.code(), Some(0));
    }
}

#[test]
fn a_record_is_shown_and_exported_as_it_was_written() {
    let Some(place) = recorded() else { return };
    let place = place.path();
    let kept = fs::read_to_string(place.join("run/run.json")).unwrap();
    let shown = run(place, &["show", "run", "--json"]).ended(0).json();
    assert_eq!(
        shown,
        serde_json::from_str::<serde_json::Value>(&kept).unwrap()
    );
    let said = run(place, &["export", "run", "--csv"])
        .ended(0)
        .stdout
        .clone();
    assert_eq!(said.trim(), "wrote 6 tables to run/csv");
    run(place, &["export", "run", "--csv", "-o", "elsewhere/csv"]).ended(0);
    let files = entries(&place.join("run/csv"));
    assert_eq!(files, entries(&place.join("elsewhere/csv")));
    // The columns are an interface: scripts and spreadsheets go by their names.
    for file in &files {
        let table = file.strip_suffix(".csv").unwrap();
        let header = header(&place.join("run/csv").join(file));
        assert_eq!(header, documented(table), "{table} in docs/output.md");
    }
    assert_eq!(files.len(), 6);
    run(place, &["show", "run"]).ended(0);
    stops_with_its_reader(place);
    tells_what_is_damaged(place);
}

/// The columns of `table` as docs/output.md lists them: the first column of the section's own table.
fn documented(table: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/output.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page
        .split(&format!("\n### {table}\n"))
        .nth(1)
        .unwrap_or_default();
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names = rows.flat_map(|cell| cell.split(", "));
    names
        .map(|name| name.trim_matches('`'))
        .collect::<Vec<_>>()
        .join(",")
}

/// The first line, after a look at whether all lines have as many fields.
fn header(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let fields = header.split(',').count();
    let mut rows = 0;
    for line in lines {
        assert_eq!(
            line.split(',').count(),
            fields,
            "{}: {line}",
            file.display()
        );
        rows += 1;
    }
    assert!(rows > 0, "{} is empty", file.display());
    header.to_owned()
}

/// `isobath show RUN | head` is no error.
fn stops_with_its_reader(place: &Path) {
    let script = format!("{PROGRAM} show run --json | head -c 1; exit ${{PIPESTATUS[0]}}");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{output:?}");
}

fn tells_what_is_damaged(place: &Path) {
    let run_json = place.join("run/run.json");
    let kept = fs::read_to_string(&run_json).unwrap();
    for (text, said) in [
        (kept[..kept.len() / 2].to_owned(), "run.json is damaged"),
        (
            kept.replace("isobath.run/1", "isobath.run/9"),
            "isobath.run/9",
        ),
        (kept.replace("\"rrul\"", "\"sounding\""), "sounding"),
    ] {
        fs::write(&run_json, text).unwrap();
        let line = run(place, &["show", "run"]).refused(3).to_owned();
        assert!(line.contains(said), "{line}");
    }
    fs::write(&run_json, kept).unwrap();
    let table = place.join("run/samples.parquet");
    let bytes = fs::read(&table).unwrap();
    fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    let line = run(place, &["export", "run", "--csv"])
        .refused(3)
        .to_owned();
    assert!(line.contains("samples.parquet"), "{line}");
}
