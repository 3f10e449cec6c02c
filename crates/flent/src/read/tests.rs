use super::*;
use crate::data::{Key, VERSION};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

const SMALL: &str = r#"{"version": 4, "metadata": {"NAME": "ping"}, "x_values": [0, 0.2],
    "results": {"Ping (ms) UDP": [1.5, null]}, "raw_values": {"Ping (ms) UDP": [{"t": 1e9, "val": 1.5}]}}"#;

fn of(text: &str) -> Result<DataFile, Error> {
    read(text.as_bytes(), &Limits::default())
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(octets).unwrap();
    packed.finish().unwrap()
}

#[track_caller]
fn refused(text: &str) -> String {
    let message = of(text).unwrap_err().to_string();
    assert!(!message.contains('\n') && message.len() < 400, "{message}");
    message
}

/// `SMALL` with `old` replaced.
#[track_caller]
fn refused_with(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "{old}");
    refused(&SMALL.replace(old, new))
}

#[test]
fn plain_and_packed_files_are_the_same() {
    let plain = of(SMALL).unwrap();
    let packed = read(&gzip(SMALL.as_bytes())[..], &Limits::default()).unwrap();
    assert_eq!(plain, packed);
    assert_eq!(plain.results["Ping (ms) UDP"], [Some(1.5), None]);
    let raw = &plain.raw_values["Ping (ms) UDP"][0];
    assert_eq!((raw.get(Key::T), raw.get(Key::VAL)), (Some(1e9), Some(1.5)));
}

#[test]
fn what_is_no_flent_file_is_called_that() {
    for text in [
        "",
        "\u{89}PNG\r\n",
        "hello",
        "BZh91AY",
        "{\"version\": 4}",
        "<html>",
    ] {
        let message = refused(text);
        assert!(
            message.starts_with("this is no Flent data file: "),
            "{message}"
        );
    }
    let message = refused("[1, 2]");
    assert!(
        message.contains("the object that a Flent data file is"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_cut_short_is_called_that() {
    let message = refused(&SMALL[..SMALL.len() - 9]);
    assert!(
        message.starts_with("the Flent file is cut short: "),
        "{message}"
    );
    let packed = gzip(SMALL.as_bytes());
    let error = read(&packed[..packed.len() / 2], &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::Truncated { .. }), "{error}");
}

#[test]
fn other_versions_are_refused_by_number() {
    for version in ["5", "0", "-1", "99999999999"] {
        let message = refused_with("\"version\": 4", &format!("\"version\": {version}"));
        assert!(
            message.contains(&format!("has version {version},")),
            "{message}"
        );
    }
}

#[test]
fn values_of_another_type_are_refused_by_place() {
    for (old, new, says) in [
        ("[0, 0.2]", "[0, \"x\"]", "expected f64"),
        ("[0, 0.2]", "[0, null]", "a value of x_values is no number"),
        ("[0, 0.2]", "{}", "a list of numbers"),
        ("[1.5, null]", "[1.5, true]", "expected f64"),
        ("[1.5, null]", "7", "a list of numbers"),
        ("{\"NAME\": \"ping\"}", "[]", "the metadata is no object"),
        ("\"val\": 1.5}", "\"val\": \"fast\"}", "is text"),
        ("[{\"t\": 1e9, \"val\": 1.5}]", "[3]", "a raw value"),
        ("0.2", "1e999", "number out of range"),
        ("[1.5, null]", "[1.5]", "has 1 values for 2 x_values"),
        ("[0, 0.2]", "[0.2, 0]", "x_values go back after value 0"),
    ] {
        let message = refused_with(old, new);
        assert!(message.contains(says), "{new}: {message}");
    }
}

#[test]
fn long_foreign_text_is_not_repeated_whole() {
    let message = refused_with("[0, 0.2]", &format!("[\"{}\"]", "x".repeat(100_000)));
    assert!(message.len() < 400, "{}", message.len());
}

#[test]
fn values_that_are_no_numbers_are_gaps() {
    let file = of(&SMALL.replace("[1.5, null]", "[NaN, -Infinity]")).unwrap();
    assert_eq!(file.results["Ping (ms) UDP"], [None, None]);
}

#[test]
fn each_limit_is_told() {
    let with = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        read(SMALL.as_bytes(), &limits).unwrap_err().to_string()
    };
    assert!(with(|l| l.unpacked_bytes = 100).contains("larger than 100 bytes unpacked"));
    assert!(with(|l| l.series = 0).contains("too many series"));
    assert!(with(|l| l.numbers = 3).contains("too many numbers"));
    assert!(with(|l| l.metadata_bytes = 150).contains("the metadata is too large"));
}

#[test]
fn a_small_file_that_unpacks_to_a_huge_one_is_stopped() {
    let bomb = gzip(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    let limits = Limits {
        unpacked_bytes: 1 << 20,
        ..Limits::default()
    };
    let error = read(&bomb[..], &limits).unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { limit: 1_048_576 }),
        "{error}"
    );
}

