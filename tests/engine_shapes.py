"""Answers of search engines as they document them, each with the run that it is."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What every sample ranks, best first, unless it says otherwise.
DOCUMENTS = ("d2", "d1", "d3")
SCORES = (3.5, 2.25, 1.0)
DISTANCES = (0.1, 0.2, 0.75)


def es(*ids: str, **more: Any) -> dict[str, Any]:
    ids = ids or DOCUMENTS
    hits = [
        {"_index": "docs", "_id": i, "_score": s, "_source": {"sku": f"s-{i}", "shop": "x"}}
        for i, s in zip(ids, SCORES, strict=False)
    ]
    return {
        "took": 5, "timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0},
        "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 3.5, "hits": hits},
    } | more  # fmt: skip


def solr(text: str = "red shoes") -> dict[str, Any]:
    docs = [{"id": i, "score": s} for i, s in zip(DOCUMENTS, SCORES, strict=True)]
    return {
        "responseHeader": {"status": 0, "QTime": 3, "params": {"q": text, "fl": "id,score"}},
        "response": {"numFound": 3, "start": 0, "maxScore": 3.5, "docs": docs},
    }


def vespa() -> dict[str, Any]:
    children = [
        {"id": f"id:shop:product::{i}", "relevance": s, "source": "shop", "fields": {"sku": f"s-{i}"}}
        for i, s in zip(DOCUMENTS, SCORES, strict=True)
    ]  # fmt: skip
    coverage = {"coverage": 100, "documents": 9, "full": True, "nodes": 1, "results": 1}
    return {"root": {
        "id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 3}, "coverage": coverage,
        "children": children,
    }}  # fmt: skip


def points(numbers: tuple[float, ...] = SCORES) -> list[dict[str, Any]]:
    found = zip(DOCUMENTS, numbers, strict=True)
    return [{"id": i, "version": 1, "score": s, "payload": {"sku": f"s-{i}"}} for i, s in found]


def qdrant(result: Any) -> dict[str, Any]:
    return {"result": result, "status": "ok", "time": 0.0002, "usage": None}


def weaviate(key: str = "distance", numbers: tuple[Any, ...] = DISTANCES) -> dict[str, Any]:
    found = [
        {"title": f"t {i}", "_additional": {"id": i, key: n}}
        for i, n in zip(DOCUMENTS, numbers, strict=True)
    ]
    return {"data": {"Get": {"Article": found}}}


def meili(text: str = "red shoes", key: str = "id", **more: Any) -> dict[str, Any]:
    hits = [
        {key: i, "title": "same", "_rankingScore": s}
        for i, s in zip(DOCUMENTS, (0.9, 0.8, 0.1), strict=True)
    ]
    return {
        "hits": hits, "query": text, "processingTimeMs": 1, "limit": 20, "offset": 0,
        "estimatedTotalHits": 3,
    } | more  # fmt: skip


def typesense(text: str = "red shoes", vector: bool = False) -> dict[str, Any]:
    hits: list[dict[str, Any]] = [{"document": {"id": i, "sku": f"s-{i}"}} for i in DOCUMENTS]
    for hit, match, distance in zip(hits, (578730123365711993, 9, 7), DISTANCES, strict=True):
        hit.update({"vector_distance": distance} if vector else {"text_match": match})
    params = {"collection_name": "docs", "per_page": 10, "q": text}
    return {
        "facet_counts": [], "found": 3, "hits": hits, "out_of": 9, "page": 1,
        "request_params": params, "search_cutoff": False, "search_time_ms": 1,
    }  # fmt: skip


def algolia(text: str = "red shoes") -> dict[str, Any]:
    hits = [{"objectID": i, "name": "x", "_highlightResult": {}} for i in DOCUMENTS]
    return {
        "hits": hits, "nbHits": 3, "page": 0, "nbPages": 1, "hitsPerPage": 20, "query": text,
        "params": "query=red", "processingTimeMS": 1, "queryID": "43b15df305339e827f0ac0bdc5ebcaa7",
    }  # fmt: skip


def pinecone(numbers: tuple[float, ...] = SCORES) -> dict[str, Any]:
    matches = [{"id": i, "score": s} for i, s in zip(DOCUMENTS, numbers, strict=True)]
    return {"matches": matches, "namespace": "", "usage": {"readUnits": 5}}


def milvus(numbers: tuple[float, ...] = SCORES) -> dict[str, Any]:
    data = [{"id": i, "distance": n} for i, n in zip(DOCUMENTS, numbers, strict=True)]
    return {"code": 0, "cost": 0, "data": data}


def chroma(times: int = 1) -> dict[str, Any]:
    return {
        "ids": [list(DOCUMENTS)] * times, "distances": [list(DISTANCES)] * times,
        "embeddings": None, "documents": [["x", "y", "z"]] * times, "uris": None,
        "metadatas": [[{"sku": f"s-{i}"} for i in DOCUMENTS]] * times, "data": None,
    }  # fmt: skip


def azure(**more: Any) -> dict[str, Any]:
    value = [
        {"@search.score": s, "HotelId": i, "HotelName": f"n {i}", **more}
        for i, s in zip(DOCUMENTS, SCORES, strict=True)
    ]
    return {"@odata.context": "https://x/$metadata#docs(*)", "@odata.count": 3, "value": value}


def discovery() -> dict[str, Any]:
    results = [
        {"id": i, "document": {"name": f"projects/1/documents/{i}", "id": i}} for i in DOCUMENTS
    ]
    return {"results": results, "totalSize": 3, "attributionToken": "abc"}


def serpapi() -> dict[str, Any]:
    found = [{"position": n, "link": i, "title": "x"} for n, i in enumerate(DOCUMENTS, 1)]
    return {
        "search_metadata": {"id": "1", "status": "Success"},
        "search_parameters": {"engine": "google", "q": "red shoes"}, "organic_results": found,
    }  # fmt: skip


def bing() -> dict[str, Any]:
    value = [{"id": f"https://api/#{n}", "url": i, "name": "x"} for n, i in enumerate(DOCUMENTS)]
    return {
        "_type": "SearchResponse", "queryContext": {"originalQuery": "red shoes"},
        "webPages": {"totalEstimatedMatches": 3, "value": value},
    }  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """A file or folder, how it is read, and what it then is: the order of each query's documents."""

    name: str
    content: Any
    queries: tuple[str, ...] = ("q1",)
    file: str = "run.json"
    columns: dict[str, str] = field(default_factory=dict)
    named: str = ""  # what --queries holds
    says: str = ""
    ids: str = "{}"

    def write(self, folder: Path) -> Path:
        path = folder / self.file
        if self.file.endswith("/"):
            path.mkdir()
            for name, each in self.content.items():
                (path / name).write_text(json.dumps(each))
        elif self.file.endswith(".jsonl"):
            path.write_text("\n".join(map(json.dumps, self.content)))
        else:
            path.write_text(json.dumps(self.content))
        return path

    def options(self, folder: Path) -> dict[str, Any]:
        """Give what `read_run` is told about it."""
        if self.named:
            (folder / "queries.tsv").write_text(self.named)
        queries = str(folder / "queries.tsv") if self.named else None
        return {"columns": self.columns or None, "queries": queries}

    def expected(self) -> dict[str, list[str]]:
        return {query: [self.ids.format(i) for i in DOCUMENTS] for query in self.queries}


