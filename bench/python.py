#!/usr/bin/env python3
"""How fast the Python package is, beside its bars: `bench/python.py`, with the interpreter of an environment that has the wheel of
scripts/wheel.sh with its extras pandas, polars and plot. Best of several turns; exits with 1 when a bar is missed."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy

import isobath as ib

TURNS = 5
GRID = """\
repetitions = 20
measurements = ["btc --rate 10Mbit --duration 10s --loss 0.1%"]
[parameters]
rtt = ["10ms", "20ms", "40ms", "80ms"]
cc = ["cubic", "reno"]
"""


def best(work: Callable[[], object]) -> float:
    """The shortest of several turns, in seconds."""

    def turn() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return min(turn() for _ in range(TURNS))


def importing() -> float:
    """Time to import the package, in ms, less that of an interpreter that imports nothing."""

    def run(code: str) -> float:
        return best(lambda: subprocess.run([sys.executable, "-c", code], check=True))

    return (run("import isobath") - run("pass")) * 1e3


def million_rows() -> tuple[float, float]:
    """Time to make a DataFrame of a million rows in memory, and of one that is read from Parquet first, in ms."""
    at = numpy.arange(1_000_000, dtype="uint64") * 1_000
    table = ib.path.Pipeline([]).process(at, 1_500)
    table.to_pandas()
    memory = best(lambda: table.to_pandas())
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/table.parquet"
        table.to_polars().write_parquet(file)
        disk = best(lambda: ib.Table.read(file).to_pandas())
    return memory * 1e3, disk * 1e3


def pipeline() -> float:
    """Packets a second through a queue, a rate, a delay and a loss, in millions."""
    stages = [
        {"kind": "rate", "rate": "10Gbit", "queue": {"kind": "codel"}},
        {"kind": "delay", "delay": "10ms"},
        {"kind": "loss", "probability": 0.001},
    ]
    at = numpy.arange(2_000_000, dtype="uint64") * 1_300
    return len(at) / best(lambda: ib.path.Pipeline(stages).process(at, 1_500)) / 1e6


def sweeps() -> tuple[float, float, bool]:
    """Time of a sweep by the package and by the program, in s, and whether their tables are the same octets."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "sweep.toml").write_text(GRID)
        number = 0

        def out() -> str:
            nonlocal number
            number += 1
            return str(place / str(number))

        package = best(lambda: ib.sweep(place / "sweep.toml", out=out(), quiet=True))
        one = Path(str(place / str(number))) / "runs.parquet"
        program = best(lambda: ib.program("sim", "sweep", str(place / "sweep.toml"), "--quiet", "-o", out()))
        other = Path(str(place / str(number))) / "runs.parquet"
        return package, program, one.read_bytes() == other.read_bytes()


def tasks() -> tuple[float, float]:
    """Time of the same sweep's runs one by one, as a task of a cluster makes them, and of the sweep on one processor, in s."""
    maker = ib._isobath.Maker(GRID)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sweep.toml").write_text(GRID)
        number = 0

        def alone() -> None:
            nonlocal number
            number += 1
            ib.sweep(Path(folder) / "sweep.toml", out=f"{folder}/{number}", jobs=1, quiet=True)

        return best(lambda: [maker.make(run) for run in range(1, 161)]), best(alone)


def main() -> int:
    missed = []

    def tell(name: str, figure: float, unit: str, bar: str, holds: bool) -> None:
        print(f"{name:28}{figure:10.2f} {unit:5} bar {bar}{'' if holds else '  MISSED'}")
        if not holds:
            missed.append(name)

    figure = importing()
    tell("import", figure, "ms", "<= 150", figure <= 150)
    memory, disk = million_rows()
    tell("1 M rows to pandas", memory, "ms", "<= 50", memory <= 50)
    print(f"{'  read from Parquet first':28}{disk:10.2f} ms")
    figure = pipeline()
    tell("Pipeline", figure, "M/s", ">= 1", figure >= 1)
    package, program, is_same = sweeps()
    print(f"{'sweep of 160 runs, program':28}{program:10.2f} s")
    tell("sweep of 160 runs, package", package, "s", "<= 1.1 x program", package <= 1.1 * program)
    tell("same table", float(is_same), "", "1", is_same)
    one_by_one, sweep = tasks()
    print(f"{'  by one processor':28}{sweep:10.2f} s")
    tell("160 runs one by one", one_by_one, "s", "<= 1.15 x by one processor", one_by_one <= 1.15 * sweep)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
