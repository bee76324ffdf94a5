"""One declared family: the first measure decides, intervals match tests, few that carry are named.

IDEALIST_SLOW=1 pytest -s tests/test_compare_families.py    prints the tables of the docs
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import idealist as il
from conftest import TEST_DATA
from effort import SLOW
from idealist.comparing import Pair
from idealist.comparing.compare_options import options_of
from idealist.comparing.comparison_doubts import doubts_of
from idealist.comparing.comparison_report import heading
from idealist.comparing.deciding import pairs_of, sliced
from idealist.comparing.pairing import ValueTable, places_of
from idealist.rendering.wording import p_words
from idealist.significance import families, resampling
from idealist.significance.paired import paired

Array = NDArray[np.float64]


#: What `compare` compares unasked.
MEASURES = ("nDCG@10", "AP", "RR@10", "R@100")


def tables_of(values: Array) -> list[ValueTable]:
    """Make tables of values, measures x runs x queries; the first run is the baseline."""
    _, runs, n = values.shape
    queries = tuple(f"q{i:03}" for i in range(n))
    evaluator = il.Evaluator({query: {"d": 1} for query in queries}, MEASURES[: len(values)])
    names = tuple(f"r{i}" for i in range(runs))
    return [
        ValueTable(label, evaluator.signatures[label], one.measure, names, queries, own, None)
        for (label, one), own in zip(evaluator.instruments.items(), values, strict=True)
    ]


@pytest.fixture(autouse=True)
def quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw fewer signs and permutations, which changes no level."""
    for module in (resampling, families):
        for name in ("randomisation", "all_pairs", "max_t", "tukey"):
            if hasattr(module, name):
                function = getattr(module, name)
                fewer = tuple(1999 if x == resampling.FLIPS else x for x in function.__defaults__)
                monkeypatch.setattr(function, "__defaults__", fewer)


def decided(values: Array, every: bool = False, seed: int = 0) -> list[Pair]:
    places = places_of(values.shape[1], 0, every)
    options = options_of(len(places), (), all_pairs=every, seed=seed)
    return pairs_of(tables_of(values), places, options)


def alike(rng: np.random.Generator, runs: int, n: int, measures: int = 4) -> Array:
    """Draw values of measures that agree somewhat, of runs that are equally good."""
    shared = rng.normal(0, 0.1, (1, runs, n))
    return 0.5 + shared + rng.normal(0, 0.1, (measures, runs, n))


def evaluations(values: Array) -> list[il.Evaluation]:
    tables = tables_of(values)
    labels = [table.label for table in tables]
    return [
        il.Evaluation(
            run=name, queries=tables[0].queries,
            values={label: own[i] for label, own in zip(labels, values, strict=True)},
            counted={label: np.ones(values.shape[2], dtype=bool) for label in labels},
            aggregates={m: float(own[i].mean()) for m, own in zip(labels, values, strict=True)},
            signatures={table.label: table.signature for table in tables},
        )
        for i, name in enumerate(tables[0].runs)
    ]  # fmt: skip


# The first measure decides


def test_where_nothing_differs_a_mark_is_as_rare_as_alpha_says() -> None:
    rng, marked, alone = np.random.default_rng(1), 0, 0
    for _ in range(500):
        pairs = decided(alike(rng, 2, 12))
        marked += any(pair.significant for pair in pairs)
        alone += any(pair.p_randomisation < 0.05 for pair in pairs)
    assert alone / 500 > 0.1  # what was marked while other measures had no correction
    assert marked / 500 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)


