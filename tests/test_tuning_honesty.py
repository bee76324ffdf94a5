"""Tuning does not fool itself: nothing is announced where nothing is better, estimates are right.

A sample runs always; 2,000 trials each with IDEALIST_SLOW=1, which prints what the docs tell.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from effort import IS_SLOW, tries
from idealist.significance.paired import paired
from tuning_tables import Table, is_announced, is_announced_in_sample, tuned_table

TRIALS = tries(6, 2000)


def say(words: str) -> None:
    if IS_SLOW:
        print(f"\n{words}")


def most(trials: int) -> float:
    """The share above which 5 % are not kept: four standard errors of few trials, one of many."""
    return 0.05 + (1 if trials >= 2000 else 4) * math.sqrt(0.05 * 0.95 / trials)


def alike(rng: np.random.Generator) -> Table:
    """60 settings of which none is better, as alike as fusions are."""
    return 0.4 + 0.2 * rng.normal(size=(1, 30)) + 0.1 * rng.normal(size=(60, 30))


def uneven(rng: np.random.Generator) -> Table:
    """60 settings of which none is better: some hardly differ from the default, some much."""
    spread = np.linspace(0.01, 0.3, 60)[:, None]
    return 0.4 + 0.2 * rng.normal(size=(1, 40)) + spread * rng.normal(size=(60, 40))


def skewed(rng: np.random.Generator) -> Table:
    """Settings that differ from the default in few queries, in some of them much."""
    rare = (rng.random((40, 30)) < 0.2) * rng.exponential(0.3, (40, 30))
    signs = rng.choice([-1.0, 1.0], (40, 30))
    return np.vstack([np.zeros(30), rare * signs]) + rng.random(30)


def lopsided(rng: np.random.Generator) -> Table:
    """Settings that gain a little in most queries, and lose as much in all in one of ten."""
    lost = rng.random((40, 50)) < 0.1
    return np.vstack([np.zeros(50), np.where(lost, -0.27, 0.03)]) + rng.random(50)


def tailed(rng: np.random.Generator) -> Table:
    """200 mixtures of five settings that gain in most queries; the more they lose, the rarer."""
    five = 0.05 - rng.exponential(0.05, (5, 50))
    return np.vstack([np.zeros(50), rng.dirichlet(np.ones(5), 200) @ five]) + rng.random(50)


SHAPES = [(alike, 5), (uneven, 5), (skewed, 5), (uneven, 10), (lopsided, 5), (tailed, 5)]


@pytest.mark.parametrize(("draw", "folds"), SHAPES)
def test_nothing_is_announced_where_nothing_is_better(
    draw: Callable[[np.random.Generator], Table], folds: int
) -> None:
    rng = np.random.default_rng(7)
    honest = naive = 0
    for _ in range(TRIALS):
        values = draw(rng)
        honest += is_announced(*tuned_table(values, folds))
        naive += is_announced_in_sample(values)
    say(
        f"{draw.__name__}, {folds} folds: announced {honest / TRIALS:.1%}, in sample {naive / TRIALS:.1%}"
    )
    assert honest / TRIALS <= most(TRIALS)
    assert naive / TRIALS > 0.1 or not IS_SLOW


@cache
def covid_values(data: Path) -> Table:
    """Values of a hundred fusions of TREC-COVID's runs, the default first: untuned RRF."""
    runs = sorted(map(str, (data / "trec-covid-r1/runs").iterdir()))
    found = il.tune(data / "trec-covid-r1/qrels.txt", runs, missing="empty")
    trials = found.looks.trials
    return np.array([trials.values(one) for one in trials.tried[:: len(trials.tried) // 100]])


def test_nothing_is_announced_on_real_values_of_equal_means(data: Path) -> None:
    """Real differences, with all their shapes, are recentred, and queries drawn anew."""
    values = covid_values(data)
    apart = values - values[0]
    level = values[0] + apart - apart.mean(axis=1, keepdims=True)
    rng = np.random.default_rng(3)
    honest = naive = 0
    for _ in range(TRIALS):
        drawn = level[:, rng.integers(level.shape[1], size=level.shape[1])]
        honest += is_announced(*tuned_table(drawn))
        naive += is_announced_in_sample(drawn)
    say(f"TREC-COVID, recentred: announced {honest / TRIALS:.1%}, in sample {naive / TRIALS:.1%}")
    assert honest / TRIALS <= most(TRIALS)
    assert naive / TRIALS > 0.1 or not IS_SLOW


def chance_runs(seed: int, queries: int = 24) -> tuple[Any, list[Any]]:
    """Three runs whose scores know nothing of relevance, so that no method is better."""
    draw = random.Random(seed)
    names = [f"d{i}" for i in range(25)]
    qrels = {f"q{q}": {d: draw.choice([0, 0, 1, 2]) for d in names} for q in range(queries)}
    runs = [
        {q: {d: draw.random() for d in draw.sample(names, 20)} for q in qrels} for _ in range(3)
    ]
    return qrels, runs


def test_nothing_is_announced_of_fusions_of_chance() -> None:
    """The whole of `tune`, refinement and learning methods included."""
    trials = tries(3, 400)
    honest = naive = 0
    for seed in range(trials):
        qrels, runs = chance_runs(seed)
        methods = ["rrf", "wsum", "mnz", "rbc", "posfuse"] if seed % 4 == 0 else ["rrf", "wsum"]
        found = il.tune(qrels, runs, methods, "nDCG@5", seed=seed)
        honest += found.is_real
        values = [found.looks.trials.values(one) for one in (found.family.default, found.best)]
        apart = paired(values[1] - values[0])
        naive += apart.mean > 0 and apart.p < 0.05
    say(f"fusions of chance: announced {honest / trials:.1%}, in sample {naive / trials:.1%}")
    assert honest / trials <= most(trials)
    assert naive / trials > 0.15 or not IS_SLOW


def halves(values: Table, draws: int) -> Iterator[tuple[float, float, float, float]]:
    """Tune on either half of the queries; yield what was estimated, its error, seen, and what came."""
    rng = np.random.default_rng(11)
    n = values.shape[1]
    for _ in range(draws):
        order = rng.permutation(n)
        for seen, others in permutations((order[: n // 2], order[n // 2 :])):
            tuned, _ = tuned_table(values[:, seen])
            error = float(tuned.values.std(ddof=1) / math.sqrt(len(seen)))
            came = float(values[tuned.setting, others].mean())
            yield tuned.estimate, error, tuned.in_sample, came


def shifts(values: Table, draws: int) -> tuple[float, float, float]:
    """Return how much estimate and in-sample value are too high, and the estimate's error."""
    estimate, error, seen, came = np.array([*halves(values, draws)]).T
    return float((estimate - came).mean()), float((seen - came).mean()), float(error.mean())


def test_the_estimate_is_unbiased_on_fusions_of_real_runs(data: Path) -> None:
    estimate, in_sample, error = shifts(covid_values(data), tries(4, 500))
    say(f"TREC-COVID: estimate {estimate:+.4f}, in sample {in_sample:+.4f}, s.e. {error:.4f}")
    assert abs(estimate) < error / (2 if IS_SLOW else 1)
    assert in_sample > estimate


@pytest.mark.parametrize("name", ["adhoc8_ap", "web2013_ndcg20"])
def test_the_estimate_is_unbiased_in_choosing_among_real_systems(data: Path, name: str) -> None:
    values = np.loadtxt(data / f"sigir2019/{name}.csv", delimiter=",", skiprows=1).T
    estimate, in_sample, error = shifts(np.ascontiguousarray(values), tries(4, 500))
    say(f"{name}: estimate {estimate:+.4f}, in sample {in_sample:+.4f}, s.e. {error:.4f}")
    assert abs(estimate) < error / (2 if IS_SLOW else 1)
    assert in_sample > estimate


def test_the_interval_holds_what_tuning_is_worth() -> None:
    """The truth is what the choice is worth on queries without end."""
    trials, rng = tries(30, 2000), np.random.default_rng(5)
    held = 0
    for _ in range(trials):
        truth = 0.4 + 0.03 * rng.normal(size=(30, 1))
        values = truth + 0.2 * rng.normal(size=(1, 40)) + 0.1 * rng.normal(size=(30, 40))
        tuned, _ = tuned_table(values)
        low, high = tuned.interval
        held += low <= truth[tuned.setting, 0] <= high
    say(f"intervals of the estimate that hold: {held / trials:.1%}")
    assert held / trials > 0.95 - 4 * math.sqrt(0.95 * 0.05 / trials) - 0.01


def test_corrected_intervals_hold_the_gain_of_what_was_chosen() -> None:
    trials, rng = tries(20, 1000), np.random.default_rng(6)
    held = chosen = 0
    for _ in range(trials):
        truth = np.append(0.0, 0.03 * rng.normal(size=19))[:, None]
        values = truth + 0.2 * rng.normal(size=(1, 30)) + 0.1 * rng.normal(size=(20, 30))
        tuned, _ = tuned_table(values)
        if tuned.pair is not None:
            low, high = tuned.pair.ci
            held, chosen = held + (low <= truth[tuned.setting, 0] <= high), chosen + 1
    say(f"corrected intervals of the gain that hold: {held / chosen:.1%}")
    assert held / chosen > 0.95 - 4 * math.sqrt(0.95 * 0.05 / chosen)
