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

Side = Literal["qrels", "run", "queries", "weights"]
BOTH: tuple[Side, Side] = ("qrels", "run")
Content = bytes | Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """A bad file: its class of fault, how it is made, and the error it causes.

    The first line of the error has the `code` and the `line` and `says` the value; `more` faults
    are reported with it.
    """

    fault: str
    code: str
    content: Content
    says: str
    line: int | None = None
    side: Side = "qrels"
    name: str = "faulty.txt"
    options: tuple[str, ...] = ()
    more: int = 0

    def arguments(self, folder: Path) -> list[str]:
        """Write this file and good ones beside it; give the command line that reads them."""
        good = write_good(folder)
        paths: dict[Side, Path] = {"qrels": good[0], "run": good[1], self.side: self.path(folder)}
        if isinstance(self.content, bytes):
            self.path(folder).write_bytes(self.content)
        else:
            self.content(self.path(folder))
        more = [
            word
            for side in ("queries", "weights")
            if side in paths
            for word in (f"--{side}", str(paths[side]))
        ]
        return ["eval", str(paths["qrels"]), str(paths["run"]), *more, *self.options]

    def path(self, folder: Path) -> Path:
        return folder / self.name


def write_good(folder: Path) -> tuple[Path, Path]:
    """Write judgments and a run that nothing is wrong with."""
    qrels, run = folder / "good.qrels", folder / "good.run"
    qrels.write_bytes(text(QRELS))
    run.write_bytes(text(RUN))
    return qrels, run


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


def truncated_files() -> Iterator[Case]:
    cuts = {"gz": (1, 2, 9, 10, -9, -8, -1), "xz": (1, 5, 6, 12, -12, -1), "zst": (1, 3, 4, 6, -1)}
    for suffix, positions in cuts.items():
        whole, name = COMPRESSED[suffix](LONG), f"faulty.{suffix}"
        half, says = len(whole) // 2, f".{suffix} data ends early"
        for n, cut in enumerate((*positions, half)):
            fault, side = f"{suffix}-truncated", BOTH[n % 2]
            yield Case(fault, "truncated", whole[:cut], says, None, side, name)
        twice = whole + whole[:half]
        yield Case("second-part-truncated", "truncated", twice, says, name=name)
        yield Case("truncated-without-suffix", "truncated", whole[:-1], says)


