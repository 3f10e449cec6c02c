"""The figures of a summary: JSON that is read by attributes."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

F = TypeVar("F", bound="Figures")


class Figures:
    """An object of JSON whose fields are attributes: `summary.latency_ms.loaded.p50`.

    Which fields there are, in which unit, says its class; a record of another version may have more or fewer. A field that the record
    does not have is None, as is everything that was not measured. `figures["name"]` and `figures.to_dict()` give what the record holds.
    """

    _parts: ClassVar[dict[str, str]] = {}

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            values = self._values
            if name in values:
                return self._part(name, values[name])
            if name in type(self).__annotations__:
                return None
            known = ", ".join(values)
            raise AttributeError(f"no figure '{name}' - there are {known}")

    def __getitem__(self, name: str) -> Any:
        return self._part(name, self._values[name])

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._values})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Figures) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={self._part(name, value)!r}" for name, value in self._values.items())
        return f"{type(self).__name__}({fields})"

    def __getstate__(self) -> dict[str, Any]:
        return self._values

    def __setstate__(self, values: dict[str, Any]) -> None:
        self._values = values

    def to_dict(self) -> dict[str, Any]:
        """The JSON itself."""
        return self._values

    def _part(self, name: str, value: Any) -> Any:
        part = type(self)._parts.get(name)
        if part is None:
            return _plain(value)
        if part.startswith("{}"):
            kind = _class(type(self), part[2:])
            return {key: _typed(kind, inner) for key, inner in value.items()} if value is not None else None
        return _typed(_class(type(self), part), value)


def _class(owner: type[Figures], name: str) -> type[Figures]:
    kind: type[Figures] = getattr(sys.modules[owner.__module__], name)
    return kind


def _typed(kind: type[F], value: Any) -> Any:
    if isinstance(value, dict):
        return kind(value)
    if isinstance(value, list):
        return [_typed(kind, part) for part in value]
    return value


def _plain(value: Any) -> Any:
    """What no class describes: figures without a class."""
    return _typed(Figures, value)
