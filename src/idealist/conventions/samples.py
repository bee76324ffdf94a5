"""Scripts that evaluate judged samples: NIST's sample_eval and Pavlu's statAP_MQ_eval."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure


def _sample_eval(measure: Measure) -> Axes:
    """Look at the first 1000 documents of the queries that the run has.

    Where more than 1000 relevant documents are estimated, the script's ideal list goes on by one
    document of each lower grade; here it ends.
    """
    return {"cutoff": 1000, "missing": "skip"}


def _statap(measure: Measure) -> Axes:
    """Leave out queries without relevant documents; its order of ties is any."""
    return {"missing": "skip", "no_relevant": "skip"}


SAMPLE_EVAL = Convention(
    "sample_eval", "sample_eval.pl", "2011-10-10", "recorded", _sample_eval,
    frozenset({"infNDCG", "xinfAP"}),
)  # fmt: skip
STATAP = Convention("statap", "statAP_MQ_eval.pl", "3", "recorded", _statap, frozenset({"statAP"}))
