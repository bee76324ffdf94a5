"""What the gate is asked for: numbers that can be used, or a refusal that says which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from idealist.errors import UsageError
from idealist.evaluation import label_of
from idealist.evaluator import Evaluator
from idealist.gating.checks import Rule
from idealist.notation import text
from idealist.statistics.paired import checked_alpha


def rule_of(max_drop: Any, alpha: Any) -> Rule:
    """Check the largest drop that passes, and the level."""
    drop = _number("max_drop", max_drop, "give 0 or more, such as 0.01")
    if drop < 0:
        raise UsageError(f"max_drop cannot be {max_drop}", "give 0 or more, such as 0.01")
    return Rule(drop, checked_alpha(alpha))


def count_of(max_empty: Any) -> int:
    """Check how many queries may become empty."""
    whole = isinstance(max_empty, Integral) and not isinstance(max_empty, bool)
    if not whole or max_empty < 0:
        raise UsageError(f"max_empty cannot be {max_empty!r:.60}", "give a whole number from 0 on")
    return int(max_empty)


def floors_of(given: Any, labels: Iterable[str]) -> dict[str, float]:
    """Give the least mean that passes, by measure: one for all, or one for each that is named."""
    known, hint = list(labels), "give a number such as 0.4, or {measure: number}"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(known, _number("floors", given, hint))
    floors: dict[str, float] = {}
    for measure, floor in given.items():
        label = label_of(measure, known)
        if label in floors:
            raise UsageError(f"{label} has two floors", "give each measure one")
        floors[label] = _number(f"the floor of {label}", floor, hint)
    return floors


def _number(name: str, given: Any, hint: str) -> float:
    real = isinstance(given, Real) and not isinstance(given, bool)
    if not real or not math.isfinite(given):
        raise UsageError(f"{name} cannot be {given!r:.60}", hint)
    return float(given)


def check_measures(evaluator: Evaluator) -> None:
    """Refuse what a drop of the mean says nothing of."""
    hint = "gate on a measure of which more is better, such as nDCG@10"
    for label, one in evaluator.instruments.items():
        if one.measure.direction < 0 and one.measure.judges:
            raise UsageError(f"less is better of {label}, and the gate looks for drops", hint)
        if one.measure.direction != 1:
            raise UsageError(f"{label} does not say how good a run is", hint)
        name = text(one.aggregate.aggregate)
        if name != "mean" and not name.startswith("weighted("):
            rest = "leave out --set aggregate, or gate on another measure"
            raise UsageError(f"the gate compares means, and {label} is a {name}", rest)