def test_no_other_measure_is_marked_where_the_first_is_not() -> None:
    rng = np.random.default_rng(2)
    values = alike(rng, 3, 30)
    values[1:, 1:] += 0.2  # all but the first measure differ
    found = il.compare_evaluations(evaluations(values))
    assert not any(pair.significant for pair in found.pairs)
    held = [pair for pair in found.pairs if pair.held_back]
    assert len(held) == 6
    text = f"but {MEASURES[0]} decides, and is not significant."
    assert all(pair.verdict.endswith(text) for pair in held)
    for page in (str(found), found.markdown(), found.render("html"), found.render("latex")):
        assert "textsuperscript" not in page
        assert "dagger" not in page
        assert "ᵃ" not in page
    text = " ".join(str(found).split())
    assert "2 of 2 runs are better" not in text
    assert f"on AP; 2 are not counted, since {MEASURES[0]} is not significant: r1 +0." in text
    values[0, 1] += 0.3
    found = il.compare_evaluations(evaluations(values))
    marks = {pair.run for pair in found.pairs if pair.significant}
    assert marks == {"r1"}
    assert all(pair.significant for pair in found.pairs if pair.run == "r1")
    every = il.compare_evaluations(evaluations(values), all_pairs=True)
    assert all("r1" in (pair.run, pair.baseline) for pair in every.pairs if pair.significant)


def test_measures_behind_the_first_are_corrected_together() -> None:
    rng = np.random.default_rng(3)
    values = alike(rng, 4, 25)
    values[0, 1:] += 0.5  # the first measure finds all, so that it holds nothing back
    pairs = decided(values)
    rows = np.array([pair.differences for pair in pairs])
    assert [pair.p_adjusted for pair in pairs[:3]] == families.max_t(rows[:3]).p.tolist()
    wanted = np.maximum(families.max_t(rows[3:]).p, [p.p_adjusted for p in pairs[:3]] * 3)
    assert [pair.p_adjusted for pair in pairs[3:]] == wanted.tolist()
    alone = decided(values[:1])
    assert [p.p_adjusted for p in alone] == [p.p_adjusted for p in pairs[:3]]
    every = decided(values, every=True)
    assert [p.p_adjusted for p in decided(values[:1], every=True)] == [
        p.p_adjusted for p in every[:6]
    ]


def test_slices_are_decided_by_the_first_measure_too() -> None:
    rng = np.random.default_rng(4)
    values = alike(rng, 2, 40)
    values[1:, 1] += 0.3
    values[0, 1, :20] += 0.3
    kinds = {f"q{i:03}": "one" if i < 20 else "two" for i in range(40)}
    found = sliced(tables_of(values), places_of(2, 0, False), options_of(1, ()), kinds)
    assert {(pair.measure, pair.slice) for pair in found if pair.significant} == {
        (measure, "one") for measure in MEASURES
    }
    assert {(pair.measure, pair.slice) for pair in found if pair.held_back} == {
        (measure, "two") for measure in MEASURES[1:]
    }


# Intervals


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("n", [12, 40])
def test_an_interval_leaves_out_0_where_p_is_below_alpha(every: bool, n: int) -> None:
    agreed = total = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        values = alike(rng, 4, n, 1) + 0.06 * np.arange(4)[None, :, None]
        for pair in decided(values, every):
            low, high = pair.ci
            agreed += (low > 0 or high < 0) == pair.significant
            total += 1
            assert low <= pair.statistics.low + 1e-12
            assert high >= pair.statistics.high - 1e-12
            assert pair.significant or low <= 0 <= high
    assert agreed >= 0.97 * total


def coarse(rng: np.random.Generator, kind: int, measures: int, runs: int, n: int) -> Array:
    """Draw values of runs that differ a little: of any size, halves, 0 and 1, or mostly equal."""
    some = alike(rng, runs, n, measures) + 0.3 * rng.random((1, runs, 1))
    if kind == 1:
        return np.round(2 * some + rng.normal(0, 0.3, some.shape)) / 2
    if kind == 2:
        return (some + rng.normal(0, 0.3, some.shape) > 0.5).astype(float)
    return np.where(rng.random(some.shape) < 0.3, some, 0.5) if kind == 3 else some


