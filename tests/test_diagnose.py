"""Diagnoses: parts add up, perfect stages are perfect, and rules fire on what they are about."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import idealist as il
from effort import tries
from generated import PLAIN, seeds, some_case, some_measure, some_protocol
from idealist.cli.main import main
from idealist.diagnosing import DIAGNOSED
from idealist.diagnosing.context import Context
from idealist.diagnosing.diagnosis import by_slice
from idealist.diagnosing.evidence import Evidence, of_mean, of_value
from idealist.diagnosing.fixes import FIXES
from idealist.diagnosing.losses import after, in_one_order, reranked
from idealist.diagnosing.measured_run import MeasuredRun
from idealist.diagnosing.rules import RULES
from idealist.diagnosing.ruling import NEEDS
from idealist.explaining.explainer import Explainer
from idealist.explaining.ladder import CAUSES
from idealist.measures import MEASURES
from idealist.protocol import Protocol
from waiting import PATIENCE

ROOT = Path(__file__).parents[1]
QRELS, BM25, RERANKED, QUERIES = (
    str(ROOT / "examples" / name)
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv")
)
#: Those with a mean; a document that RBP did not find may have a gain above 1.
AVERAGED = [
    name
    for name in PLAIN
    if MEASURES[name].direction and MEASURES[name].aggregate == "mean" and name != "RBP"
]
LEAST = 1e-12


def axes_of(protocol: Protocol) -> dict[str, Any]:
    return {key: value for key, value in protocol.written().items() if key != "mapping"}


def diagnosed(*given: Any, **axes: Any) -> il.Diagnosis | None:
    """Diagnose where the runs can be measured at all."""
    qrels, run, measure = given
    try:
        for one in (run, axes.get("first_stage", run)):
            others = {key: value for key, value in axes.items() if key != "first_stage"}
            il.evaluate(qrels, one, measure, **others)
    except il.IdealistError:
        return None
    return il.diagnose(*given, **axes)


def check_parts(found: il.Diagnosis, direction: int) -> None:
    """Check that losses, headroom and stages lie between the value and the ideal, and add up."""
    ((label, lost),) = found.losses.items()
    if not lost.queries:
        assert math.isnan(lost.value)
        return
    assert math.isclose(lost.value + direction * lost.loss, lost.ideal, abs_tol=LEAST)
    assert math.isclose(lost.loss, math.fsum(lost.by_cause.values()), abs_tol=LEAST)
    won = found.fixes[label]
    assert math.isclose(lost.loss, math.fsum(won.means.values()), abs_tol=LEAST)
    assert won.ranked == sorted(won.ranked, key=lambda fix: -won.means[fix])
    assert found.advice == next(iter(won.ranked), "")
    assert max(won.means.values()) <= (won.means[found.advice] if found.advice else LEAST)
    for cause in CAUSES:
        worse = math.fsum(x for x in lost.ladder.losses[cause][lost.counted] if x < 0)
        whole = math.fsum(lost.behind(cause).values()) + worse
        assert math.isclose(whole / lost.queries, lost.by_cause[cause], abs_tol=LEAST)
    steps = [lost.value, *found.headroom[label].means.values(), lost.ideal]
    if MEASURES[lost.measure.split("(")[0].split("@")[0]].monotone:
        climbed = np.diff(direction * np.array(steps))
        assert (climbed[:-1] >= -LEAST).all(), steps
    for two in found.stages.values():
        parts = two.means
        if math.isnan(two.first):
            continue
        whole = parts["gained"] - parts["lost"] + parts["left"] + parts["beyond"]
        assert math.isclose(two.first + direction * whole, lost.ideal, abs_tol=LEAST)
        assert min(parts["gained"], parts["lost"], parts["left"]) >= -LEAST
        change = direction * (lost.value - two.first)
        assert math.isclose(parts["gained"] - parts["lost"], change, abs_tol=LEAST)


@pytest.mark.parametrize("name", AVERAGED)
def test_parts_add_up_for_every_measure(name: str) -> None:
    diagnoses = 0
    for seed in range(tries(3, 5)):
        rng = random.Random(seed)
        measure, axes = some_measure(rng, name), axes_of(some_protocol(rng))
        qrels, run = some_case(rng)
        _, first = some_case(rng)
        found = diagnosed(qrels, run, measure, first_stage=first, **axes)
        if found is not None:
            diagnoses += 1
            check_parts(found, MEASURES[name].direction)
    assert diagnoses


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_parts_add_up_for_usual_measures(seed: int) -> None:
    rng = random.Random(seed)
    qrels, run = some_case(rng)
    _, first = some_case(rng)
    ties = rng.choice(["docid-desc", "input", "expected", "worst"])
    measure = rng.choice(["nDCG@3", "nDCG", "AP", "AP@5", "RR", "R@5", "RR@2"])
    axes = {"ties": ties, "rel": rng.choice([1, 2]), "duplicates": "first"}
    found = diagnosed(qrels, run, measure, first_stage=first, **axes)
    assert found is not None
    check_parts(found, 1)
    lost, room = found.losses[measure], found.headroom[measure]
    assert room.means["first stage"] <= lost.ideal + LEAST
    for two in found.stages.values():
        assert (
            min(np.nanmin(part[lost.counted], initial=0) for part in two.parts.values()) >= -LEAST
        )


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_a_perfect_reranker_finds_the_best_order(seed: int) -> None:
    """Every order of the first documents is tried; the others stay."""
    rng = random.Random(seed)
    size, top = rng.randint(1, 6), rng.choice([1, 2, 3])
    documents = [f"d{i}" for i in range(size)]
    judged = {d: rng.choice([0, 1, 2]) for d in documents if rng.random() < 0.7}
    qrels = {"q": {**judged, "m": rng.choice([1, 2])}}
    measure = rng.choice(["nDCG@3", "AP", "RR", "P@2", "ERR@4", "nDCG(gain=exp2)"])
    orders = ([*head, *documents[top:]] for head in permutations(documents[:top]))
    best = max(il.evaluate(qrels, {"q": order}, measure)[measure] for order in orders)
    run = MeasuredRun(il.Evaluator(qrels, measure), {}, {"q": documents})
    assert math.isclose(float(after(run, measure, top)[0]), best, abs_tol=LEAST)


def tied_case(rng: random.Random, size: int) -> tuple[dict[str, float], dict[str, float]]:
    """Make grades and scores of documents of which many are tied, some unjudged."""
    documents = [f"d{i}" for i in rng.sample(range(20), size)]
    grades = {d: float(rng.choice([0, 1, 2])) for d in documents if rng.random() < 0.7}
    return {**grades, "m": 1.0}, {d: float(rng.choice([0, 1, 1, 2])) for d in documents}


@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_a_perfect_reranker_orders_the_documents_that_are_there(seed: int) -> None:
    """Whatever decides ties decides what the first k are, and no order of them is better."""
    rng = random.Random(seed)
    size, top = rng.randint(2, 7), rng.choice([1, 2, 3, 4])
    grades, scores = tied_case(rng, size)
    ties = rng.choice(["docid-desc", "docid-asc", "input", "input-reversed", "random(3)"])
    protocol = Protocol(ties=ties)
    ranking = il.listing(il.read_run({"q": scores}), protocol, ["q"])["q"].documents
    evaluator = il.Evaluator({"q": grades}, "nDCG@10", ties=ties)
    run = MeasuredRun(evaluator, {"ties": ties}, {"q": scores})
    lists = in_one_order(run.placements("nDCG@10"))
    moved = reranked(run.instrument("nDCG@10").measure, lists, top)
    judged = evaluator.qrels.documents
    now, then = (
        {judged[i]: rank for i, rank in zip(one.judgment, one.rank.tolist(), strict=True)}
        for one in (lists, moved)
    )
    assert {d for d, rank in then.items() if rank <= top} == {*ranking[:top]} & {*grades}
    assert {d: rank for d, rank in then.items() if rank > top} == {
        d: rank for d, rank in now.items() if rank > top
    }
    for measure in (f"R@{top}", f"P@{top}", f"Success@{top}"):
        assert after(run, measure, top)[0] == run.values(measure)[0]
    cut = [f"nDCG@{cutoff}" for cutoff in range(1, top + 1)]
    every = il.Evaluator({"q": grades}, cut)
    orders = [every({"q": [*head, *ranking[top:]]}) for head in permutations(ranking[:top])]
    for measure in cut:
        best = max(order[measure] for order in orders)
        assert math.isclose(float(after(run, measure, top)[0]), best, abs_tol=LEAST)


@given(seed=seeds, ties=st.sampled_from(["expected", "worst", "best"]))
@settings(max_examples=60, deadline=None)
def test_a_perfect_reranker_of_the_top_finds_nothing(seed: int, ties: str) -> None:
    """Also where ties have a mean over all orders: what is among the first k stays as it is."""
    rng = random.Random(seed)
    top = rng.choice([1, 2, 3, 4])
    cases = {f"q{i}": tied_case(rng, rng.randint(2, 9)) for i in range(5)}
    qrels, scores = ({query: case[i] for query, case in cases.items()} for i in (0, 1))
    run = MeasuredRun(il.Evaluator(qrels, "R@4", ties=ties), {"ties": ties}, scores)
    for measure in (f"R@{top}", f"P@{top}"):
        np.testing.assert_array_equal(after(run, measure, top), run.values(measure))
    gained = [after(run, "nDCG@10", one) for one in (top, top + 2, None)]
    for less, more in pairwise([run.values("nDCG@10"), *gained]):
        assert (more >= less - LEAST).all()


def test_a_tie_across_the_cutoff_brings_nothing_in_from_below() -> None:
    """The good document is tied with another one, and stands behind it."""
    qrels = {"q": {"a": 1, "b": 0}}
    scores = {"q": {"b": 1.0, "a": 1.0}}
    run = MeasuredRun(il.Evaluator(qrels, "R@1"), {}, scores)
    assert after(run, "R@1", 1).tolist() == [0.0]
    assert after(run, "RR", 1).tolist() == [0.5]
    assert after(run, "RR", 2).tolist() == [1.0]


def test_losses_are_those_of_explain() -> None:
    found = il.diagnose(QRELS, BM25)
    assert list(found.losses) == list(DIAGNOSED)
    for label in DIAGNOSED:
        explainer = Explainer(QRELS, BM25, label)
        assert found.losses[label].by_cause == explainer.worst().losses
        assert found.losses[label].value == il.evaluate(QRELS, BM25, label)[label]
        for query, lost in found.losses[label].behind("order").items():
            assert lost == explainer(query).losses["order"]


def test_a_first_stage_is_as_deep_as_the_run() -> None:
    qrels = {"q": {f"d{i}": 1 for i in range(4)}}
    found = il.diagnose(qrels, {"q": ["x", "d1"]}, ["R", "P@4"])
    assert found.headroom["R"].means == {"all": 0.25, "first stage": 0.5}
    assert found.losses["R"].ideal == 1
    deep = il.diagnose(qrels, {"q": [*(f"x{i}" for i in range(60)), "d1"]}, "RR")
    assert list(deep.headroom["RR"].means) == ["10", "50", "all", "first stage"]
    assert deep.headroom["RR"].means["10"] == pytest.approx(1 / 61)
    assert deep.headroom["RR"].means["all"] == 1


@pytest.mark.parametrize("hits", [0, 1, 7, 12])
def test_intervals_are_those_of_scipy(hits: int) -> None:
    values = np.array([1.0] * hits + [0.0] * (12 - hits))
    wanted = stats.binomtest(hits, 12).proportion_ci(method="wilson")
    assert of_value(values) == pytest.approx((hits / 12, wanted.low, wanted.high), abs=1e-6)
    some = np.linspace(0.1, 0.7, 9)
    low, high = stats.t.interval(0.95, 8, some.mean(), stats.sem(some))
    assert of_mean(some) == pytest.approx((0.4, low, high))
    assert math.isnan(of_mean(some[:4])[1])


@pytest.mark.parametrize(("n", "share"), [(20, 0.9), (50, 0.9), (200, 0.5), (30, 0.8)])
def test_a_rule_at_its_threshold_seldom_fires(n: int, share: float) -> None:
    """Where the truth is the threshold, an interval lies beyond it in few samples."""
    rng = np.random.default_rng(0)
    samples = (rng.random((2000, n)) < share).astype(np.float64)
    fired = {">": 0, "<": 0}
    for sample in samples:
        for side in fired:
            evidence = Evidence("it", side, share, n, *of_value(sample))
            fired[side] += evidence.holds is True
    assert max(fired.values()) / len(samples) < 0.05


def test_evidence_tells_beyond_from_not_and_from_open() -> None:
    def holds(side: str, threshold: float, low: float, high: float) -> bool | None:
        return Evidence("it", side, threshold, 9, (low + high) / 2, low, high).holds

    assert [holds(">", 0.5, *ends) for ends in ((0.6, 0.7), (0.4, 0.6), (0.1, 0.5))] == [
        True, None, False,
    ]  # fmt: skip
    assert [holds("<", 0.5, *ends) for ends in ((0.5, 0.7), (0.4, 0.6), (0.1, 0.4))] == [
        False, None, True,
    ]  # fmt: skip
    assert [holds("within", 0.1, *ends) for ends in ((-0.05, 0), (0, 0.2), (0.2, 0.3))] == [
        True, None, False,
    ]  # fmt: skip
    assert [holds("open", 0.1, *ends) for ends in ((-0.2, 0.1), (-0.1, 0.01), (0.1, 0.9))] == [
        True, False, False,
    ]  # fmt: skip
    assert holds(">", 0.5, math.nan, math.nan) is None


Grades = Sequence[int | None]


def made(*kinds: tuple[Grades, list[int]], n: int = 40) -> tuple[Any, Any]:
    """Make judgments and a run of queries that take turns: grades by rank, None for unjudged ones.

    The second list of a kind holds the grades of documents that are not retrieved. A document is
    named by its grade, so that two runs of the same grades have the same documents.
    """
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, list[str]] = {}
    for i in range(n):
        grades, missing = kinds[i % len(kinds)]
        seen: dict[Any, int] = {}
        named: list[tuple[str, int | None]] = []
        for grade in [*grades, *missing]:
            seen[grade] = seen.get(grade, 0) + 1
            named.append((f"g{grade}n{seen[grade]}", grade))
        query = f"q{i:03}"
        qrels[query] = {name: grade for name, grade in named if grade is not None}
        run[query] = [name for name, _ in named[: len(grades)]]
    return qrels, run


def against(new: Sequence[Grades], old: Sequence[Grades], n: int = 40) -> dict[str, Any]:
    """Make two runs of the same documents."""
    judged, baseline = made(*((grades, []) for grades in old), n=n)
    _, run = made(*((grades, []) for grades in new), n=n)
    return {"qrels": judged, "run": run, "baseline": baseline}


def one_run(*kinds: tuple[Grades, list[int]], **others: Any) -> dict[str, Any]:
    qrels, run = made(*kinds)
    return {"qrels": qrels, "run": run, **others}


def uneven() -> dict[str, Any]:
    """Make a gain of all queries, most of it that of three of forty."""
    first, fifth, sixth = (tuple(int(i == rank) for i in range(1, 7)) for rank in (1, 5, 6))
    return against([first] * 3 + [fifth] * 37, [sixth] * 40)


def split() -> dict[str, Any]:
    """Make a run that is better for every other query, and worse for the rest."""
    given = against([[1, 0], [0, 1]], [[0, 1], [1, 0]])
    kinds = {query: ("keywords", "question")[i % 2] for i, query in enumerate(given["qrels"])}
    return {**given, "slices": kinds}


def abstaining() -> dict[str, Any]:
    rows = [(f"q{i}", f"p{j}", int(j == 9), 0.0) for i in range(20) for j in (1, 2, 9)]
    query, document, grade, abstain = map(list, zip(*rows, strict=True))
    columns = {"query": query, "document": document, "grade": grade, "abstain": abstain}
    run = {f"q{i}": ["p1", "p2"] for i in range(20)}
    return {"qrels": il.read_qrels(columns), "run": run, "context": 2}


def tied() -> dict[str, Any]:
    scores = {f"q{i}": {"a": 1.0, "b": 1.0, "c": 0.5} for i in range(10)}
    return {"qrels": {query: {"a": 1, "b": 0} for query in scores}, "run": scores}


def repeating() -> dict[str, Any]:
    rows = [(f"q{i}", d, s) for i in range(10) for d, s in (("a", 3.0), ("a", 2.0), ("b", 1.0))]
    run = il.read_run([*rows])
    return {"qrels": {f"q{i}": {"b": 1} for i in range(10)}, "run": run, "duplicates": "first"}


def lengthy() -> dict[str, Any]:
    given = one_run(([1], []), ([0], [1]))
    texts = {query: "word " * (2 + 9 * (i % 2)) for i, query in enumerate(given["qrels"])}
    return {**given, "texts": il.Queries(texts)}


PLANTED: dict[str, dict[str, Any]] = {
    "one-hit": one_run(([1, 0], [1] * 9)),
    "not-first": one_run(([0, 1], [])),
    "pool-bias": against([[None, 1]], [[1, 0]]),
    "top-grade": one_run(([1] * 10, [3, 3, 3])),
    "capped": one_run(([1] * 10, [1] * 95)),
    "ties": tied(),
    "duplicates": repeating(),
    "no-relevant": one_run(([1], []), ([0], [])),
    "long-queries": lengthy(),
    "coverage-regression": {
        **against([[1, *[0] * 20]], [[1, *[0] * 19, 1]]),
        "qrels": made(([1, 1, *[0] * 20], []))[0],
    },
    "ranking-regression": against([[0, 1]], [[1, 0]]),
    "unstable": against([[1, 0], [1, 1, 0, 1]], [[0, 1], [1, 1, 1, 0]]),
    "risky": against([[1, 0], [0, 0, 0, 0, 1]], [[0, 1], [0, 1, 0, 0, 0]], n=400),
    "few-queries": uneven(),
    "tests": against([[1, 0]] * 4 + [[0, 1]] * 36, [[0, 1]] * 40),
    "split": split(),
    "void": against([[1, 1, 1, 0, 0, 0, 0, 0, 1, 0]], [[1, 1, 1, 0, 0, 0, 0, 0, 0, 1]]),
    "under-powered": against([[1, 0], [0, 1]], [[0, 1], [1, 0]]),
    "noisy-win": against(
        [[1, 0, 0, 0, 0, 0, 0, 1], [1, *[0] * 19, 1]], [[0, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1]]
    ),
    "context-empty": one_run(([1, 0, 0], []), ([0, 0, 1], []), context=2),
    "misleading": one_run(([1, -1, 0], []), context=3),
    "middle": one_run(([0] * 4 + [1] + [0] * 4, []), context=9),
    "distracting": abstaining(),
}


def states(given: dict[str, Any]) -> dict[str, str]:
    found = il.diagnose(**given)
    return {one.rule.id: one.state for one in found.rulings}


def test_every_rule_is_planted() -> None:
    assert sorted(PLANTED) == sorted(rule.id for rule in RULES)
    for rule in RULES:
        assert all((rule.pattern, rule.reading, rule.action, rule.clauses, rule.source)), rule.id
        assert rule.needs in NEEDS


@pytest.mark.parametrize("name", PLANTED)
def test_a_rule_fires_on_what_it_is_about(name: str) -> None:
    assert states(PLANTED[name])[name] == "fires"


def test_a_perfect_run_fires_nothing() -> None:
    given = against([[2, 1, 0]], [[2, 1, 0]])
    texts = il.Queries({query: "word " * (i % 9 + 1) for i, query in enumerate(given["qrels"])})
    kinds = {query: i % 2 for i, query in enumerate(given["qrels"])}
    beside = {"first_stage": given["run"], "context": 2, "texts": texts, "slices": kinds}
    found = states({**given, **beside})
    assert "fires" not in found.values()
    assert [rule for rule, state in found.items() if state == "left out"] == [
        "misleading", "distracting",
    ]  # fmt: skip


def noise(seed: int, n: int = 50) -> dict[str, Any]:
    """Make two runs of documents in random order, so that neither is better."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(30)]
    queries = [f"q{i}" for i in range(n)]
    qrels = {query: {d: rng.choice([0, 0, 0, 1, 2]) for d in documents} for query in queries}
    run, baseline = ({query: rng.sample(documents, 20) for query in queries} for _ in range(2))
    kinds = {query: rng.choice("abc") for query in queries}
    texts = il.Queries({query: "word " * rng.randint(1, 9) for query in queries})
    return {
        "qrels": qrels, "run": run, "baseline": baseline, "slices": kinds, "texts": texts,
    }  # fmt: skip


