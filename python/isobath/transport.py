"""Standard congestion control and loss recovery as machines: which segment leaves when, and which acknowledgement goes back.

`Connection` is a whole transfer over a path in virtual time that can be stopped anywhere and looked at. `Sender` and `Receiver` are
its two machines, for a world of one's own: every method takes `now_ns`, and nothing happens between two calls. The rules are those of
RFC 5681, 6298, 6582, 6675, 6937, 8985 and 9438; which of them hold is an option.
"""

import json
from typing import Any

from . import _isobath
from ._isobath import Ack, Segment
from .figures import Figures
from .path import Stages, text
from .table import Table


class Snapshot(Figures):
    """How a sender stands."""

    cwnd: float
    """Congestion window, in segments."""
    ssthresh: float | None
    """Slow start threshold, in segments; None before the first loss."""
    flight: int
    """Segments that are held to be in the network."""
    una: int
    """Oldest segment that is not acknowledged."""
    next: int
    """Next new segment."""
    window: int
    """The receiver's window beyond `una`, in segments."""
    srtt_ms: float | None
    """Smoothed round trip (RFC 6298)."""
    rttvar_ms: float
    """Its variation."""
    rto_ms: float
    """The timeout that follows from both."""
    min_rtt_ms: float | None
    """Least round trip of the last minutes."""
    in_recovery: bool
    """Whether a fast recovery is under way."""
    in_loss: bool
    """Whether a timeout is being repaired."""
    packets: int
    """Packets that were sent, copies among them."""
    bytes: int
    """Octets of payload in them."""
    retransmits: int
    """Copies of segments that had been sent before."""
    acked: int
    """Segments acknowledged in order."""
    acked_bytes: int
    """Octets of payload in those."""
    timeouts: int
    """Retransmission timeouts."""
    recoveries: int
    """Fast recoveries that were begun."""
    marks: int
    """Reactions to marks (ECN)."""


def rules(cc: str, options: dict[str, Any]) -> str:
    """The options of a sender and a receiver as JSON; `law` is what records call the congestion control."""
    return json.dumps({"law": cc, **options})


class Sender:
    """The sending end of a transfer.

    The order: `handle_ack` when one arrives, `handle_timeout` when `next_timeout` has come, and after each `poll_transmit` until it
    says None. Time never goes back.

    Args:
        cc: `"cubic"` (RFC 9438) or `"reno"` (RFC 5681).
        seed: of the packets' names.
        options: any of the transport's options, such as `mss=1448`, `initial_window=10`, `prr=False`, `rack=False`, `ecn=True`.

    Raises:
        UsageError: there is no such option.
    """

    def __init__(self, *, cc: str = "cubic", seed: int = 1, **options: Any) -> None:
        self._inner = _isobath.Sender(rules(cc, options), seed)

    def supply(self, segments: int) -> None:
        """Gives it so many full segments more to send."""
        self._inner.supply(segments)

    def close(self) -> None:
        """Takes back what has not been sent yet, and marks the end."""
        self._inner.close()

    def poll_transmit(self, now_ns: int) -> Segment | None:
        """The next segment to leave, if any may."""
        return self._inner.poll_transmit(now_ns)

    def handle_ack(self, ack: Ack, now_ns: int) -> None:
        """An acknowledgement arrived."""
        self._inner.handle_ack(ack, now_ns)

    def next_timeout(self) -> int | None:
        """When to call `handle_timeout`, in nanoseconds."""
        return self._inner.next_timeout()

    def handle_timeout(self, now_ns: int) -> None:
        """The instant of `next_timeout` has come."""
        self._inner.handle_timeout(now_ns)

    @property
    def is_done(self) -> bool:
        """Whether all that was sent has been acknowledged, after `close`."""
        return self._inner.is_done

    @property
    def snapshot(self) -> Snapshot:
        """How it stands."""
        return Snapshot(json.loads(self._inner.snapshot()))

    def events(self) -> list[tuple[str, tuple[float, float] | None]]:
        """What happened since the last call, oldest first; of a cut also the window before and after."""
        return self._inner.events()


class Receiver:
    """The receiving end of a transfer; the options are those of `Sender`, of which it needs a few."""

    def __init__(self, *, cc: str = "cubic", **options: Any) -> None:
        self._inner = _isobath.Receiver(rules(cc, options))

    def handle_segment(self, segment: Segment, now_ns: int, *, ce: bool = False) -> None:
        """A segment arrived, perhaps marked on its way."""
        self._inner.handle_segment(segment, now_ns, ce)

    def poll_transmit(self, now_ns: int) -> Ack | None:
        """The next acknowledgement to leave, if any."""
        return self._inner.poll_transmit(now_ns)

    def next_timeout(self) -> int | None:
        """When to call `handle_timeout`, in nanoseconds."""
        return self._inner.next_timeout()

    def handle_timeout(self, now_ns: int) -> None:
        """The instant of `next_timeout` has come."""
        self._inner.handle_timeout(now_ns)

    @property
    def bytes(self) -> int:
        """Octets of payload that have arrived in order."""
        return self._inner.bytes


class Connection:
    """A bulk transfer over a path in virtual time.

    >>> path = [{"kind": "rate", "rate": "10Mbit", "queue": {"kind": "fifo", "packets": 33}}, {"kind": "delay", "delay": "10ms"}]
    >>> connection = Connection(path, [{"kind": "delay", "delay": "10ms"}], cc="reno")
    >>> connection.advance(seconds=2)
    >>> connection.snapshot.cwnd

    Args:
        there: the path of the segments, which have 52 octets of headers.
        back: that of the acknowledgements.
        cc, options: as for `Sender`.
        segments: how many are sent; without it there is no end.
        seed: of all chance.
    """

    def __init__(
        self, there: Stages, back: Stages, *, cc: str = "cubic", segments: int | None = None, seed: int = 1, **options: Any
    ) -> None:
        self._inner = _isobath.Connection(rules(cc, options), text(there), text(back), segments, seed)

    def advance(self, seconds: float) -> float:
        """Lets so much time pass, or less when all is acknowledged before; returns what time it is, in seconds."""
        return self._inner.advance(self._inner.now_ns + round(seconds * 1e9)) / 1e9

    @property
    def now_s(self) -> float:
        """What time it is, in seconds."""
        return self._inner.now_ns / 1e9

    @property
    def received_bytes(self) -> int:
        """Octets of payload that have arrived in order."""
        return self._inner.received_bytes

    @property
    def is_done(self) -> bool:
        """Whether all has been acknowledged."""
        return self._inner.is_done

    @property
    def snapshot(self) -> Snapshot:
        """How the sender stands."""
        return Snapshot(json.loads(self._inner.snapshot()))

    def windows(self) -> Table:
        """How the sender stood: at every cut, and at every change at most once a millisecond."""
        return Table(self._inner.windows())

    def events(self) -> Table:
        """What happened to the sender: cuts of its window, recoveries, packets held to be lost."""
        return Table(self._inner.events())


__all__ = ["Ack", "Connection", "Receiver", "Segment", "Sender", "Snapshot"]
