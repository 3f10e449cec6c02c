//! Where a thread is in the control groups of this machine.

use crate::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Which generation of control groups has the cpu controller here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Generation {
    One,
    Two,
}

impl Generation {
    /// The file that takes and lists threads.
    pub(super) const fn threads(self) -> &'static str {
        match self {
            Self::One => "tasks",
            Self::Two => "cgroup.threads",
        }
    }
}

/// The group that a thread is in by itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Home {
    pub(super) generation: Generation,
    pub(super) folder: PathBuf,
}

impl Home {
    /// The calling thread's group.
    ///
    /// # Errors
    ///
    /// When the kernel has no control groups with a cpu controller, or they are not mounted.
    pub fn find() -> Result<Self, Error> {
        let [groups, mounts] = counters()?;
        Self::parse(&groups, &mounts)
            .ok_or_else(|| missing("mount a cgroup hierarchy with the cpu controller"))
    }

    /// The calling thread's group in the hierarchy of this generation.
    ///
    /// # Errors
    ///
    /// When it is not mounted.
    pub(super) fn find_in(generation: Generation) -> Result<Self, Error> {
        let [groups, mounts] = counters()?;
        Self::parse_in(generation, &groups, &mounts)
            .ok_or_else(|| missing("mount a cgroup2 hierarchy: mount -t cgroup2 none FOLDER"))
    }

    /// From the text of `/proc/PID/cgroup` and `/proc/PID/mountinfo`.
    pub(super) fn parse(groups: &str, mounts: &str) -> Option<Self> {
        let generation = if lines(groups).any(|(_, controllers, _)| has_cpu(controllers)) {
            Generation::One
        } else {
            Generation::Two
        };
        Self::parse_in(generation, groups, mounts)
    }

    /// The same, in the hierarchy of this generation.
    fn parse_in(generation: Generation, groups: &str, mounts: &str) -> Option<Self> {
        let (_, _, path) = lines(groups).find(|(id, controllers, _)| match generation {
            Generation::One => has_cpu(controllers),
            Generation::Two => *id == "0",
        })?;
        let (root, mount) = mounts
            .lines()
            .find_map(|line| mount_point(line, generation))?;
        let below = path
            .strip_prefix(root.trim_end_matches('/'))
            .unwrap_or(path);
        Some(Self {
            generation,
            folder: Path::new(mount).join(below.trim_start_matches('/')),
        })
    }
}

/// What the kernel says of the calling thread's groups, and of what is mounted.
fn counters() -> Result<[String; 2], Error> {
    let read = |path| fs::read_to_string(path).map_err(|e| Error::io("read", path, e));
    Ok([
        read("/proc/thread-self/cgroup")?,
        read("/proc/thread-self/mountinfo")?,
    ])
}

fn missing(advice: &'static str) -> Error {
    let missing = io::Error::from(io::ErrorKind::NotFound);
    Error::io("find", "the control group of this thread", missing).advise(advice)
}

/// Number, controllers and path of each hierarchy.
fn lines(groups: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    groups.lines().filter_map(|line| {
        let (id, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        Some((id, controllers, path))
    })
}

fn has_cpu(controllers: &str) -> bool {
    controllers.split(',').any(|controller| controller == "cpu")
}

/// Root and mount point of the hierarchy of this generation, if this line of `mountinfo` (proc(5)) is its.
fn mount_point(line: &str, generation: Generation) -> Option<(&str, &str)> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (root, point) = (mount.next()?, mount.next()?);
    let mut system = system.split(' ');
    let (kind, options) = (system.next()?, system.nth(1).unwrap_or_default());
    let is_it = match generation {
        Generation::One => kind == "cgroup" && has_cpu(options),
        Generation::Two => kind == "cgroup2",
    };
    is_it.then_some((root, point))
}
