"""Plain data, as JSON holds it: what it cannot hold going out, what it should hold coming in."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> Any:
    """Replace what JSON cannot hold.

    >>> finite({"a": (1.5, float("nan"))})
    {'a': [1.5, None]}
    """
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_number(value: Any) -> float:
    """Read a number, NaN for None; anything else is a TypeError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
        raise TypeError(value)
    return math.nan if value is None else float(value)


def as_text(value: Any) -> str:
    """Read a text; anything else is a TypeError."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value
