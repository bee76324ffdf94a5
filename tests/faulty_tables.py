"""Malformed tables with a header, JSON by the line, engines' answers and binary files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from faulty import Case

RESPONSE = {"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 2.0}]}}


def delimited() -> Iterator[Case]:
    head = "query,document,grade\n"
    files: list[tuple[str, str, str, int | None]] = [
        ("bad-grade", "q1,d1,1\nq1,d2,high\n", "document 'd2': grade 'high'", 3),
        ("bad-grade", "q1,d1,nan\n", "grade 'nan'", 2),
        ("bad-id", "q1,d1,1\n,d2,1\n", "query None", 3),
        ("bad-id", "q1,d1,1\nq1,,1\n", "document None", 3),
        ("columns", "q1,d1,1\nq1,d2\n", "2 cells, the header has 3", 3),
        ("columns", "q1,d1,1,9\n", "4 cells, the header has 3", 2),
        ("columns", 'q1,d1,1\nq1,"d2,1\n', "unexpected end of data", 3),
        (
            "contradiction",
            'q1,"d\n1",1\nq1,d2,1\nq1,"d\n1",2\n',
            "grade 2 contradicts 1 (line 2)",
            5,
        ),
        (
            "bad-grade",
            "q1,d1,yes\nq1,d2,no\n",
            "the grades are words, not numbers: 'yes', 'no'",
            2,
        ),
        ("bad-grade", "q1,d1,Exact\n", "the grades are words, not numbers: 'Exact'", 2),
        ("bad-grade", "q1,d1,x\n", "grade 'x'", 2),
        ("empty", "", "there are no judgments", None),
        ("empty", "q1,d1,\n", "there are no judgments", None),
    ]
    for code, rows, says, line in files:
        yield Case("delimited", code, (head + rows).encode(), says, line, name="faulty.csv")
        tabs = (head + rows).replace(",", "\t").encode()
        if ",9" not in rows and '"' not in rows:
            yield Case("delimited", code, tabs, says, line, name="faulty.tsv")
    judged = "query,document,grade,judge\nq1,d1,1,a\nq1,d1,2,b\n"
    says = "judges disagree on 1 of 1 pair that several judged"
    yield Case("delimited", "judges", judged.encode(), says, None, name="faulty.csv")
    runs: list[tuple[str, str, str, int | None]] = [
        ("bad-score", "query,document,score\nq1,d1,high\n", "score 'high'", 2),
        ("nonfinite-score", "query,document,score\nq1,d1,1\nq1,d2,nan\n", "score is nan", 3),
        ("bad-column", "query,document,score,sim\nq1,d1,1,2\n", "score and sim could each", None),
        ("duplicate", "query,document,score\nq1,d1,1\nq1,d1,2\n", "first on line 2", 3),
        ("bad-column", "query,document,relevance\nq1,d1,1\n", "these are judgments", None),
        ("bad-column", "query,document,rank\nq1,d1,first\n", "column 'rank' holds 'first'", 2),
        ("bad-rank", "query,document,rank\nq1,d1,1\nq1,d2,\n", "rank is not a number", 3),
        ("bad-rank", "q1\td1\t1\nq1\td2\tx\n", "rank 'x'", 2),
        ("columns", "q1\td1\t1\nq1\td2\n", "2 columns, 3 expected", 2),
        ("bad-rank", "q1\td1\t95\nq1\td2\t90\n", "ranks begin at 90: are they scores?", None),
    ]
    for code, content, says, line in runs:
        yield Case("delimited", code, content.encode(), says, line, "run", "faulty.txt")


def headers() -> Iterator[Case]:
    says = "names neither the query column nor the document column"
    for first in ("q1,d1,1", "place,grade", "a", "query;document;grade x"):
        content = f"{first}\nq1,d1,1\n".encode()
        expected = says if ";" not in first else "no grades"
        code, line = ("columns", 1) if ";" not in first else ("missing-column", None)
        if ";" in first:
            content = b"query;document;x\nq1;d1;1\n"
        yield Case("header", code, content, expected, line, name="faulty.csv")
    for first, missing in (("qid\twhere\tlabel", "document"), ("topic;place;rel", "query")):
        name = missing if missing == "document" else "document"
        content = f"{first}\nq1\td1\t1\n".encode()
        yield Case("header", "missing-column", content, f"no {name} column", 1)
    twice = b"query,document,grade,grade\nq1,d1,1,2\n"
    yield Case("header", "columns", twice, "two columns are called 'grade'", 1, name="faulty.csv")


def lines() -> Iterator[Case]:
    good = '{"query": "q1", "document": "d1", "grade": 1}\n'
    files: list[tuple[str, str, str, int | None]] = [
        ("json", '{"query": "q1"\n', "not valid JSON", 2),
        ("json", "[1, 2]\n", "not a JSON object", 2),
        ("json", "7\n", "not a JSON object", 2),
        ("bad-shape", '{"query": "q1", "text": "x"}\n', "row 2: cannot read", None),
        ("duplicate-key", '{"query": "q1", "query": "q2", "document": "d"}\n', "key 'query'", 2),
        ("bad-grade", '{"query": "q1", "document": "d2", "grade": "x"}\n', "grade 'x'", 2),
        ("contradiction", '\n{"query": "q1", "document": "d1", "grade": 2}\n', "(line 1)", 3),
    ]
    for code, row, says, line in files:
        yield Case("json-lines", code, (good + row).encode(), says, line, name="faulty.jsonl")


def engine_lines() -> Iterator[Case]:
    rows = [json.dumps({"query": q, **RESPONSE}) for q in ("q1", "q2", "q1")]
    content = "\n".join(rows).encode()
    yield Case("engine", "duplicate-key", content, "query 'q1' appears twice", 3, "run", "f.jsonl")
    content = json.dumps(RESPONSE).encode()
    yield Case("engine", "bad-shape", content, "without queries", None, "run", "f.jsonl")


def engines() -> Iterator[Case]:
    shapes: list[tuple[Any, str]] = [
        (RESPONSE, "without queries"), ({"responses": [RESPONSE]}, "without queries"),
        ({"requests": [{"id": "q1", "ratings": []}]}, "holds judgments, not a run"),
        ({"q1": {"hits": {"hits": [{"_score": 1}]}}}, "query 'q1': cannot read"),
        ({"metric_score": 1, "details": {"q1": {"hits": [{"rating": 1}]}}}, "query 'q1': cannot"),
    ]  # fmt: skip
    for data, says in shapes:
        content = json.dumps(data).encode()
        yield Case("engine", "bad-shape", content, says, None, "run", "faulty.json")
    failed: list[tuple[Any, str]] = [
        ({"error": {"type": "x"}, "status": 400}, "query 'q2' failed: {'type': 'x'}"),
        ({**RESPONSE, "timed_out": True}, "query 'q2' timed out"),
        ({**RESPONSE, "_shards": {"failed": 2}}, "query 'q2' failed on 2 shards"),
    ]
    for data, says in failed:
        content = json.dumps({"q1": RESPONSE, "q2": data}).encode()
        yield Case("engine", "failed-search", content, says, None, "run", "faulty.json")
    judged: list[tuple[Any, str, str]] = [
        ({"q1": RESPONSE}, "bad-shape", "search responses are a run"),
        ({"metric_score": 1, "details": {}}, "bad-shape", "the details of _rank_eval are a run"),
        ({"requests": [{"ratings": []}]}, "bad-shape", "query 'request 1': cannot read"),
        ({"requests": [{"id": "q1", "ratings": [{"_id": "d"}]}]}, "bad-shape", "cannot read"),
        ({"requests": [{"id": "q1", "ratings": [{"_id": "d", "rating": 1}]}] * 2},
         "duplicate-key", "query 'q1' appears twice"),
    ]  # fmt: skip
    for data, code, says in judged:
        yield Case("engine", code, json.dumps(data).encode(), says, None, name="faulty.json")


def binary() -> Iterator[Case]:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table({"query": ["q1"], "document": ["d1"], "url": ["x"]}), file)
    whole = file.getvalue()
    yield Case("parquet", "missing-column", whole, "no grades", None, name="faulty.parquet")
    for cut in (20, len(whole) // 2, -1):
        yield Case("parquet", "damaged", whole[:cut], "cannot be read", None, "run", "f.parquet")
    short = b"PAR1\x15\x04\x15\x00\x15\x00L\x15\x02PAR1"
    yield Case("parquet", "damaged", short, "cannot be read", None, name="faulty.parquet")


TABLE_CASES = (*delimited(), *headers(), *lines(), *engines(), *engine_lines(), *binary())
