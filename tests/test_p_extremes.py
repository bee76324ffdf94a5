"""The range of p: nothing leaves what is proven, and what is said to be reached is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from idealist.significance.p_extremes import attained_p, proven_p
from idealist.significance.paired import Array, paired


def some_ends(seed: int) -> tuple[Array, Array, Array]:
    """Make differences with two ends, some of them known exactly, and what they are now."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    middle = rng.normal(rng.choice([0.0, 0.1, 0.3, -0.3]), 0.2, n)
    width = rng.exponential(rng.choice([0.01, 0.1, 0.3]), n) * (rng.random(n) < 0.7)
    low, high = middle - width * rng.random(n), middle + width * rng.random(n)
    return low, high, low + (high - low) * rng.random(n)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_corners_agree(weighted: bool) -> None:
    reached = []
    for seed in range(40):
        low, high, now = some_ends(seed)
        weights = np.arange(1.0, len(low) + 1) if weighted else None
        ways = itertools.product(range(3), repeat=len(low))
        values = [paired(np.choose(one, (low, high, now)), weights).p for one in ways]
        found = attained_p(low, high, now, weights)
        for p in (found.low, found.high):
            assert min(abs(p - one) for one in values) < 1e-12
        reached.append((found.low <= min(values) + 1e-9, found.high >= max(values) - 1e-9))
    assert np.mean(reached, axis=0).min() > (0.5 if weighted else 0.8)


def test_nothing_between_the_ends_leaves_what_is_proven() -> None:
    for seed in range(40):
        low, high, now = some_ends(seed)
        least, most = proven_p(low, high)
        rng = np.random.default_rng(seed)
        inside = [low + (high - low) * rng.random(len(low)) for _ in range(50)]
        corners = [np.where(rng.random(len(low)) < 0.5, low, high) for _ in range(50)]
        for one in (*inside, *corners, low, high, now):
            assert least - 1e-9 <= paired(one).p <= most + 1e-9


def test_many_queries_leave_next_to_no_gap() -> None:
    rng = np.random.default_rng(0)
    low = rng.normal(0.1, 0.2, 100)
    high = low + 0.1 * rng.random(100)
    found, (_, most) = attained_p(low, high, low), proven_p(low, high)
    assert paired(high).p < paired(low).p < found.high <= most < 1.05 * found.high


def test_ends_that_meet_leave_one_p() -> None:
    d = np.array([0.1, 0.3, -0.1, 0.4])
    found = attained_p(d, d, d)
    assert math.isclose(found.low, found.high)
    assert proven_p(d, d) == pytest.approx((found.low, found.high), rel=1e-6)
