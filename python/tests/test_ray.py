"""Sweeps and captures on a cluster of two nodes of this machine, one of which is killed while it works."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

import isobath as ib

pytestmark = pytest.mark.ray

GRID = {
    "measurements": "btc --rate 10Mbit --loss 1% --duration 2s",
    "repetitions": 8,
    "parameters": {"rtt": ["10ms", "20ms", "40ms", "80ms"], "cc": ["cubic", "reno"]},
    "tables": ["transfers"],
}
RAY = [str(Path(sys.executable).with_name("ray")), "start", "--num-cpus=2", "--object-store-memory=100000000", "--block"]


class Node:
    """A node of the cluster: the process that holds it, and its children."""

    def __init__(self, *arguments: str) -> None:
        # Ray's server of its clients forks while threads use gRPC, and newer grpcio minds.
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "GRPC_ENABLE_FORK_SUPPORT": "0"}
        self.process = subprocess.Popen([*RAY, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pids(self) -> list[int]:
        """All processes of the node."""
        parents: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
        found = [self.process.pid]
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid]
        return found

    def kill(self) -> None:
        """As when the power goes; nothing when it has gone."""
        if self.process.poll() is not None:
            return
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def clients() -> int:
    """The port of the cluster for clients that are no node of it."""
    return _free_port()


@pytest.fixture(scope="module")
def head(clients: int) -> Iterator[int]:
    """A cluster of one node; yields its port."""
    port = _free_port()
    own = (f"--port={port}", f"--ray-client-server-port={clients}")
    node = Node("--head", *own, "--include-dashboard=false", "--node-ip-address=127.0.0.1")
    os.environ["RAY_ADDRESS"] = f"127.0.0.1:{port}"
    try:
        _until(lambda: _nodes() >= 1)
        yield port
    finally:
        import ray

        ray.shutdown()
        del os.environ["RAY_ADDRESS"]
        node.kill()


@pytest.fixture
def second(head: int) -> Iterator[Node]:
    """A second node of the cluster."""
    node = Node(f"--address=127.0.0.1:{head}", "--node-ip-address=127.0.0.1")
    try:
        _until(lambda: _nodes() == 2)
        yield node
    finally:
        node.kill()


def _until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.3)


def _nodes() -> int:
    """Nodes that live; connects when that is possible."""
    try:
        ray = ib.ray.connect("ray")
    except ib.IsobathError:
        return 0
    return sum(node["Alive"] for node in ray.nodes())


def marking(marks: str) -> Callable[[Any], Any]:
    """What a shard's task does, with a mark when it begins and one when it ends: number, process, and which of both."""

    def make_shard(shard: Any) -> Any:
        import os
        import time
        from pathlib import Path

        from isobath.ray import make_shard as make

        name = f"{shard[2][0]}-{os.getppid()}"
        (Path(marks) / f"{name}-begun").touch()
        time.sleep(0.5)
        made = make(shard)
        (Path(marks) / f"{name}-ended").touch()
        return made

    return make_shard


def test_a_node_that_is_killed_loses_nothing_and_doubles_nothing(here: Path, second: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    ib.sweep(GRID, out="alone")
    marks = here / "marks"
    marks.mkdir()
    monkeypatch.setattr(ib.ray, "make_shard", marking(str(marks)))
    killed: set[str] = set()

    def kill() -> None:
        """Kills the second node while its tasks run, and notes which these were."""
        pids = {str(pid) for pid in second.pids()}

        def at_work() -> set[str]:
            begun = {tuple(mark.name.split("-")) for mark in marks.iterdir()}
            return {number for number, pid, what in begun if pid in pids and what == "begun" and (number, pid, "ended") not in begun}

        _until(lambda: len(at_work()) == 2 and len(list(marks.glob("*-ended"))) >= 4)
        second.kill()
        killed.update(at_work())

    thread = threading.Thread(target=kill)
    thread.start()
    sweep = ib.sweep(GRID, out="cluster", engine="ray", quiet=True)
    thread.join()
    assert killed, "no task was at work on the node when it was killed"
    for number in killed:
        begun = list(marks.glob(f"{number}-*-begun"))
        assert len(begun) >= 2, f"the task of run {number} was not retried"
    assert (sweep.runs, sweep.complete) == (64, 64)
    lines = Path("cluster/runs.jsonl").read_text().splitlines()
    assert len(lines) == 64
    assert Path("cluster/runs.parquet").read_bytes() == Path("alone/runs.parquet").read_bytes()
    for run in range(1, 65):
        kept = f"transfers/{run}.parquet"
        assert (Path("cluster") / kept).read_bytes() == (Path("alone") / kept).read_bytes()


CLIENT = """
import json
import sys
import isobath as ib

grid, engine = json.loads(sys.argv[1]), sys.argv[2]
sweep = ib.sweep(grid, out="away", engine=engine, quiet=True)
print(sweep.complete)
"""


def test_a_sweep_is_made_by_a_cluster_that_one_is_no_node_of(here: Path, head: int, clients: int) -> None:
    grid = {**GRID, "repetitions": 1}
    ib.sweep(grid, out="alone")
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    client = [sys.executable, "-c", CLIENT, json.dumps(grid), f"ray://127.0.0.1:{clients}"]
    made = subprocess.run(client, env=environment, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout) == (0, "8\n"), made.stderr
    assert Path("away/runs.parquet").read_bytes() == Path("alone/runs.parquet").read_bytes()


def test_captures_by_the_dozen_are_as_from_one_process(
    here: Path, head: int, capture: Callable[[Path, list[tuple[int, int]]], Path]
) -> None:
    captures = [capture(here / f"{at}.pcap", [(100 + at, 1_000 * (1 + part)) for part in range(at % 5 + 1)]) for at in range(32)]
    files = ib.ray.extract(captures, "vectors", quiet=True)
    assert [file.name for file in files][:2] == ["00000-0.parquet", "00001-1.parquet"]
    together = polars.concat([polars.read_parquet(file) for file in files])
    alone = polars.concat([ib.trace.extract(file).to_polars() for file in captures])
    assert together.equals(alone)
    before = {file: file.stat().st_mtime_ns for file in files}
    files[3].unlink()
    assert ib.ray.extract(captures, "vectors", quiet=True) == files
    assert [file for file in files if file.stat().st_mtime_ns != before[file]] == [files[3]]


EXPERIMENT = """
title = "What do connections lose?"
about = "Some connections with and without what they wait."
papers = ["J. Aikat 2010"]
[study.replay]
mix = "unc-2008"
share = "1/100"
starts = "6s"
longest = "1s"
warm_up = "1s"
repeats = 1
capacity = 50.0
[study.replay.whole]
share = "1/100"
starts = "10s"
warm_up = "2s"
[[study.replay.families]]
structures = ["block-sequential", "a-t-b-t"]
rtts = ["usernet"]
"""


def test_an_experiment_finds_on_a_cluster_what_it_finds_alone(here: Path, head: int) -> None:
    Path("e.toml").write_text(EXPERIMENT)
    alone = json.loads(ib.program("experiment", "run", "e.toml", "--world", "sim", "--json", "--quiet", "--out", "alone"))
    away = json.loads(ib.ray.experiment("e.toml", out="away", json=True, quiet=True))
    assert away["tables"] == alone["tables"]
    assert away["cases"] == alone["cases"]
    records = sorted(run.folder.name for run in ib.runs("away") if run.folder is not None)
    assert records == sorted(run.folder.name for run in ib.runs("alone") if run.folder is not None)
