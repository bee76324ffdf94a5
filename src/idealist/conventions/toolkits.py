"""Evaluation tools: trec_eval, ir_measures, ranx, BEIR, MTEB, torchmetrics and others."""

from __future__ import annotations

from idealist.conventions.convention import Axes, Convention
from idealist.measures import Measure
from idealist.measures.spellings import computed_by
from idealist.notation import Value


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


def _burges(measure: Measure) -> Axes:
    return {"gain": "exp2"} if measure.name in ("CG", "DCG", "nDCG") else {}


def _jarvelin_kekalainen(measure: Measure) -> Axes:
    return {"discount": "jk(2)"}


BURGES = Convention(
    "burges", "Burges et al. 2005, doi:10.1145/1102351.1102363", "2005", "derived", _burges
)
JARVELIN_KEKALAINEN = Convention(
    "jarvelin-kekalainen", "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418", "2002",
    "derived", _jarvelin_kekalainen,
)  # fmt: skip


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
