"""Queries drawn from a generated log many times: probabilities hold, weighted means are unbiased.

A small version is in tests/test_sample_queries.py.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

import idealist as il
from idealist.significance.means import mean, mean_interval

DRAWS, SIZE = 1000, 100


def generated() -> tuple[dict[str, int], dict[str, float]]:
    """Make a log of 3,000 queries whose traffic is Zipf's, and values that rise with traffic."""
    rng = random.Random(18)
    log = {f"query {i}": math.ceil(20_000 / i * rng.uniform(0.5, 1.5)) for i in range(1, 3001)}
    return log, {
        text: min(1.0, 0.1 * math.log10(count) + 0.6 * rng.random()) for text, count in log.items()
    }


@pytest.mark.parametrize("by", ["traffic", "strata"])
def test_weighted_means_are_unbiased(by: str) -> None:
    log, values = generated()
    total = sum(log.values())
    truth = mean([*values.values()], [*log.values()])
    found, held, times, chances = [], 0, dict.fromkeys(log, 0), {}
    for seed in range(DRAWS):
        drawn = il.sample_queries(log, SIZE, by=by, seed=seed).drawn
        weights, own = [one.weight for one in drawn], [values[one.text] for one in drawn]
        assert math.fsum(weights) == pytest.approx(total)
        found.append(mean(own, weights))
        low, high = mean_interval(own, weights)
        held += low <= truth <= high
        for one in drawn:
            times[one.text] += 1
            chances[one.text] = one.inclusion
    error = np.std(found, ddof=1) / math.sqrt(DRAWS)
    print(by, "bias in standard errors", (np.mean(found) - truth) / error, "held", held / DRAWS)
    assert abs(np.mean(found) - truth) < 3 * error
    assert abs(np.mean([*values.values()]) - truth) > 30 * error
    assert held / DRAWS >= 0.94
    open_ones = [(times[text], p) for text, p in chances.items() if p < 1]
    seen, expected = (np.array(column) for column in zip(*open_ones, strict=True))
    tails = np.minimum(
        stats.binom.sf(seen - 1, DRAWS, expected), stats.binom.cdf(seen, DRAWS, expected)
    )
    print("the rarest of", len(tails), "frequencies has a tail of", tails.min())
    assert tails.min() * 2 * len(tails) > 0.001  # frequencies are those of the probabilities
    assert all(times[text] == DRAWS for text, p in chances.items() if p == 1)
