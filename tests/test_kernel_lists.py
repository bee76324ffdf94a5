"""Ranked lists in the compiled kernel and in its definition: joined, ranked and written alike."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from generated import seeds
from idealist import kernel
from idealist.errors import Faults, InputError
from idealist.formats import encode
from idealist.fusing.fused_run import FusedRun
from idealist.fusing.ranked_runs import _joined
from idealist.ranking.document_lists import ALL, DocumentLists
from kernels import compiled

pytestmark = compiled

IDS = [
    "a", "b", "é", "e\u0301", "日本", "🙂", "\ue000", "\uffff", "x" * 300, "a#1", "a#2", "a#b", "q1", "nul\0",
    "nul", "a b", "#c", "\x0b", "\u00a0", "\x85", "{", "1", "01",
]  # fmt: skip
#: Which UTF-8 cannot hold, but bytes can.
SURROGATES = ["\ud800", "\udcff", "a\udfff"]
SCORES = [
    0.0, -0.0, 1.0, 0.5, -2.25, 1e300, -1e308, 5e-324, 0.1 + 0.2, 1e15, 1e16, 123456789012345678.0, 1e22, 1e23, -7.0,
    9007199254740993.0, 999999999999999.0, 0.0001, 0.00001, 1.5e-7, math.inf, -math.inf, math.nan,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")


def native() -> Any:
    module = kernel.native()
    assert module is not None
    return module


def some_lists(
    rng: random.Random, queries: int, ids: list[str], scores: list[float]
) -> DocumentLists:
    drawn = [
        rng.sample(ids, rng.choice([0, 1, 2, rng.randint(0, len(ids))])) for _ in range(queries)
    ]
    return DocumentLists.of(
        ((own, np.array(rng.choices(scores, k=len(own)))) for own in drawn), ALL
    )


# Joined.


@given(seeds)
@settings(max_examples=tries(100, 1000), deadline=None)
def test_lists_are_joined_alike(seed: int) -> None:
    rng = random.Random(seed)
    queries = rng.randint(1, 5)
    runs = [
        some_lists(rng, queries, IDS + SURROGATES, SCORES).columns for _ in range(rng.randint(1, 4))
    ]
    first = rng.randint(0, queries)
    last = rng.randint(first, queries)
    assert native().merge_lists(runs, first, last) == _joined(runs, first, last)


def test_long_lists_are_joined_alike() -> None:
    """So long that hashes meet in the table."""
    rng = random.Random(0)
    ids = [f"{rng.choice('ab')}{i}" for i in range(5000)]
    runs = [some_lists(rng, 3, ids, SCORES).columns for _ in range(3)]
    assert native().merge_lists(runs, 0, 3) == _joined(runs, 0, 3)


def test_an_id_that_comes_twice_in_a_list_is_one_document() -> None:
    runs = [DocumentLists.of([(["a", "b", "a"], np.array([3.0, 2.0, 1.0]))], ALL).columns] * 2
    found = native().merge_lists(runs, 0, 1)
    assert found == _joined(runs, 0, 1)
    assert np.frombuffer(found[4], np.int64).tolist() == [0, 1, 0] * 2


# Ranked.


def fused_run(rng: random.Random, ids: list[str], scores: list[float]) -> FusedRun:
    queries = tuple(sorted(rng.sample(["q1", "q2", "é", "a", "#q", "zz"], rng.randint(1, 4))))
    return FusedRun(queries, some_lists(rng, len(queries), ids, scores), "made")


def some_protocol(rng: random.Random) -> il.Protocol:
    ties = ["docid-desc", "docid-asc", "input", "input-reversed", "random(7)"]
    return il.Protocol(
        ties=rng.choice(ties), nonfinite=rng.choice(["last", "last", "as_is", "error"]),
        precision=rng.choice(["float64", "float32"]), collapse=rng.choice(["none", "none", "#.*"]),
        exclude_self=rng.random() < 0.3, depth=rng.choice(["none", 1, 3, "chunks(2)"]),
        order=rng.choice(["score", "score", "given"]),
    )  # fmt: skip


def outcome(
    which: str, run: FusedRun, qrels: il.Qrels, protocols: list[il.Protocol], threads: int
) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IDEALIST_KERNEL", which)
        patch.setenv("IDEALIST_THREADS", str(threads))
        try:
            found = il.rank(qrels, il.Run(run, run.name), protocols, dict.fromkeys(protocols, 3))
        except InputError as error:
            return str(error)
    columns = (
        "rank",
        "first",
        "last",
        "score",
        "judgment",
        "query",
        "retrieved",
        "in_run",
        "empty",
        "ties",
        "merged",
    )
    return [
        ([getattr(found[one], column).tobytes() for column in columns], found[one].unknown,
         [np.asarray(column).tobytes() for column in found[one].names.columns])
        for one in protocols
    ]  # fmt: skip


@given(seeds)
@settings(max_examples=tries(150, 1500), deadline=None)
def test_lists_are_ranked_alike(seed: int) -> None:
    rng = random.Random(seed)
    finite = [score for score in SCORES if math.isfinite(score)]
    judged = {
        q: dict.fromkeys(rng.sample(IDS, 5), 1)
        for q in rng.sample(["q1", "q2", "é", "#q", "none"], 3)
    }
    qrels, protocols = il.read_qrels(judged), [some_protocol(rng) for _ in range(rng.randint(1, 3))]
    collapses = any(protocol.collapse != "none" for protocol in protocols)  # which takes text
    ids = IDS if collapses else IDS + SURROGATES
    run = fused_run(rng, ids, rng.choice([SCORES, finite, [0.5, 1.0, 1 + 1e-12]]))
    wanted = outcome("python", run, qrels, protocols, 1)
    assert outcome("native", run, qrels, protocols, rng.choice([1, 2, 3])) == wanted


def test_what_needs_ranks_is_ranked_from_the_rows() -> None:
    run = il.Run(fused_run(random.Random(0), ["a", "b"], [1.0]), "made")
    with pytest.raises(InputError, match="order=rank, but the run has no ranks"):
        il.rank(il.read_qrels({"q1": {"a": 1}}), run, [il.Protocol(order="rank")])


# Written.


def definition(queries: tuple[str, ...], lists: DocumentLists, tag: str) -> bytes | None:
    """Write lists as the Python writer does, None where it refuses an id."""
    rows = [
        (query, name.decode(), float(rank), score)
        for i, query in enumerate(queries)
        for rank, (name, score) in enumerate(
            zip(lists.first(i), lists.scores_of(i).tolist(), strict=True), 1
        )
    ]
    if not rows:
        return b""
    columns = dict(
        zip(("query", "document", "rank", "score"), zip(*rows, strict=True), strict=True)
    )
    try:
        return encode.trec(columns, tag, Faults("made"))
    except InputError:
        return None


@given(seeds)
@settings(max_examples=tries(150, 1500), deadline=None)
def test_lists_are_written_alike(seed: int) -> None:
    rng = random.Random(seed)
    words = [name for name in IDS if name.split() == [name] and "\0" not in name]
    names = rng.choice([words, words, IDS])
    queries = tuple(
        rng.sample(["q1", "é", "q\u00a02", *([] if names is words else ["#q", "a b", "q\0"])], 3)
    )
    lists = some_lists(rng, 3, names, SCORES)
    assert native().lines_of_lists(queries, lists.columns, "tag") == definition(
        queries, lists, "tag"
    )


def scores_of(lists: DocumentLists) -> list[str]:
    lines: bytes = native().lines_of_lists(("q",), lists.columns, "t")
    return [line.split(b" ")[4].decode() for line in lines.splitlines()]


@given(st.lists(st.floats(), min_size=1, max_size=200))
@settings(max_examples=tries(50, 1000), deadline=None)
def test_every_number_is_written_as_python_does(numbers: list[float]) -> None:
    lists = DocumentLists.of([(list(map(str, range(len(numbers)))), np.array(numbers))], ALL)
    assert scores_of(lists) == [encode._text(number) for number in numbers]


def test_numbers_of_all_sizes_are_written_as_python_does() -> None:
    rng = random.Random(0)
    numbers = [struct.unpack("d", rng.randbytes(8))[0] for _ in range(tries(20_000, 2_000_000))]
    numbers += [
        sign * digits * 10.0**power
        for power in range(-30, 30)
        for digits in (1, 1.5, 9.999)
        for sign in (1, -1)
    ]
    numbers += [
        math.nextafter(10.0**power, end) for power in range(-8, 25) for end in (0, math.inf)
    ]
    lists = DocumentLists.of([(["d"] * len(numbers), np.array(numbers))], ALL)
    assert scores_of(lists) == [encode._text(number) for number in numbers]


def test_surrogates_are_refused_in_queries_and_tags() -> None:
    lists = DocumentLists.of([(["a"], np.ones(1))], ALL)
    with pytest.raises(UnicodeEncodeError):
        native().lines_of_lists(("\ud800",), lists.columns, "t")
    with pytest.raises(TypeError):
        native().lines_of_lists(("q",), lists.columns, "\ud800")


# Arguments that do not fit.

STARTS, ENDS, TEXT, NUMBERS = (
    np.array([0, 2, 3]),
    np.array([0, 1, 2, 3]),
    b"abc",
    np.array([3.0, 2.0, 1.0]),
)
GOOD = (STARTS, ENDS, TEXT, NUMBERS)
HUGE, LOW = 1 << 62, -(1 << 62)
#: Lists of two queries in which something is wrong.
MALFORMED: dict[str, Any] = {
    "no columns": (), "three columns": GOOD[:3], "five columns": (*GOOD, NUMBERS),
    "no starts": (np.zeros(0, np.int64), *GOOD[1:]), "no ends": (STARTS, np.zeros(0, np.int64), TEXT, NUMBERS),
    "starts fall": (np.array([0, 3, 2]), *GOOD[1:]), "starts begin below 0": (np.array([-1, 2, 3]), *GOOD[1:]),
    "starts end beyond": (np.array([0, 2, 4]), *GOOD[1:]), "starts far beyond": (np.array([0, HUGE, HUGE]), *GOOD[1:]),
    "starts far below": (np.array([LOW, 0, 3]), *GOOD[1:]), "all starts below": (np.array([LOW, LOW, LOW]), *GOOD[1:]),
    "ends fall": (STARTS, np.array([0, 2, 1, 3]), TEXT, NUMBERS), "ends below 0": (STARTS, np.array([-1, 1, 2, 3]), TEXT, NUMBERS),
    "ends beyond": (STARTS, np.array([0, 1, 2, 4]), TEXT, NUMBERS), "ends far beyond": (STARTS, np.array([0, 1, HUGE, HUGE]), TEXT, NUMBERS),
    "too few ends": (STARTS, ENDS[:-1], TEXT, NUMBERS), "too many scores": (STARTS, ENDS, TEXT, np.ones(4)),
    "too few scores": (STARTS, ENDS, TEXT, np.ones(2)), "no text": (STARTS, ENDS, b"", NUMBERS),
    "text is str": (STARTS, ENDS, "abc", NUMBERS), "text is None": (STARTS, ENDS, None, NUMBERS),
    "starts are None": (None, *GOOD[1:]), "ends are a list": (STARTS, [0, 1, 2, 3], TEXT, NUMBERS),
    "starts are small": (STARTS.astype(np.int32), *GOOD[1:]), "scores are single": (*GOOD[:3], NUMBERS.astype(np.float32)),
    "starts are a table": (STARTS.reshape(1, 3), *GOOD[1:]), "scores are apart": (*GOOD[:3], np.ones(6)[::2]),
}  # fmt: skip
REFUSED = (ValueError, TypeError, RuntimeError, BufferError)


def rules(**changed: Any) -> Any:
    plain: dict[str, Any] = {
        "single": False, "order": "score", "ties": "docid-desc", "seed": "", "duplicates": "error",
        "nonfinite": "last", "budget": -1.0, "in_tokens": False, "exclude_self": False, "beside": -1, "whole": None,
        "named": ALL,
    }  # fmt: skip
    return native().Protocol(**plain | changed)


def judged() -> Any:
    return native().Judged(("q1", "q2"), np.array([0, 1, 1]), ("a",))


CALLS: dict[str, Callable[[Any], object]] = {
    "merge": lambda lists: native().merge_lists([GOOD, lists], 0, 2),
    "rank": lambda lists: native().rank_lists(("q1", "q2"), lists, [judged()], [rules()], 2),
    "lines": lambda lists: native().lines_of_lists(("q1", "q2"), lists, "t"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", MALFORMED)
def test_lists_that_do_not_fit_are_refused(fault: str, call: str) -> None:
    CALLS[call](GOOD)
    with pytest.raises(REFUSED):
        CALLS[call](MALFORMED[fault])


@given(st.lists(st.integers(-2, 5) | st.sampled_from([HUGE, LOW]), max_size=5),
       st.lists(st.integers(-2, 5) | st.sampled_from([HUGE, LOW]), max_size=6),
       st.binary(max_size=5), st.integers(0, 5))  # fmt: skip
@settings(max_examples=tries(150, 3000), deadline=None)
def test_no_numbers_make_it_read_elsewhere(
    starts: list[int], ends: list[int], text: bytes, size: int
) -> None:
    lists = (np.array(starts, np.int64), np.array(ends, np.int64), text, np.ones(size))
    for call in CALLS.values():
        try:
            call(lists)
        except REFUSED:
            continue
        used = starts[:3]  # those of two queries; merging may leave others out
        assert len(used) == 3
        assert sorted(used) == used
        assert 0 <= used[0] <= used[-1] <= size


@pytest.mark.parametrize(
    ("first", "last"), [(0, 3), (2, 1), (3, 3), (-1, 1), (0, HUGE), (HUGE, HUGE)]
)
def test_queries_that_are_not_there_are_refused(first: int, last: int) -> None:
    with pytest.raises(REFUSED):
        native().merge_lists([GOOD], first, last)
    with pytest.raises(REFUSED):
        native().merge_lists([], first, last)


def test_no_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        native().merge_lists([], 0, 0)
    for runs in (GOOD, None, [None], [list(GOOD)]):
        with pytest.raises(REFUSED):
            native().merge_lists(runs, 0, 1)


@pytest.mark.parametrize(
    "queries", [("q1",), ("q1", "q2", "q3"), (), ("q1", 2), ("q1", None), ["q1", "q2"], None]
)
def test_queries_that_do_not_fit_are_refused(queries: Any) -> None:
    with pytest.raises(REFUSED):
        native().rank_lists(queries, GOOD, [judged()], [rules()], 1)
    with pytest.raises(REFUSED):
        native().lines_of_lists(queries, GOOD, "t")


def test_rules_that_lists_cannot_follow_are_refused() -> None:
    for changed in ({"order": "rank"}, {"budget": 3.0, "in_tokens": True}):
        with pytest.raises(ValueError, match="neither ranks nor lengths"):
            native().rank_lists(("q1", "q2"), GOOD, [judged()], [rules(**changed)], 1)
    with pytest.raises(
        ValueError, match="a query comes twice"
    ):  # two threads would write one place
        native().rank_lists(("q1", "q1"), GOOD, [judged()], [rules()], 2)
    with pytest.raises(ValueError, match="give judgments for each protocol"):
        native().rank_lists(("q1", "q2"), GOOD, [], [], 1)


def test_no_threads_are_one() -> None:
    call = [("q1", "q2"), GOOD, [judged()], [rules()]]
    assert (
        native().rank_lists(*call, 0)
        == native().rank_lists(*call, 1)
        == native().rank_lists(*call, 9)
    )