def test_a_mark_and_an_interval_never_contradict_each_other() -> None:
    """Over runs, measures and slices, all pairs and weights: marked where 0 is left out."""
    marked = shown = settled = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        runs, n = int(rng.integers(2, 7)), int(rng.integers(22, 60))
        tables = tables_of(coarse(rng, seed % 4, 3, runs, n))
        if seed % 5 == 4:
            weights = rng.permutation(1 / np.arange(1.0, n + 1))
            tables = [replace(one, weights=weights) for one in tables]
        places = places_of(runs, 0, seed % 3 == 2)
        options = options_of(len(places), (), all_pairs=seed % 3 == 2)
        kinds = {f"q{i:03}": f"s{i % 2}" for i in range(n)}
        found = [*pairs_of(tables, places, options), *sliced(tables, places, options, kinds)]
        for pair in (one for one in found if not math.isnan(one.ci[0])):
            below = pair.p_own < pair.options.alpha
            assert below == (pair.significant or pair.held_back)
            for low, high in (pair.ci, pair.relative_ci, pair.d_z_ci):
                if not math.isnan(low):
                    assert low <= high
                    assert (low > 0 if pair.difference > 0 else high < 0) == below, pair
            marked += pair.significant
            settled += below and pair.p_t >= pair.level
            shown += 1
    assert 0.02 * shown < marked < 0.5 * shown
    assert settled  # t alone would say otherwise


@pytest.mark.parametrize("runs", [2, 4])
def test_weighted_differences_are_significant_where_their_interval_says_so(runs: int) -> None:
    """Sign flips and t see weights differently; a verdict and its interval do not."""
    some = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = alike(rng, runs, 30, 1) + 0.06 * np.arange(runs)[None, :, None]
        weights = rng.permutation(1 / np.arange(1.0, 31))
        tables = [replace(one, weights=weights) for one in tables_of(values)]
        places = places_of(runs, 0, False)
        for pair in pairs_of(tables, places, options_of(len(places), ())):
            assert (pair.ci[0] > 0 or pair.ci[1] < 0) == pair.significant
            some += pair.significant
    assert some > 5


def test_no_interval_leaves_out_0_where_signs_may_be_chance() -> None:
    """Five of 50 queries gain: t is sure, but five equal signs have a chance of 1 in 16."""
    values = np.full((1, 2, 50), 0.5)
    values[0, 1, :5] += 0.4
    pair = decided(values)[0]
    assert pair.p_t < 0.05 < pair.p_adjusted == 0.0625
    assert pair.statistics.low > 0
    assert pair.ci[0] == 0


def test_a_secondary_measure_states_its_own_p() -> None:
    rng = np.random.default_rng(2)
    values = np.full((3, 2, 40), 0.5)
    values[0, 1] += rng.normal(0.03, 0.08, 40)
    values[1, 1] += rng.normal(0.2, 0.1, 40)
    values[2, 1] += rng.normal(0.1, 0.1, 40)
    first, second, _ = decided(values)
    assert first.p_own == first.p_adjusted
    assert second.p_own < second.p_adjusted == max(first.p_adjusted, second.p_own)


def test_one_p_decides_and_is_the_only_one_said() -> None:
    """A verdict says the p-value that its row of the table has; what is corrected is said too."""
    kinds = {f"q{i:03}": f"s{i % 2}" for i in range(40)}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        values = alike(rng, 2, 40, 3) + 0.06 * rng.random((3, 2, 1))
        found = il.compare_evaluations(evaluations(values), slices=kinds if seed % 2 else None)
        for pair in (*found.pairs, *found.slices):
            shown = {p_words(pair.p_adjusted), f"{p_words(pair.p_randomisation)} alone"}
            (said,) = re.findall(r"p[=<][\d.]+\d(?: alone)?", pair.verdict)
            assert said in shown, pair.verdict
            assert ("adjusted p" in pair.verdict) <= bool(pair.primary)
        settings = "\n".join(heading(found))
        assert "no correction for nDCG@10; 95 % intervals" in settings
        together = "corrected together by MaxT, with simultaneous intervals"
        assert f"other measures: {together}; marked only where nDCG@10 is" in settings
        assert (f"slices: {together}" in settings) == bool(seed % 2)
    two = il.compare_evaluations(evaluations(values[:2]))
    assert "no correction; 95 % intervals" in "\n".join(heading(two))
    assert "other measures: marked only where nDCG@10 is" in heading(two)


