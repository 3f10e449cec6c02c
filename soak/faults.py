"""What goes wrong around a run: disks, folders, stopped and killed ends, cut paths, limits, clocks. Each fault meets every verb."""

import os
import random
import shutil
import signal
import time

import clock
from common import Row, eventually, read_back, records
from leftovers import Belongings, words, processes
from verbs import LAB, VERBS, place

PART = "faults"
MOUNTS = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
# How long an end is stopped, seconds.
STOPPED = 3
# What the program is called in /proc, and what it calls itself when it starts itself.
OURS = ("isobath", "exe")
# All hosts of a trial or a replay are in one process; between the cells of a batch there is no far end.
ALONE = ("manager trial", "replay", "batch", "experiment")


def in_mounts(script):
    """A command's prefix: runs it after a script, in a mount namespace; the copy of `out` outlives that."""
    script = f'{script}; "$@"; code=$?; cp -r disk/out kept 2>/dev/null; exit $code'
    return [*MOUNTS, "sh", "-c", script, "sh"]


def with_lab(command, lab):
    return [lab if word == LAB[1] else word for word in command]


def full_disk(campaign, row, verb, folder):
    (folder / "disk").mkdir()
    size = random.choice((20, 60, 100, 200))
    before = in_mounts(f"mount -t tmpfs -o size={size}k none disk || exit 99")
    ran = campaign.run([*verb.long, "-q", "-o", "disk/out"], folder, before=before)
    row.expect(ran.code != 0, f"{ran.command}: 0 with {size} kB of disk")
    return ran, folder / "kept"


def read_only_folder(campaign, row, verb, folder):
    (folder / "disk").mkdir()
    before = in_mounts("mount -t tmpfs -o ro none disk || exit 99")
    ran = campaign.run([*verb.short, "-q", "-o", "disk/out"], folder, before=before)
    row.expect(ran.code in (2, 3), f"{ran.command}: {ran.code} in a folder that cannot be written")
    return ran, folder / "kept"


def occupied_folder(campaign, row, verb, folder):
    (folder / "out").mkdir()
    (folder / "out" / "mine").write_text("keep me")
    ran = campaign.run([*verb.short, "-q", "-o", "out"], folder)
    row.expect(ran.code in (2, 3) and os.listdir(folder / "out") == ["mine"], f"{ran.command}: {ran.code}: somebody's folder: {ran.tail()}")
    return ran, folder / "nothing"


def under_way(campaign, row, verb, folder, command):
    running = campaign.start([*command, "-q", "-o", "out"], folder)
    begun = eventually(lambda: records(folder / "out") or running.is_over(), 60)
    row.expect(begun, f"{verb.name}: no record after a minute")
    time.sleep(random.uniform(0.2, 1.5))
    return running


def far_ends(campaign, row, verb, running):
    """The processes of a run that are not its first: the far ends of its lab, the cells of a batch."""
    ends = []

    def found():
        others = {id: name for id, name in processes(campaign.mark).items() if id != running.id}
        ends[:] = [id for id, name in others.items() if name in OURS and verb.far_end in ("", *words(id)[1:2])]
        return ends or verb.name in ALONE or running.is_over()

    row.expect(eventually(found, 20), f"{verb.name}: no far end was found")
    return ends


def pause(ids):
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for id in ids:
            try:
                os.kill(id, number)
            except ProcessLookupError:
                pass
        time.sleep(STOPPED if number == signal.SIGSTOP else 0)


def near_end_stopped(campaign, row, verb, folder):
    running = under_way(campaign, row, verb, folder, verb.short)
    pause([running.id])
    return running.finish(), folder / "out"


def far_end_stopped(campaign, row, verb, folder):
    running = under_way(campaign, row, verb, folder, verb.short)
    pause(far_ends(campaign, row, verb, running))
    return running.finish(), folder / "out"


