//! The browser's process and its throwaway profile.
//!
//! Chromium ends when the pipe through which it is controlled closes, and the kernel closes ours
//! however we end, so it does not outlive this program after `kill -9` either. One that hangs at that
//! moment is found by its mark (`ISOBATH_BROWSER` in its environment) and killed at the next start; its
//! profile goes then, too.

use super::{Chromium, Error};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;
use sys::clock;
use sys::scratch::Scratch;

/// The variable that says whose browser a process is.
const OWNER: &str = "ISOBATH_BROWSER";
/// How profiles are named.
const PREFIX: &str = "isobath-chromium-";
/// Runs a program with its control pipe where Chromium looks for it, descriptors 3 and 4. The debugging
/// pipe is a pair of fixed numbers, which safe Rust cannot set between fork and exec.
const SCRIPT: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;
/// Settings that have no switch: connections through one proxy, here at least as many as Chromium
/// makes without one. By itself it makes fewer (version 156: 234 of 300 wanted; older ones: 32), and a page on many hosts would wait for that limit, not for the path.
const LOCAL_STATE: &str = r#"{"net":{"max_connections_per_proxy":256}}"#;
/// No guessing of connections that a page may need (2 is "never"): a guessed one has no phases.
const PREFERENCES: &str = r#"{"net":{"network_prediction_options":2}}"#;
/// How long a browser may take to end once its pipe is closed; usually 0.1 s.
const GRACE: Duration = Duration::from_secs(3);
/// Between two looks at something awaited.
const LOOK: Duration = Duration::from_millis(5);
/// How much of its complaints is looked at.
const COMPLAINTS: u64 = 4096;

/// A running browser.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    complaints: File,
    _profile: Scratch,
}

/// Its control pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    /// What it is told.
    pub(super) input: ChildStdin,
    /// What it says.
    pub(super) output: ChildStdout,
}

impl Process {
    /// Starts it with a new profile.
    pub(super) fn start(chromium: &Chromium, more: &[String]) -> Result<(Self, Pipe), Error> {
        sys::process::sweep_orphans(OWNER);
        let profile = new_profile().map_err(Error::start("make a profile"))?;
        let complaints = tempfile::tempfile().map_err(Error::start("make a file"))?;
        let stderr = complaints.try_clone();
        let stderr = stderr.map_err(Error::start("make a file"))?;
        let mut command = command(chromium, profile.path(), more);
        let mut child = command
            .stderr(stderr)
            .spawn()
            .map_err(Error::start("run /bin/sh"))?;
        let pipe = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipe.ok_or_else(|| Error::Ended("no pipe".to_owned()))?;
        let process = Self {
            child,
            complaints,
            _profile: profile,
        };
        Ok((process, Pipe { input, output }))
    }

    /// The id of its main process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended and what it complained of last, in one line. Waits a little for the end.
    pub(super) fn last_words(&mut self) -> String {
        let end = match self.wait(Duration::from_millis(500)) {
            Some(status) => status_in_words(status),
            None => "it closed its control pipe".to_owned(),
        };
        // Who was killed had nothing to complain of.
        let has_said_why = !end.ends_with("signal 9");
        match last_line(&mut self.complaints).filter(|_| has_said_why) {
            Some(line) => format!("{end}: {line}"),
            None => end,
        }
    }

    fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = clock::now() + patience;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if clock::now() >= deadline {
                return None;
            }
            clock::sleep_until(clock::now() + LOOK);
        }
    }
}

impl Drop for Process {
    /// The pipe has been closed by now, so it is ending.
    fn drop(&mut self) {
        if self.wait(GRACE).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn command(chromium: &Chromium, profile: &Path, more: &[String]) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT])
        .arg(chromium.program())
        .args(Chromium::arguments(profile, more))
        .env(OWNER, sys::process::owner_mark().unwrap_or_default())
        // It shall neither read nor leave anything in the user's own folders.
        .env("HOME", profile)
        .env("XDG_CONFIG_HOME", profile)
        .env("XDG_CACHE_HOME", profile)
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("DISPLAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // We end it in order.
    sys::process::set_apart(&mut command);
    command
}

fn new_profile() -> std::io::Result<Scratch> {
    let profile = Scratch::new(PREFIX)?;
    fs::write(profile.path().join("Local State"), LOCAL_STATE)?;
    fs::create_dir(profile.path().join("Default"))?;
    fs::write(profile.path().join("Default/Preferences"), PREFERENCES)?;
    Ok(profile)
}

fn status_in_words(status: ExitStatus) -> String {
    match (status.code(), sys::process::signal(status)) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// The last line of `file` that is about more than the missing desktop.
fn last_line(file: &mut File) -> Option<String> {
    let length = file.metadata().ok()?.len();
    let start = length.saturating_sub(COMPLAINTS);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut tail = Vec::new();
    file.take(COMPLAINTS).read_to_end(&mut tail).ok()?;
    let tail = String::from_utf8_lossy(&tail);
    let whole = match tail.split_once('\n') {
        Some((_, rest)) if start > 0 => rest,
        _ => &tail,
    };
    // Every Chromium without a desktop complains of D-Bus.
    let mut lines = whole.lines().map(str::trim);
    let line = lines.rfind(|line| !line.is_empty() && !line.contains("dbus/"))?;
    Some(line.chars().filter(|c| !c.is_control()).take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn the_last_complaint_is_one_line_and_not_about_the_desktop() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(last_line(&mut file), None);
        let text = "first\nCannot open\tdisplay\n[1:2:ERROR:dbus/bus.cc:405] no bus\n\n";
        file.write_all(text.as_bytes()).unwrap();
        assert_eq!(last_line(&mut file).unwrap(), "Cannot opendisplay");
    }
}
