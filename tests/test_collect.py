"""Collecting: templates, Python searches, SQL, pace, two templates by turns, and the verb."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import idealist as il
from collect_cases import SHORT, elastic, elasticsearch
from idealist.cli.main import main
from idealist.collecting.asked_queries import asked_queries
from idealist.collecting.http_engines import HTTP_ENGINES
from idealist.collecting.request_templates import parse_template, template_of
from idealist.collecting.search_addresses import Wanted, find_search
from idealist.errors import InputError, UsageError
from idealist.formats.collected_runs import read_collected
from idealist.formats.source import Source
from idealist.significance.percentiles import percentiles
from scripted_server import Scripted, failing

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
@example('"}, "size": 0, "x": {"y": "')
@example("{{k}} {{query}}")
def test_no_text_breaks_out_of_its_place(text: str) -> None:
    values = {"query": text, "k": 7, "vector": [0.5, 1]}
    said = {"a": "{{query}}", "b": ["{{ k }}", "x {{query}} y"], "c": {"d": "{{vector}}", "e": 3}}
    filled = template_of(said).filled(values)
    assert filled == {"a": text, "b": [7, f"x {text} y"], "c": {"d": [0.5, 1], "e": 3}}
    graph = template_of({"query": "{ a(q: {{query|json}}) }"}).filled(values)["query"]
    assert json.loads(graph.removeprefix("{ a(q: ").removesuffix(") }")) == text


@settings(max_examples=200, deadline=None)
@given(TEXTS)
@example("x'; DROP TABLE docs; --")
def test_no_text_becomes_sql(text: str) -> None:
    base = sqlite3.connect(":memory:")
    sql, places = parse_template("SELECT {{query}}, {{k}}", is_sql=True).parameters(":{}".format)
    values = {"query": text, "k": 3}
    bound = {f"p{n}": place.of(values) for n, place in enumerate(places)}
    assert base.execute(sql, bound).fetchone() == (text, 3)
    base.close()


@settings(max_examples=200, deadline=None)
@given(TEXTS)
@example('red-shoes OR "NEAR(')
def test_words_in_quotes_are_words_to_every_parser(text: str) -> None:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(t)")
    base.execute("INSERT INTO docs VALUES ('red shoes')")
    for style in ("any", "all"):
        template = parse_template(
            f"SELECT 1 FROM docs WHERE docs MATCH {{{{query|{style}}}}}", is_sql=True
        )
        _, (place,) = template.parameters(":{}".format)
        words = place.of({"query": text}).replace("\0", "")
        if words:
            base.execute("SELECT 1 FROM docs WHERE docs MATCH ?", (words,))
    base.close()


BAD = [
    ('{"q": {{query}}}', False, 1, 'write "{{query}}"'),
    ('{"q": "x"}', False, 1, "write {{query}}"),
    ('{\n"q": "{{query|jsn}}"}', False, 2, "did you mean json?"),
    ('{"q": "{{query}}"', False, 1, "closed"),
    ('["{{query}}"]', False, None, 'such as {"q"'),
    ("SELECT '{{query}}'", True, 1, "it becomes a parameter"),
    (
        "SELECT id FROM docs -- it's\nWHERE title LIKE '%{{query}}%'",
        True,
        2,
        "it becomes a parameter",
    ),
    ('SELECT "it\'s {{query}}"', True, 1, "it becomes a parameter"),
    ("SELECT 'it''s {{query}}'", True, 1, "it becomes a parameter"),
    ("SELECT $x$ {{query}} $x$", True, 1, "it becomes a parameter"),
    ("SELECT $$ {{query}} $$", True, 1, "it becomes a parameter"),
    ("SELECT 1 WHERE t LIKE'{{query}}'", True, 1, "it becomes a parameter"),
    ("SELECT e'it\\'s {{query}}'", True, 1, "it becomes a parameter"),
    ("SELECT 1 -- {{query}}", True, 1, "it becomes a parameter"),
]


@pytest.mark.parametrize(("source", "is_sql", "line", "hint"), BAD)
def test_a_bad_template_says_what_to_write(
    source: str, is_sql: bool, line: int | None, hint: str
) -> None:
    with pytest.raises(InputError) as error:
        parse_template(source, is_sql=is_sql)
    assert error.value.line == line, error.value
    assert error.value.code == ("bad-template" if hint != "closed" else "json")
    assert hint in str(error.value) or "JSON" in str(error.value)


@pytest.mark.parametrize("engine", HTTP_ENGINES, ids=lambda one: one.name)
def test_every_example_of_a_template_is_one(engine: Any) -> None:
    assert template_of(engine.example).places <= {"query", "k", "vector"}


def test_columns_of_queries_fill_places_and_gaps_are_said(tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    path.write_text('query,text,vector,shop\nq1,red,"[0.5, 1]",north\nq2,blue,"[1, 2]",\n')
    assert asked_queries(path, 5)[0].values == {
        "query": "red", "text": "red", "id": "q1", "k": 5, "vector": [0.5, 1], "shop": "north",
    }  # fmt: skip
    for place, says in (("shop", "1 of 2 queries have no value for {{shop}}: q2"),
                        ("shp", "no query has a value for {{shp}}")):  # fmt: skip
        with pytest.raises(InputError) as error:
            il.collect("elasticsearch+http://127.0.0.1:9/x", path,
                       template={"a": f"{{{{{place}}}}}", "b": "{{query}}"})  # fmt: skip
        assert says in str(error.value)


def test_words_after_a_quote_that_has_ended_are_none() -> None:
    sql = "SELECT E'\\'' AS c, 'a' AS \"b\", 'it''s' || {{query}} || '%' /* don't */, {{k}}"
    assert parse_template(sql, is_sql=True).places == {"query", "k"}


def test_keys_of_a_template_are_filled_too() -> None:
    template = template_of({"match": {"{{field}}": "{{query}}", "top{{k}}": 1}})
    filled = template.filled({"field": "title", "query": "red", "k": 3})
    assert filled == {"match": {"title": "red", "top3": 1}}


def test_a_column_query_beside_the_text_fills_its_own_place(tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    path.write_text("id,query,text\nq1,short,a long text\n")
    values = asked_queries(path, 5)[0].values
    assert template_of({"a": "{{query}}", "b": "{{text}}"}).filled(values) == {
        "a": "short", "b": "a long text",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["k", "id"])
def test_a_column_that_no_place_can_mean_is_refused(name: str) -> None:
    queries = {"q1": {"text": "red", name: "7"}}
    address, asked = (
        "elasticsearch+http://127.0.0.1:9/x",
        {"q": "{{query}}", "n": f"{{{{{name}}}}}"},
    )
    with pytest.raises(InputError, match=f"there is a column {name} too"):
        il.collect(address, queries, template=asked)
    assert il.collect(lambda text: ["d"], queries).lacking == 0  # which has no such place


def test_a_column_is_of_lists_or_of_texts() -> None:
    def values(*cells: str) -> list[Any]:
        given = {f"q{n}": {"text": "x", "c": cell} for n, cell in enumerate(cells)}
        return [one.values["c"] for one in asked_queries(given, 5)]

    assert values("[1]", "[0.5, 2]", "") == [[1], [0.5, 2], ""]
    assert values("[1]", "north") == ["[1]", "north"]
    assert values("[new] shoes", "[old] hats") == ["[new] shoes", "[old] hats"]
    for cells in (("[0.1, 0.2",), ("[0.1, 0.2]", "[0.1 0.2]")):
        with pytest.raises(InputError, match="no list in JSON"):
            values(*cells)


class Document:
    """As LangChain's: pydantic is not needed to have its shape."""

    def __init__(self, id: str, text: str) -> None:  # noqa: A002
        self.id, self.page_content, self.metadata = id, text, {"source": "x.pdf"}


