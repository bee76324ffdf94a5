"""The measures: an index of them, the names other tools give them, and the parser for both."""

from __future__ import annotations

from typing import Any

from idealist.measures.base import Measure
from idealist.measures.custom import Custom, measure
from idealist.measures.index import GROUPS, MEASURES
from idealist.measures.parsing import ALIASES, as_measure, parse

__all__ = ["ALIASES", "GROUPS", "MEASURES", "Custom", "Measure", "as_measure", "measure", "parse"]


def __getattr__(name: str) -> Any:
    if name not in MEASURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return MEASURES[name]
