"""Libraries for learning to rank, and scikit-learn: they see only the list they are passed."""

from __future__ import annotations

from collections.abc import Mapping

from idealist.conventions.convention import Axes, Convention
from idealist.measures import Measure
from idealist.notation import Value

#: What all of them do.
_LIST: Mapping[str, Value] = {
    "grades": "keep", "missing": "skip", "ties": "input", "ideal": "retrieved",
}  # fmt: skip
_SIGNED: Mapping[str, Value] = {"negative": "keep", "ideal_negative": "keep"}
_ABOVE_HALF: Mapping[str, Value] = {"rel": 0.5, "rel_op": ">"}


def _lightgbm(measure: Measure) -> Axes:
    axes = {**_LIST, "gain": "exp2", "negative": "error", "no_relevant": 1}
    if measure.name == "AP":
        return {**axes, **_ABOVE_HALF, "denominator": "min(k,n,R_list)"}
    return axes


def _xgboost(measure: Measure) -> Axes:
    """Cut at 32 where no cutoff is given; a linear gain may be negative, an exponential not."""
    axes = {**_LIST, "precision": "float32", "cutoff": 32}
    if measure.name == "nDCG":
        linear = measure.written().get("gain") == "linear"
        sign = _SIGNED if linear else {"negative": "error"}
        return {**axes, "gain": "exp2", **sign, "no_relevant": 1}
    if measure.name == "AP":
        return {**axes, "denominator": "min(k,R_list)", "no_relevant": 1}
    return {**axes, "denominator": "min(k,n)"}


def _catboost(measure: Measure) -> Axes:
    """Put the worst document of a tie first."""
    signed = "DCG" in measure.name or measure.name == "AverageGain"
    kind = _SIGNED if signed else _ABOVE_HALF
    return {**_LIST, "ties": "worst", **kind, **_CATBOOST.get(measure.name, {})}


#: In what CatBoost's measures differ from each other.
_CATBOOST: dict[str, Axes] = {
    "nDCG": {"no_relevant": 1},
    "AP": {"denominator": "min(k,n,R_list)"},
    "P": {"denominator": "min(k,n)"},
    "R": {"denominator": "R_list", "no_relevant": 1},
    "ERR": {"probability": "identity"},
    "Accuracy": {"ties": "expected"},
    "OPA": {"ties": "expected"},
}


def _rax(measure: Measure) -> Axes:
    """Keep negative gains, but give nothing where the ideal list is worth less than nothing.

    Rax divides by such a list, and so makes a bad list good.
    """
    axes = {**_LIST, "precision": "float32"}
    if "DCG" in measure.name:
        return {**axes, **_SIGNED, "gain": "exp2"}
    if measure.name == "OPA":
        return {**axes, "ties": "worst"}
    denominators = {"AP": "R_list", "P": "min(k,n)", "R": "R_list"}
    return {**axes, "denominator": denominators.get(measure.name, "R")}


def _tf_ranking(measure: Measure) -> Axes:
    """Shuffle ties anew at each call, for which a seed stands here; a negative label is padding."""
    axes = dict(_rax(measure))
    if measure.name != "OPA":
        axes["ties"] = "random(0)"
    return {key: value for key, value in axes.items() if key not in _SIGNED} | {"negative": "drop"}


LIGHTGBM = Convention("lightgbm", "LightGBM", "4.7.0", "live", _lightgbm, frozenset({"AP", "nDCG"}))
XGBOOST = Convention(
    "xgboost", "XGBoost", "3.2.0", "live", _xgboost, frozenset({"AP", "P", "nDCG"})
)
CATBOOST = Convention(
    "catboost", "CatBoost", "1.2.10", "live", _catboost,
    frozenset([
        "AP", "Accuracy", "AverageGain", "DCG", "ERR", "OPA", "P", "PFound", "R", "RR", "nDCG",
    ]),
)  # fmt: skip
RAX = Convention(
    "rax", "Rax", "0.4.0", "live", _rax, frozenset(["AP", "DCG", "OPA", "P", "R", "RR", "nDCG"])
)
TF_RANKING = Convention(
    "tf-ranking", "TF-Ranking", "0.5.5", "recorded", _tf_ranking,
    frozenset(["AP", "ARP", "DCG", "OPA", "P", "R", "RR", "nDCG"]),
)  # fmt: skip


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