def test_rules_about_changes_seldom_fire_on_noise() -> None:
    """Only that the data cannot tell may be said of two runs of which neither is better."""
    found = [states({**noise(seed), "measures": "nDCG@10"}) for seed in range(60)]
    compared = [rule.id for rule in RULES if rule.needs in ("other", "slices", "texts")]
    fired = {rule: sum(one[rule] == "fires" for one in found) for rule in compared}
    assert fired.pop("under-powered") > 30
    assert max(fired.values()) <= 6, fired
    assert fired["few-queries"] <= 3


def test_risk_is_that_of_comparing() -> None:
    given = PLANTED["risky"]
    found = il.diagnose(**given)
    (ruling,) = (one for one in found.rulings if one.rule.id == "risky")
    (pair,) = il.compare(given["qrels"], [given["baseline"], given["run"]], "nDCG@10").pairs
    assert ruling.evidence[0].value == pytest.approx(pair.difference)
    assert ruling.evidence[1].value == pytest.approx(pair.urisk)
    given = PLANTED["tests"]
    (ruling,) = (one for one in il.diagnose(**given).rulings if one.rule.id == "tests")
    (pair,) = il.compare(given["qrels"], [given["baseline"], given["run"]], "nDCG@10").pairs
    assert pair.p_t < 0.05 < pair.p_randomisation
    assert ruling.evidence[0].value == pytest.approx(0.1 / pair.p_t, rel=0.01)


