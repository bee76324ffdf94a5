"""The same formulas on PyTorch tensors, and torchmetrics' values."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics.functional.retrieval import (
    retrieval_average_precision,
    retrieval_hit_rate,
    retrieval_normalized_dcg,
    retrieval_precision,
    retrieval_r_precision,
    retrieval_recall,
    retrieval_reciprocal_rank,
)

import idealist as il
from generated import PLAIN, some_lists
from idealist.tensors.array_libraries import library_of


@pytest.mark.parametrize("name", PLAIN)
def test_every_formula_runs_on_tensors(name: str) -> None:
    cases, xp = list(some_lists(name, 40)), library_of(torch.zeros(1)).xp
    assert cases
    for measure, lists, wanted in cases:
        found = measure.formula(lists.to(xp))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-12)


#: Our measure under torchmetrics' rules, its function, and whether it needs binary targets.
TORCHMETRICS: list[tuple[str, Callable[[Any, Any], Any], bool, bool]] = [
    ("nDCG", retrieval_normalized_dcg, False, True),
    ("nDCG@3", lambda p, t: retrieval_normalized_dcg(p, t, top_k=3), False, True),
    ("AP", retrieval_average_precision, True, False),
    ("AP@3", lambda p, t: retrieval_average_precision(p, t, top_k=3), True, False),
    ("RR", retrieval_reciprocal_rank, True, False),
    ("P@3", lambda p, t: retrieval_precision(p, t, top_k=3), True, False),
    ("P(denominator=min(k,n))@8", lambda p, t: retrieval_precision(p, t, top_k=8, adaptive_k=True), True, False),
    ("R@3", lambda p, t: retrieval_recall(p, t, top_k=3), True, False),
    ("Success@3", lambda p, t: retrieval_hit_rate(p, t, top_k=3), True, False),
    ("Rprec", retrieval_r_precision, True, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "theirs", "binary", "tied"), TORCHMETRICS, ids=[row[0] for row in TORCHMETRICS]
)
def test_torchmetrics(
    ours: str, theirs: Callable[[Any, Any], Any], binary: bool, tied: bool
) -> None:
    """Tied scores only for nDCG, whose ties it averages; elsewhere its order of ties is undefined.

    A relevant document that was not retrieved is nothing to it.
    """
    for seed in range(2000):
        rng = random.Random(seed)
        n = rng.randint(2, 12)
        scores = [rng.choice([1.0, 2.0, 3.0]) if tied else i + rng.random() for i in range(n)]
        rng.shuffle(scores)
        grades = [rng.choice([0, 1] if binary else [0, 1, 2, 3]) for _ in range(n)]
        target = torch.tensor(grades)
        wanted = float(theirs(torch.tensor(scores), target))
        qrels = {"q": {f"d{i}": grade for i, grade in enumerate(grades)} | {"elsewhere": seed % 2}}
        run = {"q": {f"d{i}": score for i, score in enumerate(scores)}}
        mine = il.evaluate(qrels, run, ours, convention="torchmetrics")[ours]
        assert mine == pytest.approx(wanted, abs=1e-6), (grades, scores)
