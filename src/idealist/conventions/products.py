"""Search engines, their workbenches, and libraries for retrieval-augmented generation."""

from __future__ import annotations

from collections.abc import Mapping

from idealist.conventions.base import Axes, Convention
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


def _elasticsearch(measure: Measure) -> Axes:
    """Cut the ideal list where the hits end."""
    return _engine(measure, ideal_cut="min(k,n)")


def _opensearch(measure: Measure) -> Axes:
    """Round each query to two digits."""
    return _engine(measure, round="query(2)")


def _quepid(measure: Measure) -> Axes:
    """Take every rated document into the ideal list; AP of nothing relevant is not a number."""
    axes = _engine(measure, ideal_cut="none")
    changes: dict[str, Axes] = {"CG": {"gain": "linear"}, "AP": {"no_relevant": "nan"}}
    return {**axes, **changes.get(measure.name, {})}


def _quepid_cut(measure: Measure) -> Axes:
    """Cut the ideal list at k, as before Quepid 8.1."""
    return {**_quepid(measure), "ideal_cut": "k"}


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


ELASTICSEARCH = Convention(
    "elasticsearch", "Elasticsearch _rank_eval", "main", "derived", _elasticsearch,
    frozenset({"DCG", "P", "RR", "nDCG"}),
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
    frozenset(["AP", "CG", "DCG", "P", "RR", "nDCG"]),
)
QUEPID_CUT = Convention(
    "quepid-cut", "Quepid NDCG_CUT", "8.6.0", "recorded", _quepid_cut, frozenset({"nDCG"})
)
SENTENCE_TRANSFORMERS = Convention(
    "sentence-transformers", "sentence-transformers InformationRetrievalEvaluator", "6.2.0",
    "recorded", _sentence_transformers, frozenset(["AP", "P", "R", "RR", "Success", "nDCG"]),
)  # fmt: skip
LLAMA_INDEX = Convention(
    "llama-index", "LlamaIndex", "0.14.25", "recorded", _llama_index,
    frozenset(["AP", "P", "R", "RR", "Success", "nDCG"]),
)  # fmt: skip
