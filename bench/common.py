"""What the benches share: where things are, how busy the machine is, medians."""

import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release"
ISOBATH = TARGET / "isobath"
PACER = TARGET / "examples" / "pacer"
RATTAN = HERE / ".peers" / "bin" / "rattan"
FLENT = HERE / ".peers" / "flent" / "bin" / "flent"
REPEATS = int(os.environ.get("REPEATS", "5"))

# A turn does not begin on a machine busier than this (percent), unless it stays so for QUIET_WAIT seconds.
QUIET = 15
QUIET_WAIT = 20


def busy(seconds):
    """Percentage of the processors' time that was not idle over some seconds."""

    def read():
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]

    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return 100 * (1 - (idle_after - idle) / max(1, total_after - total))


def quiet():
    """Waits for a quiet machine; returns how busy it is."""
    deadline = time.monotonic() + QUIET_WAIT
    while (now := busy(1)) > QUIET and time.monotonic() < deadline:
        pass
    return now


def has(tool):
    """Whether a program is there, by path or by name."""
    return shutil.which(str(tool)) is not None


def output(command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def last_json(text):
    """The JSON object that ends a text."""
    return json.loads(text[text.index("{"):])


def children_cpu():
    """User and system seconds of all children that have ended and been waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median(values):
    return statistics.median(values) if values else float("nan")


def title(text):
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"\n{text}\n{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, {os.cpu_count()} x {model}, "
          f"Linux {platform.release()}, {REPEATS} turns each\n", flush=True)