@pytest.mark.parametrize("length", [lambda i: 3, lambda i: 3 + 6 * (i < 4)])
def test_queries_of_one_length_have_no_long_ones(length: Callable[[int], int]) -> None:
    given = lengthy()
    texts = {query: "word " * length(i) for i, query in enumerate(given["qrels"])}
    assert states({**given, "texts": il.Queries(texts)})["long-queries"] == "open"


def test_a_slice_has_its_own_losses() -> None:
    found = il.diagnose(**split(), measures=["nDCG@10", "RR"])
    one, two = found.slices["RR"]
    assert [one.name, two.name] == ["keywords", "question"]
    assert (one.losses.value, two.losses.value) == (1.0, 0.5)
    assert (one.losses.queries, one.losses.loss, two.losses.loss) == (20, 0.0, 0.5)
    assert one.change == (0.5, 0.5, 0.5)
    assert two.change == (-0.5, -0.5, -0.5)
    assert "question" in str(found)
    assert found.data()["slices"]["RR"][1]["change"] == {"mean": -0.5, "interval": [-0.5, -0.5]}
    (ruling,) = (one for one in found.fired if one.rule.id == "split")
    assert [str(one).split(" is ")[0] for one in ruling.evidence] == [
        "the change of nDCG@10 on slice keywords", "the change of nDCG@10 on slice question",
    ]  # fmt: skip


