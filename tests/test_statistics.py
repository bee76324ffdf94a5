"""Statistics of differences: published values, SciPy and statsmodels live, brute force, edges."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, special, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW
from threadpoolctl import threadpool_limits

from idealist.errors import UsageError
from idealist.significance import resampling
from idealist.significance.families import (
    holm,
    level_of_best,
    max_gain,
    max_t,
    permutations_for,
    t_of,
    tukey,
)
from idealist.significance.means import mean, mean_interval
from idealist.significance.paired import differences, paired, relative, trisk, urisk
from idealist.significance.power_analysis import detectable, effect_interval, needed, power
from idealist.significance.rank_tests import (
    sign_test,
    tau_ap,
    tau_ap_b,
    tau_b,
    wilcoxon,
)
from idealist.significance.resampling import (
    all_pairs,
    bca,
    bootstrap_shift,
    exact_flips,
    flips_for,
    randomisation,
)
from waiting import PATIENCE

Array = NDArray[np.float64]

#: Differences that often tie, as those of P@5 do, and of queries that all count.
whole = st.integers(-4, 4)
rows = st.lists(whole, min_size=1, max_size=9)
changes = st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=3, max_size=40)


def matrix(seed: int, rows: int, columns: int) -> Array:
    return np.random.default_rng(seed).beta(1, 2, size=(rows, columns))


@pytest.fixture(scope="module")
def adhoc8(data: Path) -> Array:
    path = data / "sigir2019" / "adhoc8_ap.csv"
    return np.genfromtxt(path, delimiter=",", skip_header=1).T


@pytest.fixture(scope="module")
def pair(adhoc8: Array) -> tuple[Array, Array]:
    """Two TREC-8 runs of which Urbano, Lima and Hanjalic published the p-values."""
    return adhoc8[124], adhoc8[125]


def near(share: float, true: float, drawn: int) -> bool:
    """Say whether a share is within five standard errors of what it estimates."""
    return abs(share - true) <= 5 * math.sqrt(true * (1 - true) / drawn) + 1 / drawn


# Published values


def test_published_p_values_and_effects(pair: tuple[Array, Array]) -> None:
    d = differences(*pair)
    found = paired(d)
    assert (round(found.t, 5), round(found.p, 10)) == (3.40730, 0.0013193972)
    assert found.p_above() == pytest.approx(0.0006596986, abs=1e-10)
    assert (round(found.low, 5), round(found.high, 5)) == (0.02174, 0.08427)
    assert (round(found.d_z, 5), round(found.hedges_g, 5)) == (0.48186, 0.47445)
    assert wilcoxon(d) == pytest.approx(0.00289631, abs=1e-8)
    assert sign_test(d) == pytest.approx(0.0153467, abs=1e-7)
    assert sign_test(d, least=0.01) == pytest.approx(0.009559879, abs=1e-9)


def test_published_monte_carlo_values(pair: tuple[Array, Array]) -> None:
    d = differences(*pair)
    assert near(float(randomisation(d)), 0.00119, 100_000)
    assert near(bootstrap_shift(d), 0.00059, 100_000)
    assert bca(d, resamples=100_000) == pytest.approx((0.0249, 0.0851), abs=0.001)


def test_published_correlations_of_orders() -> None:
    """The example of the R package ircor, and the one of its README, with ties and without."""
    x = np.array([0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54])
    y = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84])
    assert tau_ap(x, y) == pytest.approx(0.392857142857143, abs=1e-15)
    assert tau_ap(y, x) == pytest.approx(0.26128747795414453, abs=1e-15)
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    assert tau_ap(x, y) == pytest.approx(0.7491182, abs=5e-8)
    tied = np.round(x * 5) / 5, np.round(y * 5) / 5
    assert tau_b(*tied) == pytest.approx(0.75)
    assert tau_ap_b(*tied) == pytest.approx(0.6269841, abs=5e-8)


def test_published_power() -> None:
    assert detectable(50) == pytest.approx(0.40418, abs=5e-6)
    variances = (0.0136, 0.0376, 0.0893, 0.0173, 0.0092)
    sizes = [needed(0.05 / math.sqrt(2 * each)) for each in variances]
    assert sizes == [88, 239, 563, 111, 60]


@pytest.mark.parametrize(("n", "df"), [(5, 4.0), (30, 29.0), (200, 199.0), (50, 12.5)])
def test_an_effect_size_has_the_interval_of_the_noncentral_t(n: int, df: float) -> None:
    for t in (-3.0, 0.0, 0.4, 2.5, 9.0):
        low, high = effect_interval(t, n, df, 0.05)
        assert low < t / math.sqrt(n) < high
        assert stats.nct.sf(t, df, low * math.sqrt(n)) == pytest.approx(0.025, abs=1e-5)
        assert stats.nct.cdf(t, df, high * math.sqrt(n)) == pytest.approx(0.025, abs=1e-5)
    assert all(map(math.isnan, effect_interval(math.inf, n, df)))


@pytest.mark.parametrize("runs", [2, 5, 20])
def test_the_level_of_the_best_is_that_of_its_maximum(runs: int) -> None:
    source = np.random.default_rng(runs)
    z = source.normal(size=(100_000, runs)) - source.normal(size=(100_000, 1))
    largest = np.abs(z / math.sqrt(2)).max(axis=1)
    critical = stats.norm.isf(level_of_best(runs) / 2)
    assert (largest > critical).mean() == pytest.approx(0.05, abs=0.003)
    assert 0.05 / runs < level_of_best(runs) < 0.05


# The t-test


@given(changes, st.sampled_from([0.05, 0.01, 0.2]), st.floats(-0.2, 0.2))
@settings(max_examples=60, deadline=None)
def test_t_is_scipys(values: list[float], alpha: float, margin: float) -> None:
    if len(set(values)) == 1:
        return
    found = paired(values, alpha=alpha)
    theirs = stats.ttest_1samp(values, 0)
    assert (found.t, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    interval = theirs.confidence_interval(1 - alpha)
    if math.isnan(found.changed):  # else it is an interval of shares
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-10)
    above = stats.ttest_1samp(values, margin, alternative="greater").pvalue
    assert found.p_above(margin) == pytest.approx(above, rel=1e-9)
    assert found.p_below(margin) == pytest.approx(1 - above, abs=1e-12)
    both = DescrStatsW(values).ttost_mean(-abs(margin), abs(margin))[0]
    assert found.equivalence(abs(margin)) == pytest.approx(both, rel=1e-9)
    assert found.non_inferiority(margin) == found.p_above(-margin)


@given(changes, st.sampled_from([0.05, 0.01]), st.floats(0, 0.1))
@settings(max_examples=40, deadline=None)
def test_bounds_and_posterior_restate_t(values: list[float], alpha: float, rope: float) -> None:
    found = paired(values)
    shares = [
        found.probability(*ends) for ends in ((-math.inf, -rope), (-rope, rope), (rope, math.inf))
    ]
    assert math.fsum(shares) == pytest.approx(math.nan if found.constant else 1, nan_ok=True)
    if found.sd and math.isnan(found.changed):
        assert found.probability(-math.inf, 0) == pytest.approx(found.p_above(0))
        assert found.p_above(found.lower(alpha)) == pytest.approx(alpha, rel=1e-6)
        assert found.p_below(found.upper(alpha)) == pytest.approx(alpha, rel=1e-6)


@given(st.lists(st.tuples(whole, st.integers(1, 5)), min_size=2, max_size=12))
def test_weights_give_the_interval_of_weighted_means(cells: list[tuple[int, int]]) -> None:
    values, weights = [0.3 * x for x, _ in cells], [float(w) for _, w in cells]
    found = paired(values, weights)
    assert found.mean == pytest.approx(mean(values, weights), abs=1e-12)
    if found.sd:
        assert (found.low, found.high) == pytest.approx(mean_interval(values, weights), abs=1e-9)
    equal = paired(values, [2.0] * len(values))
    assert (equal.mean, equal.sd) == pytest.approx((paired(values).mean, paired(values).sd))


def test_defined_answers_at_the_edges() -> None:
    one = paired([0.3])
    assert (one.n, one.mean) == (1, 0.3)
    undefined = (one.sd, one.t, one.p, one.low, one.high, one.d_z, one.hedges_g, one.p_above())
    assert all(map(math.isnan, (*undefined, one.probability(0, 1))))
    none = paired([0.0] * 5)
    assert (none.mean, none.t, none.p, none.low, none.high, none.d_z) == (0, 0, 1, 0, 0, 0)
    assert (none.equivalence(0.01), none.probability(-0.01, 0.01)) == (0, 1)
    assert none.probability(0, math.inf) == none.probability(-math.inf, 0) == 0
    same = paired([0.1] * 3, [1, 2, 3])
    assert (same.mean, same.sd, same.t, same.d_z) == (0.1, 0, math.inf, math.inf)
    unknown = same.p, same.low, same.high, same.lower(0.05), same.probability(0.01, math.inf)
    assert all(map(math.isnan, (*unknown, same.non_inferiority(0.2), same.equivalence(0.2))))
    assert paired([-0.1] * 3).d_z == -math.inf
    assert paired([0.3 - 0.2, 0.2 - 0.1]).sd == 0  # they differ by rounding only
    some, none_of_it = paired([0.1, 0.4, 0.2], [1, 2, 3]), [0.1, 9.0, 0.4, 0.2, 7.0]
    assert paired(none_of_it, [1, 0, 2, 3, 0]) == some
    two = paired([0.1, 0.3])
    assert two.p == pytest.approx(float(stats.ttest_1samp([0.1, 0.3], 0).pvalue))


def test_rounding_is_no_difference() -> None:
    assert differences([0.1 + 0.2, 0.0, 1.0], [0.3, 1e-300, 1 + 1e-9]).tolist() == [
        0.0,
        1e-300,
        pytest.approx(1e-9),
    ]


# The relative difference


@given(st.integers(0, 10_000), st.integers(3, 30))
@settings(max_examples=30, deadline=None)
def test_the_ends_of_the_ratio_are_just_significant(seed: int, n: int) -> None:
    base, new = matrix(seed, 2, n)
    weights = np.random.default_rng(seed).integers(1, 5, n).astype(float)
    share, *ends = relative(base, new, weights)
    assert share == pytest.approx(float(new @ weights / (base @ weights)) - 1)
    if any(map(math.isnan, ends)):
        assert paired(base, weights).low <= 0
    for end in ends:
        if not math.isnan(end):
            assert paired(new - (1 + end) * base, weights).p == pytest.approx(0.05, rel=1e-6)


def test_the_ratio_at_the_edges() -> None:
    assert relative([0.2, 0.5], [0.2, 0.5])[0] == 0
    assert relative([0.5, 0.5, 0.4], [0.5, 0.5, 0.4]) == (0, 0, 0)
    assert all(map(math.isnan, relative([0.0, 0.0], [0.1, 0.2])))
    share, *ends = relative([0.2], [0.3])
    assert share == pytest.approx(0.5)
    assert all(map(math.isnan, ends))


# Randomisation


def flipped(values: list[Fraction], weights: list[int]) -> Fraction:
    """Try all signs, in fractions."""
    parts = [x * w for x, w in zip(values, weights, strict=True)]
    sums = [Fraction(0)]
    for part in parts:
        sums = [before + part for before in sums] + [before - part for before in sums]
    least = abs(sum(parts, Fraction(0)))
    return Fraction(sum(abs(each) >= least for each in sums), len(sums))


@given(
    st.lists(st.tuples(whole, st.integers(1, 3)), min_size=1, max_size=9),
    st.sampled_from([1, 3, 10]),
)
@settings(max_examples=80, deadline=None)
def test_all_signs_are_counted(cells: list[tuple[int, int]], parts: int) -> None:
    """Thirds and tenths are rounded in floating point, and must tie all the same."""
    values, weights = [Fraction(x, parts) for x, _ in cells], [w for _, w in cells]
    wanted = float(flipped(values, weights))
    assert float(randomisation([float(x) for x in values], weights)) == wanted
    if set(weights) == {1}:
        assert float(randomisation([float(x) for x in values])) == wanted


def test_random_signs_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    d = np.round(np.random.default_rng(1).normal(0.1, 0.3, size=(3, 16)), 2)
    exact = randomisation(d)
    for row, p in zip(d, exact, strict=True):
        theirs = stats.permutation_test(
            (row,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
        )
        assert p == theirs.pvalue
    monkeypatch.setattr(resampling, "EXACT", 10)
    drawn = randomisation(d)
    assert all(near(p, q, 100_000) for p, q in zip(drawn, exact, strict=True))
    assert (drawn != exact).any()


@pytest.mark.parametrize("n", [6, 30])
def test_all_pairs_are_the_pairs(n: int) -> None:
    values, weights = np.round(matrix(n, 5, n), 1), np.arange(1.0, n + 1)
    for given_weights in (None, weights):
        p = all_pairs(values, given_weights, flips=2000)
        for a, b in itertools.combinations(range(5), 2):
            alone = randomisation(differences(values[a], values[b]), given_weights, flips=2000)
            assert p[a, b] == p[b, a] == alone
        assert (np.diag(p) == 1).all()


def test_the_same_bytes_whatever_threads_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    d, values = matrix(2, 40, 90) - 0.4, matrix(3, 7, 30)
    tests: tuple[Callable[[], Array], ...] = (
        lambda: randomisation(d, flips=3000),
        lambda: max_t(d, flips=3000).p,
        lambda: all_pairs(values, flips=3000),
    )
    with threadpool_limits(1):
        wanted = [test().tobytes() for test in tests]
        family = tukey([values], permutations=2000).p.tobytes()
    for threads, block in ((2, resampling.BLOCK), (4, 1 << 10)):
        monkeypatch.setattr(resampling, "BLOCK", block)
        with threadpool_limits(threads):
            assert [test().tobytes() for test in tests] == wanted
            assert tukey([values], permutations=2000).p.tobytes() == family
    assert randomisation(d, flips=3000, seed=1).tobytes() != wanted[0]
    alone = [float(randomisation(row, flips=3000)) for row in d[:3]]
    assert alone == randomisation(d, flips=3000)[:3].tolist()


def test_memory_does_not_grow_with_the_flips() -> None:
    d = np.random.default_rng(0).normal(size=(2, 30_000))
    tracemalloc.start()
    try:
        randomisation(d, flips=2000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * 2**20
    assert (flips_for(30_000), flips_for(20), flips_for(21)) == (66_666, 2**20, 100_000)


def test_randomisation_at_the_edges() -> None:
    assert float(randomisation([0.3])) == 1
    assert float(randomisation([0.1, 0.2])) == 0.5
    assert float(randomisation([0.0] * 4)) == float(randomisation([0.0] * 40)) == 1
    assert float(randomisation([0.0] * 49 + [0.3])) == 1
    assert float(randomisation([0.1] * 40)) == pytest.approx(2 / 2**40)  # all by the same amount
    assert float(randomisation([0.1] * 20 + [0.2] * 20)) == 1 / 100_001
    assert float(randomisation([1e-300] * 6)) == float(randomisation([1e300] * 6)) == 2 / 64


# Few changes, and shares


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9), st.integers(0, 60), st.booleans())
def test_few_changes_are_flipped_exactly(cells: list[int], same: int, weigh: bool) -> None:
    """All signs of the queries that change, tried one by one; the others make no difference."""
    weights = np.arange(1.0, len(cells) + same + 1) if weigh else np.ones(len(cells) + same)
    rows = np.array([*cells, *[0] * same]) * 0.1
    changes = (weights * rows)[rows != 0]
    signs = np.array(list(itertools.product((1, -1), repeat=len(changes))))
    sums, seen = (signs * np.abs(changes)).sum(axis=1), changes.sum()
    low, both = (sums <= seen + 1e-9).mean(), (np.abs(sums) >= abs(seen) - 1e-9).mean()
    given = weights if weigh else None
    assert exact_flips(rows, given, drop=True) == pytest.approx(low, abs=1e-12)
    assert exact_flips(rows, given) == float(randomisation(rows, given))
    assert exact_flips(rows, given) == pytest.approx(both, abs=1e-12)


@pytest.mark.parametrize(("won", "lost", "n"), [(0, 3, 50), (9, 2, 30), (40, 61, 500), (7, 7, 99)])
def test_a_measure_of_0_and_1_is_tested_by_mcnemar(won: int, lost: int, n: int) -> None:
    d = np.array([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost))
    expected = stats.binomtest(min(won, lost), won + lost).pvalue
    assert float(randomisation(d)) == pytest.approx(expected, rel=1e-12)
    below = stats.binomtest(lost, won + lost, alternative="greater").pvalue
    assert exact_flips(d, drop=True) == pytest.approx(below, rel=1e-12)
    # Bonett and Price: as if one more query had won and one had lost
    more = np.array([*d, 1.0, -1.0])
    half = stats.norm.ppf(0.975) * more.std() / math.sqrt(len(more))
    found = paired(d)
    assert (found.low, found.high) == pytest.approx((more.mean() - half, more.mean() + half))


def test_a_drop_by_random_flips_is_half_of_both_sides() -> None:
    d = np.random.default_rng(3).normal(-0.05, 0.2, 40)
    both, below = (float(randomisation(d, drop=drop)) for drop in (False, True))
    assert below == pytest.approx(both / 2, rel=0.05)
    assert float(randomisation(-d, drop=True)) == pytest.approx(1 - both / 2, rel=0.05)


def test_all_pairs_with_few_changes_are_exact() -> None:
    rng = np.random.default_rng(7)
    values = np.repeat(rng.random((1, 40)), 4, axis=0)
    for run, changed in enumerate((0, 3, 12, 40)):
        values[run, :changed] = rng.random(changed)
    p = all_pairs(values, flips=999)
    assert p[0, 1] == exact_flips(differences(values[0], values[1]))
    assert p[2, 1] == exact_flips(differences(values[1], values[2]))
    assert p[0, 3] == float(randomisation(values[3] - values[0], flips=999))


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (3, 10), (50, 50), (123, 200)])
def test_a_share_has_the_interval_of_wilson(hits: int, n: int) -> None:
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    found = mean_interval([1.0] * hits + [0.0] * (n - hits))
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
    equal = mean_interval([1.0] * hits + [0.0] * (n - hits), [2.0] * n)
    assert equal == pytest.approx(found, abs=1e-12)


# Families


@pytest.mark.parametrize(("seed", "m"), [(0, 1), (1, 2), (2, 30), (3, 400)])
def test_corrections_are_those_of_statsmodels(seed: int, m: int) -> None:
    p = np.round(np.random.default_rng(seed).beta(0.3, 1, m), 3)
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def largest_t(rows: Array) -> Array:
    """Try all signs with SciPy's t; return the largest |t| of each."""
    signs = np.array(list(itertools.product((1, -1), repeat=rows.shape[1])))
    t = np.abs(stats.ttest_1samp(rows[:, None] * signs, 0, axis=2).statistic)
    return np.asarray(t.max(axis=0))


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_max_t_is_brute_force(seed: int) -> None:
    source = np.random.default_rng(seed)
    given_rows = source.normal(0.3, 1, size=(4, 7))
    t = np.abs(stats.ttest_1samp(given_rows, 0, axis=1).statistic)
    wanted = (largest_t(given_rows) >= t[:, None] * (1 - 1e-9)).mean(axis=1)
    assert max_t(given_rows).p == pytest.approx(wanted, abs=1e-12)
    assert float(max_t(given_rows[:1]).p[0]) == float(randomisation(given_rows[0]))


