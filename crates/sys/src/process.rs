//! Child processes inside namespaces, signals, and what a dead process left behind.

use crate::Error;
use crate::netns::Netns;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::mount::{MountPropagationFlags, UnmountFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

/// Whether a few hundred octets can be written without waiting: false where the reader of a pipe or the terminal has stopped.
pub fn can_write(to: &impl AsFd) -> bool {
    let mut poll = [PollFd::new(to, PollFlags::OUT)];
    let ready = rustix::event::poll(&mut poll, Some(&Timespec::default()));
    ready.is_ok_and(|count| count > 0) && poll[0].revents().contains(PollFlags::OUT)
}

/// This program, also when its file has been replaced meanwhile.
pub fn this_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// Keeps the terminal's Ctrl-C from `command`: it is for this process to act on.
pub fn set_apart(command: &mut Command) {
    command.process_group(0);
}

/// The number of the signal that ended a process, if one did.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Starts `command` inside `ns`. It is killed when the thread that started it ends, so it never outlives its owner.
///
/// `hosts`, if given, is a file that it sees as `/etc/hosts`; nobody else does.
///
/// # Errors
///
/// When there is no such program or the namespace may not be entered.
pub fn spawn_in(ns: &Netns, mut command: Command, hosts: Option<&str>) -> Result<Child, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let fd = ns.as_fd().as_raw_fd();
    let hosts = hosts.map(CString::new).transpose();
    let hosts = hosts.map_err(|e| Error::io("start", &program, io::Error::from(e)))?;
    let setup = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // SAFETY: the parent holds `ns` until `spawn` has returned, and the child inherited its descriptors.
        #[expect(
            unsafe_code,
            reason = "a raw descriptor is all that can cross the fork"
        )]
        let ns = unsafe { BorrowedFd::borrow_raw(fd) };
        rustix::thread::move_into_link_name_space(ns, Some(LinkNameSpaceType::Network))?;
        hosts.as_deref().map_or(Ok(()), cover_hosts_file)
    };
    // SAFETY: between fork and exec `setup` makes system calls and nothing else: it neither allocates nor locks.
    #[expect(
        unsafe_code,
        reason = "a namespace is entered between fork and exec or not at all"
    )]
    unsafe {
        command.pre_exec(setup);
    }
    command.spawn().map_err(|e| Error::io("start", program, e))
}

/// Starts `command`. It is killed when the thread that started it ends, however that happens: what it does has no use without us.
///
/// # Errors
///
/// When there is no such program.
pub fn spawn_tied(command: Command) -> Result<Child, Error> {
    spawn_after(command, tie())
}

/// The same, for a process that works on what strangers made: it has so many octets of address space, and files that it writes may be so
/// long. An allocation beyond that fails, and so does a write.
///
/// # Errors
///
/// When there is no such program.
pub fn spawn_confined(command: Command, memory: u64, file: u64) -> Result<Child, Error> {
    let tie = tie();
    let confine = move || {
        tie()?;
        limit(Resource::As, memory)?;
        limit(Resource::Fsize, file)
    };
    spawn_after(command, confine)
}

/// Has the calling process, which is a child of this one by then, killed when its parent dies.
fn tie() -> impl Fn() -> io::Result<()> + Send + Sync + 'static {
    let parent = rustix::process::getpid();
    move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // A parent that died before that sends no signal.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(rustix::io::Errno::SRCH.into())
        }
    }
}

/// Lets the calling process have at most `most` of `resource`, or less where it was allowed less.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let hard = rustix::process::getrlimit(resource).maximum;
    let most = Some(hard.map_or(most, |hard| hard.min(most)));
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

/// Starts `command` once the child has done `first`, which makes system calls and nothing else.
fn spawn_after(
    mut command: Command,
    first: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> Result<Child, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    // SAFETY: between fork and exec there are system calls only: nothing allocates or locks.
    #[expect(
        unsafe_code,
        reason = "who is told of a parent's death, or has less, says so itself, between fork and exec"
    )]
    unsafe {
        command.pre_exec(first);
    }
    command.spawn().map_err(|e| Error::io("start", program, e))
}