def flipped(data: bytes, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 0x10
    return bytes(changed)


def damaged_files() -> Iterator[Case]:
    stored = gz(LONG, 0)
    places = {"gz": (-7, -2, 2), "xz": (7, 9, 14, 60, -3), "zst": (-1, -4)}
    for suffix, positions in places.items():
        whole, name = COMPRESSED[suffix](LONG), f"faulty.{suffix}"
        flips = [flipped(whole, at) for at in positions]
        for content in [*flips, *(flipped(stored, at) for at in (40, 2000) if suffix == "gz")]:
            yield Case(f"{suffix}-damaged", "compressed", content, "is damaged", name=name)
        for side, garbage in zip(BOTH, (b"garbage", b"\xff" * 40), strict=True):
            content = whole + garbage
            yield Case("trailing-garbage", "compressed", content, "is damaged", None, side, name)


def misnamed_files() -> Iterator[Case]:
    for suffix in COMPRESSED:
        says, name = f"not a .{suffix} file", f"faulty.{suffix}"
        for plain in (text(QRELS), b"{}", b"\x89PNG\r\n\x1a\n"):
            yield Case("not-compressed", "compressed", plain, says, name=name)
        for other, pack in COMPRESSED.items():
            if other != suffix:
                packed = pack(text(RUN))
                yield Case("other-compression", "compressed", packed, says, None, "run", name)
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
        content = "\n".join(rows).encode("latin-1")
        yield Case("latin-1", "encoding", content, "is not UTF-8", line)
        packed = gz("\r\n".join(rows).encode("latin-1"))
        yield Case("latin-1-compressed", "encoding", packed, "byte 0x", line, name="faulty.gz")
    in_json = '{"q1":\n {"é": 1}}'.encode("latin-1")
    yield Case("latin-1", "encoding", in_json, "byte 0xe9", 2, "run", "faulty.json")


def broken_unicode() -> Iterator[Case]:
    """Give an overlong form, a surrogate, a cut sign, a stray byte, and a cut at the end."""
    for line, raw in enumerate((b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82", b"\x80"), 2):
        content = text(QRELS).replace(QRELS[line - 1].encode(), b"q1 0 d" + raw + b" 1")
        yield Case("broken-utf-8", "encoding", content, f"byte 0x{raw[0]:x}", line)
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
        "zip": (zipped(), 1),
        "elf": (b"\x7fELF\x02\x01\x01\x00", 1),
        "npy": (b"\x93NUMPY\x01\x00v\x00{'descr'", 1),
        "doubles": (struct.pack("<4d", 1, 2, 3, 4), 1),
    }
    for n, (kind, (content, line)) in enumerate(kinds.items()):
        name = f"faulty.{kind}"
        yield Case("binary-format", "binary", content, "binary", line, BOTH[n % 2], name)
    for line in (1, 5, 8):
        rows = replaced(RUN, line, "q1 Q0 d\x007 1 1 good")
        yield Case("nul-byte", "binary", text(rows), "binary", line, "run")
    in_json = b'{"q1": {"d1": 1,\n "d\x002": 1}}'
    yield Case("nul-byte", "binary", in_json, "binary", 2, name="faulty.json")
    yield Case("nul-padding", "binary", text(QRELS) + b"\x00" * 512, "binary", 9)
    yield Case("compressed-twice", "binary", gz(gz(text(QRELS))), "binary", 1, name="faulty.gz")
    yield Case("compressed-twice", "binary", lzma.compress(lzma.compress(LONG)), "binary", 1)


def column_counts() -> Iterator[Case]:
    whole = "q1 Q0 d7 4 0.5 tag"
    for line, count in ((1, 1), (2, 2), (4, 3), (6, 4), (8, 5)):
        rows = replaced(RUN, line, " ".join(whole.split()[:count]))
        says = f"{count} column{'s' * (count > 1)}, 6 expected"
        yield Case("run-columns", "columns", text(rows), says, line, "run")
        packed = zst(text(rows, "\r\n", last=""))
        yield Case("run-columns", "columns", packed, says, line, "run", "faulty.zst")
    for line, row in (
        (1, "q1"), (2, "q1 0"), (3, "q1 0 d7"), (5, "q1 0 d7 1 2"), (8, whole), (8, f"{whole} x y"),
    ):  # fmt: skip
        rows, count = replaced(QRELS, line, row), min(len(row.split()), 7)
        says = f"{count}{' or more' * (count > 6)} column{'s' * (count > 1)}, 4 expected"
        yield Case("qrels-columns", "columns", text(rows), says, line)
        tabs = text([row.replace(" ", "\t") for row in rows], last="")
        yield Case("qrels-columns", "columns", lzma.compress(tabs), says, line, name="faulty.xz")


def other_layouts() -> Iterator[Case]:
    as_qrels, as_run = "4 expected: 'q1 Q0 d1 1 3.5 good'", "6 expected: 'q1 0 d1 1'"
    yield Case("swapped-files", "columns", text(RUN), as_qrels, 1)
    yield Case("swapped-files", "columns", text(QRELS), as_run, 1, "run")
    under = text(["# judged by two", "", *QRELS])
    yield Case("swapped-files", "columns", under, as_run, 3, "run")
    for sign in (",", ";", "|"):
        for side, rows in zip(BOTH, (QRELS, RUN), strict=True):
            content = text([row.replace(" ", sign) for row in rows])
            says, fault = f"'q1{sign}", "other-separator"
            yield Case(fault, "columns", content, says, 1, side)
    header = text(["query-id corpus-id score", *QRELS])
    yield Case("header-line", "columns", header, "3 columns", 1)
    yield Case("header-line", "columns", text(["query Q0 doc rank", *RUN]), "4 columns", 1, "run")
    yield Case("old-mac-line-ends", "encoding", text(QRELS, "\r"), "bare CR", 1)
    yield Case("old-mac-line-ends", "encoding", text(RUN, "\r"), "bare CR", 1, "run")
    yield Case(
        "huge-grade",
        "bad-grade",
        text([*QRELS, "q9 0 d1 1e308"]),
        "1e+308 is too large",
        len(QRELS) + 1,
    )
    for content in (b"5", b"null", b'"q1"', b"true", b"-0.5\n"):
        says = f"1 column, 4 expected: {content.strip().decode()!r}"
        yield Case("json-scalar", "columns", content, says, 1, name="faulty.json")


def preferences() -> Iterator[Case]:
    good = ["q1 ann 1 d1 2", "q1 ann 1 d2 1", "q1 ann 2 d2 3", "q1 ann 2 d3 1"]
    for level in ("high", "nan", "1e999", "1_0"):
        rows = replaced(good, 2, f"q1 ann 1 d2 {level}")
        yield Case("levels", "bad-level", text(rows), f"level {level!r} is not a finite", 2)
    for row, says in (("q1 ann 2 d3", "4 columns"), ("q1 ann 2 d3 1 x", "6 columns")):
        content = gz(text(replaced(good, 4, row)))
        yield Case("preferences", "columns", content, f"{says}, 5 expected", 4, name="faulty.gz")
    for row, says in (
        ("q1 ann 1 d1 1", "group 'ann', document 'd1': level 1 contradicts 2 (line 1)"),
        ("q1 ann 3 d1 0", "group 'ann', document 'd1': level 0 contradicts 2 (line 1)"),
    ):
        yield Case("preferences", "contradiction", text([*good, row]), says, 5)
    circle = text([*good, "q1 ann 3 d3 2", "q1 ann 3 d1 1"])
    says = "query 'q1', group 'ann': 'd1' is preferred to 'd2', and 'd2' to 'd1'"
    yield Case("preferences", "contradiction", circle, says)
    numbers, says = text(["q1 0 0 1 2", "q1 0 0 2 1"]), "5 columns, 4 expected"
    yield Case("preferences", "columns", numbers, says, 1)
    yield Case("preferences", "bad-level", numbers + b"q1 0 0 3 x", "'x'", 3, name="f.prefs")
    sample = text(["q1 0 d1 top 2", "q1 0 d2 deep -1"])
    yield Case("preferences", "columns", sample, says, 1, more=1)


def overlong_lines() -> Iterator[Case]:
    """Give lines that are a byte longer than they may be, with data in them and without."""
    code, says = "overlong", "the line is longer than 1 MiB: 'q1 0 "
    for n, (side, rows) in enumerate(zip(BOTH, (QRELS, RUN), strict=True)):
        long = f"q1 0 {'d' * (2**20 + 1)} 1 1 1"[: 2**20 + 1]
        yield Case(code, code, text(replaced(rows, 5, long)), says, 5, side)
        yield Case(code, code, text(["#" * (2**20 + 1), *rows]), "'####", 1, side)
        carriage = text([*rows, " " * 2**20], "\r\n")
        yield Case(code, code, carriage, "'    ", 9, side)
        packed = COMPRESSED[("xz", "zst")[n]](text([*rows, long + "\t", "q1", "# two"]))
        yield Case(code, code, packed, says, 9, side, f"faulty.{('xz', 'zst')[n]}", more=1)
    three = ["q1 d1 1", f"q1 {'d' * 2**20} 2", "q1 d2 x"]
    yield Case(code, code, text(three), "1 MiB: 'q1 ddd", 2, "run", more=1)
    burst = gz(b"q1 0 d1 1\n" * 2**17) * 60
    says = "decompresses to more than 67,108,864 bytes"
    yield Case("oversized", "oversized", burst, says, name="faulty.gz")


NONFINITE = ["nan", "NaN", "-nan", "inf", "-Infinity", "1e999", "-1e310"]
LOOK_ALIKES = ["1_000", "0x1", "0x1.8p1", "١", "½", "--1", "1e", "1,5", "−1", "true", "3good"]
WORDS = ["abc", "relevant", "None", "#1"]


def numbers() -> Iterator[Case]:
    for n, cell in enumerate([*NONFINITE, *LOOK_ALIKES, *WORDS]):
        line, end = n % len(QRELS) + 1, ("\n", "\r\n")[n % 2]
        rows = replaced(QRELS, line, f"q1 0 d7 {cell}")
        fault = "nonfinite-grade" if cell in NONFINITE else "bad-grade"
        says = f"grade {cell!r} is not a finite number"
        yield Case(fault, "bad-grade", text(rows, end), says, line)
    for n, cell in enumerate([*LOOK_ALIKES, *WORDS]):
        line, end = n % len(RUN) + 1, ("\r\n", "\n")[n % 2]
        rows = replaced(RUN, line, f"q1 Q0 d7 4 {cell} good")
        says = f"score {cell!r} is not a number"
        yield Case("bad-score", "bad-score", text(rows, end), says, line, "run")


def nonfinite_scores() -> Iterator[Case]:
    code = "nonfinite-score"
    for line, cell in enumerate(NONFINITE, 1):
        rows = replaced(RUN, line, f"q{line % 3 + 1} Q0 d7 4 {cell} good")
        fault = "nan-score" if "nan" in cell.lower() else "infinite-score"
        says = f"document 'd7': score is {float(cell)}"
        yield Case(fault, code, text(rows), says, line, "run")
        if fault == "nan-score":
            options = ("--set", "nonfinite=as_is")
            yield Case(fault, code, text(rows), says, line, "run", options=options)
    beyond = text(replaced(RUN, 3, "q1 Q0 d9 3 1e39 good"))
    says, options = "1e+39, too large for float32", ("-c", "trec_eval-9")
    yield Case("score-beyond-float32", code, beyond, says, 3, "run", options=options)


def repeated_documents() -> Iterator[Case]:
    says = "document 'd1' was retrieved twice, first on line 1"
    again = "q1 Q0 d1 9 0.1 good"
    for fault, at in (("duplicate-adjacent", 1), ("duplicate-apart", 3), ("duplicate-far", 8)):
        rows = [*RUN[:at], again, *RUN[at:]]
        yield Case(fault, "duplicate", text(rows), says, at + 1, "run")
        packed = gz(text(rows, "\r\n", last=""))
        yield Case(fault, "duplicate", packed, says, at + 1, "run", "faulty.run.gz")
    yield Case("duplicate-line", "duplicate", text([RUN[0], *RUN]), says, 2, "run")
    far = text([*RUN, *(f"q3 Q0 x{i} 9 0.1 good" for i in range(1000)), again])
    yield Case("duplicate-far", "duplicate", far, says, 1009, "run")
    queries = text([*RUN, "q2 Q0 d4 1 1 good", again])
    yield Case("duplicates-of-queries", "duplicate", queries, says, 10, "run", more=1)
    yield Case("file-written-twice", "duplicate", text([*RUN, *RUN]), says, 9, "run", more=7)
    for content in (b'{"q1": ["d1", "d2", "d1"]}', b'{"q1": [["d1", 2], ["d1", 1]]}'):
        says, name = "document 'd1' was retrieved twice", "faulty.json"
        yield Case("json-duplicate-document", "duplicate", content, says, None, "run", name)


def contradictions() -> Iterator[Case]:
    code = "contradiction"
    for at in (1, 4, 8):
        rows = [*QRELS[:at], "q1 0 d1 2", *QRELS[at:]]
        says = "document 'd1': grade 2 contradicts 1 (line 1)"
        yield Case(code, code, text(rows), says, at + 1)
        packed = lzma.compress(text(rows, "\r\n", last=""))
        yield Case(code, code, packed, says, at + 1, name="faulty.xz")
    rows = [*QRELS, "q1 0 d1 0.5", "q1 0 d1 -1"]
    yield Case("contradictions", code, text(rows), "grade 0.5 contradicts 1", 9, more=1)
    rows = ["q1 1 d1 1", "q1 2 d1 1", "q1 2 d1 2"]
    yield Case("contradiction-in-subtopic", code, text(rows), "contradicts 1 (line 2)", 3)
    records = [["q1", "d1", 1], ["q1", "d1", 2]]
    columns = {"qid": ["q1", "q1"], "docno": ["d1", "d1"], "rel": [1, 2]}
    for data in (records, columns):
        yield json_case("json-contradiction", code, data, "grade 2 contradicts 1", None)


def json_case(
    fault: str, code: str, data: Any, says: str, line: int | None = 1, side: Side = "qrels"
) -> Case:
    return Case(fault, code, json.dumps(data).encode(), says, line, side, "faulty.json")


GOOD_JSON = '{"q1": {"d1": 1, "d2": 0},\n "q2": {"d4": 1},\n "q3": {"d2": 2}}'
EARLY = "the text ends early"
BROKEN_JSON = [
    ("json-trailing-comma", '{"q1":\n {"d1": 1,}}', "}}'", 2),
    ("json-trailing-comma", '{"q1": {"d1": 1}\n,}', "}'", 2),
    ("json-trailing-comma", '[["q1", "d1", 1]\n\n,]', "]'", 3),
    ("json-missing-comma", '{"q1": {"d1": 1}\n "q2": {"d1": 1}}', 'at \'"q2"', 2),
    ("json-missing-colon", '{"q1" {"d1": 1}}', "':' delimiter at '{\"d1\"", 1),
    ("json-single-quotes", "{'q1': {'d1': 1}}", "double quotes at \"'q1'", 1),
    ("json-unquoted-key", '{"q1":\n\n{d1: 1}}', "at 'd1: 1}}'", 3),
    ("json-comment", '{"q1": {"d1": 1}, // one\n "q2": {}}', "at '// one", 1),
    ("json-bad-escape", '{"q1": {"d\\x41": 1}}', "at '\\\\x41", 1),
    ("json-control-character", '{"q1": {"d\n1": 1}}', "control character at '\\n1", 1),
    ("json-leading-zero", '{"q1": {"d1": 01}}', "at '1}}'", 1),
    ("json-python-literal", '{"q1": {"d1": None}}', "at 'None}}'", 1),
    ("json-unterminated-string", '{"q1": {"d1', "the string '\"d1' is not closed", 1),
    ("json-unterminated-string", '{"q1":\n {"d1: 1}}', "'\"d1: 1}}' is not closed", 2),
    ("json-unterminated-string", '{"q1":\n ["d1\\"]}', "is not closed", 2),
    ("json-two-documents", f"{GOOD_JSON}\n{GOOD_JSON}", 'more text follows: \'{"q1"', 4),
    ("json-lines", '["q1", "d1", 1]\n["q1", "d2", 0]\n', 'more text follows: \'["q1"', 2),
    ("json-trailing-garbage", GOOD_JSON + "]", "more text follows: ']'", 3),
]


def json_syntax() -> Iterator[Case]:
    name = "faulty.json"
    for n, (fault, content, says, line) in enumerate(BROKEN_JSON):
        yield Case(fault, "json", content.encode(), says, line, BOTH[n % 2], name)
    for cut in (1, 6, 7, 16, 26, 34, len(GOOD_JSON) - 1):
        start = GOOD_JSON[:cut]
        line = start.count("\n") + 1
        yield Case("json-truncated", "json", start.encode(), EARLY, line, name=name)
    packed = gz(GOOD_JSON[:-1].encode())
    yield Case("json-truncated", "json", packed, EARLY, 3, "run", "faulty.json.gz")
    for depth in (100_000, 200_000):
        nested = b"[" * depth + b"]" * depth
        yield Case("json-too-deep", "json", nested, "nested too deeply", name=name)
    digits = b'{"q1": {"d1": ' + b"7" * 5000 + b"}}"
    yield Case("json-endless-number", "json", digits, "5000 digits", None, "run", name)


REPEATED_KEYS = [
    ("json-repeated-query", '{"q1": {"d1": 1},\n "q1": {"d2": 1}}', "key 'q1' is repeated", 2),
    ("json-repeated-query", '{"q1": {},\n "q2": {},\n\n "q1": {}}', "first on line 1", 4),
    ("json-repeated-query", '{"q1": {"d1": 1}, "q\\u0031": {"d1": 1}}', "key 'q1' is repeated", 1),
    ("json-repeated-document", '{"q1": {"d1": 1,\n "d1": 1}}', "'q1' → 'd1'", 2),
    ("json-repeated-document", '{"q1": {"d1": 1, "d2": 0,\n\n\n "d1": 2}}', "'q1' → 'd1'", 4),
    ("json-repeated-cell", '{"q1": {"d1": {"grade": 1,\n "grade": 2}}}', "'d1' → 'grade'", 2),
    ("json-repeated-cell", '[{"query": "q1",\n "query": "q2"}]', "0 → 'query'", 2),
    ("json-repeated-column", '{"query": ["q1"],\n "query": ["q2"]}', "key 'query'", 2),
]


def json_keys() -> Iterator[Case]:
    code, name = "duplicate-key", "faulty.json"
    for n, (fault, content, says, line) in enumerate(REPEATED_KEYS):
        yield Case(fault, code, content.encode(), says, line, BOTH[n % 2], name)
    both = b'{"q1": {"d1": 1, "d1": 1},\n "q1": {"d1": 1}}'
    yield Case("json-repeated-keys", code, both, "'q1' → 'd1'", 1, name=name, more=1)


def json_shapes() -> Iterator[Case]:
    rows: list[Any] = [1, "q1", None, [], ["q1"], ["q1", "d", 1, 2], {"query": "q1"}, {"a": 1}]
    entries: list[Any] = [[], ["d1"], ["d1", 1, 2], {"d1": 1}]
    for found in (5, "d1", None, True, 0.5):
        says = f"query 'q1': cannot read {found!r}"
        yield json_case("json-query-without-documents", "bad-shape", {"q1": found}, says)
    for row in rows:
        says = f"row 2: cannot read {row!r}"
        yield json_case("json-bad-row", "bad-shape", [["q1", "d1", 1], row], says, None)
    for entry in entries:
        says = f"query 'q2': cannot read {entry!r}"
        data = {"q1": ["d1"], "q2": ["d1", entry]}
        yield json_case("json-bad-entry", "bad-shape", data, says, side="run")
    large = [["q1", "d1", 1], list(range(10_000))]
    yield json_case("json-large-row", "bad-shape", large, "[0, 1, 2, 3, 4, 5, ...]", None)
    for mixed in ({"q1": ["d1", ["d2", 0.5]]}, [["q1", "d1"], ["q1", "d2", 1]]):
        says = "some rows have a score, others have none"
        yield json_case("json-mixed-scores", "bad-shape", mixed, says, None, "run")


def json_ids() -> Iterator[Case]:
    ids: list[Any] = [None, True, 1.5, ["d1"], {}, "", "\ud800"]
    for bad in ids:
        says = f"document {bad!r}: an id must be"
        yield json_case("json-bad-id", "bad-id", [["q1", bad, 1]], says, None)
        yield json_case("json-bad-id", "bad-id", {"q1": ["d1", [bad, 2]]}, says, 1, "run")
    yield json_case("json-bad-query-id", "bad-id", {"": {"d1": 1}}, "query ''")
    yield json_case("json-bad-query-id", "bad-id", {"\udfff": []}, "'\\udfff'", None, "run")


def json_values() -> Iterator[Case]:
    infinite = [float("nan"), float("inf"), float("-inf")]
    values: list[Any] = [None, "abc", "", "1_000", "٣", [1], {}, 10**400, "\ud800"]
    for n, bad in enumerate([*values, *infinite]):
        cell = bad if n % 2 else {"grade": bad}
        content = json.dumps({"q1": {"d1": 1, "d2": cell}}, indent=1).encode()
        says = f"document 'd2': grade {'1000' if bad == 10**400 else repr(bad)}"
        yield Case("json-bad-grade", "bad-grade", content, says, 4, name="faulty.json")
    for n, bad in enumerate(values):
        cell = {"score": bad} if n % 2 or bad == {} else bad
        content = json.dumps({"q1": {"d1": 1, "d2": cell}}, indent=1).encode()
        says = f"document 'd2': score {'1000' if bad == 10**400 else repr(bad)}"
        yield Case("json-bad-score", "bad-score", content, says, 4, "run", "faulty.json")
    for bad in infinite:
        data = {"q1": {"d1": 1, "d2": bad}}
        fault, code = "json-nonfinite-score", "nonfinite-score"
        yield json_case(fault, code, data, f"score is {bad}", None, "run")


def columns(**changed: Any) -> dict[str, Any]:
    return {"query": ["q1", "q1"], "document": ["d1", "d2"], "grade": [1, 0], **changed}


def json_columns() -> Iterator[Case]:
    code = "bad-column"
    scalars: list[Any] = [5, "ab", None, {"a": 1}, True]
    for bad in scalars:
        says = f"column 'grade' is not a list: {bad!r}"
        yield json_case("json-no-list", code, columns(grade=bad), says, None)
        says = f"column 'document' is not a list: {bad!r}"
        yield json_case("json-no-list", code, columns(document=bad), says, None, "run")
    yield json_case("json-uneven", code, columns(grade=[1]), "grade 1", None)
    yield json_case("json-uneven", code, columns(query=["q1"] * 3), "query 3", None, "run")
    surrogate = columns(**{"\ud800": [1, 2]})
    yield json_case("json-column-name", code, surrogate, "'\\ud800' cannot be the name", None)
    ungraded: list[Any] = [{"query": ["q1"], "document": ["d1"]}, {"q1": {"d1": {}, "d2": {}}}]
    for without in ungraded:
        yield json_case("json-without-grades", "missing-column", without, "no grades", None)


def json_cells() -> Iterator[Case]:
    code = "bad-column"
    cells: list[Any] = ["x", [1], 10**400, "1_0"]
    for bad in cells:
        data = columns(cost=[1, bad])
        yield json_case("json-bad-cell", code, data, "column 'cost' holds ", None)
    texts: list[Any] = [["x"], {"a": 1}, "\ud800"]
    for bad in texts:
        for name in ("judge", "subtopic"):
            data, says = columns(**{name: ["a", bad]}), f"column {name!r} holds {bad!r}"
            yield json_case("json-bad-text", code, data, says, None)
    ranks = [{"query": "q1", "document": "d1", "score": 1, "rank": "first"}]
    yield json_case("json-bad-cell", code, ranks, "column 'rank' holds 'first'", None, "run")


def empty_files() -> Iterator[Case]:
    words = {"qrels": "there are no judgments", "run": "the run holds no rows"}
    for side in BOTH:
        for name in ("faulty.txt", "faulty.gz", "faulty.json"):
            yield Case("empty-file", "empty", b"", "is empty", None, side, name)
        for content in (b"\n", b" \t \r\n\n", b"\n" * 5000, b"\x0c\x0b"):
            yield Case("white-space-only", "empty", content, "is empty", None, side)
        yield Case("byte-order-mark-only", "empty", b"\xef\xbb\xbf", "is empty", None, side)
        for suffix, pack in COMPRESSED.items():
            name = f"faulty.{suffix}"
            yield Case("empty-inside", "empty", pack(b""), "is empty", None, side, name)
        for content in (b"# nothing\n", b"#\r\n\r\n  # q1 0 d1 1\r\n"):
            yield Case("comments-only", "empty", content, words[side], None, side)
        for content in (b"{}", b" [ ]\n", b'{"query": [], "document": []}'):
            yield Case("empty-json", "empty", content, words[side], None, side, "faulty.json")


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
    made: list[tuple[str, Content, str, str]] = [
        ("missing-file", nothing, "there is no such file", "faulty.txt"),
        ("missing-folder", nothing, "there is no such file", "gone/faulty.txt"),
        ("file-as-folder", nothing, "there is no such file", "good.run/faulty.txt"),
        ("folder", Path.mkdir, "this is a folder", "faulty.txt"),
        ("name-too-long", nothing, "cannot be read: ", "n" * 300),
        ("dangling-link", link_to_nothing, "there is no such file", "faulty.txt"),
        ("link-to-itself", link_to_itself, "cannot be read: ", "faulty.txt"),
    ]
    if os.geteuid():  # nothing is forbidden to root
        made.append(("unreadable-file", unreadable, "cannot be read: ", "faulty.txt"))
        made.append(("locked-folder", locked_folder, "cannot be read: ", "locked/faulty.txt"))
    for fault, content, says, name in made:
        for side in BOTH:
            yield Case(fault, "no-file", content, says, None, side, name)


def strict(code: str, rows: list[str], says: str, *axes: str, **other: Any) -> Case:
    """Give a fault that is one only because axes were set so."""
    options = tuple(word for axis in axes for word in ("--set", axis))
    return Case(code, code, text(rows), says, options=options, **other)


def refused_queries() -> Iterator[Case]:
    for queries in (("q1",), ("q2", "q3")):
        more, missing, unknown = len(queries) - 1, "missing-query", "unknown-query"
        rows = [row for row in RUN if not row.startswith(queries)]
        says = f"query {queries[0]!r} is not in the run"
        yield strict(missing, rows, says, "missing=error", side="run", more=more)
        rows = [*RUN, *(f"x{query} Q0 d1 1 1 good" for query in queries)]
        says = f"query 'x{queries[0]}' has no judgments"
        yield strict(unknown, rows, says, "unknown=error", side="run", more=more)
    for rows, query in (([*QRELS, "q4 0 d1 0"], "q4"), (["q1 0 d1 0", *QRELS[3:]], "q1")):
        says = f"query {query!r} has no relevant document for AP"
        options = ("-m", "AP", "--set", "no_relevant=error")
        yield Case("no-relevant", "no-relevant", text(rows), says, options=options)


def refused_ties() -> Iterator[Case]:
    for axis, tied in (("score", "q1 Q0 d7 9 2.5 x"), ("rank", "q1 Q0 d7 2 9.5 x")):
        axes, says = ("ties=error", f"order={axis}"), f"'d2' and 'd7' have the same {axis}"
        for at in (2, 5, 8):
            rows = [*RUN[:at], tied, *RUN[at:]]
            yield strict("tie", rows, says, *axes, line=at + 1, side="run")
    rows = [*RUN, "q1 Q0 d7 9 2.5 x", "q2 Q0 d7 9 0.8 x", "q2 Q0 d6 9 0.7 x"]
    yield strict("tie", rows, "query 'q1'", "ties=error", line=9, side="run", more=2)


def refused_grades() -> Iterator[Case]:
    code = "negative-grade"
    for grade in ("-1", "-2.5", "-1e3"):
        rows = [*QRELS, f"q2 0 d8 {grade}"]
        says = f"query 'q2', document 'd8': grade {float(grade):g} is negative"
        yield strict(code, rows, says, "negative=error", "grades=keep")
    rows = [*QRELS, "q2 0 d8 -1", "q1 0 d9 -1"]
    yield strict(code, rows, "query 'q1', document 'd9'", "negative=error", more=1)


def refused_ranks() -> Iterator[Case]:
    unread, unwhole = "rank is not a number", "is not a whole number"
    cells = [
        ("first", unread), ("1_0", unread), ("-", unread), ("1st", unread), ("nan", unread),
        ("1.5", f"rank 1.5 {unwhole}"), ("inf", f"rank inf {unwhole}"),
    ]  # fmt: skip
    for line, (cell, says) in enumerate(cells, 2):
        rows = replaced(RUN, line, f"q2 Q0 d7 {cell} 0.5 good")
        yield strict("bad-rank", rows, says, "order=rank", line=line, side="run")
    fault, options = "json-without-ranks", ("--set", "order=rank")
    for content in (b'{"q1": ["d1"]}', b'{"q1": {"d1": 0.5}}'):
        yield Case(fault, "missing-column", content, "no ranks", None, "run", "f.json", options)


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
    rows = [*RUN, "q1 Q0 d1 1 x t", "q1 Q0", "q1 0 d1 1"]
    yield Case("mixed-faults", "bad-score", text(rows), "score 'x'", 9, "run", more=2)
    rows = [*QRELS, "q1 0 d1 x", "q1 0", "q1 Q0 d1 1 1 t"]
    yield Case("mixed-faults", "bad-grade", text(rows), "grade 'x'", 9, more=2)
    rows = ["q1 d1 1", "q1 d2 x", "q1 0 d2 1", "q1"]
    yield Case("mixed-faults", "bad-rank", text(rows), "rank 'x'", 2, "run", more=2)
    rows = ["q1 Q0 d1 1 nan t", "q1 Q0 d2 1 1 t", "q1 Q0 d2 1 1 t", "q2 Q0 d4 1 inf t"]
    yield Case("mixed-faults", "duplicate", text(rows), "'d2'", 3, "run", more=2)


def query_files() -> Iterator[Case]:
    files: list[tuple[str, Content, str, int | None]] = [
        ("columns", b"q1\tone\nq2 two\n", "no tab in 'q2 two'", 2),
        ("columns", b"q1\tone\r\n\r\nq2\r\n", "no tab in 'q2", 3),
        ("duplicate-key", b"q1\tone\nq2\ttwo\nq1\tthree\n", "query 'q1'", 3),
        ("bad-id", b"q1\tone\n\ttwo\n", "query ''", 2),
        ("bad-id", b'{"q1": "one", "": "two"}', "query ''", None),
        ("bad-shape", b'["q1", "q2"]', "record 1: cannot read 'q1'", None),
        ("duplicate-key", b'{"q1": "one",\n "q1": "two"}', "key 'q1'", 2),
        ("json", b'{"q1": "one"', EARLY, 1),
        ("encoding", "q1\tgrößer\n".encode("latin-1"), "byte 0xf6", 1),
        ("empty", b"", "is empty", None),
        ("no-file", nothing, "no such file", None),
    ]
    for code, content, says, line in files:
        yield Case("queries-file", code, content, says, line, "queries", "faulty.tsv")


def refused_weights() -> Iterator[Case]:
    files: list[tuple[str, bytes, str, int]] = [
        ("missing-weight", b"q1\t3\nq2\t1\n", "query 'q3' has no weight", 0),
        ("missing-weight", b'{"q2": {"weight": 3}}', "query 'q1' has no weight", 1),
        ("missing-column", b"q1\tone\nq2\ttwo\nq3\tthree\n", "no column 'weight'", 0),
        ("bad-weight", b"q1\t-3\nq2\tinf\nq3\t1\n", "query 'q1': the weight is", 1),
        ("bad-weight", b'{"q1": {"weight": "many"}}', "the weight is 'many'", 0),
        ("bad-weight", b"q1\t0\nq2\t0\nq3\t0\n", "all queries that count have weight 0", 0),
    ]
    for code, content, says, more in files:
        name = "faulty.json" if content.startswith(b"{") else "faulty.tsv"
        yield Case("weights-file", code, content, says, None, "weights", name, more=more)


def refused_lengths() -> Iterator[Case]:
    options = ("--set", "depth=tokens(100)")
    row = '{"q1": {"d1": {"score": 2, "tokens": 10}, "d2": {"score": 1, "tokens": %s}}}'
    for length, shown in (("-1", "-1"), ("null", "nan"), ("1e999", "inf")):
        says, content = f"query 'q1', document 'd2': length is {shown}", (row % length).encode()
        yield Case("lengths", "bad-length", content, says, None, "run", "faulty.json", options)
    says = "depth=tokens(100), but the run has no lengths"
    yield Case("lengths", "missing-column", text(RUN), says, None, "run", options=options)


CASES: tuple[Case, ...] = (
    *truncated_files(), *damaged_files(), *misnamed_files(), *undecodable_files(),
    *broken_unicode(), *binary_files(), *column_counts(), *other_layouts(), *preferences(),
    *overlong_lines(), *numbers(),
    *nonfinite_scores(), *repeated_documents(), *contradictions(), *json_syntax(), *json_keys(),
    *json_shapes(), *json_ids(), *json_values(), *json_columns(), *json_cells(), *empty_files(),
    *unopened_files(), *refused_queries(), *refused_ties(), *refused_grades(), *refused_ranks(),
    *many_faults(), *query_files(), *refused_weights(), *refused_lengths(),
)  # fmt: skip
