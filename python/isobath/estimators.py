"""Estimators of a path's properties, over anything that carries trains of probes.

An estimator says which train it wants next and is told what came of it. Who sends the train is up to you: a function with sockets of
your own, another simulator, or `Probing`, a path in virtual time:

    path = Probing([{"kind": "rate", "rate": "10Mbit"}, {"kind": "delay", "delay": "10ms"}])
    found = Pathload().estimate(path.carry)
    found.value, found.low, found.high       # Mbit/s
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from . import _isobath
from .figures import Figures
from .path import Stages, text


@dataclass(frozen=True)
class Train:
    """Probes to be sent together."""

    gaps_ns: list[int]
    """Time since the probe before each left, in nanoseconds; of no meaning for the first."""
    octets: list[int]
    """Length of each packet, IP header included."""
    echo: bool
    """Whether the receiver is to send each one back at once, as long as it is."""
    not_before_ns: int
    """The first probe leaves no earlier, on the sender's clock."""


class Arrival(NamedTuple):
    """A probe that has arrived. Instants are nanoseconds; the receiver's clock may differ from the sender's."""

    number: int
    """Its place in the train, from 0."""
    sent_ns: int
    """When it left, on the sender's clock."""
    arrived_ns: int
    """When it arrived, on the receiver's clock."""
    back: tuple[int, int] | None = None
    """Of an echoed probe: when the receiver sent it back (its clock), and when it was back (the sender's)."""


@dataclass(frozen=True)
class Passage:
    """What came of a train."""

    now_ns: int
    """When that was known, on the sender's clock."""
    sent: int
    """Probes that left."""
    lasted_ns: int
    """From the first one's departure to the last one's, as it was and not as it was asked for."""
    arrivals: Sequence[Arrival] = field(default_factory=list)
    """Those that arrived."""


Carry = Callable[[Train], Passage]
"""Carries a train and tells what came of it."""


class Probing:
    """A path in virtual time that carries trains of probes.

    Args:
        there: the path of the probes.
        back: that of the echoes; without it a wire.
        seed: of all chance.
    """

    def __init__(self, there: Stages, back: Stages = (), *, seed: int = 1) -> None:
        self._inner = _isobath.Probing(text(there), text(back), seed)

    def carry(self, train: Train) -> Passage:
        """Carries a train and tells what came of it."""
        came = self._inner.carry(train.gaps_ns, train.octets, train.echo, train.not_before_ns)
        now, sent, lasted, arrivals = came
        return Passage(now, sent, lasted, [Arrival(*arrival) for arrival in arrivals])


class Finding(Figures):
    """A figure of a path, or why there is none."""

    value: float | None
    """The best guess, in the estimator's unit; None when there is none."""
    low: float | None
    """The truth is at least this, as far as the method can tell."""
    high: float | None
    """And at most this."""
    conclusive: bool
    """Whether the method came to an end at which it can be believed."""
    says: str
    """What was found, or why nothing was, in a sentence."""
    details: Any
    """What else the method knows."""


class Estimator:
    """What all estimators share.

    Args:
        duration: how long is measured, where the method does not end by itself: `"10s"`.
        most: no probes faster than this.
        seed: of what is random in probing.
    """

    unit: ClassVar[str]
    """Of what is found."""
    _what: ClassVar[str]
    _method: ClassVar[str]
    _duration: ClassVar[str] = "10s"

    def __init__(self, *, duration: str | None = None, most: str = "1Gbit", seed: int = 1) -> None:
        plan = {"what": self._what, "method": self._method, "direction": "up", "class": "CS0"}
        self._plan = json.dumps({**plan, "duration": duration or self._duration, "most": most, "seed": seed})

    def estimate(self, carry: Carry) -> Finding:
        """Has `carry` send train after train until the estimator has its estimate.

        Raises:
            UsageError: an option cannot be. What `carry` raises comes through.
        """

        def carried(gaps_ns: list[int], octets: list[int], echo: bool, not_before_ns: int) -> Any:
            came = carry(Train(gaps_ns, octets, echo, not_before_ns))
            return came.now_ns, came.sent, came.lasted_ns, [tuple(arrival) for arrival in came.arrivals]

        return Finding(json.loads(_isobath.estimate(self._plan, carried)))


class Pathload(Estimator):
    """Available bandwidth by self-loading periodic streams (Jain and Dovrolis 2002); a tenth of the rate under test on average."""

    unit, _what, _method = "Mbit/s", "available", "pathload"


class PathloadFast(Estimator):
    """pathload without pauses between its streams."""

    unit, _what, _method = "Mbit/s", "available", "pathload-fast"


class Yaz(Estimator):
    """Available bandwidth by mean packet gaps of streams of calibrated length (Sommers, Barford and Willinger 2006)."""

    unit, _what, _method, _duration = "Mbit/s", "available", "yaz", "60s"


class Pathchirp(Estimator):
    """Available bandwidth by chirps, trains that sweep all rates (Ribeiro et al. 2003)."""

    unit, _what, _method, _duration = "Mbit/s", "available", "pathchirp", "60s"


class Pathrate(Estimator):
    """Capacity by the dispersion of packet pairs and trains (Dovrolis, Ramanathan and Moore 2004)."""

    unit, _what, _method = "Mbit/s", "capacity", "pathrate"


class Badabing(Estimator):
    """Share of time with packet loss, in per cent, by three-packet probes in random slots (Sommers et al. 2005)."""

    unit, _what, _method, _duration = "%", "loss", "badabing", "60s"


class RoundTrip(Estimator):
    """Round-trip time by a steady stream that is echoed."""

    unit, _what, _method = "ms", "rtt", "isochronous"


class Jitter(Estimator):
    """Delay variation between consecutive packets of a steady stream."""

    unit, _what, _method = "ms", "jitter", "isochronous"


__all__ = [
    "Arrival",
    "Badabing",
    "Carry",
    "Estimator",
    "Finding",
    "Jitter",
    "Passage",
    "Pathchirp",
    "Pathload",
    "PathloadFast",
    "Pathrate",
    "Probing",
    "RoundTrip",
    "Train",
    "Yaz",
]
