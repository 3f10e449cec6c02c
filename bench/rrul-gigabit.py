#!/usr/bin/env python3
"""Can this machine drive RRUL at 1 Gbit/s and still be believed?

    bench/rrul-gigabit.py [path of isobath]

Runs bench/gigabit.toml through the lab `gigabit` (16 TCP streams; round trips and calls at 100 packets/s in three classes
and both directions). Says whether the run was valid, what it carried, what it cost, and how far each UDP round trip is from
the emulator's own log of the same two packets (rrul_packets.py). Standard library only.
"""

import pathlib
import sys

import rrul_packets

HERE = pathlib.Path(__file__).resolve().parent


def main():
    isobath = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "../target/release/isobath").resolve()
    place, out, run = rrul_packets.measure(isobath, "gigabit", HERE / "gigabit.toml")
    with place:
        rates = run["summary"]["throughput_mbps"]
        cpu = {use["host"]: use["mean_pct"] for use in run["instrument"]["cpu"]}
        late = {one["of"]: one["late_us"]["p90"] / 1e3 for one in run["instrument"]["lateness"]}
        print(f"status       {run['status']}  {[warning['code'] for warning in run['warnings']]}")
        print(f"carried      down {rates['down']:.0f}, up {rates['up']:.0f} Mbit/s of TCP payload")
        print(f"processors   {cpu} % busy;  late (90th percentile) {late} ms")
        sys.exit(0 if rrul_packets.report(out, run) else 1)


if __name__ == "__main__":
    main()
