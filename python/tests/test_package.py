"""The package as such."""

import subprocess
import sys
from types import FunctionType

import pytest

import isobath as ib


def test_importing_it_loads_no_library() -> None:
    heavy = ["numpy", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "ray"]
    code = f"import sys, isobath; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_everything_public_is_documented() -> None:
    modules = [ib, ib.sim, ib.path, ib.transport, ib.estimators, ib.trace]
    silent = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in module.__all__
        if isinstance(thing := getattr(module, name), type | FunctionType) and not getattr(thing, "__doc__", None)
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("polars", "polars", "ib.sim.btc(rate='10Mbit', rtt='20ms', duration=1).table('transfers').to_polars()"),
        ("duckdb", "sql", "ib.sql('select 1')"),
        ("ray", "ray", "ib.ray.connect('ray')"),
    ],
)
def test_a_missing_library_is_told_with_its_extra(module: str, extra: str, use: str) -> None:
    code = f"import sys; sys.modules['{module}'] = None\nimport isobath as ib\ntry: {use}\nexcept ib.IsobathError as error: print(error)"
    told = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert told == f"this needs {module} - run: pip install 'isobath[{extra}]'"
