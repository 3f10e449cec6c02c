"""The program `isobath`, and how it is run."""

import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import IsobathError, UsageError
from .progress import Progress

USAGE, INTERRUPTED = 2, 130
"""Exit statuses: the command line asks for what cannot be; the user interrupted."""


def find() -> Path:
    """The program: what the environment variable ISOBATH_PROGRAM names, the one in this package's wheel, or one on PATH.

    Raises:
        IsobathError: there is none.
    """
    if named := os.environ.get("ISOBATH_PROGRAM"):
        return Path(named)
    scripts = [Path(sysconfig.get_path("scripts")), Path(__file__).resolve().parent.parent / "bin"]
    for folder in scripts:
        if (folder / "isobath").is_file():
            return folder / "isobath"
    if on_path := shutil.which("isobath"):
        return Path(on_path)
    raise IsobathError("the program isobath is not there - install the wheel, or set ISOBATH_PROGRAM to its file")


@dataclass(frozen=True)
class Ended:
    """How the program ended: its exit status, what it printed, and its last line on stderr."""

    status: int
    output: str
    line: str


def carry_out(
    arguments: list[str],
    *,
    title: str = "",
    expected_s: float | None = None,
    quiet: bool = True,
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
) -> Ended:
    """Runs the program and waits for its end, with progress unless `quiet`.

    An interrupt (Ctrl-C, or the notebook's stop button) goes on to the program, which ends what it measures and keeps the record;
    a second one kills it. It works in `folder`, or where Python does.
    """
    process = subprocess.Popen(
        [str(find()), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, **(environment or {})},
        cwd=folder,
        # A group of its own: the terminal's interrupt comes to Python alone, which hands it on once.
        process_group=0,
    )
    try:
        output, errors = _communicate(process, Progress(title, expected_s, quiet))
    except BaseException:
        process.kill()
        process.wait()
        raise
    return Ended(process.returncode, output, _line(errors))


def _communicate(process: "subprocess.Popen[str]", progress: Progress) -> tuple[str, str]:
    handed_on = False
    with progress:
        while True:
            try:
                return process.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:
                progress.draw()
            except KeyboardInterrupt:
                if handed_on:
                    raise
                handed_on = True
                process.send_signal(signal.SIGINT)


def _line(errors: str) -> str:
    """The last line, without the verb before it."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    line = lines[-1] if lines else ""
    for prefix in ("error", line.split(": ", 1)[0]):
        if prefix.isalpha() and line.startswith(f"{prefix}: "):
            line = line.removeprefix(f"{prefix}: ")
    return line.removesuffix(" (see --help)")


def program(*arguments: str) -> str:
    """Runs `isobath` with these arguments and returns what it prints: `program("lab", "list")`.

    Raises:
        UsageError, IsobathError: the program refused or failed; the message is its line.
        KeyboardInterrupt: the user interrupted.
    """
    ended = carry_out([str(argument) for argument in arguments])
    if ended.status == USAGE:
        raise UsageError(ended.line)
    if ended.status == INTERRUPTED:
        raise KeyboardInterrupt(ended.line)
    if ended.status == 3 or ended.status < 0:
        raise IsobathError(ended.line or f"the program ended with status {ended.status}")
    return ended.output
