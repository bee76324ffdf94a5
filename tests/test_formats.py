"""Good input in every shape: the same tables come out."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import zstandard

import idealist as il

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": -1}, "q2": {"d1": 1}}
RUN = {"q1": {"d2": 0.5, "d1": 0.25, "x": 0.125}, "q2": {"d1": 1.0}}
TREC_QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 -1\nq2 0 d1 1\n"
TREC_RUN = b"q1 Q0 d2 1 0.5 tag\nq1 Q0 d1 2 0.25 tag\nq1 Q0 x 3 0.125 tag\nq2 Q0 d1 1 1.0 tag\n"


def hash_of(data: Any) -> str:
    return il.read_qrels(data).hash


def rows_of(data: Any) -> list[tuple[str, str, float | None]]:
    rows = il.read_run(data).rows()
    query = [q for q, span in rows.spans().items() for _ in range(span.start, span.stop)]
    scores = [None] * len(rows) if rows.scores is None else rows.scores.tolist()
    return list(zip(query, rows.documents, scores, strict=True))


Record = namedtuple("Record", "query_id doc_id relevance iteration")  # as ir_measures has it

QRELS_SHAPES: dict[str, Any] = {
    "list of pairs": {q: list(judged.items()) for q, judged in QRELS.items()},
    "tuples": [(q, d, g) for q, judged in QRELS.items() for d, g in judged.items()],
    "generator": ((q, d, float(g)) for q, judged in QRELS.items() for d, g in judged.items()),
    "named tuples": [Record(q, d, g, "0") for q, judged in QRELS.items() for d, g in judged.items()],
    "records": [
        {"query-id": q, "corpus-id": d, "score": g}
        for q, judged in QRELS.items() for d, g in judged.items()
    ],
    "columns": {"qid": ["q1"] * 3 + ["q2"], "docno": ["d1", "d2", "d3", "d1"], "label": [2, 0, -1, 1]},
    "arrays": {
        "query": np.array(["q1"] * 3 + ["q2"]),
        "document": np.array(["d1", "d2", "d3", "d1"], dtype=object),
        "grade": np.array([2, 0, -1, 1], dtype=np.int8),
    },
    "floats": {q: {d: float(g) for d, g in judged.items()} for q, judged in QRELS.items()},
    "numpy scalars": {q: {d: np.float32(g) for d, g in judged.items()} for q, judged in QRELS.items()},
}  # fmt: skip


@pytest.mark.parametrize("shape", QRELS_SHAPES)
def test_judgments_in_any_shape_have_one_hash(shape: str) -> None:
    assert hash_of(QRELS_SHAPES[shape]) == hash_of(QRELS)


RUN_SHAPES: dict[str, Any] = {
    "list of pairs": {q: list(entries.items()) for q, entries in RUN.items()},
    "tuples": [(q, d, s) for q, entries in RUN.items() for d, s in entries.items()],
    "records": [
        {"query_id": q, "doc_id": d, "score": s} for q, entries in RUN.items() for d, s in entries.items()
    ],
    "columns": {
        "query": ["q1"] * 3 + ["q2"], "document": ["d2", "d1", "x", "d1"],
        "score": np.array([0.5, 0.25, 0.125, 1.0], dtype=np.float32),
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", RUN_SHAPES)
def test_runs_in_any_shape_have_the_same_rows(shape: str) -> None:
    assert rows_of(RUN_SHAPES[shape]) == rows_of(RUN)


@pytest.mark.parametrize(
    "content",
    [
        TREC_QRELS,
        TREC_QRELS.removesuffix(b"\n"),
        TREC_QRELS.replace(b"\n", b"\r\n"),
        TREC_QRELS.replace(b" ", b"\t  "),
        b"# a comment\n" + TREC_QRELS.replace(b"q2", b"\n  # another\n  q2"),
        b"\xef\xbb\xbf" + TREC_QRELS,
        TREC_QRELS + TREC_QRELS,
        json.dumps(QRELS).encode(),
        json.dumps([[q, d, g] for q, judged in QRELS.items() for d, g in judged.items()]).encode(),
    ],
)
def test_files_of_judgments_have_one_hash(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(content)
    assert hash_of(path) == hash_of(QRELS)


@pytest.mark.parametrize(
    "content",
    [
        TREC_RUN,
        TREC_RUN.removesuffix(b"\n"),
        TREC_RUN.replace(b"\n", b"\r\n"),
        TREC_RUN.replace(b" ", b" \t"),
        TREC_RUN.replace(b"tag", b"tag and more columns"),
        b"\n" + TREC_RUN.replace(b"\n", b"\n\n# comment\n"),
        json.dumps(RUN).encode(),
        json.dumps({q: list(entries.items()) for q, entries in RUN.items()}).encode(),
    ],
)
def test_files_of_runs_have_the_same_rows(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(content)
    assert rows_of(path) == rows_of(RUN)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.ZstdCompressor().compress),
        ("", gzip.compress),
    ],
)
def test_compressed_files_open_as_they_are(tmp_path: Path, suffix: str, pack: Any) -> None:
    path = tmp_path / f"bm25.run{suffix}"
    path.write_bytes(pack(TREC_RUN))
    assert rows_of(path) == rows_of(RUN)
    assert il.read_run(path).name == "bm25"


def test_standard_input_is_read_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(TREC_RUN)

    monkeypatch.setattr(sys, "stdin", Stdin)
    run = il.read_run("-")
    assert run.name == "stdin"
    assert len(run.rows()) == len(run.rows()) == 4


def test_a_file_is_read_when_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(b"not a run\n")
    run = il.read_run(path)
    with pytest.raises(il.InputError) as caught:
        run.rows()
    assert (caught.value.code, caught.value.line) == ("columns", 1)


def test_whole_numbers_and_their_text_are_one_id() -> None:
    assert (
        hash_of({12: {7: 1}})
        == hash_of({"12": {"7": 1}})
        == hash_of([(np.int64(12), np.uint8(7), 1)])
    )
    assert hash_of({"012": {"7": 1}}) != hash_of({"12": {"7": 1}})


def test_column_2_is_a_subtopic_only_where_a_document_repeats(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(b"q1 0 d1 1\nq1 5 d2 1\n")
    assert il.read_qrels(path).subtopics is None
    path.write_bytes(b"q1 1 d1 1\nq1 2 d1 3\nq1 1 d2 0\n")
    qrels = il.read_qrels(path)
    assert qrels.subtopics is not None
    assert qrels.subtopics.subtopic == ("1", "2", "1")
    assert (qrels.documents, qrels.grades.tolist()) == (("d1", "d2"), [3, 0])
    assert qrels.only({"q1"}).hash == qrels.hash


def test_ids_keep_every_character_but_ascii_blanks(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes("q1 0 a\u00a0b\u2028c\x1cd 1\n".encode())
    assert il.read_qrels(path).documents == ("a\u00a0b\u2028c\x1cd",)


def test_pairs_give_both_tables() -> None:
    records: list[dict[str, Any]] = [
        {"retrieved": ["d2", "d1"], "ground_truth": {"d1": 3}},
        {"retrieved": ["d5"], "ground_truth": ["d5", "d6"]},
        {"retrieved": [], "ground_truth": {"d1": 1}},
    ]
    qrels, run = il.read_pairs(records)
    assert qrels.queries == ("1", "2", "3")
    result = il.evaluate(qrels, run, ["RR", "NumRet"], missing="skip")
    assert result.per_query == {
        "query": ["1", "2", "3"],
        "RR": [0.5, 1, 0],
        "NumRet": [2, 1, 0],
    }


def test_judgment_columns_travel_with_the_judgments() -> None:
    columns = {"query": ["q", "q"], "document": ["b", "a"], "grade": [1, 0], "abstain": [0.1, None]}
    qrels = il.read_qrels({**columns, "judge": ["ann", "bob"]})
    assert qrels.documents == ("a", "b")
    np.testing.assert_array_equal(qrels.columns["abstain"], [np.nan, 0.1])
    assert qrels.columns["judge"] == ("bob", "ann")
    nested = {"q": {"a": {"grade": 0, "abstain": None}, "b": {"grade": 1, "abstain": 0.1}}}
    assert hash_of(nested) == hash_of(columns)
    assert hash_of(columns) != hash_of({"q": {"a": 0, "b": 1}})


def test_a_declared_scale_is_part_of_the_judgments() -> None:
    qrels = il.read_qrels({"q": {"a": 1}}, scale={0: "no", 1: "partly", 2: "yes"})
    assert qrels.scale is not None
    assert (qrels.maximum, qrels.scale.labels) == (2.0, ("no", "partly", "yes"))
    assert qrels.hash != hash_of({"q": {"a": 1}})
    with pytest.raises(il.InputError, match="not on the declared scale"):
        il.read_qrels({"q": {"a": 3}}, scale=2)


def test_tables_are_frozen() -> None:
    qrels = il.read_qrels(QRELS)
    rows = il.read_run(RUN).rows()
    for column in (qrels.grades, qrels.starts, rows.scores, rows.starts):
        assert column is not None
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


@pytest.mark.parametrize("header", [
    "Query ID,doc_id,score", "query id,doc id,score", "query,url,score", "topic,item,score",
    "QUERY-ID,Document ID,Score", "qid, docNo, score", "topic_id,corpus-id,score",
])  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_headers_are_understood_as_people_write_them(tmp_path: Path, header: str, end: str) -> None:
    path = tmp_path / "run.csv"
    lines = [f"{query},{document},{score}" for query, document, score in rows_of(RUN)]
    path.write_text(end.join([header, *lines, ""]), newline="")
    assert rows_of(path) == rows_of(RUN)


def test_a_header_that_is_not_understood_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("Query ID,Place,score\r\nq1,d1,1\r\n", newline="")
    with pytest.raises(il.InputError, match="no document column; Query ID is the query"):
        il.read_run(path).rows()
    path.write_text("where,place,much\r\nq1,d1,1\r\n", newline="")
    with pytest.raises(
        il.InputError, match=r"'where,place,much' names(.|\n)*query=where,document=place,score=much"
    ):
        il.read_run(path).rows()


def test_queries_have_ids_as_people_write_them(tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    for header in ("Query ID,Query Text,Type", "topic-id,text,Type", "QID,query,Type"):
        path.write_text(f"{header}\nq1,sort a list,how\n")
        found = il.read_queries(path)
        assert (found.text, found.column("Type")) == ({"q1": "sort a list"}, {"q1": "how"})
    path.write_text("name,Type\nq1,how\n")
    with pytest.raises(il.InputError, match="record 1 has no id: it has name, Type"):
        il.read_queries(path)


def test_queries_from_a_file_and_from_python(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text("q1\tlist to tuple\nq2\tsort a dict\n")
    assert il.read_queries(path).text == {"q1": "list to tuple", "q2": "sort a dict"}
    table = il.read_queries({"q1": {"text": "a", "type": "how-to"}, 2: "b"})
    assert (list(table), table.column("type")) == (["q1", "2"], {"q1": "how-to"})


def test_ids_with_tabs_do_not_meet_in_the_hash() -> None:
    assert hash_of({"q": {"a\tb": 1}}) != hash_of({"q\ta": {"b": 1}})


def test_a_query_may_be_judged_to_have_no_answer() -> None:
    qrels = il.read_qrels({"q1": {"a": 1}, "q2": {}})
    assert qrels.queries == ("q1", "q2")
    assert qrels.hash != hash_of({"q1": {"a": 1}})
    result = il.evaluate(qrels, {"q1": ["a"], "q2": ["x"]}, "RR")
    assert result.per_query == {"query": ["q1", "q2"], "RR": [1.0, 0.0]}
    assert result["RR"] == 0.5
    assert il.evaluate(qrels, {"q1": ["a"]}, "RR", no_relevant="skip")["RR"] == 1.0


def test_pairs_name_their_queries_and_may_be_a_file(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": "x", "retrieved": ["a"], "ground_truth": []},
        {"id": 7, "retrieved": ["a"], "ground_truth": ["a"]},
    ]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(records))
    assert il.read_pairs(path)[0].queries == il.read_pairs(records)[0].queries == ("7", "x")
    with pytest.raises(il.InputError, match="record 2: id, which names the query, is missing"):
        il.read_pairs([records[0], {**records[1], "id": None}])


def test_a_data_frame_is_columns() -> None:
    frame = pd.DataFrame(
        {"qid": ["q1"] * 3 + ["q2"], "docno": ["d1", "d2", "d3", "d1"], "label": [2, 0, -1, 1]}
    )
    assert hash_of(frame) == hash_of(QRELS)


def test_names_and_scales_are_taken_from_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(TREC_QRELS)
    assert il.read_qrels(path, name="mine").name == "mine"
    assert il.read_qrels(il.read_qrels({"q": {"a": 1}}), scale=4).maximum == 4
    scales: list[Any] = [2.5, "abc", [], -1]
    for scale in scales:
        with pytest.raises(il.UsageError, match="is not a scale"):
            il.read_qrels({"q": {"a": 1}}, scale=scale)


def test_runs_and_columns_cannot_be_changed() -> None:
    run = il.read_run(RUN)
    with pytest.raises(AttributeError):
        run.name = "other"  # type: ignore[misc]
    qrels = il.read_qrels({"query": ["q"], "document": ["a"], "grade": [1], "abstain": [0.5]})
    with pytest.raises(TypeError):
        qrels.columns["abstain"] = None  # type: ignore[index]


def test_a_header_line_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(b"query_id Q0 doc_id rank score tag\n" + TREC_RUN)
    with pytest.raises(il.InputError, match="is this line a header"):
        il.read_run(path).rows()
    path.write_bytes(b"query iter doc grade\n" + TREC_QRELS)
    with pytest.raises(il.InputError, match="is this line a header"):
        il.read_qrels(path)
