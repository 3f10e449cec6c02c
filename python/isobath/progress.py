"""What is seen of a measurement while it goes: one line, in a terminal or a notebook."""

import sys
import time
from types import TracebackType


class Progress:
    """Draws `rrul dsl  12 s of about 40 s` again and again. Nothing unless somebody can see it."""

    def __init__(self, title: str, expected_s: float | None = None, quiet: bool = False) -> None:
        self._title, self._expected, self._began = title, expected_s, time.monotonic()
        self._is_seen = bool(title) and not quiet and (sys.stderr.isatty() or _is_notebook())
        self._length = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._length:
            self._write("")

    def draw(self, done: int | None = None, total: int | None = None) -> None:
        """Draws the line: how far it is, in parts where there are some, and in time."""
        if not self._is_seen:
            return
        seconds = time.monotonic() - self._began
        parts = [self._title]
        if total is not None:
            parts.append(f"{done} of {total}")
        about = f" of about {self._expected:.0f}" if self._expected else ""
        parts.append(f"{seconds:.0f}{about} s")
        self._write("  ".join(parts))

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._length) + ("" if line else "\r"))
        sys.stderr.flush()
        self._length = len(line)


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and "ipykernel" in sys.modules
