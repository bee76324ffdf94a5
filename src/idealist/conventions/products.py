"""Search engines and their workbenches; libraries for embedding, retrieval and RAG."""

from __future__ import annotations

from collections.abc import Mapping

from idealist.conventions.convention import Axes, Convention
from idealist.measures import Measure
from idealist.notation import Value

#: What an engine returns is in the order given; gains are 2^g - 1, and negative ones are kept.
_ENGINE: Mapping[str, Value] = {
    "ties": "input", "grades": "keep", "gain": "exp2", "negative": "keep", "ideal_negative": "keep",
    "cutoff": 10,
}  # fmt: skip


def _engine(measure: Measure, **more: Value) -> Axes:
    short = {"denominator": "min(k,n)"} if measure.name == "P" else {}
    return {**_ENGINE, **short, **more}


def _rated(measure: Measure, **more: Value) -> Axes:
    """Take any rating above 0 for relevant, where that is asked."""
    above: Mapping[str, Value] = {"rel": 0, "rel_op": ">"}
    return {**_engine(measure, **more), **(above if measure.name in ("AP", "P", "RR") else {})}


def _elasticsearch(measure: Measure) -> Axes:
    """Cut the ideal list where the hits end."""
    return _engine(measure, ideal_cut="min(k,n)")


def _opensearch(measure: Measure) -> Axes:
    """Round each query to two digits."""
    return _rated(measure, round="query(2)")


def _quepid(measure: Measure) -> Axes:
    """Take every rated document into the ideal list; AP of nothing relevant is not a number."""
    axes = _rated(measure, ideal_cut="none")
    changes: dict[str, Axes] = {"CG": {"gain": "linear"}, "AP": {"no_relevant": "nan"}}
    return {**axes, **changes.get(measure.name, {})}


def _quepid_cut(measure: Measure) -> Axes:
    """Cut the ideal list at k, as before Quepid 8.1."""
    return {**_quepid(measure), "ideal_cut": "k"}


ELASTICSEARCH = Convention(
    "elasticsearch", "Elasticsearch _rank_eval", "main", "derived", _elasticsearch,
    frozenset(["DCG", "ERR", "P", "R", "RR", "nDCG"]),
)  # fmt: skip
OPENSEARCH = Convention(
    "opensearch", "OpenSearch search-relevance", "d8be5d1", "recorded", _opensearch,
    frozenset({"AP", "P", "nDCG"}),
)  # fmt: skip
QUEPID = Convention(
    "quepid",
    "Quepid",
    "8.6.0",
    "recorded",
    _quepid,
    frozenset(["AP", "CG", "DCG", "ERR", "P", "RR", "nDCG"]),
)
QUEPID_CUT = Convention(
    "quepid-cut", "Quepid NDCG_CUT", "8.6.0", "recorded", _quepid_cut, frozenset({"nDCG"})
)


#: Whatever is above 0 is relevant, fractions too.
_ABOVE_ZERO: Mapping[str, Value] = {"rel": 0, "rel_op": ">"}


def _sentence_transformers(measure: Measure) -> Axes:
    """Know relevant documents only as a set, and leave out queries without one."""
    axes: dict[str, Value] = {"gain": "binary", "ties": "docid-asc", "no_relevant": "skip"}
    return {**axes, "denominator": "min(k,R)"} if measure.name == "AP" else axes


def _llama_index(measure: Measure) -> Axes:
    """Know expected documents only as a set, never cut the ideal list, refuse an empty one."""
    axes: dict[str, Value] = {
        "gain": "binary", "ties": "input", "ideal_cut": "none", "no_relevant": "error",
    }  # fmt: skip
    return {**axes, "denominator": "min(k,n)"} if measure.name == "P" else axes


def _haystack(measure: Measure) -> Axes:
    """Gain a ground truth's score, whatever its sign; elsewhere it is relevant if above 0.

    Haystack has no k, so the ideal list is never cut.
    """
    axes: Axes = {"ties": "input", "grades": "keep"}
    if measure.name == "nDCG":
        signed = {"negative": "keep", "ideal_negative": "keep"}
        return {**axes, **signed, "ideal_cut": "none"}
    return {**axes, **_ABOVE_ZERO}


def _mlflow(measure: Measure) -> Axes:
    """Know relevant documents only as a set, and cut the ideal list where the retrieved one ends.

    MLflow gives 1 to an empty list if there is nothing relevant either; here it is 0.
    """
    axes: dict[str, Value] = {"gain": "binary", "ties": "input", "ideal_cut": "min(k,n)"}
    return {**axes, "denominator": "min(k,n)"} if measure.name == "P" else axes


def _phoenix(measure: Measure) -> Axes:
    """See nothing but the scores of a list.

    Its nDCG refuses a negative score. To its other metrics that is a hit, as any but 0; here they
    refuse it too.
    """
    seen: Axes = {"ties": "input", "grades": "keep", "missing": "skip", "negative": "error"}
    return {**seen, "ideal": "retrieved"} if measure.name == "nDCG" else {**seen, **_ABOVE_ZERO}


def _pyvespa(measure: Measure) -> Axes:
    """Gain a grade, which is between 0 and 1; elsewhere know relevant documents only as a set.

    An empty set is left out. Grades that are all 0 count as 0, and only nDCG takes grades.
    """
    axes: dict[str, Value] = {"ties": "input", "grades": "keep"}
    if measure.name == "nDCG":
        return axes
    capped: Axes = {"denominator": "min(k,R)"} if measure.name == "AP" else {}
    return {**axes, **_ABOVE_ZERO, **capped, "no_relevant": "skip"}


SENTENCE_TRANSFORMERS = Convention(
    "sentence-transformers", "sentence-transformers InformationRetrievalEvaluator", "6.2.0",
    "live", _sentence_transformers, frozenset(["AP", "P", "R", "RR", "Success", "nDCG"]),
)  # fmt: skip
LLAMA_INDEX = Convention(
    "llama-index", "LlamaIndex", "0.14.25", "live", _llama_index,
    frozenset(["AP", "P", "R", "RR", "Success", "nDCG"]),
)  # fmt: skip
HAYSTACK = Convention(
    "haystack", "Haystack", "3.4.0", "live", _haystack,
    frozenset(["AP", "R", "RR", "Success", "nDCG"]),
)  # fmt: skip
MLFLOW = Convention("mlflow", "MLflow", "3.17.2", "live", _mlflow, frozenset({"P", "R", "nDCG"}))
PHOENIX = Convention(
    "phoenix", "Phoenix RetrievalMetrics", "20.26.1", "derived", _phoenix,
    frozenset(["P", "RR", "Success", "nDCG"]),
)  # fmt: skip
PYVESPA = Convention(
    "pyvespa", "pyvespa VespaEvaluator", "1.2.9", "live", _pyvespa,
    frozenset(["AP", "P", "R", "RR", "Success", "nDCG"]),
)  # fmt: skip