def far_end_killed(campaign, row, verb, folder):
    running = under_way(campaign, row, verb, folder, verb.long)
    for id in far_ends(campaign, row, verb, running):
        try:
            os.kill(id, signal.SIGKILL)
        except ProcessLookupError:
            pass
    time.sleep(1)
    # What has no far end, or goes on with the next cell, is ended in order.
    if verb.name in ALONE:
        running.signal(signal.SIGINT)
    return running.finish(), folder / "out"


def path_cut(campaign, row, verb, folder):
    running = under_way(campaign, row, verb, folder, with_lab(verb.short, "cut.toml"))
    return running.finish(), folder / "out"


def interrupted(campaign, row, verb, folder):
    running = under_way(campaign, row, verb, folder, verb.long)
    # A terminal interrupts all that runs in it; who ends a process ends that one.
    if random.random() < 0.5:
        running.interrupt()
    else:
        running.signal(signal.SIGTERM)
    return running.finish(), folder / "out"


def few_descriptors(campaign, row, verb, folder):
    most = random.choice((6, 10, 14, 20, 30, 48))
    ran = campaign.run([*verb.short, "-q", "-o", "out"], folder, before=["prlimit", f"--nofile={most}:{most}"])
    return ran, folder / "out"


def little_memory(campaign, row, verb, folder):
    most = random.choice((80, 120, 200, 300, 500)) << 20
    ran = campaign.run([*verb.short, "-q", "-o", "out"], folder, before=["prlimit", f"--as={most}:{most}"])
    if ran.code in (-signal.SIGABRT, 134) and "memory allocation of" in ran.stderr:
        # Rust's allocator ends the process, with one line; the record must be readable all the same.
        ran.code = 3
    return ran, folder / "out"


FAULTS = (
    ("disk full (20 to 200 kB)", full_disk),
    ("folder read-only", read_only_folder),
    ("folder occupied", occupied_folder),
    (f"near end stopped for {STOPPED} s", near_end_stopped),
    (f"far end stopped for {STOPPED} s", far_end_stopped),
    ("far end killed", far_end_killed),
    ("path cut for 3 s in 6", path_cut),
    ("interrupted (INT, TERM)", interrupted),
    ("6 to 48 descriptors", few_descriptors),
    ("80 to 500 MB of address space", little_memory),
)


def try_once(campaign, row, fault, verb):
    folder = place(campaign)
    belongings = Belongings(campaign)
    ran, out = fault(campaign, row, verb, folder)
    row.times += 1
    complaint = ran.complaint()
    row.expect(complaint is None, f"{verb.name}: {complaint}")
    row.expect(ran.code != 99, f"{verb.name}: no mount namespace: {ran.tail()}")
    belongings.check(row, f"{verb.name}: {row.what}")
    for record in records(out):
        if not read_back(campaign, row, folder, record.relative_to(folder)):
            shutil.copytree(folder, campaign.out / "failures" / f"{PART}-{folder.name}", dirs_exist_ok=True)
            break
    shutil.rmtree(folder, ignore_errors=True)
    return ran.code


def run(campaign, seconds):
    """Every fault meets every verb, in an order of chance, and again until the time is over: 100 of them take some 25 minutes."""
    faults = {name: (Row(PART, name), fault, {}) for name, fault in FAULTS}
    campaign.rows += [row for row, _, _ in faults.values()]
    deadline = time.monotonic() + seconds
    waiting, done = [], 0
    while time.monotonic() < deadline:
        if not waiting:
            waiting = [(what, verb) for what in faults for verb in VERBS]
            random.shuffle(waiting)
        what, verb = waiting.pop()
        row, fault, codes = faults[what]
        code = try_once(campaign, row, fault, verb)
        codes[code] = codes.get(code, 0) + 1
        row.figures = "exit " + ", ".join(f"{code}: {times}" for code, times in sorted(codes.items()))
        done += 1
        if done % len(VERBS) == 0:
            campaign.progress(f"faults: {done}, failures {sum(len(row.failures) for row, _, _ in faults.values())}")
    clock.run(campaign)
