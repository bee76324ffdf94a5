"""Libraries and products: learning to rank, scikit-learn, search engines, embedding and RAG."""

from __future__ import annotations

from idealist.conventions.convention import Axes, tool
from idealist.measures import Measure
from idealist.notation import Value

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
    own = {**_ABOVE_HALF, "denominator": "min(k,n,R_list)"} if measure.name == "AP" else {}
    return {**_LIST, "gain": "exp2", "negative": "error", "no_relevant": 1, **own}


@tool("xgboost", "XGBoost", "3.2.0", "live", "AP P nDCG")
def xgboost(measure: Measure) -> Axes:
    """Cut at 32 if no cutoff is given; a linear gain may be negative, an exponential one not."""
    sign = _SIGNED if measure.written().get("gain") == "linear" else {"negative": "error"}
    own: dict[str, Axes] = {
        "nDCG": {"gain": "exp2", **sign, "no_relevant": 1},
        "AP": {"denominator": "min(k,R_list)", "no_relevant": 1},
    }
    usual: Axes = {"denominator": "min(k,n)"}
    return {**_LIST, "precision": "float32", "cutoff": 32, **own.get(measure.name, usual)}


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


#: Whatever is above 0 is relevant, fractions too.
_ABOVE_ZERO: Axes = {"rel": 0, "rel_op": ">"}
#: Hits come in the order given; gains are 2^g - 1, and negative ones are kept.
_ENGINE: Axes = {"ties": "input", "grades": "keep", "gain": "exp2", "cutoff": 10, **_SIGNED}
_SETS = "AP P R RR Success nDCG"


def _engine(measure: Measure, **more: Value) -> Axes:
    short = {"denominator": "min(k,n)"} if measure.name == "P" else {}
    return {**_ENGINE, **short, **more}


def _rated(measure: Measure, **more: Value) -> Axes:
    """Take any rating above 0 as relevant, in measures that ask for it."""
    above = _ABOVE_ZERO if measure.name in ("AP", "P", "RR") else {}
    return {**_engine(measure, **more), **above}


@tool("elasticsearch", "Elasticsearch _rank_eval", "main", "derived", "DCG ERR P R RR nDCG")
def elasticsearch(measure: Measure) -> Axes:
    """Cut the ideal list where the hits end."""
    return _engine(measure, ideal_cut="min(k,n)")


@tool("opensearch", "OpenSearch search-relevance", "d8be5d1", "recorded", "AP P nDCG")
def opensearch(measure: Measure) -> Axes:
    """Round each query to two digits."""
    return _rated(measure, round="query(2)")


@tool("quepid", "Quepid", "8.6.0", "recorded", "AP CG DCG ERR P RR nDCG")
def quepid(measure: Measure) -> Axes:
    """Take every rated document into the ideal list; AP is NaN if nothing is relevant."""
    axes = _rated(measure, ideal_cut="none")
    changes: dict[str, Axes] = {"CG": {"gain": "linear"}, "AP": {"no_relevant": "nan"}}
    return {**axes, **changes.get(measure.name, {})}


@tool("quepid-cut", "Quepid NDCG_CUT", "8.6.0", "recorded", "nDCG")
def quepid_cut(measure: Measure) -> Axes:
    """Cut the ideal list at k, as before Quepid 8.1."""
    return {**quepid.rule(measure), "ideal_cut": "k"}


@tool(
    "sentence-transformers", "sentence-transformers InformationRetrievalEvaluator", "6.2.0",
    "live", _SETS,
)  # fmt: skip
def sentence_transformers(measure: Measure) -> Axes:
    """Know relevant documents only as a set, and leave out queries without one."""
    axes: dict[str, Value] = {"gain": "binary", "ties": "docid-asc", "no_relevant": "skip"}
    return {**axes, "denominator": "min(k,R)"} if measure.name == "AP" else axes


@tool("llama-index", "LlamaIndex", "0.14.25", "live", _SETS)
def llama_index(measure: Measure) -> Axes:
    """Know expected documents only as a set, never cut the ideal list, refuse an empty one."""
    axes: dict[str, Value] = {
        "gain": "binary", "ties": "input", "ideal_cut": "none", "no_relevant": "error",
    }  # fmt: skip
    return {**axes, "denominator": "min(k,n)"} if measure.name == "P" else axes


@tool("haystack", "Haystack", "3.4.0", "live", "AP R RR Success nDCG")
def haystack(measure: Measure) -> Axes:
    """Gain the score of a ground truth, whatever its sign; elsewhere it is relevant if above 0.

    Haystack has no k, so the ideal list is never cut.
    """
    axes: Axes = {"ties": "input", "grades": "keep"}
    if measure.name == "nDCG":
        return {**axes, **_SIGNED, "ideal_cut": "none"}
    return {**axes, **_ABOVE_ZERO}


@tool("mlflow", "MLflow", "3.17.2", "live", "P R nDCG")
def mlflow(measure: Measure) -> Axes:
    """Know relevant documents only as a set, and cut the ideal list where the retrieved one ends.

    MLflow gives an empty list the value 1 if nothing is relevant either; here it is 0.
    """
    axes: dict[str, Value] = {"gain": "binary", "ties": "input", "ideal_cut": "min(k,n)"}
    return {**axes, "denominator": "min(k,n)"} if measure.name == "P" else axes


@tool("phoenix", "Phoenix RetrievalMetrics", "20.26.1", "derived", "P RR Success nDCG")
def phoenix(measure: Measure) -> Axes:
    """See only the scores of a list.

    Its nDCG refuses a negative score. Its other metrics count it as a hit, like anything but 0;
    here they refuse it too.
    """
    seen: Axes = {"ties": "input", "grades": "keep", "missing": "skip", "negative": "error"}
    return {**seen, "ideal": "retrieved"} if measure.name == "nDCG" else {**seen, **_ABOVE_ZERO}


@tool("pyvespa", "pyvespa VespaEvaluator", "1.2.9", "live", _SETS)
def pyvespa(measure: Measure) -> Axes:
    """Gain a grade, which is between 0 and 1; elsewhere know relevant documents only as a set.

    A query with an empty set is left out. Grades that are all 0 count as 0, and only nDCG takes
    grades.
    """
    axes: dict[str, Value] = {"ties": "input", "grades": "keep"}
    if measure.name == "nDCG":
        return axes
    capped: Axes = {"denominator": "min(k,R)"} if measure.name == "AP" else {}
    return {**axes, **_ABOVE_ZERO, **capped, "no_relevant": "skip"}


PRODUCTS = (
    sentence_transformers, llama_index, haystack, mlflow, phoenix, pyvespa, elasticsearch,
    opensearch, quepid, quepid_cut,
)  # fmt: skip
