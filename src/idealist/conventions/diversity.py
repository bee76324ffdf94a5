"""ndeval, and pyndeval, which runs its code: measures of judgments by subtopic."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure

#: What ndeval computes, by our names.
_NDEVAL = "AP_IA ERR_IA NRBP P_IA StRecall alpha_DCG alpha_nDCG nERR_IA nNRBP"
NDEVAL_MEASURES = frozenset(_NDEVAL.split())


def ndeval_formulas(measure: Measure) -> Axes:
    """Leave cutoff 1 without a denominator, and nNRBP of nothing relevant without a value."""
    nothing: Axes = {"no_relevant": "nan"} if measure.name == "nNRBP" else {}
    return {"denominator": "perfect(k>1)", **nothing}


def _ndeval(measure: Measure) -> Axes:
    """Trust the rank column, as ndeval does unless told -traditional, and print six digits."""
    return {**ndeval_formulas(measure), "order": "rank", "missing": "skip", "round": 6}


def _pyndeval(measure: Measure) -> Axes:
    return {**ndeval_formulas(measure), "ties": "docid-asc", "missing": "skip"}


NDEVAL = Convention("ndeval", "ndeval", "4.5", "recorded", _ndeval, NDEVAL_MEASURES)
PYNDEVAL = Convention("pyndeval", "pyndeval", "0.0.8", "live", _pyndeval, NDEVAL_MEASURES)
