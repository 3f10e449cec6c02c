"""A run: what `run.json` holds, its tables, and its figures."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from . import _isobath
from .errors import IsobathError
from .figures import Figures
from .table import Table

if TYPE_CHECKING:
    from .plot import Plots
    from .summaries import RunHost, RunInstrument, RunPathInfo, RunWarning

S = TypeVar("S", bound=Figures, covariant=True)

_SUMMARIES = {
    "rrul": "RrulSummary",
    "btc": "BtcSummary",
    "mbm": "MbmSummary",
    "estimate": "EstimateSummary",
    "rpm": "RpmSummary",
    "udpst": "UdpstSummary",
    "replay": "ReplaySummary",
    "trial": "TrialSummary",
    "medianet": "MedianetSummary",
}


class Run(Generic[S]):
    """A measurement that was made: live, in a lab, or in virtual time.

    What a table or a figure means is in its description, and in the chapter on output of the documentation.
    """

    def __init__(self, values: dict[str, Any], folder: Path | None, tables: "dict[str, Table] | list[str]") -> None:
        self._values, self._folder, self._tables = values, folder, tables

    @classmethod
    def open(cls, folder: str | Path) -> "Run[Any]":
        """The record in `folder`: finished, killed, or still being written.

        Raises:
            IsobathError: there is none, or it is damaged or of another major version.
        """
        text, tables = _isobath.read_record(folder)
        return Run(json.loads(text), Path(folder), tables)

    @property
    def folder(self) -> Path | None:
        """The record's folder; None for a run that has none."""
        return self._folder

    @property
    def test(self) -> str:
        """The measurement: `rrul`, `btc`, `sim-btc`, ..."""
        return cast("str", self._values["test"])

    @property
    def id(self) -> str:
        """Unique: the time of the start and a random suffix."""
        return cast("str", self._values["id"])

    @property
    def started(self) -> datetime:
        """When it started, by the client's wall clock."""
        return datetime.fromisoformat(self._values["started"])

    @property
    def status(self) -> str:
        """`complete`; `incomplete`: cut short; `invalid`: the machine was the bottleneck; `failed`: nothing was measured."""
        return cast("str", self._values["status"])

    @property
    def verdict(self) -> str | None:
        """`PASS`, `FAIL`, `INCONCLUSIVE` or `ERROR`; None for measurements that ask no question."""
        return cast("str | None", self._values["verdict"])

    @property
    def plan(self) -> Figures:
        """What was to be done: every option and seed."""
        return Figures(self._values["plan"])

    @property
    def path(self) -> "RunPathInfo":
        """Between whom, and through which emulated path if any."""
        return cast("RunPathInfo", self._file("path"))

    @property
    def hosts(self) -> "list[RunHost]":
        """The machines that took part."""
        return cast("list[RunHost]", self._file("hosts"))

    @property
    def instrument(self) -> "RunInstrument":
        """How good the instrument itself was."""
        return cast("RunInstrument", self._file("instrument"))

    @property
    def warnings(self) -> "list[RunWarning]":
        """What to know before believing the figures."""
        return cast("list[RunWarning]", self._file("warnings"))

    @property
    def summary(self) -> S:
        """The figures, with units in their names."""
        from . import summaries

        kind = getattr(summaries, _SUMMARIES.get(self.test.removeprefix("sim-"), "Figures"))
        return cast("S", kind(self._values["summary"]))

    @property
    def tables(self) -> list[str]:
        """Names of its tables."""
        return list(self._tables)

    def table(self, name: str) -> Table:
        """A table, as Arrow.

        Raises:
            IsobathError: there is no such table, or it cannot be read.
        """
        if isinstance(self._tables, dict):
            if name in self._tables:
                return self._tables[name]
            raise IsobathError(f"no table '{name}' - there are {', '.join(self._tables)}")
        assert self._folder is not None
        return Table(_isobath.read_parquet(self._folder, name))

    @property
    def plot(self) -> "Plots":
        """Figures of it, by matplotlib."""
        from .plot import Plots

        return Plots(self)

    def scorecard(self) -> str:
        """What `isobath show` prints of it.

        Raises:
            IsobathError: it has no folder.
        """
        from .program import program

        return program("show", str(self._on_disk()))

    def report(self, out: str | Path) -> Path:
        """Writes the page of `isobath report`: all figures, interactive, in one file."""
        from .program import program

        program("report", str(self._on_disk()), "--out", str(out))
        return Path(out)

    def to_dict(self) -> dict[str, Any]:
        """What `run.json` holds."""
        return self._values

    def __repr__(self) -> str:
        verdict = f", {self.verdict}" if self.verdict else ""
        place = self._folder if self._folder is not None else "in memory"
        return f"<Run of {self.test}, {self.status}{verdict}: {place}>"

    def _file(self, name: str) -> Any:
        from .summaries import RunFile

        return RunFile(self._values)[name]

    def _on_disk(self) -> Path:
        if self._folder is None:
            raise IsobathError("this run has no folder - simulate it with out='FOLDER'")
        return self._folder
