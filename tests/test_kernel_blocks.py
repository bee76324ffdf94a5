"""Files larger than the blocks they are read in: nothing depends on where a block ends."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.formats import read_qrels
from kernel_cases import Case, both, outcome, set_sizes
from kernels import compiled

pytestmark = compiled

#: As the kernel has it, and how long a line may be.
BLOCK, LONGEST = 2**21, 2**20
#: So wide that a few thousand rows fill several blocks.
WIDTH = 2000


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget which kernel the last case was for, and how it was read."""
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    monkeypatch.setenv("IDEALIST_THREADS", "1")
    yield
    set_sizes()


def row(query: str, number: int, end: bytes = b"\n") -> bytes:
    """Give a wide row, whose document has a number."""
    line = f"{query} Q0 {number} {number} {number % 1000} t{'é' * (number % 2 * 900)}".encode()
    return line.ljust(WIDTH - len(end), b"t") + end


def filled(query: str, size: int, end: bytes = b"\n") -> bytes:
    """Give rows of a query, and a comment, that are so many bytes together."""
    rows = b"".join(row(query, number, end) for number in range(size // WIDTH - 1))
    return rows + b"#" * (size - len(rows) - len(end)) + end


def test_filled_is_of_any_size() -> None:
    for size in (BLOCK - 1, BLOCK, BLOCK + 7):
        assert len(filled("q1", size)) == len(filled("q1", size, b"\r\n")) == size


def query_ends_there(at: int) -> bytes:
    return filled("q1", at) + filled("q2", BLOCK) + filled("q3", BLOCK // 2)


def line_ends_there(at: int) -> bytes:
    return filled("q1", at) + filled("q1", BLOCK) + row("q2", 1)


def line_feed_is_behind(at: int) -> bytes:
    return filled("q1", at, b"\r\n")[:-1] + b"\n" + filled("q2", BLOCK, b"\r\n") + row("q3", 1)


def file_ends_there(at: int) -> bytes:
    return filled("q1", at - WIDTH + 1) + row("q2", 1)[:-1]


def character_lies_across(at: int) -> bytes:
    return filled("q1", at - 40) + "q2 Q0 日本日本日本日本 1 1 tag\n".encode() + filled("q3", BLOCK)


def one_query_is_many_blocks(at: int) -> bytes:
    return row("q2", 1) + filled("q1", 2 * BLOCK + at) + filled("q3", BLOCK)


def apart_in_the_last_block(at: int) -> bytes:
    return filled("q1", at) + filled("q2", 2 * BLOCK) + row("q1", 10**6)


def unknown_query_lies_across(at: int) -> bytes:
    return filled("zz", at) + filled("y", BLOCK) + row("q1", 1) + filled("zz", BLOCK)


def nothing_for_a_block(at: int) -> bytes:
    return (
        row("q1", 1) + b"\n# note\n \n" * (at // 10) + row("q1", 2) + b"\n" * BLOCK + row("q2", 1)
    )


def nul_there(at: int) -> bytes:
    return filled("q1", at - 1) + b"\0" + filled("q2", BLOCK)


def carriage_return_alone_there(at: int) -> bytes:
    return filled("q1", at)[:-1] + b"\r" + filled("q2", BLOCK)


def bad_byte_there(at: int) -> bytes:
    return filled("q1", at - 1) + b"\xe6" + filled("q2", BLOCK)


def several_that_are_no_text(at: int) -> bytes:
    return (
        filled("q1", at)
        + b"\xff\n"
        + filled("q2", BLOCK)
        + b"\r\n\r."
        + filled("q3", BLOCK)
        + b"\0"
    )


def faults_in_every_block(at: int) -> bytes:
    bad = b"q1 Q0 d 1 x tag\nq1 Q0 d\n"
    return filled("q1", at) + bad + filled("q2", BLOCK) + 4 * bad + filled("q3", BLOCK) + bad


def line_is_too_long(at: int) -> bytes:
    long = b"q2 Q0 " + b"d" * (at + LONGEST) + b" 1 1 tag\n"
    return filled("q1", at) + long + filled("q3", BLOCK) + b"#" * (LONGEST + 1) + b"\nq1"


CLEAN: list[Callable[[int], bytes]] = [
    query_ends_there, line_ends_there, line_feed_is_behind, file_ends_there, character_lies_across,
    one_query_is_many_blocks, apart_in_the_last_block, unknown_query_lies_across,
    nothing_for_a_block,
]  # fmt: skip
FAULTY: dict[Callable[[int], bytes], str] = {
    nul_there: "binary", carriage_return_alone_there: "encoding", bad_byte_there: "encoding",
    several_that_are_no_text: "binary", faults_in_every_block: "bad-score",
    line_is_too_long: "overlong",
}  # fmt: skip
SCENES = [*CLEAN, *FAULTY]
JUDGED = {"q1": {"1": 1.0, "7": 2.0, "1000000": 1.0}, "q2": {"1": 1.0}, "q3": {"2": 1.0}}
RULES = (
    il.Protocol(ties="docid-asc", duplicates="first"),
    il.Protocol(order="rank", ties="input", duplicates="last"),
)


def agreed(text: bytes, folder: Path, **given: Any) -> dict[str, Any]:
    """Give what both kernels make of a text, also when the compiled one has several threads."""
    case = Case("trec", JUDGED, text, RULES, **given)
    defined, compiled = both(case, folder)
    assert compiled == defined
    threads = replace(case, threads=3)
    assert outcome(threads, case.written(folder), read_qrels(JUDGED), "native") == defined
    return defined


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("shift", range(-2, 3))
def test_where_a_block_ends_changes_nothing(
    scene: Callable[[int], bytes], shift: int, tmp_path: Path
) -> None:
    found = agreed(scene(BLOCK + shift), tmp_path, listed=("q2", "q1"))
    assert found.get("code") == FAULTY.get(scene)


@pytest.mark.parametrize("scene", SCENES)
def test_a_mark_before_the_text_changes_nothing(
    scene: Callable[[int], bytes], tmp_path: Path
) -> None:
    plain, marked = (agreed(mark + scene(BLOCK), tmp_path) for mark in (b"", b"\xef\xbb\xbf"))
    assert marked == plain


@pytest.mark.parametrize("scene", SCENES)
def test_compressed_files_are_divided_as_others_are(
    scene: Callable[[int], bytes], tmp_path: Path
) -> None:
    plain = agreed(scene(BLOCK + 1), tmp_path)
    packed = agreed(scene(BLOCK + 1), tmp_path, suffix=".gz", block=100_003)
    assert {**packed, "text": str(packed.get("text")).replace("case.gz", "case.run")} == {
        **plain, "text": str(plain.get("text")),
    }  # fmt: skip


def test_what_lies_beyond_the_longest_line_is_still_looked_at(tmp_path: Path) -> None:
    for bad in (b"\0", b"\xff", b"\r"):
        text = row("q1", 1) + b"x" * (3 * LONGEST) + bad + b"x" * LONGEST + b"\n" + row("q2", 1)
        assert agreed(text, tmp_path)["code"] in ("binary", "encoding")


@pytest.mark.parametrize("sign", "é日😀")
@pytest.mark.parametrize("before", range(4))
def test_characters_of_a_line_that_is_too_long_stay_whole(
    sign: str, before: int, tmp_path: Path
) -> None:
    long = b"x" * before + sign.encode() * (LONGEST // len(sign.encode()) + 2000)
    text = row("q1", 1) + long + b"\n" + row("q2", 1)
    for block in (1001, 1003):
        assert agreed(text, tmp_path, suffix=".gz", block=block)["code"] == "overlong"


@pytest.mark.parametrize("seed", range(6))
def test_any_file_of_several_blocks(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    ids = [f"{'w' * rng.randint(1, 300)}{i}" for i in range(300)]
    lines = [
        f"q{i * 10 // 40_000} Q0 {rng.choice(ids)} {i} {rng.random():.{rng.randint(1, 18)}f} t"
        for i in range(40_000)
    ]
    if seed % 2:
        lines.insert(rng.randint(0, len(lines)), f"q3 Q0 {ids[0]} 1 {rng.random()} t")
    text = rng.choice(["\n", "\r\n"]).join(lines).encode()
    judged = {f"q{i}": dict.fromkeys(ids[i::7], 1.0) for i in range(0, 10, 2)}
    case = Case("trec", judged, text, RULES, threads=rng.choice([1, 2, 3, 8]))
    defined, compiled = both(case, tmp_path)
    assert compiled == defined
    assert "error" not in defined
