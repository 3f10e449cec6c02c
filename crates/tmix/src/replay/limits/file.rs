//! Where the limits of a machine are kept between runs.

use super::{Limits, Machine, SCHEMA};
use anyhow::Context;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The file's name in the folder for state.
const NAME: &str = "replay-limits.json";
/// No file of ours is larger.
const MAX_FILE: u64 = 1 << 20;

/// Where they are kept: `$XDG_STATE_HOME/isobath/replay-limits.json`, or `~/.local/state/isobath/replay-limits.json`.
pub fn path() -> Option<PathBuf> {
    session::state_file(NAME)
}

/// Those of this machine; `None` when there are none, or they were found on another machine, kernel or version, or cannot
/// be read.
pub fn of_this_machine() -> Option<Limits> {
    load(&path()?, &Machine::this())
}

fn load(path: &Path, machine: &Machine) -> Option<Limits> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(MAX_FILE).read_to_string(&mut text).ok()?;
    let limits: Limits = serde_json::from_str(&text).ok()?;
    (limits.schema == SCHEMA && limits.machine == *machine).then_some(limits)
}

/// Keeps `limits` at `path` in one step: a reader sees those before or these, whole.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn keep(limits: &Limits, path: &Path) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(serde_json::to_string_pretty(limits)?.as_bytes())?;
        draft.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot keep the limits in {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::Component;
    use super::super::tests::found;
    use super::*;

    fn limits() -> Limits {
        Limits {
            schema: SCHEMA.to_owned(),
            machine: Machine::this(),
            taken: jiff::Timestamp::UNIX_EPOCH,
            quick: false,
            components: vec![found(Component::Starts, 1_000.0)],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn what_is_kept_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/limits.json");
        keep(&limits(), &path).unwrap();
        keep(&limits(), &path).unwrap();
        assert_eq!(load(&path, &Machine::this()), Some(limits()));
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1);
    }

    #[test]
    fn limits_of_another_machine_kernel_or_version_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limits.json");
        keep(&limits(), &path).unwrap();
        let others: [fn(&mut Machine); 4] = [
            |machine| machine.host.push('x'),
            |machine| machine.kernel.push('x'),
            |machine| machine.isobath.push('x'),
            |machine| machine.cpus += 1,
        ];
        for change in others {
            let mut machine = Machine::this();
            change(&mut machine);
            assert_eq!(load(&path, &machine), None);
        }
    }

    #[test]
    fn what_is_no_file_of_limits_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limits.json");
        assert_eq!(load(&path, &Machine::this()), None);
        let other = serde_json::to_string(&limits()).unwrap();
        for text in ["", "{}", &other.replace(SCHEMA, "isobath.replay-limits/2")] {
            fs::write(&path, text).unwrap();
            assert_eq!(load(&path, &Machine::this()), None, "{text}");
        }
    }
}
