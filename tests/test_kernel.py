"""The compiled kernel and its definition are the same, whatever the run and the protocol."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from faulty import CASES as TEXT_CASES
from faulty import COMPRESSED, LOOK_ALIKES, NONFINITE, RUN, WORDS
from faulty import Case as Faulty
from faulty_tables import TABLE_CASES
from kernel_cases import AXES, KINDS, Case, both, outcome, set_sizes, some_case
from kernel_rows import DOCUMENTS, QUERIES
from kernels import compiled

pytestmark = compiled

JUDGED = {"q1": {"a": 2.0, "b": 0.0, "x#1": 1.4}, "q2": {"a": -1.0, "c": 1.0}, "é": {"日本": 1.0}}
#: Ties in each precision, chunks, a document that is its query, rows apart and unknown queries.
ROWS = [
    ("q1", "b", 2, 0.5, 3), ("q1", "a", 1, 0.5, 2), ("q2", "q2", 1, 3.0, 1), ("zz", "a", 1, 1.0, 1),
    ("q1", "x#1", 3, 0.50000000001, 1), ("q1", "x#2", 4, 9.0, 4), ("q2", "a", 2, 1e39, 0),
    ("é", "日本", 1, -0.0, 2), ("é", "é", 2, 0.0, 2), ("q2", "c", 3, 2e39, 2),
]  # fmt: skip


#: Each axis with each of its values, once.
VALUES = [(key, value) for key in AXES for value in {str(v): v for v in AXES[key]}.values()]


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget which kernel the last case was for, and how it was read."""
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    monkeypatch.setenv("IDEALIST_THREADS", "1")
    yield
    set_sizes()


def agreed(case: Case, folder: Path) -> dict[str, Any]:
    """Give what both kernels make of a case."""
    defined, compiled = both(case, folder)
    assert compiled == defined
    return defined


def trec(rows: list[Any] = ROWS) -> bytes:
    return "".join(f"{q} Q0 {d} {r} {s!r} tag\n" for q, d, r, s, _ in rows).encode()


def columns() -> dict[str, list[Any]]:
    names = ("query", "document", "rank", "score", "tokens")
    return dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))


def dicts() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, document, _, score, _ in ROWS:
        found.setdefault(query, {})[document] = score
    return found


SHAPES: dict[str, Any] = {
    "trec": trec(),
    "msmarco": "".join(f"{q} {d} {r}\n" for q, d, r, _, _ in ROWS).encode(),
    "columns": columns(),
    "dicts": dicts(),
    "lists": {query: list(documents) for query, documents in dicts().items()},
    "pairs": {query: list(documents.items()) for query, documents in dicts().items()},
}


@given(st.randoms(use_true_random=False))
@settings(
    max_examples=tries(100, 300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_kernels_agree(tmp_path: Path, rng: random.Random) -> None:
    agreed(some_case(rng), tmp_path)


def test_the_kernels_agree_on_all_that_cases_can_be(tmp_path: Path) -> None:
    seen: Counter[Any] = Counter()
    for seed in range(tries(700, 1500)):
        case = some_case(random.Random(seed))
        if "error" not in agreed(case, tmp_path):
            seen[case.kind] += 1
            seen.update((key, str(p.written()[key])) for p in case.protocols for key in AXES)
            seen.update(("threads", case.threads) for _ in case.protocols)
    wanted = [(key, str(il.Protocol(**{key: value}).written()[key])) for key, value in VALUES]
    assert not [one for one in [*KINDS, *wanted, ("threads", 8)] if not seen[one]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("axis", "value"), VALUES)
def test_every_value_of_every_axis(shape: str, axis: str, value: Any, tmp_path: Path) -> None:
    given_ = il.Protocol(**{axis: value})
    lenient = {"duplicates": "last", "nonfinite": "last", "ties": "docid-asc", axis: value}
    protocols = (given_, il.Protocol(**lenient), il.Protocol(**{"precision": "float32", **lenient}))
    for asked in (protocols[:1], protocols[1:], protocols):
        agreed(Case(shape, JUDGED, SHAPES[shape], asked, threads=2), tmp_path)


@pytest.mark.parametrize("shape", SHAPES)
def test_protocols_asked_together_are_those_asked_alone(shape: str, tmp_path: Path) -> None:
    protocols = tuple(
        il.Protocol(**{"nonfinite": "last", "duplicates": "first", key: value})
        for key, value in VALUES
        if key not in ("duplicates", "nonfinite", "missing", "unknown")
        and value not in ("error", "rank")
        and "tokens" not in str(value)
    )
    together = agreed(Case(shape, JUDGED, SHAPES[shape], protocols), tmp_path)
    for i, protocol in enumerate(dict.fromkeys(protocols)):
        alone = agreed(Case(shape, JUDGED, SHAPES[shape], (protocol,)), tmp_path)
        assert alone == {
            key.replace(f"{i}.", "0.", 1): value
            for key, value in together.items()
            if key.startswith(f"{i}.")
        }


@pytest.mark.parametrize("seed", range(40))
def test_threads_change_nothing(seed: int, tmp_path: Path) -> None:
    case = some_case(random.Random(seed))
    data, qrels = case.written(tmp_path), il.read_qrels(case.qrels)
    first, *others = (
        outcome(replace(case, threads=threads), data, qrels, "native") for threads in (1, 2, 3, 8)
    )
    assert others == [first] * 3


def faulty_runs() -> list[Any]:
    cases = [case for case in (*TEXT_CASES, *TABLE_CASES) if case.side == "run"]
    return [pytest.param(case, id=f"{i}-{case.fault}") for i, case in enumerate(cases)]


@pytest.mark.parametrize("faulty", faulty_runs())
def test_faulty_files_are_refused_in_the_same_words(faulty: Faulty, tmp_path: Path) -> None:
    faulty.arguments(tmp_path)
    judged = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"d2": 1.0}}
    axes: list[list[Any]] = [option.split("=", 1) for option in faulty.options if "=" in option]
    protocol = il.Protocol(**{key: value for key, value in axes if key in AXES})
    case = Case(faulty.fault, judged, faulty.path(tmp_path), (protocol,), listed=("q1", "q3"))
    agreed(case, tmp_path)


