"""Files are read little by little, told by their first bytes, and their faults line by line."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, get_args

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import idealist as il
from faulty import COMPRESSED, QRELS, RUN, text
from idealist import files
from idealist.errors import CODES, Defect, Faults, InputError, UsageError
from idealist.formats import contents, trec
from idealist.formats.compression import KINDS
from idealist.formats.reading import Reading
from idealist.formats.source import BLOCK, HEAD, Source
from idealist.formats.trec import LONGEST_LINE, Line, first_line, is_msmarco

#: Text of some heads, which does not compress well.
LONG = b"".join(b"q%d Q0 d%d 1 %d t\n" % (n % 97, n * n, n * 7919 % 10**6) for n in range(20_000))


def skipped(number: int, size: int) -> bytes:
    """Make a frame that readers of zstd skip."""
    return struct.pack("<II", 0x184D2A50 + number, size) + bytes(size)


def source_of(path: Path, content: bytes) -> Source:
    path.write_bytes(content)
    return Source.of(path)


def refused(act: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        act()
    return caught.value


PACKED: dict[str, Callable[[bytes], bytes]] = {
    **COMPRESSED,
    "gz in members": lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
    "gz padded": lambda data: gzip.compress(data[:9]) + bytes(7) + gzip.compress(data[9:]) + bytes(99_999),
    "xz padded": lambda data: lzma.compress(data[:9]) + bytes(99_996) + lzma.compress(data[9:]) + bytes(4),
    "gz with empty members": lambda data: gzip.compress(b"") * 99 + gzip.compress(data) + gzip.compress(b""),
    "zst with skipped frames": lambda data: b"".join([
        skipped(0, 4), COMPRESSED["zst"](data[:9]), skipped(15, 9999), COMPRESSED["zst"](data[9:]), skipped(1, 0),
    ]),
    "zst of unknown size": lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data),
}  # fmt: skip


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("content", [text(RUN), LONG], ids=["short", "long"])
def test_blocks_are_the_data(kind: str, content: bytes, tmp_path: Path) -> None:
    packed, size = PACKED[kind](content), 50_000
    for source in (source_of(tmp_path / "run", packed), Source("<stdin>", spooled=packed)):
        assert source.data() == content
        blocks = list(source.blocks(size))
        assert b"".join(blocks) == content
        assert (len(blocks) == 1) == (content is not LONG)
        assert all(len(block) >= size for block in blocks[:-1])


def test_blocks_of_plain_data_are_no_longer_than_they_may_be(tmp_path: Path) -> None:
    data = LONG * (BLOCK // len(LONG) + 2)
    for source in (source_of(tmp_path / "run", data), Source("<stdin>", spooled=data)):
        blocks = list(source.blocks())
        assert b"".join(blocks) == data
        assert {len(block) for block in blocks[:-1]} == {BLOCK}


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_a_file_made_to_burst_the_memory_comes_in_pieces(suffix: str, tmp_path: Path) -> None:
    source = source_of(tmp_path / "run", COMPRESSED[suffix](bytes(2**26)) * 2)
    sizes = [len(block) for block in source.blocks()]
    assert sum(sizes) == 2**27
    assert max(sizes) <= 2**26 + BLOCK
    assert source.head() == bytes(HEAD)


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_the_head_is_read_and_nothing_behind_it(suffix: str, tmp_path: Path) -> None:
    marked = b"\xef\xbb\xbf" + LONG
    for content in (marked, COMPRESSED[suffix](marked)):
        source = source_of(tmp_path / "run", content)
        assert source.head() == LONG[:HEAD]
        assert [source.head(size) for size in (0, 1, 7, 10**5)] == [
            LONG[:0], LONG[:1], LONG[:7], LONG[: 10**5],
        ]  # fmt: skip
    cut = source_of(tmp_path / f"run.{suffix}", COMPRESSED[suffix](LONG)[:-20])
    assert cut.head() == LONG[:HEAD]
    assert refused(cut.data).code == "truncated"
    assert source_of(tmp_path / "run", b"").head() == b""


def test_a_plain_file_is_given_by_its_descriptor(tmp_path: Path) -> None:
    source = source_of(tmp_path / "bm25.run", LONG)
    assert source.is_plain
    with source.descriptor() as (descriptor, size):
        assert (os.read(descriptor, 100), size) == (LONG[:100], len(LONG))
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


def test_what_is_no_plain_file_says_so(tmp_path: Path) -> None:
    empty, packed = source_of(tmp_path / "a", b""), source_of(tmp_path / "b", gzip.compress(LONG))
    spooled = Source("<stdin>", spooled=LONG)
    assert not any(source.is_plain for source in (empty, packed, spooled))
    assert packed.is_compressed
    assert not spooled.is_compressed
    misnamed = source_of(tmp_path / "c.gz", LONG)
    assert refused(lambda: misnamed.is_plain).code == "compressed"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_a_file_that_hides_its_size_is_read_to_its_end() -> None:
    source = Source.of("/proc/self/status")
    assert not source.is_plain
    assert source.data().startswith(b"Name:")


READS: list[Callable[[Source], object]] = [
    lambda source: list(source.blocks()), Source.data, Source.head, lambda source: source.is_plain,
    lambda source: source.descriptor().__enter__(),
]  # fmt: skip


@pytest.mark.parametrize("read", READS)
def test_a_file_that_is_gone_cannot_be_read(
    read: Callable[[Source], object], tmp_path: Path
) -> None:
    source = source_of(tmp_path / "run", text(RUN))
    assert source.path is not None
    source.path.unlink()
    error = refused(lambda: read(source))
    assert (error.code, error.file) == ("no-file", source.name)
    assert "cannot be read: No such file" in str(error)


class Frame:
    """Stands for the reader of Python 3.14, of the interface of `lzma`'s."""

    eof = False
    unused_data = b""

    def __init__(self) -> None:
        self._reader = zstandard.ZstdDecompressor().decompressobj()

    def decompress(self, data: bytes) -> bytes:
        found = self._reader.decompress(data)
        self.eof, self.unused_data = self._reader.eof, self._reader.unused_data
        return found


