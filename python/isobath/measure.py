"""Measurements that the program makes: to a host that runs `isobath serve`, or in an emulated network (`lab=`).

Every function takes the options of its verb (`isobath rrul --help`) as keyword arguments, with underscores: `packet_log=True` is
`--packet-log`. Those that are named in a signature are the usual ones. All return a `Run`, whose record stays in `run.folder`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _isobath
from .errors import Interrupted, MeasurementError, UsageError
from .options import Option, words
from .program import INTERRUPTED, USAGE, carry_out
from .run import Run

if TYPE_CHECKING:
    from .summaries import (
        BtcSummary,
        EstimateSummary,
        MbmSummary,
        MedianetSummary,
        ReplaySummary,
        RpmSummary,
        RrulSummary,
        TrialSummary,
        UdpstSummary,
    )

Hosts = str | list[str] | None
"""A far end that runs `isobath serve`: HOST or HOST:PORT, IPv6 in brackets; some plans of rrul take several."""


def rrul(
    host: Hosts = None,
    *,
    lab: str | None = None,
    plan: str | None = None,
    duration: str | float | None = None,
    key: str | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[RrulSummary]":
    """Latency under load (RRUL): how the path responds while it is full.

    Args:
        host: the far end; or none, with `lab`.
        lab: an emulated network: a name from `isobath lab list`, or a TOML file.
        plan: which streams and probes: a name from `isobath rrul --list-plans`, or a TOML file.
        duration: of the load: a text with a unit (`"20s"`), or seconds.
        key: the far end's access key.
        out: folder for the record; by default a new one in `isobath-runs`.
        quiet: show no progress.
        options: any other option of `isobath rrul`.

    Raises:
        UsageError: what was asked for cannot be.
        MeasurementError: nothing could be measured, or not to the end.
        Interrupted: Ctrl-C; its `run` is the record so far.
    """
    named = {"lab": lab, "plan": plan, "duration": duration}
    return _measure(["rrul"], _hosts(host), named, options, key=key, out=out, quiet=quiet)


def btc(
    host: str | None = None,
    *,
    lab: str | None = None,
    duration: str | float | None = None,
    key: str | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[BtcSummary]":
    """Bulk transfer capacity (RFC 3148): what one standard transfer gets. See `rrul` for the common arguments and errors."""
    named = {"lab": lab, "duration": duration}
    return _measure(["btc"], _hosts(host), named, options, key=key, out=out, quiet=quiet)


def mbm(
    host: str | None = None,
    *,
    lab: str | None = None,
    rate: str | None = None,
    rtt: str | None = None,
    target: str | None = None,
    key: str | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[MbmSummary]":
    """Whether a path can carry an application that needs `rate` over `rtt` (RFC 8337), or a built-in `target`.

    The verdict is `run.verdict`. See `rrul` for the common arguments and errors.
    """
    named = {"lab": lab, "rate": rate, "rtt": rtt, "target": target}
    return _measure(["mbm"], _hosts(host), named, options, key=key, out=out, quiet=quiet)


def estimate(
    what: str,
    host: str | None = None,
    *,
    lab: str | None = None,
    estimator: str | None = None,
    duration: str | float | None = None,
    key: str | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[EstimateSummary]":
    """One property of a path: `rtt`, `owd`, `jitter`, `loss`, `capacity`, `available` or `bottleneck`.

    The figure is `run.summary.value`, in `run.summary.unit`. See `rrul` for the common arguments and errors.
    """
    named = {"lab": lab, "estimator": estimator, "duration": duration}
    return _measure(["estimate", what], _hosts(host), named, options, key=key, out=out, quiet=quiet)


def rpm(
    url: str,
    *,
    ways: str = "both",
    ca: str | Path | None = None,
    insecure: bool = False,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[RpmSummary]":
    """Responsiveness under load (RPM) over HTTP/2 (or `http="h3"`), against any server that supports it: `https://HOST:4043`.

    Load goes `"down"`, `"up"` or `"both"`, one after the other. The server's certificate must be vouched for by the system's
    authorities, or by those of the PEM file `ca`; `insecure` believes any. See `rrul` for the other arguments and errors.
    """
    named = {"ways": ways, "ca": ca, "insecure": insecure}
    return _measure(["rpm"], [url], named, options, key=None, out=out, quiet=quiet)


def udpst(
    host: str,
    *,
    ways: str = "both",
    duration: str | None = None,
    udpst_key: str | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[UdpstSummary]":
    """The maximum IP-layer capacity (RFC 9097), against any server of the UDP Speed Test Protocol (RFC 9946).

    Load goes `"down"`, `"up"` or `"both"`, one after the other, for `duration` each. `udpst_key` is the key that the server
    shares with its clients. See `rrul` for the other arguments and errors.
    """
    named = {"ways": ways, "duration": duration, "udpst_key": udpst_key}
    return _measure(["udpst"], [host], named, options, key=None, out=out, quiet=quiet)


def replay(
    vectors: str | Path,
    host: str | None = None,
    *,
    lab: str | None = None,
    key: str | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[ReplaySummary]":
    """Replays the connection vectors of a file over real sockets. See `rrul` for the common arguments and errors."""
    named = {"lab": lab}
    return _measure(["replay", str(vectors)], _hosts(host), named, options, key=key, out=out, quiet=quiet)


def trial(
    probes: str,
    *,
    riding: bool = True,
    lab: str | None = None,
    duration: str | float | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Option,
) -> "Run[TrialSummary]":
    """A trial of the manager: an application beside the measurement tool `probes`, whose probes carry its packets or do not."""
    named = {"probes": probes, "riding": "on" if riding else "off", "lab": lab, "duration": duration}
    return _measure(["manager", "trial"], [], named, options, key=None, out=out, quiet=quiet)


def medianet(*, lab: str | None = None, out: str | Path | None = None, quiet: bool = False, **options: Option) -> "Run[MedianetSummary]":
    """MediaNet, an application that adapts to what estimators find of its path."""
    return _measure(["manager", "medianet"], [], {"lab": lab}, options, key=None, out=out, quiet=quiet)


def _hosts(host: Hosts) -> list[str]:
    if host is None:
        return []
    return [host] if isinstance(host, str) else list(host)


def _measure(
    verb: list[str],
    hosts: list[str],
    named: dict[str, Any],
    options: dict[str, Any],
    *,
    key: str | None,
    out: str | Path | None,
    quiet: bool,
) -> Run[Any]:
    towards = str(named.get("lab") or ",".join(hosts))
    folder = Path(out) if out is not None else Path(_isobath.new_folder("-".join(verb[:1]), towards))
    arguments = [*verb, *hosts, *words({**named, **options}), f"--out={folder}", "--quiet"]
    ended = carry_out(
        arguments,
        title=f"{verb[0]} {towards}".strip(),
        expected_s=_seconds(named.get("duration")),
        quiet=quiet,
        # A key on the command line is there for everybody to see.
        environment={"ISOBATH_KEY": key} if key else None,
    )
    if ended.status == USAGE:
        raise UsageError(ended.line)
    run = Run.open(folder) if (folder / "run.json").exists() else None
    if ended.status == INTERRUPTED:
        raise Interrupted("interrupted" + (f" - the record is kept: isobath.open('{folder}')" if run else ""), run)
    if ended.status not in (0, 1, 4, 5) or run is None:
        raise MeasurementError(ended.line or f"the program ended with status {ended.status}", run)
    return run


def _seconds(duration: Any) -> float | None:
    """What a duration comes to, for whoever watches; None where it is not plain."""
    text = str(duration).strip()
    for unit, seconds in (("ms", 0.001), ("min", 60.0), ("s", 1.0), ("h", 3600.0), ("", 1.0)):
        number = text.removesuffix(unit) if unit else text
        if text.endswith(unit) and number.replace(".", "", 1).isdigit():
            return float(number) * seconds
    return None


__all__ = ["btc", "estimate", "mbm", "medianet", "replay", "rpm", "rrul", "trial", "udpst"]
