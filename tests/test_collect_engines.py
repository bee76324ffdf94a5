"""Every engine is asked as it documents, and its answers become the run that they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from collect_cases import ENGINES, QUERIES, EngineCase, reply, request_of
from engine_shapes import DOCUMENTS, EMPTY, Refused, failures
from idealist.collecting.engine_answers import ResponseReader
from idealist.errors import InputError, UsageError
from idealist.formats.engines.table import ENGINES as TABLE
from idealist.formats.engines.table import engine_of
from scripted_server import Scripted, scripted

WITH_VECTORS = {q: {"text": text, "vector": "[0.5, 1]"} for q, text in QUERIES.items()}


def serving(case: EngineCase) -> Any:
    def script(number: int, body: dict[str, Any]) -> Scripted:
        path, said = case.version
        if (body["method"], body["path"]) == ("GET", path):
            return reply(said)
        return reply(case.answer)

    return scripted(script, engine=True)


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_an_engine_is_asked_as_it_documents(case: EngineCase, monkeypatch: Any) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret-key")
    with serving(case) as server:
        address = f"{case.name}+{server.url.removesuffix('/v1')}{case.address}"
        found = il.collect(
            address, WITH_VECTORS, 7, template=case.template, concurrency=1, warm_up=0,
            headers={"Authorization": "ApiKey ${SHOP_KEY}"},
        )  # fmt: skip
        asked = [request_of(*one) for one in zip(server.asked, server.headers, strict=True)]
    searches = asked[1:]  # after the question for its version
    assert [(one.method, one.path) for one in searches] == [(case.method, case.path)] * 3
    assert [one.said for one in searches] == [case.asked(text, 7) for text in QUERIES.values()]
    assert {one.headers["authorization"] for one in asked} == {"ApiKey s3cret-key"}
    assert {one.headers["content-type"] for one in searches} == {"application/json"}
    (collected,) = found.collected.values()
    assert collected.header["version"] == case.says
    assert collected.header["index"] == (case.address.rpartition("/")[2] or None)
    assert collected.those("ok") == tuple(QUERIES)


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_what_is_collected_is_what_reading_the_responses_gives(
    case: EngineCase, tmp_path: Path
) -> None:
    with serving(case) as server:
        address = f"{case.name}+{server.url.removesuffix('/v1')}{case.address}"
        found = il.collect(
            address, WITH_VECTORS, template=case.template, output=tmp_path / "run.jsonl"
        )
    lines = [json.dumps({"query_id": q, "response": case.answer}) for q in QUERIES]
    saved = tmp_path / "responses.jsonl"
    saved.write_text("\n".join(lines))
    qrels = {q: {d: n for n, d in enumerate(DOCUMENTS)} for q in QUERIES}
    measures = ["nDCG@10", "AP", "RR"]
    mine, theirs = (
        il.evaluate(qrels, run, measures).per_query for run in (found.run, il.read_run(saved))
    )
    assert mine == theirs
    assert list(found.run.rows().documents[:3]) == list(DOCUMENTS)


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_found_is_empty_and_no_failure(name: str) -> None:
    engine = engine_of(EMPTY[name])
    assert engine is not None
    assert ResponseReader(engine, 10).answer(EMPTY[name], 0.1).status == "empty"


PARTIAL = ("shards", "clusters", "partial", "did not look at all", "cut off early", "first page")


@pytest.mark.parametrize("case", failures(), ids=lambda case: case.says[:40])
def test_a_sign_of_trouble_is_a_status(case: Refused) -> None:
    body = next(iter(case.content.values())) if case.file == "r/" else case.content[0]["response"]
    engine = engine_of(body) or next(one for one in TABLE if one.name.startswith("Elastic"))
    answer = ResponseReader(engine, 10).answer(body, 0.1)
    if "timed out" in case.says and "failed" not in case.says:
        wanted = "partial"  # with the hits that are there
    else:
        wanted = "partial" if any(word in case.says for word in PARTIAL) else "failed"
    assert answer.status == wanted
    assert answer.error
    assert bool(answer.hits) == (wanted == "partial")
    if wanted == "partial" or case.says.startswith("failed with"):
        assert case.says in answer.error


def test_a_part_of_nothing_is_no_empty_list() -> None:
    body = {"_shards": {"failed": 2}, "hits": {"total": {"value": 0}, "hits": []}}
    assert ResponseReader(TABLE[0], 10).answer(body, 0.1).status == "failed"
    late = body | {"timed_out": True}
    assert ResponseReader(TABLE[0], 10).answer(late, 0.1).status == "timed out"


@pytest.mark.parametrize("body", [None, 7, [], "x", {}, {"hits": 3}, {"hits": {"hits": [1]}}])
def test_what_is_no_response_is_a_failure(body: Any) -> None:
    answer = ResponseReader(TABLE[0], 10).answer(body, 0.1)
    assert (answer.status, answer.hits) == ("failed", ())
    assert answer.error


MAPPING = """
name = "shop search"
method = "GET"
url = "{url}/api/search?lang=en&q={{{{query}}}}"
[headers]
X-Api-Key = "${{SHOP_KEY}}"
[request]
n = "{{{{k}}}}"
filter = "{{{{shop}}}}"
[response]
list = "result.items"
id = "product.sku"
score = "relevance"
text = "product.title"
total = "result.count"
took = "ms"
"""


def test_a_mapping_file_asks_any_endpoint(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret-key")
    items = [
        {"product": {"sku": f"d{n}", "title": f"Title {n}"}, "relevance": 9 - n} for n in range(3)
    ]
    answer = reply({"result": {"items": items, "count": 12}, "ms": 4})
    with scripted(answer, engine=True) as server:
        path = tmp_path / "shop.toml"
        path.write_text(MAPPING.format(url=server.url.removesuffix("/v1")))
        queries = {"q1": {"text": "a&b=c #1 ü", "shop": "north"}}
        found = il.collect(path, queries, 2, text="any", warm_up=0)
    (asked,) = [request_of(*one) for one in zip(server.asked, server.headers, strict=True)]
    assert (asked.method, asked.path) == ("GET", "/api/search")
    assert asked.said == {"lang": "en", "q": "a&b=c #1 ü", "n": "2", "filter": "north"}
    assert asked.headers["x-api-key"] == "s3cret-key"
    (line,) = found.collected["run"].answers.values()
    assert (line["total"], line["took"], line["status"]) == (12, 4, "ok")
    hits = [
        {"id": "d0", "score": 9.0, "rank": 1, "text": "Title 0"},
        {"id": "d1", "score": 8.0, "rank": 2, "text": "Title 1"},
    ]
    assert line["hits"] == hits


OK = 'ok = { status = "ok", "meta.success" = true }'
ANSWERS = [
    (OK, {"status": "error", "message": "boom", "items": []}, "failed", "status is 'error'"),
    (OK, {"status": "ok", "meta": {"success": False}, "items": []}, "failed", "meta.success is False"),
    (OK, {"status": "ok", "items": []}, "failed", "meta.success is None"),
    (OK, {"status": "ok", "meta": {"success": True}, "items": []}, "empty", ""),
    ('total = "count"', {"items": [], "count": "5"}, "failed", "none of the 5 documents"),
    ('total = "count"', {"items": [], "count": "0"}, "empty", ""),
    ('score = "nope"', {"items": [{"sku": "d1", "score": 2}]}, "failed", "have no nope"),
    ('score = "s"', {"items": [{"sku": "d1", "s": 2}, {"sku": "d2", "s": 1}]}, "ok", ""),
    ('distance = "s.x"', {"items": [{"sku": "d1", "s": {"x": 2}}]}, "ok", ""),
]  # fmt: skip


@pytest.mark.parametrize(("said", "body", "status", "says"), ANSWERS)
def test_a_mapping_says_what_a_failure_is(
    said: str, body: Any, status: str, says: str, tmp_path: Path
) -> None:
    with scripted(reply(body), engine=True) as server:
        path = tmp_path / "shop.toml"
        path.write_text(
            f'url = "{server.url}"\n[request]\nq = "{{{{query}}}}"\n'
            f'[response]\nlist = "items"\nid = "sku"\n{said}'
        )
        (answer,) = il.collect(path, {"q1": "red"}).collected["run"].answers.values()
    assert answer["status"] == status
    assert says in answer.get("error", "")
    assert [hit["score"] for hit in answer.get("hits", ())][:1] in ([], [2.0], [-2.0])


def test_rows_without_names_are_read_by_their_numbers(tmp_path: Path) -> None:
    """As Groonga answers with command_version=3."""
    body = {"n_hits": 9, "columns": [{"name": "_key"}], "records": [["d1", 7], ["d2", 3]]}
    with scripted(reply({"header": {"return_code": 0}, "body": body}), engine=True) as server:
        said = {
            "url": server.url, "request": {"query": "{{query}}"},
            "response": {"list": "body.records", "id": "0", "score": "1", "total": "body.n_hits"},
        }  # fmt: skip
        path = tmp_path / "groonga.json"
        path.write_text(json.dumps(said))
        found = il.collect(path, {"q1": "red"})
    assert found.run.rows().documents == ["d1", "d2"]
    assert found.collected["run"].answers["q1"]["total"] == 9


WHOLE = 'url = "http://x/"\n[response]\nlist = "a"\nid = "b"\n'
BAD_MAPPINGS = [
    ("url = 3", "the mapping has no url"),
    ('url = "http://x/"\nmethod = "PUT"', "the method is 'PUT'"),
    ('url = "http://x/"\nlist = "a"', "a mapping has no 'list'"),
    ('url = "http://x/"\n[response]\nid = "a"', "does not say where the list is"),
    ('url = "http://x/"\n[response]\nid = 0\nlist = "a"', "the path of id is 0"),
    ('url = "http://x/"\n[response]\nid = "a"\nlist = "a"\nrank = "b"', "[response] has no 'rank'"),
    ("url =", "the mapping is not TOML"),
    (f"{WHOLE}ok = 'status'", "ok is 'status'"),
    (f"{WHOLE}ok = {{ meta.code = 0 }}", "ok is {'meta'"),
    (f"{WHOLE}[headers]\nX = 5", 'write it in quotes: X = "5"'),
    (f"{WHOLE}[request]\nd = 2024-01-01\nq = '{{{{query}}}}'", "[request] d is no JSON"),
    (f"{WHOLE}[request]\nd = nan\nq = '{{{{query}}}}'", "[request] d is no JSON"),
    (
        f"{WHOLE}[request]\nq = '{{{{query|foo}}}}'",
        "shop.toml:6: {{query|foo}}: no text is written",
    ),
    (f"{WHOLE}[request]\nkey = '${{ES_KEY}}'", "[request] key holds ${ES_KEY}"),
    (WHOLE.replace("x/", "x/{{query|an}}"), "shop.toml:1: {{query|an}}: no text is written an"),
]


@pytest.mark.parametrize(("text", "says"), BAD_MAPPINGS, ids=lambda one: one[-24:])
def test_a_bad_mapping_says_what_is_wrong(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        il.collect(path, QUERIES)
    assert says in str(error.value)


ADDRESSES = [
    ("elastic+http://x/y", "did you mean elasticsearch?"),
    ("http://x/y", "such as elasticsearch+http"),
    ("solr", "write solr+http://HOST:PORT/INDEX"),
    ("elasticsearch+http://localhost:9200", "http://localhost:9200/products"),
    ("elasticsearch+http://u:p@localhost/x", "${VARIABLE}"),
    ("postgresql://u:p@localhost/x", "${VARIABLE}"),
    ("elasticsearch+http://localhost:99999/x", "http://HOST:PORT"),
    ("elasticsearch+http://localhost/{{query|an}}", "did you mean any?"),
    ("elasticsearch+http://[::1:9200/x", "http://HOST:PORT"),
    ("elasticsearch+http://localhost:9200/products#v2", "leave it out"),
    ("qdrant+http://localhost/x", '"{{vector}}"'),
    ("sqlite:nowhere.db", "check the path"),
    ("tantivy:nowhere", "{{query|any}}"),
    ("tantivy:x.json", "no query, which Tantivy is asked"),
    ("sqlite:x.json", "there is no x.json"),
    ("postgresql://x/y.json", "pip install"),
    ("postgres://x/y.json", "pip install"),
    ("tantivy:.", "pip install 'idealist[collect]'"),
]


@pytest.mark.parametrize(("address", "hint"), ADDRESSES)
def test_an_address_that_cannot_be_asked_says_what_to_write(
    address: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("psycopg", "tantivy"):
        monkeypatch.setitem(sys.modules, package, None)
    template = None if hint.startswith(('"{{', "{{")) else {"q": "{{query}}"}
    if "pip install" in hint and template:
        template = {"query": "{{query}}"}
    if address.startswith(("postgres", "sqlite")):
        template = "SELECT {{query}}"  # type: ignore[assignment]
    with pytest.raises(UsageError) as error:
        il.collect(address, QUERIES, template=template)
    assert hint.lower() in str(error.value).lower()
    assert "p@" not in str(error.value)
