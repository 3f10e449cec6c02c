//! Less processor time than the machine has: CPU bandwidth limits by control groups.
//!
//! A limit gives the threads of a group together `quota` of processor time in each `period`; who has used it up waits for
//! the next period (kernel documentation, `scheduler/sched-bwc.rst`). Both generations of control groups have it, and in
//! both a group can hold single *threads* of a process, which here shares its process with others that must stay
//! fast: generation 1 always, generation 2 in *threaded* groups (`admin-guide/cgroup-v2.rst`, "Threads").
//!
//! Groups are folders and do not go by themselves. [`Group`] removes its folder when it is dropped; while it lives its
//! folder is locked, and [`sweep`] removes the folders of this name that nobody has locked.

mod home;
mod marking;

#[cfg(test)]
mod tests;

pub use home::Home;

use crate::{Error, clock};
use home::Generation;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the folders of all groups begin with.
const PREFIX: &str = "isobath-";
/// Shorter periods would make quotas shorter than the kernel allows, longer ones make longer pauses: at a fifth of a
/// processor a thread computes for 2 ms and rests for 8 ms.
const PERIOD_US: u64 = 10_000;
/// The kernel's least quota.
const LEAST_QUOTA_US: u64 = 1_000;
/// Threads that end take a moment to leave their group: how often to look, and how long to rest between.
const LOOKS: u32 = 100;
const REST: Duration = Duration::from_millis(2);
const ADVICE: &str = "a limit of processor time needs a control group of its own: run as root, or with systemd by \
                      'systemd-run --scope -p Delegate=yes'";

/// How often a group used up its quota before a period was over. Counts from when the group was made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Throttling {
    /// Periods in which the group had something to do.
    pub periods: u64,
    /// Those of them in which it had to wait for the next.
    pub throttled: u64,
}

impl Throttling {
    /// Reads a group's `cpu.stat`; `None` for one without a quota.
    fn parse(text: &str) -> Option<Self> {
        let count = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        let periods = count("nr_periods ")?;
        (periods > 0).then_some(Self {
            periods,
            throttled: count("nr_throttled ")?,
        })
    }
}

impl Home {
    /// How often this group ran out of processor time, a container's quota included; `None` without a quota, or where the
    /// kernel does not tell.
    pub fn throttling(&self) -> Option<Throttling> {
        let text = fs::read_to_string(self.folder.join("cpu.stat")).ok()?;
        Throttling::parse(&text)
    }

    /// This group, to come back to.
    ///
    /// # Errors
    ///
    /// When this user may not move threads between groups.
    pub fn group(&self) -> Result<Group, Error> {
        Ok(Group {
            threads: open_to_write(&self.folder.join(self.generation.threads()))?,
            made: None,
        })
    }

    /// A new group inside this one whose threads have `share` of one processor (0.01 to 1) together. `name` tells it from
    /// others of this machine.
    ///
    /// # Errors
    ///
    /// When this user may not make groups, or not here; the message says what to do.
    pub fn limited(&self, name: &str, share: f64) -> Result<Group, Error> {
        let folder = self.folder.join(format!("{PREFIX}{name}"));
        fs::create_dir(&folder).map_err(|e| refused("make", &folder, e))?;
        let lock = File::open(&folder).map_err(|e| refused("open", &folder, e))?;
        lock.lock().map_err(|e| refused("lock", &folder, e))?;
        let made = Made {
            folder,
            home: self.folder.join(self.generation.threads()),
            tasks: self.generation.threads(),
            _lock: lock,
        };
        made.limit(self, share)?;
        Ok(Group {
            threads: open_to_write(&made.folder.join(self.generation.threads()))?,
            made: Some(made),
        })
    }
}

/// A control group that threads can be put into. One that was made for a limit is removed when this is dropped; threads
/// that are still in it go back where it was made.
#[derive(Debug)]
pub struct Group {
    threads: File,
    #[expect(dead_code, reason = "held for its end")]
    made: Option<Made>,
}

impl Group {
    /// Moves the calling thread into the group; those that it starts later are in it too.
    ///
    /// # Errors
    ///
    /// When the kernel refuses, as when the thread has real-time priority and the group has no share of that.
    pub fn enter(&self) -> Result<(), Error> {
        // Zero is whoever writes.
        (&self.threads)
            .write_all(b"0")
            .map_err(|e| Error::io("enter", "a control group", e).advise(ADVICE))
    }