def test_slices_of_few_queries_prove_nothing() -> None:
    given = split()
    kinds = {query: f"{kind}{i // 18}" for i, (query, kind) in enumerate(given["slices"].items())}
    assert states({**given, "slices": kinds})["split"] == "open"
    with pytest.raises(il.UsageError, match="no query is in a slice"):
        il.diagnose(**{**given, "slices": {"nothing": "a"}})
    alone = il.diagnose(given["qrels"], given["run"], slices=given["slices"])
    assert math.isnan(alone.slices["AP"][0].change[0])
    assert "change" not in by_slice("AP", alone.slices["AP"]).headers
    assert "change" in by_slice("AP", il.diagnose(**given).slices["AP"]).headers
    assert [one.reason for one in alone.rulings if one.rule.id == "split"] == [
        "needs a baseline or a first stage to compare with, and slices of the queries"
    ]


def test_few_queries_fire_nothing_that_is_estimated() -> None:
    few = dict(list(PLANTED["one-hit"]["qrels"].items())[:4])
    found = states({**PLANTED["one-hit"], "qrels": few})
    assert found["one-hit"] == "open"
    assert "fires" not in found.values()


def test_a_rule_that_cannot_be_looked_at_says_why() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(9)}
    run = {query: ["a"] for query in qrels}
    rulings = il.diagnose(qrels, run, "nDCG(rel=none)@10", rel=2, no_relevant="error").rulings
    reasons = {one.rule.id: one.reason for one in rulings if one.state == "left out"}
    assert "has no relevant document for P" in reasons["not-first"]
    assert reasons["middle"] == "needs the number of passages that are read"
    assert "no-relevant" not in reasons
    with pytest.raises(il.InputError, match="no relevant document for P"):
        il.diagnose(qrels, run, "nDCG(rel=none)@10", rel=2, no_relevant="error", context=3)


