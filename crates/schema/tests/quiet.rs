//! A damaged journal is an error of one line: what its decoder says while it panics is not printed. A program of its own, for what is
//! said of panics is the process's.

use isobath_schema::tables::Sample;
use record::{Record, RecordWriter, Run};
use serde_json::Value;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

static SAID: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_damaged_journal_says_one_line_and_no_panic() {
    panic::set_hook(Box::new(|_| {
        SAID.fetch_add(1, Ordering::Relaxed);
    }));
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let run = Run::new("test", "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
    let mut writer = RecordWriter::create(&dir, &run).unwrap();
    let sample = |number: u16| Sample {
        t_ns: number.into(),
        stream: number,
        rtt_ns: (!number.is_multiple_of(3)).then_some(5),
        ..Sample::default()
    };
    let samples: Vec<Sample> = (0..20).map(sample).collect();
    writer.append(&samples).unwrap();
    writer.flush().unwrap();
    drop(writer);
    let journal = dir.join("samples.arrows");
    let whole = std::fs::read(&journal).unwrap();
    let mut contradictions = 0;
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x90;
        std::fs::write(&journal, &damaged).unwrap();
        let record = Record::open(&dir).unwrap();
        let errors = record.batches("samples").map(|batches| {
            let errors = batches.filter_map(Result::err);
            errors.map(|error| error.to_string()).collect::<Vec<_>>()
        });
        let errors = errors.unwrap_or_else(|error| vec![error.to_string()]);
        assert!(errors.iter().all(|line| !line.contains('\n')), "{errors:?}");
        contradictions += usize::from(errors.iter().any(|line| line.contains("contradict")));
    }
    assert!(contradictions > 0, "no octet made the decoder panic");
    assert_eq!(SAID.load(Ordering::Relaxed), 0);
    // Other panics are said as ever.
    assert!(panic::catch_unwind(|| panic!("another")).is_err());
    assert_eq!(SAID.load(Ordering::Relaxed), 1);
}