OWN = SimpleNamespace(ZstdDecompressor=Frame, compress=lambda data: zstandard.compress(data, 1))


@pytest.mark.parametrize(("own", "package"), [(OWN, None), (OWN, zstandard), (None, zstandard)])
def test_any_package_for_zstd_will_do(
    own: Any, package: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", own)
    monkeypatch.setitem(sys.modules, "zstandard", package)
    path = tmp_path / "run.zst"
    packed = files.compressed(path, LONG)
    assert packed == zstandard.compress(LONG, 1 if own else 3)
    assert source_of(path, packed + skipped(3, 5000) + packed).data() == LONG + LONG
    assert refused(source_of(path, packed[:-5]).data).code == "truncated"


def test_without_a_package_for_zstd_one_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(tmp_path / "run.zst", zstandard.compress(LONG))
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UsageError, match=r"reading \.zst files needs .*\n.*pip install zstandard"):
        source.data()
    with pytest.raises(UsageError, match=r"writing \.zst files needs"):
        files.compressed("run.zst", LONG)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.part)
@pytest.mark.parametrize("size", [*range(1, 9), 40])
def test_what_follows_a_part_is_a_part_or_refused(kind: Any, size: int, tmp_path: Path) -> None:
    whole = COMPRESSED[kind.suffix[1:]](text(RUN))
    path = tmp_path / f"run{kind.suffix}"
    cut = refused(source_of(path, whole + whole[:size]).data)
    assert cut.code == "truncated"
    assert f"the {kind.part} is incomplete" in str(cut)
    for other in (b"q" * size, b"\xff" * size, bytes(70_000) + b"q" * size):
        error = refused(source_of(path, whole + other).data)
        assert error.code == "compressed"
        assert f"the {kind.suffix} data is damaged: something else follows" in str(error)


TextFault = Literal["binary", "cr", "utf8"]
TEXT_FAULTS: dict[TextFault, tuple[bytes, int]] = {"binary": (b"\x00", 0), "cr": (b"\ra", 0), "utf8": (b"\xfe", 0xFE)}  # fmt: skip


@pytest.mark.parametrize("kind", get_args(TextFault))
@pytest.mark.parametrize("start", [b"", b"PK\x03\x04", b"\xef\xbb\xbfPK\x03\x04"])
def test_text_is_refused_in_the_same_words_by_whoever_finds_the_fault(
    kind: TextFault, start: bytes, tmp_path: Path
) -> None:
    bad, byte = TEXT_FAULTS[kind]
    source = source_of(tmp_path / "run", start + text(RUN) * 9000 + bad + b"\n" + bad)
    line = len(RUN) * 9000 + 1
    error = refused(source.read)
    assert str(refused(lambda: source.refuse_text(kind, line, byte))) == str(error)
    assert error.line == line
    assert ("spreadsheet" in str(error)) == (kind == "binary" and start != b"")