TWO = "q1\tred shoes\nq2\tblue\n"
BY_TEXT = ("red shoes",)
BOTH = ("q1", "q2")
CHUNKS = ["a", "b"]


def wrapped(key: str, **more: Any) -> list[dict[str, Any]]:
    return [{"query": q, key: es(), **more} for q in BOTH]


SHAPES = [
    Shape("Elasticsearch by query", {"q1": es()}),
    Shape("Elasticsearch lines with a query", [{"query": q, **es()} for q in BOTH], BOTH, "r.jsonl"),
    Shape("Elasticsearch by another field", {"q1": es()}, columns={"document": "sku"}, ids="s-{}",
          says="the document is _source.sku"),
    Shape("msearch", {"took": 9, "responses": [es(), es()]}, BOTH, named=TWO, says="in their order"),
    Shape("lines of bare responses", [es(), es()], BOTH, "r.jsonl", named=TWO),
    Shape("query and response, lines", wrapped("response"), BOTH, "r.jsonl"),
    Shape("query and response, list", wrapped("response"), BOTH),
    Shape("qid, request and result", [{"qid": "q1", "query": "x", "request": {}, "result": es()}]),
    Shape("id, request and body", [{"id": "q1", "request": {"q": "x"}, "body": es()}]),
    Shape("id and hits", [{"id": "q1", "hits": es()}]),
    Shape("async search", [{"id": "q1", "is_partial": False, "response": es()}]),
    Shape("texts mapped", [{"query": "red shoes", "response": es()}], named=TWO, says="those of"),
    Shape("folder", {"q1.json": es(), "q2.json": es()}, BOTH, "responses/", says="name of the file"),
    Shape("folder with names", {"red_shoes.json": es(), "blue.json": es()}, BOTH, "r/", named=TWO),
    Shape("folder of Solr, mapped", {"0.json": solr(), "1.json": solr("blue")}, BOTH, "r/", named=TWO),
    Shape("folder of logs", {"q1.json": {"query": "red", "response": es()}}, file="r/"),
    Shape("folder with a note", {"q1.json": es(), "notes.md": 1}, file="r/", says="notes.md"),
    Shape("Solr", solr(), BY_TEXT, says="Solr: the query is its text, the document is id"),
    Shape("Solr by query", {"q1": solr()}),
    Shape("Solr, other key", {"q1": {"response": {"docs": [{"sku": f"s-{i}"} for i in DOCUMENTS]}}},
          columns={"document": "sku"}, ids="s-{}", says="their order ranks them"),
    Shape("Vespa", {"q1": vespa()}, says="the last part of id"),
    Shape("Vespa, whole ids", {"q1": vespa()}, columns={"document": "id"}, ids="id:shop:product::{}"),
    Shape("Vespa, field", {"q1": vespa()}, columns={"document": "sku"}, ids="s-{}"),
    Shape("Qdrant", {"q1": qdrant(points())}, says="Qdrant"),
    Shape("Qdrant points", {"q1": qdrant({"points": points()})}),
    Shape("Qdrant, Euclid", {"q1": qdrant(points(DISTANCES))}, says="smaller is better"),
    Shape("Qdrant batch", qdrant([points(), points()]), BOTH, named=TWO),
    Shape("Qdrant query batch", qdrant([{"points": points()}] * 2), BOTH, named=TWO),
    Shape("Qdrant payload", {"q1": qdrant(points())}, columns={"document": "sku"}, ids="s-{}"),
    Shape("Weaviate", {"q1": weaviate()}, says="distance, where smaller is better"),
    Shape("Weaviate bm25", {"q1": weaviate("score", ("3.5", "2.25", "1"))}, says="additional.score"),
    Shape("Weaviate certainty", {"q1": weaviate("certainty", SCORES)}),
    Shape("Weaviate batch", [weaviate(), weaviate()], BOTH, named=TWO),
    Shape("Meilisearch", meili(), BY_TEXT, says="the document is id, the score is _rankingScore"),
    Shape("Meilisearch, key inferred", meili(key="movie_id"), BY_TEXT, says="is movie_id"),
    Shape("Meilisearch, other key", meili(key="sku"), BY_TEXT, columns={"document": "sku"}),
    Shape("Meilisearch multi-search", {"results": [meili(), meili("blue")]}, ("red shoes", "blue")),
    Shape("Typesense", typesense(), BY_TEXT, says="Typesense"),
    Shape("Typesense vectors", typesense(vector=True), BY_TEXT, says="smaller is better"),
    Shape("Typesense multi_search", {"results": [typesense(), typesense("blue")]}, BOTH, named=TWO),
    Shape("Algolia", algolia(), BY_TEXT, says="their order ranks them"),
    Shape("Algolia queries", {"results": [algolia(), algolia("blue")]}, BOTH, named=TWO),
    Shape("Pinecone", {"q1": pinecone()}),
    Shape("Pinecone, Euclid", {"q1": pinecone(DISTANCES)}, says="smaller is better"),
    Shape("Milvus", {"q1": milvus()}),
    Shape("Milvus, L2", {"q1": milvus(DISTANCES)}, says="smaller is better"),
    Shape("Milvus, two vectors", {**milvus(), "data": milvus()["data"] * 2, "topks": [3, 3]}, BOTH,
          named=TWO),
    Shape("Chroma", chroma(2), BOTH, named=TWO, says="distances, where smaller is better"),
    Shape("Chroma by query", {"q1": chroma()}),
    Shape("Azure AI Search", {"q1": azure()}, says="the document is HotelId"),
    Shape("Azure, name as id", {"q1": azure()}, columns={"document": "HotelName"}, ids="n {}"),
    Shape("Discovery Engine", {"q1": discovery()}, says="document.id"),
    Shape("SerpApi", serpapi(), BY_TEXT, says="the document is link"),
    Shape("Bing", [{"id": "q1", "response": bing()}]),
]  # fmt: skip


