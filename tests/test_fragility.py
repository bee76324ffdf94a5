"""Label fragility is what it says: brute force over all labels agrees, and the labels do it."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings

import idealist as il
from effort import SLOW
from generated import PLAIN, seeds, some_measure, some_protocol
from idealist.comparing.fragility import Fragility, Reversal, changing, fragility, reach
from idealist.comparing.fragility.relabelling import Relabelling
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.significance.means import quantile
from idealist.significance.paired import paired

EXAMPLES = Path(__file__).parents[1] / "examples"
#: So few queries are seldom significant otherwise.
ALPHA = 0.2
COMMON = ["nDCG@3", "nDCG(gain=exp2)@2", "AP", "P@2", "RR", "DCG@3", "RBP(scale=none,gain=binary)"]

Judged = dict[str, dict[str, float]]
Lists = dict[str, dict[str, float]]


def some_pair(rng: random.Random, most: int = 3) -> tuple[Judged, Lists, Lists, list[float]]:
    """Make few queries with few judged documents, and two runs with ties and holes."""
    scale = rng.choice([[0.0, 1.0], [0.0, 1.0, 2.0], [-1.0, 0.0, 1.0]])
    qrels: Judged = {}
    runs: tuple[Lists, Lists] = ({}, {})
    for q in range(rng.randint(2, 3)):
        judged = [f"d{i}" for i in range(rng.randint(1, most))]
        qrels[f"q{q}"] = {d: rng.choice(scale) for d in judged}
        for run in runs:
            ids = [*judged, "u1", "u2"]
            found = rng.sample(ids, rng.randint(1, len(ids)))
            run[f"q{q}"] = {d: float(rng.randint(1, 4)) for d in found}
    return qrels, *runs, scale


def differences(
    judged: dict[str, float], lists: tuple[Any, Any], measure: Any, scale: list[float], **axes: Any
) -> dict[int, list[float]]:
    """Give all differences of one query by the number of changed labels, each labels a query."""
    ways = list(itertools.product(scale, repeat=len(judged)))
    qrels = {str(i): dict(zip(judged, way, strict=True)) for i, way in enumerate(ways)}
    table = il.read_qrels(qrels).on(il.Scale.of(scale))
    found = []
    for one in lists:
        made = il.evaluate(table, dict.fromkeys(qrels, one), measure, **axes)
        label = next(iter(made))
        values = np.where(made.counted[label], made.values[label], math.nan).tolist()
        found.append(dict(zip(made.queries, values, strict=True)))
    by: dict[int, list[float]] = {}
    for i, way in enumerate(ways):
        changed = sum(a != b for a, b in zip(way, judged.values(), strict=True))
        apart = found[1][str(i)] - found[0][str(i)]
        by.setdefault(changed, []).append(apart)
    return by


def fewest(queries: list[dict[int, list[float]]], alpha: float) -> tuple[int | None, int | None]:
    """Try all labels of all queries together."""
    start = np.array([one[0][0] for one in queries])
    side = np.sign(start.sum())
    flat = [[(k, side * d) for k, some in one.items() for d in some if d == d] for one in queries]
    ways = np.array(list(itertools.product(*flat)))
    count, apart = ways[..., 0].sum(axis=1).astype(int), ways[..., 1]
    ahead = significant(apart, alpha)
    reached = apart.sum(axis=1) < -1e-11, ahead != significant(side * start[None], alpha)
    sign, significance = (int(count[some].min()) if some.any() else None for some in reached)
    return sign, significance


def significant(apart: Any, alpha: float) -> Any:
    """Say where the mean is above 0 and Student's t finds that significant."""
    mean, sd = apart.mean(axis=1), apart.std(axis=1, ddof=1)
    t = np.where(sd > 1e-12, mean / np.maximum(sd / math.sqrt(apart.shape[1]), 1e-300), np.inf)
    return (mean > 1e-12) & (t > quantile(1 - alpha / 2, apart.shape[1] - 1))


def labelled(measure: Any, rng: random.Random, **axes: Any) -> Fragility:
    """Look for labels in a case whose answer brute force knows."""
    qrels, base, new, scale = some_pair(rng)
    evaluator = Evaluator(il.read_qrels(qrels).on(il.Scale.of(scale)), measure, **axes)
    return fragility(evaluator, base, new, next(iter(evaluator.measures)), alpha=ALPHA, most=12)


def known(reversal: Reversal | None) -> int | None:
    assert reversal is not None
    return None if reversal.changes is None else len(reversal.changes)


