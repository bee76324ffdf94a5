"""idealist evaluates ranked retrieval: numbers that say exactly what they mean.

>>> import idealist as il
>>> from idealist import nDCG
>>> round((nDCG @ 5)([1, 3, 0, 2, 2]), 4)
0.7954

Names are imported when they are first used, so that ``idealist --help`` needs no NumPy. Where they
live is written once, in ``__init__.pyi``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def _homes() -> dict[str, str]:
    """Read from the stub, as type checkers do, which module has which name."""
    import ast

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {one.name: str(node.module) for node in imports for one in node.names}
    return {name: home for name, home in homes.items() if home.startswith(__name__)}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    home = _homes().get(name) or ("idealist.measures" if _is_measure(name) else None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _is_measure(name: str) -> bool:
    """Whether it is a measure that is not listed here; modules are not looked for among them."""
    if name.startswith("_") or find_spec(f"idealist.{name}") is not None:
        return False
    return name in import_module("idealist.measures").MEASURES


def __dir__() -> list[str]:
    return sorted(_homes())
