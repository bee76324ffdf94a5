"""Tools that evaluate rankings: trec_eval and what is built on it, scripts of tracks, papers."""

from __future__ import annotations

from idealist.conventions.convention import Axes, tool
from idealist.measures import Measure
from idealist.measures.spellings import computed_by
from idealist.notation import Value

# trec_eval, and the tools that call it.


@tool("trec_eval", "trec_eval -c", "10.0", "recorded")
def trec_eval(measure: Measure) -> Axes:
    """Change nothing: trec_eval 10 with ``-c``, its official use, is the default.

    Only for preferences, ties are ordered the other way round and levels are read as they are.
    Measures that it lacks follow it.
    """
    preferences = measure.name.startswith("prefs_")
    return {"ties": "docid-asc", "grades": "keep"} if preferences else {}


@tool("trec_eval-9", "trec_eval -c", "9.0.8", "recorded")
def trec_eval_9(measure: Measure) -> Axes:
    """Compare scores as float32, as all versions up to 9.0.8 do."""
    return {"precision": "float32", "rounding": "up", **trec_eval.rule(measure)}


@tool("pytrec_eval", "pytrec_eval-terrier", "0.5.11", "live", computed_by("pytrec_eval"))
def pytrec_eval(measure: Measure) -> Axes:
    """Follow trec_eval 9.0.8, and leave out queries that the run lacks."""
    return {**trec_eval_9.rule(measure), "missing": "skip"}


_BEIR = "AP P R RR Success nDCG"


def _capped(measure: Measure) -> bool:
    """Whether it is recall of at most k documents, which BEIR and MTEB compute themselves."""
    return measure.name == "R" and measure.written().get("denominator") == "min(k,R)"


@tool("beir", "BEIR", "2.2.0", "live", _BEIR)
def beir(measure: Measure) -> Axes:
    """Mix two rankings: pytrec_eval's, and its own for MRR, accuracy and capped recall."""
    if _capped(measure) or measure.name in ("RR", "Success"):
        own: Axes = {"ties": "input", "unknown": "error", "exclude_self": True, "round": 5}
        return {**own, "no_relevant": "error"} if _capped(measure) else own
    return {"precision": "float32", "missing": "skip", "exclude_self": True, "round": 5}


@tool("mteb", "MTEB", "2.26.24", "live", _BEIR)
def mteb(measure: Measure) -> Axes:
    """Round what pytrec_eval gives; MRR and capped recall are in double and not rounded."""
    axes: Axes = {"missing": "skip", "unknown": "error"}
    if _capped(measure):
        return {**axes, "no_relevant": "skip"}
    return axes if measure.name == "RR" else {**axes, "precision": "float32", "round": 5}


_HELM = "AP F P R RR Rprec Success bpref nDCG"


@tool("helm", "HELM", "0.5.16", "derived", _HELM)
def helm(measure: Measure) -> Axes:
    """Give pytrec_eval the model's order as whole numbers, and no document of grade 0.

    HELM itself fails at a query with nothing but grade 0; here such a query has nothing relevant.
    """
    return {"ties": "input", "grades": "nonzero", "missing": "skip"}


@tool("helm-trec", "HELM, TREC track", "0.5.16", "derived", _HELM)
def helm_trec(measure: Measure) -> Axes:
    """Take grade 1 as non-relevant in three measures, as HELM does if grades go beyond 1."""
    axes = helm.rule(measure)
    return {**axes, "rel": 2} if measure.name in ("R", "RR", "Success") else axes


# The C/W/L framework, and measures of subtopics.

#: What ir_measures computes with cwl_eval's classes, if no other provider comes first.
_IR_MEASURES_CWL = "BPM INSQ INST NERR10 NERR11 NERR8 NERR9 RBP SDCG"
#: Its readers look no further than this.
_CWL: Axes = {"depth": 1000, "normalise_depth": 1000, "grades": "keep"}


@tool("cwl_eval", "cwl-eval", "1.0.12", "live", f"{_IR_MEASURES_CWL} CWL IFT NPV SET TBG UMeasure")
def cwl_eval(measure: Measure) -> Axes:
    """Take grades as gains and the rows as they stand, whatever their scores and ranks say.

    Its P, RR and AP are those of gains: ask for CWL(model=P)@10.
    """
    axes = {**_CWL, "gain": "linear", "negative": "error", "order": "given", "missing": "skip"}
    axes |= {"p": 0.9, "scale": "none"}
    if measure.cutoff is None:
        axes["K"] = 10
    if measure.name == "SET" or measure.written().get("model") == "P":
        axes["cutoff"] = 10
    return axes


_NDEVAL = "AP_IA ERR_IA NRBP P_IA StRecall alpha_DCG alpha_nDCG nERR_IA nNRBP"


def _subtopics(measure: Measure) -> Axes:
    """Leave cutoff 1 without a denominator, and nNRBP without a value if nothing is relevant."""
    nothing: Axes = {"no_relevant": "nan"} if measure.name == "nNRBP" else {}
    return {"denominator": "perfect(k>1)", **nothing}


@tool("ndeval", "ndeval", "4.5", "recorded", _NDEVAL)
def ndeval(measure: Measure) -> Axes:
    """Trust the rank column, as ndeval does unless told -traditional, and print six digits."""
    return {**_subtopics(measure), "order": "rank", "missing": "skip", "round": 6}


