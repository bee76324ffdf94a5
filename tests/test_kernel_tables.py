"""Runs in CSV, TSV, JSON by the line, Parquet and Arrow files: the kernel reads what is plain.

Whatever is not, it leaves to Python's readers, which define what a file means.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist.formats import read_qrels
from idealist.formats.reading import ReadOptions
from idealist.formats.run_sources import FileRun
from idealist.formats.source import Source
from idealist.formats.text_layouts import layout_of
from kernel_cases import Case, both, outcome, set_sizes
from kernels import compiled

pytestmark = compiled

JUDGED = {
    "q1": {"d1": 1.0, "é,1": 2.0, 'a "b"': 1.0, "two\nlines": 1.0, "7": 1.0},
    "q2": {"d1": 1.0},
}
RULES = (
    il.Protocol(ties="docid-asc", duplicates="first", nonfinite="last"),
    il.Protocol(order="given", duplicates="last"),
)


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    monkeypatch.setenv("IDEALIST_THREADS", "1")
    yield
    set_sizes()


def agreed(data: bytes, suffix: str, folder: Path, **given: Any) -> dict[str, Any]:
    """Give what both kernels make of a file, also when the compiled one has several threads."""
    given = {"protocols": RULES, "listed": ("q2", "q1", "none"), **given}
    case = Case("table", JUDGED, data, suffix=suffix, **given)
    defined, found = both(case, folder)
    assert found == defined
    return defined


def kernel_alone(data: bytes, suffix: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the kernel alone reads a file, and as Python does."""
    defined = agreed(data, suffix, folder)
    assert "error" not in defined

    def decline(self: FileRun) -> Any:
        raise AssertionError(f"Python reads {self.name}")

    monkeypatch.setattr(FileRun, "rows", decline)
    case = Case("table", JUDGED, data, RULES, suffix=suffix, listed=("q2", "q1", "none"), threads=3)
    assert outcome(case, case.written(folder), read_qrels(JUDGED), "native") == defined


CELLS = [
    ("q1", "d1", "0.5"), ("q1", "é,1", "1e-3"), ("q1", 'a "b"', "-7"), ("q2", "d1", "3"),
    ("q2", "two\nlines", "nan"), ("q3", "x", "+.5"),
]  # fmt: skip


def csv_of(sign: str = ",", end: str = "\n", always: bool = False, first: str = "") -> str:
    """Write the rows as CSV."""

    def cell(text: str) -> str:
        if always or any(c in text for c in f'{sign}"\n'):
            return '"' + text.replace('"', '""') + '"'
        return text

    lines = [sign.join(map(cell, row)) for row in CELLS]
    return first + end.join([sign.join(("query_id", "doc_id", "score")), *lines]) + end


