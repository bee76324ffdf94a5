"""Prices of unjudged documents against the truth: pools that a team, or most teams, are left out of.

The pool of TREC-COVID's first round is known: the first 7 documents of 56 runs, 50 of which are
here. A run that is taken for a new one loses its own judgments; its value with them is the truth.
Nothing was tuned on every second team, which are those tried here, nor on the pools that are made
up. With IDEALIST_SLOW=1 all is tried and the table of `docs/how-to/check-coverage.md` is printed.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import idealist as il
from effort import SLOW
from idealist.auditing.chances import Chances
from idealist.auditing.filling import filled
from idealist.auditing.leave_out import odds_in_pool, without_judgments
from idealist.evaluating.evaluator import Evaluator
from idealist.measures.instrument import measured
from idealist.ranking.placements import Placements

#: How deep the pool of TREC-COVID is, and so how deep the truth is known.
DEPTH = 7
MEASURES = ("nDCG@10", "P@5")


class Price(NamedTuple):
    """The value with holes, the truth, the range, and what simpler rules would say.

    `chance` is the upper end if unjudged documents were relevant as often as judged ones, and
    `condensed` the value with them taken out.
    """

    now: float
    truth: float
    low: float
    high: float
    chance: float
    condensed: float


@dataclass(frozen=True)
class Pool:
    """Runs of which everything down to a depth is judged, each of another team."""

    evaluator: Evaluator
    runs: dict[str, Placements]
    known: int

    def price(
        self, run: str, others: Sequence[str], depth: int, alone: bool = False
    ) -> dict[str, Price]:
        """Price a run that some others, down to a depth, made the pool for.

        Unless it is audited alone, the others say how the pool was made.
        """
        judged = [self.runs[other].judgment[self.runs[other].rank <= depth] for other in others]
        gone = np.ones(len(self.evaluator.qrels.documents), dtype=bool)
        gone[np.concatenate(judged)] = False
        whole = self.runs[run]
        holes = without_judgments(whole, gone)
        gone[whole.judgment[whole.rank <= self.known]] = False
        whole = without_judgments(whole, gone)
        pool = {} if alone else {other: self.runs[other] for other in others}
        odds = odds_in_pool(pool, {}, depth)
        ends, chance = (
            filled(self.evaluator.instruments, Chances(holes, one), self.known)
            for one in (odds, 1.0)
        )
        return {
            label: Price(
                measured(one, holes).aggregate, measured(one, whole).aggregate,
                *ends[label], chance[label][1], measured(one, holes.condensed()).aggregate,
            )
            for label, one in self.evaluator.instruments.items()
        }  # fmt: skip


@pytest.fixture(scope="module")
def covid(data: Path) -> Pool:
    folder = data / "trec-covid-r1"
    if not (folder / "more").is_dir():
        pytest.skip("the further runs of TREC-COVID are not there")
    with (folder / "leaderboard.csv").open() as lines:
        inside = {
            row["run"]: row["team"]
            for row in csv.DictReader(lines)
            if row["contributed judgments"] == "yes"
        }
    files = {path.name.removesuffix(".xz"): path for path in folder.glob("*s/*")}
    files |= {path.name.removesuffix(".xz"): path for path in folder.glob("more/*")}
    evaluator = Evaluator(folder / "qrels.txt", MEASURES)
    runs = {
        run: evaluator.placed(il.read_run(files[run]))["nDCG@10"]
        for run in sorted(inside, key=lambda run: inside[run])
        if run in files
    }
    assert len(runs) == 50
    return Pool(evaluator, runs, DEPTH)


def held(prices: Sequence[Price]) -> int:
    """Count the truths that lie in their range."""
    return sum(one.low <= one.truth <= one.high for one in prices)


def test_a_team_left_out_of_the_pool_is_priced_by_a_range_that_holds(covid: Pool) -> None:
    runs = [*covid.runs]
    prices = [
        covid.price(run, [other for other in runs if other != run], DEPTH)["nDCG@10"]
        for run in runs[1::4]
    ]
    assert held(prices) >= 0.8 * len(prices)
    assert all(one.chance > one.truth for one in prices)  # as it was priced before
    rises = np.array(
        [(one.truth - one.now, one.low - one.now, one.high - one.now) for one in prices]
    )
    truth, low, high = rises.mean(axis=0)
    assert low < truth < high < 3 * truth


POOLS = [(49, 7), (20, 7), (10, 7), (5, 7), (2, 7), (49, 3), (10, 3), (49, 1), (5, 1)]


#: What the tables say of each pool.
COLUMNS = "now | truth | range | truth within | as judged ones | taken out | truth within, alone"


@SLOW
def test_the_table_of_pools(covid: Pool) -> None:
    rng, runs = random.Random(15), [*covid.runs]
    print(f"\n| pool | measure | {COLUMNS} |\n|:---|:---|{'---:|' * 7}")
    for teams, depth in POOLS:
        found = []
        for run in runs[1::2]:
            others = rng.sample([other for other in runs if other != run], teams)
            found.append([covid.price(run, others, depth, alone) for alone in (False, True)])
        for label in MEASURES:
            prices, alone = ([pair[i][label] for pair in found] for i in (0, 1))
            print(f"| {teams} teams, depth {depth} | {label} | {row(prices, alone)} |")
            assert held(prices) >= (0.8 if teams > 2 else 0.6) * len(prices)


def row(prices: Sequence[Price], alone: Sequence[Price]) -> str:
    """Write the means of prices as cells of a table."""
    now, truth, low, high, chance, condensed = np.mean(prices, axis=0)
    return (
        f"{now:.3f} | {truth - now:+.3f} | {low - now:+.3f} to {high - now:+.3f} "
        f"| {held(prices)} of {len(prices)} | {chance - now:+.3f} | {condensed - now:+.3f} "
        f"| {held(alone)} of {len(alone)}"
    )


def made_up(seed: int, alike: float, systems: int, queries: int = 30) -> Pool:
    """Make systems that rank 300 documents a query by relevance and noise, in part a common one."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.5, 2.5, systems)
    qrels: dict[str, dict[str, int]] = {}
    runs: list[dict[str, list[str]]] = [{} for _ in range(systems)]
    for q in range(queries):
        relevant = rng.random(300) < rng.uniform(0.03, 0.2)
        common, own = rng.normal(size=300), rng.normal(size=(systems, 300))
        scores = skill[:, None] * relevant + alike * common + own
        qrels[f"q{q}"] = {f"d{i}": int(one) for i, one in enumerate(relevant)}
        for run, order in zip(runs, np.argsort(-scores, axis=1)[:, :50], strict=True):
            run[f"q{q}"] = [f"d{i}" for i in order]
    evaluator = Evaluator(qrels, ["nDCG@10", "P@5"])
    placed = {str(i): evaluator.placed(il.read_run(run))["P@5"] for i, run in enumerate(runs)}
    return Pool(evaluator, placed, 50)


SHAPES = [(0.0, 6), (0.0, 20), (1.0, 6), (1.0, 20), (2.0, 6), (2.0, 20)]


def tried(
    alike: float, systems: int, times: int, depth: int = 10, alone: bool = False
) -> list[Price]:  # fmt: skip
    """Price the first of some systems for which the others made the pool."""
    pools = (made_up(seed, alike, systems) for seed in range(times))
    others = [str(i) for i in range(1, systems)]
    return [pool.price("0", others, depth, alone)["P@5"] for pool in pools]


def test_the_range_fits_pools_of_other_shapes() -> None:
    prices = [one for alike in (0.0, 1.0, 2.0) for one in tried(alike, 6, times=4)]
    assert held(prices) >= 0.75 * len(prices)


@SLOW
def test_the_table_of_made_up_pools() -> None:
    print(f"\n| systems | common noise | {COLUMNS} |\n|{'---:|' * 9}")
    for alike, systems in SHAPES:
        prices, alone = (tried(alike, systems, 30, alone=one) for one in (False, True))
        print(f"| {systems} | {alike:.0f} | {row(prices, alone)} |")
        assert held(prices) >= 0.8 * len(prices)
