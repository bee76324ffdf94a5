"""The demo's collection is sound: documents, queries, runs and judgments belong together."""

from __future__ import annotations

import csv
import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "src" / "idealist" / "demo"
RUNS = ("bm25", "reranked")

Table = dict[str, dict[str, float]]


def load_maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_runs", ROOT / "demo" / "make_runs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_documents() -> list[dict[str, str]]:
    lines = (DEMO / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_queries() -> list[dict[str, str]]:
    with (DEMO / "queries.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def read_run(name: str) -> Table:
    run: Table = {}
    for line in (DEMO / f"{name}.run").read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, tag = line.split()
        assert tag == name
        assert document not in run.setdefault(query, {}), f"{query} has {document} twice"
        run[query][document] = float(score)
    return run


def read_qrels() -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for line in (DEMO / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        assert document not in qrels.setdefault(query, {}), f"{query} judges {document} twice"
        qrels[query][document] = int(grade)
    return qrels


def first(scores: dict[str, float], k: int) -> list[str]:
    return sorted(scores, key=lambda document: scores[document], reverse=True)[:k]


def test_documents_are_many_unique_and_short() -> None:
    documents = read_documents()
    assert len(documents) >= 150
    assert max(Counter(record["document"] for record in documents).values()) == 1
    assert {record["kind"] for record in documents} == {"docs", "code", "tool"}
    for record in documents:
        assert list(record) == ["document", "kind", "title", "text"]
        assert record["document"].isascii()
        assert record["document"].split() == [record["document"]]
        assert record["title"].strip()
        assert len(record["text"].split()) >= 30, record["document"]


def test_queries_are_thirty_with_a_kind_and_a_weight() -> None:
    queries = read_queries()
    assert [record["query"] for record in queries] == [f"q{n:02}" for n in range(1, 31)]
    for record in queries:
        assert list(record) == ["query", "text", "kind", "weight"]
        assert record["text"].strip()
        assert int(record["weight"]) > 0
    kinds = Counter(record["kind"] for record in queries)
    assert set(kinds) == {"how-to", "error", "identifier", "tool", "concept"}
    assert min(kinds.values()) >= 3


def test_the_bm25_run_is_what_the_script_computes() -> None:
    maker = load_maker()
    computed = maker.bm25(maker.read_documents(), maker.read_queries())
    assert (DEMO / "bm25.run").read_text(encoding="utf-8") == maker.as_trec(computed, "bm25")


def test_a_changed_run_would_be_noticed() -> None:
    maker = load_maker()
    stored = maker.from_trec((DEMO / "bm25.run").read_text(encoding="utf-8"))
    assert maker.differences(stored, stored, 0.0) == []
    best = first(stored["q01"], 1)[0]
    moved = {**stored, "q01": {**stored["q01"], best: stored["q01"][best] + 1e-6}}
    assert len(maker.differences(stored, moved, 0.0)) == 1
    assert maker.differences(stored, moved, 1e-4) == []
    shorter = {query: scores for query, scores in stored.items() if query != "q02"}
    assert len(maker.differences(stored, shorter, 0.0)) == len(stored["q02"])


def test_the_reranker_orders_the_same_documents() -> None:
    bm25, reranked = (read_run(name) for name in RUNS)
    assert {q: set(found) for q, found in reranked.items()} == {
        q: set(found) for q, found in bm25.items()
    }
    assert sum(first(bm25[q], 10) != first(reranked[q], 10) for q in bm25) >= 20


@pytest.mark.parametrize("name", RUNS)
def test_runs_name_known_queries_and_documents(name: str) -> None:
    known = {record["document"] for record in read_documents()}
    run = read_run(name)
    assert list(run) == [record["query"] for record in read_queries()]
    for found in run.values():
        assert found.keys() <= known
        assert len(found) <= 50


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_stored_in_order_and_no_tie_touches_the_first_ten(name: str) -> None:
    for query, scores in read_run(name).items():
        values = list(scores.values())
        assert values == sorted(values, reverse=True), query
        assert len(set(values[:11])) == len(values[:11]), query


@pytest.mark.parametrize("name", RUNS)
def test_the_first_ten_are_judged(name: str) -> None:
    qrels = read_qrels()
    unjudged = [
        (query, document)
        for query, scores in read_run(name).items()
        for document in first(scores, 10)
        if document not in qrels[query]
    ]
    assert unjudged == []


def test_every_query_has_an_answer_and_every_grade_occurs() -> None:
    qrels = read_qrels()
    known = {record["document"] for record in read_documents()}
    assert list(qrels) == [record["query"] for record in read_queries()]
    assert {grade for grades in qrels.values() for grade in grades.values()} == {0, 1, 2, 3}
    for query, grades in qrels.items():
        assert grades.keys() <= known, query
        assert max(grades.values()) >= 2, query
