use super::*;
use proptest::prelude::*;
use std::fs;
use tempfile::tempdir;

table! {
    /// A column of every type.
    pub(crate) struct Every in "every_1" {
        /// A byte.
        a: u8,
        /// A short.
        b: u16,
        /// A word.
        c: u32,
        /// A long.
        d: u64 => "ns",
        /// Signed.
        e: i64,
        /// A float.
        f: f64,
        /// A bit.
        g: bool,
        /// Text.
        h: String,
        /// A word of few.
        i: Label,
        /// A byte or not.
        j: Option<u8>,
        /// A short or not.
        k: Option<u16>,
        /// A word or not.
        l: Option<u32>,
        /// A long or not.
        m: Option<u64>,
        /// Signed or not.
        n: Option<i64>,
        /// A float or not.
        o: Option<f64>,
        /// A bit or not.
        p: Option<bool>,
        /// Text or not.
        q: Option<String>,
        /// A word of few or not.
        r: Option<Label>,
    }
}

/// The same table as an older version wrote it: fewer columns, one that is gone, another order.
mod older {
    use record::table;

    table! {
        /// A column of every type, as it was.
        pub(crate) struct Cpu in "cpu" {
            /// Given up since.
            temperature: u32,
            /// The host's role.
            host: String,
            /// When.
            t_ns: u64 => "ns",
            /// Busy.
            busy_pct: f64 => "pct",
        }
    }
}

mod other {
    use record::table;

    table! {
        /// The table `cpu` with a column of another type.
        pub(crate) struct WrongType in "cpu" {
            /// The host's role.
            host: u64,
        }
    }

    table! {
        /// The table `cpu` with a column that the record lacks.
        pub(crate) struct Missing in "cpu" {
            /// Steal.
            steal_pct: f64 => "pct",
        }
    }

    table! {
        /// The table `cpu` as its reader could live with an old record.
        #[doc = "Columns that are missing are optional."]
        pub(crate) struct Tolerant in "cpu" {
            /// When.
            t_ns: Option<u64> => "ns",
            /// Steal.
            steal_pct: Option<f64> => "pct",
        }
    }
}

prop_compose! {
    fn every()(
        (a, b, c, d, e, f, g) in any::<(u8, u16, u32, u64, i64, f64, bool)>(),
        (h, i) in (".*", "[a-z]{0,3}"),
        (j, k, l, m, n, o) in any::<(Option<u8>, Option<u16>, Option<u32>, Option<u64>, Option<i64>, Option<f64>)>(),
        (p, q, r) in any::<(Option<bool>, Option<String>, Option<String>)>(),
    ) -> Every {
        Every { a, b, c, d, e, f, g, h, i: i.into(), j, k, l, m, n, o, p, q, r: r.map(Label::from) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_in_any_batches_survive_journal_and_parquet(
        batches in proptest::collection::vec(proptest::collection::vec(every(), 0..5), 0..5),
    ) {
        let dir = tempdir().unwrap();
        let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
        for batch in &batches {
            writer.append(batch).unwrap();
        }
        writer.flush().unwrap();
        let running = Record::open(dir.path()).unwrap().rows::<Every>().unwrap();
        writer.finish(&full_run()).unwrap();
        let finished = Record::open(dir.path()).unwrap().rows::<Every>().unwrap();
        prop_assert_eq!(&running, &batches.concat());
        prop_assert_eq!(&finished, &batches.concat());
    }
}

#[test]
fn a_finished_record_holds_every_table_and_no_journal() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    append_all(&mut writer);
    writer.finish(&full_run()).unwrap();
    assert_eq!(
        listing(dir.path()),
        [
            "counters.parquet",
            "cpu.parquet",
            "queue.parquet",
            "run.json",
            "samples.parquet",
            "series.parquet",
            "streams.parquet"
        ]
    );
    let record = Record::open(dir.path()).unwrap();
    let names: Vec<_> = record.table_names().collect();
    assert_eq!(
        names,
        ["counters", "cpu", "queue", "samples", "series", "streams"]
    );
    assert_has_all(&record);
}

#[test]
fn run_json_reads_back_as_it_was_written() {
    let dir = tempdir().unwrap();
    let begun = Run::new("rrul", "2026-11-21T07:29:11Z".parse().unwrap(), json!({}));
    let writer = RecordWriter::create(dir.path(), &begun).unwrap();
    assert_eq!(Record::open(dir.path()).unwrap().run(), &begun);
    assert_eq!(begun.status, Status::Incomplete);
    let run = full_run();
    writer.save(&run).unwrap();
    assert_eq!(Record::open(dir.path()).unwrap().run(), &run);
    writer.finish(&run).unwrap();
    assert_eq!(Record::open(dir.path()).unwrap().run(), &run);
}

#[test]
fn the_columns_documentation_travels_in_the_file() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    writer.append(&cpu()).unwrap();
    writer.finish(&full_run()).unwrap();
    let batches = Record::open(dir.path()).unwrap().batches("cpu").unwrap();
    let schema = batches.schema();
    let time = schema.field_with_name("t_ns").unwrap().metadata();
    assert_eq!(time["unit"], "ns");
    assert_eq!(time["description"], "End of the interval.");
    assert_eq!(
        schema.metadata()["description"],
        "How busy one host was since its previous row."
    );
}

