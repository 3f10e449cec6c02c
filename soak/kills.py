"""Kills every verb that leaves a record at a random moment, and reads what is left."""

import random
import shutil
import time

from common import Row, eventually, read_back, records
from leftovers import SWEPT, Belongings, names
from verbs import VERBS, place

PART = "kills"
# At most so long after the record has begun.
LONGEST = 4.0
# At full length.
MOST = 1_000


def kill_once(campaign, row, verb, draw):
    folder = place(campaign)
    belongings = Belongings(campaign)
    running = campaign.start([*verb.long, "-q", "-o", "out"], folder)
    # One in ten is killed before it has said anything.
    is_early = draw.random() < 0.1
    if is_early:
        time.sleep(draw.uniform(0, 0.3))
    else:
        begun = eventually(lambda: records(folder / "out") or running.is_over(), 60)
        row.expect(begun, f"{verb.name}: no record after a minute")
        time.sleep(draw.uniform(0, LONGEST))
    if running.is_over() and not is_early:
        # Shorter than it was let live: what it left must be whole.
        ran = running.finish()
        row.expect(ran.complaint() is None, ran.complaint())
    running.kill()
    belongings.check(row, f"kill -9 of {verb.name}")
    found = records(folder / "out")
    for record in found:
        if not read_back(campaign, row, folder, record.relative_to(folder)):
            kept = campaign.out / "failures" / f"{PART}-{folder.name}"
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            break
    shutil.rmtree(folder, ignore_errors=True)
    return len(found)


def sweep(campaign, row):
    """What a killed trial may leave until the next one is gone after that."""
    folder = place(campaign)
    trial = next(verb for verb in VERBS if verb.name == row.what)
    ran = campaign.run([*trial.short, "-q", "-o", "out"], folder)
    row.expect(ran.complaint() is None, ran.complaint())
    left = [name for name in names(campaign.temporary) if name.startswith(SWEPT)]
    row.expect(not left, f"not swept: {', '.join(left)}")


def run(campaign, seconds):
    seed = random.SystemRandom().getrandbits(32)
    draw = random.Random(seed)
    rows = {verb.name: Row(PART, verb.name) for verb in VERBS}
    read = dict.fromkeys(rows, 0)
    campaign.rows += rows.values()
    deadline = time.monotonic() + seconds
    for number in range(MOST):
        if time.monotonic() > deadline and number >= len(VERBS):
            break
        verb = VERBS[number % len(VERBS)]
        row = rows[verb.name]
        read[verb.name] += kill_once(campaign, row, verb, draw)
        row.times += 1
        row.figures = f"{read[verb.name]} records read, seed {seed}"
        if number % len(VERBS) == 0:
            campaign.progress(f"kills: {number + 1}, failures {sum(len(row.failures) for row in rows.values())}")
    sweep(campaign, rows["manager trial"])