class LangChainRetriever:
    def invoke(self, input: str, **_: Any) -> list[Document]:  # noqa: A002
        return [Document("d2", f"{input} two"), Document("d1", "one")]


class Node:
    def __init__(self, id_: str, text: str) -> None:
        self.id_, self.text = id_, text


class NodeWithScore:
    def __init__(self, node: Node, score: float) -> None:
        self.node, self.score = node, score


class LlamaIndexRetriever:
    def retrieve(self, str_or_query_bundle: str) -> list[NodeWithScore]:
        return [NodeWithScore(Node("d2", "two"), 0.9), NodeWithScore(Node("d1", "one"), 0.5)]


SEARCHES: list[tuple[str, Any, list[float] | None]] = [
    ("ids", lambda text: ["d2", "d1"], None),
    ("pairs", lambda text: [("d2", 2.0), ("d1", 1.0)], [2.0, 1.0]),
    ("dict", lambda text: {"d1": 1.0, "d2": 2.0}, [2.0, 1.0]),
    ("objects", lambda text: [{"id": "d2", "score": 2}, {"id": "d1", "score": 1}], [2.0, 1.0]),
    ("distances", lambda text: [{"id": "d2", "distance": 1}, {"id": "d1", "distance": 2}], [-1, -2]),
    ("LangChain", LangChainRetriever(), None),
    ("LlamaIndex", LlamaIndexRetriever(), [0.9, 0.5]),
    ("generator", lambda text: iter(["d2", "d1"]), None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "search", "scores"), SEARCHES, ids=[one[0] for one in SEARCHES])
