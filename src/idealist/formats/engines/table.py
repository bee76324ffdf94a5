"""Where each engine's response keeps what: the one table of engines.

A path leads through objects by their keys, "hits/hits"; a number is a place in a list, and * is
the only key that there is. An engine is one entry: nothing else in the house knows its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple

from idealist.formats.cells import shown

#: Whether larger or smaller scores are better; "either" where that depends on the metric of the
#: index, which a response does not name, but the order of its hits shows.
Direction = Literal["larger", "smaller", "either"]
#: Instead of the path of an id: the one field whose name ends with id, as Meilisearch infers keys.
INFERRED = "…id"


class Score(NamedTuple):
    """Where a hit keeps a score, and which is better."""

    path: str
    better: Direction = "larger"


class Sign(NamedTuple):
    """A sign of trouble: anything but what is `fine` at a path; {} in the words is what it is.

    It `means` that the search failed, that time was up, or that hits are missing from the list.
    """

    path: str
    fine: tuple[Any, ...]
    words: str
    means: Literal["failed", "timed out", "partial"] = "failed"


#: What every engine but one calls an error.
ERRORS = (
    Sign("error", (None, False, ""), "failed: {}"), Sign("errors", (None, False, []), "failed: {}"),
)  # fmt: skip


@dataclass(frozen=True)
class Engine:
    """How an engine answers a search, as it documents it.

    hits        the paths that may lead to the list
    ids, scores the paths in a hit, the first that every hit has counts; without scores, the order
    shown_by    paths of the response, one of which shows that it is this engine's; a+b means both
    hit_by      the same, of its first hit
    fields      where a hit keeps the document's own fields, if not beside the id
    query       the text of the query, if the response repeats it
    total       how many documents matched: 0 explains a list that is missing
    took        the milliseconds that the engine says it needed
    trouble     what shows that it failed, or is incomplete
    grouped     a path that holds groups in place of hits, and how to ask for hits
    parts       splits an answer to several queries, in their order; None where it is to one
    plain_id    takes the document's id out of what is at `ids`; None where it is no document's
    omits       whether the list is missing where nothing was found
    by_score    whether scores rank, whatever the order of the list
    is_ours     whether `convert` writes runs like this, which need no remark
    """

    name: str
    hits: tuple[str, ...]
    ids: tuple[str, ...]
    scores: tuple[Score, ...] = ()
    shown_by: tuple[str, ...] = ()
    hit_by: tuple[str, ...] = ()
    fields: str = ""
    query: str = ""
    total: tuple[str, ...] = ()
    took: str = ""
    trouble: tuple[Sign, ...] = ERRORS
    grouped: tuple[str, str] = ("", "")
    parts: Callable[[Mapping[str, Any]], list[Any] | None] | None = None
    plain_id: Callable[[Any], Any] | None = None
    omits: bool = False
    by_score: bool = False
    is_ours: bool = False

    @property
    def in_rows(self) -> bool:
        """Whether a hit is a list, in which fields have numbers and no names."""
        return self.ids[0].isdecimal()

    @cached_property
    def roots(self) -> frozenset[str]:
        """The keys of a response, without any of which it is not this engine's."""
        signs = (*self.hits, *self.shown_by, self.grouped[0])
        return frozenset(path.split("/")[0] for sign in signs for path in sign.split("+"))


@cache
def _keys(path: str) -> tuple[str, ...]:
    return tuple(path.split("/")) if path else ()


def at(data: Any, path: str) -> Any:
    """Follow a path; None where it leads nowhere.

    >>> at({"hits": {"hits": [{"_id": "d1"}]}}, "hits/hits/0/_id")
    'd1'
    """
    for key in _keys(path):
        if isinstance(data, list) and key.isdecimal():
            data = data[int(key)] if int(key) < len(data) else None
        elif isinstance(data, (dict, Mapping)):
            only = next(iter(data.values())) if key == "*" and len(data) == 1 else None
            data = data.get(key, only)
        else:
            return None
    return data


def _document(given: Any) -> str | None:
    """Return what the user called a document of Vespa: id:namespace:type:key/value pair:NAME."""
    parts = str(given).split(":", 4)
    return parts[4] if parts[0] == "id" and len(parts) == 5 else None


def _lists(response: Mapping[str, Any]) -> list[Any] | None:
    """Split a batch of Qdrant's, whose result is one list a query."""
    found = response.get("result")
    several = isinstance(found, list) and found and not any(map(_is_point, found))
    return [{"result": each} for each in found] if several and isinstance(found, list) else None


def _is_point(found: Any) -> bool:
    return isinstance(found, Mapping) and "points" not in found


def _rows(response: Mapping[str, Any]) -> list[Any] | None:
    """Split Chroma's columns, which hold one list a query, into hits; a key may be null."""
    ids = response.get("ids")
    if not isinstance(ids, list) or not ids or not all(isinstance(row, list) for row in ids):
        return None
    known = {key: response[key] for key in ("ids", "distances", "metadatas") if response.get(key)}
    if any(list(map(len, column)) != list(map(len, ids)) for column in known.values()):
        return None
    return [
        {"ids": [dict(zip(known, hit, strict=True)) for hit in zip(*rows, strict=True)]}
        for rows in zip(*known.values(), strict=True)
    ]


