"""The test and the interval over users: against all signs one by one, and in simulations.

`make study` prints how often the test rejects what is true, and how often intervals hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from effort import IS_SLOW, tries
from idealist.significance.cluster_flips import flip_clusters
from idealist.significance.paired import paired

USERS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(-n, n), st.just(n))),
    min_size=1, max_size=9,
)  # fmt: skip
TRIALS = tries(200, 4000)


def p_of(users: Sequence[tuple[float, float]], mean: float) -> float:
    """The share of all signs that are as extreme, one by one."""
    apart = [s - mean * n for s, n in users]
    least = abs(math.fsum(apart)) - 1e-9
    signs = list(product((-1, 1), repeat=len(users)))
    found = [abs(math.fsum(a * b for a, b in zip(own, apart, strict=True))) for own in signs]
    return sum(one >= least for one in found) / len(signs)


@given(USERS, st.sampled_from([0.05, 0.2, 0.5]))
def test_all_signs_are_tried(users: list[tuple[int, int]], alpha: float) -> None:
    sums, sizes = zip(*users, strict=True)
    found = flip_clusters(sums, sizes, alpha)
    assert found.mean == pytest.approx(sum(sums) / sum(sizes))
    assert found.p == pytest.approx(p_of(users, 0.0))
    if math.isnan(found.low):
        assert 2 / 2 ** len(users) > alpha or len({s / n for s, n in users}) == 1
        return
    for end, out in ((found.low, -1e-6), (found.high, 1e-6)):
        assert p_of(users, end + out) <= alpha < p_of(users, end - out)
    assert (found.p <= alpha) == (not found.low <= 1e-12 or not found.high >= -1e-12)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 300))
def test_one_outcome_a_user_is_the_sign_test(wins: int, losses: int, ties: int) -> None:
    if not wins + losses:
        return
    outcomes = [1] * wins + [-1] * losses + [0] * ties
    found = flip_clusters(outcomes, [1] * len(outcomes))
    assert found.p == pytest.approx(binomtest(wins, wins + losses).pvalue)


def test_many_users_are_drawn_as_few_are_tried() -> None:
    source = np.random.default_rng(2)
    sizes = source.integers(1, 30, 20)
    sums = source.binomial(sizes, 0.6) * 2 - sizes
    exact = flip_clusters(sums, sizes)
    nobody = [0, 0, 0]  # users of whom nothing is known, so that signs are drawn
    drawn = flip_clusters([*sums, *nobody], [*sizes, 1e-9, 1e-9, 1e-9])
    assert drawn.p == pytest.approx(exact.p, abs=0.01)
    assert drawn[2:] == pytest.approx(exact[2:], abs=0.01)
    assert drawn == flip_clusters([*sums, *nobody], [*sizes, 1e-9, 1e-9, 1e-9])
    turned = flip_clusters(-sums, sizes)
    assert turned.p == exact.p
    assert turned.low == pytest.approx(-exact.high)


def test_credits_need_not_be_whole() -> None:
    sums = [0.1 + 0.2, 0.3, -0.3, 0.25, 0.5, 0.1, 0.1, 0.4]
    found = flip_clusters(sums, [1] * 8)
    assert found.p == pytest.approx(p_of([(s, 1) for s in sums], 0.0))
    many = flip_clusters(sums * 30, [1] * 240)
    t = paired(sums * 30)
    assert (many.low, many.high) == pytest.approx((t.low, t.high), abs=0.004)


def test_where_nothing_varies_there_is_no_interval() -> None:
    assert flip_clusters([0] * 30, [2] * 30)[:2] == (0.0, 1.0)
    assert math.isnan(flip_clusters([0] * 30, [2] * 30).low)
    assert math.isnan(flip_clusters([1] * 30, [1] * 30).low)
    assert flip_clusters([1] * 30, [1] * 30).p == pytest.approx(2**-29)
    few = flip_clusters([1, 1, 0, 1, 1], [1] * 5)
    assert (few.p, math.isnan(few.high)) == (0.125, True)


def equal(source: np.random.Generator, users: int) -> np.ndarray:
    return np.full(users, 5)


def heavy(source: np.random.Generator, users: int) -> np.ndarray:
    """A long tail: a few users search most."""
    return np.minimum(1 + source.pareto(1.1, users), 2000).astype(int)


def one_giant(source: np.random.Generator, users: int) -> np.ndarray:
    """One user has a third of all impressions, as a crawler may."""
    sizes = source.integers(1, 4, users)
    sizes[0] = users
    return sizes


SIZES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "five each": equal, "a long tail": heavy, "one giant": one_giant,
}  # fmt: skip


def simulated(
    draw: Callable[[np.random.Generator, int], np.ndarray], users: int, shift: float, trials: int
) -> tuple[float, float]:
    """Return how often the interval over users holds the truth, and how often one of all does.

    Four of ten impressions are no ties; each user has a taste, Beta(2, 2) shifted.
    """
    held = naive = 0
    for trial in range(trials):
        source = np.random.default_rng((users, trial))
        sizes = draw(source, users)
        taste = source.beta(4 * (0.5 + shift), 4 * (0.5 - shift), users)
        decided = source.binomial(sizes, 0.4)
        sums = 2 * source.binomial(decided, taste) - decided
        truth = 0.4 * 2 * shift
        found = flip_clusters(sums, sizes, flips=1999, seed=trial)
        held += math.isnan(found.low) or found.low <= truth <= found.high
        total, size = int(decided.sum()), int(sizes.sum())
        spread = math.sqrt((total / size - found.mean**2) / size)
        naive += abs(found.mean - truth) <= 1.96 * spread
    return held / trials, naive / trials


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("users", [12, 100, 400] if IS_SLOW else [30])
def test_intervals_hold_the_truth(sizes: str, users: int) -> None:
    """Where nothing is preferred, what they miss is what the test falsely rejects."""
    room = 4 * math.sqrt(0.05 * 0.95 / TRIALS)
    for shift in (0.0, 0.15):
        held, naive = simulated(SIZES[sizes], users, shift, TRIALS)
        if IS_SLOW:
            what = "Δ 0" if not shift else f"Δ {0.4 * shift:.2f}"
            print(f"\n| {sizes} | {users} | {what} | {held:.1%} | {naive:.1%} |", end="")
        assert held > 0.94 - room
        if users >= 100:
            assert held < 0.975 + room
            assert naive < 0.93
