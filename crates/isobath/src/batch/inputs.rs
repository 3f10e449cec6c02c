//! The files that a batch or a sweep is made of: it goes on only while they are as they were.

use kit::pool::error::Error;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file that the cells are made of.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Input {
    path: PathBuf,
    text: String,
}

/// Those of `names` that are files, looked up beside `file`.
///
/// # Errors
/// [`Error::Read`].
pub(crate) fn of<'a>(
    file: &Path,
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<Input>, Error> {
    let inputs = names.filter(|name| is_file(name)).map(|name| {
        let path = home(file).join(name);
        read(&path).map(|text| Input { path, text })
    });
    inputs.collect()
}

/// Checks that `file`, whose text was `toml`, and its `inputs` are as they were. The file itself may be gone: its text is here.
///
/// # Errors
/// [`Error::Changed`] or [`Error::Read`].
pub(crate) fn check(file: &PathBuf, toml: &String, inputs: &[Input]) -> Result<(), Error> {
    let own = file.exists().then_some((file, toml));
    let inputs = inputs.iter().map(|input| (&input.path, &input.text));
    for (path, text) in own.into_iter().chain(inputs) {
        if read(path)? != *text {
            return Err(Error::Changed { path: path.clone() });
        }
    }
    Ok(())
}

/// What it is called: as its author wrote, or like its `file`.
pub(crate) fn name(own: Option<&String>, file: &Path) -> String {
    let stem = || {
        let stem = file.file_stem();
        stem.map(|stem| stem.to_string_lossy().into_owned())
    };
    own.cloned().or_else(stem).unwrap_or_default()
}

/// Whether a plan or lab of this name is a file, by the rule that looks it up.
pub(crate) fn is_file(name: &str) -> bool {
    name.contains('/') || name.to_ascii_lowercase().ends_with(".toml")
}

/// The folder of `file`, which is absolute.
pub(crate) fn home(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// The text of the file at `path`.
///
/// # Errors
/// [`Error::Read`].
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })
}

/// Replaces the JSON file at `path` by `state` in one step.
///
/// # Errors
/// [`Error::Write`].
pub(crate) fn replace(path: &Path, state: &impl Serialize) -> Result<(), Error> {
    let unfinished = path.with_extension("json.tmp");
    let replaced = || {
        let mut json = serde_json::to_vec_pretty(state)?;
        json.push(b'\n');
        let mut file = File::create(&unfinished)?;
        file.write_all(&json)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    replaced().map_err(|source: std::io::Error| Error::Write {
        path: path.to_owned(),
        source,
    })
}