def test_an_interval_that_ends_at_0_holds_it() -> None:
    folder = Path(__file__).parents[1] / "examples"
    runs = [folder / "bm25.run", folder / "reranked.run"]
    found = il.compare(folder / "qrels.txt", runs, ["nDCG@10", "AP", "RR@10"])
    last = found["RR@10"][0]
    assert not last.significant
    assert last.ci[0] == 0  # its own flip is the limit


def test_intervals_hold_all_differences_at_once() -> None:
    rng, held, apart = np.random.default_rng(5), 0, 0
    for _ in range(400):
        values = alike(rng, 6, 12, 1)
        pairs = decided(values + 0.2 * np.arange(6)[None, :, None])
        truth = [0.2 * i for i in range(1, 6)]
        held += all(p.ci[0] <= true <= p.ci[1] for p, true in zip(pairs, truth, strict=True))
        apart += all(
            p.statistics.low <= true <= p.statistics.high
            for p, true in zip(pairs, truth, strict=True)
        )
    assert apart / 400 < 0.88  # the intervals of each pair alone
    assert held / 400 > 0.95 - 3 * math.sqrt(0.05 * 0.95 / 400)


def test_weighted_intervals_hold_all_differences_at_once() -> None:
    rng, held = np.random.default_rng(8), 0
    weights = 1 / np.arange(1.0, 13)
    for _ in range(300):
        (table,) = tables_of(alike(rng, 6, 12, 1) + 0.2 * np.arange(6)[None, :, None])
        places = places_of(6, 0, False)
        pairs = pairs_of([replace(table, weights=weights)], places, options_of(5, ()))
        held += all(pair.ci[0] <= 0.2 * i <= pair.ci[1] for i, pair in enumerate(pairs, 1))
    assert held / 300 > 0.95 - 3 * math.sqrt(0.05 * 0.95 / 300)


def test_a_family_that_can_find_nothing_has_no_end_to_its_intervals() -> None:
    pair = decided(alike(np.random.default_rng(6), 2, 12, 1))[0]
    assert replace(pair, beyond=math.inf).ci == (-1, 1)
    endless = replace(pair, beyond=math.inf, limits=(-math.inf, math.inf))
    assert all(map(math.isnan, endless.ci))
    assert "nan" not in endless.verdict


def test_an_effect_size_has_an_interval() -> None:
    pair = decided(alike(np.random.default_rng(7), 2, 30, 1) + np.array([[0.0], [0.1]]))[0]
    low, high = pair.d_z_ci
    assert low < pair.d_z < high
    assert pair.data()["d_z_ci"] == [low, high]
    assert (low > 0) == (pair.p_t < 0.05)


# Few that carry


def carried(differences: Array) -> bool | None:
    """Say whether a significant difference is doubted as carried by few; None if it is neither."""
    n, p = len(differences), paired(differences).p
    if p >= 0.05:
        return None
    queries = tuple(map(str, range(n)))
    pair = Pair("AP", "a", "b", queries, np.zeros(n), differences, p_randomisation=p, p_adjusted=p)
    return any(doubt.code == "carried-by-few" for doubt in doubts_of(pair))


def rate(draw: Callable[[], Array], count: int, least: float = 0.0) -> float:
    """Draw until so many are significant, none with a p below `least`; return how many are doubted."""
    found: list[bool] = []
    while len(found) < count:
        differences = draw()
        doubted = carried(differences) if paired(differences).p >= least else None
        found += [] if doubted is None else [doubted]
    return float(np.mean(found))