def test_a_nul_comes_before_a_cr_and_that_before_other_bytes(tmp_path: Path) -> None:
    lines = [b"\xff", b"a\rb", b"\x00"]
    found = []
    while lines:
        error = refused(source_of(tmp_path / "run", b"\n".join(lines)).read)
        found.append((error.code, error.line))
        lines.pop()
    assert found == [("binary", 3), ("encoding", 2), ("encoding", 1)]


@pytest.mark.parametrize("start", [b"\x7fELF\x00", b"\xff\xfeq\x001\x00", b"\xef\xbb\xbf \x00"])
def test_binary_data_is_refused_by_its_first_bytes(
    start: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(tmp_path / "run", start + LONG)
    whole = refused(source.read)
    monkeypatch.delattr(Source, "data")
    for read in (
        lambda: contents.cells(source, Reading("score", Faults())),
        lambda: contents.is_trec(source),
    ):
        assert str(refused(read)) == str(whole)


def test_damaged_data_is_not_called_binary(tmp_path: Path) -> None:
    stored = bytearray(gzip.compress(LONG, 0))
    stored[40] = 0
    source = source_of(tmp_path / "run.gz", bytes(stored))
    assert b"\x00" in source.head()
    error = refused(lambda: contents.cells(source, Reading("score", Faults(source.name))))
    assert error.code == "compressed"


IS_TREC: dict[str, tuple[bytes, bool]] = {
    "run": (LONG, True),
    "qrels": (text(QRELS), True),
    "run.txt.gz": (gzip.compress(LONG), True),
    "one.line": (RUN[0].encode(), True),
    "marked": (b"\xef\xbb\xbf# a run\r\n\n" + LONG, True),
    "msmarco.tsv": (b"q1\td1\t1\n", True),
    "ids": ("q1 Q0 größer 1 1 t\n".encode(), True),
    "commented": (b"#" * HEAD + b"\n" + LONG, False),
    "long.line": (b"q1 Q0 " + b"d" * HEAD + b" 1 1 t\n", False),
    "table.csv": (LONG, False),
    "lines.jsonl": (LONG, False),
    "run.parquet": (LONG, False),
    "PAR1": (b"PAR1 Q0 d1 1 1 t\n" + LONG, False),
    "object": (b' {"q1": {}}\n' + LONG, False),
    "header": (b"query\tdocument\tscore\n" + LONG, False),
    "half.header": (b"query,other,score\n" + LONG, False),
    "latin-1": ("q1 Q0 größer 1 1 t\n".encode("latin-1"), False),
    "blank": (b"\n" * HEAD + LONG, False),
    "nothing": (b"", False),
}


@pytest.mark.parametrize("name", IS_TREC)
def test_trec_text_is_known_by_its_head(name: str, tmp_path: Path) -> None:
    content, known = IS_TREC[name]
    source = source_of(tmp_path / name, content)
    assert contents.is_trec(source) is known
    if known:
        assert contents.cells(source, Reading("score", Faults())) == source.read()


def outcome(act: Callable[[], object]) -> tuple[object, str]:
    """Give what comes of it, or what is said of it."""
    try:
        return act(), ""
    except InputError as error:
        return None, str(error)


NAMES = ["run", "run.csv", "x.jsonl", "x.parquet", "x.tsv", "x.arrow", "x.ndjson"]
STARTS = [
    b"", b"\xef\xbb\xbf", b"# note\n", b"\n \n", b"{", b"[", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff",
    b"query,document,grade\n", b"query\tdoc;x\n", b"qid;other;more\n", b"\r\n", b"\x00", b"\xff\xfe",
    b"#" * (HEAD - 2), b"\n" * (HEAD - 9), b"\xc3", b'{"a": 1}\n{', b"\x0c", b"query Q0 document 1 1 t\n",
]  # fmt: skip
PARTS = [
    *STARTS,
    *(row.encode() + b"\n" for row in (RUN[0], QRELS[0])),
    b"q1\td1\t1\r\n",
    b"\r",
    b"5",
]


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    parts=st.lists(st.sampled_from(PARTS) | st.binary(max_size=6), max_size=6),
    name=st.sampled_from(NAMES),
    pack=st.sampled_from([bytes, gzip.compress]),
)
def test_what_is_called_trec_text_is_read_as_trec_text(
    parts: list[bytes], name: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    source = source_of(tmp_path / name, pack(b"".join(parts)))
    told, words = outcome(lambda: contents.is_trec(source))
    found, fault = outcome(lambda: contents.cells(source, Reading("score", Faults(source.name))))
    if words or (told and fault):
        assert fault == outcome(source.read)[1]
        assert words in ("", fault)
    elif told:
        assert isinstance(found, bytes)
        assert first_line(found) == first_line(source.head())


def numbered(rows: Iterable[str], start: int = 1) -> list[Line]:
    return [(number, row.encode()) for number, row in enumerate(rows, start)]


def test_faults_of_a_run_come_in_the_order_of_its_lines(tmp_path: Path) -> None:
    rows = [*RUN, "q1 Q0 d1 1 x t", "q1", "q1 Q0 d1 2 y t", "q1 0 d1 1", "q1 0 d1 2"]
    error = refused(il.read_run(source_of(tmp_path / "run", text(rows)).name).rows)
    assert [(fault.code, fault.line) for fault in error.faults] == [
        ("bad-score", 9), ("columns", 10), ("bad-score", 11), ("columns", 12), ("columns", 13),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "refuse", "good", "bad"),
    [
        (lambda data: trec.read_run(data, "f"), trec.RUN.refuse, RUN, ["q Q0 d 1 x t", "q Q0 d 1"]),
        (lambda data: trec.read_qrels(data, "f", None), trec.QRELS.refuse, QRELS, ["q 0 d x", "q 0 d 1 1 t"]),
    ],
)  # fmt: skip
def test_the_first_faulty_lines_and_their_number_are_enough(
    read: Callable[[bytes], object], refuse: Callable[..., object], good: list[str], bad: list[str]
) -> None:
    rows = [*good, *bad * 20]
    whole = refused(lambda: read(text(rows)))
    first = first_line(text(rows))
    some = numbered((bad * 5)[:10], len(good) + 1)
    error = refused(lambda: refuse(some, Faults("f"), 40, first=first))
    assert (str(error), error.total) == (str(whole), whole.total) == (str(error), 40)


