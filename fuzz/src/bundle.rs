//! A record in one file, as `isobath import` reads it.

use std::path::Path;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let place = tempfile::tempdir().expect("a folder of its own");
    let folder = place.path().join("record");
    let read = record::unpack(octets, Path::new("input.tar"), &folder);
    // What is no record leaves nothing.
    assert_eq!(read.is_ok(), folder.exists());
}
