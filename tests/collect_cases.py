"""Engines as their documentation has them: what they are asked, and what they answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import engine_shapes as shapes
from idealist.collecting.http_engines import BY_NAME
from scripted_server import Scripted, ScriptedServer, scripted

QUERIES = {"q1": "red shoes", "q2": 'a "quoted" \\ one {{k}}', "q3": "größe 42 – ü"}


@dataclass(frozen=True)
class EngineCase:
    """How an engine is asked and what it answers, by its documentation.

    `asked` is the body, or the parameters of the address, that it wants for a text and k.
    """

    name: str
    address: str
    method: str
    path: str
    asked: Callable[[str, int], dict[str, Any]]
    answer: dict[str, Any]
    version: tuple[str, dict[str, Any]]
    says: str

    @property
    def template(self) -> dict[str, Any]:
        return dict(BY_NAME[self.name].example)


def _elastic(text: str, k: int) -> dict[str, Any]:
    match = {"multi_match": {"query": text, "fields": ["title^2", "description"]}}
    return {"query": match, "size": k, "_source": False}


def _solr(text: str, k: int) -> dict[str, Any]:
    params = {"q": text, "defType": "edismax", "qf": "title description", "fl": "id,score"}
    return {"params": {**params, "rows": k}}


def _vespa(text: str, k: int) -> dict[str, Any]:
    yql = "select * from product where userQuery()"
    return {"yql": yql, "query": text, "hits": k, "ranking": "bm25"}


def _weaviate(text: str, k: int) -> dict[str, Any]:
    bm25 = f"bm25: {{query: {json.dumps(text)}}}"
    return {
        "query": f"{{ Get {{ Product(limit: {k}, {bm25}) {{ _additional {{ id score }} }} }} }}"
    }


def _typesense(text: str, k: int) -> dict[str, Any]:
    return {"q": text, "query_by": "title,description", "per_page": str(k)}


ES_VERSION = {
    "name": "n",
    "cluster_name": "c",
    "version": {"number": "8.15.0", "lucene_version": "9"},
}
OS_VERSION = {"version": {"distribution": "opensearch", "number": "2.17.0"}}

ENGINES = [
    EngineCase("elasticsearch", "/products", "POST", "/products/_search", _elastic, shapes.es(),
               ("/", ES_VERSION), "8.15.0"),
    EngineCase("opensearch", "/behind/proxy/products", "POST", "/behind/proxy/products/_search",
               _elastic, shapes.es(), ("/behind/proxy/", OS_VERSION), "2.17.0"),
    EngineCase("solr", "/solr/products", "POST", "/solr/products/select", _solr, shapes.solr(),
               ("/solr/admin/info/system?wt=json", {"lucene": {"solr-spec-version": "9.7.0"}}), "9.7.0"),
    EngineCase("vespa", "", "POST", "/search/", _vespa, shapes.vespa(),
               ("/state/v1/version", {"version": "8.400.1"}), "8.400.1"),
    EngineCase("qdrant", "/products", "POST", "/collections/products/points/query",
               lambda text, k: {"query": [0.5, 1], "limit": k, "with_payload": True},
               shapes.qdrant({"points": shapes.points()}),
               ("/", {"title": "qdrant - vector search engine", "version": "1.12.0"}), "1.12.0"),
    EngineCase("weaviate", "", "POST", "/v1/graphql", _weaviate,
               shapes.weaviate("score", ("3.5", "2.25", "1")),
               ("/v1/meta", {"hostname": "http://x", "version": "1.27.0"}), "1.27.0"),
    EngineCase("meilisearch", "/products", "POST", "/indexes/products/search",
               lambda text, k: {"q": text, "limit": k, "showRankingScore": True}, shapes.meili(),
               ("/version", {"commitSha": "x", "pkgVersion": "1.11.0"}), "1.11.0"),
    EngineCase("typesense", "/products", "GET", "/collections/products/documents/search",
               _typesense, shapes.typesense(), ("/debug", {"state": 1, "version": "27.1"}), "27.1"),
]  # fmt: skip


@dataclass
class Asked:
    """One request, as a server saw it."""

    method: str
    path: str
    said: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def request_of(found: dict[str, Any], headers: dict[str, str]) -> Asked:
    """Read a request: its body, or the parameters of its address."""
    parts = urlsplit(found["path"])
    said = dict(parse_qsl(parts.query)) if found["method"] == "GET" else found["body"]
    path = parts.path if found["method"] == "GET" and said else found["path"]
    return Asked(found["method"], path, said, headers)


def reply(said: Any, **given: Any) -> Scripted:
    return Scripted(json.dumps(said).encode(), **given)


def elastic(*ids: str, **more: Any) -> Scripted:
    return reply(shapes.es(*ids, **more))


def asked_text(body: dict[str, Any]) -> str:
    """Return the text that a request to Elasticsearch has, wherever it is; empty of other requests."""
    return str(body["body"].get("query", ""))


@contextmanager
def elasticsearch(
    script: Callable[[str], Scripted] | Scripted,
) -> Iterator[tuple[str, ScriptedServer]]:
    """Serve as Elasticsearch does: a script maps the text of a query to what happens."""

    def answered(number: int, body: dict[str, Any]) -> Scripted:
        if body["method"] == "GET":
            return reply(ES_VERSION)
        return script if isinstance(script, Scripted) else script(asked_text(body))

    with scripted(answered, engine=True) as server:
        yield f"elasticsearch+{server.url.removesuffix('/v1')}/products", server


#: The shortest request that Elasticsearch could get.
SHORT = {"query": "{{query}}", "size": "{{k}}"}