@pytest.mark.parametrize("n", [12, 40])
def test_a_limit_is_exceeded_where_p_is_below_alpha(n: int) -> None:
    for seed in range(40):
        rows = np.random.default_rng(seed).normal(0.35, 1, size=(5, n))
        rows[:, seed % n] = 0  # a query without a difference takes no part
        p, limits = max_t(rows, flips=1999)
        t = np.abs(stats.ttest_1samp(rows, 0, axis=1).statistic)
        beyond = t > [t_of(limit, n - 1) for limit in limits]
        assert (p[beyond] < 0.05).all()
        alone = max_t(rows, rows, flips=1999)  # without the limit of the residuals
        assert ((t > [t_of(limit, n - 1) for limit in alone.limits]) == (p < 0.05)).all()
        values = np.random.default_rng(seed).normal(size=(4, n)) + 0.4 * np.arange(4)[:, None]
        hsd = tukey([values, values**3], permutations=999)
        for k, table in enumerate((values, values**3)):
            apart = np.abs(table.sum(axis=1)[:, None] - table.sum(axis=1))
            assert ((apart > hsd.limits[k]) == (hsd.p[k] < 0.05)).all()


def test_max_t_lies_between_no_correction_and_bonferroni(adhoc8: Array) -> None:
    d = adhoc8[100:112] - adhoc8[112]
    plain, together = randomisation(d), max_t(d).p
    assert (together >= plain - 0.002).all()
    assert (together <= len(d) * plain + 0.02).all()
    assert max_t(np.vstack([d[:2], np.zeros(50)])).p[2] == 1
    assert max_t(np.zeros((2, 50))).p.tolist() == [1, 1]


