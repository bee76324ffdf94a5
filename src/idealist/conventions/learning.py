"""Machine-learning libraries: they see only the list they are passed."""

from __future__ import annotations

from idealist.conventions.convention import Axes, tool
from idealist.measures import Measure

#: What most of them do.
_LIST: Axes = {"grades": "keep", "missing": "skip", "ties": "input", "ideal": "retrieved"}
_SIGNED: Axes = {"negative": "keep", "ideal_negative": "keep"}
_ABOVE_HALF: Axes = {"rel": 0.5, "rel_op": ">"}


@tool("sklearn", "scikit-learn", "1.9.1", "live", "AP DCG nDCG")
def sklearn(measure: Measure) -> Axes:
    """Take the ideal list and R from the retrieved documents.

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


#: How torchmetrics' measures differ from each other.
_TORCHMETRICS: dict[str, Axes] = {
    "nDCG": {"ties": "expected", "ideal": "retrieved", **_SIGNED},
    "AP": {"denominator": "hits", "positive_score": True},
    "RR": {"positive_score": True},
    "P": {"positive_score": True},
    "R": {"denominator": "R_list", "positive_score": True},
    "Rprec": {"denominator": "R_list"},
    "FallOut": {"denominator": "N_list"},
}


@tool(
    "torchmetrics", "torchmetrics", "1.9.0", "live", "AP Accuracy FallOut P R RR Rprec Success nDCG"
)
def torchmetrics(measure: Measure) -> Axes:
    """Average nDCG over ties; want a score above 0 in other measures."""
    seen: Axes = {"precision": "float32", "grades": "keep", "missing": "skip", "ties": "input"}
    if measure.name == "Accuracy" and measure.cutoff is None:
        return {**seen, "ties": "expected"}
    return {**seen, **_TORCHMETRICS.get(measure.name, {})}


@tool("lightgbm", "LightGBM", "4.7.0", "live", "AP nDCG")
def lightgbm(measure: Measure) -> Axes:
    """Gain 2^g - 1, and refuse negative labels; a query without relevant documents has value 1."""
    axes = {**_LIST, "gain": "exp2", "negative": "error", "no_relevant": 1}
    if measure.name == "AP":
        return {**axes, **_ABOVE_HALF, "denominator": "min(k,n,R_list)"}
    return axes


@tool("xgboost", "XGBoost", "3.2.0", "live", "AP P nDCG")
def xgboost(measure: Measure) -> Axes:
    """Cut at 32 if no cutoff is given; a linear gain may be negative, an exponential one not."""
    axes = {**_LIST, "precision": "float32", "cutoff": 32}
    if measure.name == "nDCG":
        linear = measure.written().get("gain") == "linear"
        sign = _SIGNED if linear else {"negative": "error"}
        return {**axes, "gain": "exp2", **sign, "no_relevant": 1}
    if measure.name == "AP":
        return {**axes, "denominator": "min(k,R_list)", "no_relevant": 1}
    return {**axes, "denominator": "min(k,n)"}


#: How CatBoost's measures differ from each other.
_CATBOOST: dict[str, Axes] = {
    "nDCG": {"no_relevant": 1},
    "AP": {"denominator": "min(k,n,R_list)"},
    "P": {"denominator": "min(k,n)"},
    "R": {"denominator": "R_list", "no_relevant": 1},
    "ERR": {"probability": "identity"},
    "Accuracy": {"ties": "expected"},
    "OPA": {"ties": "expected"},
}


@tool(
    "catboost", "CatBoost", "1.2.10", "live",
    "AP Accuracy AverageGain DCG ERR OPA P PFound R RR nDCG",
)  # fmt: skip
def catboost(measure: Measure) -> Axes:
    """Put the worst document of a tie first."""
    signed = "DCG" in measure.name or measure.name == "AverageGain"
    kind = _SIGNED if signed else _ABOVE_HALF
    return {**_LIST, "ties": "worst", **kind, **_CATBOOST.get(measure.name, {})}


@tool("rax", "Rax", "0.4.0", "live", "AP DCG OPA P R RR nDCG")
def rax(measure: Measure) -> Axes:
    """Keep negative gains, but return 0 if the ideal list is worth less than nothing.

    Rax itself divides by such a list, which makes a bad list look good.
    """
    axes = {**_LIST, "precision": "float32"}
    if "DCG" in measure.name:
        return {**axes, **_SIGNED, "gain": "exp2"}
    if measure.name == "OPA":
        return {**axes, "ties": "worst"}
    denominators = {"AP": "R_list", "P": "min(k,n)", "R": "R_list"}
    return {**axes, "denominator": denominators.get(measure.name, "R")}


@tool("tf-ranking", "TF-Ranking", "0.5.5", "recorded", "AP ARP DCG OPA P R RR nDCG")
def tf_ranking(measure: Measure) -> Axes:
    """Shuffle ties, with a seed here and anew at each call there; a negative label is padding."""
    axes = dict(rax.rule(measure))
    if measure.name != "OPA":
        axes["ties"] = "random(0)"
    return {key: value for key, value in axes.items() if key not in _SIGNED} | {"negative": "drop"}


LEARNING = (sklearn, torchmetrics, lightgbm, xgboost, catboost, rax, tf_ranking)