/// Lays `file` over `/etc/hosts` in a mount namespace of the calling process's own.
fn cover_hosts_file(file: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: no descriptor table is unshared (the one unsafe use of `unshare`).
    #[expect(unsafe_code, reason = "the safe form is deprecated")]
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?;
    let private = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private)?;
    let bind = || rustix::mount::mount_bind(file, c"/etc/hosts");
    match bind() {
        // Inside another lab that is a deleted file, over which nothing can be laid.
        Err(rustix::io::Errno::NOENT) => {
            rustix::mount::unmount(c"/etc/hosts", UnmountFlags::DETACH)?;
            Ok(bind()?)
        }
        done => Ok(done?),
    }
}

/// Asks `child` to end (SIGTERM). One that has ended is left alone.
pub fn terminate(child: &mut Child) {
    // Until it has been waited for, the id is its own.
    if let (Ok(None), Some(pid)) = (child.try_wait(), pid(child.id())) {
        let _ = rustix::process::kill_process(pid, Signal::TERM);
    }
}

/// Asks the whole process group of `child` to end, which [`set_apart`] gave it: a shell does not pass on what it is asked.
pub fn terminate_group(child: &mut Child) {
    // Until it has been waited for, the id is its own.
    if let (Ok(None), Some(pid)) = (child.try_wait(), pid(child.id())) {
        let _ = rustix::process::kill_process_group(pid, Signal::TERM);
    }
}

/// Does what Ctrl-C does, for a program that has the terminal in raw mode, where it is a key like any other.
pub fn interrupt_self() {
    // A process may always signal itself.
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::INT);
}

/// A flag that the first interrupt (Ctrl-C) or termination signal raises; a second one ends the process at once.
///
/// # Errors
///
/// When the handlers cannot be installed.
pub fn interrupt_flag() -> Result<Arc<AtomicBool>, Error> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Order matters: the flag is looked at before it is raised, so only a second signal exits.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|e| Error::io("handle", "interrupts", e))?;
    }
    Ok(flag)
}

/// Begins this program anew, with memory in huge pages (2 MiB) and what was freed kept at hand, unless it has been already: what goes
/// back and forth through hundreds of megabytes waits for page tables as long as for the memory, and packets come and go by thousands.
/// It asks the C library of Linux systems (glibc from 2.35, `glibc.malloc.hugetlb` and `glibc.malloc.tcache_count`), which looks for
/// it only at a program's start; an older one leaves the pages as they are. Large pieces are kept, too, and not mapped and cleared again
/// (`mmap_threshold`, `trim_threshold`).
///
/// To be called before anything else is done: what this process holds open is closed or kept as in any `exec`.
pub fn prepare_for_much_memory() {
    const TUNABLES: &str = "GLIBC_TUNABLES";
    if std::env::var_os(TUNABLES).is_some() {
        return;
    }
    let mut arguments = std::env::args_os();
    let (Some(name), Ok(program)) = (arguments.next(), std::env::current_exe()) else {
        return;
    };
    // It returns only when it has failed, and then everything goes on with small pages.
    let _ = Command::new(program)
        .arg0(name)
        .args(arguments)
        .env(
            TUNABLES,
            // Pieces of up to 32 MiB, which is the most that can be asked for, come from what was freed; of that 256 MiB are kept.
            "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=30000:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456",
        )
        .exec();
}

