"""NTCIREVAL, which takes a list with the relevance level of each document."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure
from idealist.notation import Value


def _ntcireval(measure: Measure) -> Axes:
    """Gain 2^g - 1: the tool has its gains given, and with these its ERR is the published one.

    Its nDCG is ``nDCG(discount=jk(2))`` and its MSnDCG nDCG, with whatever gains it is given.
    """
    axes: dict[str, Value] = {"ties": "input", "gain": "exp2"}
    return {**axes, "denominator": "min(k,R)"} if measure.name == "AP" else axes


NTCIREVAL = Convention(
    "ntcireval", "pyNTCIREVAL", "0.0.3", "live", _ntcireval,
    frozenset(
        ["AP", "ERR", "NCU", "OMeasure", "P", "PMeasure", "PPlus", "Q", "RR", "Success", "nERR"]
    ),
)  # fmt: skip
