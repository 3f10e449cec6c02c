use super::*;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// Rows in each batch of these tests.
const BATCH: u64 = 3;

fn batch(number: u64) -> Vec<Sample> {
    (number * BATCH..(number + 1) * BATCH).map(sample).collect()
}

#[track_caller]
fn assert_first_samples(record: &Record, count: u64) {
    let expected: Vec<_> = (0..count).map(sample).collect();
    assert_eq!(record.rows::<Sample>().unwrap(), expected);
}

#[test]
fn a_dropped_writer_leaves_everything_readable() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    append_all(&mut writer);
    drop(writer);
    assert_has_all(&Record::open(dir.path()).unwrap());
    assert!(listing(dir.path()).contains(&"samples.arrows".to_owned()));
}

#[test]
fn recovering_turns_journals_into_parquet_and_keeps_the_status() {
    let dir = tempdir().unwrap();
    let begun = Run::new("rrul", "2026-11-21T07:29:11Z".parse().unwrap(), json!({}));
    let mut writer = RecordWriter::create(dir.path(), &begun).unwrap();
    append_all(&mut writer);
    drop(writer);
    fs::write(dir.path().join("run.json.tmp"), "{").unwrap();
    fs::write(dir.path().join("cpu.parquet.tmp"), "PAR1").unwrap();
    fs::write(dir.path().join("notes.tmp"), "mine").unwrap();
    let record = recover(dir.path()).unwrap();
    assert_has_all(&record);
    assert_eq!(record.run(), &begun);
    assert_eq!(
        listing(dir.path()),
        [
            "counters.parquet",
            "cpu.parquet",
            "notes.tmp",
            "queue.parquet",
            "run.json",
            "samples.parquet",
            "series.parquet",
            "streams.parquet"
        ]
    );
}

#[test]
fn a_record_that_is_being_written_is_read_but_not_recovered() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    writer.append(&batch(0)).unwrap();
    assert_eq!(
        recover(dir.path()).unwrap_err().to_string(),
        format!(
            "{} is being written by a running process - wait for it to end",
            dir.path().display()
        )
    );
    assert_first_samples(&Record::open(dir.path()).unwrap(), 0);
    writer.flush().unwrap();
    assert_first_samples(&Record::open(dir.path()).unwrap(), BATCH);
    writer.append(&batch(1)).unwrap();
    writer.finish(&full_run()).unwrap();
    assert_first_samples(&Record::open(dir.path()).unwrap(), 2 * BATCH);
}

#[test]
fn a_journal_cut_at_any_byte_gives_all_whole_batches() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    let path = dir.path().join("samples.arrows");
    let mut ends = vec![];
    for number in 0..3 {
        writer.append(&batch(number)).unwrap();
        writer.flush().unwrap();
        ends.push(fs::metadata(&path).unwrap().len());
    }
    drop(writer);
    let whole = fs::read(&path).unwrap();
    assert_eq!(
        ends[2],
        whole.len() as u64,
        "nothing follows the last batch"
    );
    let record = Record::open(dir.path()).unwrap();
    for cut in (0..=whole.len()).rev() {
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(cut as u64)
            .unwrap();
        let batches = ends.iter().filter(|&&end| end <= cut as u64).count() as u64;
        assert_first_samples(&record, batches * BATCH);
    }
}

#[test]
fn a_journal_cut_before_its_schema_has_no_rows_and_stays() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    writer.append(&cpu()).unwrap();
    drop(writer);
    fs::write(dir.path().join("samples.arrows"), [0xff, 0xff, 0xff]).unwrap();
    let record = recover(dir.path()).unwrap();
    assert_eq!(record.rows::<Cpu>().unwrap(), cpu());
    assert_eq!(record.rows::<Sample>().unwrap(), []);
    assert_eq!(
        listing(dir.path()),
        ["cpu.parquet", "run.json", "samples.arrows"]
    );
}

#[test]
fn death_between_parquet_and_the_journals_end_doubles_nothing() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    writer.append(&batch(0)).unwrap();
    writer.flush().unwrap();
    let journal = dir.path().join("samples.arrows");
    let saved = fs::read(&journal).unwrap();
    writer.finish(&full_run()).unwrap();
    fs::write(&journal, saved).unwrap();
    assert_first_samples(&Record::open(dir.path()).unwrap(), BATCH);
    assert_first_samples(&recover(dir.path()).unwrap(), BATCH);
    assert_eq!(listing(dir.path()), ["run.json", "samples.parquet"]);
}

#[test]
fn a_table_that_cannot_be_settled_keeps_its_journal_and_the_rest_is_finished() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    append_all(&mut writer);
    fs::create_dir(dir.path().join("samples.parquet.tmp")).unwrap();
    let mut run = full_run();
    run.summary = json!({"final": true});
    let error = writer.finish(&run).unwrap_err();
    assert!(error.to_string().contains("samples.parquet.tmp"), "{error}");
    let record = Record::open(dir.path()).unwrap();
    assert_eq!(record.run(), &run);
    assert_has_all(&record);
    assert!(dir.path().join("cpu.parquet").exists());
}

/// The process that the test below kills: it writes batches, saying after each flush how many there are.
#[test]
#[ignore = "run by another test, with a folder in RECORD_DIR"]
fn child_that_writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os("RECORD_DIR") else {
        return;
    };
    let mut run = full_run();
    run.status = Status::Incomplete;
    let mut writer = RecordWriter::create(Path::new(&dir), &run).unwrap();
    let mut said = std::io::stderr();
    for number in 0_u64.. {
        writer.append(&batch(number)).unwrap();
        writer.append(&cpu()).unwrap();
        writer.flush().unwrap();
        run.summary = json!({"batches": number + 1});
        writer.save(&run).unwrap();
        writeln!(said, "flushed {}", number + 1).unwrap();
    }
}

/// Lets a child write until it has flushed `count` batches, kills it with SIGKILL, and says how many it flushed.
fn kill_after(count: u64, dir: &Path) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_that_writes_until_it_is_killed"])
        .args(["--ignored", "--nocapture"])
        .env("RECORD_DIR", dir)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut flushed = 0;
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some(number) = line.strip_prefix("flushed ") else {
            continue;
        };
        flushed = number.parse().unwrap();
        if flushed == count {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    flushed
}

#[test]
fn a_process_killed_at_any_moment_leaves_all_that_it_flushed() {
    for count in [1, 2, 10, 50] {
        let dir = tempdir().unwrap();
        let flushed = kill_after(count, dir.path());
        assert!(
            flushed >= count,
            "the child ended early after {flushed} batches"
        );
        let record = Record::open(dir.path()).unwrap();
        assert_eq!(record.run().status, Status::Incomplete);
        let rows = record.rows::<Sample>().unwrap();
        let batches = rows.len() as u64 / BATCH;
        assert!(batches >= flushed, "{batches} of {flushed} batches");
        assert_first_samples(&record, batches * BATCH);
        let recovered = recover(dir.path()).unwrap();
        assert_first_samples(&recovered, batches * BATCH);
        assert_eq!(
            listing(dir.path()),
            ["cpu.parquet", "run.json", "samples.parquet"]
        );
    }
}
