//! What libFuzzer is given: one file of a few lines for each target, all alike, and the lines themselves compile.

use isobath_fuzz::TARGETS;
use std::fs;
use std::path::Path;

// The lines of `fuzz_targets/access_key.rs`; without libFuzzer nothing calls what they make.
libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::access_key::run(octets));

#[test]
fn every_target_s_file_gives_it_to_libfuzzer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let files = fs::read_dir(folder.join("fuzz_targets")).unwrap();
    assert_eq!(files.count(), TARGETS.len(), "a file that is no target");
    for (name, _) in TARGETS {
        let file = format!("fuzz_targets/{name}.rs");
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        let lines = format!(
            "//! See `isobath_fuzz::{name}`.\n#![no_main]\n\nlibfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::{name}::run(octets));\n"
        );
        assert_eq!(text, lines, "{file}");
        let entry = format!("name = \"{name}\"\npath = \"{file}\"\n");
        assert!(manifest.contains(&entry), "{name} is not in Cargo.toml");
    }
}