@pytest.mark.parametrize("score", [*NONFINITE, *LOOK_ALIKES, *WORDS, "", "1e", ".", "+", "1e5_0"])
@pytest.mark.parametrize("rank", ["1", "x", "nan", "1.5", "-1", "1e400", "00", "+1"])
def test_scores_and_ranks_of_every_form(score: str, rank: str, tmp_path: Path) -> None:
    lines = [*RUN, f"q1 Q0 d7 {rank} {score} t", f"q2 Q0 d7 {rank} 1 t"]
    for order in ("score", "rank"):
        for nonfinite in AXES["nonfinite"]:
            protocol = il.Protocol(order=order, nonfinite=nonfinite)
            agreed(Case("trec", JUDGED, "\n".join(lines).encode(), (protocol,)), tmp_path)


@pytest.mark.parametrize("blank", [" ", "\t", "\x0b", "\x0c", "\r", " \t", "\x1c", "\x85", "\xa0"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "# note\n", "\n\x0b\n", " ", "#\r\n\t\n"])
def test_blanks_and_ends_of_every_kind(blank: str, end: str, start: str, tmp_path: Path) -> None:
    lines = [blank.join(row.split()) for row in RUN]
    for last in (end, ""):
        case = Case(
            "trec", {"q1": {"d1": 1.0}}, (start + end.join(lines) + last).encode(), (il.Protocol(),)
        )
        agreed(case, tmp_path)


@pytest.mark.parametrize("block", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("suffix", [f".{suffix}" for suffix in COMPRESSED])
def test_compressed_files_come_in_blocks_of_any_size(
    block: int, suffix: str, tmp_path: Path
) -> None:
    text = ("\ufeff" + "\r\n".join(RUN) + "\r\n# é\r\nq1 Q0 日本 4 1 é").encode()
    for data in (text, text[:-1], text.replace(b"\r\n", b"\r", 3), text.replace(b"0.8", b"x")):
        case = Case("trec", JUDGED, data, (il.Protocol(),), suffix=suffix, block=block, threads=3)
        agreed(replace(case, listed=("q1", "q2")), tmp_path)


def test_faults_of_rows_are_explained_with_their_lines(tmp_path: Path) -> None:
    lines = [f"q{i % 3} Q0 d{i % 7} {i} {i % 5} t" for i in range(60)]
    text = "\n".join(["# note", "", *lines]).encode()
    rules: list[dict[str, Any]] = [
        {"duplicates": "error"}, {"duplicates": "first", "ties": "error"}, {"order": "rank"},
        {"duplicates": "last", "ties": "error", "depth": "chunks(9)"},
    ]  # fmt: skip
    judged = {f"q{i}": {"d1": 1.0} for i in (2, 0, 1)}
    found = [agreed(Case("trec", judged, text, (il.Protocol(**axes),)), tmp_path) for axes in rules]
    assert [one.get("code") for one in found] == ["duplicate", "tie", "duplicate", "tie"]
    assert (
        "case.run:24: query 'q0': document 'd0' was retrieved twice, first on line 3"
        in (found[0]["text"])
    )
    assert found[0]["total"] == 60 - 21


@pytest.mark.parametrize("depth", [None, 1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_listings_are_the_same(depth: int | None, shape: str, tmp_path: Path) -> None:
    for ties in ("docid-desc", "input-reversed", "random(3)", "error"):
        protocol = il.Protocol(ties=ties, nonfinite="last", collapse="#.*", depth=2)
        case = Case(shape, JUDGED, SHAPES[shape], (protocol,), listed=("zz", "q1", "none", "é"))
        found = agreed(replace(case, depth=depth), tmp_path)
        assert "listing" in found


def test_ids_that_hashes_may_confuse(tmp_path: Path) -> None:
    ids = [stem + end for stem in ("", "a", "é" * 9, "x" * 64) for end in DOCUMENTS]
    ids += [stem * size for stem in ("a", "b", "\x7f") for size in range(1, 70)]
    ids = [one for one in dict.fromkeys(ids) if one.strip() == one]
    judged = {query: dict.fromkeys(ids[i::2], 1.0) for i, query in enumerate(QUERIES[:2])}
    run = {query: {one: float(len(one)) for one in ids} for query in QUERIES}
    text = "".join(f"{q} Q0 {d} 1 {s} t\n" for q in run for d, s in run[q].items())
    for data in (run, text.encode()):
        found = agreed(Case("dict", judged, data, (il.Protocol(ties="random(1)"),)), tmp_path)
        assert "error" not in found


def test_judgments_may_be_of_any_size(tmp_path: Path) -> None:
    judged = {f"q{i}": {f"d{j}": float(j % 3) for j in range(i)} for i in range(1, 40)}
    run = {query: {f"d{j}": float(j % 11) for j in range(80)} for query in reversed(judged)}
    for grades in AXES["grades"]:
        agreed(Case("dict", judged, run, (il.Protocol(grades=grades),), threads=3), tmp_path)
