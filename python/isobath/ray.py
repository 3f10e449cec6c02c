"""Work on a Ray cluster: sweeps, experiments in virtual time, and captures by the hundred.

A task is a value that can be made anywhere and any number of times: it is sent as text, and what comes of it depends on that text
alone. So Ray may retry it when a worker or a node dies, and whoever gathers takes each result once. Every node needs this package,
of the same version, and the files that tasks read.
"""

import io
import json
import shlex
import socketserver
import sys
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from . import _isobath
from .errors import IsobathError, UsageError
from .extras import needed
from .options import Option, words
from .program import INTERRUPTED, USAGE
from .program import carry_out as carry_out_program
from .progress import Progress

T = TypeVar("T")
R = TypeVar("R")

Made = list[tuple[int, str, list[tuple[str, bytes]]]]
"""What a task of a sweep makes: of each run its number, its line, and the tables that are kept."""

SHARD = 16
"""Runs of a sweep that are one task, at most: a run takes milliseconds, and a task some, too."""


def connect(engine: str) -> Any:
    """Ray, connected: `"ray"` is the cluster that this machine belongs to, or one of its own; `"ray://HOST:10001"` another one.

    Raises:
        IsobathError: Ray is not installed, or there is no such cluster.
    """
    ray = needed("ray", "ray")
    if ray.is_initialized():
        return ray
    address = None if engine == "ray" else engine
    try:
        ray.init(address=address, configure_logging=False, log_to_driver=False)
    except Exception as error:
        raise IsobathError(f"no Ray cluster at {engine} - {str(error).splitlines()[0]}") from error
    return ray


def gather(function: Callable[[T], R], items: Sequence[T], *, engine: str = "ray", jobs: int | None = None) -> Iterator[tuple[T, R]]:
    """Has a cluster carry out `function` for every item, and yields each item with its result, once, as they come.

    A task whose worker or node dies is carried out again, as often as it takes; so `function` must do no harm when it is called twice.

    Args:
        function: of one item; it is sent to the workers.
        items: what it is called with.
        engine: see `connect`.
        jobs: tasks at a time; without it, twice as many as the cluster has processors.
    """
    ray = connect(engine)
    task = ray.remote(function).options(num_cpus=1, max_retries=-1, scheduling_strategy="SPREAD")
    most = jobs or max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
    waiting: dict[Any, T] = {}
    coming = iter(items)
    try:
        while True:
            for item in coming:
                waiting[task.remote(item)] = item
                if len(waiting) >= most:
                    break
            if not waiting:
                return
            ready, _ = ray.wait(list(waiting), num_returns=1)
            for reference in ready:
                yield waiting.pop(reference), ray.get(reference)
    finally:
        for reference in waiting:
            ray.cancel(reference)


def carry_out(held: _isobath.Sweep, toml: str, *, engine: str, jobs: int | None, watch: Callable[[int], None]) -> None:
    """Has a cluster make all runs of a sweep that are due; each is written down as it comes."""
    made = 0
    for _, runs in gather(make_shard, shards(toml, held.due()), engine=engine, jobs=jobs):
        for run in runs:
            held.take(*run)
        made += len(runs)
        watch(made)


