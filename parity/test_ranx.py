"""ranx, on rankings whose order it defines."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its dependencies
    import ranx

import idealist as il

#: How many evaluations of three queries each measure is compared on.
CASES = 700

#: Our measure and ranx's.
RANX = [
    ("nDCG@5", "ndcg@5"), ("nDCG(gain=exp2)@5", "ndcg_burges@5"), ("nDCG(rel=2)@5", "ndcg@5-l2"), ("DCG@5", "dcg@5"),
    ("AP", "map"), ("AP@5", "map@5"), ("RR", "mrr"), ("RR@3", "mrr@3"), ("P@5", "precision@5"),
    ("R@5", "recall@5"), ("F@5", "f1@5"), ("Success@3", "hit_rate@3"), ("Rprec", "r-precision"),
    ("NumRelRet", "hits"), ("bpref", "bpref"),
]  # fmt: skip


def case(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Make a case without ties, each query with relevant and non-relevant judgments of grade 2."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for q in range(3):
        judged = rng.sample(range(15), 8)
        qrels[f"q{q}"] = {f"d{d}": rng.choice([0, 1, 2, 3]) for d in judged} | {
            "a": 2,
            "b": 0,
            "c": 0,
        }
        run[f"q{q}"] = {f"d{d}": rng.random() for d in rng.sample(range(15), rng.randint(1, 15))}
    return qrels, run


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ours", "theirs"), RANX, ids=[row[0] for row in RANX])
def test_ranx(ours: str, theirs: str) -> None:
    for seed in range(CASES):
        qrels, run = case(seed)
        wanted: Any = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), theirs)
        assert il.evaluate(qrels, run, ours, convention="ranx")[ours] == pytest.approx(
            wanted, abs=1e-12
        )


@pytest.mark.filterwarnings("ignore")
def test_ranx_rbp() -> None:
    """With grades of 0 and 1; above that its RBP has no bound, and ours is refused."""
    for seed in range(CASES):
        qrels, run = case(seed)
        binary = {q: {d: int(grade > 0) for d, grade in qrels[q].items()} for q in qrels}
        wanted = ranx.evaluate(ranx.Qrels(binary), ranx.Run(run), "rbp.80")
        found = il.evaluate(binary, run, "RBP(p=0.8)", convention="ranx")["RBP(p=0.8)"]
        assert found == pytest.approx(wanted, abs=1e-12)
    with pytest.raises(il.UsageError, match="above 1"):
        il.evaluate(qrels, run, "RBP(p=0.8)", convention="ranx")