def error(row: Array) -> float:
    return float(row.std(ddof=1)) / math.sqrt(len(row))


def every_largest_gain(rows: Array) -> tuple[Array, float]:
    """Draw queries in every way there is; return the largest recentred gain of each, and s₀."""
    n = rows.shape[1]

    kept = [row for row in rows if row.mean() >= -error(row) * math.sqrt(2 * math.log(math.log(n)))]
    steady = float(np.median([error(row) for row in kept]))
    gains = [
        max(
            (row[list(some)].mean() - row.mean()) / (error(row[list(some)]) + steady)
            for row in kept
        )
        for some in itertools.product(range(n), repeat=n)
    ]
    return np.array(gains), steady


@pytest.mark.parametrize("seed", range(4))
def test_max_gain_is_brute_force(seed: int) -> None:
    given_rows = np.random.default_rng(seed).normal(0.2, 1, size=(4, 5))
    given_rows[3] -= 3  # so much worse that it does not count
    errors = np.array([error(row) for row in given_rows])
    drawn, steady = every_largest_gain(given_rows)
    gains = given_rows.mean(axis=1) / (errors + steady)
    wanted = np.minimum(1, 2 * (drawn >= gains[:, None] * (1 - 1e-9)).mean(axis=1))
    found = max_gain(given_rows, alpha=0.2)
    assert found.p == pytest.approx(wanted, abs=0.03)
    assert ((given_rows.mean(axis=1) / errors > found.limits) == (found.p < 0.2)).all()


