"""What a path does to packets: queues, rates, delays and losses as machines without a clock.

A path is a list of stages, each a dictionary as a lab's TOML has it (docs/lab.md):

    [{"kind": "rate", "rate": "12Mbit", "queue": {"kind": "codel"}}, {"kind": "delay", "delay": "20ms"}]

Everything happens at its own instant, so a path does the same to the same packets every time.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _isobath
from .table import Table

Stages = Sequence[Mapping[str, Any]]
"""The stages of a path in the order in which packets pass them."""


class Count(NamedTuple):
    """Packets, and the octets in them."""

    packets: int
    bytes: int


class Stage(NamedTuple):
    """What a stage has done to packets. `entered + duplicated == left + queued + overflow + aqm + loss`, always."""

    kind: str
    """What it is: `rate`, `delay`, `loss`, ..."""
    entered: Count
    left: Count
    queued: Count
    """Inside now: waiting, in transmission, or in flight."""
    duplicated: Count
    overflow: Count
    """Dropped because the queue was full."""
    aqm: Count
    """Dropped by active queue management."""
    loss: Count
    """Dropped by a loss process."""
    marked: Count
    """Marked (ECN) instead of dropped."""
    backlog: Count
    """Waiting in the queue now."""


class Pipeline:
    """A path, and packets by the million through it.

    >>> path = Pipeline([{"kind": "rate", "rate": "12Mbit"}, {"kind": "delay", "delay": "5ms"}])
    >>> left = path.process(numpy.arange(0, 10**9, 10**6, dtype="uint64"), 1_500)
    >>> numpy.asarray(left.column("at_ns"))

    Args:
        stages: of the path; none makes a wire.
        seed: of all chance in it.

    Raises:
        UsageError: a stage contradicts itself, or there is none of its kind.
    """

    def __init__(self, stages: Stages, *, seed: int = 1) -> None:
        self._inner = _isobath.Pipeline(text(stages), seed)

    def process(self, at_ns: Any, size_bytes: Any, flow: Any = None, *, ect: bool = False) -> Table:
        """Puts packets in; returns those that have left by the last of their instants.

        Args:
            at_ns: when each comes, in nanoseconds, sorted: an array of uint64. Not earlier than what was processed before.
            size_bytes: octets of each on the link: an array of uint32, or one number for all.
            flow: the flow of each: an array of uint64, or one number for all; 0 without it.
            ect: whether they may be marked instead of dropped (ECN, RFC 3168).

        Returns:
            A row for each packet that left: `number` (from 0, in the order in which they were put in), `flow`, `size_bytes`, `at_ns`
            (when it left) and `ce` (whether it was marked). Those that were dropped are missing.

        Raises:
            UsageError: time goes back, or an array has another length.
        """
        return Table(self._inner.process(at_ns, size_bytes, flow, ect))

    def drain(self, until_ns: int | None = None) -> Table:
        """Lets time pass until that instant, or until nothing is inside; returns the packets that left meanwhile."""
        return Table(self._inner.drain(until_ns))

    @property
    def stages(self) -> list[Stage]:
        """What each stage has done so far."""
        counters = self._inner.counters()
        return [Stage(kind, **{name: Count(*count) for name, count in counts.items()}) for kind, counts in counters]


def text(stages: Stages) -> str:
    """The stages as JSON."""
    return json.dumps([dict(stage) for stage in stages])


__all__ = ["Count", "Pipeline", "Stage", "Stages"]