def checked(measure: Any, rng: random.Random, **axes: Any) -> bool:
    """Compare with brute force; False where the measure refuses the data."""
    qrels, base, new, scale = some_pair(rng)
    table = il.read_qrels(qrels).on(il.Scale.of(scale))
    try:
        evaluator = Evaluator(table, {str(measure): measure}.values(), **axes)
        label = next(iter(evaluator.measures))
        found = fragility(evaluator, base, new, label, alpha=ALPHA, most=12)
        tried = [differences(qrels[q], (base[q], new[q]), measure, scale, **axes) for q in qrels]
    except IdealistError:
        return False
    counted = [one for one in tried if one[0][0] == one[0][0]]
    total = sum(one[0][0] for one in counted)
    if found.sign is None:
        assert abs(total) < 1e-9 or not counted
        return True
    assert found.sign.exact
    sign, significance = fewest(counted, ALPHA) if len(counted) > 1 else (None, None)
    if len(counted) == 1:
        assert found.significance is None
        return True
    assert known(found.sign) == sign
    if paired([one[0][0] for one in counted]).constant:
        assert found.significance is None
        return True
    assert found.significance is not None
    assert found.significance.exact
    assert known(found.significance) == significance
    return True


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_the_fewest_changes_are_those_of_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    assert checked(il.parse(rng.choice(COMMON)), rng)


@given(seeds)
@settings(max_examples=80, deadline=None)
def test_every_measure_and_protocol_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    axes: dict[str, Any] = some_protocol(rng).written()
    axes["ties"] = rng.choice([axes["ties"], "expected"])
    assume(checked(some_measure(rng, rng.choice(PLAIN)), rng, **axes))


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_weights_are_weighed(seed: int) -> None:
    rng = random.Random(seed)
    qrels, base, new, scale = some_pair(rng)
    weights = {q: rng.choice([1.0, 2.0, 5.0]) for q in qrels}
    table = il.read_qrels(qrels).on(il.Scale.of(scale))
    found = fragility(
        Evaluator(table, "P@2", weights=weights), base, new, "P@2", alpha=ALPHA, most=12
    )
    tried = [differences(qrels[q], (base[q], new[q]), "P@2", scale) for q in qrels]
    weighed = [
        {k: [weights[q] * d for d in some] for k, some in one.items()}
        for q, one in zip(qrels, tried, strict=True)
    ]
    if found.sign is not None:
        assert known(found.sign) == fewest(weighed, ALPHA)[0]
        assert_reverses(found, "P@2", qrels, base, new, weights=weights)


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_what_is_not_tried_is_bounded(seed: int) -> None:
    rng = random.Random(seed)
    measure = rng.choice(COMMON)
    exact = labelled(measure, random.Random(seed))
    with patch.multiple(changing, SETS=0), patch.multiple(reach, FIRST=0, WAYS=rng.choice([0, 20])):
        found = labelled(measure, random.Random(seed))
    for rough, fine in ((found.sign, exact.sign), (found.significance, exact.significance)):
        if rough is None or fine is None:
            assert rough is fine
            continue
        assert rough.at_least <= fine.at_least
        assert rough.changes is None or len(rough.changes) >= fine.at_least


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_outer_bounds_hold_what_is_tried(seed: int) -> None:
    rng = random.Random(seed)
    measure = rng.choice(COMMON)
    qrels, base, new, scale = some_pair(rng)
    evaluator = Evaluator(il.read_qrels(qrels).on(il.Scale.of(scale)), measure)
    runs = Relabelling.of(evaluator, measure, il.read_run(base), il.read_run(new))
    tried = changing.Changing(runs, rng.choice([1.0, -1.0]))
    while tried.grow():
        pass
    found = reach.outer_bounds(tried, 12)
    narrow = measure.startswith(("nDCG", "P@", "DCG", "RBP"))
    for i, own in enumerate(tried.tried):
        for j, one in enumerate(own):
            if one.all and len(one.values):
                low, high = one.values.min(), one.values.max()
                assert found.low[i, j] <= low
                assert found.high[i, j] >= high
                if narrow:
                    assert math.isclose(found.low[i, j], low, abs_tol=1e-9)
                    assert math.isclose(found.high[i, j], high, abs_tol=1e-9)


def relabelled(qrels: Any, reversal: Reversal) -> Judged:
    """Change the labels, each of which is what it was said to be."""
    table = il.read_qrels(qrels).to_dict()
    for change in reversal.changes or ():
        assert table[change.query][change.document] == change.grade
        assert change.to != change.grade
        table[change.query][change.document] = change.to
    return table