#[test]
fn a_record_of_an_older_version_is_read_as_far_as_it_goes() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    let row = older::Cpu {
        temperature: 50,
        host: "client".into(),
        t_ns: 9,
        busy_pct: 1.0,
    };
    writer.append(&[row]).unwrap();
    writer.finish(&full_run()).unwrap();
    let record = Record::open(dir.path()).unwrap();
    let tolerant = other::Tolerant {
        t_ns: Some(9),
        steal_pct: None,
    };
    assert_eq!(record.rows::<other::Tolerant>().unwrap(), [tolerant]);
    assert_eq!(
        record.rows::<other::Missing>().unwrap_err().to_string(),
        "column cpu.steal_pct is missing - read this record with the version that wrote it"
    );
    assert_eq!(
        record.rows::<other::WrongType>().unwrap_err().to_string(),
        "column cpu.host is Utf8 with 0 nulls, not UInt64 - read this record with the version that wrote it"
    );
}

#[test]
fn a_table_that_the_record_lacks_has_no_rows() {
    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    writer.finish(&full_run()).unwrap();
    let record = Record::open(dir.path()).unwrap();
    assert_eq!(record.rows::<Sample>().unwrap(), []);
    assert!(matches!(
        record.batches("samples"),
        Err(Error::NoTable { .. })
    ));
}

#[test]
fn a_folder_in_use_is_refused_before_the_run() {
    let dir = tempdir().unwrap();
    let create = || RecordWriter::create(dir.path(), &full_run()).map(|_| ());
    let file = dir.path().join("thesis.tex");
    fs::write(&file, "").unwrap();
    let message = create().unwrap_err().to_string();
    let expected = "is not an empty folder - name a new one with --out";
    assert_eq!(message, format!("{} {expected}", dir.path().display()));
    fs::remove_file(&file).unwrap();
    let writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    assert!(matches!(create(), Err(Error::Busy { .. })));
    drop(writer);
    assert!(matches!(create(), Err(Error::NotEmpty { .. })));
}

#[test]
fn a_folder_that_cannot_be_written_is_found_out_before_the_run() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let inside = file.path().join("record");
    let Err(error) = RecordWriter::create(&inside, &full_run()) else {
        panic!("a record inside a file");
    };
    let message = error.to_string();
    assert!(
        message.starts_with(&format!("cannot write {}: ", inside.display())),
        "{message}"
    );
    assert!(message.contains(" - "), "says what to do: {message}");
}

#[test]
#[should_panic(expected = "two row types share a table's name")]
fn two_row_types_for_one_table_are_a_mistake_in_the_program() {
    let dir = tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), &full_run()).unwrap();
    writer.append(&cpu()).unwrap();
    writer.append(&[older::Cpu::default()]).unwrap();
}
