"""How often tests find differences that are not there: a study on real values per query.

    python tests/type_one.py [TRIALS]      prints the tables of docs/explanation/significance.md

Real differences are recentred, their signs flipped at random, or values of a query dealt anew to
systems, so that no system is better than another. Every finding is then false. Seeds are fixed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import idealist as il
from conftest import TEST_DATA
from idealist.gating.checks import FAIL, Rule, p_of_drop
from idealist.significance.families import holm, max_t, tukey
from idealist.significance.paired import paired
from idealist.significance.rank_tests import sign_test, wilcoxon
from idealist.significance.resampling import EXACT, bca, bootstrap_shift, randomisation

Array = NDArray[np.float64]

COLLECTIONS = {"TREC-8, AP": "adhoc8_ap.csv", "Web 2013, nDCG@20": "web2013_ndcg20.csv"}
#: The measures of 109 runs of TREC-COVID, round 1, on 30 queries.
COVID = {f"TREC-COVID, {measure}": measure for measure in ("nDCG@10", "AP", "RR@10")}
#: The same, of pairs of runs that differ on at most 10 of the queries.
ALIKE = "TREC-COVID, RR@10, runs alike"
#: Weights of queries: the k-th heaviest has k^-power.
POWERS = (0.0, 1.0, 1.3)
SIZES, ALPHAS, TRIALS = (10, 20, 50), (0.05, 0.01), 4000

#: Draws of tests that are repeated for every trial. The levels stay exact, as (1 + draws) alpha is
#: whole for the tests that permute.
DRAWS, PERMUTATIONS = 1999, 399


@dataclass(frozen=True)
class Rate:
    """How often something happened in so many trials."""

    where: str
    n: int
    what: str
    alpha: float
    share: float
    trials: int

    @property
    def band(self) -> float:
        """How far chance alone takes the share from alpha, in 99.9 % of studies."""
        return 3.2905 * math.sqrt(self.alpha * (1 - self.alpha) / self.trials)


@cache
def values_of(name: str) -> Array:
    """Give the values of a collection, a row for each system."""
    if name in COVID:
        return covid()[COVID[name]]
    return np.genfromtxt(
        TEST_DATA / "sigir2019" / COLLECTIONS[name], delimiter=",", skip_header=1
    ).T


@cache
def covid() -> dict[str, Array]:
    """Measure the runs of TREC-COVID."""
    folder = TEST_DATA / "trec-covid-r1"
    paths = sorted((*folder.glob("runs/*"), *folder.glob("more/*")))
    labels = list(COVID.values())
    found = [il.evaluate(folder / "qrels.txt", path, labels).values for path in paths]
    return {label: np.array([one[label] for one in found]) for label in labels}


def pairs(values: Array, n: int, trials: int, source: np.random.Generator, most: int = 50) -> Array:
    """Give differences of random pairs of systems on n random queries, at most so many not 0."""
    found = np.zeros((trials, n))
    for row in found:
        while not 0 < np.count_nonzero(row) <= most:  # systems that are equal here tell nothing
            first, second = source.choice(len(values), 2, replace=False)
            places = source.permutation(values.shape[1])[:n]
            row[:] = (values[second] - values[first])[places]
    return found


def each(test: Callable[[Array], float]) -> Callable[[Array], Array]:
    """Make a test of one row one of many."""
    return lambda rows: np.array([test(row) for row in rows])


TESTS: dict[str, Callable[[Array], Array]] = {
    "t": each(lambda row: paired(row).p),
    "randomisation": randomisation,
    "Wilcoxon": each(wilcoxon),
    "sign": each(sign_test),
    "bootstrap": each(lambda row: bootstrap_shift(row, resamples=DRAWS)),
}


def two_systems(trials: int = TRIALS, tests: tuple[str, ...] = tuple(TESTS)) -> Iterator[Rate]:
    """Flip the signs of real differences and test them."""
    for where in COLLECTIONS:
        for n in SIZES:
            source = np.random.default_rng([len(where), n])
            rows = pairs(values_of(where), n, trials, source)
            rows = rows * source.choice([-1.0, 1.0], rows.shape)
            for name in tests:
                p = TESTS[name](rows)
                for alpha in ALPHAS:
                    yield Rate(where, n, name, alpha, float((p <= alpha).mean()), trials)


def recentred(where: str, n: int, trials: int, source: np.random.Generator) -> Array:
    """Let the differences of two systems, less their mean, be the world; draw n queries from it."""
    values = values_of("TREC-COVID, RR@10" if where == ALIKE else where)
    most = 10 if where == ALIKE else values.shape[1]
    worlds = pairs(values, values.shape[1], trials, source, most)
    rows = source.permuted(worlds - worlds.mean(axis=1, keepdims=True), axis=1)
    drawn = np.take_along_axis(rows, source.integers(rows.shape[1], size=(trials, n)), axis=1)
    varied: Array = drawn[np.ptp(drawn, axis=1) > 0]  # where nothing varies there is no test
    return varied


def asymmetric(trials: int = TRIALS) -> Iterator[Rate]:
    """Draw queries from recentred differences, and count who rejects the true mean, 0."""
    tests = {name: TESTS[name] for name in ("randomisation", "t", "Wilcoxon", "sign")}
    tests["BCa"] = each(_in_bca)
    for where in (*COLLECTIONS, *COVID, ALIKE):
        for n in SIZES:
            rows = recentred(where, n, trials, np.random.default_rng([len(where), n, 1]))
            for what, test in tests.items():
                yield Rate(where, n, what, 0.05, float((test(rows) <= 0.05).mean()), len(rows))


def _in_bca(row: Array) -> float:
    """Give 1 where the interval of the bootstrap holds 0, else 0."""
    low, high = bca(row, resamples=DRAWS)
    return float(low <= 0 <= high)


def weighted(trials: int = TRIALS) -> Iterator[Rate]:
    """Weigh queries as Zipf would; count intervals that miss 0, false findings and false FAILs."""
    for where in (*COLLECTIONS, *COVID):
        for n in (30, 50, 200):
            rows = recentred(where, n, trials, np.random.default_rng([len(where), n, 3]))
            for power in POWERS:
                weights = np.arange(1.0, n + 1) ** -power if power else None
                found = [paired(row, weights) for row in rows]
                happened = {
                    "miss": np.array([not one.low <= 0 <= one.high for one in found]),
                    "find": decided(rows, weights, [one.p for one in found]) <= 0.05,
                    "FAIL": decided(rows, weights, [one.p_below() for one in found], drop=True)
                    <= 0.05,
                }
                for what, times in happened.items():
                    share = float(times.mean())
                    yield Rate(where, n, f"{what}, Zipf {power:g}", 0.05, share, len(rows))


def decided(rows: Array, weights: Array | None, by_t: list[float], *, drop: bool = False) -> Array:
    """Give the p-values that decide: of flips and of t with weights, without of one of them.

    `compare` decides by flips, `gate` by exact ones where few queries change, else by t.
    """
    flips = randomisation(rows, weights, flips=DRAWS, drop=drop)
    if weights is not None:
        return np.maximum(flips, by_t)
    exact = np.count_nonzero(rows, axis=1) <= EXACT
    return np.where(exact, flips, by_t) if drop else flips


def few_changes(trials: int = TRIALS) -> Iterator[Rate]:
    """Let only some queries keep their real difference, flip signs, and count gates that fail."""
    for where in COVID:
        for changed in (1, 2, 3, 4, 5, 10):
            source = np.random.default_rng([len(where), changed, 4])
            failed = {"the gate": 0, "t alone": 0}
            for row in pairs(values_of(where), 30, trials, source):
                kept = source.permutation(np.flatnonzero(row))[:changed]
                one = np.zeros(50)
                one[: len(kept)] = row[kept] * source.choice([-1.0, 1.0], len(kept))
                found = paired(one)
                failed["the gate"] += Rule(max_drop=0).verdict(found, p_of_drop(one)) == FAIL
                failed["t alone"] += found.p_below() <= 0.05
            for what, count in failed.items():
                yield Rate(where, changed, what, 0.05, count / trials, trials)


#: Groups of equal systems among six; the others are real and differ.
NULLS: dict[str, tuple[tuple[int, ...], ...]] = {
    "all six equal": ((0, 1, 2, 3, 4, 5),),
    "three of six equal": ((0, 1, 2),),
    "twice three equal": ((0, 1, 2), (3, 4, 5)),
}


def many_systems(trials: int = TRIALS, sizes: tuple[int, ...] = (10, 50)) -> Iterator[Rate]:
    """Deal the values of each query anew within groups, and look for a finding inside a group."""
    for where in COLLECTIONS:
        for what, groups in NULLS.items():
            for n in sizes:
                source = np.random.default_rng([len(where), n, len(what)])
                least = [smallest(values_of(where), groups, n, source) for _ in range(trials)]
                for alpha in ALPHAS:
                    share = float((np.array(least) <= alpha).mean())
                    yield Rate(where, n, what, alpha, share, trials)


def smallest(
    values: Array, groups: tuple[tuple[int, ...], ...], n: int, source: np.random.Generator
) -> float:
    """Give the smallest p-value of Tukey's test among systems that are equal."""
    chosen = values[source.choice(len(values), 6, replace=False)]
    chosen = chosen[:, source.permutation(values.shape[1])[:n]]
    for group in groups:
        chosen[list(group)] = source.permuted(chosen[list(group)], axis=0)
    seed = int(source.integers(2**31))
    p = tukey([chosen], permutations=PERMUTATIONS, seed=seed).p[0]
    return min(float(p[a, b]) for group in groups for a in group for b in group if a < b)


