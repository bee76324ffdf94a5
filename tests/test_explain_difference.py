"""Explained differences: what documents did adds up, and both lists are those of the runs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import idealist as il
from effort import IS_SLOW, tries
from generated import seeds, some_case, some_measure, some_protocol
from idealist.explaining.contributions import FAMILIES
from idealist.explaining.difference_explainer import DEPENDS
from idealist.ranking.ranked import Ranked
from idealist.ranking.whole_lists import listed_documents, whole_lists

ROOT = Path(__file__).parents[1]
QRELS, OLD, NEW, QUERIES = (
    str(ROOT / "examples" / name) for name in ("qrels.txt", "bm25.run", "dense.run", "queries.tsv")
)
#: Families of measures that are no sum over documents.
NO_SUMS = ("F", "SetAP", "AllHit")
#: The measures that are, as they are used.
SUMS = (
    "CG@10", "DCG@10", "DCG(gain=exp2)", "nDCG@10", "nDCG(ideal=retrieved)@10", "P@10", "R",
    "Rprec", "NumRelRet", "Judged@10", "AP", "AP@10", "GMAP", "RR@10", "Success@10", "ERR@10",
    "nERR@10", "PFound(probability=exp2)@10", "RBP", "bpref", "GMbpref",
)  # fmt: skip
GRADED = {"a": 3, "b": 2, "c": 1, "z": 0}


def effects(found: il.DifferenceExplanation) -> list[float]:
    return [one.effect for one in found.changes if one.effect is not None]


def by_document(found: il.DifferenceExplanation) -> dict[str, il.Change]:
    return {one.document: one for one in found.changes}


def between(
    old: list[Any], new: list[Any], measure: str = "nDCG@10", **options: Any
) -> il.DifferenceExplanation:
    """Explain a query that is judged by GRADED."""
    return il.explain_difference(
        {"q": GRADED}, {"q": old}, {"q": new}, measure, query="q", **options
    )


# --- by hand


def test_ndcg_by_hand() -> None:
    found = between(["a", "b", "x", "c"], ["x", "b", "c", "a"])
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert found.before == pytest.approx((3 + 2 / math.log2(3) + 1 / math.log2(5)) / ideal)
    own = by_document(found)
    assert own["a"].effect == pytest.approx((3 / math.log2(5) - 3) / ideal, abs=1e-15)
    assert own["c"].effect == pytest.approx((1 / 2 - 1 / math.log2(5)) / ideal, abs=1e-15)
    assert own["b"].effect == 0
    assert (own["x"].grade, own["x"].effect, own["x"].arrow) == (None, 0, "↑2")
    assert [one.document for one in found.changes] == ["a", "c", "b", "x"]
    assert found.additive
    assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-15)


def test_average_precision_by_hand() -> None:
    found = between(["a", "x", "b"], ["x", "a", "b"], "AP")
    own = by_document(found)
    assert found.before == pytest.approx((1 + 2 / 3) / 3)
    assert found.after == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert own["a"].effect == pytest.approx(-1 / 6, abs=1e-15)
    assert own["b"].effect == pytest.approx(0, abs=1e-15)
    behind = between(["a", "b"], ["x", "b"], "AP")
    assert by_document(behind)["b"].effect == pytest.approx((1 / 2 - 1) / 3, abs=1e-15)
    assert by_document(behind)["b"].arrow == "="
    assert DEPENDS in behind.words


@pytest.mark.parametrize(
    ("before", "after", "cutoff", "words"),
    [
        (1, 6, 10, "fell from 1 to 6"),
        (6, 1, None, "rose from 6 to 1"),
        (3, 3, 10, "stayed at 3"),
        (3, 31, 10, "left the first 10: it fell from 3 to 31"),
        (31, 2, 10, "entered the first 10: it rose from 31 to 2"),
        (31, 40, 10, "fell from 31 to 40"),
        (None, 2, 10, "entered at 2 (not retrieved before)"),
        (3, None, 10, "is no longer retrieved (it was at 3)"),
    ],
)
def test_movements_in_words(
    before: int | None, after: int | None, cutoff: int | None, words: str
) -> None:
    assert il.Change("d", 2.0, before, after).words(cutoff) == f"d (grade 2) {words}"
    assert il.Change("d", None, before, after).words(cutoff) == f"d (unjudged) {words}"


# --- it adds up, whatever the lists, the grades and the rules


@pytest.mark.parametrize("name", FAMILIES)
@given(seed=seeds)
@settings(max_examples=tries(5, 200))
def test_effects_add_up_to_the_difference(name: str, seed: int) -> None:
    rng = random.Random(seed)
    measure, protocol = some_measure(rng, name), some_protocol(rng)
    axes: dict[str, Any] = {
        key: value for key, value in protocol.written().items() if key != "mapping"
    }
    axes = {"ties": "expected"} if measure.averages_ties and rng.random() < 0.3 else axes
    qrels, old = some_case(rng)
    new = {query: rng.sample(rows, len(rows)) for query, rows in old.items() if rng.random() < 0.8}
    new = {query: [(d, rng.choice([1.0, 2.0, s])) for d, s in rows] for query, rows in new.items()}
    try:
        values = [il.evaluate(qrels, run, measure, **axes) for run in (old, new)]
        explainer = il.DifferenceExplainer(qrels, old, new, measure, **axes)
    except il.IdealistError:
        return
    assert all(values)
    for found in explainer.each(qrels, rng.choice([None, 1, 3, 50])):
        assert len({one.document for one in found.changes}) == len(found.changes)
        assert str(found)
        assert name not in NO_SUMS or not found.additive
        if found.additive:
            size = max(1.0, abs(found.before), abs(found.after))
            assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-12 * size)
        else:
            assert effects(found) == []


@given(seed=seeds)
@settings(max_examples=tries(30, 300))
def test_lists_found_together_are_those_found_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    qrels, run = some_case(rng)
    protocol = replace(some_protocol(rng), duplicates="first")
    ranked = Ranked(il.read_qrels(qrels), il.read_run(run))
    try:
        placements = ranked[protocol]
    except il.IdealistError:
        return
    queries = rng.sample(placements.qrels.queries, rng.randint(1, len(qrels)))
    for query, found in zip(queries, whole_lists(ranked, protocol, queries), strict=True):
        index = placements.qrels.queries.index(query)
        listed = listed_documents(ranked.held, placements, index)
        assert found == [document for document, _ in listed]


# --- the twelve runs


def pairs_of(data: Path) -> Iterator[tuple[il.Qrels, Ranked, Ranked]]:
    """Pair all runs, each ranked once."""
    folder = data / "trec-covid-r1"
    qrels = il.read_qrels(folder / "qrels.txt")
    runs = [Ranked(qrels, il.read_run(path)) for path in sorted((folder / "runs").iterdir())]
    yield from ((qrels, *pair) for pair in combinations(runs, 2))


def test_effects_add_up_on_all_pairs_of_real_runs(data: Path) -> None:
    """Daily a measure and two queries of each pair; all of them where time does not matter."""
    turns, seen = cycle(SUMS), set[str]()
    for i, (qrels, old, new) in enumerate(pairs_of(data)):
        queries = qrels.queries if IS_SLOW else qrels.queries[i % 29 :][:2]
        for measure in SUMS if IS_SLOW else islice(turns, 1):
            seen.add(measure)
            explainer = il.DifferenceExplainer(qrels, old, new, measure)
            for found in explainer.each(queries):
                assert found.additive
                assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-12)
    assert seen == set(SUMS)
    assert {measure.partition("@")[0].partition("(")[0] for measure in SUMS} == {
        name for name in FAMILIES if name not in NO_SUMS
    }


def test_lists_are_those_of_the_files(data: Path) -> None:
    folder = data / "trec-covid-r1"
    old, new = folder / "runs" / "BERT", folder / "runs" / "T5R1"
    found = il.explain_difference(folder / "qrels.txt", old, new, "nDCG@10", query="7")
    for path, own, side in ((old, found.old_list, "before"), (new, found.new_list, "after")):
        rows = [line.split() for line in path.read_text().splitlines()]
        ranked = sorted(((float(r[4]), r[2]) for r in rows if r[0] == "7"), reverse=True)
        assert [one.document for one in own] == [document for _, document in ranked[:10]]
        places = {document: rank for rank, (_, document) in enumerate(ranked, 1)}
        assert all(getattr(one, side) == places.get(one.document) for one in found.changes)
