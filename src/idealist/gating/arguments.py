"""What the gate is asked for: numbers that can be used, or a refusal that says which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from idealist.errors import UsageError
from idealist.evaluation import label_of
from idealist.evaluator import Evaluator
from idealist.gating.checks import MAX_DROP, Rule
from idealist.notation import text
from idealist.statistics.paired import checked_alpha


def rules_of(max_drop: Any, alpha: Any, labels: Iterable[str]) -> dict[str, Rule]:
    """Check the largest drop that passes, one for all measures or by measure, and the level."""
    known, level = list(labels), checked_alpha(alpha)
    drops = dict.fromkeys(known, MAX_DROP) | _by_measure("max_drop", max_drop, known)
    for label, drop in drops.items():
        if drop < 0:
            raise UsageError(f"max_drop of {label} cannot be {drop:g}", "give 0 or more")
    return {label: Rule(drop, level) for label, drop in drops.items()}


def count_of(max_empty: Any) -> int:
    """Check how many queries may become empty."""
    whole = isinstance(max_empty, Integral) and not isinstance(max_empty, bool)
    if not whole or max_empty < 0:
        raise UsageError(f"max_empty cannot be {max_empty!r:.60}", "give a whole number from 0 on")
    return int(max_empty)


def floors_of(given: Any, labels: Iterable[str]) -> dict[str, float]:
    """Give the least mean that passes, by measure."""
    return {} if given is None else _by_measure("floors", given, list(labels))


def _by_measure(name: str, given: Any, labels: list[str]) -> dict[str, float]:
    """Read a number for all measures, or one for each that is named."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(labels, _number(name, given))
    found: dict[str, float] = {}
    for measure, number in given.items():
        label = label_of(measure, labels)
        if label in found:
            raise UsageError(f"{label} has two {name}", "give each measure one")
        found[label] = _number(f"{name} of {label}", number)
    return found


def _number(name: str, given: Any) -> float:
    real = isinstance(given, Real) and not isinstance(given, bool)
    if not real or not math.isfinite(given):
        hint = "give a number such as 0.01, or {measure: number}"
        raise UsageError(f"{name} cannot be {given!r:.60}", hint)
    return float(given)


def check_target(target: str | Path, inputs: Iterable[Any]) -> None:
    """Refuse to write over what is read."""
    paths = [one for one in inputs if isinstance(one, (str, Path)) and one != "-"]
    if Path(target).resolve() in [Path(one).resolve() for one in paths]:
        raise UsageError(f"{target} is an input, and would be overwritten", "write another file")


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
