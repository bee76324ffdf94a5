"""Intervals of agreement cover the truth, though the documents of a query are judged alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from idealist.judging.agreeing.label_agreement import of_two
from idealist.significance.cluster_bootstrap import drawn_sums, percentiles

GRADES = np.arange(4.0)


def sample(rng: np.random.Generator, queries: int) -> Any:
    """Draw queries: each has its own prevalence of grades, difficulty and leniency."""
    tables = np.zeros((queries, 4, 4))
    for table in tables:
        documents = int(rng.integers(20, 60))
        truth = rng.choice(4, size=documents, p=rng.dirichlet([4, 2, 1, 0.7]))
        one = np.where(rng.random(documents) < 0.2, rng.integers(0, 4, documents), truth)
        noise = rng.normal(rng.normal(0.3, 0.5), 0.3 + 1.5 * rng.beta(2, 3), documents)
        other = np.clip(np.rint(truth + noise), 0, 3).astype(int)
        np.add.at(table, (one, other), 1)
    return tables


@pytest.mark.parametrize("queries", [10, 30])
def test_intervals_of_every_statistic_cover(queries: int) -> None:
    rng, samples = np.random.default_rng(queries), 500
    truth = of_two(sample(rng, 30_000).sum(axis=0), GRADES, 2.0)
    covered = dict.fromkeys(truth, 0)
    for seed in range(samples):
        drawn = of_two(drawn_sums(sample(rng, queries), draws=1000, seed=seed), GRADES, 2.0)
        for name, values in drawn.items():
            low, high = percentiles(values, queries)
            covered[name] += bool(low <= truth[name] <= high)
    shares = {name: count / samples for name, count in covered.items()}
    print(f"\n{queries} queries: {shares}")
    assert min(shares.values()) > 0.90
    assert np.mean([*shares.values()]) == pytest.approx(0.945, abs=0.02)