def _slices(response: Mapping[str, Any]) -> list[Any] | None:
    """Split Milvus' data by `topks`: how many hits each query has."""
    data, sizes = response.get("data"), response.get("topks")
    if not isinstance(data, list) or not isinstance(sizes, list) or sum(sizes) != len(data):
        return None
    ends = [sum(sizes[: n + 1]) for n in range(len(sizes))]
    return [{**response, "topks": None, "data": data[e - n : e]}
            for e, n in zip(ends, sizes, strict=True)]  # fmt: skip


ENGINES = (
    Engine(
        "Elasticsearch or OpenSearch", ("hits/hits",), ("_id",), (Score("_score"),),
        shown_by=("hits/hits",), fields="_source", total=("hits/total/value", "hits/total"),
        took="took",
        trouble=(
            *ERRORS,
            Sign("timed_out", (None, False), "timed out: its hits are incomplete", "timed out"),
            Sign("_shards/failed", (None, 0), "failed on {} shards: its hits are incomplete",
                 "partial"),
            Sign("_clusters/skipped", (None, 0), "skipped {} clusters: its hits are incomplete",
                 "partial"),
            Sign("_clusters/failed", (None, 0), "failed on {} clusters: its hits are incomplete",
                 "partial"),
        ),
        is_ours=True,
    ),
    Engine(
        "Solr", ("response/docs",), ("id", INFERRED), (Score("score"),),
        shown_by=("response/docs", "responseHeader/status"), query="responseHeader/params/q",
        total=("response/numFound",), took="responseHeader/QTime",
        grouped=("grouped", "add group.main=true to the request"),
        trouble=(
            *ERRORS,
            Sign("responseHeader/status", (None, 0), "failed with status {}"),
            Sign("responseHeader/partialResults", (None, False), "has partial results: {}",
                 "partial"),
        ),
    ),
    Engine(
        "Vespa", ("root/children",), ("id",), (Score("relevance"),),
        shown_by=("root/children", "root/coverage", "root/fields/totalCount", "root/errors"),
        fields="fields", total=("root/fields/totalCount",), plain_id=_document,
        trouble=(
            *ERRORS,
            Sign("root/errors", (None, []), "failed: {}"),
            Sign("root/coverage/degraded/timeout", (None, False), "timed out", "timed out"),
            Sign("root/coverage/full", (None, True), "did not look at all documents", "partial"),
        ),
    ),
    Engine(
        "Qdrant", ("result/points", "result"), ("id",), (Score("score", "either"),),
        shown_by=("result/points", "result+status", "status/error"), hit_by=("id+score",),
        fields="payload", parts=_lists, grouped=("result/groups", "query without group_by"),
        trouble=(*ERRORS, Sign("status", (None, "ok"), "failed: {}"),),
    ),
    Engine(
        "Weaviate", ("data/Get/*",), ("_additional/id",),
        (
            Score("_additional/distance", "smaller"), Score("_additional/certainty"),
            Score("_additional/score"),
        ),
        shown_by=("data/Get",),
    ),
    Engine(
        "Meilisearch", ("hits",), (INFERRED,), (Score("_rankingScore"),),
        shown_by=("hits+processingTimeMs", "hits+estimatedTotalHits"), hit_by=("_rankingScore",),
        query="query", total=("estimatedTotalHits", "totalHits"), took="processingTimeMs",
        trouble=(*ERRORS, Sign("degraded", (None, False), "was cut off early", "partial")),
    ),
    Engine(
        "Typesense", ("hits",), ("document/id",),
        (
            Score("hybrid_search_info/rank_fusion_score"), Score("vector_distance", "smaller"),
            Score("text_match"),
        ),
        shown_by=("search_time_ms",), hit_by=("document+text_match", "document+vector_distance"),
        fields="document", query="request_params/q", total=("found",), took="search_time_ms",
        grouped=("grouped_hits", "search without group_by"),
        trouble=(*ERRORS, Sign("search_cutoff", (None, False), "was cut off early", "partial")),
    ),
    Engine(
        "Algolia", ("hits",), ("objectID",),
        shown_by=("hits+processingTimeMS", "hits+nbHits"), hit_by=("objectID",), query="query",
        total=("nbHits",),
        trouble=(*ERRORS, Sign("timeoutHits", (None, False), "timed out", "timed out")),
    ),
    Engine(
        "Pinecone", ("matches",), ("id",), (Score("score", "either"),),
        shown_by=("matches+namespace",), hit_by=("id+score",), fields="metadata",
    ),
    Engine(
        "Milvus", ("data",), ("id", INFERRED), (Score("distance", "either"),),
        shown_by=("code+data",), hit_by=("id+distance",), fields="entity", parts=_slices,
        trouble=(*ERRORS, Sign("code", (None, 0, 200), "failed with code {}"),),
    ),
    Engine(
        "Chroma", ("ids",), ("ids",), (Score("distances", "smaller"),),
        shown_by=("ids/0/0+distances/0/0", "ids/0/0+metadatas/0"), hit_by=("ids",),
        fields="metadatas", parts=_rows,
    ),
    Engine(
        "Azure AI Search", ("value",), (INFERRED,),
        (Score("@search.rerankerScore"), Score("@search.score")),
        shown_by=("@odata.context+value", "@odata.count+value"), hit_by=("@search.score",),
        total=("@odata.count",),
        trouble=(
            *ERRORS,
            Sign("@search.semanticPartialResponseReason", (None,), "is partial: {}", "partial"),
            Sign("@search.nextPageParameters", (None,), "is the first page only", "partial"),
        ),
    ),
    Engine(
        "Google Discovery Engine", ("results",), ("document/id", "id"),
        shown_by=("attributionToken",), hit_by=("document/name", "document/id"),
        fields="document/structData", total=("totalSize",), omits=True,
    ),
    Engine(
        "SerpApi", ("organic_results",), ("link",),
        shown_by=("search_metadata/status",), hit_by=("position+link",),
        query="search_parameters/q", omits=True,
        trouble=(Sign("search_metadata/status", (None, "Success"), "failed: its status is {}"),),
    ),
    Engine(
        "Bing", ("webPages/value",), ("url",),
        shown_by=("webPages/value", "queryContext/originalQuery"),
        query="queryContext/originalQuery", omits=True,
    ),
)  # fmt: skip