#: What each engine answers where it finds nothing: that is no failure.
EMPTY: dict[str, Any] = {
    "Elasticsearch": {"hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}},
    "Elasticsearch, old": {"took": 1, "hits": {"total": 0, "hits": []}},
    "Solr": {"responseHeader": {"status": 0}, "response": {"numFound": 0, "docs": []}},
    "Vespa": {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}},
    "Qdrant": qdrant([]),
    "Qdrant points": qdrant({"points": []}),
    "Weaviate": {"data": {"Get": {"Article": []}}},
    "Meilisearch": meili() | {"hits": [], "estimatedTotalHits": 0},
    "Typesense": typesense() | {"hits": [], "found": 0},
    "Algolia": algolia() | {"hits": [], "nbHits": 0},
    "Pinecone": {"matches": [], "namespace": "x", "usage": {"readUnits": 1}},
    "Milvus": {"code": 0, "data": []},
    "Azure": azure() | {"value": [], "@odata.count": 0},
    "Discovery Engine": {"attributionToken": "abc", "summary": {}},
    "SerpApi": {"search_metadata": {"status": "Success"}, "error": "no results for this query."},
    "Bing": {"_type": "SearchResponse", "queryContext": {"originalQuery": "x"}},
}


def without(data: Any, *path: Any) -> Any:
    """Copy data without what is at a path."""
    found = copy.deepcopy(data)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return found


