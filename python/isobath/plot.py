"""Figures of runs, by matplotlib: for papers and notebooks.

A figure is a matplotlib Figure, drawn in a column's width with text that stays text. `axes=` draws into a figure of one's own.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .errors import IsobathError
from .extras import needed
from .table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .run import Run

STYLE: dict[str, Any] = {
    "figure.figsize": (6.4, 3.4),
    "figure.dpi": 120,
    "savefig.bbox": "tight",
    "font.size": 9,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
"""How figures look: `matplotlib.rc_context(STYLE)` gives others the same looks."""

Panel = Callable[["Run[Any]", "Axes"], None]
"""Draws one panel of a timeline."""


class Plots:
    """Figures of one run; of several runs together see `compare`.

    All raise IsobathError when matplotlib is missing, or the run has not what the figure is made of.
    """

    def __init__(self, run: "Run[Any]") -> None:
        self._run = run

    def timeline(self) -> "Figure":
        """Throughput, round trips, windows and queues over time: a panel for each that the run has a table of."""
        panels = [panel for table, panel in _PANELS if table in self._run.tables]
        if not panels:
            raise IsobathError(f"a run of {self._run.test} has nothing that goes over time")
        pyplot = needed("matplotlib.pyplot", "plot")
        with needed("matplotlib", "plot").rc_context(STYLE):
            figure, axes = pyplot.subplots(len(panels), sharex=True, squeeze=False, figsize=(6.4, 1.0 + 1.7 * len(panels)))
            for panel, place in zip(panels, axes[:, 0], strict=True):
                panel(self._run, place)
            axes[-1, 0].set_xlabel("time (s)")
            figure.align_ylabels()
            pyplot.close(figure)
        return _drawn(figure)

    def cdf(self, axes: "Axes | None" = None) -> "Figure":
        """The distribution of round trips; of a run of RRUL, idle and under load."""

        def draw(place: "Axes") -> None:
            for name, values in round_trips(self._run).items():
                _cdf(place, name, values)

        return _one(draw, axes, _rtt_axes)

    def scorecard(self) -> "Figure":
        """What matters first, as bars: of a run of RRUL the five parts of its score, of any other run its distributions."""
        return _one(lambda place: _scorecard(self._run, place), None, lambda _: None)


def compare(runs: Sequence["Run[Any]"], labels: Sequence[str] | None = None, axes: "Axes | None" = None) -> "Figure":
    """The distributions of round trips under load of several runs, in one figure."""
    names = labels or [run.folder.name if run.folder is not None else run.id for run in runs]

    def draw(place: "Axes") -> None:
        for run, name in zip(runs, names, strict=True):
            found = round_trips(run)
            _cdf(place, name, found.get("under load", found.get("round trips")))

    return _one(draw, axes, _rtt_axes)


def round_trips(run: "Run[Any]") -> dict[str, Any]:
    """Round trips in ms, by phase: arrays of numpy. Lost probes are left out."""
    numpy = needed("numpy", "plot")
    if "round_trips" in run.tables:
        return {"round trips": numpy.asarray(run.table("round_trips").column("rtt_ns")) / 1e6}
    if "samples" not in run.tables:
        raise IsobathError(f"a run of {run.test} has no table of round trips")
    times, rtts = _probes(run)
    phases = run.summary.phases
    if phases is None or phases.load is None:
        return {"round trips": rtts}
    begin, end = phases.load
    return {"idle": rtts[times < begin], "under load": rtts[(times >= begin) & (times < end)]}


def _probes(run: "Run[Any]") -> tuple[Any, Any]:
    """When the answered requests of UDP were sent, in s, and their round trips, in ms."""
    numpy = needed("numpy", "plot")
    samples, streams = run.table("samples"), run.table("streams")
    kinds = zip(numpy.asarray(streams.column("id")).tolist(), streams.column("kind"), strict=True)
    wanted = [number for number, kind in kinds if kind == "udp_rr"]
    rtts = numpy.asarray(samples.column("rtt_ns"), dtype=float) / 1e6
    chosen = numpy.isin(numpy.asarray(samples.column("stream")), wanted) & numpy.isfinite(rtts)
    return numpy.asarray(samples.column("t_ns"))[chosen] / 1e9, rtts[chosen]


def _groups(table: Table, *names: str) -> dict[str, Any]:
    """Which rows have the same words in these columns."""
    numpy = needed("numpy", "plot")
    words = [" ".join(str(word) for word in row) for row in zip(*(table.column(name) for name in names), strict=True)]
    labels = numpy.asarray(words)
    return {label: labels == label for label in dict.fromkeys(words)}


def _throughput(run: "Run[Any]", axes: "Axes") -> None:
    numpy = needed("numpy", "plot")
    table = run.table("series")
    times = numpy.asarray(table.column("t_ns")) / 1e9
    octets = numpy.nan_to_num(numpy.asarray(table.column("delivered_bytes"), dtype=float))
    for direction, chosen in _groups(table, "direction").items():
        step = 0.5
        bins = numpy.floor(times[chosen] / step).astype(int)
        rates = numpy.bincount(bins, octets[chosen] * 8 / 1e6) / step
        if rates.any():
            axes.plot(numpy.arange(len(rates)) * step, rates, label=direction)
    axes.set_ylabel("Mbit/s")
    axes.legend(loc="upper right")


def _samples(run: "Run[Any]", axes: "Axes") -> None:
    times, rtts = _probes(run)
    axes.plot(times, rtts, ".", markersize=1.5, alpha=0.4)
    axes.set_ylabel("UDP RTT (ms)")
    axes.set_ylim(bottom=0)


def _transfer_round_trips(run: "Run[Any]", axes: "Axes") -> None:
    numpy = needed("numpy", "plot")
    table = run.table("round_trips")
    times, rtts = (numpy.asarray(table.column(name)) for name in ("t_ns", "rtt_ns"))
    axes.plot(times / 1e9, rtts / 1e6, ".", markersize=1.5, alpha=0.4)
    axes.set_ylabel("RTT (ms)")
    axes.set_ylim(bottom=0)


def _windows(run: "Run[Any]", axes: "Axes") -> None:
    numpy = needed("numpy", "plot")
    table = run.table("windows")
    times, cwnd = (numpy.asarray(table.column(name)) for name in ("t_ns", "cwnd"))
    transfers = numpy.asarray(table.column("transfer"))
    for transfer in numpy.unique(transfers):
        chosen = transfers == transfer
        axes.plot(times[chosen] / 1e9, cwnd[chosen], drawstyle="steps-post")
    axes.set_ylabel("cwnd (segments)")
    axes.set_ylim(bottom=0)


def _queue(run: "Run[Any]", axes: "Axes") -> None:
    numpy = needed("numpy", "plot")
    table = run.table("queue")
    times, packets = (numpy.asarray(table.column(name)) for name in ("t_ns", "packets"))
    for name, chosen in _groups(table, "link", "direction").items():
        if packets[chosen].any():
            axes.plot(times[chosen] / 1e9, packets[chosen], label=name)
    axes.set_ylabel("queue (packets)")
    axes.legend(loc="upper right")


_PANELS: list[tuple[str, Panel]] = [
    ("series", _throughput),
    ("samples", _samples),
    ("round_trips", _transfer_round_trips),
    ("windows", _windows),
    ("queue", _queue),
]


def _cdf(axes: "Axes", name: str, values: Any) -> None:
    numpy = needed("numpy", "plot")
    if values is None or not len(values):
        return
    ordered = numpy.sort(values)
    axes.plot(ordered, numpy.arange(1, len(ordered) + 1) / len(ordered), drawstyle="steps-post", label=f"{name} (n={len(ordered)})")


def _rtt_axes(axes: "Axes") -> None:
    axes.set_xscale("log")
    axes.set_xlabel("RTT (ms)")
    axes.set_ylabel("share of probes")
    axes.set_ylim(0, 1)
    axes.legend(loc="lower right")


def _scorecard(run: "Run[Any]", axes: "Axes") -> None:
    score = getattr(run.summary, "score", None)
    if score is not None:
        parts = [name for name in ("web", "voip", "realtime", "fairness", "classification") if score[name] is not None]
        axes.barh(parts, [score[name] for name in parts])
        total = f"{score.total:.0f} of 100" if score.total is not None else "without a total"
        axes.set_title(f"score: {total}")
        axes.set_xlabel("points")
        axes.invert_yaxis()
        return
    spreads = [(name, part) for name in run.summary if getattr(part := run.summary[name], "p50", None) is not None]
    if not spreads:
        raise IsobathError(f"a run of {run.test} has no score and no distribution in its summary")
    for at, (_, part) in enumerate(spreads):
        axes.plot([part.min, part.max], [at, at], color="C0", linewidth=1)
        axes.plot([part.p50, part.p95], [at, at], color="C0", linewidth=5, solid_capstyle="butt")
    axes.set_yticks(range(len(spreads)), [name for name, _ in spreads])
    axes.set_xlabel("least to greatest; thick: median to 95th percentile")


def _one(draw: Callable[["Axes"], Any], axes: "Axes | None", finish: Callable[["Axes"], None]) -> "Figure":
    """Draws into these axes, or into a figure of its own."""
    pyplot = needed("matplotlib.pyplot", "plot")
    with needed("matplotlib", "plot").rc_context(STYLE):
        place = axes if axes is not None else pyplot.subplots()[1]
        draw(place)
        finish(place)
        if axes is None:
            pyplot.close(place.figure)
    return _drawn(place.figure)


def _drawn(figure: Any) -> "Figure":
    """The figure; a notebook shows it once, as what a cell returns."""
    drawn: Figure = figure
    return drawn
