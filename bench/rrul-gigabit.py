#!/usr/bin/env python3
"""Can this machine drive RRUL at 1 Gbit/s and still be believed?

    bench/rrul-gigabit.py [path of isobath]

Runs bench/gigabit.toml through the lab `gigabit` (16 TCP streams; round trips and calls at 100 packets/s in three classes
and both directions). Says whether the run was valid, what it carried, what it cost, and how far the UDP round trips are from
the emulator's own books: its delays, and its queues in the tables (every 10 ms) at the moments when the probe and its reply
passed them. Standard library only.
"""

import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from bisect import bisect_left

HERE = pathlib.Path(__file__).parent
# IP and UDP headers around a probe of 64 octets, as the link counts it.
PROBE_BITS = (64 + 28) * 8


def rows(folder, table):
    with open(folder / "csv" / f"{table}.csv", newline="") as file:
        yield from csv.DictReader(file)


def queues(folder):
    """Times and octets waiting, by link and direction."""
    series = {}
    for row in rows(folder, "queue"):
        times, octets = series.setdefault((row["link"], row["direction"]), ([], []))
        times.append(int(row["t_ns"]))
        octets.append(int(row["bytes"]))
    return series


def waiting_ns(series, at_ns, bps):
    """Time to drain what waited at that moment, between the two nearest samples in proportion."""
    times, octets = series
    i = min(max(bisect_left(times, at_ns), 1), len(times) - 1)
    (a, b), (x, y) = times[i - 1 : i + 1], octets[i - 1 : i + 1]
    part = min(max((at_ns - a) / (b - a), 0.0), 1.0)
    return (x + (y - x) * part) * 8e9 / bps


def main():
    isobath = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "../target/release/isobath").resolve()
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "run"
        command = [isobath, "rrul", "--lab", "gigabit", "--plan", HERE / "gigabit.toml", "--json", "-q", "-o", out]
        ran = subprocess.run(command, capture_output=True, text=True)
        run = json.loads(ran.stdout)
        subprocess.run([isobath, "export", "--csv", out], check=True, capture_output=True)
        report(out, run)


def report(out, run):
    summary = run["summary"]
    rates = summary["throughput_mbps"]
    cpu = {use["host"]: use["mean_pct"] for use in run["instrument"]["cpu"]}
    late = {l["of"]: l["late_us"]["p90"] / 1e3 for l in run["instrument"]["lateness"]}
    print(f"status       {run['status']}  {[w['code'] for w in run['warnings']]}")
    print(f"carried      down {rates['down']:.0f}, up {rates['up']:.0f} Mbit/s of TCP payload")
    print(f"processors   {cpu} % busy;  late (90th percentile) {late} ms")
    links = [link for link in run["path"]["lab"]["links"]]
    base_ns, limited = 0, []
    for link in links:
        for way in ("up", "down"):
            for stage in link[way]:
                if stage["kind"] == "delay":
                    base_ns += duration_ns(stage["delay"])
                if stage["kind"] == "rate":
                    limited.append((link["name"], way, rate_bps(stage["rate"])))
    books = queues(out)
    streams = {row["id"] for row in rows(out, "streams") if row["kind"] == "udp_rr"}
    phases = {name: [s * 1e9 for s in summary["phases"][name]] for name in ("idle", "loaded")}
    errors = {"idle": [], "loaded": []}
    for row in rows(out, "samples"):
        if row["stream"] not in streams or not row["rtt_ns"]:
            continue
        sent, rtt = int(row["t_ns"]), int(row["rtt_ns"])
        expected = base_ns
        for name, way, bps in limited:
            # The probe meets the first queue at once; the reply the other one when half of the path is behind it.
            at = sent if way == "up" else sent + rtt / 2
            expected += waiting_ns(books[(name, way)], at, bps) + PROBE_BITS * 1e9 / bps
        for name, (start, end) in phases.items():
            if start <= sent < end:
                errors[name].append((rtt - expected) / 1e3)
    for name, values in errors.items():
        values.sort()
        quantile = lambda q: values[int(q * (len(values) - 1))]
        print(
            f"{name:7} n {len(values)}: round trip less the emulator's books, us: median {statistics.median(values):+.0f},"
            f" 5 % {quantile(0.05):+.0f}, 95 % {quantile(0.95):+.0f}"
        )


def duration_ns(text):
    for unit, scale in (("ms", 1e6), ("us", 1e3), ("ns", 1), ("s", 1e9)):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * scale
    raise ValueError(text)


def rate_bps(text):
    for unit, scale in (("Gbit", 1e9), ("Mbit", 1e6), ("kbit", 1e3)):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * scale
    raise ValueError(text)


if __name__ == "__main__":
    main()
