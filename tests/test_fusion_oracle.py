"""Fusion against the plain reference: every method with every normalisation."""

from __future__ import annotations

import math
import random
from functools import cache
from typing import NamedTuple

import pytest

import idealist as il
import oracle_fusion as oracle
from effort import tries
from fusion_cases import VALUES, Lists, some_judgments, some_method, some_parameters, some_runs
from idealist.fusing.fusing import Fusing
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import FUSIONS, make_fusion
from idealist.fusing.normalisations import NORMS
from idealist.fusing.ranked_runs import RankedRuns
from idealist.ranking.document_lists import DocumentLists, decoded

#: How many queries there are of each number of runs, and how many of them are learnt from.
QUERIES, LEARNT = tries(70, 1000), 6
RUNS = (2, 3, 5)


class Batch(NamedTuple):
    """Runs, ranked once for all methods, and judgments of some queries."""

    runs: list[Lists]
    ranked: RankedRuns
    qrels: dict[str, dict[str, float]]

    def lists(self, query: str) -> list[dict[str, float]]:
        return [run.get(query, {}) for run in self.runs]

    def fusing(self, method: Fusion) -> Fusing:
        made = Fusing(self.ranked, method)
        return made.taught(il.read_qrels(self.qrels), il.Protocol()) if method.learns else made

    def taught(self, method: Fusion) -> list[oracle.Learnt]:
        if not method.learns:
            return []
        judged = {q: self.qrels[q] for q in self.ranked.queries if q in self.qrels}
        return [oracle.learnt(method.name, method.written(), run, judged) for run in self.runs]


@cache
def batch(count: int) -> Batch:
    rng = random.Random(count)
    runs = some_runs(rng, count, QUERIES)
    ranked = RankedRuns.of([il.read_run(run) for run in runs], missing="empty")
    return Batch(runs, ranked, some_judgments(rng, LEARNT))


@cache
def normalised(count: int, norm: str, query: str) -> list[oracle.Entries]:
    return oracle.normalised(norm, batch(count).lists(query))


@cache
def candidates(count: int, query: str) -> list[str]:
    return oracle.candidates(batch(count).lists(query))


def wanted(count: int, method: Fusion, query: str, taught: list[oracle.Learnt]) -> dict[str, float]:
    lists, every = normalised(count, method.norm, query), candidates(count, query)
    return oracle.fused(method.name, method.written(), lists, every, taught)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)


def check(found: DocumentLists, query: int, scores: dict[str, float]) -> None:
    """Compare scores with the reference, and the order with the scores."""
    names = [decoded(name) for name in found.first(query)]
    own = dict(zip(names, found.scores_of(query).tolist(), strict=True))
    assert names == oracle.best_first(own)
    assert own.keys() == scores.keys()
    assert not [d for d in own if not close(own[d], scores[d])], (own, scores)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", FUSIONS)
def test_every_method_with_every_normalisation_equals_the_reference(name: str, norm: str) -> None:
    if not FUSIONS[name].accepts("norm", norm):
        assert FUSIONS[name].learns  # of ranks, which these normalisations change
        return
    for count in RUNS:
        rng = random.Random(f"{name} {norm} {count}")
        method = make_fusion(name, some_parameters(rng, name, count) | {"norm": norm})
        found, taught = batch(count).fusing(method).lists(0, QUERIES), batch(count).taught(method)
        for i, query in enumerate(batch(count).ranked.queries):
            check(found, i, wanted(count, method, query, taught))


@pytest.mark.parametrize("name", FUSIONS)
def test_every_parameter_is_varied(name: str) -> None:
    assert FUSIONS[name].parameters().keys() <= {"norm", "weights", *VALUES}


@pytest.mark.parametrize("seed", range(tries(60, 600)))
def test_fuse_equals_the_reference(seed: int) -> None:
    """All the way: other queries to learn from, a window, and what is kept."""
    rng = random.Random(seed)
    runs, qrels = some_runs(rng, rng.choice(RUNS), 8), some_judgments(rng, 4)
    method, window, keep = (
        some_method(rng, len(runs)),
        rng.choice([None, 1, 3]),
        rng.choice([None, 2]),
    )
    judged = qrels if method.learns else None
    if method.norm == "min-max-inverted":  # of which the lowest scores are the best
        window = None
    fused = il.fuse(runs, method, qrels=judged, window=window, keep=keep, missing="empty")
    cut = [{q: dict(first(scores, window)) for q, scores in run.items()} for run in runs]
    taught = [
        oracle.learnt(method.name, method.written(), run, {q: qrels[q] for q in runs[0] if q in qrels})
        for run in cut if method.learns
    ]  # fmt: skip
    rows, spans = fused.rows(), fused.rows().spans()
    assert rows.scores is not None
    assert rows.queries == tuple(sorted(runs[0]))
    for query in runs[0]:
        lists = [run.get(query, {}) for run in cut]
        entries = oracle.normalised(method.norm, lists)
        scores = oracle.fused(
            method.name, method.written(), entries, oracle.candidates(lists), taught
        )
        own = dict(zip(rows.documents[spans[query]], rows.scores[spans[query]], strict=True))
        assert len(own) == min(len(scores), keep or len(scores))
        assert all(close(own[d], scores[d]) for d in own)
        assert not own or min(own.values()) >= sorted(scores.values())[-len(own)] - 1e-9


@pytest.mark.parametrize("name", ["BayesFuse", "SegFuse", "SlideFuse", "PosFuse", "MAPFuse"])
def test_what_is_learnt_of_deep_lists_equals_the_reference(name: str) -> None:
    """Deeper than the last segment, and than the lists that were learnt from."""
    rng = random.Random(name)
    sizes = {"t1": 1100, "t2": 40, "q": 1150}
    runs: list[Lists] = [
        {q: {f"d{i}": rng.random() for i in rng.sample(range(2000), n)} for q, n in sizes.items()}
        for _ in range(2)
    ]
    qrels = {q: {f"d{i}": float(rng.randint(0, 1)) for i in range(2000)} for q in ("t1", "t2")}
    method = make_fusion(name, {})
    rows = il.fuse(runs, method, qrels=qrels).rows()
    assert rows.scores is not None
    taught = [oracle.learnt(name, method.written(), run, qrels) for run in runs]
    lists = [run["q"] for run in runs]
    entries, every = oracle.normalised(method.norm, lists), oracle.candidates(lists)
    scores = oracle.fused(name, method.written(), entries, every, taught)
    span = rows.spans()["q"]
    own = dict(zip(rows.documents[span], rows.scores[span].tolist(), strict=True))
    assert own.keys() == scores.keys()
    assert all(close(own[d], scores[d]) for d in own)


def first(scores: dict[str, float], window: int | None) -> list[tuple[str, float]]:
    return [(document, scores[document]) for document in oracle.best_first(scores)[:window]]
