"""What every verb reads, names and keeps: once, no more than matters, and not for longer."""

from __future__ import annotations

import gc
import random
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist import kernel
from idealist.bounding import ndcg_extremes, unjudged_places
from idealist.comparing.fragility import fewest, reach
from idealist.data import Rows
from idealist.formats import build
from idealist.formats.run_sources import FileRun
from idealist.protocol import Protocol
from idealist.ranking import ranked as ranking
from idealist.ranking.compiled import compiled
from idealist.ranking.document_lists import ALL, decoded
from idealist.ranking.ranked import Defined, Ranked
from idealist.significance import resampling

QUERIES, DEPTH = 30, 60


def lists(seed: int, queries: int = QUERIES, ties: bool = True) -> dict[str, dict[str, float]]:
    """Make up a run; ids are of several lengths, and some scores tie."""
    rng = random.Random(seed)
    digits = 1 if ties else 9
    return {
        f"q{q}": {
            f"{'é' * (d % 3)}d{d}": round(rng.random(), digits)
            for d in rng.sample(range(2 * DEPTH), rng.randint(1, DEPTH))
        }
        for q in range(queries)
    }


def judgments(seed: int = 0, queries: int = QUERIES) -> dict[str, dict[str, int]]:
    rng = random.Random(seed)
    return {
        f"q{q}": {
            f"{'é' * (d % 3)}d{d}": rng.choice([-1, 0, 0, 1, 2, 3])
            for d in rng.sample(range(150), 12)
        }
        for q in range(queries)
    }


def written(path: Path, run: dict[str, dict[str, float]], comma: bool = False) -> Path:
    """Write a run as TREC text, or as CSV."""
    if comma:
        rows = [f"{q},{d},{s!r}" for q, own in run.items() for d, s in own.items()]
        path.write_text("\n".join(["query,document,score", *rows]) + "\n", "utf-8")
        return path
    rows = [f"{q} Q0 {d} 1 {s!r} t" for q, own in run.items() for d, s in own.items()]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


PROTOCOLS = [
    Protocol(),
    Protocol(ties="docid-asc", precision="float64"),
    Protocol(ties="random(3)"),
    Protocol(ties="input-reversed"),
    Protocol(collapse="#.*", depth="chunks(20)"),
    Protocol(order="given"),
    Protocol(negative="drop", depth=20),
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=range(len(PROTOCOLS)))
@pytest.mark.parametrize("most", [1, 7, ALL])
def test_unjudged_documents_are_named_as_the_definition_lists_them(
    protocol: Protocol, most: int, tmp_path: Path
) -> None:
    qrels, path = il.read_qrels(judgments()), written(tmp_path / "a.run", lists(1))
    given = il.read_run(path)
    wanted = Defined(given.rows()).names(qrels, protocol, most)
    for run in (given, il.read_run(lists(1)), given.loaded()):
        names = Ranked(qrels, run, {protocol: most}).names(protocol, most)
        assert names.starts.tolist() == wanted.starts.tolist()
        assert (names.ends.tolist(), names.text) == (wanted.ends.tolist(), wanted.text)
    known = qrels.lookup
    listed = ranking.listing(given, protocol, qrels.queries)
    for i, query in enumerate(qrels.queries):
        own = [d for d in listed[query].documents if d not in known[query]]
        own = own[:most]
        assert [decoded(name) for name in wanted.first(i, len(own))] == own


def test_a_comparison_reads_each_run_once_and_lists_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels = judgments()
    runs = [written(tmp_path / f"{i}.run", lists(i, ties=False)) for i in range(4)]
    wanted = il.compare(qrels, [lists(i, ties=False) for i in range(4)]).data()["pairs"]

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("documents were listed in Python")

    read: Counter[str] = Counter()
    monkeypatch.setattr(unjudged_places, "listing", refused)
    monkeypatch.setattr(
        ranking, "compiled", lambda *a: read.update([Path(a[1].name).stem]) or compiled(*a)
    )
    found = il.compare(qrels, runs)
    assert read == {str(i): 1 for i in range(4)}
    assert [one["holes"] for one in found.data()["pairs"] if "holes" in one] == [
        one["holes"] for one in wanted if "holes" in one
    ]


@pytest.mark.skipif(kernel.native() is None, reason="the twin reads rows in Python")
def test_an_audit_and_a_diagnosis_rank_once_and_read_few_rows_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = judgments(queries=300), written(tmp_path / "a.run", lists(1, 300, ties=False))
    picked, read = Counter[str](), Counter[str]()
    some = FileRun.some

    def counted(self: FileRun, queries: Any) -> Rows:
        picked.update([self.name])
        return some(self, queries)

    monkeypatch.setattr(FileRun, "some", counted)
    monkeypatch.setattr(ranking, "compiled", lambda *a: read.update([a[1].name]) or compiled(*a))
    il.audit(qrels, run)
    assert read.total() == 1
    assert picked.total() <= 3
    il.diagnose(qrels, run)
    assert read.total() == 2
    assert picked.total() <= 6


def test_rows_of_a_table_are_forgotten_before_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [written(tmp_path / f"{i}.csv", lists(i, ties=False), comma=True) for i in range(3)]
    alive: list[weakref.ref[Rows]] = []
    most, build_rows = [0], build.rows

    def tracked(*arguments: Any, **others: Any) -> Rows:
        gc.collect()
        most[0] = max(most[0], sum(one() is not None for one in alive))
        found = build_rows(*arguments, **others)
        alive.append(weakref.ref(found))
        return found

    monkeypatch.setattr(build, "rows", tracked)
    il.compare(judgments(), runs)
    assert most[0] <= 1


def test_the_size_of_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = judgments(3), [lists(1, ties=False), lists(2, ties=False)]
    qrels = {q: {d: max(g, 0) for d, g in own.items()} for q, own in qrels.items()}

    def compared() -> Any:
        return il.compare(qrels, runs, ["nDCG@10", "AP"], fragility=True).data()

    wanted = compared()
    monkeypatch.setattr(fewest, "CELLS", 1)
    monkeypatch.setattr(reach, "CELLS", 1)
    monkeypatch.setattr(ndcg_extremes, "CELLS", 1)
    monkeypatch.setattr(resampling, "PRODUCT", 1)
    assert compared() == wanted


def test_sums_under_random_signs_are_exact() -> None:
    rng = np.random.default_rng(0)
    whole, _ = resampling.integers(rng.normal(size=(3, 70)))
    moved = np.concatenate([*resampling.flipped_sums(whole, flips=500, seed=4)], axis=1)
    bits = [
        np.unpackbits(part, axis=1, count=70, bitorder="little")
        for part in resampling._sign_bits(3, 70, 500, 4)
    ]
    signs = 1 - 2 * np.concatenate(bits).astype(int)
    exact = [
        [sum(int(s) * int(w) for s, w in zip(row, own, strict=True)) for row in signs]
        for own in whole
    ]
    assert moved.tolist() == exact
