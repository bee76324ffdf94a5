"""Files as other tools write them: BEIR, MS MARCO, Quepid, engines, spreadsheets, ir_datasets."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import idealist as il
from idealist.formats import kind_of

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
RUN = {"q1": {"d2": 0.5, "d1": 0.25}, "q2": {"d1": 1.0}}

JUDGMENTS = {
    "beir.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
    "msmarco.tsv": "q1\t0\td1\t2\nq1\t0\td2\t0\nq2\t0\td1\t1\n",
    "quepid.csv": "query,docid,rating\r\nq1,d1,2.0\r\nq1,d2,0\r\nq2,d1,1\r\nnever rated\r\n",
    "quepid-detail.csv": "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating\n"
    'us,a case,7,q1,d1,"One, two",2\nus,a case,7,q1,d2,Two,0\nus,a case,7,q2,d1,One,1\n',
    "excel.csv": "\ufeffquery;document;grade\r\nq1;d1;2\r\nq1;d2;0\r\nq2;d1;1\r\n",
    "any.suffix": 'qid,docno,label\n"q1","d1","2"\n"q1","d2","0"\n\nq2,d1,1\n',
    "lines.jsonl": "".join(
        json.dumps({"query_id": q, "doc_id": d, "relevance": g}) + "\n\n"
        for q, judged in QRELS.items() for d, g in judged.items()
    ),
    "rank_eval.json": json.dumps({
        "requests": [
            {"id": q, "request": {"query": {"match": {"t": q}}},
             "ratings": [{"_index": "i", "_id": d, "rating": g} for d, g in judged.items()]}
            for q, judged in QRELS.items()
        ],
        "metric": {"dcg": {"k": 10}},
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments_of_other_tools(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(JUDGMENTS[name], newline="")
    assert il.read_qrels(path).hash == il.read_qrels(QRELS).hash
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(JUDGMENTS[name].encode()))
    assert il.read_qrels(packed).hash == il.read_qrels(QRELS).hash


def hits(entries: dict[str, float], **more: Any) -> dict[str, Any]:
    found = [{"_index": "i", "_id": d, "_score": s, **more} for d, s in entries.items()]
    return {"took": 3, "timed_out": False, "hits": {"total": {"value": 9}, "hits": found}}


RUNS = {
    "msmarco.tsv": "q1\td1\t2\nq1\td2\t1\nq2\td1\t1\n",
    "snapshot.csv": "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
    "s,now,7,q1,d2,1\ns,now,7,q1,d1,2\ns,now,7,q2,d1,1\n",
    "basic-snapshot.csv": "query,docid,rating\nq1,d2,\nq1,d1,2\nq2,d1,1\n",
    "scores.csv": "query,document,score\nq1,d1,0.25\nq1,d2,0.5\nq2,d1,1\n",
    "hits.json": json.dumps({q: hits(entries) for q, entries in RUN.items()}),
    "one-sorted.json": json.dumps({
        "q1": hits({"d2": 0.1, "d1": 0.9}, sort=["x"]), "q2": hits({"d1": 0.2}),
    }),
    "array.json": json.dumps([{"query_id": q, **hits(e)} for q, e in RUN.items()]),
    "sorted.json": json.dumps({q: hits(dict.fromkeys(e, 1), sort=[1]) for q, e in RUN.items()}),
    "hits.jsonl": "".join(json.dumps({"query": q, **hits(e)}) + "\n" for q, e in RUN.items()),
    "rank_eval.json": json.dumps({
        "metric_score": 0.5,
        "details": {
            q: {"hits": [{"hit": {"_id": d, "_score": s}, "rating": None} for d, s in e.items()]}
            for q, e in RUN.items()
        },
        "failures": {},
    }),
    "records.json": json.dumps(
        [{"query": q, "document": d, "score": s} for q, e in RUN.items() for d, s in e.items()]
    ),
    "nested.json": json.dumps(
        {q: [{"document": d, "score": s, "url": "x"} for d, s in e.items()] for q, e in RUN.items()}
    ),
    "one.jsonl": '{"query": "q1", "document": "d2", "score": 1}\n'
    '{"query": "q1", "document": "d1", "score": 0, "title": "x"}\n'
    '{"query": "q2", "document": "d1", "score": 0}\n',
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_runs_of_other_tools(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(RUNS[name])
    ranked = il.listing(il.read_run(path), il.Protocol(), ["q1", "q2"])
    assert {q: list(found.documents) for q, found in ranked.items()} == {
        "q1": ["d2", "d1"], "q2": ["d1"],
    }  # fmt: skip


def test_ranks_order_a_run_without_scores_wherever_its_rows_stand() -> None:
    columns = {"query": ["q"] * 3, "document": ["a", "b", "c"], "rank": [3, 1, 2]}
    assert il.listing(il.read_run(columns), il.Protocol(), ["q"])["q"].documents == ["b", "c", "a"]
    given = il.listing(il.read_run(columns), il.Protocol(order="given"), ["q"])
    assert given["q"].documents == ["a", "b", "c"]


def test_a_row_of_quepid_without_a_rating_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.csv"
    path.write_text(RUNS["basic-snapshot.csv"])
    qrels = il.read_qrels(path)
    assert qrels.ungraded == 1
    assert qrels.hash == il.read_qrels({"q1": {"d1": 2}, "q2": {"d1": 1}}).hash


KINDS = {
    "q1 0 d1 1\n": "qrels", "q1 Q0 d1 1 0.5 t\n": "run", "q1 Q0 d1 1 0.5 t and more\n": "run",
    "q1\td1\t1\n": "run", "query,document,grade\nq,d,1\n": "qrels", "qid,pid,rank\nq,d,1\n": "run",
    "query,document,score\nq,d,1\n": None, '{"q": {"d": 1}}': None,
    '{"query": "q", "document": "d", "rating": 1}\n{"query": "q", "document": "e", "rating": 1}': "qrels",
}  # fmt: skip


@pytest.mark.parametrize(("content", "kind"), KINDS.items())
def test_judgments_are_told_from_runs(content: str, kind: str | None, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(content)
    assert kind_of(tmp_path / "file") == kind


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(JUDGMENTS["beir.tsv"])
    texts = [{"_id": "q1", "text": "one", "metadata": {}}, {"_id": "q2", "text": "two"}]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(t) + "\n" for t in texts))
    return tmp_path


def test_a_folder_of_beir(beir: Path) -> None:
    assert il.read_qrels(beir).hash == il.read_qrels(QRELS).hash
    assert il.read_queries(beir).text == {"q1": "one", "q2": "two"}
    (beir / "qrels" / "dev.tsv").write_text(JUDGMENTS["beir.tsv"])
    with pytest.raises(il.InputError, match=r"qrels/dev\.tsv, qrels/test\.tsv"):
        il.read_qrels(beir)
    with pytest.raises(il.InputError, match="this is a folder, not a run"):
        il.read_run(beir)


def test_a_collection_of_ir_datasets(tmp_path: Path) -> None:
    ir_datasets = pytest.importorskip("ir_datasets")
    files = {
        "docs": "d1\tone\nd2\ttwo\n", "queries": "q1\tfirst\nq2\tsecond\n",
        "qrels": "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    made = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs"),
        queries_tsv=str(tmp_path / "queries"),
        qrels_trec=str(tmp_path / "qrels"),
    )
    assert il.read_qrels(made).hash == il.read_qrels(QRELS).hash
    assert il.read_queries(made).text == {"q1": "first", "q2": "second"}
    with pytest.raises(il.UsageError, match="the collection has no run"):
        il.read_run(made)
    with pytest.raises(il.UsageError, match="ir_datasets has no collection 'no-such-thing'"):
        il.read_qrels("irds:no-such-thing")


QUERY_FILES = {
    "header.csv": "query,text,kind,weight\nq1,one,how-to,3\nq2,\"two, too\",error,5\n",
    "ids.tsv": "_id\tquery\tkind\tweight\nq1\tone\thow-to\t3\nq2\ttwo, too\terror\t5\n",
    "quoted.csv": '"Query";"Text";"kind";"Weight"\r\n"q1";"one";how-to;3\r\n"q2";"two, too";error;5\r\n',
    "lines.jsonl": '{"qid": "q1", "text": "one", "kind": "how-to", "weight": "3"}\n'
    '{"qid": "q2", "text": "two, too", "kind": "error", "weight": "5"}\n',
    "map.json": '{"q1": {"text": "one", "kind": "how-to", "weight": "3"}, '
    '"q2": {"text": "two, too", "kind": "error", "weight": "5"}}',
}  # fmt: skip


@pytest.mark.parametrize("name", QUERY_FILES)
def test_queries_in_any_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(QUERY_FILES[name])
    queries = il.read_queries(tmp_path / name)
    assert queries.text == {"q1": "one", "q2": "two, too"}
    assert queries.column("kind") == {"q1": "how-to", "q2": "error"}
    assert queries.column("weight") == {"q1": "3", "q2": "5"}


def test_lines_of_text_that_mention_columns_are_no_header(tmp_path: Path) -> None:
    (tmp_path / "queries").write_text("q1\tsort, query\nq2\tid; text of a thing\n")
    assert il.read_queries(tmp_path / "queries").text["q1"] == "sort, query"


def test_ids_alone_are_queries(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("q1\n\nq2\r\n")
    assert list(il.read_queries(tmp_path / "ids.txt")) == ["q1", "q2"]
    (tmp_path / "traffic.csv").write_text("query;searches\nq1;7\n")
    assert il.read_queries(tmp_path / "traffic.csv").column("searches") == {"q1": "7"}


def test_blanks_behind_commas_are_no_part_of_an_id(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query, document, grade\nq1, d1, 2\nq1, d2, 0\nq2, d1, 1\n")
    assert il.read_qrels(tmp_path / "qrels.csv").hash == il.read_qrels(QRELS).hash


LOG: list[dict[str, Any]] = [
    {"question_id": "a", "retrieved": ["d1", "d2"], "scores": [0.1, 0.9], "tokens": [5, 9],
     "gold": ["d2"]},
    {"question_id": "b", "retrieved": [], "gold": {"d9": 2}},
]  # fmt: skip


def test_a_log_of_both_sides_is_judgments_and_run(tmp_path: Path) -> None:
    for name, text in (
        ("log.jsonl", "\n".join(map(json.dumps, LOG))),
        ("log.json", json.dumps(LOG)),
    ):
        path = tmp_path / name
        path.write_text(text)
        result = il.evaluate(path, path, "RR")
        assert result.per_query == {"query": ["a", "b"], "RR": [1.0, 0.0]}
        fits = il.evaluate(path, path, "R", depth="tokens(8)")
        assert fits.per_query["R"] == [0.0, 0.0]
    qrels, run = il.read_pairs(LOG)
    assert il.evaluate(qrels, run, "RR").per_query["RR"] == [1.0, 0.0]
    with pytest.raises(il.InputError, match="for 2 documents"):
        il.read_pairs([{**LOG[0], "scores": [1]}])


def test_pairs_by_the_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"query": "a", "retrieved": ["d1"], "ground_truth": ["d1"]}\n')
    qrels, run = il.read_pairs(path)
    assert il.evaluate(qrels, run, "RR")["RR"] == 1.0
    path.write_text(path.read_text() + "\n" + '{"query": "b", "retrieved": ["d1"]}\n')
    with pytest.raises(il.InputError) as caught:
        il.read_pairs(path)
    assert caught.value.line == 3


LABELS, SCORES = [3, 0, 1, 2, 0], [0.2, 0.9, 0.4, 0.1, 0.3]
ARRAYS: dict[str, Callable[[], tuple[il.Qrels, il.Run]]] = {
    "group": lambda: il.read_arrays(LABELS, SCORES, group=[3, 2]),
    "arrays": lambda: il.read_arrays(np.array(LABELS), np.array(SCORES, np.float32), group=np.array([3, 2])),
    "qid": lambda: il.read_arrays(LABELS, SCORES, qid=[1, 1, 1, 2, 2]),
    "mask": lambda: il.read_arrays(
        [[3, 0, 1], [2, 0, -1]], [[0.2, 0.9, 0.4], [0.1, 0.3, 99]],
        mask=np.array([[True] * 3, [True, True, False]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", ARRAYS)
def test_arrays_of_learning_to_rank(shape: str) -> None:
    qrels, run = ARRAYS[shape]()
    result = il.evaluate(qrels, run, ["nDCG@10", "RR"], convention="lightgbm")
    measure = il.parse("nDCG(gain=exp2,ideal=retrieved)@10")
    assert result.per_query["query"] == ["1", "2"]
    assert result.per_query["nDCG@10"] == pytest.approx([measure([0, 1, 3]), measure([0, 2])])


def test_rows_of_one_query_may_lie_apart() -> None:
    qrels, run = il.read_arrays([1, 0, 0], [0.1, 0.9, 0.5], qid=["a", "b", "a"])
    assert run.rows().documents == ["1", "2", "1"]
    assert il.evaluate(qrels, run, "RR").per_query["RR"] == [0.5, 0.0]


BAD_ARRAYS: dict[str, Callable[[], object]] = {
    "the shape": lambda: il.read_arrays([1, 0], [0.5]),
    "not an array": lambda: il.read_arrays([[1], [1, 2]], [[1], [1, 2]]),
    "the groups hold 3": lambda: il.read_arrays([1, 0], [0.5, 0.4], group=[3]),
    "group does not apply": lambda: il.read_arrays([[1, 0]], [[0.5, 0.4]], group=[2]),
    "either group or qid": lambda: il.read_arrays([1, 0], [1, 2], group=[2], qid=[1, 1]),
    "mask is int64": lambda: il.read_arrays([[1, 0]], [[1, 2]], mask=[[1, 0]]),
    "qid has 1 ids for 2": lambda: il.read_arrays([1, 0], [1, 2], qid=[1]),
    "grade nan is not a finite number": lambda: il.read_arrays([np.nan, 0], [1, 2]),
}


@pytest.mark.parametrize("says", BAD_ARRAYS)
def test_arrays_that_do_not_fit_are_refused(says: str) -> None:
    with pytest.raises(il.InputError, match=says):
        BAD_ARRAYS[says]()


PYTHON: dict[str, tuple[str, Callable[[], object]]] = {
    "a set has no order": ("cannot read", lambda: il.read_run({"q": {"a", "b"}})),
    "a frame inside a dict": ("cannot read", lambda: il.read_run({"q": pd.DataFrame({"a": [1]})})),
    "no pairs": ("cannot read 5", lambda: il.read_pairs(5)),
    "a pair without a list": (
        "there is a gold and no ranking",
        lambda: il.read_pairs([{"retrieved": None, "scores": [], "gold": ["d"]}]),
    ),
    "a pair whose query is a list": (
        "an id must be", lambda: il.read_pairs([{"query": ["a"], "retrieved": [], "gold": ["d"]}])),
    "responses without a query": (
        "without queries", lambda: il.read_run([{"hits": {"hits": [{"_id": "d"}]}, "score": 1}])),
    "responses whose query is none": (
        "without queries", lambda: il.read_run([{"hits": {"hits": []}, "query": {"match": 1}}])),
    "an id that is an object": ("an id must be", lambda: il.read_queries([{"_id": {"$oid": "1"}}])),
    "one id written twice": ("appears twice", lambda: il.read_queries({1: "a", "1": "b"})),
    "numbers that contradict": (
        "abstain 0.9 contradicts 0.1",
        lambda: il.read_qrels({"query": ["q", "q"], "document": ["d", "d"], "grade": [1, 1],
                               "abstain": [0.1, 0.9]}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PYTHON)
def test_python_data_that_cannot_be_meant_is_refused(fault: str) -> None:
    says, act = PYTHON[fault]
    with pytest.raises(il.InputError, match=says):
        act()


USAGE: dict[str, Callable[[], object]] = {
    "queries=": lambda: il.evaluate(QRELS, RUN, "RR", queries=[1.5]),
    "collapse=": lambda: il.evaluate(QRELS, RUN, "RR", collapse={"d": None}),
}


@pytest.mark.parametrize("says", USAGE)
def test_options_that_hold_no_ids_are_refused(says: str) -> None:
    with pytest.raises(il.UsageError, match=says):
        USAGE[says]()


def test_a_series_for_each_query() -> None:
    judged = {q: pd.Series(grades) for q, grades in QRELS.items()}
    assert il.read_qrels(judged).hash == il.read_qrels(QRELS).hash


def test_columns_of_queries() -> None:
    queries = il.read_queries({"query_id": ["q1", "q2"], "text": ["a", "b"]})
    assert queries.text == {"q1": "a", "q2": "b"}


def test_numbers_of_rows_and_dates_do_not_matter(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        [(q, d, g) for q, judged in QRELS.items() for d, g in judged.items()],
        columns=["query", "document", "grade"],
    )
    frame.to_csv(tmp_path / "qrels.csv")
    assert il.read_qrels(tmp_path / "qrels.csv").hash == il.read_qrels(QRELS).hash
    dated = frame.assign(day=pd.Timestamp("2026-01-01"))
    assert il.read_qrels(dated).hash == il.read_qrels(QRELS).hash
    assert il.write_qrels(dated, tmp_path / "q.json") == ["columns left out: day"]
    indexed = frame.set_index("query", drop=False)
    assert il.read_qrels(indexed).hash == il.read_qrels(QRELS).hash


def test_ranks_where_the_scores_are_empty(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,document,score,rank\nq1,d1,,2\nq1,d2,,1\n")
    ranked = il.listing(il.read_run(tmp_path / "run.csv"), il.Protocol(), ["q1"])
    assert ranked["q1"].documents == ["d2", "d1"]


def test_a_query_whose_scores_are_all_missing_found_nothing() -> None:
    frame = pd.DataFrame({"query": ["q1", "q2"], "document": ["d1", "d1"], "score": [None, 1.0]})
    assert il.evaluate(QRELS, frame, "RR", missing="skip").per_query["RR"] == [0.0, 1.0]


def test_a_cut_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,document,score\nq1,d1,1\nq2\n")
    with pytest.raises(il.InputError) as caught:
        il.read_run(tmp_path / "run.csv").rows()
    assert (caught.value.code, caught.value.line) == ("columns", 3)