def shards(toml: str, due: list[int]) -> list[tuple[str, str, list[int]]]:
    """The runs that are due as tasks: the sweep, the version that it wants, and numbers."""
    length = max(1, min(SHARD, len(due) // 8))
    return [(toml, _isobath.__version__, due[at : at + length]) for at in range(0, len(due), length)]


def make_shard(shard: tuple[str, str, list[int]]) -> Made:
    """Makes some runs of a sweep; what a task does."""
    toml, version, numbers = shard
    if version != _isobath.__version__:
        raise IsobathError(f"a worker has isobath {_isobath.__version__}, not {version} - install the same version on all nodes")
    maker = _isobath.Maker(toml)
    return [maker.make(number) for number in numbers]


def extract(
    captures: Sequence[str | Path],
    out: str | Path,
    *,
    engine: str = "ray",
    jobs: int | None = None,
    quiet: bool = False,
    **options: Any,
) -> list[Path]:
    """Extracts the connections of many captures, each a trace of its own, on a cluster.

    Args:
        captures: files that every node can read, under these names.
        out: folder for the vectors: a Parquet file each, in the order of the captures, which is one dataset together. Files that are
            there already are kept, so a call that was interrupted goes on.
        engine, jobs: see `gather`.
        options: as for `isobath.trace.extract`.

    Returns:
        The files, in the order of the captures.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{at:05}-{Path(capture).stem}.parquet" for at, capture in enumerate(captures)]
    due = [at for at, file in enumerate(files) if not file.exists()]
    tasks = [(at, str(Path(captures[at]).absolute()), options) for at in due]
    with Progress("trace extract", quiet=quiet) as progress:
        for done, (task, octets) in enumerate(gather(extract_one, tasks, engine=engine, jobs=jobs), start=1):
            unfinished = files[task[0]].with_suffix(".tmp")
            unfinished.write_bytes(octets)
            unfinished.rename(files[task[0]])
            progress.draw(len(files) - len(due) + done, len(files))
    return files


def extract_one(task: tuple[int, str, dict[str, Any]]) -> bytes:
    """Extracts the connections of one capture; what a task does. Returns the Parquet file."""
    from .trace import extract as extract_here

    _, capture, options = task
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "vectors.parquet"
        extract_here(capture, out, **options)
        return out.read_bytes()


def experiment(
    name: str,
    *,
    out: str | Path | None = None,
    engine: str = "ray",
    jobs: int | None = None,
    quiet: bool = False,
    **options: Option,
) -> str:
    """Runs an experiment in virtual time (`isobath experiment run NAME --world sim`), each of its measurements on a cluster.

    Args:
        name: of the experiment, or its TOML file.
        out: its folder; one of the same experiment is resumed. What measurements read of it (vectors) every node must be able to read,
            under the same name.
        engine: see `connect`.
        jobs: measurements at a time; without it, as many as the cluster has processors.
        options: any other option of `isobath experiment run`, such as `scale=0.1`.

    Returns:
        What the program prints: the verdict of each claim.
    """
    ray = connect(engine)
    most = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
    task = ray.remote(run_program).options(num_cpus=1, max_retries=-1, scheduling_strategy="SPREAD")
    named = {"world": "sim", "jobs": most, "out": str(Path(out).absolute()) if out is not None else None}
    with tempfile.TemporaryDirectory() as folder, _Desk(Path(folder), lambda *asked: ray.get(task.remote(*asked))) as desk:
        arguments = ["experiment", "run", name, "--quiet", *words({**named, **options})]
        ended = carry_out_program(arguments, title=f"experiment {name}", quiet=quiet, environment={"ISOBATH_SIM_PROGRAM": str(desk)})
    if ended.status == USAGE:
        raise UsageError(ended.line)
    if ended.status == INTERRUPTED:
        raise KeyboardInterrupt(ended.line)
    if ended.status not in (0, 1, 5):
        raise IsobathError(ended.line or f"the program ended with status {ended.status}")
    return ended.output


Answer = tuple[int, str, bytes]
"""How a measurement ended elsewhere: its exit status, its line on stderr, and its record as a tar archive."""


def run_program(arguments: list[str], folder: str) -> Answer:
    """Makes a measurement of an experiment; what a task does."""
    with tempfile.TemporaryDirectory() as place:
        record = Path(place) / "record"
        here = folder if Path(folder).is_dir() else place
        ended = carry_out_program([*arguments, f"--out={record}"], folder=here)
        packed = io.BytesIO()
        if record.is_dir():
            with tarfile.open(fileobj=packed, mode="w") as archive:
                archive.add(record, ".")
        return ended.status, ended.line, packed.getvalue()


class _Desk:
    """Where the program hands in measurements to be made elsewhere: a command to run, and the socket behind it."""

    def __init__(self, folder: Path, make: Callable[[list[str], str], Answer]) -> None:
        self._script, place = folder / "isobath-elsewhere", folder / "socket"
        elsewhere = Path(__file__).with_name("_elsewhere.py")
        command = shlex.join([sys.executable, "-IS", str(elsewhere), str(place)])
        self._script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        self._script.chmod(0o700)

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                asked = json.loads(self.rfile.readline())
                try:
                    status, line = _made(make, asked["arguments"], asked["folder"])
                except Exception as error:
                    status, line = 3, str(error).splitlines()[-1]
                self.wfile.write(json.dumps({"status": status, "line": line}).encode() + b"\n")

        self._server = socketserver.ThreadingUnixStreamServer(str(place), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> Path:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._script

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _made(make: Callable[[list[str], str], Answer], arguments: list[str], folder: str) -> tuple[int, str]:
    """Has a measurement made elsewhere, and puts its record where the arguments want it."""
    at = arguments.index("--out")
    status, line, packed = make(arguments[:at] + arguments[at + 2 :], folder)
    if packed:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(Path(folder) / arguments[at + 1], filter="data")
    return status, line


__all__ = ["connect", "experiment", "extract", "gather"]
