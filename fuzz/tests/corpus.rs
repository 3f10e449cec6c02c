//! Every target on its corpus and on mutations of it: what a fuzzer once found stays mended, without a fuzzer.
//!
//! The mutations are the same in every run (`PROPTEST_RNG_SEED` draws others); how many there are depends on the time
//! (`ISOBATH_FUZZ_SECONDS` for all targets together, 60 without) and the machine.

#![expect(clippy::unwrap_used, reason = "tests and what they share")]

mod mutate;

use isobath_fuzz::TARGETS;
use mutate::Mutator;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::clock;
use transport::wire::Datagram;

/// Most memory that this process may ever have taken: no input of a few kilobytes is worth more.
const MOST_KB: u64 = 1 << 20;
/// Inputs between two looks at the memory.
const LOOK: u64 = 256;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A target's corpus, in order of its files' names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let paths = fs::read_dir(folder("corpus").join(target)).unwrap();
    let mut paths: Vec<_> = paths.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| (path.display().to_string(), fs::read(&path).unwrap());
    paths.into_iter().map(read).collect()
}

/// The most memory that this process has had at once.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    peak.split_whitespace().next().unwrap().parse().unwrap()
}

/// Gives `octets` to a target, and says which they were when it does not take them.
fn give(target: &str, run: fn(&[u8]), octets: &[u8], name: &str, looks: bool) {
    let taken = catch_unwind(AssertUnwindSafe(|| run(octets)));
    let escaped = || octets.escape_ascii();
    assert!(taken.is_ok(), "{target}: {name}: b\"{}\"", escaped());
    if looks {
        let peak = peak_kb();
        assert!(
            peak < MOST_KB,
            "{target}: {peak} kB after {name}: b\"{}\"",
            escaped()
        );
    }
}

fn try_target(target: &str) {
    let (_, run) = TARGETS
        .into_iter()
        .find(|(name, _)| *name == target)
        .unwrap();
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "a corpus for {target}");
    for (name, octets) in &corpus {
        give(target, run, octets, name, true);
    }
    let octets: Vec<_> = corpus.into_iter().map(|(_, octets)| octets).collect();
    let seed = variable("PROPTEST_RNG_SEED").unwrap_or(1);
    let mut mutator = Mutator::new(seed, &octets);
    let all = Duration::from_secs(variable("ISOBATH_FUZZ_SECONDS").unwrap_or(60));
    let share = all / u32::try_from(TARGETS.len()).unwrap();
    let ends = clock::now() + share;
    for number in 0.. {
        if clock::now() >= ends {
            eprintln!("{target}: {number} mutations (seed {seed})");
            break;
        }
        let name = format!("mutation {number} of seed {seed}");
        give(target, run, mutator.draw(), &name, number % LOOK == 0);
    }
}

#[test]
fn every_target_is_tried_here_and_given_to_libfuzzer() {
    let stems = |folder: PathBuf| -> BTreeSet<String> {
        let paths = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        paths
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    let listed: BTreeSet<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let tried: BTreeSet<_> = TRIED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(stems(folder("fuzz_targets")), listed);
    assert_eq!(stems(folder("corpus")), listed);
    assert_eq!(tried, listed);
}

/// A segment as far ahead as the largest windows let it be once took memory for all numbers before it.
#[test]
fn the_corpus_of_the_receiver_goes_far_ahead() {
    let corpus = corpus("receiver");
    let far = corpus.iter().filter(|(_, octets)| {
        let Some(([a, b, c, d, ..], datagrams)) = octets.split_first_chunk::<8>() else {
            return false;
        };
        let window = u32::from_be_bytes([*a, *b, *c, *d]);
        datagrams.chunks(49).any(|piece| {
            let segment = Datagram::parse(&piece[1..]);
            matches!(segment, Ok((_, Datagram::Segment(segment))) if (299_999_999..window).contains(&segment.seq.0))
        })
    });
    assert!(far.count() >= 3);
}

/// From words that are refused at once a fuzzer learns nothing of what comes after.
#[test]
fn seeds_of_browsers_and_fleets_are_read() {
    for (target, is_read) in [
        (
            "browser",
            (|text| test_page::fuzzing::browser(text).is_ok()) as fn(&str) -> bool,
        ),
        ("fleet_file", |text| {
            fleet::file::FleetFile::parse(text, "seed").is_ok()
        }),
    ] {
        for (name, octets) in corpus(target) {
            let text = String::from_utf8(octets).unwrap();
            assert!(!name.contains("/seed-") || is_read(&text), "{name}");
        }
    }
}

/// A test for each: they run beside each other, and the one that fails has a name.
macro_rules! try_each {
    ($($target:ident)*) => {
        const TRIED: &[&str] = &[$(stringify!($target)),*];
        $(#[test]
        fn $target() {
            try_target(stringify!($target));
        })*
    };
}

try_each! {
    access_key browser bundle capture control_line cvec datagram dns_answer dns_reply extract far_end far_setup fit fleet_file flent_import iperf3
    mgrp mgrp_message mgrp_peer ndt7 nq page_model preamble receiver segment socks target topology trace tun_read twamp udpst
}
