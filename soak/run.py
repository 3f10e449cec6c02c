#!/usr/bin/env python3
"""A hardening campaign: everything that is to keep working, worn for a time, and one table of how it fared.

    soak/run.py                            an hour, all parts
    soak/run.py kills --minutes 5          one part alone
    soak/run.py --hours 8 --update-docs    and write the table into docs/reliability.md

Exit status: 0 nothing failed; 1 something did; 130 cut short by Ctrl-C (the table tells what there is).
"""

import argparse
import os
import shutil
import sys
import time
import traceback
from pathlib import Path

import clients
import common
import faults
import fuzz
import kills
import leftovers
import strangers
import table
from memory import Residents

# Parts, and their shares of the time.
PARTS = {"fuzz": (fuzz.run, 0.35), "kills": (kills.run, 0.25), "faults": (faults.run, 0.3), "strangers": (strangers.run, 0.06), "clients": (clients.run, 0.04)}
# Parts that leave the machine alone beside what they measure.
MEASURES = {"strangers", "clients"}


def options():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}, memory; all of them without")
    length = asked.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float, default=1, help="length of the whole [default: 1]")
    length.add_argument("--minutes", type=float, help="the same in minutes")
    asked.add_argument("--out", type=Path, default=Path("isobath-runs") / time.strftime("soak-%Y%m%d-%H%M%S"), help="folder for the table and what failed")
    asked.add_argument("--isobath", type=Path, help="the program [default: $ISOBATH, or target/release/isobath]")
    asked.add_argument("--step-clock", type=int, nargs="?", const=3600, metavar="SECONDS", help="step this machine's clock, forward and back: an hour without SECONDS (root)")
    asked.add_argument("--update-docs", action="store_true", help="write the table into docs/reliability.md")
    asked.add_argument("--quiet", action="store_true", help="no progress")
    asked = asked.parse_args()
    unknown = set(asked.parts) - {*PARTS, "memory"}
    if unknown:
        sys.exit(f"soak: no part is called '{unknown.pop()}' - there are {', '.join(PARTS)}, memory")
    return asked


def carry_out(campaign, parts, seconds):
    """The parts, one after another, beside residents if their memory is asked for."""
    chosen = {name: PARTS[name] for name in PARTS if name in parts}
    residents = Residents(campaign) if "memory" in parts else None
    whole = sum(share for _, share in chosen.values())
    try:
        for name, (work, share) in chosen.items():
            campaign.progress(f"{name}: {seconds * share / whole / 60:.1f} minutes")
            rests = residents.rests if residents and name in MEASURES else None
            if rests:
                rests.acquire()
            try:
                work(campaign, seconds * share / whole)
            except Exception as error:
                campaign.keep(f"{name}.txt", traceback.format_exc())
                campaign.rows.append(common.Row(name, "the part itself", 1, [f"{type(error).__name__}: {error}"]))
            finally:
                if rests:
                    rests.release()
        if not chosen and residents:
            residents.is_over.wait(seconds)
    finally:
        if residents:
            residents.end()


def main():
    asked = options()
    if asked.isobath:
        common.ISOBATH = asked.isobath.resolve()
    if not os.access(common.ISOBATH, os.X_OK):
        sys.exit(f"soak: no program {common.ISOBATH} - run 'make build' first, or name another with --isobath")
    campaign = common.Campaign(asked.out, asked.quiet)
    campaign.clock_step = asked.step_clock
    seconds = asked.minutes * 60 if asked.minutes else asked.hours * 3600
    began, is_cut = time.time(), False
    try:
        carry_out(campaign, asked.parts or [*PARTS, "memory"], seconds)
    except KeyboardInterrupt:
        is_cut = True
    leftovers.sweep(campaign)
    text = table.write(campaign, began, is_cut)
    print(text)
    if asked.update_docs:
        table.update_docs(text)
    shutil.rmtree(campaign.work, ignore_errors=True)
    if is_cut:
        return 130
    return int(any(row.failures for row in campaign.rows))


if __name__ == "__main__":
    sys.exit(main())
