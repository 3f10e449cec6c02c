"""Records: summaries, tables, SQL."""

import pickle
from pathlib import Path

import numpy
import polars
import pyarrow
import pytest

import isobath as ib
from isobath.summaries import BtcSummary, Distribution


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a transfer in virtual time."""
    out = tmp_path_factory.mktemp("records") / "btc"
    ib.sim.btc(rate="10Mbit", rtt="20ms", loss=0.001, duration=3, out=out)
    return out


def test_a_summary_is_read_by_attributes_with_units_in_their_names(folder: Path) -> None:
    run = ib.open(folder)
    assert (run.test, run.status, run.verdict) == ("sim-btc", "complete", None)
    assert isinstance(run.summary, BtcSummary)
    assert run.summary.throughput_mbps is not None and 1 < run.summary.throughput_mbps < 10
    assert isinstance(run.summary.rtt_ms, Distribution)
    assert 20 < run.summary.rtt_ms.min <= run.summary.rtt_ms.p50 <= run.summary.rtt_ms.max
    assert run.summary.to_dict()["rtt_ms"]["p50"] == run.summary.rtt_ms.p50
    assert run.started.tzinfo is not None
    assert run.hosts[0].role == "client"
    assert run.path.lab is not None and run.path.lab.links[0].name == "sender-receiver"


def test_a_figure_that_does_not_exist_is_told_with_those_that_do(folder: Path) -> None:
    with pytest.raises(AttributeError, match="no figure 'speed' - there are .*throughput_mbps"):
        ib.open(folder).summary.speed  # noqa: B018


def test_tables_are_arrow_with_units_and_without_a_copy(folder: Path) -> None:
    run = ib.open(folder)
    assert "round_trips" in run.tables
    table = run.table("windows")
    units = {column.name: column.unit for column in table.columns}
    assert units["t_ns"] == "ns"
    assert all(column.description for column in table.columns)
    arrow, frame, pandas = table.to_arrow(), table.to_polars(), table.to_pandas()
    assert arrow.num_rows == len(frame) == len(pandas) == len(table) > 0
    assert frame["t_ns"].to_list() == pandas["t_ns"].tolist() == list(table.column("t_ns"))
    # The same memory, not a copy of it.
    places = [pyarrow.table(table)["t_ns"].chunk(0).buffers()[1].address for _ in range(2)]
    assert places[0] == places[1]


def test_columns_are_arrays_without_any_library(folder: Path) -> None:
    table = ib.open(folder).table("queue")
    times = table.column("t_ns")
    assert isinstance(times, memoryview) and times.format == "Q"
    assert numpy.asarray(times).tolist() == polars.DataFrame(table)["t_ns"].to_list()
    assert set(table.column("link")) == {"sender-receiver"}
    with pytest.raises(ib.IsobathError, match="no column 'x' - there are t_ns"):
        table.column("x")


def test_a_table_can_be_sent(folder: Path) -> None:
    table = ib.open(folder).table("transfers")
    sent = pickle.loads(pickle.dumps(table))
    assert sent.to_polars().equals(table.to_polars())
    assert sent.columns == table.columns


def test_what_is_no_record_is_told_in_one_line(here: Path, folder: Path) -> None:
    with pytest.raises(ib.IsobathError) as told:
        ib.open(here)
    assert "\n" not in str(told.value) and str(here) in str(told.value)
    with pytest.raises(ib.IsobathError, match=r"no table.*'nothing'"):
        ib.open(folder).table("nothing")


def test_sql_asks_many_records_at_once(here: Path) -> None:
    for seed in (1, 2):
        ib.sim.btc(rate="10Mbit", rtt="20ms", loss=0.01, duration=1, seed=seed, out=here / "runs" / f"run-{seed}")
    memory = ib.sim.btc(rate="10Mbit", rtt="20ms", duration=1)
    counted = ib.sql("select record, count(*) from round_trips group by all order by all", "runs", memory).fetchall()
    assert [record for record, _ in counted] == sorted([memory.id, "run-1", "run-2"])
    assert all(count > 0 for _, count in counted)
    found = ib.sql("select test, (summary->>'throughput_mbps')::double as mbps from records", "runs").fetchall()
    assert [test for test, _ in found] == ["sim-btc"] * 2
    assert sorted(mbps for _, mbps in found) == sorted(run.summary.throughput_mbps for run in ib.runs("runs"))
    with pytest.raises(ib.IsobathError, match="there is no record in it"):
        ib.sql("select 1", here / "runs" / "run-1" / "nothing")
    with pytest.raises(ib.IsobathError, match="nothing"):
        ib.sql("select * from nothing", "runs")
