"""Evaluation toolkits: ir_measures, ranx, gdeval, BEIR, MTEB, HELM, ms_marco_eval, torchmetrics."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.conventions.cwl_eval import IR_MEASURES_CWL, ir_measures_cwl
from idealist.conventions.diversity import NDEVAL_MEASURES, ndeval_formulas
from idealist.measures import Measure
from idealist.measures.spellings import computed_by


def _ir_measures(measure: Measure) -> Axes:
    """Follow the provider: pytrec_eval, msmarco for RR@k, gdeval, cwl_eval, or pyndeval."""
    if measure.name in NDEVAL_MEASURES:
        return {**ndeval_formulas(measure), "ties": "docid-asc"}
    if measure.name in IR_MEASURES_CWL:
        return ir_measures_cwl(measure)
    gdeval = measure.name == "ERR" or measure.written().get("gain") == "exp2"
    if gdeval:
        return {"max_grade": "4", "round": "query(5)"}
    if measure.name == "RR" and measure.cutoff:
        return {"ties": "docid-asc"}
    return _IR_MEASURES.get(measure.name, {"precision": "float32", "rounding": "up"})


#: What ir_measures computes otherwise than pytrec_eval.
_IR_MEASURES: dict[str, Axes] = {
    "Accuracy": {"ties": "input", "missing": "skip", "no_relevant": "skip"},
    "Compat": {"ties": "docid-asc"},
    "Judged": {"ties": "docid-asc"},
    "NumQ": {"missing": "skip"},
    "NumRel": {"missing": "skip"},
}


def _ranx(measure: Measure) -> Axes:
    """Zero what is below the relevance level in nDCG too, and take negatives for non-relevant."""
    axes: dict[str, str | int] = {"ties": "input", "missing": "error", "unknown": "error"}
    if measure.name in ("DCG", "nDCG"):
        axes["rel"] = 1
    if measure.name == "bpref":
        axes["negative"] = "nonrelevant"
    if measure.name == "NumRelRet":
        axes["aggregate"] = "mean"
    if measure.name == "RBP":
        axes["scale"] = "none"  # gains must not be above 1; ranx lets its RBP exceed 1
    return axes


def _gdeval(measure: Measure) -> Axes:
    """Leave out queries without relevant documents, and print five digits."""
    return {
        "gain": "exp2", "max_grade": "4", "no_relevant": "skip", "missing": "skip",
        "round": 5, "cutoff": 20,
    }  # fmt: skip


def _capped(measure: Measure) -> bool:
    """Whether it is recall of at most k documents, which BEIR and MTEB compute themselves."""
    return measure.name == "R" and measure.written().get("denominator") == "min(k,R)"


def _beir(measure: Measure) -> Axes:
    """Mix two rankings: pytrec_eval's, and for MRR, accuracy and capped recall its own."""
    if _capped(measure) or measure.name in ("RR", "Success"):
        own: Axes = {"ties": "input", "unknown": "error", "exclude_self": True, "round": 5}
        return {**own, "no_relevant": "error"} if _capped(measure) else own
    return {"precision": "float32", "missing": "skip", "exclude_self": True, "round": 5}


def _mteb(measure: Measure) -> Axes:
    """Take most from pytrec_eval, rounded; MRR and capped recall are in double and not rounded."""
    axes: Axes = {"missing": "skip", "unknown": "error"}
    if _capped(measure):
        return {**axes, "no_relevant": "skip"}
    return axes if measure.name == "RR" else {**axes, "precision": "float32", "round": 5}


def _helm(measure: Measure) -> Axes:
    """Hand pytrec_eval the model's order as whole numbers, and no document of grade 0.

    HELM itself fails at a query that has no other document; here it has no relevant one.
    """
    return {"ties": "input", "grades": "nonzero", "missing": "skip"}


def _helm_trec(measure: Measure) -> Axes:
    """Take grade 1 for non-relevant in three measures, as HELM does where grades go beyond 1."""
    axes = _helm(measure)
    return {**axes, "rel": 2} if measure.name in ("R", "RR", "Success") else axes


def _msmarco(measure: Measure) -> Axes:
    """Trust the rank column, look no further than rank 10, know relevant documents only."""
    return {"order": "rank", "cutoff": 10, "no_relevant": "skip"}


def _torchmetrics(measure: Measure) -> Axes:
    """See nothing but the list; average nDCG over ties; elsewhere want a score above 0."""
    seen: Axes = {"precision": "float32", "grades": "keep", "missing": "skip", "ties": "input"}
    if measure.name == "Accuracy" and measure.cutoff is None:
        return {**seen, "ties": "expected"}
    return {**seen, **_TORCHMETRICS.get(measure.name, {})}


#: In what torchmetrics' measures differ from each other.
_TORCHMETRICS: dict[str, Axes] = {
    "nDCG": {
        "ties": "expected", "ideal": "retrieved", "negative": "keep", "ideal_negative": "keep",
    },
    "AP": {"denominator": "hits", "positive_score": True},
    "RR": {"positive_score": True},
    "P": {"positive_score": True},
    "R": {"denominator": "R_list", "positive_score": True},
    "Rprec": {"denominator": "R_list"},
    "FallOut": {"denominator": "N_list"},
}  # fmt: skip

#: What ranx computes, by our names.
_RANX = "AP DCG F NumRelRet P R RBP RR Rprec Success bpref nDCG"

#: What HELM passes on to pytrec_eval, one query at a time.
_HELM = frozenset(["AP", "F", "P", "R", "RR", "Rprec", "Success", "bpref", "nDCG"])

IR_MEASURES = Convention(
    "ir_measures", "ir_measures", "0.4.3", "live", _ir_measures, computed_by("ir_measures")
)
RANX = Convention(
    "ranx", "ranx", "0.3.21", "live", _ranx,
    frozenset(_RANX.split()),
)  # fmt: skip
GDEVAL = Convention("gdeval", "gdeval.pl", "1.3", "recorded", _gdeval, frozenset({"ERR", "nDCG"}))
BEIR = Convention(
    "beir", "BEIR", "2.2.0", "live", _beir, frozenset(["AP", "P", "R", "RR", "Success", "nDCG"])
)
MTEB = Convention(
    "mteb", "MTEB", "2.26.24", "live", _mteb, frozenset(["AP", "P", "R", "RR", "Success", "nDCG"])
)
HELM = Convention("helm", "HELM", "0.5.16", "derived", _helm, _HELM)
HELM_TREC = Convention("helm-trec", "HELM, TREC track", "0.5.16", "derived", _helm_trec, _HELM)
MSMARCO = Convention(
    "msmarco", "ms_marco_eval.py", "28b3693", "recorded", _msmarco, frozenset({"RR"})
)
TORCHMETRICS = Convention(
    "torchmetrics", "torchmetrics", "1.9.0", "live", _torchmetrics,
    frozenset(["AP", "Accuracy", "FallOut", "P", "R", "RR", "Rprec", "Success", "nDCG"]),
)  # fmt: skip