def assert_reverses(
    found: Fragility, measure: str, qrels: Any, base: Any, new: Any, **options: Any
) -> None:
    """Evaluate anew with the labels changed."""
    scale = il.Scale.of(sorted({0.0, 1.0, *il.read_qrels(qrels).grades.tolist()}))
    for reversal in (found.sign, found.significance):
        if reversal is None or not reversal.changes:
            continue
        table = il.read_qrels(relabelled(qrels, reversal)).on(scale)
        a, b = (il.evaluate(table, run, measure, **options) for run in (base, new))
        apart = b.values[measure] - a.values[measure]
        own = [options["weights"][q] for q in a.queries] if options.get("weights") else None
        told = paired(apart, own)
        if reversal is found.sign:
            assert told.mean * found.difference < 0
        else:
            beyond = abs(told.t) > quantile(1 - found.alpha / 2, told.df)
            same = told.mean * found.difference > 0 and beyond
            assert same != found.significant


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR@10", "ERR@10"])
def test_the_labels_found_on_the_examples_do_reverse_it(measure: str) -> None:
    qrels, base, new = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "reranked.run"))
    found = fragility(Evaluator(qrels, measure), base, new, measure)
    assert found.sign is not None
    assert found.sign.changes
    assert found.sign.at_least <= len(found.sign.changes)
    assert_reverses(found, measure, qrels, base, new)


@pytest.mark.parametrize(
    ("base", "new", "measure"),
    [("Conv_KNRM", "Meta-Conv-KNRM", "nDCG@10"), ("BERT", "T5R1", "P@5")],
)
def test_real_runs_have_exact_answers(data: Path, base: str, new: str, measure: str) -> None:
    folder = data / "trec-covid-r1"
    qrels, old, other = folder / "qrels.txt", folder / "runs" / base, folder / "runs" / new
    found = fragility(Evaluator(qrels, measure), old, other, measure)
    assert found.sign is not None
    assert found.significance is not None
    assert found.sign.exact
    assert found.significance.exact
    assert_reverses(found, measure, qrels, old, other)


def test_a_run_against_itself_has_nothing_to_reverse() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}
    found = fragility(Evaluator(qrels, "RR"), run, run, "RR")
    assert found.sign is None
    assert found.significance is None
    assert "level" in str(found)
    assert found.data()["sign"] is None


def test_one_query_has_a_sign_but_no_significance() -> None:
    found = fragility(
        Evaluator({"q1": {"a": 1, "b": 0}}, "P@1"), {"q1": ["b"]}, {"q1": ["a"]}, "P@1"
    )
    assert found.sign is not None
    assert found.sign.changes is not None
    assert len(found.sign.changes) == 2
    assert found.significance is None


def test_what_no_label_can_reverse_is_said() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    base, new = {q: ["x", "a"] for q in qrels}, {q: ["a"] for q in qrels}
    found = fragility(Evaluator(qrels, "RR"), base, new, "RR", most=2)
    assert found.sign == Reversal(None, 3, 2, labels=4)
    assert found.sign.exact
    assert found.sign.possible
    assert "more than 2 labels" in str(found)
    every = fragility(Evaluator(qrels, "RR"), base, new, "RR").sign
    assert every is not None
    assert not every.possible
    assert every.data()["possible"] is False
    assert every.said("reverse that") == "no change of labels can reverse that"


def test_labels_that_are_more_than_grades_are_refused() -> None:
    run = {"q": ["a"]}
    with pytest.raises(UsageError, match="more than grades"):
        fragility(Evaluator({"q": {"a": 1}}, "alpha_nDCG@10"), run, run, "alpha_nDCG@10")


def test_plain_data_says_what_is_known() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    base, new = {q: ["b", "a"] for q in qrels}, {q: ["a", "b"] for q in qrels}
    found = fragility(Evaluator(qrels, "P@1"), base, new, "P@1").data()
    assert found["sign"] == {
        "labels": 3, "at_least": 3, "exact": True, "possible": True,
        "changes": [
            {"query": "q1", "document": "b", "from": 0, "to": 1},
            {"query": "q1", "document": "a", "from": 1, "to": 0},
            {"query": "q2", "document": "a", "from": 1, "to": 0},
        ],
    }  # fmt: skip


@SLOW
@pytest.mark.parametrize("name", PLAIN)
def test_each_measure_agrees_with_brute_force(name: str) -> None:
    rng = random.Random(name)
    checks = 0
    for _ in range(60):
        axes: dict[str, Any] = some_protocol(rng).written()
        checks += checked(some_measure(rng, name), rng, **axes)
    assert checks > 5