def changed(data: Any, value: Any, *path: Any) -> Any:
    """Copy data with a value at a path."""
    found = copy.deepcopy(data)
    inner = found
    for key in path[:-1]:
        inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner[key]
    inner[path[-1]] = value
    return found


@dataclass(frozen=True)
class Refused:
    """A faulty answer: what is said of it, and of which file or line."""

    code: str
    content: Any
    says: str
    file: str = "run.json"
    named: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    place: str = ""  # what the message starts with, after the folder
    hint: str = ""

    def shape(self) -> Shape:
        return Shape("", self.content, (), self.file, self.columns, self.named)


FAILED, SHAPED = "failed-search", "bad-shape"
AGAIN = "search again"
NAMES = "--queries FILE"


def failures() -> list[Refused]:
    """Give what shows that a search failed, or is incomplete: the query and the file are named."""
    errors: list[tuple[Any, str]] = [
        ({"error": {"type": "x"}, "status": 400}, "failed: {'type': 'x'}"),
        (es(timed_out=True), "timed out"),
        (es(_shards={"failed": 2}), "failed on 2 shards"),
        (es(_clusters={"total": 2, "successful": 1, "skipped": 1}), "skipped 1 clusters"),
        (es(_clusters={"total": 2, "failed": 1}), "failed on 1 clusters"),
        (changed(es(), [], "hits", "hits"), "lists none of the 3 documents found"),
        ({"responseHeader": {"status": 400}, "error": {"msg": "undefined field"}}, "failed: "),
        (changed(solr(), 503, "responseHeader", "status"), "failed with status 503"),
        (changed(solr(), True, "responseHeader", "partialResults"), "has partial results"),
        (changed(solr(), [], "response", "docs"), "lists none of the 3 documents found"),
        (changed(vespa(), [{"code": 12, "summary": "Timed out"}], "root", "errors"), "failed: [{"),
        (changed(vespa(), False, "root", "coverage", "full"), "did not look at all documents"),
        (changed(vespa(), True, "root", "coverage", "degraded", "timeout"), "timed out"),
        (without(vespa(), "root", "children"), "has no list of hits"),
        ({"status": {"error": "Not found: Collection `x`"}, "time": 0.1}, "failed: "),
        (qdrant({"points": points()}) | {"status": {"error": "x"}}, "failed: "),
        ({"data": {"Get": {"A": None}}, "errors": [{"message": "x"}]}, "failed: [{'message': 'x'}]"),
        (meili(degraded=True), "was cut off early"),
        ({"message": "Index `x` not found.", "code": "index_not_found", "type": "x", "link": "y"},
         "failed: 'Index `x` not found.'"),
        (typesense() | {"search_cutoff": True}, "was cut off early"),
        ({"code": 404, "error": "Not found."}, "failed: 'Not found.'"),
        (algolia() | {"timeoutHits": True}, "timed out"),
        ({"message": "Index does not exist", "status": 404}, "failed: 'Index does not exist'"),
        ({"code": 3, "message": "dimension 3 does not match", "details": []}, "failed: 'dimension"),
        ({"code": 1100, "message": "collection not found", "data": []}, "failed with code 1100"),
        ({"error": "InvalidDimension", "message": "x"}, "failed: 'InvalidDimension'"),
        (azure() | {"@search.semanticPartialResponseReason": "capacity"}, "is partial"),
        (azure() | {"@search.nextPageParameters": {"skip": 50}}, "is the first page only"),
        ({"error": {"code": "", "message": "no index"}}, "failed: {'code'"),
        ({"error": {"code": 403, "status": "PERMISSION_DENIED"}}, "failed: {'code': 403"),
        (changed(serpapi(), "Processing", "search_metadata", "status"), "status is 'Processing'"),
        ({"_type": "ErrorResponse", "errors": [{"code": "x"}], **bing()}, "failed: [{'code'"),
    ]  # fmt: skip
    found = []
    for number, (answer, says) in enumerate(errors):
        code = SHAPED if "no list" in says else FAILED
        hint = "ask for hits" if "lists none" in says else AGAIN
        if number % 2:
            files = {"q1.json": answer, "q2.json": answer}
            found.append(Refused(code, files, says, "r/", place="r/q1.json: query 'q1'", hint=hint))
        else:
            line = [{"query": "q1", "response": answer}]
            place = "run.jsonl:1: query 'q1'"
            found.append(Refused(code, line, says, "run.jsonl", place=place, hint=hint))
    return found