@pytest.mark.parametrize("n", [20, 50, 200])
def test_normal_samples_are_not_carried_by_few(n: int) -> None:
    """Without three of the queries 99.8 % of these are not significant, which says nothing."""
    rng = np.random.default_rng(n)
    found = rate(lambda: rng.normal(2.3 / math.sqrt(n), 1, n), 400, least=0.01)
    assert 0.01 < found < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_what_few_carry_is_found() -> None:
    rng = np.random.default_rng(0)

    def sparse() -> Array:
        drawn = rng.normal(0, 0.01, 50)
        drawn[:4] += rng.uniform(0.3, 0.9, 4)
        return drawn

    assert rate(sparse, 50) > 0.95
    assert rate(lambda: rng.exponential(1, 50) - 0.65, 100, least=0.01) > 0.8
    assert rate(lambda: 1.5 - rng.exponential(1, 50), 100, least=0.01) < 0.02


def test_nothing_is_said_of_weighted_queries() -> None:
    drawn = np.zeros(40)
    drawn[:6] = 0.5
    assert carried(drawn + np.random.default_rng(0).normal(0, 0.001, 40))
    queries = tuple(map(str, range(40)))
    pair = Pair("AP", "a", "b", queries, np.zeros(40), drawn, np.ones(40), p_adjusted=0.01,
                p_randomisation=0.01)  # fmt: skip
    assert math.isnan(pair.usual_top3_share)
    assert "carried-by-few" not in {doubt.code for doubt in doubts_of(pair)}


# On real runs


@cache
def real_values() -> Array:
    """Measure the 109 runs: measures x runs x queries."""
    folder = TEST_DATA / "trec-covid-r1"
    files = [*sorted(folder.glob("runs/*")), *sorted(folder.glob("more/*"))]
    evaluator = il.Evaluator(folder / "qrels.txt", MEASURES)
    found = [evaluator(file) for file in files]
    return np.array([[list(e.by_query(m).values()) for e in found] for m in MEASURES])


def recentred(runs: int, n: int, rng: np.random.Generator) -> Array:
    """Draw queries of real runs that were moved to one mean, so that none is better."""
    some = real_values()[:, rng.choice(real_values().shape[1], runs, replace=False)]
    level = some - some.mean(axis=2, keepdims=True) + 0.5
    return np.asarray(level[:, :, rng.integers(some.shape[2], size=n)])


@SLOW
@pytest.mark.parametrize(
    ("runs", "every", "n", "trials"),
    [(2, False, 30, 4000), (2, False, 50, 4000), (6, False, 30, 1500), (6, False, 50, 1500),
     (6, True, 30, 1500), (6, True, 50, 1500)],
)  # fmt: skip
def test_real_runs_that_are_equal(data: Path, runs: int, every: bool, n: int, trials: int) -> None:
    rng, counts = np.random.default_rng([runs, n, every]), np.zeros(4)
    for trial in range(trials):
        pairs = decided(recentred(runs, n, rng), every, seed=trial)
        first = len(pairs) // len(MEASURES)
        inside = [pair.ci[0] <= 0 <= pair.ci[1] for pair in pairs]
        counts += (
            any(pair.p_randomisation < 0.05 for pair in pairs),
            any(pair.significant for pair in pairs), all(inside[:first]), all(inside[first:]),
        )  # fmt: skip
    alone, marked, held, others = counts / trials
    kind = "all pairs of" if every else "baseline and"
    row = f"| {kind} {runs if every else runs - 1} | {n} | {alone:.3f} | {marked:.3f}"
    print(f"\n{row} | {held:.3f} | {others:.3f} |")
    assert marked < 0.055 + 3 * math.sqrt(0.05 * 0.95 / trials)
    assert held > 0.94 - 3 * math.sqrt(0.05 * 0.95 / trials)


@SLOW
@pytest.mark.parametrize("measure", MEASURES)
def test_real_differences_that_few_carry(data: Path, measure: str) -> None:
    values = real_values()[MEASURES.index(measure)]
    rng = np.random.default_rng(0)

    def draw() -> Array:
        first, second = rng.choice(len(values), 2, replace=False)
        return np.asarray(values[second] - values[first])

    near, any_p = (rate(draw, 600, least) for least in (0.01, 0.0))
    print(f"\n| {measure} | {near:.3f} | {any_p:.3f} |")
    assert any_p < near < 0.5
