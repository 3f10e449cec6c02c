//! Signals and child processes on systems that are not Linux. Nothing is left behind there: there are no labs.

use crate::Error;
use crate::netns::Netns;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Whether a few hundred octets can be written without waiting: it is not told, and said to be so.
pub const fn can_write<T>(_to: &T) -> bool {
    true
}

/// This program.
pub fn this_program() -> PathBuf {
    // Where the system does not say, its name may be found on the PATH.
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("isobath"))
}

/// Keeps the terminal's Ctrl-C from `command`: it is for this process to act on.
pub fn set_apart(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    {
        // CREATE_NEW_PROCESS_GROUP
        const GROUP: u32 = 0x200;
        std::os::windows::process::CommandExt::creation_flags(command, GROUP);
    }
}

/// The number of the signal that ended a process, where the system has signals.
pub fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// Starts `command` inside `ns`, of which there is none.
///
/// # Errors
/// None: it is never called.
pub fn spawn_in(ns: &Netns, command: Command, _hosts: Option<&str>) -> Result<Child, Error> {
    drop(command);
    ns.enter()
        .and(Err(Error::only_linux("an emulated network")))
}

/// Starts `command` so that it ends with whoever started it, which is not to be had.
///
/// # Errors
/// Always.
pub fn spawn_tied(command: Command) -> Result<Child, Error> {
    drop(command);
    Err(Error::only_linux("a program that ends with this one"))
}

/// Starts `command`, which has as much as it wants: its limits are not to be had here.
///
/// # Errors
/// When there is no such program.
pub fn spawn_confined(mut command: Command, _memory: u64, _file: u64) -> Result<Child, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.spawn().map_err(|e| Error::io("start", program, e))
}

/// Asks `child` to end.
pub fn terminate(child: &mut Child) {
    // One that has ended is left alone.
    let _ = child.kill();
}

/// Does what Ctrl-C does.
pub fn interrupt_self() {
    // A process may always signal itself.
    let _ = signal_hook::low_level::raise(SIGINT);
}

/// A flag that the first interrupt (Ctrl-C) or termination signal raises; a second one ends the process at once.
///
/// # Errors
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

/// A flag that a termination signal raises. Interrupts from the terminal are left to the children.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn termination_flag() -> Result<Arc<AtomicBool>, Error> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::default())
        .and_then(|_| signal_hook::flag::register(SIGTERM, Arc::clone(&flag)))
        .map_err(|e| Error::io("handle", "termination", e))?;
    Ok(flag)
}

/// Huge pages: the system decides.
pub const fn prepare_for_much_memory() {}

/// Gives memory that was freed back to the system: these C libraries keep no such amounts.
pub const fn return_freed_memory() {}

/// Gives the calling thread a table of descriptors of its own.
///
/// # Errors
/// Always.
pub fn own_descriptors() -> Result<(), Error> {
    Err(Error::only_linux("a thread's own descriptors"))
}

/// Allows this process so many open files, where that is asked for: it is taken to have them.
pub const fn raise_file_limit(files: u64) -> u64 {
    files
}

/// Names this process for its descendants.
///
/// # Errors
/// None.
pub fn owner_mark() -> Result<String, Error> {
    Ok(std::process::id().to_string())
}

/// Kills what dead processes left: there is nothing.
pub const fn sweep_orphans(_variable: &str) -> usize {
    0
}

/// Kills what this process left: there is nothing.
pub const fn sweep_own(_variable: &str, _own: &str) -> usize {
    0
}
