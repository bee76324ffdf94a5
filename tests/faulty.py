"""Malformed files, each with the error it must lead to; the table that `test_bad_input` runs."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import zstandard

QRELS = [
    "q1 0 d1 1", "q1 0 d2 0", "q1 0 d3 2",
    "q2 0 d1 0", "q2 0 d4 1", "q2 0 d5 3",
    "q3 0 d2 1", "q3 0 d6 0",
]  # fmt: skip
RUN = [
    "q1 Q0 d1 1 3.5 good", "q1 Q0 d2 2 2.5 good", "q1 Q0 d9 3 1.5 good",
    "q2 Q0 d5 1 0.9 good", "q2 Q0 d4 2 0.8 good", "q2 Q0 d8 3 0.7 good",
    "q3 Q0 d6 1 -1 good", "q3 Q0 d2 2 -2 good",
]  # fmt: skip

Side = Literal["qrels", "run", "queries"]


@dataclass(frozen=True)
class Case:
    """A bad file: its class of fault, how it is made, and the first line of the error it causes."""

    fault: str
    code: str
    content: bytes | Callable[[Path], object]
    says: str
    line: int | None = None
    side: Side = "qrels"
    name: str = "faulty.txt"
    options: tuple[str, ...] = ()
    more: int = 0

    def arguments(self, folder: Path) -> list[str]:
        """Write this file and good ones beside it; give the command line that reads them."""
        paths: dict[Side, Path] = {
            "qrels": folder / "good.qrels", "run": folder / "good.run", self.side: self.path(folder)
        }  # fmt: skip
        (folder / "good.qrels").write_bytes(text(QRELS))
        (folder / "good.run").write_bytes(text(RUN))
        if isinstance(self.content, bytes):
            self.path(folder).write_bytes(self.content)
        else:
            self.content(self.path(folder))
        queries = ["--queries", str(paths["queries"])] if "queries" in paths else []
        return ["eval", str(paths["qrels"]), str(paths["run"]), *queries, *self.options]

    def path(self, folder: Path) -> Path:
        return folder / self.name


def text(rows: list[str], end: str = "\n", last: str | None = None) -> bytes:
    return (end.join(rows) + (end if last is None else last)).encode()


def replaced(rows: list[str], line: int, row: str) -> list[str]:
    """Put a row in the place of the one on a line."""
    return [*rows[: line - 1], row, *rows[line:]]


def gz(data: bytes, level: int = 9) -> bytes:
    return gzip.compress(data, level, mtime=0)


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {"gz": gz, "xz": lzma.compress, "zst": zst}
LONG = text([f"q{i} 0 d{i * i % 97} {i % 3}" for i in range(1, 400)])


def flipped(data: bytes, at: int) -> bytes:
    mutable = bytearray(data)
    mutable[at] ^= 0x10
    return bytes(mutable)


def truncated_files() -> Iterator[Case]:
    cuts = {"gz": (1, 2, 9, 10, -9, -8, -1), "xz": (1, 5, 6, 12, -12, -1), "zst": (1, 3, 4, 6, -1)}
    sides: tuple[Side, Side] = ("qrels", "run")
    for suffix, positions in cuts.items():
        whole = COMPRESSED[suffix](LONG)
        for n, cut in enumerate((*positions, len(whole) // 2)):
            yield Case(
                f"{suffix}-truncated", "truncated", whole[:cut], f".{suffix} data ends too early",
                side=sides[n % 2], name=f"faulty.{suffix}",
            )  # fmt: skip
        twice = whole + whole[: len(whole) // 2]
        says = f".{suffix} data ends too early"
        yield Case("second-part-truncated", "truncated", twice, says, name=f"faulty.{suffix}")
        yield Case("truncated-without-suffix", "truncated", whole[:-1], says)


def damaged_files() -> Iterator[Case]:
    stored, packed = gz(LONG, 0), {suffix: pack(LONG) for suffix, pack in COMPRESSED.items()}
    damage = {
        "gz": [flipped(stored, 40), flipped(stored, 2000), flipped(packed["gz"], -7),
               flipped(packed["gz"], -2), flipped(packed["gz"], 2)],
        "xz": [flipped(packed["xz"], n) for n in (7, 9, 14, 60, -3)],
        "zst": [flipped(packed["zst"], -1), flipped(packed["zst"], -4)],
    }  # fmt: skip
    for suffix, contents in damage.items():
        name = f"faulty.{suffix}"
        for content in contents:
            yield Case(f"{suffix}-damaged", "compressed", content, "is damaged", name=name)
        for plain in (text(QRELS), b"{}", b"\x89PNG\r\n\x1a\n"):
            says = f"not a .{suffix} file"
            yield Case("not-compressed", "compressed", plain, says, name=name)
        for n, garbage in enumerate((b"garbage", b"\xff" * 40)):
            side: Side = "run" if n else "qrels"
            content = packed[suffix] + garbage
            yield Case("trailing-garbage", "compressed", content, "is damaged", None, side, name)
    for suffix, other in (("gz", "xz"), ("gz", "zst"), ("xz", "gz"), ("zst", "gz"), ("zst", "xz")):
        says, name = f"not a .{suffix} file", f"faulty.{suffix}"
        yield Case("other-compression", "compressed", packed[other], says, side="run", name=name)
    yield Case("not-compressed", "compressed", text(RUN), "not a .gz file", name="FAULTY.GZ")


def undecodable_files() -> Iterator[Case]:
    good = text(QRELS).decode()
    for codec in ("utf-16", "utf-32"):
        yield Case("utf-16", "encoding", good.encode(codec), "UTF-16")
    yield Case("utf-16", "encoding", b"\xfe\xff" + good.encode("utf-16-be"), "UTF-16", side="run")
    for codec in ("utf-16-le", "utf-16-be", "utf-32-be"):
        yield Case("utf-16-without-mark", "binary", good.encode(codec), "binary", 1)
    for line, word in ((1, "Größe"), (4, "café"), (8, "Übung")):
        rows = replaced(QRELS, line, f"q1 0 {word} 1")
        content = text(rows).decode().encode("latin-1")
        yield Case("latin-1", "encoding", content, "is not UTF-8", line)
        packed = gz(text(rows, "\r\n").decode().encode("latin-1"))
        yield Case("latin-1-compressed", "encoding", packed, "0x", line, name="faulty.gz")
    in_json = '{"q1":\n {"é": 1}}'.encode("latin-1")
    yield Case("latin-1", "encoding", in_json, "byte 0xe9", 2, "run", "faulty.json")
    broken = {b"\xc0\xaf": "0xc0", b"\xed\xa0\x80": "0xed", b"\xe2\x82": "0xe2", b"\x80": "0x80"}
    for line, (raw, says) in enumerate(broken.items(), 2):
        content = text(QRELS).replace(QRELS[line - 1].encode(), b"q1 0 d" + raw + b" 1")
        yield Case("broken-utf-8", "encoding", content, f"byte {says}", line)
    cut = text(RUN) + "q3 Q0 d7 3 -3 é".encode()[:-1]
    yield Case("broken-utf-8", "encoding", cut, "byte 0xc3", 9, "run")


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("qrels.txt"), text(QRELS))
    return file.getvalue()


def binary_files() -> Iterator[Case]:
    kinds = {
        "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", 3),
        "parquet": (b"PAR1\x15\x04\x15\x00\x15\x00L\x15\x02PAR1", 1),
        "zip": (zipped(), 1),
        "elf": (b"\x7fELF\x02\x01\x01\x00", 1),
        "sqlite": (b"SQLite format 3\x00\x10\x00", 1),
        "numpy": (b"\x93NUMPY\x01\x00v\x00{'descr'", 1),
        "doubles": (struct.pack("<4d", 1, 2, 3, 4), 1),
    }
    for n, (kind, (content, line)) in enumerate(kinds.items()):
        side: Side = "run" if n % 2 else "qrels"
        yield Case("binary-format", "binary", content, "binary", line, side, f"faulty.{kind}")
    for line in (1, 5, 8):
        rows = replaced(RUN, line, "q1 Q0 d\x007 1 1 good")
        yield Case("nul-byte", "binary", text(rows), "binary", line, "run")
    nul_in_json = b'{"q1": {"d1": 1,\n "d\x002": 1}}'
    yield Case("nul-byte", "binary", nul_in_json, "binary", 2, name="faulty.json")
    tail = text(QRELS) + b"\x00" * 512
    yield Case("nul-padding", "binary", tail, "binary", 9)
    yield Case("compressed-twice", "binary", gz(gz(text(QRELS))), "binary", 1, name="faulty.gz")
    yield Case("compressed-twice", "binary", lzma.compress(lzma.compress(LONG)), "binary", 1)


def column_counts() -> Iterator[Case]:
    whole = "q1 Q0 d7 4 0.5 tag"
    for line, count in ((1, 1), (2, 2), (4, 3), (6, 4), (8, 5)):
        rows = replaced(RUN, line, " ".join(whole.split()[:count]))
        says = f"{count} column{'s' if count > 1 else ''}, 6 expected"
        yield Case("run-columns", "columns", text(rows), says, line, "run")
        packed = zst(text(rows, "\r\n", last=""))
        yield Case("run-columns", "columns", packed, says, line, "run", "faulty.zst")
    for line, row in ((1, "q1"), (2, "q1 0"), (3, "q1 0 d7"), (5, "q1 0 d7 1 2"), (8, whole)):
        rows, count = replaced(QRELS, line, row), len(row.split())
        says = f"{count}{' or more' * (count > 5)} column{'s' * (count > 1)}, 4 expected"
        yield Case("qrels-columns", "columns", text(rows), says, line)
        tabs = text([row.replace(" ", "\t") for row in rows], last="")
        yield Case("qrels-columns", "columns", lzma.compress(tabs), says, line, name="faulty.xz")
    yield Case(
        "swapped-files", "columns", text(RUN), "4 expected: 'q1 Q0 d1 1 3.5 good'", 1, more=7
    )
    yield Case("swapped-files", "columns", text(QRELS), "6 expected: 'q1 0 d1 1'", 1, "run", more=7)
    for sign in (",", ";", "|"):
        rows = [row.replace(" ", sign) for row in QRELS]
        yield Case("other-separator", "columns", text(rows), f"'q1{sign}0{sign}d1", 1, more=7)
        rows = [row.replace(" ", sign) for row in RUN]
        yield Case("other-separator", "columns", text(rows), "1 column, ", 1, "run", more=7)
    header = text(["query-id corpus-id score", *QRELS])
    yield Case("header-line", "columns", header, "3 columns", 1)
    yield Case("header-line", "columns", text(["query Q0 doc rank", *RUN]), "4 columns", 1, "run")
    yield Case("old-mac-line-ends", "columns", text(QRELS, "\r"), "6 or more columns", 1)
    for content in (b"5", b"null", b'"q1"', b"true", b"-0.5\n"):
        says = f"1 column, 4 expected: {content.strip().decode()!r}"
        yield Case("json-scalar", "columns", content, says, 1, name="faulty.json")


GRADES = ["abc", "nan", "NaN", "inf", "-Infinity", "1e999", "1_000", "0x1", "١", "½", "--1", "1e"]
SCORES = ["abc", "1_000", "0x1.8p1", "٣٫٥", "1,5", "−1", "1e", "None", "3.5good"]
REFUSED = [*GRADES, "1,5", "relevant", "None", "true", "−1"]


def numbers() -> Iterator[Case]:
    for n, cell in enumerate(REFUSED):
        line = n % len(QRELS) + 1
        rows = replaced(QRELS, line, f"q1 0 d7 {cell}")
        says = f"grade {cell!r} is not a finite number"
        fault = "nonfinite-grade" if n in range(1, 6) else "bad-grade"
        yield Case(fault, "bad-grade", text(rows, ("\n", "\r\n")[n % 2]), says, line)
    for n, cell in enumerate(SCORES):
        line = n % len(RUN) + 1
        rows = replaced(RUN, line, f"q1 Q0 d7 4 {cell} good")
        says = f"score {cell!r} is not a number"
        yield Case("bad-score", "bad-score", text(rows, ("\n", "\r\n")[n % 2]), says, line, "run")
    for n, cell in enumerate(["nan", "-NaN", "NAN", "inf", "-inf", "Infinity", "1e999", "-1e310"]):
        line = n + 1
        rows = replaced(RUN, line, f"q{line % 3 + 1} Q0 d7 4 {cell} good")
        fault = "nan-score" if "nan" in cell.lower() else "infinite-score"
        says = f"score is {float(cell)}"
        yield Case(fault, "nonfinite-score", text(rows), says, line, "run")
        if fault == "nan-score":
            options = ("--set", "nonfinite=as_is")
            yield Case(fault, "nonfinite-score", text(rows), says, line, "run", options=options)
    rows = replaced(RUN, 3, "q1 Q0 d9 3 1e39 good")
    says, options = "1e+39, too large for float32", ("-c", "trec_eval-9")
    yield Case(
        "score-beyond-float32", "nonfinite-score", text(rows), says, 3, "run", options=options
    )


def repeated_documents() -> Iterator[Case]:
    says = "document 'd1' was retrieved twice, first on line 1"
    again = "q1 Q0 d1 9 0.1 good"
    for fault, at in (("duplicate-adjacent", 1), ("duplicate-apart", 3), ("duplicate-far", 8)):
        rows = [*RUN[:at], again, *RUN[at:]]
        yield Case(fault, "duplicate", text(rows), says, at + 1, "run")
        packed = gz(text(rows, "\r\n", last=""))
        yield Case(fault, "duplicate", packed, says, at + 1, "run", "faulty.run.gz")
    same = text([RUN[0], *RUN])
    yield Case("duplicate-line", "duplicate", same, says, 2, "run")
    far = text([*RUN, *(f"q3 Q0 x{i} 9 0.1 good" for i in range(1000)), again])
    yield Case("duplicate-far", "duplicate", far, says, 1009, "run")
    queries = text([*RUN, "q2 Q0 d4 1 1 good", again])
    yield Case("duplicates-of-queries", "duplicate", queries, says, 10, "run", more=1)
    doubled = text([*RUN, *RUN])
    yield Case("file-written-twice", "duplicate", doubled, says, 9, "run", more=7)
    in_list = b'{"q1": ["d1", "d2",\n "d1"]}'
    yield Case("json-duplicate-document", "duplicate", in_list, "'d1'", None, "run", "faulty.json")
    pairs = b'{"q1": [["d1", 2],\n ["d1", 1]]}'
    yield Case("json-duplicate-document", "duplicate", pairs, "'d1'", None, "run", "faulty.json")


def contradictions() -> Iterator[Case]:
    for at in (1, 4, 8):
        rows = [*QRELS[:at], "q1 0 d1 2", *QRELS[at:]]
        says = "document 'd1': grade 2 contradicts 1 (line 1)"
        yield Case("contradiction", "contradiction", text(rows), says, at + 1)
        packed = lzma.compress(text(rows, "\r\n", last=""))
        yield Case("contradiction", "contradiction", packed, says, at + 1, name="faulty.xz")
    rows = [*QRELS, "q1 0 d1 0.5", "q1 0 d1 -1"]
    yield Case("contradictions", "contradiction", text(rows), "grade 0.5 contradicts 1", 9, more=1)
    rows = ["q1 1 d1 1", "q1 2 d1 1", "q1 2 d1 2"]
    says = "grade 2 contradicts 1 (line 2)"
    yield Case("contradiction-in-subtopic", "contradiction", text(rows), says, 3)
    records = json.dumps([["q1", "d1", 1], ["q1", "d1", 2]]).encode()
    says, name = "grade 2 contradicts 1", "faulty.json"
    yield Case("json-contradiction", "contradiction", records, says, name=name)
    columns = json.dumps({"qid": ["q1", "q1"], "docno": ["d1", "d1"], "rel": [0, 1]}).encode()
    yield Case("json-contradiction", "contradiction", columns, "grade 1 contradicts 0", name=name)


def json_syntax() -> Iterator[Case]:
    good = '{"q1": {"d1": 1, "d2": 0},\n "q2": {"d4": 1},\n "q3": {"d2": 2}}'
    early = "the text ends too early"
    broken = [
        ("json-trailing-comma", '{"q1":\n {"d1": 1,}}', "at '}}'", 2),
        ("json-trailing-comma", '{"q1": {"d1": 1},\n}', "at '}'", 2),
        ("json-trailing-comma", '[["q1", "d1", 1],\n\n]', "at ']'", 3),
        ("json-missing-comma", '{"q1": {"d1": 1}\n "q2": {"d1": 1}}', 'at \'"q2"', 2),
        ("json-missing-colon", '{"q1" {"d1": 1}}', "':' delimiter at '{\"d1\"", 1),
        ("json-single-quotes", "{'q1': {'d1': 1}}", "double quotes at \"'q1'", 1),
        ("json-unquoted-key", '{"q1":\n\n{d1: 1}}', "at 'd1: 1}}'", 3),
        ("json-comment", '{"q1": {"d1": 1}, // one\n "q2": {}}', "at '// one", 1),
        ("json-bad-escape", '{"q1": {"d\\x41": 1}}', "at '\\\\x41", 1),
        ("json-control-character", '{"q1": {"d\n1": 1}}', "control character", 1),
        ("json-leading-zero", '{"q1": {"d1": 01}}', "at '1}}'", 1),
        ("json-python-literal", '{"q1": {"d1": None}}', "at 'None}}'", 1),
        ("json-unterminated-string", '{"q1": {"d1', early, 1),
        ("json-unterminated-string", '{"q1":\n {"d1: 1}}', early, 2),
        ("json-two-documents", good + "\n" + good, 'more text follows: \'{"q1"', 4),
        ("json-lines", '["q1", "d1", 1]\n["q1", "d2", 0]\n', 'more text follows: \'["q1"', 2),
        ("json-trailing-garbage", good + "]", "more text follows: ']'", 3),
    ]
    for n, (fault, content, says, line) in enumerate(broken):
        side: Side = "run" if n % 2 else "qrels"
        yield Case(fault, "json", content.encode(), says, line, side, "faulty.json")
    for cut in (1, 6, 7, 16, 26, 40, len(good) - 1):
        content, line = good[:cut].encode(), good[:cut].count("\n") + 1
        yield Case("json-truncated", "json", content, early, line, name="faulty.json")
    yield Case("json-truncated", "json", gz(good[:-1].encode()), early, 3, "run", "faulty.json.gz")
    for depth in (5_000, 200_000):
        nested = b"[" * depth + b"]" * depth
        yield Case("json-too-deep", "json", nested, "nested too deeply", name="faulty.json")
    digits = b'{"q1": {"d1": ' + b"7" * 5000 + b"}}"
    yield Case("json-endless-number", "json", digits, "5000 digits", None, "run", "faulty.json")


def json_keys() -> Iterator[Case]:
    repeats = [
        ("json-repeated-query", '{"q1": {"d1": 1},\n "q1": {"d2": 1}}', "key 'q1' stands", 2),
        ("json-repeated-query", '{"q1": {},\n "q2": {},\n\n "q1": {}}', "first on line 1", 4),
        ("json-repeated-query", '{"q1": {"d1": 1}, "q\\u0031": {"d1": 1}}', "'q1'", 1),
        ("json-repeated-document", '{"q1": {"d1": 1,\n "d1": 1}}', "'q1' → 'd1'", 2),
        ("json-repeated-document", '{"q1": {"d1": 1, "d2": 0,\n\n\n "d1": 2}}', "'q1' → 'd1'", 4),
        ("json-repeated-cell", '{"q1": {"d1": {"grade": 1,\n "grade": 2}}}', "'grade'", 2),
        ("json-repeated-cell", '[{"query": "q1",\n "query": "q2"}]', "0 → 'query'", 2),
        ("json-repeated-column", '{"query": ["q1"],\n "query": ["q2"]}', "'query'", 2),
    ]
    for n, (fault, content, says, line) in enumerate(repeats):
        side: Side = "run" if n % 2 else "qrels"
        yield Case(fault, "duplicate-key", content.encode(), says, line, side, "faulty.json")
    both = b'{"q1": {"d1": 1, "d1": 1},\n "q1": {"d1": 1}}'
    yield Case("json-repeated-keys", "duplicate-key", both, "'d1'", 1, name="faulty.json", more=1)


def json_case(
    fault: str, code: str, data: Any, says: str, line: int | None = 1, side: Side = "qrels"
) -> Case:
    content = json.dumps(data).encode()
    return Case(fault, code, content, says, line, side, "faulty.json")


def json_shapes() -> Iterator[Case]:
    for found in (5, "d1", None, True, 0.5):
        says = f"query 'q1': cannot read {found!r}"
        yield json_case("json-query-without-documents", "bad-shape", {"q1": found}, says)
    for row in (1, "q1", None, [], ["q1"], ["q1", "d1", 1, 2], {"query": "q1"}, {"a": 1}):
        says = f"row 2: cannot read {row!r}"
        yield json_case("json-bad-row", "bad-shape", [["q1", "d1", 1], row], says, None)
    for entry in ([], ["d1"], ["d1", 1, 2], {"d1": 1}):
        says = f"query 'q2': cannot read {entry!r}"
        data = {"q1": ["d1"], "q2": ["d1", entry]}
        yield json_case("json-bad-entry", "bad-shape", data, says, side="run")
    large = [["q1", "d1", 1], list(range(10_000))]
    yield json_case("json-large-row", "bad-shape", large, "0, 1, 2, 3, 4, 5, ...", None)
    mixed: dict[str, Any] = {"q1": ["d1", ["d2", 0.5]]}
    yield json_case("json-mixed-scores", "bad-shape", mixed, "some have none", None, "run")
    rows = [["q1", "d1"], ["q1", "d2", 1]]
    yield json_case("json-mixed-scores", "bad-shape", rows, "some have none", None, "run")
    ids: list[Any] = [None, True, 1.5, ["d1"], {}, "", "\ud800"]
    for bad in ids:
        says = f"document {bad!r}: an id must be"
        yield json_case("json-bad-id", "bad-id", [["q1", bad, 1]], says, None)
        yield json_case("json-bad-id", "bad-id", {"q1": ["d1", [bad, 2]]}, says, 1, "run")
    yield json_case("json-bad-query-id", "bad-id", {"": {"d1": 1}}, "query ''")
    yield json_case("json-bad-query-id", "bad-id", {"\udfff": []}, "'\\udfff'", None, "run")


def json_values() -> Iterator[Case]:
    infinite = [float("nan"), float("inf"), float("-inf")]
    words: list[Any] = [None, "abc", "", "1_000", "٣", [1], "nan", 10**400, "\ud800"]
    for n, bad in enumerate([*words, *infinite]):
        data = {"q1": {"d1": 1, "d2": bad if n % 2 else {"grade": bad}}}
        shown = "1000" if bad == 10**400 else repr(bad)
        says = f"query 'q1', document 'd2': grade {shown}"
        content = json.dumps(data, indent=1).encode()
        yield Case("json-bad-grade", "bad-grade", content, says, 4, name="faulty.json")
    for n, bad in enumerate(word for word in words if word != "nan"):
        data = {"q1": {"d1": 1, "d2": bad if n % 2 else {"score": bad}}}
        content = json.dumps(data, indent=1).encode()
        yield Case("json-bad-score", "bad-score", content, "score ", 4, "run", "faulty.json")
    for bad in infinite:
        says = f"score is {bad}"
        data = {"q1": {"d1": 1, "d2": bad}}
        yield json_case("json-nonfinite-score", "nonfinite-score", data, says, None, "run")


def json_columns() -> Iterator[Case]:
    def columns(**changed: Any) -> dict[str, Any]:
        return {"query": ["q1", "q1"], "document": ["d1", "d2"], "grade": [1, 0], **changed}

    for bad in (5, "ab", None, {"a": 1}, True):
        says = f"column 'grade' is not a list: {bad!r}"
        yield json_case("json-no-list", "bad-column", columns(grade=bad), says, None)
        says = f"column 'document' is not a list: {bad!r}"
        yield json_case("json-no-list", "bad-column", columns(document=bad), says, None, "run")
    yield json_case("json-uneven", "bad-column", columns(grade=[1]), "grade 1", None)
    yield json_case("json-uneven", "bad-column", columns(query=["q1"] * 3), "query 3", None, "run")
    for bad in ("x", [1], 10**400, "1_0"):
        says = "column 'cost' holds "
        yield json_case("json-bad-cell", "bad-column", columns(cost=[1, bad]), says, None)
    for bad in (["x"], {"a": 1}, "\ud800"):
        for name in ("judge", "subtopic"):
            says = f"column {name!r} holds {bad!r}"
            yield json_case(
                "json-bad-text", "bad-column", columns(**{name: ["a", bad]}), says, None
            )
    surrogate = columns(**{"\ud800": [1, 2]})
    yield json_case("json-column-name", "bad-column", surrogate, "'\\ud800'", None)
    ragged = {"q1": {"d1": {"grade": 1, "cost": 2}, "d2": {"grade": 1}}}
    yield json_case("json-ragged", "bad-column", ragged, "document 'd2': other columns", None)
    ranks = [{"query": "q1", "document": "d1", "score": 1, "rank": "first"}]
    yield json_case("json-bad-cell", "bad-column", ranks, "'rank' holds 'first'", None, "run")
    without = {"query": ["q1"], "document": ["d1"]}
    yield json_case("json-without-grades", "missing-column", without, "no grades", None)
    empty_cells: dict[str, Any] = {"q1": {"d1": {}, "d2": {}}}
    yield json_case("json-without-grades", "missing-column", empty_cells, "no grades", None)


def empty_files() -> Iterator[Case]:
    sides: tuple[Side, Side] = ("qrels", "run")
    for side in sides:
        for name in ("faulty.txt", "faulty.gz", "faulty.json"):
            yield Case("empty-file", "empty", b"", "is empty", None, side, name)
        for content in (b"\n", b" \t \r\n\n", b"\n" * 5000, b"\x0c\x0b"):
            yield Case("white-space-only", "empty", content, "is empty", None, side)
        yield Case("byte-order-mark-only", "empty", b"\xef\xbb\xbf", "is empty", None, side)
        for suffix, pack in COMPRESSED.items():
            name = f"faulty.{suffix}"
            yield Case("empty-inside", "empty", pack(b""), "is empty", None, side, name)
        words = {"qrels": "there are no judgments", "run": "the run holds no rows"}[side]
        for content in (b"# nothing\n", b"#\r\n\r\n  # q1 0 d1 1\r\n"):
            yield Case("comments-only", "empty", content, words, None, side)
        for content in (b"{}", b" [ ]\n", b'{"query": [], "document": []}'):
            yield Case("empty-json", "empty", content, words, None, side, "faulty.json")
    no_documents = b'{"q1": {}, "q2": []}'
    yield Case("empty-json", "empty", no_documents, "no judgments", name="faulty.json")


def nothing(path: Path) -> None:
    """Leave the file out."""


def link_to_nothing(path: Path) -> None:
    path.symlink_to("gone")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def unreadable(path: Path) -> None:
    path.write_bytes(text(QRELS))
    path.chmod(0)


def locked_folder(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(text(QRELS))
    path.parent.chmod(0)


def unopened_files() -> Iterator[Case]:
    sides: tuple[Side, Side] = ("qrels", "run")
    for side in sides:
        no_such = "there is no such file"
        yield Case("missing-file", "no-file", nothing, no_such, None, side)
        yield Case("missing-folder", "no-file", nothing, no_such, None, side, "gone/faulty.txt")
        under_file = "good.run/faulty.txt"
        yield Case("file-as-folder", "no-file", nothing, no_such, None, side, under_file)
        yield Case("folder", "no-file", Path.mkdir, "this is a folder", None, side)
        name = "n" * 300
        yield Case("name-too-long", "no-file", nothing, "cannot be read: ", None, side, name)
        yield Case("dangling-link", "no-file", link_to_nothing, no_such, None, side)
        yield Case("link-to-itself", "no-file", link_to_itself, "cannot be read: ", None, side)
        if os.geteuid():  # nothing is forbidden to root
            yield Case("unreadable-file", "no-file", unreadable, "cannot be read: ", None, side)
            name = "locked/faulty.txt"
            yield Case(
                "locked-folder", "no-file", locked_folder, "cannot be read: ", None, side, name
            )


def strict(fault: str, code: str, rows: list[str], says: str, axis: str, **other: Any) -> Case:
    return Case(fault, code, text(rows), says, options=("--set", axis), **other)


def asked_for() -> Iterator[Case]:
    """Give the faults that only are some because an axis was set to `error`, or to `rank`."""
    lacking = {n: [row for row in RUN if row[:2] not in n] for n in (("q1",), ("q2", "q3"))}
    for queries, rows in lacking.items():
        says, more = f"query {queries[0]!r} is not in the run", len(queries) - 1
        axis, fault = "missing=error", "missing-query"
        yield strict(fault, fault, rows, says, axis, side="run", more=more)
        strange = [*RUN, *(f"x{query} Q0 d1 1 1 good" for query in queries)]
        says = f"query {'x' + queries[0]!r} has no judgments"
        axis, fault = "unknown=error", "unknown-query"
        yield strict(fault, fault, strange, says, axis, side="run", more=more)
    for axis, tied in (("score", "q1 Q0 d7 9 2.5 x"), ("rank", "q1 Q0 d7 2 9.5 x")):
        says = f"'d2' and 'd7' have the same {axis}"
        options = ("--set", "ties=error", "--set", f"order={axis}")
        for at in (2, 5, 8):
            rows = [*RUN[:at], tied, *RUN[at:]]
            yield Case("tie", "tie", text(rows), says, at + 1, "run", options=options)
    several = text([*RUN, "q1 Q0 d7 9 2.5 x", "q2 Q0 d7 9 0.8 x", "q2 Q0 d6 9 0.7 x"])
    yield Case("tie", "tie", several, "'q1'", 9, "run", options=("--set", "ties=error"), more=2)
    for grade in ("-1", "-2.5", "-1e3"):
        rows = [*QRELS, f"q2 0 d7 {grade}"]
        says = f"query 'q2', document 'd7': grade {float(grade):g} is negative"
        options = ("--set", "negative=error", "--set", "grades=keep")
        yield Case("negative-grade", "negative-grade", text(rows), says, options=options)
    rows = [*QRELS, "q2 0 d7 -1", "q1 0 d7 -1"]
    yield strict("negative-grade", "negative-grade", rows, "'q1'", "negative=error", more=1)
    for rows, query in (([*QRELS, "q4 0 d1 0"], "q4"), (["q1 0 d1 0", *QRELS[3:]], "q1")):
        says = f"query {query!r} has no relevant document for AP"
        options = ("-m", "AP", "--set", "no_relevant=error")
        yield Case("no-relevant", "no-relevant", text(rows), says, options=options)
    axis = "order=rank"
    for line, cell, says in (
        (1, "first", "rank is not a number"), (3, "nan", "rank is not a number"),
        (5, "1.5", "rank 1.5 is not a whole number"), (6, "inf", "rank inf is not"),
        (8, "-", "rank is not a number"), (2, "2_0", "rank is not a number"),
    ):  # fmt: skip
        rows = replaced(RUN, line, f"q2 Q0 d7 {cell} 0.5 good")
        yield strict("bad-rank", "bad-rank", rows, says, axis, line=line, side="run")
    unranked = b'{"q1": ["d1"]}'
    yield Case("json-without-ranks", "missing-column", unranked, "no ranks", None, "run",
               "faulty.json", ("--set", axis))  # fmt: skip


def many_faults() -> Iterator[Case]:
    for count in (2, 10, 11, 12, 500):
        rows = [f"q1 0 d{i} {'x' if i else 1}" for i in range(count + 1)]
        yield Case("many-faults", "bad-grade", text(rows), "grade 'x'", 2, more=count - 1)
        rows = [f"q1 Q0 d{i % 2} 1 {i} t" for i in range(count + 2)]
        yield Case("many-faults", "duplicate", text(rows), "'d0'", 3, "run", more=count - 1)
    data = {"q1": {f"d{i}": "x" for i in range(20_000)}}
    content = json.dumps(data, indent=0).encode()
    says, name = "document 'd0': grade 'x'", "faulty.json"
    yield Case("many-faults", "bad-grade", content, says, 3, name=name, more=19_999)
    rows = ["q1 0 d1", "q1 0 d2 x", "q1 0 d3 inf", "q1"]
    yield Case("mixed-faults", "columns", text(rows), "3 columns", 1, more=3)
    rows = ["q1 Q0 d1 1 nan t", "q1 Q0 d2 1 1 t", "q1 Q0 d2 1 1 t", "q2 Q0 d4 1 inf t"]
    yield Case("mixed-faults", "duplicate", text(rows), "'d2'", 3, "run", more=2)


def query_files() -> Iterator[Case]:
    lines = [
        ("columns", b"q1\tone\nq2 two\n", "no tab in 'q2 two'", 2),
        ("columns", b"q1\tone\r\n\r\nq2\r\n", "no tab in 'q2", 3),
        ("columns", text(QRELS), "no tab in 'q1 0 d1 1'", 1),
        ("duplicate-key", b"q1\tone\nq2\ttwo\nq1\tthree\n", "query 'q1'", 3),
        ("bad-id", b"q1\tone\n\ttwo\n", "query ''", 2),
        ("bad-id", b'{"q1": "one", "": "two"}', "query ''", None),
        ("bad-shape", b'["q1", "q2"]', "cannot be read as queries", None),
        ("duplicate-key", b'{"q1": "one",\n "q1": "two"}', "key 'q1'", 2),
        ("json", b'{"q1": "one"', "ends too early", 1),
        ("encoding", "q1\tgrößer\n".encode("latin-1"), "byte 0xf6", 1),
        ("empty", b"", "is empty", None),
        ("no-file", b"", "no such file", None),
    ]
    for code, content, says, line in lines:
        made: bytes | Callable[[Path], object] = nothing if code == "no-file" else content
        more = 7 if content == text(QRELS) else 0
        yield Case("queries-file", code, made, says, line, "queries", "faulty.tsv", more=more)


CASES: tuple[Case, ...] = (
    *truncated_files(), *damaged_files(), *undecodable_files(), *binary_files(), *column_counts(),
    *numbers(), *repeated_documents(), *contradictions(), *json_syntax(), *json_keys(),
    *json_shapes(), *json_values(), *json_columns(), *empty_files(), *unopened_files(),
    *asked_for(), *many_faults(), *query_files(),
)  # fmt: skip