@tool("pyndeval", "pyndeval", "0.0.8", "live", _NDEVAL)
def pyndeval(measure: Measure) -> Axes:
    """Order ties by document."""
    return {**_subtopics(measure), "ties": "docid-asc", "missing": "skip"}


# ir_measures, which calls many of these, and tools with formulas of their own.

#: What ir_measures computes unlike pytrec_eval.
_IR_MEASURES: dict[str, Axes] = {
    "Accuracy": {"ties": "input", "missing": "skip", "no_relevant": "skip"},
    "Compat": {"ties": "docid-asc"},
    "Judged": {"ties": "docid-asc"},
    "NumQ": {"missing": "skip"},
    "NumRel": {"missing": "skip"},
}


@tool("ir_measures", "ir_measures", "0.4.3", "live", computed_by("ir_measures"))
def ir_measures(measure: Measure) -> Axes:
    """Follow the provider: pytrec_eval, msmarco for RR@k, gdeval, cwl_eval, or pyndeval.

    With cwl_eval, lists are sorted by score alone, and ``gain=scaled(MIN_REL,MAX_REL)`` says what
    gains are.
    """
    if measure.name in _NDEVAL.split():
        return {**_subtopics(measure), "ties": "docid-asc"}
    if measure.name in _IR_MEASURES_CWL.split():
        own: Axes = {"p": 0.8, "gain": "binary", "scale": "none"} if measure.name == "RBP" else {}
        return {**_CWL, "ties": "input", **own}
    if measure.name == "ERR" or measure.written().get("gain") == "exp2":
        return {"max_grade": "4", "round": "query(5)"}
    if measure.name == "RR" and measure.cutoff:
        return {"ties": "docid-asc"}
    return _IR_MEASURES.get(measure.name, {"precision": "float32", "rounding": "up"})


@tool("ranx", "ranx", "0.3.21", "live", "AP DCG F NumRelRet P R RBP RR Rprec Success bpref nDCG")
def ranx(measure: Measure) -> Axes:
    """Zero what is below the relevance level in nDCG too, and take negatives as non-relevant.

    Its RBP is not scaled: gains must not be above 1, and ranx lets RBP exceed 1 if they are.
    """
    own: dict[str, Axes] = {
        "DCG": {"rel": 1}, "nDCG": {"rel": 1}, "bpref": {"negative": "nonrelevant"},
        "NumRelRet": {"aggregate": "mean"}, "RBP": {"scale": "none"},
    }  # fmt: skip
    all_of_them: Axes = {"ties": "input", "missing": "error", "unknown": "error"}
    return {**all_of_them, **own.get(measure.name, {})}


@tool("gdeval", "gdeval.pl", "1.3", "recorded", "ERR nDCG")
def gdeval(measure: Measure) -> Axes:
    """Leave out queries without relevant documents, and print five digits."""
    return {
        "gain": "exp2", "max_grade": "4", "no_relevant": "skip", "missing": "skip",
        "round": 5, "cutoff": 20,
    }  # fmt: skip


@tool("msmarco", "ms_marco_eval.py", "28b3693", "recorded", "RR")
def msmarco(measure: Measure) -> Axes:
    """Trust the rank column, look no further than rank 10, know relevant documents only."""
    return {"order": "rank", "cutoff": 10, "no_relevant": "skip"}


@tool("sample_eval", "sample_eval.pl", "2011-10-10", "recorded", "infNDCG xinfAP")
def sample_eval(measure: Measure) -> Axes:
    """Look at the first 1000 documents of the queries that the run has.

    If more than 1000 relevant documents are estimated, the script's ideal list goes on by one
    document of each lower grade; here it ends.
    """
    return {"cutoff": 1000, "missing": "skip"}


@tool("statap", "statAP_MQ_eval.pl", "3", "recorded", "statAP")
def statap(measure: Measure) -> Axes:
    """Leave out queries without relevant documents; the order of its ties is not defined."""
    return {"missing": "skip", "no_relevant": "skip"}


@tool(
    "ntcireval", "pyNTCIREVAL", "0.0.3", "live",
    "AP ERR NCU OMeasure P PMeasure PPlus Q RR Success nERR",
)  # fmt: skip
def ntcireval(measure: Measure) -> Axes:
    """Gain 2^g - 1: the tool is told its gains, and with these its ERR is the published one.

    Its nDCG is ``nDCG(discount=jk(2))`` and its MSnDCG nDCG, with whatever gains it is told.
    """
    axes: dict[str, Value] = {"ties": "input", "gain": "exp2"}
    return {**axes, "denominator": "min(k,R)"} if measure.name == "AP" else axes


# Papers: two formulas that both are called nDCG.


@tool("burges", "Burges et al. 2005, doi:10.1145/1102351.1102363", "2005", "derived")
def burges(measure: Measure) -> Axes:
    """Gain 2^g - 1."""
    return {"gain": "exp2"} if measure.name in ("CG", "DCG", "nDCG") else {}


@tool(
    "jarvelin-kekalainen", "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418", "2002",
    "derived",
)  # fmt: skip
def jarvelin_kekalainen(measure: Measure) -> Axes:
    """Discount from rank 2 on, by its logarithm."""
    return {"discount": "jk(2)"}


TOOLKITS = (
    trec_eval, trec_eval_9, pytrec_eval, ir_measures, ranx, gdeval, ndeval, pyndeval, cwl_eval,
    beir, mteb, helm, helm_trec, msmarco,
)  # fmt: skip
TRACKS_AND_PAPERS = (sample_eval, statap, ntcireval, burges, jarvelin_kekalainen)
