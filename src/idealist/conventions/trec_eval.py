"""trec_eval, and pytrec_eval, which runs its code."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure
from idealist.measures.spellings import computed_by


def _version_10(measure: Measure) -> Axes:
    """Order ties of documents the other way round for preferences, and read levels as they are."""
    preferences = measure.name.startswith("prefs_")
    return {"ties": "docid-asc", "grades": "keep"} if preferences else {}


def _version_9(measure: Measure) -> Axes:
    return {"precision": "float32", "rounding": "up", **_version_10(measure)}


def _pytrec_eval(measure: Measure) -> Axes:
    return {**_version_9(measure), "missing": "skip"}


#: The default: trec_eval 10 as it is officially used, with ``-c``. Measures it lacks follow it.
TREC_EVAL = Convention("trec_eval", "trec_eval -c", "10.0", "recorded", _version_10)

#: Up to 9.0.8, scores are compared as float32.
TREC_EVAL_9 = Convention("trec_eval-9", "trec_eval -c", "9.0.8", "recorded", _version_9)

#: pytrec_eval-terrier builds trec_eval 9.0.8; queries that the run lacks are not in its results.
PYTREC_EVAL = Convention(
    "pytrec_eval", "pytrec_eval-terrier", "0.5.11", "live", _pytrec_eval, computed_by("pytrec_eval")
)
