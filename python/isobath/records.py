"""Many records at once, by SQL."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import IsobathError
from .extras import needed
from .run import Run
from .table import Table

if TYPE_CHECKING:
    import duckdb

Source = str | Path | Run[Any]
"""A record, a folder of records, a sweep's folder, or a run in memory."""


def open(folder: str | Path) -> Run[Any]:
    """The record in `folder`: finished, killed, or still being written.

    Raises:
        IsobathError: there is none, or it is damaged or of another major version.
    """
    return Run.open(folder)


def runs(folder: str | Path) -> Iterator[Run[Any]]:
    """All records in `folder` and the folders in it, in the order of their names."""
    for file in sorted(Path(folder).rglob("run.json")):
        yield Run.open(file.parent)


def sql(query: str, *sources: Source) -> "duckdb.DuckDBPyRelation":
    """Asks DuckDB about the tables of records: `sql("select avg(rtt_ns) / 1e6 from samples", "isobath-runs")`.

    Every table that one of the sources has is there by its name, with the column `record`, the name of the record's folder. The view
    `records` has a row for each record: `record`, `test`, `started`, `status`, `verdict`, and `summary` as JSON. Of a sweep's folder
    there is `runs`, and its tables by their names.

    Args:
        query: in DuckDB's dialect.
        sources: records, folders of records, sweeps' folders, runs in memory; the folder `isobath-runs` without any.

    Returns:
        DuckDB's relation: `.df()`, `.pl()`, `.fetchall()`; printing it shows the first rows.

    Raises:
        IsobathError: there is no record in a source, or DuckDB refuses the query.
    """
    engine = needed("duckdb", "sql")
    connection = engine.connect()
    parts = _Parts(connection)
    for source in sources or ("isobath-runs",):
        parts.add(source)
    parts.make()
    try:
        relation: duckdb.DuckDBPyRelation = connection.sql(query)
        return relation
    except engine.Error as error:
        raise IsobathError(str(error).splitlines()[0]) from error


class _Parts:
    """What views are made of: for each the selections that it is the union of."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection") -> None:
        self.connection = connection
        self.views: dict[str, list[str]] = {}
        self.records: list[tuple[str, str, str, str, str | None, str]] = []
        self.registered = 0

    def add(self, source: Source) -> None:
        if isinstance(source, Run):
            self.run(source)
            return
        folder = Path(source)
        if (folder / "sweep.json").exists():
            self.sweep(folder)
            return
        found = list(runs(folder))
        if not found:
            raise IsobathError(f"{folder}: there is no record in it")
        for run in found:
            self.run(run)

    def run(self, run: Run[Any]) -> None:
        name = run.folder.name if run.folder is not None else run.id
        for table in run.tables:
            file = run.folder / f"{table}.parquet" if run.folder is not None else None
            if file is not None and file.exists():
                self.select(table, f"read_parquet({_quoted(file)})", name)
            else:
                self.select(table, self.register(run.table(table)), name)
        summary = json.dumps(run.to_dict()["summary"])
        self.records.append((name, run.test, run.started.isoformat(), run.status, run.verdict, summary))

    def sweep(self, folder: Path) -> None:
        self.views.setdefault("runs", []).append(f"select * from read_parquet({_quoted(folder / 'runs.parquet')})")
        for kept in sorted(path for path in folder.iterdir() if path.is_dir()):
            files = f"read_parquet({_quoted(kept / '*.parquet')}, union_by_name=true)"
            self.views.setdefault(kept.name, []).append(f"select * from {files}")

    def select(self, table: str, place: str, record: str) -> None:
        self.views.setdefault(table, []).append(f"select {_quoted(record)} as record, * from {place}")

    def register(self, table: Table) -> str:
        self.registered += 1
        name = f"__table_{self.registered}"
        self.connection.register(name, table.to_arrow())
        return name

    def make(self) -> None:
        for name, selections in self.views.items():
            self.connection.execute(f'create view "{name}" as ' + " union all by name ".join(selections))
        self.connection.execute(
            "create table records(record varchar, test varchar, started timestamptz, status varchar, verdict varchar, summary json)"
        )
        if self.records:
            self.connection.executemany("insert into records values (?, ?, ?, ?, ?, ?)", self.records)


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"
