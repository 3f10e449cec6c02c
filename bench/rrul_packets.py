#!/usr/bin/env python3
"""Are RRUL's round trips those of the emulated path? Each one beside the emulator's own log of the same two packets.

    bench/rrul_packets.py [LAB [PLAN [path of isobath]]]        dsl and the plan rrul, unless said otherwise

Target: the median of the difference is at most 50 us, idle and loaded.

RRUL's round trip is from the kernel's stamp on the request as it leaves to its stamp on the reply as it arrives, less the
time that the far end held the request. The emulator's is from when it had read the request until it handed it over, plus the
same for the reply (`isobath rrul --packet-log`). What RRUL says beyond that is made of four parts, all on one clock:

    request read   from the kernel's stamp at the client until the emulator had read the request: its thread wakes up
    request in     from the emulator's write until the kernel's stamp at the server
    reply read     from the server's own stamp, before its system call, until the emulator had read the reply: tag, call, wake-up
    reply in       from the emulator's write until the kernel's stamp at the client

Two things are printed beside them that are not in the difference. `written to sent` is the client's time from its own stamp,
before its system call, to the kernel's: the same way at the server is part of `reply read`, since a reply cannot carry the
stamp of its own departure. The emulator's lateness behind the logical departures, both ways together, is in RRUL's figure and
in the emulator's: these packets really were that late. Standard library only.
"""

import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("request read", "request in", "reply read", "reply in")


def rows(folder, table):
    with open(folder / "csv" / f"{table}.csv", newline="") as file:
        yield from csv.DictReader(file)


def crossings(folder):
    """By stream, number and kind: when a datagram entered its first link and left its last, how late it was on all, on how
    many, and the times in its header."""
    found = {}
    for row in rows(folder, "packets"):
        key = (row["stream"], row["seq"], row["kind"])
        entered, left, late, hops, _ = found.get(key, (1 << 62, 0, 0, 0, None))
        header = [int(row[time] or 0) for time in ("sent_ns", "received_ns", "replied_ns")]
        late += int(row["left_ns"]) - int(row["due_ns"])
        found[key] = (min(entered, int(row["t_ns"])), max(left, int(row["left_ns"])), late, hops + 1, header)
    return found


def compared(folder):
    """Of each round trip by UDP: when it began, whether the kernel stamped it, RRUL's figure less the emulator's, the four
    parts of that, how long the client took to send it, and how late the emulator was. Those whose packets are not all in
    the log are counted."""
    log = crossings(folder)
    # One that was lost further on is noted on fewer links.
    links = max(one[3] for one in log.values())
    streams = {row["id"] for row in rows(folder, "streams") if row["kind"] == "udp_rr"}
    missing, found = 0, []
    for row in rows(folder, "samples"):
        if row["stream"] not in streams or not row["rtt_ns"]:
            continue
        request = log.get((row["stream"], row["seq"], "request"))
        reply = log.get((row["stream"], row["seq"], "reply"))
        if not request or not reply or request[3] != links or reply[3] != links:
            missing += 1
            continue
        sent, rtt = int(row["t_ns"]), int(row["rtt_ns"])
        written, received, replied = reply[4]
        arrived = sent + rtt + (replied - received)
        parts = (request[0] - sent, received - request[1], reply[0] - replied, arrived - reply[1])
        error = rtt - (request[1] - request[0]) - (reply[1] - reply[0])
        assert sum(parts) == error
        found.append((sent, row["clock"], error, parts, sent - written, request[2] + reply[2]))
    return found, missing


def us(values):
    values = sorted(values)
    at = lambda q: values[round(q * (len(values) - 1))] / 1e3
    return f"median {statistics.median(values) / 1e3:6.1f}, 90 % {at(0.9):7.1f}, 99 % {at(0.99):7.1f}, most {at(1):8.1f}"


def report(folder, run):
    """Prints the comparison for each phase; says whether the target was met."""
    found, missing = compared(folder)
    stamped = sum(clock == "kernel" for _, clock, *_ in found)
    print(f"round trips  {len(found)} found in the emulator's log, {missing} not; {stamped} stamped by the kernel at both moments")
    met = bool(found)
    for phase in ("idle", "loaded"):
        if not run["summary"]["phases"][phase]:
            continue
        start, end = (1e9 * s for s in run["summary"]["phases"][phase])
        here = [one for one in found if start <= one[0] < end and one[1] == "kernel"]
        if not here:
            continue
        errors = [one[2] for one in here]
        print(f"{phase}, us   ({len(here)} round trips)")
        print(f"  RRUL less the emulator     {us(errors)}")
        for index, part in enumerate(PARTS):
            print(f"    {part:14}           {us([one[3][index] for one in here])}")
        print(f"  written to sent            {us([one[4] for one in here])}")
        print(f"  the emulator's lateness    {us([one[5] for one in here])}")
        met &= statistics.median(errors) <= 50_000
    print(f"target       {'met' if met else 'MISSED'}: median at most 50 us in each phase")
    return met


def measure(isobath, lab, plan):
    """A run with the log of packets: its folder (inside a temporary one) and its run.json."""
    place = tempfile.TemporaryDirectory()
    out = pathlib.Path(place.name) / "run"
    command = [isobath, "rrul", "--lab", lab, "--plan", plan, "--packet-log", "--json", "-q", "-o", out]
    ran = subprocess.run(command, capture_output=True, text=True)
    if not ran.stdout:
        raise SystemExit(ran.stderr)
    subprocess.run([isobath, "export", "--csv", out], check=True, capture_output=True)
    return place, out, json.loads(ran.stdout)


def main():
    lab, plan, isobath = (sys.argv[1:] + ["dsl", "rrul", str(HERE / "../target/release/isobath")][len(sys.argv) - 1 :])[:3]
    place, out, run = measure(pathlib.Path(isobath).resolve(), lab, plan)
    with place:
        print(f"status       {run['status']}  {[warning['code'] for warning in run['warnings']]}")
        sys.exit(0 if report(out, run) else 1)


if __name__ == "__main__":
    main()
