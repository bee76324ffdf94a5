"""Doubts about weights: traffic that nobody judged, and few queries that weigh most."""

from __future__ import annotations

import math
from collections.abc import Iterator

from idealist.doubts.case import Case, few, prices
from idealist.evaluation import Doubt
from idealist.notation import many

#: Below so many queries of equal weight, a mean over more queries is doubted.
ENOUGH = 10


def unjudged_traffic(case: Case) -> Iterator[Doubt]:
    """Say how much of the weight the judgments cover."""
    if case.weights is None or not case.weighted:
        return
    asked = {q: w for q, w in case.weights.values.items() if not case.asked or q in case.asked}
    queries = tuple(q for q, w in sorted(asked.items()) if w and q not in case.qrels.known)
    if queries:
        gone, whole = (math.fsum(map(asked.__getitem__, part)) for part in (queries, asked))
        some = many(len(queries), "query with a weight has", "queries with a weight have")
        share = f"the judged queries carry {_percent(1 - gone / whole)} of the weight"
        message = f"{share}; {some} no judgments ({few(queries)})"
        yield Doubt("unjudged-traffic", message, len(queries), queries)


def few_weigh(case: Case) -> Iterator[Doubt]:
    """Look for means that few queries decide, and price them by the mean without weights."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for label in case.weighted:
        sharing.setdefault(case.named(case.measured[label].counted), []).append(label)
    for counted, labels in sharing.items():
        weights = case.weights.of(counted) if case.weights else []
        heavy = _heaviest(dict(zip(counted, weights, strict=True)))
        alike = math.fsum(weights) ** 2 / math.fsum(w * w for w in weights) if weights else 0.0
        if len(counted) > 1 and (len(heavy) == 1 or alike < ENOUGH <= len(counted)):
            values = case.unweighted(labels)
            carry = "carries" if len(heavy) == 1 else "carry"
            share = f"{len(heavy)} of {len(counted)} queries {carry} more than half of the weight"
            like = f"the mean is as sure as one of {alike:.1f} queries of equal weight"
            message = f"{share} ({few(heavy)}); {like}{prices('without weights', values)}"
            yield Doubt("few-queries-weigh", message, len(heavy), heavy, values)


def not_weighted(case: Case) -> Iterator[Doubt]:
    """Say which measures take no mean that weights could weigh, such as a geometric one."""
    labels = [
        label
        for label, one in case.instruments.items()
        if one.measure.judges and label not in case.weighted
    ]
    if case.weights is not None and labels:
        message = f"{', '.join(labels)}: weights weigh a mean, and this is none; all count alike"
        yield Doubt("not-weighted", message, len(labels))


def _heaviest(weights: dict[str, float]) -> tuple[str, ...]:
    """Give the fewest queries that carry more than half of the weight, heaviest first."""
    half, carried, heavy = math.fsum(weights.values()) / 2, 0.0, []
    for query in sorted(weights, key=lambda query: (-weights[query], query)):
        if carried > half:
            break
        heavy.append(query)
        carried += weights[query]
    return tuple(heavy)


def _percent(share: float) -> str:
    """Write a share, rounded down: what is not all is never called 100 %."""
    return f"{math.floor(1000 * share + 1e-9) / 10:g} %"
