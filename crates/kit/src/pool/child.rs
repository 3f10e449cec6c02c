//! One run in a process of its own.

use std::io::{self, Read};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use sys::{clock, process};
use units::Instant;

/// Names the batch that a run belongs to, in the run's environment: what a killed batch left running is known by it.
pub const OWNER: &str = "ISOBATH_BATCH";
/// Names, in this program's environment, one that makes measurements in virtual time in its place: it takes the same arguments, leaves
/// the same record, and may do so on another machine.
pub const SIMULATES: &str = "ISOBATH_SIM_PROGRAM";
/// How often a run is looked after.
const LOOK: Duration = Duration::from_millis(50);
/// How long an interrupted run may take to close its record.
pub const ENDING: Duration = Duration::from_secs(60);
/// Most of what a run complains about that is kept, in octets.
const MOST_STDERR: u64 = 4_096;

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; none after death by a signal.
    pub exit_status: Option<i32>,
    /// What it said last on stderr, or by which signal it died.
    pub said: Option<String>,
    /// How long it took.
    pub took: Duration,
}

/// `isobath` with these arguments, no input and no output; `variables` are taken from its environment. What goes on in virtual time may be
/// another program's ([`SIMULATES`]).
pub fn command<'a>(arguments: &[String], variables: impl IntoIterator<Item = &'a str>) -> Command {
    let is_virtual = arguments.first().is_some_and(|verb| verb == "sim");
    let other = std::env::var_os(SIMULATES).filter(|_| is_virtual);
    let mut command = Command::new(other.map_or_else(process::this_program, Into::into));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .env_remove("ISOBATH_KEY");
    // The run gets one signal, not two.
    process::set_apart(&mut command);
    for variable in variables {
        command.env_remove(variable);
    }
    command
}

/// Runs `command` to its end. When `interrupt` is raised it is asked to end in order, and given time to. Tells `watch` how
/// long it runs.
///
/// # Errors
///
/// When it cannot be started.
pub fn run(
    mut command: Command,
    interrupt: &AtomicBool,
    watch: &dyn Fn(Duration),
) -> io::Result<Ended> {
    let child = command.spawn()?;
    follow(child, interrupt, ENDING, watch)
}

/// The same for one that has just been started, and that may take so long for `ending` after an interrupt.
///
/// # Errors
///
/// When the system does not say how it ended.
pub fn follow(
    mut child: Child,
    interrupt: &AtomicBool,
    ending: Duration,
    watch: &dyn Fn(Duration),
) -> io::Result<Ended> {
    let started = clock::now();
    let stderr = child.stderr.take();
    let complaints = thread::spawn(move || stderr.map(complaints).unwrap_or_default());
    let status = wait(&mut child, interrupt, ending, &|now| {
        watch(now.since(started));
    })?;
    let said = complaints.join().unwrap_or_default();
    let said = said.lines().rfind(|line| !line.trim().is_empty());
    Ok(Ended {
        exit_status: status.code(),
        said: said.map(str::to_owned).or_else(|| death(status)),
        took: clock::now().since(started),
    })
}

fn wait(
    child: &mut Child,
    interrupt: &AtomicBool,
    ending: Duration,
    watch: &dyn Fn(Instant),
) -> io::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let now = clock::now();
        match asked {
            None if interrupt.load(Ordering::Relaxed) => {
                process::terminate(child);
                asked = Some(now);
            }
            Some(asked) if now > asked + ending => child.kill()?,
            _ => {}
        }
        watch(now);
        clock::sleep_until(now + LOOK);
    }
}

/// The beginning of what comes, read to its end so that the writer never waits.
fn complaints(mut stderr: ChildStderr) -> String {
    let mut kept = Vec::new();
    // A read that fails ends the text.
    let _ = stderr.by_ref().take(MOST_STDERR).read_to_end(&mut kept);
    let _ = io::copy(&mut stderr, &mut io::sink());
    let text = String::from_utf8_lossy(&kept);
    text.chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect()
}

fn death(status: ExitStatus) -> Option<String> {
    let signal = process::signal(status)?;
    Some(format!("the run was killed by signal {signal}"))
}
