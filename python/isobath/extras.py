"""Libraries that are not everybody's: they are looked for when they are needed."""

import importlib
from typing import Any

from .errors import IsobathError


def needed(module: str, extra: str) -> Any:
    """The module, or one line that says how it is installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        raise IsobathError(f"this needs {name} - run: pip install 'isobath[{extra}]'") from error
