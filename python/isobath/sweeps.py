"""Sweeps: a measurement in virtual time over all combinations of its options."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _isobath
from .errors import UsageError
from .progress import Progress
from .table import Table

Grid = str | Path | Mapping[str, Any]
"""A sweep file in TOML, or what it would hold: `measurements`, `labs`, `parameters`, `repetitions`, `tables`, `name` (docs/sim.md)."""


class Sweep:
    """A sweep that was carried out."""

    def __init__(self, folder: Path, counts: tuple[int, int, int]) -> None:
        self.folder = folder
        """Its folder: `runs.parquet`, and the tables of the runs that were to be kept."""
        self.runs, self.complete, self.failed = counts

    def table(self) -> Table:
        """A row for each run, in the order of the grid: what was asked, and each figure of the summary by its path."""
        return Table.read(self.folder / "runs.parquet")

    def __repr__(self) -> str:
        return f"<Sweep of {self.runs} runs, {self.complete} complete, {self.failed} failed: {self.folder}>"


def sweep(
    grid: Grid | None = None,
    *,
    resume: str | Path | None = None,
    out: str | Path | None = None,
    engine: str | None = None,
    jobs: int | None = None,
    quiet: bool = False,
) -> Sweep:
    """Makes a run of every combination in `grid`, and one table of all.

    >>> sweep({"measurements": ["btc --duration 10s"], "repetitions": 10,
    ...        "parameters": {"rate": "10Mbit", "rtt": ["10ms", "40ms"], "cc": ["cubic", "reno"]}})

    Args:
        grid: a sweep file, or what it would hold.
        resume: instead, the folder of a sweep that was interrupted: runs that were made are not made again.
        out: folder for the sweep; by default a new one in `isobath-runs`.
        engine: None for all processors of this machine; `"ray"` for the cluster that this machine belongs to (or one of its own), and
            `"ray://HOST:10001"` for another one. The table is the same, to the last octet.
        jobs: runs at a time; changes no result.
        quiet: show no progress.

    Raises:
        UsageError: the grid cannot be.
        KeyboardInterrupt: the runs that were made are kept; go on with `resume`.
    """
    if (grid is None) == (resume is None):
        raise UsageError("a sweep is a grid, or one to resume - give one of both")
    held, toml = _begin(grid, out) if grid is not None else _resume(Path(str(resume)))
    due, runs = len(held.due()), held.runs
    with Progress("sweep", quiet=quiet) as progress:

        def watch(made: int) -> None:
            progress.draw(runs - due + made, runs)

        if engine is None:
            held.carry_out(jobs, watch)
        else:
            from .ray import carry_out

            carry_out(held, toml, engine=engine, jobs=jobs, watch=watch)
        return Sweep(Path(held.folder), held.finish())


def _begin(grid: Grid, out: str | Path | None) -> tuple[_isobath.Sweep, str]:
    if isinstance(grid, Mapping):
        toml, file = to_toml(grid), Path.cwd() / "sweep.toml"
    else:
        file = Path(grid)
        try:
            toml = file.read_text()
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}") from error
    return _isobath.Sweep.begin(toml, file, out), toml


def _resume(folder: Path) -> tuple[_isobath.Sweep, str]:
    held = _isobath.Sweep.resume(folder)
    return held, json.loads((folder / "sweep.json").read_text())["toml"]


def to_toml(grid: Mapping[str, Any]) -> str:
    """The grid as a sweep file has it."""
    plain = {name: value for name, value in grid.items() if name != "parameters"}
    if isinstance(plain.get("measurements"), str):
        plain["measurements"] = [plain["measurements"]]
    lines = [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    lines += ["[parameters]", *(f"{_key(name)} = {_value(value)}" for name, value in grid.get("parameters", {}).items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return json.dumps(name.replace("_", "-"))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple | range):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    # A basic string of TOML is one of JSON.
    return json.dumps(str(value), ensure_ascii=False)
