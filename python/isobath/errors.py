"""Exceptions. Their message is the line that the program prints: what happened, to what, and what to do."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import Run


class IsobathError(Exception):
    """Something could not be measured, read or written."""


class UsageError(IsobathError, ValueError):
    """What was asked for cannot be: an unknown option, a value out of range, two options that contradict each other."""


class MeasurementError(IsobathError):
    """A measurement could not be made, or not to its end.

    `run` is its record as far as it went, or None when there is none.
    """

    def __init__(self, message: str, run: "Run[Any] | None" = None) -> None:
        super().__init__(message)
        self.run = run


class Interrupted(KeyboardInterrupt):
    """The user interrupted a measurement; `run` is its record up to that moment, or None when nothing was measured yet."""

    def __init__(self, message: str, run: "Run[Any] | None" = None) -> None:
        super().__init__(message)
        self.run = run