def test_max_gain_knows_no_order_or_scale_of_rows(adhoc8: Array) -> None:
    d = adhoc8[100:112] - adhoc8[112]
    plain = max_gain(d, 2000)
    turned = max_gain(1000 * d[::-1], 2000)
    assert turned.p[::-1] == pytest.approx(plain.p, abs=1e-12)
    assert turned.limits[::-1] == pytest.approx(plain.limits)
    with threadpool_limits(1):
        assert max_gain(d, 2000).p.tolist() == plain.p.tolist()


def test_max_gain_of_rows_without_error() -> None:
    varied = np.random.default_rng(0).normal(size=(1, 20))
    assert max_gain(np.zeros((2, 20))).p.tolist() == [1, 1]
    beside = max_gain(np.vstack([np.zeros(20), varied]))
    assert (beside.p[0], beside.limits[0]) == (1, 0)
    assert (max_gain(np.full((2, 20), 0.1)).p < 0.001).all()  # the same gain everywhere
    assert max_gain([[0.1, 0.2]]).p[0] <= 1
    rare = np.where(np.arange(20) == 0, -0.3, 0.03)  # without it, draws have no error
    beside = max_gain(np.vstack([np.full((3, 20), 0.1), rare]))
    assert beside.limits.tolist() == [0, 0, 0, math.inf]


