"""Options of the program as arguments of Python."""

from collections.abc import Mapping
from typing import Any

from .errors import UsageError

Option = str | int | float | bool | list[str] | list[int] | list[float] | tuple[str, ...] | None
"""A value of an option. True stands for an option without a value; None and False leave it out; a list repeats it."""


def word(name: str, value: Any) -> str:
    """A value as the command line takes it. A loss is a share (0.001) or a text (`0.1%`)."""
    if name == "loss" and isinstance(value, int | float):
        if not 0 <= value <= 1:
            raise UsageError(f"loss is {value} - write a share from 0 to 1, or a text such as '0.1%'")
        return f"{value * 100:.10g}%"
    return str(value)


def words(options: Mapping[str, Any]) -> list[str]:
    """`packet_log=True, cc="cubic"` as `--packet-log --cc=cubic`."""
    arguments: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(option)
        elif isinstance(value, list | tuple):
            arguments += [f"{option}={word(name, part)}" for part in value]
        else:
            arguments.append(f"{option}={word(name, value)}")
    return arguments
