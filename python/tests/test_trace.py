"""Vectors out of captures."""

from collections.abc import Callable
from pathlib import Path

import pytest

import isobath as ib

Capture = Callable[[Path, list[tuple[int, int]]], Path]


def test_connections_come_out_of_a_capture(here: Path, capture: Capture) -> None:
    file = capture(here / "some.pcap", [(300, 1_000), (20, 700)])
    vectors = ib.trace.extract(file)
    frame = vectors.to_polars()
    assert frame.select("vector", "side", "adu_bytes").rows() == [
        (0, "initiator", 300),
        (0, "acceptor", 1_000),
        (1, "initiator", 20),
        (1, "acceptor", 700),
    ]
    assert vectors.summary.to_dict()["packets"] == 18
    assert {column.name: column.unit for column in vectors.columns}["wait_ns"] == "ns"
    kept = ib.trace.extract(file, here / "some.parquet", quiet_time="1s")
    assert ib.trace.read(here / "some.parquet").to_polars().equals(kept.to_polars())


def test_what_is_no_capture_is_told(here: Path) -> None:
    (here / "text").write_text("hello")
    with pytest.raises(ib.IsobathError, match="text"):
        ib.trace.extract(here / "text")
    with pytest.raises(ib.UsageError, match="--speed"):
        ib.trace.extract(here / "text", speed=1)
