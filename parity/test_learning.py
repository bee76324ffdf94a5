"""LightGBM, XGBoost, CatBoost and Rax: their own metrics, given labels and scores."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of their dependencies
    import lightgbm
    import rax
    import xgboost
    from catboost.utils import eval_metric

import idealist as il

#: How many rankings each metric is compared on.
LISTS = 2000


def some_list(seed: int, grades: list[int]) -> tuple[list[int], list[float]]:
    """Make labels and scores, with ties; scores are exact in float32."""
    rng = random.Random(seed)
    n = rng.randint(2, 15)
    return [rng.choice(grades) for _ in range(n)], [float(rng.randint(0, 6)) for _ in range(n)]


def ours(measure: str, convention: str, labels: list[int], scores: list[float]) -> float:
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    run = {"q": [(f"d{i}", score) for i, score in enumerate(scores)]}
    return il.evaluate(qrels, run, measure, convention=convention)[measure]


CATBOOST = [
    ("nDCG@5", "NDCG:top=5;type=Base", [0, 1, 2, 3]),
    ("nDCG(gain=exp2)@5", "NDCG:top=5;type=Exp", [0, 1, 2, 3]),
    ("nDCG(discount=position)", "NDCG:denominator=Position", [0, 1, 2]),
    ("DCG@5", "DCG:top=5", [0, 1, 2]),
    ("AP@5", "MAP:top=5", [0, 1]),
    ("AP", "MAP", [0, 1]),
    ("RR", "MRR", [0, 1]),
    ("P@5", "PrecisionAt:top=5", [0, 1]),
    ("R@5", "RecallAt:top=5", [0, 1]),
    ("ERR", "ERR", [0, 1]),
]


@pytest.mark.parametrize(
    ("measure", "theirs", "grades"), CATBOOST, ids=[row[1] for row in CATBOOST]
)
def test_catboost(measure: str, theirs: str, grades: list[int]) -> None:
    for seed in range(LISTS):
        labels, scores = some_list(seed, grades)
        (wanted,) = eval_metric(labels, scores, theirs, group_id=[0] * len(labels))
        found = ours(measure, "catboost", labels, scores)
        assert found == pytest.approx(wanted, abs=1e-9), (labels, scores)


def with_lightgbm(metric: str, k: int, labels: list[int], scores: list[float]) -> float:
    """Train one round that learns nothing, on top of the scores."""
    data = lightgbm.Dataset(
        np.zeros((len(labels), 1)), labels, group=[len(labels)], init_score=scores,
        params={"verbosity": -1},
    )  # fmt: skip
    found: dict[str, Any] = {}
    parameters = {
        "objective": "lambdarank", "metric": metric, "eval_at": [k], "verbosity": -1,
        "learning_rate": 1e-300, "num_threads": 1,
    }  # fmt: skip
    lightgbm.train(
        parameters, data, 1, valid_sets=[data], callbacks=[lightgbm.record_evaluation(found)]
    )
    return float(found["training"][f"{metric}@{k}"][0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("measure", "metric"), [("nDCG@5", "ndcg"), ("AP@5", "map")])
def test_lightgbm(measure: str, metric: str) -> None:
    for seed in range(LISTS):
        labels, scores = some_list(seed, [0, 1, 2, 3] if metric == "ndcg" else [0, 1])
        wanted = with_lightgbm(metric, 5, labels, scores)
        found = ours(measure, "lightgbm", labels, scores)
        assert found == pytest.approx(wanted, abs=1e-9), (labels, scores)


def with_xgboost(metric: str, labels: list[int], scores: list[float]) -> float:
    """Evaluate a model without trees, whose margins are the scores."""
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores)
    data.set_group([len(labels)])
    parameters = {"objective": "rank:ndcg", "eval_metric": metric, "base_score": 0.0, "nthread": 1}
    model = xgboost.train(parameters, data, 0)
    return float(model.eval(data).split(":")[-1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("measure", "metric", "grades"),
    [
        ("nDCG@5", "ndcg@5", [0, 1, 2, 3]),
        ("nDCG", "ndcg", [0, 1, 2, 3]),
        ("AP@5", "map@5", [0, 1]),
        ("P@5", "pre@5", [0, 1]),
    ],
)
def test_xgboost(measure: str, metric: str, grades: list[int]) -> None:
    for seed in range(LISTS):
        labels, scores = some_list(seed, grades)
        wanted = with_xgboost(metric, labels, scores)
        found = ours(measure, "xgboost", labels, scores)
        assert found == pytest.approx(wanted, abs=1e-6), (labels, scores)


GRADED, SIGNED, BINARY = [0, 1, 2, 3], [-1, 0, 1, 2], [0, 1]
RAX = [
    ("nDCG@5", rax.ndcg_metric, 5, GRADED), ("nDCG", rax.ndcg_metric, None, SIGNED),
    ("DCG@5", rax.dcg_metric, 5, SIGNED), ("AP@5", rax.ap_metric, 5, GRADED),
    ("AP", rax.ap_metric, None, BINARY), ("RR", rax.mrr_metric, None, GRADED),
    ("RR@3", rax.mrr_metric, 3, BINARY), ("P@5", rax.precision_metric, 5, GRADED),
    ("R@5", rax.recall_metric, 5, GRADED),
]  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "theirs", "top", "grades"), RAX, ids=[f"rax {row[0]}" for row in RAX]
)
def test_rax(measure: str, theirs: Callable[..., Any], top: int | None, grades: list[int]) -> None:
    """It divides by a negative ideal too; of signed labels, lists with a 2 have a positive one."""
    for seed in range(LISTS):
        labels, scores = some_list(seed, grades)
        if grades is SIGNED and max(labels) < 2:
            continue
        lists = np.array(scores, np.float32), np.array(labels, np.float32)
        wanted = float(theirs(*lists, topn=top))
        found = ours(measure, "rax", labels, scores)
        assert found == pytest.approx(wanted, abs=1e-6), (labels, scores)
