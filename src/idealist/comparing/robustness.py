"""How robust verdicts are: what unjudged documents, labels and conventions could change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from idealist.comparing.comparison import Comparison
from idealist.comparing.comparison_report import best_first
from idealist.comparing.fragility import fragility as fragility_of
from idealist.comparing.multiverse import multiverse as multiverse_of
from idealist.comparing.pair import Pair
from idealist.comparing.unjudged import UnjudgedEffect, coverage, effect_between
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.ranking.ranked import Ranked

#: For so many pairs, bounds over unjudged documents are looked for whatever they cost, and for
#: others while so many unjudged documents are in reach of them all.
PAIRS, DOCUMENTS = 10, 100_000
#: What is said where bounds are left out.
TOO_MANY = "there are too many pairs and unjudged documents"


def with_robustness(
    comparison: Comparison,
    evaluator: Evaluator,
    runs: Sequence[Ranked],
    fragility: bool,
    agreement: Any,
    multiverse: bool,
    axes: Mapping[str, Any],
) -> Comparison:
    """Find how robust the verdicts by the primary measure are; `axes` are what the user set."""
    if agreement is not None and not fragility:
        raise UsageError("an agreement of judges is for fragility", "ask for fragility too")
    primary, named = comparison[comparison.primary], {one.run.name: one for one in runs}
    found, remarks = _unjudged(primary, evaluator, runs)
    looked_at = []
    for pair in primary:
        base, new = named[pair.baseline], named[pair.run]
        more: dict[str, Any] = {"unjudged": found.get((pair.baseline, pair.run))}
        if fragility:
            options = pair.options
            labels = fragility_of(
                evaluator, base, new, pair.measure, alpha=options.alpha, agreement=agreement,
                seed=options.seed,
            )  # fmt: skip
            more["fragility"] = replace(labels, decided=pair.significant)
        if multiverse:
            more["multiverse"] = multiverse_of(
                base.qrels, base, new, evaluator.measures[pair.measure],
                alpha=pair.options.alpha, weights=evaluator.weights, **axes,
            )  # fmt: skip
        looked_at.append(replace(pair, **more))
    pairs = (*looked_at, *comparison.pairs[len(primary) :])  # the primary measure's are the first
    return replace(comparison, pairs=pairs, remarks=(*comparison.remarks, *remarks))


def _unjudged(
    pairs: Sequence[Pair], evaluator: Evaluator, runs: Sequence[Ranked]
) -> tuple[dict[tuple[str, str], UnjudgedEffect], tuple[str, ...]]:
    """Find unjudged documents, and what they could change; say what was left out, and why.

    Where documents without a judgment are known not to be relevant, they could change nothing.
    """
    if evaluator.qrels.gold != "pooled":
        return {}, ()
    label = pairs[0].measure
    try:
        known = {one.run.name: coverage(evaluator, label, one) for one in runs}
    except UsageError as error:
        return {}, (f"unjudged documents were not looked at: {error.message}",)
    found: dict[tuple[str, str], UnjudgedEffect] = {}
    total = left = 0
    for i, pair in enumerate(best_first(pairs)):
        base, new = known[pair.baseline], known[pair.run]
        total += base.unjudged + new.unjudged
        refusal = TOO_MANY if i >= PAIRS and total > DOCUMENTS else ""
        one = effect_between(evaluator, base, new, label, refusal, pair.options.alpha)
        left += bool(refusal) and any(one.unjudged)
        found[pair.baseline, pair.run] = one
    said = f"what unjudged documents could change was not looked at for {left} pairs: {TOO_MANY}"
    return found, (said,) if left else ()