def test_tukey_deals_every_query_anew() -> None:
    values = np.round(matrix(5, 3, 4), 1)
    deals = itertools.product(itertools.permutations(range(3)), repeat=4)
    sums = np.array([values[np.array(deal).T, np.arange(4)].sum(axis=1) for deal in deals])
    ranges = np.ptp(sums, axis=1)
    p = tukey([values], permutations=20_000).p[0]
    apart = values.sum(axis=1)
    for a, b in itertools.combinations(range(3), 2):
        exact = float((ranges >= abs(apart[a] - apart[b]) - 1e-9).mean())
        assert near(float(p[a, b]), exact, 20_000)
    assert (p == p.T).all()
    assert (np.diag(p) == 1).all()


def test_tukey_of_two_systems_is_the_randomisation_test() -> None:
    values, weights = matrix(8, 2, 15), np.arange(1.0, 16)
    for given_weights in (None, weights):
        p = float(tukey([values if given_weights is None else values * weights]).p[0, 0, 1])
        exact = float(randomisation(values[1] - values[0], given_weights))
        assert near(p, exact, 100_000)
    assert (permutations_for(50, 50), permutations_for(129, 50)) == (100_000, 38_759)


# Ranks, signs, bootstrap


@given(changes.filter(lambda values: not 10 < len(values) < 14))  # where SciPy is slow
@settings(max_examples=20, deadline=None)
def test_ranks_and_signs_are_scipys(values: list[float]) -> None:
    changed = [x for x in values if x]
    if not changed:
        assert wilcoxon(values) == sign_test(values) == 1
        return
    assert wilcoxon(values) == pytest.approx(float(stats.wilcoxon(changed).pvalue), rel=1e-12)
    up = sum(x > 0 for x in changed)
    assert sign_test(values) == float(stats.binomtest(up, len(changed)).pvalue)