def test_python_searches_are_known_by_their_shape(name: str, search: Any, scores: Any) -> None:
    found = il.collect(search, {"q1": "red"}, k=2, text=True)
    rows = found.run.rows()
    assert rows.documents == ["d2", "d1"]
    assert (None if rows.scores is None else rows.scores.tolist()) == scores
    hits = found.collected["run"].answers["q1"]["hits"]
    texts = {"LangChain": ["red two", "one"], "LlamaIndex": ["two", "one"]}
    assert [hit.get("text") for hit in hits] == texts.get(name, [None, None])


def test_a_function_is_told_how_many_hits_are_wanted() -> None:
    asked: list[int] = []

    def search(text: str, top_k: int = 10) -> list[str]:
        asked.append(top_k)
        return [f"d{n}" for n in range(top_k + 5)]

    found = il.collect(search, {"q": "x"}, k=3, warm_up=0)
    assert asked == [3]
    assert found.run.rows().documents == ["d0", "d1", "d2"]


def raising(error: Exception) -> Callable[[str], Any]:
    def search(text: str) -> Any:
        raise error

    return search


@pytest.mark.parametrize(
    ("search", "status", "says"),
    [
        (raising(ValueError("no index")), "failed", "ValueError: no index"),
        (raising(TimeoutError("slow")), "timed out", "slow"),
        (lambda text: None, "failed", "returned None"),
        (lambda text: "d1", "failed", "returned 'd1'"),
        (lambda text: [{"a": {}}], "failed", "no id"),
        (lambda text: [("d1", "high")], "failed", "'high'"),
        (lambda text: [], "empty", ""),
        (lambda text: [("a", float("nan")), ("b", 1.0)], "failed", "NaN or infinite"),
        (lambda text: ["a", "b", "a"], "failed", "document 'a' is listed twice"),
        (lambda text: {"d1": None, "d2": 0.9}, "failed", "the score of 'd1' is None"),
        (lambda text: {"d1": "high", "d2": 0.9}, "failed", "the score of 'd1' is 'high'"),
        (lambda text: (1 // 0 for _ in "x"), "failed", "ZeroDivisionError"),
        (lambda text: [[1, 2, 3]], "failed", "[1, 2, 3]"),
        (lambda text: [("d1", b"x")], "failed", ""),
    ],
)
def test_what_python_does_is_a_status(search: Any, status: str, says: str) -> None:
    found = il.collect(search, {"q": "x", "r": "y"}, warm_up=0).collected["run"]
    assert found.those(status) == ("q", "r")
    assert says in found.answers["q"].get("error", "")


def test_an_order_that_scores_contradict_is_kept() -> None:
    found = il.collect(lambda text: [("d2", 1.0), ("d1", 3.0)], {"q": "x"})
    assert found.run.rows().documents == ["d2", "d1"]
    assert found.run.rows().scores is None
    doubts = {one.code: one for one in il.evaluate({"q": {"d1": 1}}, found.run, "RR").doubts}
    doubt = doubts["scores-unlike-order"]
    assert (doubt.queries, doubt.severity) == (("q",), "warning")
    assert "in 1 query (q) the scores contradict the order of the hits" in doubt.message


def test_failed_queries_count_as_nothing_only_where_somebody_says_so() -> None:
    def search(text: str) -> list[str]:
        if text == "bad":
            raise ValueError
        return [] if text == "none" else ["d1"]

    queries = {"a": "x", "b": "bad", "c": "none", "d": "y"}
    found = il.collect(search, queries)
    qrels = {q: {"d1": 1, "d2": 0} for q in queries}
    result = il.evaluate(qrels, found.run, "RR", missing="zero")
    doubts = {one.code: one for one in result.doubts}
    assert result["RR"] == 0.5
    assert doubts["failed-queries"].queries == ("b",)
    assert doubts["failed-queries"].price == {"run": {"RR": (0.5, 2 / 3)}}
    assert "missing-queries" not in doubts
    skipped = il.evaluate(qrels, found.run, "RR", missing="skip")
    assert skipped["RR"] == 2 / 3
    good = {query: ["d1"] for query in queries}
    asked = il.evaluate(qrels, found.run, "RR", queries=["a", "c"])  # whose searches went well
    assert asked["RR"] == 0.5
    for refused in (
        lambda: il.evaluate(qrels, found.run, "RR"),
        lambda: il.compare(qrels, [good, found.run], "RR"),
        lambda: il.gate(qrels, good, found.run, "RR"),
        lambda: il.report(qrels, {"good": good, "bad": found.run}, "RR"),
    ):
        with pytest.raises(InputError, match=r"1 judged query has no ranking.*\(b\)") as error:
            refused()
        assert "missing=skip, or count it as 0 with --set missing=zero" in str(error.value)
    gate = il.gate(qrels, good, found.run, "RR", missing="zero")
    assert gate.emptied_lines == [
        "FAIL 2 queries became empty, none may: b, c. The search of 1 of them failed: b."
    ]
    assert "failed-queries" in {one.code for one in il.audit(qrels, found.run).findings}
    worse = il.gate(qrels, found.run, good, "RR", missing="zero")
    assert [one.run for one in worse.doubts if one.code == "failed-queries"] == ["run"]


def test_queries_that_were_not_asked_count_as_nothing_only_where_somebody_says_so(
    tmp_path: Path,
) -> None:
    queries = {"a": "x", "b": "y", "c": "z"}
    il.collect(lambda text: ["d1"], queries, output=tmp_path / "whole.jsonl", concurrency=1)
    lines = (tmp_path / "whole.jsonl").read_text("utf-8").splitlines()
    stopped = tmp_path / "stopped.jsonl"
    stopped.write_text("\n".join(lines[:2]) + "\n", "utf-8")
    qrels = {q: {"d1": 1} for q in queries}
    words = r"2 judged queries have no ranking, because the search failed or timed out, or was not"
    with pytest.raises(InputError, match=words):
        il.gate(qrels, stopped, tmp_path / "whole.jsonl", "RR")
    assert il.evaluate(qrels, stopped, "RR", missing="skip")["RR"] == 1
    gate = il.gate(qrels, stopped, tmp_path / "whole.jsonl", "RR", missing="zero")
    assert [one.run for one in gate.doubts if one.code == "unasked-queries"] == ["stopped"]
    answered = json.loads(lines[1])["query"]
    assert il.evaluate({answered: {"d1": 1}}, stopped, "RR")["RR"] == 1


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    base = sqlite3.connect(tmp_path / "shop.db")
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, title)")
    rows = [("d1", "red shoes"), ("d2", "red red shoes"), ("d3", "blue hat")]
    base.executemany("INSERT INTO docs VALUES (?, ?)", rows)
    base.commit()
    base.close()
    return tmp_path / "shop.db"


FTS = "SELECT id, bm25(docs) AS distance, title FROM docs WHERE docs MATCH {} ORDER BY 2 LIMIT {{{{k}}}}"


def test_sqlite_is_searched_and_never_written(shop: Path) -> None:
    queries = {"a": "red", "b": "hat", "c": "green", "d": "red-shoes"}
    found = il.collect(
        f"sqlite:{shop}", queries, 5, template=FTS.format("{{query|any}}"), text="title"
    )
    collected = found.collected["run"]
    assert collected.those("ok") == ("a", "b", "d")
    assert collected.those("empty") == ("c",)
    assert [hit["id"] for hit in collected.answers["a"]["hits"]] == ["d2", "d1"]
    assert collected.answers["b"]["hits"][0]["text"] == "blue hat"
    raw = il.collect(f"sqlite:{shop}", queries, 5, template=FTS.format("{{query}}"))
    assert raw.collected["run"].those("failed") == ("d",)  # FTS5 takes the hyphen for a command
    drop = il.collect(
        f"sqlite:{shop}", queries, template="DELETE FROM docs WHERE title = {{query}}"
    )
    assert "readonly" in drop.collected["run"].answers["a"]["error"]


@pytest.mark.parametrize("order", ["", "ORDER BY score", "ORDER BY score DESC"])
def test_a_score_of_sql_ranks_whatever_the_order_of_rows(shop: Path, order: str) -> None:
    sql = f"SELECT id, -bm25(docs) AS score FROM docs WHERE docs MATCH {{{{query}}}} {order}"
    found = il.collect(f"sqlite:{shop}", {"a": "red"}, template=sql)
    assert found.run.rows().documents == ["d2", "d1"]
    said = found.collected["run"].unlike
    assert bool(said) == (order != "ORDER BY score DESC")


def test_a_statement_of_sqlite_has_its_time(shop: Path) -> None:
    endless = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT {{query}} AS id, max(i) AS score FROM n"""
    found = il.collect(f"sqlite:{shop}", {"a": "x"}, template=endless, timeout=0.2, warm_up=0)
    assert found.collected["run"].those("timed out") == ("a",)


def test_two_templates_are_asked_by_turns(tmp_path: Path) -> None:
    old, new = {**SHORT, "boost": "old"}, {**SHORT, "boost": "new"}
    outputs = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
    queries = {f"q{n}": f"x{n}" for n in range(10)}
    with elasticsearch(elastic()) as (address, server):
        found = il.collect(address, queries, template=[old, new], output=outputs, concurrency=1,
                           warm_up=0)  # fmt: skip
    bodies = [one["body"] for one in server.asked if one["body"]]
    assert [(one["query"], one["boost"]) for one in bodies] == [
        (f"x{n}", side) for n in range(10) for side in (("old", "new"), ("new", "old"))[n % 2]
    ]
    assert [run.name for run in found.runs] == ["old", "new"]
    hashes = {one.header["template"]["sha256"] for one in found.collected.values()}
    assert len(hashes) == 2
    for wrong in (outputs[:1], [outputs[0], outputs[0]], None):
        with pytest.raises(UsageError, match="file"):
            il.collect(address, queries, template=[old, new], output=wrong)


def test_the_rate_is_kept_and_warming_up_is_not_kept() -> None:
    with elasticsearch(elastic()) as (address, server):
        begun = time.monotonic()
        found = il.collect(address, {f"q{n}": "x" for n in range(20)}, template=SHORT, rate=50,
                           concurrency=4)  # fmt: skip
        seconds = time.monotonic() - begun
    asked = [one for one in server.asked if one["body"]]
    assert len(asked) == 20 + 4
    assert len(found.collected["run"].answers) == 20
    assert seconds >= 23 / 50


def test_so_many_are_under_way_and_no_more() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def search(text: str) -> list[str]:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return ["d"]

    il.collect(search, {f"q{n}": "x" for n in range(40)}, concurrency=5)
    assert most == 5
    most = 0
    il.collect(search, {f"q{n}": "x" for n in range(5)})
    assert most == 1  # a function may not bear more


def test_percentiles_are_those_of_numpy_and_of_nothing() -> None:
    assert percentiles([5.0]) == {"p50": 5.0, "p95": 5.0, "p99": 5.0}
    assert all(value != value for value in percentiles([]).values())


def verb(*words: str) -> None:
    main(["collect", *words])


def test_the_verb_collects_says_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queries.csv").write_text("query,text\nq1,red\nq2,bad\n")
    Path("request.json").write_text(json.dumps(SHORT))
    Path("qrels.txt").write_text("q1 0 d2 1\nq2 0 d1 1\n")
    bad: list[Scripted] = [failing(400, "no")]
    with elasticsearch(lambda text: bad[0] if text == "bad" else elastic()) as (address, _):
        words = [address, "--queries", "queries.csv", "--template", "request.json", "-o", "r.jsonl"]
        with pytest.raises(SystemExit) as left:
            verb(*words)
        assert left.value.code == 1
        said = capsys.readouterr()
        assert (
            "2 queries were asked of elasticsearch 8.15.0 (products); 1 has no answer"
            in said.err + said.out
        )
        assert "doubt: r: 1 query (q2): status 400: no" in said.err
        again = f"idealist collect {' '.join(words)} --resume"
        assert again in said.err
        with pytest.raises(SystemExit):
            main(["eval", "qrels.txt", "r.jsonl", "-m", "RR", "-q"])
        assert f"ask again: {again}; or leave it out" in capsys.readouterr().err
        main(["eval", "qrels.txt", "r.jsonl", "-m", "RR", "--set", "missing=skip", "-f", "json"])
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        doubt = next(one for one in run["doubts"] if one["code"] == "failed-queries")
        assert doubt["command"] == again
        bad[0] = elastic("d1")
        verb(*words, "--resume", "-f", "json")
        told = json.loads(capsys.readouterr().out)["runs"][0]
    assert told["statuses"] == {"ok": 2, "empty": 0, "partial": 0, "failed": 0, "timed out": 0}
    assert told["collected"]["again"] == f"{again} -f json"
    main(["eval", "qrels.txt", "r.jsonl", "-m", "RR"])
    shown = capsys.readouterr()
    assert "1.0000" in shown.out
    assert "failed" not in shown.err


def test_a_collected_run_is_no_judgments_and_converts(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.jsonl"
    il.collect(lambda text: [("d1", 2.0)], {"q": "x"}, output=path)
    with pytest.raises(InputError, match="not judgments"):
        il.read_qrels(path)
    main(["convert", str(path), str(tmp_path / "run.trec")])
    assert (tmp_path / "run.trec").read_text().split()[:3] == ["q", "Q0", "d1"]
    found = read_collected(Source.of(path))
    assert found is not None
    assert found.header["engine"].endswith("<lambda>")
    assert read_collected(Source.of(tmp_path / "run.trec")) is None
    assert found.again == ""


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"timeout": float("inf")}, "timeout is inf"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"k": 0}, "k is 0"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"concurrency": -1}, "concurrency is -1"),
        ({"concurrency": 1.5}, "concurrency is 1.5"),
        ({"k": 1.5}, "k is 1.5"),
        ({"k": "10"}, "k is '10'"),
        ({"k": True}, "k is True"),
        ({"attempts": "3"}, "attempts is '3'"),
        ({"warm_up": -3}, "warm_up is -3"),
        ({"timeout": "3"}, "timeout is '3'"),
        ({"timeout": None}, "timeout is None"),
        ({"headers": ["X: 5"]}, "headers cannot be"),
        ({"output": "-"}, "into -"),
        ({"output": "run.jsonl.gz"}, "into run.jsonl.gz"),
        ({"output": "nowhere/run.jsonl"}, "check the folder"),
        ({"template": {"q": "{{query}}"}}, "takes no template"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says.replace(".", r"\.")):
        il.collect(lambda text: ["d"], {"q": "x"}, **given)


@pytest.mark.parametrize("search", [7, None, object(), ["d1"]])
def test_what_cannot_be_searched_is_refused(search: Any) -> None:
    with pytest.raises(UsageError, match="cannot be searched"):
        il.collect(search, {"q": "x"})


def test_queries_without_text_are_refused_before_anything_is_asked() -> None:
    asked: list[str] = []
    with pytest.raises(InputError, match="1 of 2 queries have no value"):
        il.collect(asked.append, {"q": "x", "r": ""})
    assert not asked


def test_another_file_is_never_written_over(tmp_path: Path) -> None:
    for name, text in (("run.trec", "q1 Q0 d1 1 2.0 x\n"), ("notes.jsonl", '{"a": 1}\n{"a": 2}\n')):
        path = tmp_path / name
        path.write_text(text)
        for resume in (False, True):
            with pytest.raises(UsageError, match="no collected run"):
                il.collect(lambda text: ["d"], {"q": "x"}, output=path, resume=resume)
        assert path.read_text() == text


def test_a_key_that_others_can_read_is_doubted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret-key")
    wanted = Wanted(10, headers={"Authorization": "${SHOP_KEY}"})
    for place, open_ in (("http://search.example", True), ("https://search.example", False),
                         ("http://127.0.0.1:9200", False)):  # fmt: skip
        search = find_search(f"solr+{place}/solr/x", {"q": "{{query}}"}, wanted)
        assert ("without encryption" in search.doubt) == open_
        assert "s3cret" not in repr(search)


def test_converting_says_that_failed_queries_are_lost(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.jsonl"
    search = {"x": ["d"]}.__getitem__
    il.collect(search, {"q": "x", "r": "other"}, output=path, warm_up=0)
    main(["convert", str(path), str(tmp_path / "run.csv")])
    assert "1 query failed (r)" in capsys.readouterr().err


def test_a_report_says_what_failed(tmp_path: Path) -> None:
    good = il.collect(lambda text: ["d"], {f"q{n}": "x" for n in range(9)})
    bad = il.collect({"x": ["d"]}.__getitem__, {f"q{n}": "x" if n else "y" for n in range(9)})
    qrels = {f"q{n}": {"d": 1} for n in range(9)}
    runs = {"good": good.run, "bad": bad.run}
    page = il.report(qrels, runs, "RR", missing="zero").render("md")
    assert "In bad, 1 query failed (q0): it is missing from the run, not empty" in page
