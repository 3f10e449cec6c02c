"""Connection vectors out of packet captures: what applications did, without the network's influence (the a-b-t model of Tmix)."""

import json
import tempfile
from pathlib import Path

from . import _isobath
from .figures import Figures
from .options import Option, words
from .table import Table

Captures = str | Path | list[str] | list[Path]
"""A capture (pcap or pcapng, plain, gzip or zstd), or the parts of one trace in order."""


class Vectors(Table):
    """Vectors as a table: a row for each ADU, with the figures of its connection beside it."""

    summary: Figures
    """What was read: packets, connections, flows of UDP, and what was left out."""
    warnings: list[Figures]
    """What to know before believing them."""


def extract(captures: Captures, out: str | Path | None = None, **options: Option) -> Vectors:
    """Extracts the connections of captures.

    Args:
        captures: a capture, or the parts of one trace in order.
        out: file for the vectors (`.parquet`); without it they live in memory.
        options: any other option of `isobath trace extract`, such as `quiet_time="500ms"`.

    Raises:
        UsageError: what was asked for cannot be.
        IsobathError: a file cannot be read, or is no capture.
    """
    files = [str(file) for file in (captures if isinstance(captures, list) else [captures])]
    if out is not None:
        return _extracted(files, Path(out), options)
    with tempfile.TemporaryDirectory() as folder:
        return _extracted(files, Path(folder) / "vectors.parquet", options)


def read(path: str | Path) -> Table:
    """The vectors in a Parquet file."""
    return Table.read(path)


def _extracted(files: list[str], out: Path, options: dict[str, Option]) -> Vectors:
    run = json.loads(_isobath.extract([*words(options), f"--out={out}", "--", *files]))
    vectors = Vectors(_isobath.read_parquet(out))
    vectors.summary = Figures(run["summary"])
    vectors.warnings = [Figures(warning) for warning in run["warnings"]]
    return vectors


__all__ = ["Captures", "Vectors", "extract", "read"]
