use super::*;
use insta::assert_snapshot;
use std::fs;
use tempfile::{TempDir, tempdir};

fn record() -> (TempDir, Record) {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    append_all(&mut writer);
    writer.finish(&full_run()).unwrap();
    let record = Record::open(dir.path()).unwrap();
    (dir, record)
}

fn csv(record: &Record, table: &str) -> String {
    let mut csv = Vec::new();
    export_csv(record, table, &mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

#[test]
fn tables_as_csv() {
    let (_dir, record) = record();
    for table in record.table_names() {
        insta::with_settings!({ snapshot_suffix => table }, {
            assert_snapshot!("csv", csv(&record, table));
        });
    }
}

#[test]
fn a_folder_of_csv_holds_every_table_even_one_that_nobody_knows() {
    let (dir, _) = record();
    fs::copy(
        dir.path().join("cpu.parquet"),
        dir.path().join("from_the_future.parquet"),
    )
    .unwrap();
    let record = Record::open(dir.path()).unwrap();
    let out = dir.path().join("csv");
    export_csv_folder(&record, &out).unwrap();
    assert_eq!(
        listing(&out),
        [
            "counters.csv",
            "cpu.csv",
            "from_the_future.csv",
            "queue.csv",
            "samples.csv",
            "series.csv",
            "streams.csv"
        ]
    );
    let read = |name| fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(read("from_the_future.csv"), read("cpu.csv"));
}

#[test]
fn a_table_without_a_schema_is_an_empty_file() {
    let (dir, _) = record();
    fs::write(dir.path().join("hops.arrows"), []).unwrap();
    let record = Record::open(dir.path()).unwrap();
    assert_eq!(csv(&record, "hops"), "");
}

#[test]
fn an_unknown_table_is_refused_with_those_there_are() {
    let (dir, record) = record();
    let error = export_csv(&record, "hops", std::io::sink()).unwrap_err();
    let expected = "has no table 'hops' - it has: counters, cpu, queue, samples, series, streams";
    assert_eq!(
        error.to_string(),
        format!("{} {expected}", dir.path().display())
    );
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_that_somebody_sent_lead_nowhere() {
    let dir = tempdir().unwrap();
    let (folder, outside) = (dir.path().join("run"), dir.path().join("outside"));
    fs::write(&outside, "mine").unwrap();
    let mut writer = RecordWriter::create(&folder, &full_run()).unwrap();
    append_all(&mut writer);
    writer.finish(&full_run()).unwrap();
    for link in ["samples.csv", ".samples.csv.part"] {
        std::os::unix::fs::symlink(&outside, folder.join(link)).unwrap();
    }
    export_csv_folder(&Record::open(&folder).unwrap(), &folder).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    assert!(
        fs::read_to_string(folder.join("samples.csv"))
            .unwrap()
            .starts_with("t_ns,")
    );
}
