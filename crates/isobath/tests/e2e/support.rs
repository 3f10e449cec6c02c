//! What the tests share: the program, patience, machines that can make networks, and records read back.

use record::Record;
use serde_json::Value;
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use sys::clock;
use sys::proc::CpuSample;

pub(crate) use rustix::process::Signal;
pub(crate) use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_isobath");
/// Whatever should happen has happened by then, on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// Time between two looks at something awaited.
const LOOK: Duration = Duration::from_millis(20);

/// From here on nothing can be said of a machine's measurements.
const TAKEN_PCT: f64 = 10.0;
/// Processors that are as busy as this while a test rests are so by something that does not end with the test's own attempt.
const OCCUPIED_PCT: f64 = 98.0;
/// Tests that were skipped or not decided, a line each.
const UNDECIDED: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/undecided.txt");
thread_local! {
    /// How the processors had spent their time when the test got its [`Machine`].
    static BEGAN: RefCell<CpuSample> = RefCell::default();
}

/// Attempts at what a busy machine spoils, with ever longer rests after the third: over more than a minute.
pub(crate) fn attempts() -> impl Iterator<Item = u64> {
    (1_u64..=9).inspect(|attempt| {
        let rest = Duration::from_secs(4 * attempt.saturating_sub(3));
        clock::sleep_until(clock::now() + rest);
    })
}

/// Whether an attempt that this machine was too busy for is the last: something keeps all processors busy while the test rests, so another
/// would end like it. Never where the test may not be skipped.
pub(crate) fn is_hopeless() -> bool {
    let began = CpuSample::now().unwrap();
    clock::sleep_until(clock::now() + Duration::from_secs(1));
    let used = CpuSample::now().unwrap().since(&began);
    used.busy_pct + used.steal_pct >= OCCUPIED_PCT && may_skip()
}

/// Skips a test that this machine was too busy for in all [`attempts`], unless it [`is_undecided`].
pub(crate) fn skip_as_busy() {
    if !is_undecided() {
        skip("this machine was too busy for it every time");
    }
}

/// Whether the hypervisor kept this machine waiting, and says so. What it gave to others no check can demand: such a test is not decided,
/// whatever may be skipped.
pub(crate) fn is_undecided() -> bool {
    let taken = taken_pct();
    if taken < TAKEN_PCT {
        return false;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!(
        "not decided: {test}: the hypervisor took {taken:.0} % of the processor time that this machine wanted"
    );
    tell(&line);
    true
}

/// What share of the processor time that was wanted since the test has its [`Machine`] was not given.
fn taken_pct() -> f64 {
    let used = BEGAN.with_borrow(|began| CpuSample::now().unwrap().since(began));
    100.0 * used.steal_pct / (used.busy_pct + used.steal_pct).max(f64::MIN_POSITIVE)
}

/// A link of 8 Mbit/s and 10 ms that costs a machine little to emulate: for tests in which the path does not matter.
pub(crate) const SMALL_LAB: &str = r#"
summary = "a small link"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "30kB" } }, { kind = "delay", delay = "5ms" }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "30kB" } }, { kind = "delay", delay = "5ms" }]
"#;

/// One stream each way and two probes, for `load` seconds.
pub(crate) fn short_plan(load: u32) -> String {
    format!(
        r#"
summary = "a short run"
idle_before = "1s"
duration = "{load}s"
settle = "500ms"
idle_after = "500ms"
[[load]]
direction = "both"
[[probe]]
kind = "udp_rr"
class = "EF"
[[probe]]
kind = "tcp_rr"
"#
    )
}

/// Runs `script` on the near host of the small lab in `place`, where `server` runs on the far one.
pub(crate) fn in_small_lab(place: &Path, server: &str, script: &str) -> Ran {
    let also = format!("far={server}");
    let command = [
        "lab",
        "run",
        "small.toml",
        "--also",
        &also,
        "--",
        "sh",
        "-c",
        script,
    ];
    run(place, &command)
}

/// A script that runs `command`, which leaves a record in `out`, again and again while its errors match `absent`: nobody listens yet.
pub(crate) fn once_there(command: &str, absent: &str) -> String {
    format!(
        "while :; do rm -rf out; {command} >told 2>err; status=$?; grep -qE '{absent}' err || break; sleep 0.1; done; cat told; \
         cat err >&2; exit $status"
    )
}

