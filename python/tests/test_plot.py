"""Figures."""

from pathlib import Path

import matplotlib
import numpy
import pytest

import isobath as ib
from isobath import plot

matplotlib.use("agg")


def test_a_transfer_s_timeline_has_a_panel_for_each_table(here: Path) -> None:
    run = ib.sim.btc(rate="10Mbit", rtt="20ms", duration=2)
    figure = run.plot.timeline()
    assert [axes.get_ylabel() for axes in figure.axes] == ["RTT (ms)", "cwnd (segments)", "queue (packets)"]
    assert all(axes.lines for axes in figure.axes)
    figure.savefig(here / "x.svg")
    assert "cwnd (segments)" in (here / "x.svg").read_text()


def test_rrul_s_distributions_are_idle_and_under_load() -> None:
    run = ib.sim.rrul(lab="dsl", duration=5)
    found = plot.round_trips(run)
    assert set(found) == {"idle", "under load"}
    loaded = run.summary.latency_ms.loaded
    assert loaded is not None and max(found["idle"]) < loaded.p50
    labels = [str(line.get_label()) for line in run.plot.cdf().axes[0].lines]
    assert [label.split(" (")[0] for label in labels] == ["idle", "under load"]
    assert "score" in run.plot.scorecard().axes[0].get_title()
    assert len(run.plot.timeline().axes) == 3


def test_runs_are_compared_in_one_figure() -> None:
    runs = [ib.sim.btc(rate="10Mbit", rtt="20ms", duration=1, queue=queue) for queue in ("10packets", "100packets")]
    lines = plot.compare(runs, ["short", "long"]).axes[0].lines
    assert len(lines) == 2
    longest = [numpy.asarray(line.get_xdata()).max() for line in lines]
    assert longest[0] < longest[1]


def test_a_run_without_round_trips_says_so() -> None:
    run = ib.sim.estimate("capacity", rate="10Mbit", rtt="20ms")
    with pytest.raises(ib.IsobathError, match="no table of round trips"):
        run.plot.cdf()
