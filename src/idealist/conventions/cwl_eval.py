"""cwl_eval: its command, and the classes of it that ir_measures calls."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure

#: What ir_measures computes with cwl_eval's classes, where no other provider comes first.
IR_MEASURES_CWL = frozenset(
    ["BPM", "INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9", "RBP", "SDCG"]
)

#: Its readers look no further than this.
_DEPTH: Axes = {"depth": 1000, "normalise_depth": 1000, "grades": "keep"}


def ir_measures_cwl(measure: Measure) -> Axes:
    """Sort by score alone; what gains are has to be said: ``gain=scaled(MIN_REL,MAX_REL)``."""
    own: Axes = {"p": 0.8, "gain": "binary", "scale": "none"} if measure.name == "RBP" else {}
    return {**_DEPTH, "ties": "input", **own}


def _cwl_eval(measure: Measure) -> Axes:
    """Take grades for gains and the rows as they stand, whatever their scores and ranks say.

    Its P, RR and AP are those of gains: ask for CWL(model=P)@10.
    """
    axes = {**_DEPTH, "gain": "linear", "negative": "error", "order": "given", "missing": "skip"}
    axes |= {"p": 0.9, "scale": "none"}
    if measure.cutoff is None:
        axes["K"] = 10
    if measure.name == "SET" or measure.written().get("model") == "P":
        axes["cutoff"] = 10
    return axes


CWL_EVAL = Convention(
    "cwl_eval", "cwl-eval", "1.0.12", "live", _cwl_eval,
    IR_MEASURES_CWL | {"CWL", "IFT", "NPV", "SET", "TBG", "UMeasure"},
)  # fmt: skip