def renamed(run: dict[str, list[str]]) -> dict[str, list[str]]:
    return {query: [f"zz{document}" for document in found] for query, found in run.items()}


def test_what_never_meets_is_not_diagnosed() -> None:
    qrels, run = made(([0, 1], []))
    found = il.diagnose(qrels, renamed(run), context=2, baseline=run)
    assert [doubt.code for doubt in found.doubts] == ["nothing-matches"]
    assert [error.code for error in found.errors] == ["document-ids"]
    assert found.summary.startswith(
        "run cannot be diagnosed yet: 80 of 80 judged documents match only once ids"
    )
    assert found.first.startswith("rewrite the ids of the run")
    assert "lost to" not in str(found)
    assert {one.state for one in found.rulings} == {"left out"}
    assert "no document of run is judged" in {one.reason for one in found.rulings}
    shown = found.doubts[0].message
    assert shown in str(found)
    assert shown in found.markdown()
    assert found.data()["doubts"][0]["message"] == shown


def test_sparse_judgments_are_no_error() -> None:
    """One document is judged, and found; eighteen beside it are not judged."""
    found = il.diagnose(**one_run(([*[None] * 9, 1, *[None] * 9], [])))
    assert (found.doubts, found.errors) == ((), ())


def test_the_command_that_audits_names_the_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = tmp_path / "my broken.run"
    broken.write_text(Path(BM25).read_text("utf-8").replace(" Q0 ", " Q0 DOC-"), "utf-8")
    found = il.diagnose(QRELS, broken, "AP")
    assert found.audit == shlex.join(["idealist", "audit", QRELS, str(broken), "-m", "AP"])
    assert found.command.startswith("idealist convert ")
    shown = run(capsys, QRELS, str(broken), "-m", "AP")
    wins = il.evaluate(QRELS, BM25, "AP")["AP"]
    assert f"\n+{wins:.4f} rewrite the ids of the run\n\n  {found.command}\n" in shown
    assert f"$ {found.command}\n" in found.markdown()
    assert found.data()["first"] == f"{found.first}: {found.command}"
    assert found.data()["todo"][0]["wins"] == pytest.approx(wins)


