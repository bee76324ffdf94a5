"""How solid verdicts are: what unjudged documents, labels and conventions could change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from idealist.comparing.comparison import Comparison
from idealist.comparing.fragility import fragility as fragility_of
from idealist.comparing.holes import holes as holes_of
from idealist.comparing.multiverse import multiverse as multiverse_of
from idealist.comparing.pair import Pair
from idealist.errors import UsageError
from idealist.evaluator import Evaluator
from idealist.tables import Run

#: Up to so many pairs, holes are looked for unasked.
CHEAP = 10


def with_solidity(
    comparison: Comparison,
    evaluator: Evaluator,
    runs: Sequence[Run],
    fragility: bool,
    multiverse: bool,
    axes: Mapping[str, Any],
) -> Comparison:
    """Look at how solid the verdicts by the primary measure are; `axes` are what the user set."""
    primary, named = comparison[comparison.primary], {run.name: run for run in runs}
    asked = {"holes": len(primary) <= CHEAP, "fragility": fragility, "multiverse": multiverse}
    looked_at = [
        replace(pair, **_solidity(pair, evaluator, named, asked, axes)) if pair in primary else pair
        for pair in comparison.pairs
    ]
    return replace(comparison, pairs=tuple(looked_at))


def _solidity(
    pair: Pair,
    evaluator: Evaluator,
    runs: Mapping[str, Run],
    asked: Mapping[str, bool],
    axes: Mapping[str, Any],
) -> dict[str, Any]:
    """Give what was asked for; holes only where the rules let them be found."""
    label, base, new = pair.measure, runs[pair.baseline], runs[pair.run]
    alpha, found = pair.options.alpha, dict[str, Any]()
    if asked["holes"]:
        with suppress(UsageError):
            found["holes"] = holes_of(evaluator, label, base, new)
    if asked["fragility"]:
        found["fragility"] = fragility_of(evaluator, label, base, new, alpha)
    if asked["multiverse"]:
        measure = evaluator.measures[label]
        found["multiverse"] = multiverse_of(
            evaluator.qrels, base, new, measure, alpha, weights=evaluator.weights, **axes
        )
    return found