PLAIN_TEXT = {
    "commas": csv_of(), "tabs": csv_of("\t"), "semicolons": csv_of(";"),
    "everything in quotes": csv_of(always=True), "CRLF": csv_of(end="\r\n"),
    "a mark": csv_of(first="\ufeff"), "no line end": csv_of()[:-1],
    "a bare CR at the end": csv_of(end="\r\n")[:-1],
    "blank lines": csv_of().replace("\nq2", "\n\n\r\n,,\nq2"),
    "blanks behind separators": "qid, document, score\nq1, d1, 2\nq2, \"d1\", 1\n",
    "other columns": "rank,text,query,sim,doc_id,n\n1,\"a\n\"\"b\"\"\",q1,0.5,d1,\n2,,q1, 0.25 ,7,x\n",
    "ranks alone": "query,document,rank\nq1,d1,2\nq1,7,1\n",
    "no numbers": "query,document\nq1,d2\nq1,d1\nq2,d1\n",
    "rows apart": "query,document,score\nq1,d1,1\nq2,d1,1\nq1,7,2\nq2,d2,1\n",
    "quotes inside": "query,document,score\nq1,d\"1\",1\nq1,d1\"\"\",2\n",
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN_TEXT)
def test_the_kernel_reads_delimited_text(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_alone(PLAIN_TEXT[name].encode(), ".csv", tmp_path, monkeypatch)


ITEMS: dict[str, list[Any]] = {
    "ids": ["d1", "é,1", 7, "two\nlines"],
    "pairs": [["d1", 0.5], ["😀", 1e-3], [7, 3], ["d2", -0.0]],
    "objects": [{"document": "d1", "score": 2, "x": None}, {"document": 7, "score": 0.5, "x": {}}]
    + [{"document": "é", "score": 0}] * 2,
}


def hits(**others: Any) -> list[dict[str, Any]]:
    """Give a record for each row."""
    return [{"qid": q, "docno": d, "score": float(s), **others} for q, d, s in CELLS if s != "nan"]


def listed(kind: str, **others: Any) -> list[dict[str, Any]]:
    """Give a record for each query."""
    return [
        {"query": q, "retrieved": ITEMS[kind][i:], "ground_truth": ["d1"], **others}
        for i, q in enumerate(["q1", "q2", "q3"])
    ]


def lines_of(records: list[Any], end: str = "\n", **given: Any) -> str:
    return "".join(json.dumps(record, **given) + end for record in records)


PLAIN_JSON = {
    "hits": lines_of(hits()), "hits in UTF-8": lines_of(hits(), ensure_ascii=False),
    "no blanks": lines_of(hits(), separators=(",", ":")), "CRLF": lines_of(hits(), "\r\n"),
    "blank lines": lines_of(hits(), "\n\n \t\n"), "no line end": lines_of(hits())[:-1],
    "nested others": lines_of(hits(meta={"a": [1, {"a": None}], "b": {"a": True}})),
    "numbers as ids": lines_of([{"query": 1, "document": d, "score": d} for d in (7, -3, 10**30)]),
    "ranks": lines_of([{"query": "q1", "document": "d1", "rank": r} for r in (2, 1.0)]),
    "escapes": '{"query": "\\u0071\\u0031", "document": "\\ud83d\\ude00\\/\\n", "score": 1}\n' * 2,
    "other orders": '{"query": "q1", "document": "d1", "score": 1}\n'
    '{"score": 2, "document": "d2", "query": "q1"}\n',
    **{f"lists of {kind}": lines_of(listed(kind)) for kind in ITEMS},
    "the query behind the list": lines_of([dict(reversed(r.items())) for r in listed("pairs")]),
    "an empty list": lines_of([*listed("ids"), {**listed("ids")[0], "query": "q4", "retrieved": []}]),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN_JSON)
def test_the_kernel_reads_json_by_the_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "an empty list":  # it is listed by Python
        agreed(PLAIN_JSON[name].encode(), ".jsonl", tmp_path)
    else:
        kernel_alone(PLAIN_JSON[name].encode(), ".jsonl", tmp_path, monkeypatch)


#: What follows a plain beginning, so that only the kernel can notice it.
ODD_ROWS = [
    "q2,d1", "q2,d1,1,2", "q2,d1,", "q2,,1", ",d1,1", "q2,d1,x", "q2,d1,1_0", "q2,d1,0x1", "q2,d1,1e",
    'q2,"d1"x,1', 'q2,"d1,1', "q2,d1,'1'", "q2,d1,\"\"", "q2,d\0,1", "q2,d\r1,1", " ", " , , ",
    "q2,d1,\u0661", "q2,d1,\xa01", 'q2,"d""1",0,5', "q2,d1,1.5.1", "q2," + "d" * 131_073 + ",1",
    'q2,d1,"1\n"', "q2,d1,1\x1c", "q2,d1,\t1",
]  # fmt: skip
ODD_LINES = [
    "[]", "1", "{}", "x", '{"query": "q2"}', '{"query": "q2", "document": "d1"}', "{",
    '{"query": "q2", "document": "d1", "score": null}', '{"query": "q2", "document": null, "score": 1}',
    '{"query": "q2", "document": "", "score": 1}', '{"query": "q2", "document": "d1", "score": "1"}',
    '{"query": "q2", "document": "d1", "score": true}', '{"query": 1.5, "document": "d1", "score": 1}',
    '{"query": "q2", "document": "\\ud800", "score": 1}', '{"query": "q2", "document": "d\t1", "score": 1}',
    '{"query": "q2", "document": "d1", "score": 01}', '{"query": "q2", "document": "d1", "score": .5}',
    '{"query": "q2", "document": "d1", "score": NaN}', '{"query": "q2", "document": "d1", "score": 1e999}',
    '{"query": "q2", "document": "d1", "score": 1, "score": 2}', '{"query": "q2", "document": "d1", "score": -0}',
    '{"query": "q2", "document": "d1", "score": 1} {}', '{"query": "q2", "document": "d1", "score": 1},',
    '{"query": "q2", "document": "d1", "score": 1, "new": 1}', '{"query": -0, "document": "d1", "score": 1}',
    '{"qu\\u0065ry": "q2", "document": "d1", "score": 1}', '{"query": "q2", "document": ["d1"], "score": 1}',
    '{"query": "q2", "document": "d1", "score": 1, "x": {"a": 1, "a": 1}}', "\x0b",
    '{"query": "q2", "document": "d1", "score": 1' + "0" * 400 + "}",
    '{"query": "q2", "document": "d1", "score": 1, "x": ' + "[" * 70 + "]" * 70 + "}",
    '{"query": "q2", "document": "\\x", "score": 1}', '{"query": "q2", "document": "d1" "score": 1}',
]  # fmt: skip
ODD_ITEMS = [
    "[]", '[["d1"]]', '[["d1", 1, 2]]', '["d1"]', '[["d1", "1"]]', '[["", 1]]', '[["d1", null]]',
    '{"d1": 1}', "null", '[{"document": "d1", "score": 1}]', '[["d1", 1], "d2"]', '[["d1", 1],]', "[[]]",
]  # fmt: skip


@pytest.mark.parametrize("row", ODD_ROWS)
def test_rows_that_are_not_plain_are_left_to_python(row: str, tmp_path: Path) -> None:
    for after in ("", "q3,d1,1\n"):
        text = "query,document,score\n" + "q1,d1,1\nq1,7,2\n" * 10 + row + "\n" + after
        for head in (60, 2**16):
            agreed(text.encode(), ".csv", tmp_path, head=head)


@pytest.mark.parametrize("line", ODD_LINES)
def test_records_that_are_not_plain_are_left_to_python(line: str, tmp_path: Path) -> None:
    text = '{"query": "q1", "document": "d1", "score": 1}\n' * 10 + line + "\n"
    for head in (100, 2**16):
        agreed(text.encode(), ".jsonl", tmp_path, head=head)


@pytest.mark.parametrize("items", ODD_ITEMS)
def test_lists_that_are_not_plain_are_left_to_python(items: str, tmp_path: Path) -> None:
    for query in ("q2", "q0"):
        text = lines_of([{**listed("pairs")[0], "query": f"q{i}"} for i in range(2)])
        text += f'{{"query": "{query}", "retrieved": {items}, "ground_truth": ["d1"]}}\n'
        for head in (300, 2**16):
            agreed(text.encode(), ".jsonl", tmp_path, head=head)


def test_a_head_without_documents_says_nothing(tmp_path: Path) -> None:
    text = "query,document,rank\n" + "zz,,0\n" * 20
    for head, more in ((60, "q1,d1,1\n"), (2**16, "")):
        agreed((text + more).encode(), ".csv", tmp_path, head=head)


def wide(rng: random.Random, size: int) -> list[tuple[str, str, str, str]]:
    """Give rows of several queries, most of them with a long text."""
    texts = ["", "a", 'say "yes"', "two\nlines\r\n", "x, y; z\t" * 200, "é" * 900]
    return [
        (f"q{i * 7 // size}", f"d{i}", f"{rng.random():.6f}", rng.choice(texts))
        for i in range(size)
    ]


@pytest.mark.parametrize("seed", [0, 2])
def test_where_a_block_ends_changes_nothing(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows = wide(rng, 6_000)
    if seed == 2:
        rows.append(rows[0])  # apart
    into = io.StringIO()
    writer = import_module("csv").writer(into, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerows([("query", "document", "score", "text"), *rows])
    names = ("query", "document", "score", "text")
    lines = lines_of([dict(zip(names, (q, d, float(s), t), strict=True)) for q, d, s, t in rows])
    assert len(into.getvalue()) > 2**21
    found = [
        agreed(text.encode(), suffix, tmp_path, threads=2)
        for text, suffix in ((into.getvalue(), ".csv"), (lines, ".jsonl"), (lines, ".jsonl.gz"))
    ]
    assert found[0] == found[1] == found[2]
    assert "error" not in found[0]


def parquet_of(columns: dict[str, Any], rows: int = 2, arrow: bool = False) -> bytes:
    """Write columns as a Parquet or Arrow file, so many rows to a group."""
    pa = import_module("pyarrow")
    into, table = io.BytesIO(), pa.table(columns)
    if arrow:
        with pa.ipc.new_file(into, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    else:
        import_module("pyarrow.parquet").write_table(table, into, row_group_size=rows)
    return into.getvalue()


QUERY, DOCUMENT = ["q1", "q1", "q1", "zz", "zz", "q2", "q2", "q3"], list("d7x1dé7x")
SCORE = [3.0, 2.0, 1.5, 1.0, 0.5, float("inf"), float("nan"), 0.0]


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 100])
@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_the_kernel_reads_parquet_and_arrow_files(
    kind: str, rows: int, arrow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = import_module("pyarrow")
    array = pa.array(QUERY).dictionary_encode() if kind == "dictionary" else pa.array(QUERY, kind)
    others = {"text": ["x"] * 8, "lists": [[1]] * 8, "rank": list(range(8))}
    columns = {**others, "docno": pa.array(DOCUMENT), "qid": array, "score": SCORE}
    suffix = ".arrow" if arrow else ".parquet"
    kernel_alone(parquet_of(columns, rows, arrow), suffix, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "columns",
    [
        {"query": [*QUERY[1:], "q1"]}, {"query": [*QUERY[1:], None]}, {"score": [*SCORE[1:], None]},
        {"document": [*DOCUMENT[1:], ""]}, {"rank": list("12345678")}, {"score": ["1"] * 8},
        {"rank": [1.5, float("nan")] * 4}, {"query": [7] * 8}, {"query": [1.5] * 8}, {"sim": SCORE},
        {"score": [True] * 8},
    ],
)  # fmt: skip
def test_columns_of_files_that_are_not_plain(columns: dict[str, Any], tmp_path: Path) -> None:
    plain = {"query": QUERY, "document": DOCUMENT, "score": SCORE}
    for rows in (1, 100):
        agreed(parquet_of({**plain, **columns}, rows), ".parquet", tmp_path)


def test_damaged_files_are_named_as_python_names_them(tmp_path: Path) -> None:
    plain = {"query": QUERY * 50, "document": DOCUMENT * 50, "score": SCORE * 50}
    for arrow in (False, True):
        data = parquet_of(plain, 100, arrow)
        for size in range(0, len(data), len(data) // 12):
            agreed(data[:size], ".arrow" if arrow else ".parquet", tmp_path)


def test_a_file_that_is_declined_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query,document,score\n" + "q1,d1,1\n" * 9_000 + "q1,d2,\n")
    run = il.read_run(path)
    assert run.rows() is not run.rows()
    held = run.held()
    assert held.rows() is held.rows()


JUDGMENTS = {
    "csv": "query-id\tcorpus-id\tscore\nq2\td1\t1\nq1\té\t0.5\nq1\td1\t2\nq1\td1\t2\n",
    "quoted": 'query,document,grade\n"q1","a ""b""",-1\r\nq1,d2,1e1\n\n',
    "records": '{"query": "q1", "document": 7, "grade": 1}\n{"query": "q1", "document": "\\u00e9", "grade": 0}\n',
    "other columns": "query,document,grade,judge\nq1,d1,1,ann\n",
    "no grade": "query,document,grade\nq1,d1,1\nq1,d2,\n",
    "no document": "query,document,grade\nq1,d1,1\nq2,,0\n",
    "contradiction": "query,document,grade\nq1,d1,1\nq1,d1,2\n",
    "not finite": "query,document,grade\nq1,d1,1\nq1,d2,inf\n",
    "a word": "query,document,grade\nq1,d1,1\nq1,d2,relevant\n",
    "no rows": "query,document,grade\n",
}  # fmt: skip


def judgments_of(path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch, **given: Any) -> Any:
    """Give what is in judgments, or the error."""
    monkeypatch.setenv("IDEALIST_KERNEL", kernel)
    try:
        found = il.read_qrels(path, **given)
    except il.IdealistError as error:
        return str(error)
    facts = (found.queries, found.starts.tolist(), list(found.documents), found.grades.tolist())
    return (
        *facts,
        found.hash,
        found.repeats,
        found.ungraded,
        found.columns,
        found.remarks,
        found.scale,
    )


@pytest.mark.parametrize("scale", [None, [-1, 0, 0.5, 1, 2, 10], [7]])
@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments_in_text_are_the_same(
    name: str, scale: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("qrels.jsonl" if name == "records" else "qrels.tsv")
    path.write_bytes(JUDGMENTS[name].encode())
    defined, found = (judgments_of(path, k, monkeypatch, scale=scale) for k in ("python", "native"))
    assert found == defined


@pytest.mark.parametrize(
    "others", [{}, {"judge": ["a"] * 3}, {"grade": [1, None, 2]}, {"grade": list("123")}]
)
def test_judgments_in_parquet_are_the_same(
    others: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "qrels.parquet"
    plain = {"query": ["q2", "q1", "q1"], "document": ["d1", "d2", "d1"], "grade": [1, 0, 2]}
    path.write_bytes(parquet_of({**plain, **others}))
    defined, found = (judgments_of(path, k, monkeypatch) for k in ("python", "native"))
    assert found == defined


def test_the_kernel_reads_plain_judgments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, suffix in (("csv", "tsv"), ("quoted", "csv"), ("records", "jsonl")):
        path = tmp_path / f"qrels.{suffix}"
        path.write_bytes(JUDGMENTS[name].encode())
        with monkeypatch.context() as patch:
            patch.setattr("idealist.formats.build.qrels", None)
            assert len(il.read_qrels(path))


HEAD_SIZE = 2**16


@pytest.mark.parametrize(
    "late",
    [
        {"documents": ["d1", "d2"]},
        {"qid": "other"},
        {"scores": [0.1, 0.9]},
        {"distance": [0.1, 0.9]},
    ],
)
def test_what_comes_behind_the_head_is_read_as_python_reads_it(
    late: dict[str, Any], tmp_path: Path
) -> None:
    """A field that is null in the first 64 KiB, and says something else further on."""
    null = dict.fromkeys(late)
    head = [
        {"query": f"q{i}", "query_id": f"q{i}", "retrieved": ["d1", "d2"], **null}
        for i in range(HEAD_SIZE // 60)
    ]
    path = tmp_path / "late.jsonl"
    path.write_text(lines_of([*head, {**head[0], "query": "z", "query_id": "z", **late}]))
    assert path.stat().st_size > HEAD_SIZE
    assert layout_of(Source.of(path), ReadOptions()) is None


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_distances_rank_the_smallest_first_in_every_format(suffix: str, tmp_path: Path) -> None:
    rows = {"query": ["q", "q"], "document": ["far", "near"], "distance": [0.9, 0.1]}
    path = tmp_path / f"run{suffix}"
    if suffix == ".csv":
        path.write_text("query,document,distance\nq,far,0.9\nq,near,0.1\n")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(rows), path)
    for run in (path, {name: np.array(cells) for name, cells in rows.items()}):
        found = il.evaluate({"q": {"near": 1, "far": 0}}, run, "RR")
        assert found["RR"] == 1.0
        assert any("distance" in doubt.message for doubt in found.doubts)