def test_bca_is_scipys_within_its_draws() -> None:
    d = np.random.default_rng(3).exponential(0.2, 40) - 0.1
    theirs = stats.bootstrap((d,), np.mean, n_resamples=50_000, rng=1).confidence_interval
    assert bca(d, resamples=50_000) == pytest.approx((theirs.low, theirs.high), abs=0.002)
    assert bca(d, np.full(40, 3.0)) == pytest.approx(bca(d), abs=1e-12)
    assert bca([0.1, 0.1]) == (0.1, 0.1)
    assert all(map(math.isnan, bca([0.1])))


def test_weighted_draws_follow_their_queries() -> None:
    """A query of weight 2 is as good as a second draw of itself: the centre is weighted."""
    d, weights = np.random.default_rng(4).normal(0.1, 0.2, 30), np.arange(1.0, 31)
    low, high = bca(d, weights)
    found = paired(d, weights)
    assert (low, high) == pytest.approx((found.low, found.high), abs=0.03)
    assert bootstrap_shift(d, weights) == pytest.approx(found.p, abs=0.03)
    assert bootstrap_shift([0.0] * 5) == 1


# Power


def integrated(d_z: float, n: int, alpha: float) -> float:
    """Integrate the chance of a finding over the standard deviation that is estimated."""
    spread, critical = stats.chi(n - 1, scale=(n - 1) ** -0.5), stats.t(n - 1).ppf(1 - alpha / 2)

    def missed(s: float) -> float:
        reach = special.ndtr(np.array([1, -1]) * critical * s - d_z * math.sqrt(n))
        return float((reach[0] - reach[1]) * spread.pdf(s))

    low, high = spread.ppf(1e-13), spread.isf(1e-13)
    return 1 - float(integrate.quad(missed, low, high, epsabs=1e-11, limit=200)[0])


