"""Samples of a pool: estimates are unbiased over 2,000 draws, and their intervals cover."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

import idealist as il
from conftest import TEST_DATA
from idealist.judging.choosing.pool_case import Lists, PoolCase, fused, ranked_lists, ranks_of
from idealist.judging.choosing.sampled_pools import STRATA_CONSTANT, sampled, strata
from idealist.significance.stratified_samples import StratifiedSample

DRAWS = 2000
CUTOFF = 10


class Population:
    """The pool of some runs with the true grades: what each document adds to each run's value."""

    def __init__(self, case: PoolCase, truth: dict[str, dict[str, float]], number: int) -> None:
        self.parts = {q: strata(fused(case.lists[q], STRATA_CONSTANT), number) for q in case.lists}
        strata_of = [(q, part) for q, parts in self.parts.items() for part in parts]
        documents = [(q, d) for q, part in strata_of for d in part.documents]
        self.place = {pair: i for i, pair in enumerate(documents)}
        sizes = [len(part.documents) for _, part in strata_of]
        self.stratum = np.repeat(np.arange(len(sizes)), sizes)
        self.level = np.array([int(part.name) for _, part in strata_of])
        ranks = {q: ranks_of(lists) for q, lists in case.lists.items()}
        rank = np.array([ranks[q][d] for q, d in documents], dtype=float)
        seen = (rank > 0) & (rank <= CUTOFF)
        self.relevant = np.array([truth[q].get(d, 0) >= 1 for q, d in documents], dtype=float)
        self.gain = np.array([max(truth[q].get(d, 0), 0) for q, d in documents], dtype=float)
        discount = np.where(seen, 1 / np.log2(np.maximum(rank, 1) + 1), 0) / len(case.lists)
        precision = seen / CUTOFF / len(case.lists)
        chosen = {"relevant": np.ones(len(documents))}
        chosen |= {
            f"P@10 of {name}": own for name, own in zip(case.names, precision.T, strict=True)
        }
        chosen |= {
            f"{name} - {case.names[0]}": own - precision[:, 0]
            for name, own in list(zip(case.names, precision.T, strict=True))[1:5]
        }
        self.worths = [self.relevant] * len(chosen) + [self.gain] * 3
        chosen |= {f"DCG@10 of {case.names[i]}": discount[:, i] for i in range(3)}
        self.names, self.weights = list(chosen), np.column_stack(list(chosen.values()))
        self.totals = np.array([w @ u for w, u in zip(self.weights.T, self.worths, strict=True)])

    def draw(self, seed: int) -> tuple[list[float], list[float]]:
        """Draw a sample as `judge pool` does; return the estimates and half their intervals."""
        drawn = np.zeros(len(self.place), dtype=bool)
        turn = count(1)
        for query, parts in self.parts.items():
            for one in sampled(query, parts, seed, turn):
                drawn[self.place[query, one.document]] = one.place is not None
        sample = StratifiedSample(self.stratum, drawn, self.level)
        found = [sample.total(w, u) for w, u in zip(self.weights.T, self.worths, strict=True)]
        return [one.value for one in found], [one.half() for one in found]


def real() -> Population:
    """Twelve runs of TREC-COVID to depth 20, with 40 of about 160 documents a query judged."""
    folder = TEST_DATA / "trec-covid-r1"
    if not folder.is_dir():
        pytest.skip(f"no real data at {TEST_DATA}; set IDEALIST_TEST_DATA")
    case = cut(ranked_lists(sorted((folder / "runs").iterdir())), 20)
    return Population(case, il.read_qrels(folder / "qrels.txt").to_dict(), 40)


def generated() -> Population:
    """Two good runs and a poor one over 30 short lists; half of the documents are relevant."""
    rng = np.random.default_rng(5)
    lists: dict[str, Lists] = {}
    truth: dict[str, dict[str, float]] = {}
    for number in range(30):
        grades = rng.choice([0, 1, 2, 3], size=80, p=[0.5, 0.3, 0.1, 0.1])
        truth[f"q{number}"] = {f"d{i}": float(grade) for i, grade in enumerate(grades)}
        noise = [np.argsort(sd * rng.normal(size=80) - grades)[:30] for sd in (0.5, 0.7, 9)]
        lists[f"q{number}"] = tuple(tuple(f"d{i}" for i in one) for one in noise)
    runs = [il.read_run({"q0": ["d0"]}, name=name) for name in ("a", "b", "c")]
    return Population(PoolCase(tuple(runs), lists), truth, 12)


def cut(case: PoolCase, depth: int) -> PoolCase:
    return PoolCase(case.runs, {query: case.cut(query, depth) for query in case.lists})


@pytest.mark.parametrize("population", [real, generated])
def test_estimates_are_unbiased_and_intervals_cover(population: Callable[[], Population]) -> None:
    made = population()
    draws = [made.draw(seed) for seed in range(DRAWS)]
    errors = np.array([values for values, _ in draws]) - made.totals
    halves = np.array([half for _, half in draws])
    standard = errors.std(axis=0, ddof=1) / math.sqrt(DRAWS)
    off = np.abs(errors.mean(axis=0)) / standard
    covered = (np.abs(errors) <= halves).mean(axis=0)
    for name, *numbers in zip(made.names, off, covered, strict=True):
        print(f"{name:32s} bias {numbers[0]:.2f} standard errors, covered {numbers[1]:.1%}")
    assert off.max() < 3
    assert covered.min() > 0.93
    assert np.median(covered) < 0.98
