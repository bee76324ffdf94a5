"""What would exhaust the memory is refused, in bounded memory, with the limit and a way out."""

from __future__ import annotations

import io
import json
import lzma
import os
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import idealist as il
from effort import SLOW
from faulty import COMPRESSED, write_good
from idealist.errors import CODES
from idealist.formats import compression, document_files, source
from idealist.formats.document_texts import read_texts

#: The address space of a process that reads a bomb; Python with NumPy takes most of it.
SPACE = 3 * 2**29
#: What is repeated, by the suffix of the file.
PARTS = {
    ".csv": b"q,d,1\n", ".json": b'{"q": 1}, ', ".jsonl": b'{"q": 1}\n', ".txt": b"q 0 d 1\n",
    ".one": b"x",
}  # fmt: skip


def bomb(path: Path, part: bytes, kind: str, size: int = 2**32) -> Path:
    """Write a few megabytes at most that decompress to a size; its parts are all alike."""
    once = COMPRESSED[kind](part * (2**24 // len(part)))
    path.write_bytes(once * (size // 2**24))
    assert path.stat().st_size < 8 * 2**20
    return path


def limited(words: list[str], stdin: int | None = None) -> tuple[int, str]:
    """Run idealist in a process that may take so much memory and no more."""
    done = subprocess.run(
        [sys.executable, "-c", "from idealist.cli.main import main; main()", *words], stdin=stdin, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE)), timeout=60,
        env={**os.environ, "IDEALIST_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("suffix", "kind", "side"),
    [
        (".csv", "gz", "qrels"), (".one", "gz", "run"),
        pytest.param(".json", "zst", "run", marks=SLOW),
        pytest.param(".txt", "xz", "qrels", marks=SLOW),
    ],
)  # fmt: skip
def test_a_bomb_is_refused_in_bounded_memory(
    suffix: str, kind: str, side: str, tmp_path: Path
) -> None:
    path = bomb(tmp_path / f"bomb{suffix}.{kind}", PARTS[suffix], kind)
    qrels, run = write_good(tmp_path)
    given = [str(path), str(run)] if side == "qrels" else [str(qrels), str(path)]
    code, err = limited(["eval", *given])
    assert code == 2, err
    assert "[oversized]" in err
    assert "decompresses to more than 67,108,864 bytes" in err
    assert f"{ {'gz': 'gzip', 'xz': 'xz', 'zst': 'zstd'}[kind] } -d" in err


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set all limits so low that tests are fast."""
    monkeypatch.setattr(compression, "MOST", 2**12)
    monkeypatch.setattr(source, "SPOOLED", 2**20)
    monkeypatch.setattr(source, "BLOCK", 2**16)
    monkeypatch.setattr(source, "LONGEST_TEXT", 2**20)
    monkeypatch.setattr(document_files, "LONGEST_TEXT", 2**20)


def refused(read: Any) -> il.InputError:
    with pytest.raises(il.InputError) as caught:
        read()
    assert caught.value.code in CODES
    assert caught.value.hint
    return caught.value


READERS: dict[str, Any] = {
    "qrels": il.read_qrels, "run": lambda path: il.read_run(path).rows(),
    "queries": il.read_queries, "strata": il.read_strata, "pairs": il.read_pairs,
}  # fmt: skip


@pytest.mark.parametrize("suffix", PARTS)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_of_whole_files_has_the_limit(
    reader: str, suffix: str, small: None, tmp_path: Path
) -> None:
    kind = ("gz", "xz", "zst")[(len(reader) + len(suffix)) % 3]
    path = tmp_path / f"bomb{suffix}.{kind}"
    path.write_bytes(COMPRESSED[kind](PARTS[suffix] * 2**16))
    error = refused(lambda: READERS[reader](str(path)))
    if reader != "run" or suffix != ".txt":  # TREC runs are read block by block, to their faults
        assert error.code == "oversized"


@pytest.mark.parametrize("kind", COMPRESSED)
def test_what_compresses_as_text_does_is_read_whatever_its_size(
    kind: str, small: None, tmp_path: Path
) -> None:
    rows = [f"q{i % 50},d{i * 7919 % 100_003},{i % 4}" for i in range(4_000)]
    data = "\n".join(["query,document,grade", *rows]).encode()
    assert len(data) > 9 * compression.MOST
    path = tmp_path / f"qrels.csv.{kind}"
    path.write_bytes(COMPRESSED[kind](data))
    assert len(il.read_qrels(str(path)).documents) == 4_000
    plain = tmp_path / "plain.csv"  # without compression there is no limit
    plain.write_bytes(b"query,document,grade\n" + b"q,d,1\n" * 2**12)
    assert len(il.read_qrels(str(plain)).documents) == 1


@pytest.mark.parametrize(("kind", "inner"), [("gz", "xz"), ("xz", "zst"), ("zst", "gz")])
def test_compressed_twice_is_no_text(kind: str, inner: str, tmp_path: Path) -> None:
    path = tmp_path / f"qrels.csv.{inner}.{kind}"
    path.write_bytes(COMPRESSED[kind](COMPRESSED[inner](bytes(2**20))))
    assert refused(lambda: il.read_qrels(str(path))).code in ("binary", "encoding")


def test_xz_may_not_ask_for_all_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compression, "XZ_MEMORY", 2**20)
    path = tmp_path / "qrels.txt.xz"
    path.write_bytes(lzma.compress(b"q1 0 d1 1\n", preset=9))
    error = refused(lambda: il.read_qrels(str(path)))
    assert "Memory usage limit exceeded" in error.message


class Endless(io.RawIOBase):
    """A pipe that yields the same forever, and counts what was taken from it."""

    def __init__(self, part: bytes) -> None:
        super().__init__()
        self.part, self.taken = part, 0

    def read(self, size: int = -1) -> bytes:
        self.taken += size
        return (self.part * (size // len(self.part) + 1))[:size]


@pytest.mark.parametrize("part", [b"y\n", b"x", b"q1 Q0 d1 1 1 t\n", b"[", b'{"a": 1}\n', b"1"])
def test_an_endless_pipe_is_refused(
    part: bytes, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Endless(part)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe))
    error = refused(lambda: il.read_run("-"))
    assert error.code == "oversized"
    assert "more than 1,048,576 bytes, the most that is read from a pipe" in error.message
    assert "write it to a file" in error.hint
    assert pipe.taken <= 2**20 + 2 * source.BLOCK


def test_an_endless_pipe_of_zeros_is_known_by_its_start(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Endless(b"\0")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe))
    assert refused(lambda: il.read_qrels("-")).code == "binary"
    assert pipe.taken == source.BLOCK
    assert refused(lambda: il.read_run("/dev/zero").rows()).code == "binary"


@SLOW
def test_yes_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    qrels, _ = write_good(tmp_path)
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        code, err = limited(["eval", str(qrels), "-"], endless.stdout.fileno())
        endless.kill()
    assert (code, "[oversized]" in err) == (2, True), err


LONG = "x" * (2**20 + 1)
FIELDS: dict[str, tuple[str, str]] = {
    "ids.json": (json.dumps({"q1": {LONG: 1}}), "overlong"),
    "ids.jsonl": (json.dumps({"query": "q1", "document": LONG, "grade": 1}), "overlong"),
    "queries.json": (json.dumps({LONG: {"d1": 1}}), "overlong"),
    "line.txt": (f"q1 0 {LONG} 1\n", "overlong"),
    "cell.csv": (f"query,document,grade\nq1,{LONG},1\n", "columns"),
    "quote.csv": (f'query,document,grade\nq1,"d1,1\n{"q1,d2,1" * 2**17}', "columns"),
    "deep.json": ("[" * 2**20, "json"),
    "deep.jsonl": ('{"a": ' * 2**17 + "\n", "json"),
    "digits.json": ('{"q1": {"d1": %s}}' % ("9" * 2**20), "json"),
    "digits.csv": (f"query,document,grade\nq1,d1,{'9' * 2**16}\n", "bad-grade"),
    "infinite.json": ('{"q1": {"d1": 1e999}}', "bad-grade"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_beyond_all_bounds_is_refused(name: str, tmp_path: Path) -> None:
    content, code = FIELDS[name]
    path = tmp_path / name
    path.write_text(content)
    error = refused(lambda: il.read_qrels(str(path)))
    assert error.code == code, error.message
    assert len(error.message) < 400


def test_an_id_may_be_as_long_as_a_mebibyte(tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps({"q1": {LONG[1:]: 1, "d": 2}}))
    assert len(il.read_qrels(str(path)).documents) == 2
    path.write_text(json.dumps({"q1": {"d": 1, LONG: 1}}))
    error = refused(lambda: il.read_qrels(str(path)))
    assert "1,048,577 bytes, more than the 1 MiB allowed" in error.message


def test_a_parquet_file_of_one_row_repeated_is_refused(small: None, tmp_path: Path) -> None:
    path, rows = tmp_path / "bomb.parquet", 10**6
    column = pa.array(["q"], pa.string()).take(pa.array([0] * rows, pa.int32()))
    pa.parquet.write_table(pa.table(dict.fromkeys(("query", "document", "grade"), column)), path)
    assert path.stat().st_size < 10_000
    error = refused(lambda: il.read_qrels(str(path)))
    assert error.code == "oversized"
    assert "3,000,000 cells" in error.message


@pytest.mark.parametrize("kind", ["", *COMPRESSED])
def test_a_text_of_a_document_has_a_limit(kind: str, small: None, tmp_path: Path) -> None:
    path = tmp_path / f"docs.tsv.{kind}".rstrip(".")
    data = b"d1\ta\nd2\t" + b"x" * 2**22
    path.write_bytes(COMPRESSED[kind](data) if kind else data)
    error = refused(lambda: read_texts(str(path), {"d9"}))
    assert (error.code, error.line) == ("overlong", 2)
    assert "longer than 1,048,576 bytes" in error.message
