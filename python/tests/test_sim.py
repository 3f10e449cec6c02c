"""Virtual time: simulations, sweeps, and the machines themselves."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

import isobath as ib
from conftest import BACK, PATH
from isobath import estimators
from isobath.sweeps import to_toml

GRID = {
    "measurements": "btc --rate 10Mbit",
    "repetitions": 2,
    "parameters": {"rtt": ["10ms", "40ms"], "duration": "1s", "loss": "1%"},
    "tables": ["transfers"],
}


def test_the_same_seed_gives_the_same_figures_in_memory_and_on_disk(here: Path) -> None:
    memory = ib.sim.btc(rate="10Mbit", rtt="20ms", loss=0.01, duration=2, seed=3)
    disk = ib.sim.btc(rate="10Mbit", rtt="20ms", loss="1%", duration="2s", seed=3, out=here / "run")
    assert memory.folder is None and disk.folder == here / "run"
    assert memory.summary == disk.summary
    assert memory.tables == sorted(disk.tables)
    assert memory.table("events").to_polars().equals(disk.table("events").to_polars())
    other = ib.sim.btc(rate="10Mbit", rtt="20ms", loss=0.01, duration=2, seed=4)
    assert other.summary != memory.summary


def test_simulations_are_those_of_the_program(here: Path) -> None:
    ib.program("sim", "btc", "--rate", "10Mbit", "--rtt", "20ms", "--loss", "1%", "--duration", "2s", "--quiet", "-o", "run")
    assert ib.open("run").summary == ib.sim.btc(rate="10Mbit", rtt="20ms", loss=0.01, duration=2).summary


def test_simulations_run_side_by_side() -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda seed: ib.sim.btc(rate="10Mbit", rtt="20ms", loss=0.01, duration=1, seed=seed), [1, 2, 1, 2]))
    assert runs[0].summary == runs[2].summary != runs[1].summary == runs[3].summary


def test_every_measurement_is_simulated() -> None:
    estimate = ib.sim.estimate("capacity", rate="10Mbit", rtt="20ms")
    assert estimate.summary.unit == "Mbit/s"
    assert estimate.summary.to_dict()["value"] == pytest.approx(10, rel=0.1)
    mbm = ib.sim.mbm(rate="1Mbit", rtt="40ms", path_rate="100Mbit", path_rtt="10ms", test="paced-full-rate")
    assert mbm.verdict == "PASS"
    rrul = ib.sim.rrul(lab="dsl", plan="tcp_download", duration=5)
    loaded = rrul.summary.latency_ms.loaded
    assert loaded is not None and loaded.p50 > 30


def test_mistakes_are_told_as_by_the_program() -> None:
    with pytest.raises(ib.UsageError, match="^unexpected argument '--speed' found$"):
        ib.sim.btc(rate="10Mbit", rtt="20ms", speed=3)
    with pytest.raises(ValueError, match="100Mbitt"):
        ib.sim.btc(rate="100Mbitt", rtt="20ms")


def test_a_sweep_has_the_table_of_the_program_to_the_last_octet(here: Path) -> None:
    Path("s.toml").write_text(to_toml(GRID))
    ib.program("sim", "sweep", "s.toml", "--quiet", "-o", "program")
    sweep = ib.sweep(GRID, out="python")
    assert (sweep.runs, sweep.complete, sweep.failed) == (4, 4, 0)
    assert Path("python/runs.parquet").read_bytes() == Path("program/runs.parquet").read_bytes()
    frame = sweep.table().to_polars()
    assert frame["rtt"].to_list() == ["10ms", "10ms", "40ms", "40ms"]
    assert ib.sql("select count(distinct run) from transfers", "python").fetchall() == [(4,)]
    assert ib.sweep("s.toml", out="file").table().to_polars().equals(frame)


def test_a_sweep_goes_on_where_it_was_stopped(here: Path) -> None:
    ib.sweep(GRID, out="whole")
    ib.sweep(GRID, out="cut")
    lines = Path("cut/runs.jsonl").read_text().splitlines(keepends=True)
    Path("cut/runs.jsonl").write_text("".join(lines[:2]))
    Path("cut/runs.parquet").unlink()
    assert ib.sweep(resume="cut").runs == 4
    assert Path("cut/runs.jsonl").read_text().splitlines(keepends=True)[:2] == lines[:2]
    assert Path("cut/runs.parquet").read_bytes() == Path("whole/runs.parquet").read_bytes()
    with pytest.raises(ib.UsageError, match="a grid, or one to resume"):
        ib.sweep()
    with pytest.raises(ib.UsageError, match="nothing to measure"):
        ib.sweep({"measurements": []})


def test_a_path_delays_and_drops_as_it_says() -> None:
    path = ib.path.Pipeline(
        [{"kind": "rate", "rate": "12Mbit", "queue": {"kind": "fifo", "packets": 10}}, {"kind": "delay", "delay": "5ms"}]
    )
    at = numpy.zeros(100, dtype="uint64")
    first = path.process(at, 1_500)
    left = path.drain()
    assert len(first) == 0
    # 1 ms on the link each, 5 ms on the wire.
    assert numpy.asarray(left.column("at_ns")).tolist() == [10**6 * (at + 6) for at in range(len(left))]
    rate, delay = path.stages
    assert (rate.kind, rate.entered.packets, rate.left, rate.overflow.packets) == ("rate", 100, delay.entered, 100 - len(left))
    with pytest.raises(ib.UsageError, match="at_ns goes back"):
        path.process([1], 1_500)
    with pytest.raises(ib.UsageError, match="size_bytes has 2 elements, not 1"):
        path.process([10**10], [1, 2])
    with pytest.raises(ib.UsageError, match="bandwidth"):
        ib.path.Pipeline([{"kind": "bandwidth"}])


def test_a_path_does_the_same_in_batches_of_any_size() -> None:
    stages = [*PATH, {"kind": "loss", "probability": 0.1}]
    at = numpy.arange(0, 10**9, 10**6, dtype="uint64")
    sizes = (numpy.arange(len(at)) % 1_400 + 100).astype("uint32")

    def through(parts: int) -> list[list[int]]:
        path = ib.path.Pipeline(stages, seed=7)
        batches = zip(numpy.array_split(at, parts), numpy.array_split(sizes, parts), strict=True)
        tables = [path.process(*batch) for batch in batches] + [path.drain()]
        return [
            [value for table in tables for value in numpy.asarray(table.column(name)).tolist()]
            for name in ("number", "at_ns", "size_bytes")
        ]

    assert through(1) == through(13)
    assert 800 < len(through(1)[0]) < 980


def test_a_sender_and_a_receiver_agree_by_hand() -> None:
    sender, receiver = ib.transport.Sender(cc="reno", initial_window=4), ib.transport.Receiver(cc="reno")
    sender.supply(10)
    now, sent = 0, 0
    while receiver.bytes != 10 * 1_448:
        now += 10_000_000
        for segment in iter(lambda: sender.poll_transmit(now), None):  # noqa: B023
            sent += 1
            receiver.handle_segment(segment, now + 10_000_000)
        now += 20_000_000
        for ack in iter(lambda: receiver.poll_transmit(now), None):  # noqa: B023
            sender.handle_ack(ack, now)
    sender.close()
    assert sent == 10 and sender.is_done
    assert sender.snapshot.cwnd > 4 and sender.snapshot.srtt_ms == pytest.approx(20, abs=1)
    with pytest.raises(ib.UsageError, match="unknown field `speed`"):
        ib.transport.Sender(speed=1)


def test_a_connection_fills_its_path_and_is_cut_when_it_overflows() -> None:
    connection = ib.transport.Connection(PATH, BACK, cc="reno")
    assert connection.advance(10) == 10
    assert connection.received_bytes * 8 / 10 / 1e6 == pytest.approx(9.6, abs=0.4)
    cuts = [event for event in connection.events().column("event") if str(event).startswith("cut")]
    assert "cut_loss" in cuts
    windows = connection.windows()
    assert max(numpy.asarray(windows.column("cwnd"))) > 40
    assert windows.to_polars()["t_ns"].is_sorted()
    short = ib.transport.Connection(PATH, BACK, segments=20)
    assert short.advance(10) < 1 and short.is_done and short.snapshot.acked == 20


def test_a_connection_is_the_transfer_of_the_simulator() -> None:
    run = ib.sim.btc(rate="10Mbit", rtt="20ms", queue="40packets", duration=10, cc="reno")
    connection = ib.transport.Connection(PATH, BACK, cc="reno")
    connection.advance(10)
    mbps = connection.received_bytes * 8 / 10 / 1e6
    assert mbps == pytest.approx(run.summary.throughput_mbps, rel=0.01)


@pytest.mark.parametrize(
    ("estimator", "truth"),
    [(estimators.Pathrate(), 10), (estimators.Pathload(), 10), (estimators.RoundTrip(duration="2s"), 20.1)],
)
def test_estimators_find_the_truth_of_a_path(estimator: estimators.Estimator, truth: float) -> None:
    found = estimator.estimate(estimators.Probing(PATH, BACK).carry)
    assert found.value == pytest.approx(truth, rel=0.12), found.says


def test_an_estimator_is_driven_over_packets_of_one_s_own() -> None:
    trains: list[estimators.Train] = []

    def carry(train: estimators.Train) -> estimators.Passage:
        """A wire of 8 Mbit/s without a queue's end, by hand."""
        trains.append(train)
        sent = train.not_before_ns
        free, arrivals = sent, []
        for number, (gap, octets) in enumerate(zip(train.gaps_ns, train.octets, strict=True)):
            sent += gap if number else 0
            free = max(free, sent) + octets * 1_000
            arrivals.append(estimators.Arrival(number, sent, free + 5_000_000))
        return estimators.Passage(free + 10_000_000, len(arrivals), sent - train.not_before_ns, arrivals)

    found = estimators.Pathload(most="100Mbit").estimate(carry)
    assert found.value == pytest.approx(8, rel=0.1), found.says
    assert len(trains) > 10
    starts = [train.not_before_ns for train in trains]
    assert starts == sorted(starts)
    with pytest.raises(ZeroDivisionError):
        estimators.Pathload().estimate(lambda train: 1 // 0)  # type: ignore[arg-type, return-value]


def test_a_grid_is_written_as_toml() -> None:
    toml = to_toml({"measurements": ["btc"], "repetitions": 3, "parameters": {"max_window": [1, 2], "ecn": True, "note": 'a "b" ü'}})
    assert toml.splitlines() == [
        '"measurements" = ["btc"]',
        '"repetitions" = 3',
        "[parameters]",
        '"max-window" = [1, 2]',
        '"ecn" = true',
        '"note" = "a \\"b\\" ü"',
    ]
    assert json.loads(toml.splitlines()[0].split(" = ")[1]) == ["btc"]
