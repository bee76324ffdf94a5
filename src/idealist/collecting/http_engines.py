"""How engines are asked over HTTP, as each documents it: the one table of requests.

What they answer is in the table of `formats.engines`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from idealist.collecting.request_templates import Template, Values, in_text
from idealist.formats.engines.table import Engine, named_engine


@dataclass(frozen=True)
class HttpEngine:
    """An engine that is asked over HTTP.

    name      what it is called in addresses
    response  where its responses keep what
    path      where a search goes, behind what precedes the index in the address
    example   a request that its documentation would give, for hints
    method    with GET, what a template says becomes parameters of the address
    version   where it tells its version, behind the same; and the key under which it does
    """

    name: str
    response: Engine
    path: str
    example: Mapping[str, Any] = field(default_factory=dict)
    method: str = "POST"
    version: tuple[str, str] = ("", "")

    @property
    def has_index(self) -> bool:
        """Whether the address ends with what is searched."""
        return "{index}" in self.path

    def request(self, target: str, template: Template, values: Values) -> tuple[str, bytes | None]:
        """Write a request: where it goes, and what is sent."""
        target = in_text(target, values, partial(quote, safe=""))
        said = template.filled(values)
        if self.method == "GET":
            sign = "&" if "?" in target else "?"
            plain = {
                key: one if isinstance(one, str) else json.dumps(one) for key, one in said.items()
            }
            return f"{target}{sign}{urlencode(plain)}" if plain else target, None
        return target, json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")


def _elastic(name: str) -> HttpEngine:
    fields = ["title^2", "description"]
    match = {"multi_match": {"query": "{{query}}", "fields": fields}}
    return HttpEngine(
        name, named_engine("Elasticsearch or OpenSearch"), "/{index}/_search",
        {"query": match, "size": "{{k}}", "_source": False}, version=("/", "version/number"),
    )  # fmt: skip


HTTP_ENGINES = (
    _elastic("elasticsearch"),
    _elastic("opensearch"),
    HttpEngine(
        "solr", named_engine("Solr"), "/{index}/select",
        {"params": {"q": "{{query}}", "defType": "edismax", "qf": "title description",
                    "fl": "id,score", "rows": "{{k}}"}},
        version=("/admin/info/system?wt=json", "lucene/solr-spec-version"),
    ),
    HttpEngine(
        "vespa", named_engine("Vespa"), "/search/",
        {"yql": "select * from product where userQuery()", "query": "{{query}}",
         "hits": "{{k}}", "ranking": "bm25"},
        version=("/state/v1/version", "version"),
    ),
    HttpEngine(
        "qdrant", named_engine("Qdrant"), "/collections/{index}/points/query",
        {"query": "{{vector}}", "limit": "{{k}}", "with_payload": True}, version=("/", "version"),
    ),
    HttpEngine(
        "weaviate", named_engine("Weaviate"), "/v1/graphql",
        {"query": "{ Get { Product(limit: {{k}}, bm25: {query: {{query|json}}}) "
                  "{ _additional { id score } } } }"},
        version=("/v1/meta", "version"),
    ),
    HttpEngine(
        "meilisearch", named_engine("Meilisearch"), "/indexes/{index}/search",
        {"q": "{{query}}", "limit": "{{k}}", "showRankingScore": True},
        version=("/version", "pkgVersion"),
    ),
    HttpEngine(
        "typesense", named_engine("Typesense"), "/collections/{index}/documents/search",
        {"q": "{{query}}", "query_by": "title,description", "per_page": "{{k}}"}, "GET",
        version=("/debug", "version"),
    ),
)  # fmt: skip
#: The same by name.
BY_NAME = {engine.name: engine for engine in HTTP_ENGINES}