def two_ids(**more: Any) -> dict[str, Any]:
    found = meili(**more)
    return found | {"hits": [{**hit, "brand_id": f"b{hit['id']}"} for hit in found["hits"]]}


#: A folder that holds something else.
OTHERS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "it holds nothing", "a response in JSON for each query"),
    ({"bm25.run": 1, "dense.run": 1}, "it holds 2 .run", "give the files, "),
    ({"bm25.txt": 1}, "it holds 1 .txt", "/*.txt"),
    ({"rows.csv": 1, "more.csv": 2}, "it holds 2 .csv", "give a file inside it"),
    ({"all.jsonl": 1}, "it holds 1 .jsonl", "give a file inside it"),
    ({".q1.json": 1}, "it holds nothing", "give a file inside it"),
]

REFUSED = [
    *failures(),
    *(Refused("no-file", files, says, "r/", place="r: this is a folder", hint=hint)
      for files, says, hint in OTHERS),
    # whose query is it?
    Refused(SHAPED, es(), "this is a search response without queries", hint=NAMES),
    Refused(SHAPED, vespa(), "this is a search response without queries", hint=NAMES),
    Refused(SHAPED, {"responses": [es(), es()]}, "these are search responses without", hint=NAMES),
    Refused(SHAPED, qdrant([points(), points()]), "without queries", hint=NAMES),
    Refused(SHAPED, chroma(2), "without queries", hint=NAMES),
    Refused(SHAPED, [es(), es()], "without queries", "run.jsonl", hint=NAMES),
    Refused(SHAPED, [{"query": "q1", **es()}, es()], "response 2 of 2 does not name its query",
            "run.jsonl", place="run.jsonl:2:", hint=NAMES),
    Refused(SHAPED, [{"query": {"match": {}}, "response": es()}], "without queries", hint=NAMES),
    Refused(SHAPED, {"responses": [es()] * 3}, "3 responses, but 2 queries in", named=TWO,
            hint="a query for each response"),
    Refused(SHAPED, {"responses": [es()]}, "1 responses, but 2 queries in", named=TWO),
    Refused(SHAPED, [{"query": "green", "response": es()}], "knows none of the queries", named=TWO,
            hint="give their ids or their texts"),
    Refused(SHAPED, {"x.json": es()}, "knows none of the queries", "r/", named=TWO),
    Refused(SHAPED, [{"query": "red", "response": es()}], "is the text of 'a' and 'b'",
            named="a\tred\nb\tred\n", hint="name the responses by id"),
    Refused("duplicate-key", wrapped("response") * 2, "query 'q1' appears twice", "run.jsonl",
            place="run.jsonl:3:"),
    Refused("duplicate-key", {"results": [meili(), meili()]}, "query 'red shoes' appears twice"),
    Refused("duplicate-key", {"q1.json": es(), "red-shoes.json": es()}, "query 'q1' appears twice",
            "r/", named=TWO),
    Refused(SHAPED, {"q1": {"responses": [es(), es()]}, "q2": es()}, "query 'q1' has 2 responses"),
    Refused(SHAPED, {"q1": solr(), "q2": vespa()}, "these are responses of Solr and Vespa"),
    # what is in a file
    Refused(SHAPED, {"q1.json": {"a": 1}}, "cannot read {'a': 1} as the response", "r/",
            place="r/q1.json:", hint="Solr, Vespa"),
    Refused(SHAPED, {"q1.json": 7}, "cannot read 7", "r/", place="r/q1.json:"),
    Refused(SHAPED, {"q1.json": []}, "cannot read []", "r/", place="r/q1.json:"),
    Refused(SHAPED, {"q1.json": {"responses": [es(), es()]}}, "the responses to 2 queries", "r/",
            place="r/q1.json:", hint="--queries FILE"),
    Refused(SHAPED, {"q1.json": es(), "q2.json": solr()}, "Elasticsearch or OpenSearch and Solr", "r/"),
    # which field is the document?
    Refused(SHAPED, {"q1": changed(es(), [{"_score": 1}], "hits", "hits")}, "a hit has no _id"),
    Refused(SHAPED, {"q1": changed(es(), [1], "hits", "hits")}, "cannot read 1"),
    Refused("bad-column", two_ids(), "id and brand_id could each be the document",
            hint="--columns document=id"),
    Refused(SHAPED, meili(key="sku"), "a hit has no", hint="--columns document=sku"),
    Refused(SHAPED, {"q1": {"response": {"docs": [{"sku": "a"}, {"sku": "b"}]}}}, "a hit has no id",
            hint="--columns document=sku"),
    Refused(SHAPED, {"q1": changed(vespa(), "index:shop/0/c4ca", "root", "children", 0, "id")},
            "'index:shop/0/c4ca' is not the id of a document of Vespa",
            hint="--columns document=sku"),
    Refused(SHAPED, {"q1": changed(vespa(), "group:root:0", "root", "children", 0, "id")},
            "'group:root:0' is not the id of a document"),
    Refused(SHAPED, {"q1": solr()}, "a hit has no nothing", columns={"document": "nothing"},
            hint="--columns document=id"),
    Refused(SHAPED, {"q1": without(algolia(), "hits", 1, "objectID")}, "a hit has no objectID"),
    Refused(SHAPED, {"q1": without(typesense(), "hits", 0, "document", "id")}, "a hit has no document",
            hint="--columns document=sku"),
    Refused(SHAPED, {"q1": weaviate() | {"data": {"Get": {"A": [], "B": []}}}}, "has no list of hits"),
    Refused("missing-column", {"q1": solr()}, "some hits have no boost", columns={"score": "boost"}),
    Refused("bad-score", {"q1": changed(solr(), "high", "response", "docs", 0, "score")}, "'high'"),
    Refused("bad-id", {"q1": changed(solr(), ["a"], "response", "docs", 0, "id")}, "an id must be"),
    # groups in place of hits
    Refused(SHAPED, {"q1": {"responseHeader": {"status": 0}, "grouped": {"x": {"groups": []}}}},
            "the hits of Solr are in groups", hint="group.main=true"),
    Refused(SHAPED, {"q1": without(typesense(), "hits") | {"grouped_hits": []}}, "are in groups",
            hint="without group_by"),
    Refused(SHAPED, {"q1": qdrant({"groups": [{"id": 1, "hits": []}]})}, "are in groups"),
]  # fmt: skip


def paths(data: Any, *above: Any) -> list[tuple[Any, ...]]:
    """List the paths of everything in data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    found = []
    for key, value in inner if isinstance(data, (dict, list)) else ():
        found += [
            (*above, key),
            *(paths(value, *above, key) if isinstance(value, (dict, list)) else ()),
        ]
    return found


def at_path(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data
