"""Steps of the wall clock during a run.

A namespace cannot have a wall clock of its own, and `faketime` reaches only what asks the C library; Isobath asks the kernel (vDSO).
So the machine's own clock is stepped: only where that is asked for (`--step-clock`, root, a machine that nobody else uses).
"""

import time

from common import Row, read_back, records
from leftovers import Belongings
from verbs import VERBS, place

PART = "faults"


def step(seconds):
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds)


def try_once(campaign, row, verb):
    """Steps the clock forward and back again while the verb measures."""
    folder = place(campaign)
    belongings = Belongings(campaign)
    running = campaign.start([*verb.short, "-q", "-o", "out"], folder)
    for seconds in (campaign.clock_step, -campaign.clock_step):
        time.sleep(1.5)
        step(seconds)
    ran = running.finish()
    row.times += 1
    complaint = ran.complaint()
    row.expect(complaint is None, f"{verb.name}: {complaint}")
    belongings.check(row, f"{verb.name}: {row.what}")
    for record in records(folder / "out"):
        read_back(campaign, row, folder, record.relative_to(folder))


def run(campaign):
    row = Row(PART, "wall clock forward and back")
    campaign.rows.append(row)
    if not campaign.clock_step:
        row.figures = "not tried: needs --step-clock"
        return
    row.figures = f"by {campaign.clock_step} s"
    for verb in VERBS:
        try_once(campaign, row, verb)