def against_one(trials: int = TRIALS, n: int = 50) -> Iterator[Rate]:
    """Flip the signs of five systems' differences to one baseline together."""
    for where in COLLECTIONS:
        values, source = values_of(where), np.random.default_rng([len(where), n, 2])
        least: dict[str, list[float]] = {"Holm on t": [], "MaxT": []}
        for _ in range(trials):
            chosen = values[source.choice(len(values), 6, replace=False)]
            rows = (chosen[1:] - chosen[0]) * source.choice([-1.0, 1.0], n)
            least["Holm on t"].append(float(holm([paired(row).p for row in rows]).min()))
            seed = int(source.integers(2**31))
            least["MaxT"].append(float(max_t(rows, flips=DRAWS, seed=seed).p.min()))
        for what, found in least.items():
            for alpha in ALPHAS:
                share = float((np.array(found) <= alpha).mean())
                yield Rate(where, n, what, alpha, share, trials)


def table(rates: list[Rate]) -> str:
    """Draw rates as Markdown: a row for each collection and number of queries."""
    columns = list(dict.fromkeys((rate.what, rate.alpha) for rate in rates))
    heads = [f"{what} {f'{alpha:g}'.lstrip('0')}" for what, alpha in columns]
    lines = [f"| values | queries | {' | '.join(heads)} |", "|---|--:|" + "--:|" * len(heads)]
    for where, n in dict.fromkeys((rate.where, rate.n) for rate in rates):
        found = {(r.what, r.alpha): r.share for r in rates if (r.where, r.n) == (where, n)}
        cells = " | ".join(f"{found[column]:.4f}" for column in columns)
        lines.append(f"| {where} | {n} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    for study in (asymmetric, two_systems, weighted, few_changes, many_systems, against_one):
        print(f"{study.__doc__}\n\n{table(list(study(count)))}\n", flush=True)
