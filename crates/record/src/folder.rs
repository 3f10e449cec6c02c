//! Where a record goes when nobody names a place.

use crate::error::Error;
use jiff::Timestamp;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How many runs may start in one second under one name.
const MAX_SAME_NAME: u32 = 1_000;

/// A folder's name that sorts by time and says what was run: `2026-11-21T07-29-11Z-rrul-dsl`.
///
/// `name` is the host or the lab; what does not belong in a file name becomes `-`.
pub fn folder_name(started: Timestamp, verb: &str, name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    let name: String = name.chars().take(64).map(plain).collect();
    let time = started.strftime("%Y-%m-%dT%H-%M-%SZ");
    format!("{time}-{verb}-{}", name.trim_matches(['-', '.']))
        .trim_end_matches('-')
        .to_owned()
}

/// Creates a folder `name` in `parent`, or `name-2`, `name-3`, ... when that exists; `parent` is created if need be.
///
/// # Errors
/// [`Error::Write`] when `parent` cannot be written.
pub fn new_folder(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    fs::create_dir_all(parent).map_err(Error::write(parent))?;
    let mut dir = parent.join(name);
    for number in 2..=MAX_SAME_NAME {
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|()| dir.clone()).map_err(Error::write(&dir)),
        }
        dir = parent.join(format!("{name}-{number}"));
    }
    Err(Error::NotEmpty { path: dir })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_sort_by_time_and_are_safe() {
        let time: Timestamp = "2026-11-21T07:29:11.9Z".parse().unwrap();
        let name = |host| folder_name(time, "rrul", host);
        assert_eq!(name("dsl"), "2026-11-21T07-29-11Z-rrul-dsl");
        assert_eq!(
            name("[2001:db8::1]:4890"),
            "2026-11-21T07-29-11Z-rrul-2001-db8--1--4890"
        );
        assert_eq!(name("../../etc"), "2026-11-21T07-29-11Z-rrul-etc");
        assert_eq!(name(""), "2026-11-21T07-29-11Z-rrul");
    }

    #[test]
    fn runs_of_the_same_second_get_folders_of_their_own() {
        let parent = tempfile::tempdir().unwrap();
        let nested = parent.path().join("runs");
        let names: Vec<_> = (0..3).map(|_| new_folder(&nested, "a").unwrap()).collect();
        assert_eq!(names, ["a", "a-2", "a-3"].map(|name| nested.join(name)));
    }

    #[test]
    fn a_parent_that_cannot_be_written_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let message = new_folder(file.path(), "a").unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("cannot write {}: ", file.path().display())),
            "{message}"
        );
    }
}