/// The program with `arguments`, to run in `folder`, in an environment without our variables.
pub(crate) fn isobath(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("ISOBATH_KEY")
        .env_remove(lab::OWNER);
    command
}

/// Runs the program with `arguments` in `folder` to its end.
#[track_caller]
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    Running::start(isobath(folder, arguments)).finish()
}

/// A folder for a test, with these files in it.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Names of what is in `folder`, in order.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// A program at work, its output in files, so that nobody has to read along.
pub(crate) struct Running {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Running {
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let (stdout, stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        command
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().unwrap())
            .stderr(stderr.try_clone().unwrap());
        Self {
            child: command
                .spawn()
                .unwrap_or_else(|e| panic!("{command:?}: {e}")),
            stdout,
            stderr,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stdout(&self) -> String {
        text(&self.stdout)
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    #[track_caller]
    pub(crate) fn signal(&self, signal: Signal) {
        signal_process(self.id(), signal);
    }

    /// Waits for the end, whatever it is.
    #[track_caller]
    pub(crate) fn wait(self) {
        self.finish();
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Ran {
        let deadline = clock::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if clock::now() > deadline {
                self.child.kill().unwrap();
                panic!(
                    "still running after {PATIENCE:?}\n{}\n{}",
                    text(&self.stdout),
                    text(&self.stderr)
                );
            }
            rest();
        };
        Ran {
            status,
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is left alone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All that has been written to `file`, wherever its writer stands.
fn text(file: &File) -> String {
    let mut bytes = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
    file.read_exact_at(&mut bytes, 0).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
pub(crate) fn signal_process(id: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until `happened`.
#[track_caller]
pub(crate) fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = clock::now() + PATIENCE;
    while !happened() {
        assert!(clock::now() < deadline, "never: {what}");
        rest();
    }
}

/// A short rest between two looks.
fn rest() {
    clock::sleep_until(clock::now() + LOOK);
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The exit status; none after death by a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// It ended with `code`.
    #[track_caller]
    pub(crate) fn ended(&self, code: i32) -> &Self {
        assert_eq!(self.code(), Some(code), "{self:#?}");
        self
    }

    /// It failed with `code` as promised: nothing on stdout, one line on stderr, which is returned.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32) -> &str {
        self.ended(code);
        assert_eq!(self.stdout, "", "{self:#?}");
        let mut lines = self.stderr.lines();
        let line = lines.next().unwrap_or_default();
        assert!(
            !line.is_empty() && lines.next().is_none(),
            "not one line: {self:#?}"
        );
        // Every cause is told once.
        let cause = line.split_once("(os error").map_or("", |(_, rest)| rest);
        assert!(!cause.contains("(os error"), "a cause twice: {line}");
        line
    }

    /// stdout as the one JSON object that `--json` promises.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {self:#?}"));
        assert!(value.is_object(), "{self:#?}");
        value
    }

    /// It measured to the end, with `--json`: status 0, or 4 if the machine was too busy, with the reason in the record.
    #[track_caller]
    pub(crate) fn measured(&self) -> Value {
        let run = self.json();
        let codes: Vec<_> = values(&run["warnings"])
            .map(|w| w["code"].as_str().unwrap())
            .collect();
        let excuses = ["cpu_saturated", "cpu_stolen", "emulator_late", "host_late"];
        match (self.code(), run["status"].as_str()) {
            (Some(0), Some("complete")) => {}
            (Some(4), Some("invalid")) if codes.iter().any(|code| excuses.contains(code)) => {
                say(&format!(
                    "note: this machine is busy, a run was invalid: {codes:?}"
                ));
            }
            _ => panic!("{self:#?}"),
        }
        run
    }
}

/// The elements of a JSON array.
#[track_caller]
pub(crate) fn values(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().unwrap().iter()
}

/// A number in a JSON object, by its pointer.
#[track_caller]
pub(crate) fn number(object: &Value, pointer: &str) -> f64 {
    let found = object.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number {pointer} in {object:#}"))
}

/// The rows of a table of the record in `folder`.
#[track_caller]
pub(crate) fn rows<T: record::Row>(folder: &Path) -> Vec<T> {
    Record::open(folder).unwrap().rows().unwrap()
}

/// A port that nobody listened on a moment ago.
pub(crate) fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

/// The right to use the machine for a test that makes networks.
///
/// Locks are on files, so they hold among threads and among processes. There are three seats: whoever needs a quiet machine has one of them, or
/// all, all others have all together.
pub(crate) struct Machine(#[expect(dead_code, reason = "held, not used")] Vec<File>);

impl Machine {
    /// Beside two like it at most: for tests that compare what they measure with something.
    pub(crate) fn quiet() -> Option<Self> {
        can_make_networks().then(|| {
            loop {
                let mut seats = Self::seats().into_iter();
                if let Some(seat) = seats.find(|seat| seat.try_lock().is_ok()) {
                    return Self::with(vec![seat]);
                }
                clock::sleep_until(clock::now() + LOOK);
            }
        })
    }

    /// Alone: for those of them that keep a processor busy themselves.
    pub(crate) fn alone() -> Option<Self> {
        can_make_networks().then(|| {
            let seats = Self::seats();
            // In this order, so that no two wait for each other.
            for seat in &seats {
                seat.lock().unwrap();
            }
            Self::with(seats.into())
        })
    }

    /// With others of the same kind: for tests that only look at what a program does.
    pub(crate) fn shared() -> Option<Self> {
        can_make_networks().then(Self::without_networks)
    }

    /// With others, for a test that makes no networks.
    pub(crate) fn without_networks() -> Self {
        let seats = Self::seats();
        for seat in &seats {
            seat.lock_shared().unwrap();
        }
        Self::with(seats.into())
    }

    fn with(seats: Vec<File>) -> Self {
        BEGAN.set(CpuSample::now().unwrap());
        Self(seats)
    }

    fn seats() -> [File; 3] {
        ["e2e.0.lock", "e2e.1.lock", "e2e.2.lock"].map(|name| {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            // It may be another user's; a lock needs no more than to read.
            File::open(&path).or_else(|_| File::create(&path)).unwrap()
        })
    }
}

/// Found out without the program under test, whose failure must not look like the machine's.
fn can_make_networks() -> bool {
    let mut tun = OpenOptions::new();
    if let Err(error) = tun.read(true).write(true).open("/dev/net/tun") {
        skip(&format!("/dev/net/tun: {error}"));
        return false;
    }
    let allowed = ["-n", "-Urn"]
        .iter()
        .any(|flags| succeeds("unshare", &[flags, "true"]));
    if !allowed {
        skip("neither root nor user namespaces");
    }
    allowed
}

/// Whether `program` is there and ends well.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs `script` with the program as `$0`, where it can mount what nobody else sees, until its last process has ended; status 99 says that it
/// could not. Nothing, and the test is skipped, where the system does not let it.
pub(crate) fn with_own_mounts(place: &Path, script: &str) -> Option<Ran> {
    let mut command = Command::new("unshare");
    command
        .args(["-Urm", "sh", "-c", script, PROGRAM])
        .current_dir(place);
    let ran = Running::start(command).finish();
    if ran.code() == Some(99) || ran.stderr.starts_with("unshare") {
        skip(ran.stderr.trim());
        return None;
    }
    Some(ran)
}

/// Says that this test is skipped, and why.
pub(crate) fn skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(may_skip(), "{test} was to be skipped: {reason}");
    tell(&format!("skipped: {test}: {reason}"));
}

/// Whether a test may be skipped; a check demands them all.
fn may_skip() -> bool {
    std::env::var_os("ISOBATH_TEST_NO_SKIP").is_none()
}

/// Says that a test came to no result, now and at the end of all.
fn tell(line: &str) {
    say(line);
    let mut list = OpenOptions::new();
    let list = list.append(true).create(true).open(UNDECIDED);
    writeln!(list.unwrap(), "{line}").unwrap();
}

/// Whether `program` is installed; says that the test is skipped if not.
pub(crate) fn has(program: &str) -> bool {
    let installed = succeeds("sh", &["-c", &format!("command -v {program}")]);
    if !installed {
        skip(&format!("{program} is not installed"));
    }
    installed
}

/// Says something to whoever runs the tests, also of a test that passes.
pub(crate) fn say(line: &str) {
    // The test harness keeps what the macros print.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Ids of the processes that `id` has started and that have not ended.
pub(crate) fn children(id: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap();
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|child| stat(*child).is_some_and(|(_, parent)| parent == id))
        .collect()
}

/// Whether process `id` runs; one that only waits to be buried does not.
pub(crate) fn is_alive(id: u32) -> bool {
    stat(id).is_some_and(|(state, _)| !"ZX".contains(state))
}

/// State and parent of a process.
fn stat(id: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