    /// Lets `command` start in the group. The group must live until then.
    pub fn hold(&self, command: &mut Command) {
        let fd = self.threads.as_raw_fd();
        let enter = move || {
            // SAFETY: `self` lives until the command has been started, and the child inherits its descriptors.
            #[expect(
                unsafe_code,
                reason = "a raw descriptor is all that can cross the fork"
            )]
            let threads = unsafe { BorrowedFd::borrow_raw(fd) };
            rustix::io::write(threads, b"0")?;
            Ok(())
        };
        // SAFETY: between fork and exec `enter` makes one system call and nothing else.
        #[expect(
            unsafe_code,
            reason = "a child is in the group from its start or may escape it"
        )]
        unsafe {
            command.pre_exec(enter);
        }
    }
}

/// A folder that was made for a limit.
#[derive(Debug)]
struct Made {
    folder: PathBuf,
    /// The file that takes threads back.
    home: PathBuf,
    /// The name of that file.
    tasks: &'static str,
    /// Tells sweepers that the folder has an owner; the kernel lets go of it when the owner ends, however it ends.
    _lock: File,
}

impl Made {
    fn limit(&self, home: &Home, share: f64) -> Result<(), Error> {
        let (quota, period) = bandwidth(share);
        let set = |folder: &Path, file: &str, value: &str| {
            let path = folder.join(file);
            fs::write(&path, value).map_err(|e| refused("write", &path, e))
        };
        match home.generation {
            Generation::One => {
                set(&self.folder, "cpu.cfs_period_us", &period.to_string())?;
                set(&self.folder, "cpu.cfs_quota_us", &quota.to_string())
            }
            Generation::Two => {
                // In this order: a group with processes in it may give controllers to threaded groups only.
                set(&self.folder, "cgroup.type", "threaded")?;
                set(&home.folder, "cgroup.subtree_control", "+cpu")?;
                set(&self.folder, "cpu.max", &format!("{quota} {period}"))
            }
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for _ in 0..LOOKS {
            let threads = fs::read_to_string(self.folder.join(self.tasks));
            for thread in threads.unwrap_or_default().lines() {
                // One that has ended meanwhile needs no home.
                let _ = fs::write(&self.home, thread);
            }
            match fs::remove_dir(&self.folder) {
                Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
                    clock::sleep_until(clock::now() + REST);
                }
                // Whatever else it is, waiting does not help, and the next sweep may.
                _ => return,
            }
        }
    }
}

/// Removes the groups that dead processes left in the calling thread's groups; returns how many.
pub fn sweep() -> usize {
    let homes = [Home::find(), Home::find_in(Generation::Two)];
    let folders = homes
        .iter()
        .flatten()
        .map(|home| fs::read_dir(&home.folder));
    let entries = folders.flatten().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    ours.filter(|entry| is_abandoned(&entry.path()) && fs::remove_dir(entry.path()).is_ok())
        .count()
}

/// Whether nobody has locked `folder`. One that is being made is locked a moment after: it is told by its age.
fn is_abandoned(folder: &Path) -> bool {
    let age = || fs::metadata(folder).ok()?.modified().ok()?.elapsed().ok();
    let is_new = age().is_none_or(|age| age < Duration::from_secs(1));
    !is_new && File::open(folder).is_ok_and(|file| file.try_lock().is_ok())
}

/// Quota and period in microseconds for `share` of one processor.
fn bandwidth(share: f64) -> (u64, u64) {
    let share = if share.is_finite() {
        share.clamp(0.01, 1.0)
    } else {
        1.0
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 100,000"
    )]
    let whole = |us: f64| us.round() as u64;
    let period = whole(LEAST_QUOTA_US as f64 / share).max(PERIOD_US);
    (whole(period as f64 * share).max(LEAST_QUOTA_US), period)
}

fn open_to_write(path: &Path) -> Result<File, Error> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(|e| refused("open", path, e))
}

fn refused(operation: &str, path: &Path, error: io::Error) -> Error {
    Error::io(operation, path.display().to_string(), error).advise(ADVICE)
}
