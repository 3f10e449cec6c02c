"""Tables: Arrow's columns, for whatever library reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _isobath
from .extras import needed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Column(NamedTuple):
    """What is known of a column."""

    name: str
    type: str
    """Arrow's type."""
    unit: str
    """Its unit; empty for what has none."""
    description: str
    """What it says; empty when unknown."""


class Table:
    """Columns of equal length, each with a name, a type, a unit and a description.

    It speaks Arrow's C data interface: `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB take it as it is, and nothing
    is copied. Without any library `column()` gives numbers as a memoryview, which `numpy.asarray` takes without a copy.
    """

    def __init__(self, inner: _isobath.Table) -> None:
        self._inner = inner

    @classmethod
    def read(cls, path: str | Path) -> "Table":
        """The table in a Parquet file.

        Raises:
            IsobathError: it cannot be read.
        """
        return cls(_isobath.read_parquet(path))

    @property
    def columns(self) -> list[Column]:
        """What is known of each column."""
        return [Column(*column) for column in self._inner.columns()]

    @property
    def description(self) -> str:
        """What a row is; empty when unknown."""
        return self._inner.description

    def column(self, name: str) -> "memoryview | Sequence[str | None]":
        """The values of a column: numbers as a memoryview, words as a list. Numbers some of which are null come as
        floating-point numbers in which those are NaN.

        Raises:
            IsobathError: there is no such column, or it is of switches some of which are null.
        """
        values = self._inner.column(name)
        if isinstance(values, list):
            return values
        form, octets = values
        return memoryview(octets).cast(form)  # type: ignore[call-overload, no-any-return]

    def to_arrow(self) -> "pyarrow.Table":
        """As pyarrow's table. Nothing is copied."""
        return needed("pyarrow", "pandas").table(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """As a DataFrame of pandas; by pyarrow, as pandas itself does it."""
        needed("pandas", "pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> "polars.DataFrame":
        """As a DataFrame of Polars. Nothing is copied."""
        frame: polars.DataFrame = needed("polars", "polars").DataFrame(self)
        return frame

    def __len__(self) -> int:
        return self._inner.num_rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns by Arrow's C data interface."""
        return self._inner.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema by Arrow's C data interface."""
        return self._inner.__arrow_c_schema__()

    def __getstate__(self) -> bytes:
        return self._inner.to_ipc()

    def __setstate__(self, octets: bytes) -> None:
        self._inner = _isobath.Table.from_ipc(octets)

    def __repr__(self) -> str:
        columns = ", ".join(f"{column.name} [{column.unit}]" if column.unit else column.name for column in self.columns)
        return f"<Table of {len(self)} rows: {columns}>"

    def _repr_html_(self) -> str:
        heads = "".join(
            f"<th title='{_escaped(c.description)}'>{_escaped(c.name)}<br><small>{_escaped(c.unit)}</small></th>" for c in self.columns
        )
        return f"<table><tr>{heads}</tr></table><p>{len(self)} rows</p>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;")


def rows(table: Table) -> list[dict[str, Any]]:
    """The rows as dictionaries, for tables that are small."""
    names = [column.name for column in table.columns]
    columns = [list(table.column(name)) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
