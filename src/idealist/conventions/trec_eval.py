"""trec_eval, and pytrec_eval, which runs its code."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure

#: What pytrec_eval computes, by our names.
PYTREC_EVAL_MEASURES = frozenset(
    [
        "AP",
        "F",
        "NumQ",
        "NumRel",
        "NumRelRet",
        "NumRet",
        "P",
        "R",
        "RR",
        "Rprec",
        "Success",
        "bpref",
        "nDCG",
    ]
)


def _version_10(measure: Measure) -> Axes:
    return {}


def _version_9(measure: Measure) -> Axes:
    return {"precision": "float32"}


def _pytrec_eval(measure: Measure) -> Axes:
    return {"precision": "float32", "missing": "skip"}


#: The default: trec_eval 10 as it is officially used, with ``-c``. Measures it lacks follow it.
TREC_EVAL = Convention("trec_eval", "trec_eval -c", "10.0", "recorded", _version_10)

#: Up to 9.0.8, scores are compared as float32.
TREC_EVAL_9 = Convention("trec_eval-9", "trec_eval -c", "9.0.8", "recorded", _version_9)

#: pytrec_eval-terrier builds trec_eval 9.0.8; queries that the run lacks are not in its results.
PYTREC_EVAL = Convention(
    "pytrec_eval", "pytrec_eval-terrier", "0.5.11", "live", _pytrec_eval, PYTREC_EVAL_MEASURES
)
