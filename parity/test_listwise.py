"""What CatBoost, Rax and torchmetrics have beside the measures of retrieval."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics.functional.retrieval import retrieval_auroc, retrieval_fall_out

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of their dependencies
    import rax
    from catboost.utils import eval_metric

import idealist as il

#: How many lists each metric is compared on.
LISTS = 2000
BINARY, GRADED, SIGNED = [0.0, 1.0], [0.0, 1.0, 2.0, 3.0], [-1.0, 0.0, 1.0, 2.0]
PROBABLE = [0.0, 0.25, 0.5, 1.0]


def some_list(seed: int, grades: list[float]) -> tuple[list[float], list[float]]:
    """Make labels and scores, with ties; both are exact in float32."""
    rng = random.Random(seed)
    n = rng.randint(2, 15)
    return [rng.choice(grades) for _ in range(n)], [float(rng.randint(0, 6)) for _ in range(n)]


def ours(measure: str, convention: str, labels: list[float], scores: list[float]) -> float:
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    run = {"q": [(f"d{i}", score) for i, score in enumerate(scores)]}
    return il.evaluate(qrels, run, measure, convention=convention)[measure]


CATBOOST = [
    ("PFound", "PFound", PROBABLE),
    ("PFound@3", "PFound:top=3", PROBABLE),
    ("PFound(decay=0.5)", "PFound:decay=0.5", BINARY),
    ("Accuracy", "QueryAUC", BINARY),
    ("OPA", "QueryAUC:type=Ranking", GRADED),
    ("AverageGain@4", "AverageGain:top=4", SIGNED),
    ("AverageGain@1", "QueryAverage:top=1", GRADED),
]


@pytest.mark.parametrize(
    ("measure", "theirs", "grades"), CATBOOST, ids=[row[1] for row in CATBOOST]
)
def test_catboost(measure: str, theirs: str, grades: list[float]) -> None:
    for seed in range(LISTS):
        labels, scores = some_list(seed, grades)
        (wanted,) = eval_metric(labels, scores, theirs, group_id=[0] * len(labels))
        found = ours(measure, "catboost", labels, scores)
        assert found == pytest.approx(wanted, abs=1e-9), (labels, scores)


@pytest.mark.parametrize("grades", [BINARY, GRADED, SIGNED])
def test_rax(grades: list[float]) -> None:
    for seed in range(LISTS):
        labels, scores = some_list(seed, grades)
        wanted = float(rax.opa_metric(np.array(scores, np.float32), np.array(labels, np.float32)))
        assert ours("OPA", "rax", labels, scores) == pytest.approx(wanted, abs=1e-6)


TORCHMETRICS: list[tuple[str, Callable[[Any, Any], Any], bool]] = [
    ("Accuracy", retrieval_auroc, True),
    ("Accuracy@4", lambda p, t: retrieval_auroc(p, t, top_k=4), False),
    ("FallOut", retrieval_fall_out, False),
    ("FallOut@3", lambda p, t: retrieval_fall_out(p, t, top_k=3), False),
]


@pytest.mark.parametrize(
    ("measure", "theirs", "tied"), TORCHMETRICS, ids=[row[0] for row in TORCHMETRICS]
)
def test_torchmetrics(measure: str, theirs: Callable[[Any, Any], Any], tied: bool) -> None:
    """Tied scores only where it looks at the whole list; else its order of ties is undefined."""
    for seed in range(LISTS):
        labels, scores = some_list(seed, BINARY)
        if not tied:
            scores = [score + i / 16 for i, score in enumerate(scores)]
            if len(set(scores)) < len(scores):
                continue
        target = torch.tensor([int(label) for label in labels])
        wanted = float(theirs(torch.tensor(scores), target))
        assert ours(measure, "torchmetrics", labels, scores) == pytest.approx(wanted, abs=1e-6)
