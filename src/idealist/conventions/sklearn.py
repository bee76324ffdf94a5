"""scikit-learn: `dcg_score`, `ndcg_score` and `average_precision_score`, called once a query."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure


def _rule(measure: Measure) -> Axes:
    """Take the ideal and R from the retrieved documents: the list passed is all it sees.

    DCG and nDCG average over the orders of ties; AP takes the precision at the end of each tie.
    """
    seen = {"grades": "keep", "missing": "skip"}
    if measure.name == "nDCG":
        return {**seen, "ties": "expected", "ideal": "retrieved", "negative": "error"}
    if measure.name == "DCG":
        return {**seen, "ties": "expected", "negative": "keep"}
    if measure.name == "AP":
        return {**seen, "block_end": True, "denominator": "R_list"}
    return {**seen, "ties": "expected"} if measure.averages_ties else seen


SKLEARN = Convention(
    "sklearn", "scikit-learn", "1.9.1", "live", _rule, frozenset({"AP", "DCG", "nDCG"})
)
