"""Texts of documents: every shape they come in, hostile ids, and files that cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import SLOW
from idealist.explaining import explainer
from idealist.formats.document_texts import (
    DocumentText,
    DocumentTexts,
    document_texts,
    read_texts,
)

RECORDS = [
    {"_id": "d1", "title": "Lists", "text": 'are "mutable",\nand long'},
    {"_id": "d2", "title": "", "text": "plain\ttext"},
    {"_id": "007", "title": "Größe", "text": "ä €"},
]
TEXTS = {str(one["_id"]): DocumentText(one["title"], one["text"]) for one in RECORDS}
#: One line a document, for shapes whose texts have no tabs and line ends.
FLAT = {name: DocumentText(title, " ".join(text.split())) for name, (title, text) in TEXTS.items()}


def table(path: Path, sign: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["_id", "title", "text"], delimiter=sign)
        writer.writeheader()
        writer.writerows(RECORDS)


def json_lines() -> bytes:
    return "".join(json.dumps(one) + "\n" for one in RECORDS).encode()


def beir(path: Path) -> Path:
    path.mkdir()
    (path / "corpus.jsonl").write_bytes(json_lines())
    (path / "queries.jsonl").write_text('{"_id": "d1", "text": "a query"}\n')
    return path


def parquet(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(RECORDS), path)


def feather(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.feather").write_feather(arrow.Table.from_pylist(RECORDS), path)


#: What a file of each kind is called, and what writes it.
KINDS: dict[str, Callable[[Path], Any]] = {
    "corpus.jsonl": lambda path: path.write_bytes(json_lines()),
    "corpus.json.txt": lambda path: path.write_bytes(json_lines()),
    "bom.jsonl": lambda path: path.write_bytes(b"\xef\xbb\xbf" + json_lines()),
    "crlf.jsonl": lambda path: path.write_bytes(json_lines().replace(b"\n", b"\r\n\r\n")),
    "corpus.jsonl.gz": lambda path: path.write_bytes(gzip.compress(json_lines())),
    "corpus.jsonl.xz": lambda path: path.write_bytes(lzma.compress(json_lines())),
    "corpus.csv": lambda path: table(path, ","),
    "corpus.tsv": lambda path: table(path, "\t"),
    "semicolons.csv": lambda path: table(path, ";"),
    "list.json": lambda path: path.write_text(json.dumps(RECORDS, indent=1)),
    "by-id.json": lambda path: path.write_text(
        json.dumps({one["_id"]: {**one, "_id": 0} for one in RECORDS})
    ),
    "columns.json": lambda path: path.write_text(
        json.dumps({key: [one[key] for one in RECORDS] for key in RECORDS[0]})
    ),
    "corpus.parquet": parquet,
    "corpus.feather": feather,
    "beir": beir,
}


@pytest.mark.parametrize("name", KINDS)
def test_every_shape_gives_the_same_texts(name: str, tmp_path: Path) -> None:
    KINDS[name](tmp_path / name)
    read = document_texts(tmp_path / name, ["007", "d1", "d2", "gone"])
    assert read.found == TEXTS
    assert read.missing == ("gone",)
    assert read.remarks == (f"1 of 4 documents has no text in {tmp_path / name}: gone",)
    assert document_texts(str(tmp_path / name), ["d2"]).remarks == ()


def test_lines_of_ids_and_texts(tmp_path: Path) -> None:
    lines = "".join(f"{name}\t{one.words}\n" for name, one in FLAT.items())
    (tmp_path / "collection.tsv").write_text(f"{lines}\nd9\t\n", encoding="utf-8")
    read = document_texts(tmp_path / "collection.tsv", [*FLAT, "d9"])
    assert {name: text.text for name, text in read.found.items()} == {
        **{name: one.words for name, one in FLAT.items()}, "d9": "",
    }  # fmt: skip
    assert read.remarks[0].startswith("1 of 4 documents has no text")


def test_python_data_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    by_id = {name: tuple(one) for name, one in TEXTS.items()}
    shapes: list[Any] = [
        TEXTS, {"_id": list(by_id), "title": [t for t, _ in by_id.values()],
                "text": [t for _, t in by_id.values()]},
        RECORDS, pandas.DataFrame(RECORDS), pandas.DataFrame(RECORDS).set_index("_id"),
    ]  # fmt: skip
    for data in shapes:
        assert document_texts(data, TEXTS.keys()).found == TEXTS
    assert read_texts({1: "one", "b": None, "c": ["x", "y"]}, {"1", "b", "c"}) == {
        "1": "one", "b": "", "c": "x y",
    }  # fmt: skip
    assert read_texts(pandas.DataFrame({"docno": ["a"], "body": [float("nan")]}), ["a"]) == {
        "a": ""
    }


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["docno", "docid", "text"], ("docno", None, ("text",))),
        (["pid", "passage", "spans", "docid"], ("pid", None, ("passage",))),
        (["docid", "url", "title", "body"], ("docid", "title", ("body",))),
        (["document", "kind", "title", "text"], ("document", "title", ("text",))),
        (["product_id", "product_name", "product_description"],
         ("product_id", "product_name", ("product_description",))),
        (["id", "contents"], ("id", None, ("contents",))),
        (["doc_id", "document"], ("doc_id", None, ("document",))),
        (["Chunk ID", "doc_id", "Page content"], ("Chunk ID", None, ("Page content",))),
        (["url", "passage"], ("url", None, ("passage",))),
        (["query", "score"], (None, None, ())),
    ],
)  # fmt: skip
def test_usual_names_of_fields(names: list[str], chosen: tuple[Any, ...]) -> None:
    from idealist.formats.document_entries import fields_of

    assert tuple(fields_of(tuple(names))) == chosen


def folder(path: Path) -> Path:
    (path / "sub" / "deep").mkdir(parents=True)
    (path / "d1.txt").write_text("one")
    (path / "d2").write_text("two")
    (path / "v1.2.md").write_text("dotted")
    (path / "sub" / "d1.txt").write_text("another one")
    (path / "sub" / "deep" / "d3.txt").write_text("three ä", encoding="utf-8")
    (path / "sub" / "d4.txt.gz").write_bytes(gzip.compress(b"four"))
    (path / "d5.pdf").write_bytes(b"%PDF-1.4 \0\1")
    (path / "sub" / "d5.txt").write_text("five")
    return path


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    ids = ["d1", "d2", "v1.2", "d3", "sub/deep/d3.txt", "sub/d1", "d4", "d5", "d6"]
    read = document_texts(folder(tmp_path / "docs"), ids)
    assert {name: text.text for name, text in read.found.items()} == {
        "d1": "one", "d2": "two", "v1.2": "dotted", "d3": "three ä", "sub/deep/d3.txt": "three ä",
        "sub/d1": "another one", "d4": "four", "d5": "five",
    }  # fmt: skip
    assert read.missing == ("d6",)
    assert read.repeated == 1  # sub/d1.txt is a d1 too
    assert read.remarks[1].startswith("1 document comes again in")


HOSTILE = [
    "../secret", "../secret.txt", "sub/../../secret", "/etc/passwd", "../../etc/passwd", "..", ".",
    "", "/", "sub", "link", "link.txt", "linked/secret", "d1.txt/../../secret", "a\0b", "~/x", "C:\\x",
    "pipe", "x" * 5000, "-",
]  # fmt: skip


def test_no_id_leads_out_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    path = folder(tmp_path / "docs")
    (path / "link.txt").symlink_to(tmp_path / "secret.txt")
    (path / "linked").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(path / "pipe")
    absolute = str(tmp_path / "secret.txt")
    read = document_texts(path, [*HOSTILE, absolute, absolute.removesuffix(".txt")])
    assert read.found == {}
    assert "do the ids match? it has d1, d2, d5, … and not" in read.remarks[0]


def test_the_first_text_of_a_document_counts(tmp_path: Path) -> None:
    (tmp_path / "docs.tsv").write_text("a\tfirst\nb\tb\na\tsecond\na\tthird\nc\tc\n")
    read = document_texts(tmp_path / "docs.tsv", ["a", "c"])
    assert (read.found["a"].text, read.repeated) == ("first", 2)
    assert "2 documents come again" in read.remarks[0]


def test_nothing_is_read_behind_the_last_document(tmp_path: Path) -> None:
    (tmp_path / "docs.tsv").write_bytes(b"a\tfirst\nno tab here\n")
    assert read_texts(tmp_path / "docs.tsv", {"a"}) == {"a": "first"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("docs.txt", b"a first\n", r"docs.txt:1: no tab in .*\[columns\]"),
        ("docs.txt", b'{"_id": "x", "text"\n', r"docs.txt:1: not valid JSON"),
        ("docs.txt", b'{"_id": "x"}\n{"text": "t"}\n', r"docs.txt:2: a document without an id"),
        ("docs.jsonl", b'{"_id": "x"}\n{"_id": "", "text": "t"}\n', r":2: a document without an id"),
        ("docs.jsonl", b'{"_id": "x"}\n{"_id": 1.5, "text": "t"}\n', r":2: document 1.5: an id"),
        ("docs.jsonl", b'{"_id": "x"}\n["a"]\n', r"docs.jsonl:2: not a JSON object"),
        ("docs.jsonl", b'{"_id": "x"}\n{"_id": "a", "text": 1', r"docs.jsonl:2: not valid JSON"),
        ("docs.jsonl", b'{"_id": "x"}\n{"_id": "a", "text": "\xff"}', r":2: byte 0xff is not UTF-8"),
        ("docs.txt", b"x\t1\na\t\xfe\n", r"docs.txt:2: byte 0xfe is not UTF-8"),
        ("docs.txt", b"x\t1\n\t2\n", r"docs.txt:2: a document without an id"),
        ("docs.txt", b"[1]\t2\n", r"docs.txt:1: not valid JSON"),
        ("docs.csv", b"query-id,corpus-id,score\nq,a,1\n", r":1: no column is the text .*query-id"),
        ("docs.csv", b"query,text\nq,a\n", r"docs.csv:1: no column is the id of a document"),
        ("docs.csv", b"id,text\nx,1\n,2\n", r"docs.csv:3: a document without an id"),
        ("docs.csv", b"id,text\nx,1\na,2,3\n", r"docs.csv:3: 3 cells, the header has 2"),
        ("docs.csv", b'id,text\nx,1\nb,"2\nc,3\n', r"docs.csv:\d: cannot be read"),
        ("docs.csv", b"id,text\nx,1\nb,\xff\n", r"docs.csv:3: byte 0xff is not UTF-8"),
        ("docs.json", b'"text"', r"does not hold the texts of documents"),
        ("docs.json", b'{"id": ["a", "b"], "text": ["x"]}', r"different lengths: id 2, text 1"),
        ("docs.json", b'["d1"]', r"record 1: cannot read 'd1'"),
        ("docs.txt", b"", r"docs.txt: the file holds no documents"),
        ("docs.txt", b" \n\n", r"docs.txt: the file holds no documents"),
        ("docs.txt", b"\xff\xfea\0\t\0b\0", r"docs.txt: this is UTF-16 text"),
        ("docs.txt", b"a\0b\tc", r"docs.txt:1: this is binary data"),
        ("docs.parquet", b"PAR1\0\0\0PAR1", r"docs.parquet: the data cannot be read"),
        ("docs.jsonl.gz", b"a\tb\n", r"this is not a .gz file"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read_are_refused(
    name: str, content: bytes, words: str, tmp_path: Path
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(il.InputError, match=words) as caught:
        read_texts(tmp_path / name, {"a"})
    assert caught.value.hint


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(il.InputError, match="there is no such file"):
        read_texts(tmp_path / "corpus.jsonl", {"a"})
    (tmp_path / "docs").mkdir()
    with pytest.raises(il.InputError, match=r"docs: the folder holds no files \[empty\]"):
        read_texts(tmp_path / "docs", {"a"})
    (tmp_path / "docs" / "a.txt").write_bytes(b"one\ntwo \xff")
    with pytest.raises(il.InputError, match=r"a.txt:2: byte 0xff is not UTF-8"):
        read_texts(tmp_path / "docs", {"a"})
    refused: list[Any] = [5, None, iter([])]
    for data in refused:
        with pytest.raises(il.IdealistError, match="does not hold the texts of documents"):
            read_texts(data, {"a"})
    with pytest.raises(il.InputError, match=r"document 1.5: an id must be text"):
        read_texts({1.5: "x"}, {"a"})


def test_ids_that_never_match_are_said(tmp_path: Path) -> None:
    (tmp_path / "docs.tsv").write_text("".join(f"doc{i}\ttext\n" for i in range(9)))
    read = document_texts(tmp_path / "docs.tsv", ["1", "2"])
    assert read.remarks == (
        f"none of 2 documents is in {tmp_path / 'docs.tsv'}: do the ids match? "
        "it has doc0, doc1, doc2, … and not 1, 2",
    )
    [one] = document_texts({"doc0": "text"}, ["1"]).remarks
    assert one.startswith("the document is not in the texts given: do the ids match?")
    assert document_texts({}, ["1"]).remarks == ("there are no documents in the texts given",)


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(words.filter(str.strip), st.tuples(words, words), min_size=1, max_size=6),
    st.data(),
)
def test_any_text_comes_back_from_json_lines_and_csv(
    docs: dict[str, tuple[str, str]], data: st.DataObject
) -> None:
    ascii_only = data.draw(st.booleans())
    records = [{"id": name, "title": t, "text": b} for name, (t, b) in docs.items()]
    lines = "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in records)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["id", "title", "text"], quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(records)
    asked = data.draw(st.sets(st.sampled_from(sorted(docs))))
    for name, content in (("x.jsonl", lines), ("x.csv", text.getvalue())):
        from idealist.formats.document_files import of_file
        from idealist.formats.source import Source

        source = Source(name, spooled=content.encode())
        found = {names[0]: told() for names, told in of_file(source) if names[0] in asked}
        assert found == {name: docs[name] for name in asked}


def test_half_of_a_surrogate_pair_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text('{"id": "a", "text": "x \\ud800"}\n')
    assert read_texts(tmp_path / "docs.jsonl", {"a"}) == {"a": "x ?"}


def test_a_cell_may_be_a_long_text(tmp_path: Path) -> None:
    usual = csv.field_size_limit()
    (tmp_path / "docs.csv").write_text(f"id,text\na,{'word ' * 100_000}\nb,short\n")
    assert len(read_texts(tmp_path / "docs.csv", {"a"})["a"]) == 500_000
    assert csv.field_size_limit() == usual


def test_explain_says_which_documents_have_no_text(tmp_path: Path) -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    found = il.explain(qrels, run, "AP", query="q", docs={"a": {"title": "A", "text": "first"}})
    assert found.rows[0].text == "A first"
    assert "2 of 3 documents have no text in the texts given: x, b" in found.notes
    assert "do the ids match?" in str(il.explain(qrels, run, "AP", query="q", docs={"Z": "z"}))


def test_many_queries_are_explained_with_one_look_at_the_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = (
        {f"q{i}": {f"d{i}": 1} for i in range(5)},
        {f"q{i}": ["x", f"d{i}"] for i in range(5)},
    )
    (tmp_path / "docs.tsv").write_text("".join(f"d{i}\ttext {i}\n" for i in range(5)))
    looks: list[Any] = []

    def look(*given: Any) -> DocumentTexts:
        looks.append(given)
        return document_texts(*given)

    monkeypatch.setattr(explainer, "document_texts", look)
    worst = explainer.Explainer(qrels, run, "RR", docs=str(tmp_path / "docs.tsv")).worst(full=True)
    assert len(looks) == 1
    assert [one.rows[1].text for one in worst.explanations] == [f"text {i}" for i in range(5)]
    assert all("1 of 2 documents has no text" in one.notes[-1] for one in worst.explanations)


def test_a_long_first_document_shows_what_a_file_is(tmp_path: Path) -> None:
    lines = [{"_id": name, "text": "word " * 30_000} for name in ("a", "b")]
    (tmp_path / "corpus").write_text("\n".join(map(json.dumps, lines)))
    assert len(read_texts(tmp_path / "corpus", {"b"})["b"]) == 150_000
    (tmp_path / "by-id").write_text(json.dumps({one["_id"]: one["text"] for one in lines}))
    assert len(read_texts(tmp_path / "by-id", {"b"})["b"]) == 150_000


MEASURE = """
import resource, sys
from idealist.formats.document_texts import document_texts
import numpy, csv, json
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read = document_texts(sys.argv[1], ["d5", sys.argv[2], "none"])
assert len(read.found) == 2, read
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def grown(path: Path, last: str) -> float:
    """Measure by how many MB a process grows that looks texts up."""
    command = [sys.executable, "-c", MEASURE, str(path), last]
    return int(subprocess.run(command, check=True, capture_output=True, timeout=300).stdout) / 1024


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
@pytest.mark.parametrize("size", [20, pytest.param(300, marks=SLOW)])
def test_a_collection_is_never_held_whole(kind: str, size: int, tmp_path: Path) -> None:
    path, text = tmp_path / f"docs.{kind}", "some words of a text " * 50
    lines = {
        "jsonl": '{{"_id": "d{0}", "text": "{1}"}}\n',
        "csv": 'd{0},"{1}"\n',
        "tsv": "d{0}\t{1}\n",
    }
    count = size * 10**6 // len(text)
    with path.open("w") as file:
        file.write("id,text\n" if kind == "csv" else "")
        file.writelines(lines[kind].format(number, text) for number in range(count))
    assert path.stat().st_size >= size * 10**6
    assert grown(path, f"d{count - 1}") < 15