@given(st.floats(0.02, 3), st.integers(2, 400), st.sampled_from([0.05, 0.01]))
@settings(max_examples=30, deadline=None)
def test_power_is_its_definition_and_that_of_statsmodels(d_z: float, n: int, alpha: float) -> None:
    found = power(d_z, n, alpha)
    assert found == power(-d_z, n, alpha) == pytest.approx(integrated(d_z, n, alpha), abs=1e-8)
    theirs = float(TTestPower().power(d_z, n, alpha))
    assert math.isnan(theirs) or found == pytest.approx(theirs, abs=1e-8)


@given(st.floats(0.05, 3), st.sampled_from([0.05, 0.01]), st.sampled_from([0.8, 0.9]))
@settings(max_examples=40, deadline=None)
def test_the_queries_needed_are_the_fewest(d_z: float, alpha: float, wanted: float) -> None:
    n = needed(d_z, alpha, wanted)
    assert power(d_z, n, alpha) >= wanted
    assert n == 2 or power(d_z, n - 1, alpha) < wanted
    assert detectable(n, alpha, wanted) <= d_z + 1e-9


def test_power_at_the_edges() -> None:
    assert power(0.0, 50) == pytest.approx(0.05)
    assert power(100.0, 1000) == 1
    assert needed(0.3) == 90
    assert needed(math.inf) == 2
    with pytest.raises(UsageError, match="no number of queries"):
        needed(0.0)


