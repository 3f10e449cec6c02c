"""Isobath: the workbench for network paths, from Python.

    import isobath as ib

    run = ib.rrul(lab="dsl", duration="20s")       # latency under load, in an emulated network
    run.summary.latency_ms.loaded.p50              # figures, typed, with units in their names
    run.table("samples").to_polars()               # every sample, as Arrow
    ib.sim.btc(rate="100Mbit", rtt="20ms", loss=0.001)   # the same machines in virtual time

Where to find what:

- measurements by the program: `rrul`, `btc`, `mbm`, `estimate`, `rpm`, `udpst`, `replay`, `trial`, `medianet`
- measurements in virtual time, in this process: `sim`, and many of them: `sweep`
- records: `open`, `runs`, `sql`; a `Run` has a `summary`, tables and figures (`run.plot`)
- captures: `trace`
- the machines themselves: `path`, `transport`, `estimators`
- figures of several runs: `plot`; clusters: `ray`

Exceptions are in `errors`; their message is the one line that the program prints.
"""

from . import errors, estimators, path, plot, ray, sim, trace, transport
from ._isobath import __version__
from .errors import Interrupted, IsobathError, MeasurementError, UsageError
from .measure import btc, estimate, mbm, medianet, replay, rpm, rrul, trial, udpst
from .program import program
from .records import open, runs, sql
from .run import Run
from .sweeps import Sweep, sweep
from .table import Column, Table

__all__ = [
    "Column",
    "Interrupted",
    "IsobathError",
    "MeasurementError",
    "Run",
    "Sweep",
    "Table",
    "UsageError",
    "__version__",
    "btc",
    "errors",
    "estimate",
    "estimators",
    "mbm",
    "medianet",
    "open",
    "path",
    "plot",
    "program",
    "ray",
    "replay",
    "rpm",
    "rrul",
    "runs",
    "sim",
    "sql",
    "sweep",
    "trace",
    "transport",
    "trial",
    "udpst",
]