/// Gives memory that was freed back to the system at once, not when the program ends. The C library of Linux systems (glibc)
/// keeps up to twice the largest piece that was ever freed, in each of its arenas: good for a program that soon wants as
/// much again, and hundreds of megabytes for a server between two clients. mimalloc, which released programs have, keeps memory
/// until somebody wants some.
pub fn return_freed_memory() {
    #[cfg(target_env = "musl")]
    {
        /// `mi_option_purge_delay` of mimalloc.h: milliseconds.
        const PURGE_DELAY: libc::c_int = 15;
        // SAFETY: the call takes two numbers, and an option that it does not know changes nothing.
        #[expect(unsafe_code, reason = "no safe form")]
        unsafe {
            libmimalloc_sys::mi_option_set(PURGE_DELAY, 0);
        }
    }
    #[cfg(target_env = "gnu")]
    {
        const MOST_KEPT: libc::c_int = 1 << 20;
        // SAFETY: the call takes two numbers, and a value that it does not know changes nothing.
        #[expect(unsafe_code, reason = "no safe form")]
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, MOST_KEPT);
        }
    }
}

/// Gives the calling thread a table of descriptors of its own, in which only the first three (standard input, output and
/// error) are open: the limit of open files then holds for this thread alone. Whatever else the thread holds by a descriptor
/// must have been dropped before; other threads keep theirs.
///
/// # Errors
///
/// When the kernel has no such call (Linux before 5.9).
pub fn own_descriptors() -> Result<(), Error> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call takes three numbers. The descriptors that vanish are this thread's copies; by the condition above it
    // holds none of them.
    #[expect(unsafe_code, reason = "no safe form: it takes descriptors away")]
    let done = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_UNSHARE,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        let error = io::Error::last_os_error();
        Err(Error::io("make", "a table of descriptors", error))
    }
}

/// Allows this process so many open file descriptors, or as many as it may be allowed, if it has fewer; says how many it has.
pub fn raise_file_limit(files: u64) -> u64 {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    // Without a limit there are as many as one wants.
    let current = limit.current.unwrap_or(u64::MAX);
    let hard = limit.maximum.unwrap_or(u64::MAX);
    if current >= files {
        return current;
    }
    let mut wanted = files;
    // Only a privileged process goes beyond its hard limit.
    for maximum in [hard.max(files), hard] {
        wanted = wanted.min(maximum);
        let limit = Rlimit {
            current: Some(wanted),
            maximum: limit.maximum.map(|_| maximum),
        };
        if rustix::process::setrlimit(Resource::Nofile, limit).is_ok() {
            return wanted;
        }
    }
    current
}

/// A flag that a termination signal raises. Interrupts from the terminal are left to the children, who get them too: a shell
/// goes on after Ctrl-C, and so must whoever waits for it.
///
/// # Errors
///
/// When the handlers cannot be installed.
pub fn termination_flag() -> Result<Arc<AtomicBool>, Error> {
    let flag = Arc::new(AtomicBool::new(false));
    // Caught, not ignored: what is ignored stays ignored in the children.
    signal_hook::flag::register(SIGINT, Arc::default())
        .and_then(|_| signal_hook::flag::register(SIGTERM, Arc::clone(&flag)))
        .map_err(|e| Error::io("handle", "termination", e))?;
    Ok(flag)
}

/// Names this process for its descendants: its id and start time, so that a recycled id is told apart, and its PID
/// namespace, where alone the id means anything.
///
/// # Errors
///
/// When `/proc` cannot be read.
pub fn owner_mark() -> Result<String, Error> {
    let pid = std::process::id();
    let mark = || Some(format!("{pid}.{}.{}", start_time(pid)?, pid_namespace()?));
    let missing = || {
        Error::io(
            "read",
            "/proc/self",
            io::Error::from(io::ErrorKind::NotFound),
        )
    };
    mark().ok_or_else(missing)
}

/// Kills every process whose environment has `variable` set to the [`owner_mark`] of a process that is no more;
/// returns how many.
///
/// Nothing else is touched: a process that no isobath started carries no such mark.
pub fn sweep_orphans(variable: &str) -> usize {
    sweep(variable, |mark| !owner_lives(mark))
}

/// Kills every process whose environment has `variable` set to `own`: an [`owner_mark`] of this process, perhaps with more
/// behind another dot. Returns how many.
pub fn sweep_own(variable: &str, own: &str) -> usize {
    sweep(variable, |mark| mark == own)
}