# Risk and orders


@given(rows, st.sampled_from([0.0, 1.0, 5.0]))
def test_risk_is_its_formula(row: list[int], alpha: float) -> None:
    dear = [x if x >= 0 else (1 + alpha) * x for x in row]
    assert urisk(row, alpha) == pytest.approx(sum(dear) / len(dear), abs=1e-12)
    assert urisk(row, alpha, [2] * len(row)) == pytest.approx(urisk(row, alpha), abs=1e-12)
    if len(dear) == 1:
        assert math.isnan(trisk(row, alpha))  # one query has no standard error
    elif len(set(dear)) > 1:
        wanted = urisk(row, alpha) / (float(np.std(dear, ddof=1)) / math.sqrt(len(dear)))
        assert trisk(row, alpha) == pytest.approx(wanted)
        assert alpha or trisk(row, 0.0) == paired(row).t
    elif dear[0]:
        assert trisk(row, alpha) == math.copysign(math.inf, dear[0])
    else:
        assert trisk(row, alpha) == 0


def walked(truth: list[int], estimate: list[int]) -> float:
    """Walk down the estimated order, as the definition of τ_AP without ties has it."""
    order = sorted(range(len(truth)), key=lambda item: -estimate[item])
    parts = [
        sum(truth[other] > truth[item] for other in order[:place]) / place
        for place, item in enumerate(order)
        if place
    ]
    return 2 * math.fsum(parts) / (len(order) - 1) - 1


@given(st.permutations(range(7)), st.permutations(range(7)))
def test_tau_ap_is_its_definition(x: list[int], y: list[int]) -> None:
    assert tau_ap(x, y) == pytest.approx(walked(x, y), abs=1e-12)
    assert tau_ap_b(x, y) == pytest.approx((walked(x, y) + walked(y, x)) / 2, abs=1e-12)
    assert tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


@given(st.lists(st.tuples(whole, whole), min_size=2, max_size=9))
def test_orders_with_ties(cells: list[tuple[int, int]]) -> None:
    x, y = zip(*cells, strict=True)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(tau_b(x, y))
        assert math.isnan(tau_ap_b(x, y)) or len(set(x)) == 1 < len(set(y)) or len(set(y)) == 1
    else:
        assert tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
        assert -1 <= tau_ap_b(x, y) <= 1
    noisy = [value / 10 + 0.2 - 0.2 for value in x]
    assert tau_ap(noisy, y) == pytest.approx(tau_ap(x, y), nan_ok=True)


def test_scipy_waits_until_it_is_needed() -> None:
    names = [path.stem for path in Path(resampling.__file__).parent.glob("[a-z]*.py")]
    assert "paired" in names
    imports = "; ".join(f"import idealist.significance.{name}" for name in names)
    code = f"import sys; {imports}; print('scipy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("alpha", [0, 1, 1e-17, math.nan, "0.05", None, True])
def test_what_is_no_level_is_refused(alpha: Any) -> None:
    with pytest.raises(UsageError, match="alpha cannot be"):
        paired([0.1, 0.2], alpha=alpha)


def test_weights_of_zero_are_as_if_not_there() -> None:
    d, w = np.array([0.1, 0.3, -0.2, 0.4, 0.6]), np.array([1.0, 2, 0, 3, 0])
    assert bca(d, w) == bca(d[w > 0], w[w > 0])
    assert bootstrap_shift(d, w) == bootstrap_shift(d[w > 0], w[w > 0])
