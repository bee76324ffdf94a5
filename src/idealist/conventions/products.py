"""Search engines and their workbenches."""

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
