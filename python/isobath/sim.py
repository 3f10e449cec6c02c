"""Measurements in virtual time, in this process: the same machines, tables and summaries as on real sockets, in a world of values.

Ten seconds take milliseconds, nothing disturbs them, and the same options and seed give the same tables to the last octet. Python's
lock is let go meanwhile, so threads run simulations side by side. What is simulated and what is not: docs/sim.md.

Every function takes the options of its verb (`isobath sim btc --help`) as keyword arguments, with underscores. A `loss` is a share
(0.001) or a text (`"0.1%"`). Without `out` the run lives in memory; with it, it leaves a record there.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _isobath
from .options import Option, words
from .run import Run
from .table import Table

if TYPE_CHECKING:
    from .summaries import (
        BtcSummary,
        EstimateSummary,
        MbmSummary,
        MedianetSummary,
        ReplaySummary,
        RrulSummary,
        TrialSummary,
    )

Out = str | Path | None


def btc(
    *,
    rate: str | None = None,
    rtt: str | None = None,
    loss: float | str | None = None,
    lab: str | None = None,
    duration: str | float | None = None,
    flows: int | None = None,
    cc: str | None = None,
    seed: int | None = None,
    out: Out = None,
    **options: Option,
) -> "Run[BtcSummary]":
    """Bulk transfers over one bottleneck, or over the path of a lab.

    Args:
        rate: of the bottleneck, IP headers included: `"100Mbit"`.
        rtt: without queueing: `"20ms"`.
        loss: behind the bottleneck: a share from 0 to 1, or `"0.1%"`.
        lab: instead of rate and rtt, the path of an emulated network.
        duration: of a transfer: a text with a unit, or seconds; 10 s by default.
        flows: transfers at once.
        cc: `"cubic"` or `"reno"`.
        seed: of all chance.
        out: folder for a record.
        options: any other option of `isobath sim btc`.

    Raises:
        UsageError: what was asked for cannot be.
    """
    named = {"rate": rate, "rtt": rtt, "loss": loss, "lab": lab, "duration": duration, "flows": flows, "cc": cc, "seed": seed}
    return _simulate(["btc"], {**named, **options}, out)


def estimate(
    what: str,
    *,
    rate: str | None = None,
    rtt: str | None = None,
    loss: float | str | None = None,
    lab: str | None = None,
    estimator: str | None = None,
    seed: int | None = None,
    out: Out = None,
    **options: Option,
) -> "Run[EstimateSummary]":
    """One property of such a path, whose true value is known: `rtt`, `owd`, `jitter`, `loss`, `capacity` or `available`."""
    named = {"rate": rate, "rtt": rtt, "loss": loss, "lab": lab, "estimator": estimator, "seed": seed}
    return _simulate(["estimate", what], {**named, **options}, out)


def mbm(
    *,
    rate: str | None = None,
    rtt: str | None = None,
    path_rate: str | None = None,
    path_rtt: str | None = None,
    loss: float | str | None = None,
    lab: str | None = None,
    seed: int | None = None,
    out: Out = None,
    **options: Option,
) -> "Run[MbmSummary]":
    """Whether such a path (`path_rate`, `path_rtt`, or a lab's) carries an application that needs `rate` over `rtt` (RFC 8337)."""
    named = {"rate": rate, "rtt": rtt, "path_rate": path_rate, "path_rtt": path_rtt, "loss": loss, "lab": lab, "seed": seed}
    return _simulate(["mbm"], {**named, **options}, out)


def rrul(
    *,
    lab: str,
    plan: str | None = None,
    duration: str | float | None = None,
    seed: int | None = None,
    out: Out = None,
    **options: Option,
) -> "Run[RrulSummary]":
    """Latency under load over the path of a lab."""
    return _simulate(["rrul"], {"lab": lab, "plan": plan, "duration": duration, "seed": seed, **options}, out)


def replay(
    vectors: str | Path, *, lab: str | None = None, seed: int | None = None, out: Out = None, **options: Option
) -> "Run[ReplaySummary]":
    """Replays the connection vectors of a file; a trace's whole hour takes minutes."""
    return _simulate(["replay", str(vectors)], {"lab": lab, "seed": seed, **options}, out)


def trial(probes: str, *, riding: bool = True, seed: int | None = None, out: Out = None, **options: Option) -> "Run[TrialSummary]":
    """A trial of the manager beside an application, as `isobath manager trial`."""
    named = {"probes": probes, "riding": "on" if riding else "off", "seed": seed}
    return _simulate(["trial"], {**named, **options}, out)


def medianet(*, seed: int | None = None, out: Out = None, **options: Option) -> "Run[MedianetSummary]":
    """MediaNet, an application that adapts to its path, as `isobath manager medianet`."""
    return _simulate(["medianet"], {"seed": seed, **options}, out)


def _simulate(verb: list[str], options: dict[str, Any], out: Out) -> Run[Any]:
    text, tables = _isobath.simulate([*verb, *words(options)], out)
    if out is not None:
        return Run.open(out)
    return Run(json.loads(text), None, {name: Table(table) for name, table in tables.items()})


__all__ = ["btc", "estimate", "mbm", "medianet", "replay", "rrul", "trial"]