fn sweep(variable: &str, is_wanted: impl Fn(&str) -> bool) -> usize {
    let Ok(processes) = fs::read_dir("/proc") else {
        return 0;
    };
    let prefix = format!("{variable}=");
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&pid| mark_of(pid, &prefix).is_some_and(|mark| is_wanted(&mark)))
        .filter(|&pid| kill(pid))
        .count()
}

fn mark_of(pid: u32, prefix: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let entry = environment
        .split(|&b| b == 0)
        .find(|e| e.starts_with(prefix.as_bytes()))?;
    Some(std::str::from_utf8(&entry[prefix.len()..]).ok()?.to_owned())
}

/// Whether the process that `mark` names still runs; a mark that cannot be read, or that speaks of another PID namespace,
/// counts as living, so that nothing is killed by mistake.
fn owner_lives(mark: &str) -> bool {
    let parse = || {
        let mut parts = mark.split('.');
        let (pid, start, namespace) = (parts.next()?, parts.next()?, parts.next()?);
        let is_ours = pid_namespace()?.to_string() == namespace;
        Some((pid.parse::<u32>().ok()?, start.parse::<u64>().ok()?)).filter(|_| is_ours)
    };
    parse().is_none_or(|(pid, start)| start_time(pid) == Some(start))
}

/// The number of this process's PID namespace.
fn pid_namespace() -> Option<u64> {
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

/// Start time of process `pid` in clock ticks since boot (field 22 of `/proc/PID/stat`).
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets and may hold anything, brackets too.
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

fn kill(id: u32) -> bool {
    pid(id).is_some_and(|pid| rustix::process::kill_process(pid, Signal::KILL).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    /// The mark of a process that had this one's id before it.
    fn recycled() -> String {
        format!("{}.1.{}", std::process::id(), pid_namespace().unwrap())
    }

    /// How the shell's `script` ends that may have 64 MiB of memory and write files of 1 MiB.
    fn confined(script: &str) -> ExitStatus {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stderr(Stdio::null());
        let mut child = spawn_confined(command, 64 << 20, 1 << 20).unwrap();
        child.wait().unwrap()
    }

    #[test]
    fn a_process_has_no_more_than_it_may_have() {
        assert!(confined("exit 0").success());
        // It takes all the memory there is.
        assert!(!confined("tail /dev/zero").success());
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("long");
        let write = |blocks: u32| {
            let file = file.display();
            confined(&format!("dd if=/dev/zero of={file} bs=1024 count={blocks}"))
        };
        assert!(write(1_024).success());
        assert!(!write(1_025).success());
        assert_eq!(fs::metadata(&file).unwrap().len(), 1 << 20);
    }

    #[test]
    fn this_process_lives_and_its_mark_is_stable() {
        let mark = owner_mark().unwrap();
        assert_eq!(mark, owner_mark().unwrap());
        assert!(owner_lives(&mark));
        assert!(
            owner_lives("not a mark"),
            "what cannot be read is left alone"
        );
        assert!(!owner_lives(&recycled()), "a recycled id is told apart");
        let elsewhere = format!("{}.1.2", std::process::id());
        assert!(
            owner_lives(&elsewhere),
            "another PID namespace is none of our business"
        );
    }

    #[test]
    fn an_orphan_is_swept_and_a_child_of_the_living_is_not() {
        let variable = "ISOBATH_SWEEP_TEST";
        let start = |mark: &str| {
            Command::new("sleep")
                .arg("600")
                .env(variable, mark)
                .spawn()
                .unwrap()
        };
        let mut orphan = start(&recycled());
        let mut child = start(&owner_mark().unwrap());
        // A process shows its environment a moment after it has been started.
        let prefix = format!("{variable}=");
        while mark_of(orphan.id(), &prefix).is_none() || mark_of(child.id(), &prefix).is_none() {
            std::thread::yield_now();
        }
        assert_eq!(sweep_orphans(variable), 1);
        assert!(!orphan.wait().unwrap().success());
        assert!(
            child.try_wait().unwrap().is_none(),
            "the living owner's child was killed"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
