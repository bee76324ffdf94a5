"""How robust a win is: what unjudged documents and other conventions could make of it."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import idealist as il
from generated import seeds
from idealist.comparing.multiverse import Multiverse, multiverse
from idealist.comparing.unjudged import UnjudgedEffect
from idealist.comparing.unjudged import unjudged_effect as effect_or_none
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
    found = effect_or_none(evaluator, baseline, run, measure)
    assert found is not None
    return found


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


def completions(qrels: Judged, runs: list[dict[str, list[str]]]) -> list[Judged]:
    """Judge what is unjudged, above and below a cutoff, in all ways."""
    unjudged = sorted({
        (q, d) for run in runs for q, docs in run.items() for d in docs if d not in qrels[q]
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
@settings(max_examples=25, deadline=None)
def test_unjudged_documents_overturn_what_some_judgments_overturn(seed: int) -> None:
    rng = random.Random(seed)
    qrels, base, new = some_runs(rng)
    measure = rng.choice(["nDCG@1", "nDCG@3", "P@2", "DCG@3", "AP@2", "RR", "R@2"])
    found = unjudged_effect(Evaluator(qrels, measure), base, new, measure)
    apart = []
    for judged in completions(qrels, [base, new]):
        a, b = (il.evaluate(judged, run, measure).values[measure] for run in (base, new))
        apart.append(differences(a, b))
    values = [float(one.mean()) for one in apart]
    assert found.low <= min(values) + 1e-12
    assert found.high >= max(values) - 1e-12
    assert all(min(abs(end - v) for v in values) < 1e-12 for end in found.found)
    if found.kind == "exact":
        assert math.isclose(found.low, min(values), abs_tol=1e-12)
        assert math.isclose(found.high, max(values), abs_tol=1e-12)
    assert_p_is_known(found, [paired(one).p for one in apart])
    if "cannot change" in str(found):
        assert max(values) - min(values) < 1e-12
    elif abs(found.value) < 1e-12:
        assert found.overturns is None
        assert "level" in str(found)
    else:
        reverses = min(values) < -1e-12 if found.value > 0 else max(values) > 1e-12
        assert found.overturns in ({reverses} if found.kind == "exact" else {reverses, None})


def assert_p_is_known(found: UnjudgedEffect, values: list[float]) -> None:
    """What is said to be reached is, and nothing goes beyond what is said to be proven."""
    known = [p for p in values if not math.isnan(p)]  # not where nothing varies
    if not known:
        return
    for p in (found.p.low, found.p.high):
        assert min(abs(p - one) for one in known) < 1e-9
    assert found.p.least <= min(known) + 1e-9
    assert found.p.most >= max(known) - 1e-9


def test_documents_below_the_cutoff_can_reverse_what_is_judged_above_it() -> None:
    qrels: Judged = {"q1": {"a": 1, "n": 0}, "q2": {"a": 1, "b": 1, "n": 0}}
    base = {"q1": ["n", "a", "u"], "q2": ["a", "n"]}
    new = {"q1": ["a", "n", "u"], "q2": ["n", "a"]}
    found = unjudged_effect(Evaluator(qrels, "nDCG@2"), base, new, "nDCG@2")
    assert found.value > 0
    assert found.unjudged == (0, 0)
    assert found.overturns is False  # with a grade of 1 the difference falls to 0 at least
    assert "cannot change" not in str(found)
    graded = il.read_qrels(qrels).on(il.Scale.of(2))
    found = unjudged_effect(Evaluator(graded, "nDCG@2"), base, new, "nDCG@2")
    assert found.overturns is True
    qrels["q1"]["u"] = 2
    a, b = (il.evaluate(qrels, run, "nDCG@2")["nDCG@2"] for run in (base, new))
    assert b - a == pytest.approx(found.low)
    assert b < a
    fixed = unjudged_effect(Evaluator(graded, "P@2"), base, new, "P@2")
    assert "more judgments cannot change the difference" in str(fixed)


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


def test_outer_bounds_that_cross_zero_decide_nothing_unless_judgments_do() -> None:
    base, new = {"q": ["u1", "a"]}, {"q": ["u2", "u3", "a"]}
    found = unjudged_effect(Evaluator({"q": {"a": 1}}, "RR"), base, new, "RR")
    assert found.kind == "outer"
    assert found.overturns is True
    outside = replace(found, found=(found.value, found.value))
    assert outside.overturns is None
    assert "is not known" in str(outside)


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


def test_what_both_lists_have_unjudged_counts_once() -> None:
    both = ({"q": ["u", "v"]}, {"q": ["v", "w"]})
    text = str(unjudged_effect(Evaluator({"q": {"a": 1}}, "P@2"), *both, "P@2"))
    assert (
        "documents in the first 2, run 2 (0 % judged), run 2 (0 % judged), together 3 diff" in text
    )


def test_runs_that_are_judged_throughout_cannot_change() -> None:
    found = unjudged_effect(Evaluator({"q": {"a": 1}}, "P@1"), {"q": ["a"]}, {"q": ["a"]}, "P@1")
    assert isinstance(found, UnjudgedEffect)
    assert found.together == 0
    assert "none of the documents in the first 1" in str(found)


def judged_less(judged: int) -> tuple[Judged, dict[str, Any], dict[str, Any]]:
    """Make a run whose first ten hold so many judged documents, none relevant, and a better one."""
    qrels: Judged = {
        f"q{i}": {**{f"r{j}": 1 for j in range(3 + i % 3)}, **{f"n{j}": 0 for j in range(10)}}
        for i in range(20)
    }
    good = {q: [*(d for d in own if d[0] == "r"), *(f"n{j}" for j in range(10))][:10]
            for q, own in qrels.items()}  # fmt: skip
    poor = {q: [*(f"n{j}" for j in range(judged)), *(f"u{j}" for j in range(10 - judged))]
            for q in qrels}  # fmt: skip
    return qrels, good, poor


def test_a_verdict_hears_that_the_loser_is_judged_less() -> None:
    qrels, good, poor = judged_less(4)
    pair = il.compare(qrels, {"good": good, "poor": poor}, "P@10").pairs[0]
    assert pair.verdict.startswith("poor is worse than good on P@10")
    doubt = "but 60 % of poor's documents in the first 10 are unjudged, against 0 % of good's"
    assert f"{doubt}: judging them could make the difference anything up to +0." in pair.verdict
    turned = il.compare(qrels, {"poor": poor, "good": good}, "P@10")
    assert doubt in turned.pairs[0].verdict
    assert "anything down to -0." in turned.summary
    assert turned.data()["pairs"][0]["verdict"] == turned.pairs[0].verdict
    failed = il.gate(qrels, good, poor, "P@10")
    assert failed.verdict == "FAIL"
    assert "% of run's documents in the first 10 are unjudged" in failed.lines[0]
    several = il.compare(qrels, {"good": good, "poor": poor, "none": poor}, "P@10")
    assert "In doubt, for reasons that --details gives" in str(several)


@pytest.mark.parametrize("judged", [9, 10])
def test_a_verdict_has_no_doubt_that_could_not_undo_it(judged: int) -> None:
    qrels, good, poor = judged_less(judged)
    found = il.compare(qrels, {"good": good, "poor": poor}, "P@10")
    assert ", but " not in found.summary
    assert ", but " not in il.gate(qrels, good, poor, "P@10").lines[0]


def test_a_real_verdict_hears_its_doubts(data: Path) -> None:
    folder = data / "trec-covid-r1"
    runs = [str(folder / "more" / f"{name}.xz") for name in ("poznan_run1", "jlprec")]
    pair = il.compare(str(folder / "qrels.txt"), runs, "nDCG@10").pairs[0]
    assert pair.significant
    doubt = "but 61 % of jlprec's documents in the first 10 are unjudged, against 17 %"
    assert doubt in pair.verdict
    assert "anything up to +0.3766" in pair.verdict


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
