"""How robust a win is: what unjudged documents and other conventions could make of it."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import idealist as il
from generated import seeds
from idealist.comparing.multiverse import Multiverse, multiverse
from idealist.comparing.unjudged import UnjudgedEffect, coverage, effect_between
from idealist.conventions import CONVENTIONS
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures import as_measure
from idealist.significance.paired import differences, paired

EXAMPLES = Path(__file__).parents[1] / "examples"
QRELS, BM25, RERANKED = (str(EXAMPLES / f) for f in ("qrels.txt", "bm25.run", "reranked.run"))
Judged = dict[str, dict[str, float]]


def unjudged_effect(evaluator: Evaluator, baseline: Any, run: Any, measure: str) -> UnjudgedEffect:
    """Find what the unjudged documents of two runs could make of their difference."""
    before, after = (coverage(evaluator, measure, one) for one in (baseline, run))
    return effect_between(evaluator, before, after, measure)


def some_runs(rng: random.Random) -> tuple[Judged, dict[str, list[str]], dict[str, list[str]]]:
    """Make judgments and two runs with few unjudged documents."""
    qrels: Judged = {}
    base: dict[str, list[str]] = {}
    new: dict[str, list[str]] = {}
    for query in ("q1", "q2"):
        judged = [f"d{i}" for i in range(rng.randint(1, 4))]
        qrels[query] = {d: rng.choice([0, 1, 2]) for d in judged}
        for run in (base, new):
            ids = [*judged, "u1", "u2"]
            run[query] = rng.sample(ids, rng.randint(1, len(ids)))
    return qrels, base, new


def completions(qrels: Judged, runs: list[dict[str, list[str]]], k: int) -> list[Judged]:
    """Judge what is unjudged above a cutoff, in all ways."""
    unjudged = sorted({
        (q, d) for run in runs for q, docs in run.items() for d in docs[:k] if d not in qrels[q]
    })  # fmt: skip
    levels = sorted({0.0, 1.0, *(g for judged in qrels.values() for g in judged.values())})
    made = []
    for way in itertools.product(levels, repeat=len(unjudged)):
        whole = {q: dict(judged) for q, judged in qrels.items()}
        for (q, d), grade in zip(unjudged, way, strict=True):
            whole[q][d] = grade
        made.append(whole)
    return made


@given(seeds)
@settings(max_examples=15, deadline=None)
def test_unjudged_documents_overturn_what_some_judgments_overturn(seed: int) -> None:
    rng = random.Random(seed)
    qrels, base, new = some_runs(rng)
    measure = rng.choice(["nDCG@3", "P@2", "DCG@3"])
    found = unjudged_effect(Evaluator(qrels, measure), base, new, measure)
    values = []
    for judged in completions(qrels, [base, new], int(measure[-1])):
        a, b = (il.evaluate(judged, run, measure)[measure] for run in (base, new))
        values.append(b - a)
    if not found.together:
        assert len(values) == 1
        assert found.overturns is False
        return
    assert found.kind == "exact"
    assert math.isclose(found.low, min(values), abs_tol=1e-12)
    assert math.isclose(found.high, max(values), abs_tol=1e-12)
    if abs(found.value) < 1e-12:
        assert found.overturns is None
        assert "level" in str(found)
        return
    reverses = min(values) < -1e-12 if found.value > 0 else max(values) > 1e-12
    assert found.overturns == reverses


def test_the_examples_hold_whatever_is_judged() -> None:
    found = unjudged_effect(Evaluator(QRELS, "nDCG@10"), BM25, RERANKED, "nDCG@10")
    bounds = il.bounds_of_difference(QRELS, BM25, RERANKED, "nDCG@10")
    assert (found.low, found.high) == (bounds.low, bounds.high)
    assert found.unjudged == (2, 2)
    assert found.overturns is False
    assert not found.unequal
    assert "its sign cannot flip" in str(found)
    judged = il.evaluate(QRELS, BM25, "Judged@10")["Judged@10"]
    assert math.isclose(found.judged[0], judged)


def test_weights_weigh_the_bounds() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    base, new = {"q1": ["a"], "q2": ["u"]}, {"q1": ["a"], "q2": ["a"]}
    evaluator = Evaluator(qrels, "P@1", weights={"q1": 3, "q2": 1})
    found = unjudged_effect(evaluator, base, new, "P@1")
    assert (found.value, found.low, found.high) == (0.25, 0.0, 0.25)


def test_queries_that_weigh_nothing_do_not_count() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    base = {"q1": ["a"], "q2": ["u"], "q3": ["a", "u"]}
    new = {"q1": ["a"], "q2": ["a"], "q3": ["v", "w"]}
    found = unjudged_effect(
        Evaluator(qrels, "P@2", weights={"q1": 3, "q2": 1, "q3": 0}), base, new, "P@2"
    )
    assert found.unjudged == (1, 0)
    assert found.together == 1
    assert found.judged == (0.75, 1.0)
    assert unjudged_effect(Evaluator(qrels, "P@2"), base, new, "P@2").unjudged == (2, 2)


def test_nothing_to_reverse_is_not_called_reversible() -> None:
    qrels = {"q": {"a": 1}}
    level = unjudged_effect(Evaluator(qrels, "P@2"), {"q": ["a", "u"]}, {"q": ["a", "v"]}, "P@2")
    assert (level.value, level.overturns) == (0.0, None)
    assert "now the runs are level" in str(level)
    measure = "AP(rel=2,no_relevant=nan)"
    none = unjudged_effect(Evaluator(qrels, measure), {"q": ["u", "a"]}, {"q": ["a"]}, measure)
    assert none.overturns is None
    assert "no difference" in str(none)
    assert "nan" not in str(none)


def test_outer_bounds_that_cross_zero_decide_nothing() -> None:
    base, new = {"q": ["u1", "a"]}, {"q": ["u2", "u3", "a"]}
    found = unjudged_effect(Evaluator({"q": {"a": 1}}, "RR"), base, new, "RR")
    assert found.kind == "outer"
    assert found.overturns is None
    assert "is not known" in str(found)


def test_what_has_no_bounds_still_has_counts() -> None:
    found = unjudged_effect(
        Evaluator({"q": {"a": 1}}, "bpref"), {"q": ["u", "a"]}, {"q": ["a"]}, "bpref"
    )
    assert found.unjudged == (1, 0)
    assert found.overturns is None
    assert "not known" in str(found)
    assert found.data()["low"] is None


def test_unequal_judgments_are_seen() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    found = unjudged_effect(Evaluator(qrels, "P@2"), {"q": ["a", "b"]}, {"q": ["a", "u"]}, "P@2")
    assert found.unequal
    assert found.judged == (1.0, 0.5)


def test_runs_that_are_judged_throughout_cannot_change() -> None:
    found = unjudged_effect(Evaluator({"q": {"a": 1}}, "P@1"), {"q": ["a"]}, {"q": ["a"]}, "P@1")
    assert isinstance(found, UnjudgedEffect)
    assert found.together == 0
    assert "none of the documents in the first 1" in str(found)


def examples(measure: str, **options: Any) -> Multiverse:
    return multiverse(QRELS, BM25, RERANKED, measure, **options)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR@10", "bpref"])
def test_the_multiverse_is_every_convention_on_its_own(measure: str) -> None:
    found = examples(measure)
    seen = {name: one for one in found.classes for name in one.conventions}
    able = {name for name, one in CONVENTIONS.items() if one.has(as_measure(measure))}
    assert seen.keys() | found.refused.keys() == able
    for name, one in seen.items():
        a, b = (il.evaluate(QRELS, run, measure, convention=name) for run in (BM25, RERANKED))
        told = paired(differences(a.values[measure], b.values[measure]))
        assert math.isclose(told.mean, one.difference, abs_tol=1e-12)
        assert (told.p < 0.05) == one.significant
    for name, reason in found.refused.items():
        assert reason
        with pytest.raises(IdealistError):
            il.evaluate(QRELS, BM25, measure, convention=name)


def test_classes_differ_in_some_value() -> None:
    found = examples("nDCG@10")
    assert found.size == sum(len(one.conventions) for one in found.classes)
    assert len({round(one.difference, 12) for one in found.classes}) == len(found.classes)
    assert len(found.conventions("wins")) == found.size
    assert not found.disagreeing


def test_conventions_that_disagree_are_named() -> None:
    found = examples("bpref")
    assert found.usual == "wins"
    assert set(found.disagreeing) == {"helm", "helm-trec"}
    assert "ties in helm, helm-trec" in str(found)


def test_what_the_measure_says_holds_in_every_convention() -> None:
    loose, tight = (examples(m) for m in ("nDCG@10", "nDCG(gain=linear,ideal=judged)@10"))
    assert len(tight.classes) < len(loose.classes)


def test_a_refusal_has_its_reason() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    found = multiverse(qrels, {"q1": ["a"]}, {"q1": ["a"], "q2": ["a"]}, "nDCG@10")
    reasons = set(found.refused.values())
    assert "missing=skip counts other queries for each run" in reasons
    assert found.size + len(found.refused) > 20
    assert found.data()["refused"] == found.refused


def test_some_conventions_can_be_asked_for() -> None:
    found = examples("nDCG@10", conventions=["sklearn", "burges"])
    assert found.size == 2
    with pytest.raises(UsageError, match="no convention"):
        examples("nDCG@10", conventions=["sklern"])


def test_a_run_ties_with_itself_everywhere() -> None:
    found = multiverse(QRELS, BM25, BM25, "nDCG@10")
    assert isinstance(found, Multiverse)
    assert len(found.conventions("ties")) == found.size
    assert "ties in" in str(found)


def test_fewer_is_better_where_it_is() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    base, new = {"q": ["b", "a"]}, {"q": ["a"]}
    found = multiverse(qrels, base, new, "FallOut")
    assert found.usual == "wins"