def engine_of(response: Any) -> Engine | None:
    """Tell whose response it is, by what only this engine writes; None for anything else.

    >>> engine_of({"result": [{"id": 7, "score": 0.9}], "status": "ok"}).name
    'Qdrant'
    """
    if not isinstance(response, Mapping):
        return None
    found = next((engine for engine in ENGINES if is_of(response, engine)), None)
    return None if found and _is_table(response) else found


def _is_table(found: Mapping[str, Any]) -> bool:
    """Whether something is scores by document, or documents by query: then names are just names."""
    values = found.values()
    return _are_numbers(values) or all(map(_is_listed, values))


def _is_listed(found: Any) -> bool:
    if isinstance(found, list):
        return all(isinstance(each, (str, int)) or _is_pair(each) for each in found)
    return isinstance(found, Mapping) and _are_numbers(found.values())


def _are_numbers(found: Iterable[Any]) -> bool:
    return all(isinstance(each, (int, float)) for each in found)


def _is_pair(found: Any) -> bool:
    return isinstance(found, list) and [*map(type, found)] in ([str, int], [str, float])


def list_of(response: Mapping[str, Any], engine: Engine) -> Any:
    """Return the hits, or None where there is no list."""
    found = (at(response, path) for path in engine.hits)
    return next((hits for hits in found if isinstance(hits, list)), None)


def named_engine(name: str) -> Engine:
    """Return an engine by its name, as this table has it.

    >>> named_engine("Solr").ids[0]
    'id'
    """
    return next(engine for engine in ENGINES if engine.name == name)


def trouble_in(response: Mapping[str, Any], engine: Engine) -> tuple[str, str]:
    """Say what a sign of trouble means, and in which words; two empty texts where there is none.

    >>> trouble_in({"_shards": {"failed": 2}}, ENGINES[0])
    ('partial', 'failed on 2 shards: its hits are incomplete')
    """
    for sign in engine.trouble:
        if (found := at(response, sign.path)) not in sign.fine:
            return sign.means, sign.words.format(shown(found))
    return "", ""


def total_of(response: Mapping[str, Any], engine: Engine) -> int | None:
    """Return how many documents matched, if the response says so; some write it as text.

    >>> total_of({"hits": {"total": {"value": "12"}}}, ENGINES[0])
    12
    """
    found = (at(response, path) for path in engine.total)
    plain = (int(n) if isinstance(n, str) and n.isdecimal() else n for n in found)
    return next((n for n in plain if isinstance(n, int)), None)


def is_of(response: Mapping[str, Any], engine: Engine) -> bool:
    """Whether a response is an engine's."""
    if engine.roots.isdisjoint(response):
        return False
    hits = list_of(response, engine)
    first = hits[0] if hits else None
    if engine.grouped[0] and _has(response, engine.grouped[0]):
        return True
    if hits is None and any(at(response, path) is not None for path in engine.hits):
        return False
    if any(_has(response, sign) for sign in engine.shown_by):
        return not hits or isinstance(first, (Mapping, list)) or "/" in engine.hits[0]
    return isinstance(first, Mapping) and any(_has(first, sign) for sign in engine.hit_by)


def _has(data: Mapping[str, Any], sign: str) -> bool:
    """Whether something holds all of a+b; one is no list or object, as in no table by query."""
    found = [at(data, path) for path in sign.split("+")]
    is_plain = any(not isinstance(each, (Mapping, list)) for each in found)
    return None not in found and (is_plain or "/" in sign)