def test_faulty_lines_of_three_columns_are_enough() -> None:
    rows = ["q1 d1 1", "q1 d2 x", "q1 d3"] + ["q1 d4 1 2"] * 20
    whole = refused(lambda: trec.read_run(text(rows), "f"))
    error = refused(lambda: trec.MSMARCO.refuse(numbered(rows[1:11], 2), Faults("f"), 22))
    assert (str(error), error.total) == (str(whole), 22)
    assert is_msmarco(first_line(text(rows)))
    assert not is_msmarco(first_line(text(["# q1 d1 1", *rows[2:]])))


def test_only_a_first_line_of_the_other_kind_is_all_that_is_said() -> None:
    swapped = refused(lambda: trec.read_run(text(["# 1", *QRELS]), "f"))
    assert (swapped.total, swapped.line) == (1, 2)
    assert "this looks like qrels" in str(swapped)
    swapped = refused(lambda: trec.read_qrels(text(["", "", *RUN]), "f", None))
    assert (swapped.total, swapped.line) == (1, 3)
    assert refused(lambda: trec.read_run(text(RUN[:1] + QRELS), "f")).total == len(QRELS)
    assert refused(lambda: trec.read_qrels(text(QRELS[:1] + RUN), "f", None)).total == len(RUN)


def test_lines_without_a_fault_are_not_refused_in_silence() -> None:
    with pytest.raises(Defect):
        trec.RUN.refuse(numbered(RUN), Faults("f"), first=numbered(RUN)[0])


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_may_be_as_long_as_a_mebibyte(end: str) -> None:
    space = LONGEST_LINE - len("q1 Q0  1 1 t")
    rows = ["#" * LONGEST_LINE, f"q1 Q0 {'d' * space} 1 1 t"]
    assert len(trec.read_run(text(rows, last=end), "f")) == 1
    rows[1] = f"q1 Q0 {'é' * (space // 2 + 1)} 1 1 t"
    error = refused(lambda: trec.read_run(text(rows, last=end), "f"))
    assert (error.code, error.line, error.total) == ("overlong", 2, 1)
    assert f"longer than 1 MiB: 'q1 Q0 {'é' * 31}...'" in str(error)
    assert "1 MiB" in CODES["overlong"]
    assert LONGEST_LINE == 2**20


def test_a_rank_of_any_length_is_a_number() -> None:
    rows = ["q1 d1 1", f"q1 d2 {'9' * 5000}"]
    assert len(trec.read_run(text(rows), "f")) == 2
    error = refused(lambda: trec.read_run(text(rows[1:]), "f"))
    assert (error.code, error.line) == ("bad-rank", None)


def test_standard_input_may_be_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(lzma.compress(LONG)))
    monkeypatch.setattr(sys, "stdin", stdin)
    source = Source.of("-")
    assert contents.is_trec(source)
    assert (source.data(), source.is_plain) == (LONG, False)
