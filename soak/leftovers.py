"""What a run may leave behind on this machine, and must not."""

import os
import signal
from pathlib import Path

from common import eventually

# Temporary folders that stay when their owner is killed, until the next one of its kind sweeps them: managers' sockets, browsers' profiles.
SWEPT = ("isobath-managers-", "isobath-chromium-")
# The kernel tears networks down in the background.
SETTLE = 20


def processes(mark):
    """Processes with this mark of a campaign, by id."""
    mark = f"ISOBATH_SOAK={mark}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "comm").read_text().strip()
        except OSError:
            continue
    return found


def words(id):
    """A process's command line; nothing if it has ended."""
    try:
        return Path(f"/proc/{id}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []


def sweep(campaign):
    """Ends what a campaign that was cut short has started."""
    for id in processes(campaign.mark):
        try:
            os.kill(id, signal.SIGKILL)
        except ProcessLookupError:
            pass


def names(folder):
    try:
        return set(os.listdir(folder))
    except FileNotFoundError:
        return set()


def mounts():
    """Mount points of ours."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return {line.split()[1] for line in lines if "isobath" in line}


def control_groups():
    found = set()
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpu"):
        for folder, inner, _ in os.walk(root):
            found |= {os.path.join(folder, name) for name in inner if name.startswith("isobath-")}
    return found


class Belongings:
    """What there was before: interfaces, named namespaces, mounts, control groups, temporary files, processes."""

    def __init__(self, campaign):
        self.temporary = campaign.temporary
        self.mark = campaign.mark
        self.before = self.now()

    def now(self):
        return {
            "interface": names("/sys/class/net"),
            "namespace": names("/run/netns"),
            "mount": mounts(),
            "control group": control_groups(),
            "temporary file": {name for name in names(self.temporary) if not name.startswith(SWEPT)},
            "process": {f"{id} {name}" for id, name in processes(self.mark).items()},
        }

    def left(self):
        """What is there now and was not before."""
        now = self.now()
        return [f"{kind} {name}" for kind, there in now.items() for name in sorted(there - self.before[kind])]

    def check(self, row, after):
        if not eventually(lambda: not self.left(), SETTLE, 0.1):
            row.failures.append(f"after {after}: left behind {', '.join(self.left())[:300]}")
            self.before = self.now()