#[test]
fn deep_nesting_is_refused() {
    let message = refused_with("\"ping\"", &"[".repeat(100_000));
    assert!(message.contains("recursion limit"), "{message}");
}

#[test]
fn the_first_version_has_raw_values_in_its_metadata() {
    let file = of(r#"{"metadata": {"NAME": "rrul", "NETPERF_WRAPPER_VERSION": "0.7",
        "SERIES_META": {"Ping (ms) UDP BE": {"RAW_VALUES": [{"t": 1, "val": 50, "dur": 0.2}, {"t": 2, "val": 0, "dur": 0.2}]}}},
        "x_values": [0], "results": {"Ping (ms) UDP BE": [20]}}"#).unwrap();
    let raw = &file.raw_values["Ping (ms) UDP BE"];
    assert_eq!(
        raw[0].get(Key::VAL),
        Some(20.0),
        "50 transactions a second last 20 ms each"
    );
    assert_eq!(
        raw[1].get(Key::VAL),
        None,
        "no transaction has no round trip"
    );
    assert_eq!(file.metadata["FLENT_VERSION"], "0.7");
    assert_eq!(file.version, 1);
}

#[test]
fn older_raw_values_are_converted() {
    let text = r#"{"version": 3, "metadata": {"NAME": "http", "SERIES_META": {"UDP upload": {"MEAN_VALUE": 2e6, "UNITS": "bits/s"}}},
        "x_values": [0], "results": {}, "raw_values": {"HTTP latency": [{"t": 1, "val": 0.25}],
        "qdisc": [{"t": 1, "dropped": 100}, {"t": 2, "dropped": 103}]}}"#;
    let file = of(text).unwrap();
    assert_eq!(
        file.raw_values["HTTP latency"][0].get(Key::VAL),
        Some(250.0)
    );
    let dropped = Key::known("dropped", &file.other_keys).unwrap();
    let drops: Vec<_> = file.raw_values["qdisc"]
        .iter()
        .map(|p| p.get(dropped))
        .collect();
    assert_eq!(drops, [Some(0.0), Some(3.0)]);
    assert_eq!(
        file.metadata["SERIES_META"]["UDP upload"]["MEAN_VALUE"],
        2.0
    );
    assert!(file.version < VERSION);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn mutilated_files_are_read_or_refused_in_one_line(cut in 0_usize..250, at in 0_usize..250, with in any::<u8>()) {
        let mut octets = SMALL.as_bytes().to_vec();
        let length = octets.len();
        octets[at % length] = with;
        octets.truncate(length - cut % length);
        if let Err(error) = read(&octets[..], &Limits::default()) {
            prop_assert!(!error.to_string().contains('\n'), "{error}");
        }
        if let Err(error) = read(&gzip(&octets)[..], &Limits::default()) {
            prop_assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}