def test_standard_input_is_audited_as_such() -> None:
    command = [sys.executable, "-c", "from idealist.cli.main import main; main()"]
    lines = "q01 Q0 nothing 1 1.0 tag\n"
    done = subprocess.run(
        [*command, "diagnose", QRELS, "-"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout.startswith("stdin cannot be diagnosed yet: no judged document was retrieved")
    assert done.stdout.endswith(f"  {shlex.join(['idealist', 'audit', QRELS, '-'])}\n")


#: What is lost, and the fix; relevant documents stand in the middle, for lists that are far better
#: from the bottom up have another fault.
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "order": (one_run(([0] * 5 + [1] * 3 + [0] * 5, [])), "rerank"),
    "below the cutoff": (one_run(([0] * 20 + [1, 1] + [0] * 20, [])), "rerank"),
    "low recall, but it is the order that costs": (
        one_run(([0] * 45 + [1] * 12 + [0] * 45, [1] * 48)), "rerank",
    ),
    "not retrieved": (one_run(([1, 0], [1] * 9)), "retrieve"),
    "behind unjudged ones": (one_run(([None, None, 1, 0, None], [])), "judge"),
    "only relevant ones are judged": (one_run(([None, None, 1, None, None], [])), "rerank"),
    "tied": (tied(), "break ties"),
    "set with worthless ones": ({**one_run(([1, 0, 0, 0], [])), "measures": "P"}, "shorten"),
    "context": ({**one_run(([0] * 5 + [1] + [0] * 5, [])), "context": 5}, "rerank"),
    "perfect": (one_run(([2, 1, 0], [])), ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_to_do_first_is_what_would_win_most(kind: str) -> None:
    given, fix = KINDS[kind]
    found = il.diagnose(**given)
    assert found.advice == fix
    if not fix:
        assert (found.first, found.summary) == ("", "run loses nothing of nDCG@10")
        assert found.render("table") == found.summary
        return
    (label, won), *_ = found.fixes.items()
    assert won.means[fix] == max(won.means.values())
    assert FIXES[fix] in found.summary
    assert [one.fix for one in found.todo] == won.ranked
    assert found.data()["first"] == f"{found.first} ({fix})"
    assert found.data()["fixes"][label][fix]["wins"] == won.means[fix]


def lines(found: il.Diagnosis) -> list[str]:
    return [line for one in found.todo for line in one.lines()]


def test_what_to_do_is_ranked_and_names_queries() -> None:
    found = il.diagnose(QRELS, BM25)
    assert found.summary.endswith("0.2459 of it to the order of what was retrieved")
    assert lines(found) == [
        "+0.2459 rerank what was retrieved (12 of 12: q06, q09, q01, …)",
        "+0.0789 retrieve more: no reranker wins this back; lists end at rank 10 "
        "(9 of 12: q05, q07, q02, …)",
        "+0.0008 break ties by a finer score (1 of 12: q07)",
        "+0.0002 judge what is unjudged above relevant documents, as idealist audit --to-judge "
        "lists it: it may be no fault of the run (1 of 12: q04)",
    ]
    shown = [*json.loads(found.to_json())["todo"]]
    assert [one["fix"] for one in shown] == ["rerank", "retrieve", "break ties", "judge"]
    assert shown[1]["queries"] == found.fixes["nDCG@10"].behind("retrieve")
    assert sum(one["wins"] for one in shown) == pytest.approx(found.losses["nDCG@10"].loss)
    below = il.diagnose(**KINDS["below the cutoff"][0])
    assert below.first == "rerank what was retrieved; 1.0000 of this stands below the cutoff"


def test_rules_refine_what_to_do() -> None:
    """What a rule says of a fix stands with it, and what it says of anything else below."""
    found = il.diagnose(**PLANTED["ties"])
    (tied,) = (one for one in found.todo if one.fix == "break ties")
    assert tied.rules == ("ties",)
    assert tied.also[0].startswith("many scores are equal: the value depends on the order of ties")
    assert "what else the data shows" not in str(found)
    assert "evidence: " in found.render("table", details=True)
    other = il.diagnose(**PLANTED["capped"])
    assert all(not one.rules for one in other.todo)
    assert "what else the data shows" in str(other)
    assert {rule.refines for rule in RULES} <= {"", *FIXES}


def test_the_fixes_of_contexts_name_those_that_lack_the_answer() -> None:
    """Of five questions one is answered too far down, and one not at all."""
    qrels = {f"q{i}": {f"gold{i}": 1} for i in range(5)}
    run = {query: [*own, "a", "b", "c", "d", "e"] for query, own in qrels.items()}
    run |= {"q3": [*"abcdef", "gold3"], "q4": [*"abcdef"]}
    found = il.diagnose(qrels, run, context=5)
    assert lines(found) == [
        "+0.2000 retrieve more: no reranker wins this back; lists end at rank 7 (1 of 5: q4)",
        "  1 of 5 contexts (q4) holds nothing relevant; none was retrieved",
        "+0.1333 rerank what was retrieved (1 of 5: q3)",
        "  1 of 5 contexts (q3) holds nothing relevant; it stands further down: rerank, or read more",
    ]


def test_a_run_that_loses_nothing_of_the_first_measure_may_lose_others() -> None:
    found = il.diagnose({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, ["RR", "AP"])
    assert found.summary.startswith("run loses nothing of RR, but 0.1667 of AP, all of it to")
    assert [one.measure for one in found.todo] == ["AP"]


def test_what_may_be_no_fault_of_the_run_is_not_said_to_be() -> None:
    found = il.diagnose(**KINDS["behind unjudged ones"][0])
    assert found.first.startswith("judge what is unjudged")
    assert found.first.endswith("it may be no fault of the run")


def test_queries_without_documents_are_not_those_of_a_bad_first_stage() -> None:
    qrels, run = made(([0, 1, 0], [1]))
    found = il.diagnose(qrels, dict(list(run.items())[:10]), "RR")
    assert found.advice == "answer"
    assert lines(found)[0].startswith(
        "+0.7500 retrieve something where nothing was retrieved (30 of 40: q010, "
    )
    assert found.fixes["RR"].means["rerank"] == 0.125
    assert found.fixes["RR"].means["retrieve"] == 0


def test_what_the_first_stage_has_need_not_be_retrieved() -> None:
    """The reranker returns two of four documents, and leaves out the good one."""
    qrels, first = made(([0, 0, 0, 1], []))
    run = {query: found[:2] for query, found in first.items()}
    alone, both = il.diagnose(qrels, run), il.diagnose(qrels, run, first_stage=first)
    assert (alone.advice, both.advice) == ("retrieve", "rerank")
    assert alone.first == "retrieve more: no reranker wins this back; lists end at rank 2"
    assert both.todo[0].wins == 1.0


def test_what_the_audit_finds_comes_before_any_advice(tmp_path: Path) -> None:
    """Scores are distances: the rank column is right, and lower scores are better."""
    turned = tmp_path / "turned.run"
    rows = (line.split() for line in Path(BM25).read_text("utf-8").splitlines())
    turned.write_text("".join(f"{q} Q0 {d} {r} {-float(s)} x\n" for q, _, d, r, s, _ in rows))
    found = il.diagnose(QRELS, turned)
    assert [error.code for error in found.errors] == ["rank-column"]
    assert found.summary.startswith("turned cannot be diagnosed yet: scores and rank column")
    assert found.first == found.errors[0].remedy
    assert found.data()["first"] == f"{found.first}: {found.errors[0].command}"
    assert found.data()["errors"][0]["code"] == "rank-column"
    assert "lost to" not in found.render("table")
    assert "lost to" in found.render("table", details=True)


def test_ids_that_match_in_part_come_before_any_advice() -> None:
    qrels, run = made(([1, 0, 1], [1]))
    half = run | renamed(dict(list(run.items())[:20]))
    found = il.diagnose(qrels, half)
    assert [error.code for error in found.errors] == ["document-ids"]
    assert "they differ in the prefix 'zz'" in found.summary
    assert found.data()["first"].endswith(": idealist.audit(qrels, run)")


def test_ties_that_move_little_fire_nothing() -> None:
    given = tied()
    apart = {query: {"a": 2.0, "b": 1.0} for query in given["run"]}
    many = {f"{i}{query}": own for i in range(50) for query, own in apart.items()}
    qrels = {query: {"a": 1, "b": 0} for query in many}
    moved = 1 - 1 / math.log2(3)  # what one tied query of 500 takes
    found = il.diagnose(qrels, many | {"0q0": {"a": 1.0, "b": 1.0}})
    (ruling,) = (one for one in found.rulings if one.rule.id == "ties")
    assert ruling.evidence[0].value == pytest.approx(moved / 500)
    assert ruling.state == "silent"


def test_a_baseline_that_never_meets_is_not_compared_with() -> None:
    qrels, run = made(([0, 1], []))
    found = il.diagnose(qrels, run, baseline=il.read_run(renamed(run), name="old"))
    assert [doubt.message[:5] for doubt in found.doubts] == ["old: "]
    assert "loses" in found.summary
    reasons = {one.rule.id: one.reason for one in found.rulings}
    assert reasons["void"] == "no document of old is judged"
    assert reasons["one-hit"] == ""


def test_missing_queries_are_doubts() -> None:
    qrels, run = made(([0, 1], []))
    found = il.diagnose(qrels, {"q000": run["q000"], "other": ["a"]}, first_stage=run)
    assert [(doubt.code, doubt.count) for doubt in found.doubts] == [
        ("missing-queries", 39), ("unknown-queries", 1),
    ]  # fmt: skip


def test_a_first_stage_has_the_documents_that_were_reranked() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    run = {"q1": ["a", "b"], "q2": ["c"]}
    found = il.diagnose(qrels, run, "RR", first_stage={"q1": ["x", "b"], "q2": ["y", "c"]})
    assert found.stages["RR"].means == {"gained": 0.5, "lost": 0.0, "left": 0.0, "beyond": 0.0}
    (doubt,) = found.doubts
    assert (doubt.code, doubt.count, doubt.queries) == ("not-its-first-stage", 1, ("q1",))
    assert "lacks 1 of the 3 judged documents that run has (q1)" in doubt.message
    other = il.diagnose(qrels, run, "RR", first_stage={"q1": ["x"], "q2": ["a"]})
    assert other.stages == {}
    assert [doubt.code for doubt in other.doubts] == ["nothing-matches", "not-its-first-stage"]
    qrels["q1"]["x"] = 0
    other = il.diagnose(qrels, run, "RR", first_stage={"q1": ["x"], "q2": ["a"]})
    assert other.stages == {}
    assert other.doubts[0].message.endswith(
        "not its first stage, so the two stages are not taken apart"
    )
    assert il.diagnose(qrels, run, "RR", first_stage=run).doubts == ()


def test_a_faulty_baseline_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old.run").write_text("q1 Q0 a 1 one tag\n")
    with pytest.raises(il.InputError, match=r"old\.run"):
        il.diagnose({"q1": {"a": 1}}, {"q1": ["a"]}, baseline=tmp_path / "old.run")


def test_the_context_is_what_a_model_reads() -> None:
    qrels = il.read_qrels({
        "query": ["q1"] * 4 + ["q2"] * 2,
        "document": ["a", "b", "c", "d", "a", "b"],
        "grade": [1, 0, -1, 0, 0, 1],
        "abstain": [0.1, 0.2, 0.9, 0.8, 0.3, 0.4],
    })  # fmt: skip
    run = {"q1": ["b", "a", "c", "d"], "q2": ["a", "x", "b"]}
    found = il.diagnose(qrels, run, "nDCG@10", context=3)
    context = found.context
    assert isinstance(context, Context)
    assert context.precision.tolist() == [1 / 3, 1 / 3]
    assert context.recall.tolist() == [1, 1]
    assert context.first.tolist() == [2, 3]
    assert context.middle.tolist() == [1, 0]
    assert context.distractors.tolist() == [2, 1]
    wanted = il.evaluate(qrels, run, "UDCG@3").per_query["UDCG@3"]
    assert context.words("worth") == "UDCG(signal=abstain)@3"
    assert context.worth.tolist() == wanted
    shown = found.data()["context"]
    assert shown["size"] == 3
    assert shown["worth"]["mean"] == pytest.approx(sum(wanted) / 2)
    assert "UDCG(signal=abstain)@3" in str(found)


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_intervals_stay_where_values_can_be(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 4)
    kinds = [([rng.choice([1, 1, 1, 0]) for _ in range(4)], [1]) for _ in range(6)]
    qrels, ranked = made(*kinds, n=6)
    found = il.diagnose(qrels, ranked, context=size)
    assert found.context is not None
    for name, (mean, low, high) in found.context.figures.items():
        least, most = {"first": (1, size), "distractors": (0, size)}.get(name, (0, 1))
        assert math.isnan(low) or least <= low <= mean + LEAST <= high + 2 * LEAST
        assert math.isnan(high) or high <= most


def test_utilities_below_0_mislead() -> None:
    columns = {"query": ["q"] * 3, "document": ["a", "b", "c"], "grade": [1, 0, 0]}
    qrels = il.read_qrels({**columns, "utility": [0.5, -1.0, 0.9]})
    found = il.diagnose(qrels, {"q": ["a", "b", "c"]}, "nDCG@10", context=3)
    assert found.context is not None
    assert found.context.distractors.tolist() == [1]
    assert "worth" not in found.context.figures
    reasons = {one.rule.id: one.reason for one in found.rulings}
    assert reasons["distracting"] == "needs utilities from 0 to 1, and some are below 0"
    assert reasons["misleading"] == ""


def test_only_what_the_candidates_hold_fills_a_context() -> None:
    found = il.diagnose(**one_run(([1, 0], []), ([0, 0, 1], []), ([0, 0, 0], [1])), context=2)
    assert found.context is not None
    assert found.context.answered[:3].tolist() == [1, 0, 0]
    assert found.context.fillable[:3].tolist() == [0, 1, 0]
    lost = one_run(([1, 0, 0], []), ([0, 0, 0], [1]), context=2)
    assert states(lost)["context-empty"] == "silent"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["diagnose", *arguments, "-q"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_every_format_says_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = (QRELS, RERANKED, "--first-stage", BM25, "--context", "5", "--queries", QUERIES)
    found = il.diagnose(QRELS, RERANKED, first_stage=BM25, context=5, texts=QUERIES)
    assert json.loads(run(capsys, *asked, "-f", "json")) == json.loads(json.dumps(found.data()))
    assert str(found).startswith(run(capsys, *asked))
    assert run(capsys, *asked, "-f", "md") == found.markdown() + "\n"
    assert "& nDCG@10 &" in run(capsys, *asked, "-f", "latex")
    rows = list(csv.reader(io.StringIO(run(capsys, *asked, "-f", "csv"))))
    numbers = {tuple(row[:3]): float(row[3]) for row in rows[1:] if row[3]}
    assert numbers["loss", "AP", "order"] == found.losses["AP"].by_cause["order"]
    assert numbers["stages", "AP", "gained"] == found.stages["AP"].means["gained"]
    assert numbers["value", "R@100", "mean"] == found.losses["R@100"].value
    assert "<table" in found._repr_html_()
    assert found.summary in repr(found)
    target = tmp_path / "found.md"
    run(capsys, *asked, "-o", str(target))
    assert target.read_text("utf-8") == found.markdown() + "\n"


def test_rules_are_named_among_the_details(capsys: pytest.CaptureFixture[str]) -> None:
    plain, full = run(capsys, QRELS, BM25), run(capsys, QRELS, BM25, "--details")
    found = il.diagnose(QRELS, BM25)
    assert plain.splitlines()[0] == found.summary
    assert plain.splitlines()[2] == "what to do, what it could win of nDCG@10, and in which queries"
    assert plain.splitlines()[3].startswith(
        "+0.2459 rerank what was retrieved (12 of 12: q06, q09, "
    )
    assert "the data speaks against it: one-hit, top-grade" in full
    assert "documents below worse ones" in full
    for words in ("one-hit", "source:", "documents below worse ones"):
        assert words not in plain
    assert "<details><summary>rules and causes</summary>" in found.markdown()
    given = PLANTED["capped"]
    named = il.diagnose(**given).markdown()
    assert "capped: most queries have more relevant documents" in named
    assert "(source: documentation of evidently)" in named


def test_queries_are_those_to_keep() -> None:
    found = il.diagnose(QRELS, BM25, "nDCG@10", queries=["q01", "q02"])
    assert found.losses["nDCG@10"].queries == 2
    wanted = il.evaluate(QRELS, BM25, "nDCG@10", queries=["q01", "q02"])["nDCG@10"]
    assert found.losses["nDCG@10"].value == wanted


def test_weights_are_refused() -> None:
    with pytest.raises(il.UsageError, match="diagnose cannot weigh queries"):
        il.diagnose(QRELS, BM25, weights={"q01": 2.0})


def test_slices_are_a_column_of_the_queries(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kinds = {f"q{i:02}": ("short", "long")[i % 2] for i in range(1, 13)}
    table = tmp_path / "queries.csv"
    table.write_text("query,text,kind\n" + "".join(f"{q},word,{k}\n" for q, k in kinds.items()))
    asked = (QRELS, RERANKED, "--first-stage", BM25, "--queries", str(table), "--slice", "kind")
    found = il.diagnose(QRELS, RERANKED, first_stage=BM25, texts=table, slices=kinds)
    assert str(found).startswith(run(capsys, *asked))
    rows = list(csv.reader(io.StringIO(run(capsys, *asked, "-f", "csv"))))
    numbers = {tuple(row[:3]): float(row[3]) for row in rows[1:] if row[3]}
    assert numbers["slice", "AP", "long"] == found.slices["AP"][0].losses.value


def test_doubts_are_said_in_every_format(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("q01 Q0 nothing 1 1.0 tag\n")
    words = "no judged document was retrieved"
    for form in ("table", "md", "json", "tsv", "csv", "latex"):
        main(["diagnose", QRELS, str(broken), "-f", form])
        captured = capsys.readouterr()
        told = captured.err if form in ("table", "tsv", "csv") else captured.out
        assert words in " ".join(told.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--context", "0"), "0 is not in the range"),
        (("-m", "GMAP"), "losses add up only in a mean, and GMAP is a geometric"),
        (("--set", "aggregate=median"), "is a median"),
        (("-m", "NumRet"), "neither good nor bad"),
        (("--baseline", "nothing.run"), "nothing.run"),
        (("--set", "nothing=1"), "no axis 'nothing'"),
        (("--slice", "kind"), "--slice needs the queries"),
        (("--slice", "kind", "--queries", QUERIES), "has no column 'kind'"),
    ],
)
def test_bad_usage_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["diagnose", QRELS, BM25, *arguments])
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_help_names_what_is_diagnosed_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    main(["diagnose", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Without it: {', '.join(DIAGNOSED)}." in shown


@pytest.mark.parametrize("context", [0, -1, 2.5, True, "5"])
def test_a_context_is_a_number_of_passages(context: Any) -> None:
    with pytest.raises(il.UsageError, match="no number of passages"):
        il.diagnose(QRELS, BM25, context=context)


def test_no_run_is_refused() -> None:
    with pytest.raises(il.IdealistError, match="None"):
        il.diagnose(QRELS, None)


def test_an_empty_run_loses_everything() -> None:
    found = il.diagnose({"q1": {"a": 1}}, {"q1": []}, first_stage={"q1": ["a"]}, context=3)
    assert found.losses["AP"].behind("missing") == {"q1": 1.0}
    assert found.stages["AP"].means == {"gained": 0.0, "lost": 1.0, "left": 1.0, "beyond": 0.0}
    assert json.loads(json.dumps(found.data(), allow_nan=False))["context"]["first"] == {
        "words": "rank of the first of them", "mean": None, "interval": [None, None],
    }  # fmt: skip


def test_trec_covid_losses_add_up(data: Path) -> None:
    folder = data / "trec-covid-r1"
    first, second = (folder / "runs" / name for name in ("BERT", "T5R1"))
    found = il.diagnose(folder / "qrels.txt", second, baseline=first)
    for lost in found.losses.values():
        assert lost.value + lost.loss == pytest.approx(lost.ideal, abs=1e-12)
