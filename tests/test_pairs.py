"""Accuracy and compatibility, live against ir_measures; AUC against scikit-learn."""

from __future__ import annotations

import math
import random

import ir_measures
import pytest
from sklearn.metrics import roc_auc_score

import idealist as il
from effort import tries
from test_peers import cases


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Accuracy", ir_measures.Accuracy),
        ("Accuracy(rel=2)", ir_measures.Accuracy(rel=2)),
        ("Accuracy@3", ir_measures.Accuracy @ 3),
    ],
)
def test_accuracy_is_ir_measures_where_that_has_a_value(ours: str, theirs: object) -> None:
    """It fails where all documents are relevant; such lists, and those of none, are left out."""
    compared = 0
    for qrels, run in cases(tries(150, 400), level=2):
        mine = il.evaluate(qrels, run, ours, convention="ir_measures")
        found = dict(zip(mine.queries, mine.values[ours].tolist(), strict=True))
        for query in qrels.keys() & run.keys():
            one = {query: qrels[query]}, {query: run[query]}
            try:
                wanted = [m.value for m in ir_measures.iter_calc([theirs], *one)]
            except ZeroDivisionError:
                wanted = []
            some = [found[query]] if not math.isnan(found[query]) else []
            assert some == pytest.approx(wanted, abs=1e-12), one
            compared += len(wanted)
    assert compared > tries(75, 200)


def test_accuracy_is_the_area_under_the_curve() -> None:
    for seed in range(tries(150, 500)):
        rng = random.Random(seed)
        grades = [0, 1] + [rng.randint(0, 1) for _ in range(rng.randint(0, 12))]
        scores = [float(rng.randint(0, 4)) for _ in grades]
        qrels = {"q": {f"d{i}": grade for i, grade in enumerate(grades)}}
        run = {"q": {f"d{i}": score for i, score in enumerate(scores)}}
        found = il.evaluate(qrels, run, ["Accuracy", "OPA"], ties="expected")
        wanted = roc_auc_score(grades, scores)
        assert found["Accuracy"] == pytest.approx(wanted, abs=1e-12)
        assert found["OPA"] == pytest.approx(wanted, abs=1e-12)


def test_accuracy_at_a_cutoff_has_no_mean_over_ties() -> None:
    with pytest.raises(il.UsageError, match="no closed form"):
        il.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}, "Accuracy@1", ties="expected")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Compat", ir_measures.Compat),
        ("Compat(p=0.8)", ir_measures.Compat(p=0.8)),
        ("Compat(normalize=false)", ir_measures.Compat(normalize=False)),
        ("Compat(p=0.5,normalize=false)", ir_measures.Compat(p=0.5, normalize=False)),
    ],
)
def test_compatibility_is_ir_measures(ours: str, theirs: object) -> None:
    """With scores above 0: it puts documents not retrieved above those of a negative score."""
    compared = 0
    for qrels, run in cases(tries(150, 400)):
        judged = {q: dict(sorted(qrels[q].items())) for q in qrels}  # its order among equals
        scored = {q: {d: s + 3 for d, s in run[q].items()} for q in run}
        mine = il.evaluate(judged, scored, ours, convention="ir_measures")
        found = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], judged, scored)}
        for query, value in zip(mine.queries, mine.values[ours].tolist(), strict=True):
            assert value == pytest.approx(found[query], abs=1e-12), (judged, scored)
            compared += 1
    assert compared > tries(300, 800)


def test_compatibility_of_the_ideal_list_is_1() -> None:
    for seed in range(tries(70, 200)):
        rng = random.Random(seed)
        grades = sorted((rng.randint(0, 3) for _ in range(rng.randint(1, 9))), reverse=True)
        if grades[0] > 0:
            assert il.Compat()(grades) == pytest.approx(1, abs=1e-12)
