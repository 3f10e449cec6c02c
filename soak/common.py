"""What the parts of a campaign share: where things are, how a command fares, what must not stay behind."""

import copy
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ISOBATH = Path(os.environ.get("ISOBATH", Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "isobath"))

# docs/output.md, "Exit status".
CONTRACT = {0, 1, 2, 3, 4, 5, 130}
# An error is one line; a few more may be warnings. Progress is switched off.
MOST_LINES = 6
# Whatever should end has ended by then.
PATIENCE = 120


@dataclass
class Row:
    """One line of the table."""

    part: str
    what: str
    times: int = 0
    failures: list = field(default_factory=list)
    figures: str = ""

    def expect(self, is_right, said):
        if not is_right:
            self.failures.append(said)
        return is_right


class Campaign:
    """A campaign's folders, its end, and its line of progress."""

    def __init__(self, out, is_quiet=False):
        self.out = Path(out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.work = Path(tempfile.mkdtemp(prefix="isobath-soak-"))
        # Temporary files of whatever is started go here, so that what stays behind is seen.
        self.temporary = self.work / "tmp"
        self.temporary.mkdir()
        self.is_quiet = is_quiet
        self.clock_step = None
        # Every process that descends from the campaign has this in its environment.
        self.mark = str(os.getpid())
        self.rows = []

    def beside(self, name):
        """The same campaign for what goes on beside its parts, and is none of what they leave behind."""
        other = copy.copy(self)
        other.mark = f"{self.mark}-{name}"
        other.temporary = self.work / f"tmp-{name}"
        other.temporary.mkdir()
        return other

    def folder(self, prefix="run-"):
        return Path(tempfile.mkdtemp(prefix=prefix, dir=self.work))

    def progress(self, text):
        if not self.is_quiet:
            print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)

    def keep(self, name, text):
        """Writes what a failure is to be understood by; returns its name."""
        path = self.out / "failures" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path.relative_to(self.out)

    def environment(self):
        kept = {name: text for name, text in os.environ.items() if not name.startswith("ISOBATH_")}
        return {**kept, "ISOBATH_SOAK": self.mark, "TMPDIR": str(self.temporary), "RUST_BACKTRACE": "0", "XDG_STATE_HOME": str(self.work / "state")}

    def start(self, arguments, folder, **more):
        """Starts the program, its output in files; `ISOBATH` in an argument is the program, too."""
        arguments = [str(word).replace("ISOBATH", str(ISOBATH)) for word in arguments]
        return Running(self, [ISOBATH, *arguments], folder, **more)

    def run(self, arguments, folder, **more):
        return self.start(arguments, folder, **more).finish()


@dataclass
class Ran:
    """How a command fared."""

    command: str
    code: int
    stdout: str
    stderr: str

    def complaint(self, most_lines=MOST_LINES):
        """What is wrong with how it ended; None if that is one of the ways that are documented."""
        if self.code not in CONTRACT:
            return f"{self.command}: ended with {self.code}: {self.tail()}"
        if "panicked" in self.stderr or "RUST_BACKTRACE" in self.stderr:
            return f"{self.command}: panic: {self.tail()}"
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        if len(lines) > most_lines:
            return f"{self.command}: {len(lines)} lines on stderr: {self.tail()}"
        # A run that was cut short says so in its scorecard, or in its JSON.
        if self.code in (2, 3) and not lines and not self.stdout.strip():
            return f"{self.command}: ended with {self.code} and said nothing"
        return None

    def tail(self):
        return " | ".join(self.stderr.strip().splitlines()[-3:])[-300:]


class Running:
    """A command at work."""

    def __init__(self, campaign, command, folder, before=(), **more):
        self.command = [str(word) for word in [*before, *command]]
        self.stdout, self.stderr = (tempfile.TemporaryFile() for _ in range(2))
        self.process = subprocess.Popen(self.command, cwd=folder, env=campaign.environment(), stdin=subprocess.DEVNULL, stdout=self.stdout,
                                        stderr=self.stderr, start_new_session=True, **more)
        self.id = self.process.pid

    def said(self, stream="stdout"):
        file = getattr(self, stream)
        file.seek(0)
        return file.read().decode(errors="replace")

    def is_over(self):
        return self.process.poll() is not None

    def signal(self, number):
        if not self.is_over():
            self.process.send_signal(number)

    def interrupt(self):
        """Ctrl-C in a terminal of its own."""
        if not self.is_over():
            os.killpg(self.id, signal.SIGINT)

    def finish(self, patience=PATIENCE):
        """Waits for its end. One that does not come is a failure like any other: -9 is in no contract."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        words = [word.removeprefix(str(ISOBATH)) or "isobath" for word in self.command]
        return Ran(" ".join(words)[:120], self.process.returncode, self.said("stdout"), self.said("stderr"))

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()


def eventually(done, patience=PATIENCE, pause=0.02):
    """Whether something comes true in time."""
    deadline = time.monotonic() + patience
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def records(folder):
    """Every record in a folder, nested ones included."""
    return sorted(path.parent for path in Path(folder).rglob("run.json"))


def read_back(campaign, row, folder, record):
    """`show`, `report` and `export` read a record."""
    for arguments in (["show", record, "--json"], ["show", record], ["report", record], ["export", "--csv", record]):
        ran = campaign.run(arguments, folder)
        if not row.expect(ran.code == 0 and ran.complaint() is None, f"{ran.command}: {ran.code}: {ran.tail()}"):
            return False
    return True
