use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// A record with one table of 200 samples, as a journal or finished.
fn small_record(finished: bool) -> TempDir {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    for start in [0, 100] {
        let rows: Vec<_> = (start..start + 100).map(sample).collect();
        writer.append(&rows).unwrap();
    }
    if finished {
        writer.finish(&full_run()).unwrap();
    }
    dir
}

/// Reads all there is, every way; what matters is that it returns. One line, if it is an error.
fn read_all(dir: &Path) {
    let record = match Record::open(dir) {
        Ok(record) => record,
        Err(error) => return assert_one_line(&error),
    };
    if let Err(error) = record.rows::<Sample>() {
        assert_one_line(&error);
    }
    if let Err(error) = export_csv(&record, "samples", std::io::sink()) {
        assert_one_line(&error);
    }
    if let Err(error) = recover(dir) {
        assert_one_line(&error);
    }
}

#[track_caller]
fn assert_one_line(error: &Error) {
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
}

/// What may happen to the bytes of a file.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Vec<(prop::sample::Index, u8)>),
    Cut(prop::sample::Index),
    Replace(Vec<u8>),
    Graft(prop::sample::Index, Vec<u8>),
}

impl Damage {
    fn apply(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Flip(flips) => {
                for (at, mask) in flips {
                    let at = at.index(bytes.len());
                    bytes[at] ^= mask;
                }
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Self::Replace(with) => *bytes = with,
            Self::Graft(at, with) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, with);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let bytes = || prop::collection::vec(any::<u8>(), 0..64);
    prop_oneof![
        4 => prop::collection::vec((index(), 1_u8..), 1..4).prop_map(Damage::Flip),
        1 => index().prop_map(Damage::Cut),
        1 => bytes().prop_map(Damage::Replace),
        1 => (index(), bytes()).prop_map(|(at, with)| Damage::Graft(at, with)),
    ]
}

fn damage_and_read(finished: bool, file: &str, damage: Damage) {
    let dir = small_record(finished);
    let path = dir.path().join(file);
    let mut bytes = fs::read(&path).unwrap();
    damage.apply(&mut bytes);
    fs::write(&path, bytes).unwrap();
    read_all(dir.path());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_damaged_journal_is_an_error_at_worst(damage in damage()) {
        damage_and_read(false, "samples.arrows", damage);
    }

    #[test]
    fn a_damaged_parquet_file_is_an_error_at_worst(damage in damage()) {
        damage_and_read(true, "samples.parquet", damage);
    }

    #[test]
    fn a_damaged_run_json_is_an_error_at_worst(damage in damage()) {
        damage_and_read(true, "run.json", damage);
    }
}

#[test]
fn a_batch_that_is_damaged_ends_the_table_with_an_error() {
    let dir = small_record(false);
    let path = dir.path().join("samples.arrows");
    let mut bytes = fs::read(&path).unwrap();
    // Each batch begins with the marker 0xffffffff; the third message is the second batch.
    let marks: Vec<_> = (0..bytes.len() - 8)
        .step_by(8)
        .filter(|&at| bytes[at..at + 4] == [0xff; 4])
        .collect();
    let second = *marks.last().unwrap();
    bytes[second + 8..second + 16].fill(0xee);
    fs::write(&path, bytes).unwrap();
    let record = Record::open(dir.path()).unwrap();
    let read: Vec<_> = record.batches("samples").unwrap().collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].as_ref().unwrap().num_rows(), 100);
    let message = read[1].as_ref().unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("{} is damaged: ", path.display())),
        "{message}"
    );
    assert!(recover(dir.path()).is_err());
    assert!(path.exists(), "what is left of the table is kept");
}

#[test]
fn a_dictionary_that_claims_more_values_than_it_has_bytes_is_refused() {
    let dir = small_record(true);
    let path = dir.path().join("samples.parquet");
    let mut bytes = fs::read(&path).unwrap();
    // A page's header begins with its kind, 2 for a dictionary's; its field 7 begins with the dictionary's values, few words. Both are an i32, a
    // zigzag varint. They become 63.
    let page = bytes.windows(3).position(|w| w == [0x15, 0x04, 0x15]);
    let at = bytes[page.unwrap()..]
        .windows(2)
        .position(|w| w == [0x4c, 0x15])
        .unwrap();
    bytes[page.unwrap() + at + 2] = 0x7e;
    fs::write(&path, bytes).unwrap();
    let record = Record::open(dir.path()).unwrap();
    let message = record.rows::<Sample>().unwrap_err().to_string();
    assert!(
        message.contains("a dictionary of 63 values in "),
        "{message}"
    );
}

#[test]
fn what_is_no_record_is_refused_in_one_line() {
    let dir = tempdir().unwrap();
    let shown = dir.path().display();
    let open = || Record::open(dir.path()).unwrap_err().to_string();
    assert_eq!(
        open(),
        format!("{shown} holds no run.json - name the folder of a run")
    );
    let run_json = dir.path().join("run.json");
    fs::write(&run_json, r#"{"schema": "isobath.run/2"}"#).unwrap();
    assert_eq!(
        open(),
        format!(
            "{shown}/run.json has schema 'isobath.run/2', this isobath reads 'isobath.run/1' \
             - use the version that wrote it"
        )
    );
    fs::write(&run_json, r#"{"schema": "isobath.run/1"}"#).unwrap();
    assert_eq!(
        open(),
        format!(
            "{shown}/run.json is damaged: missing field `test` at line 1 column 27 \
             - restore it from a copy"
        )
    );
}
