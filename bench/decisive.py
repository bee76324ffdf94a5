"""How many judgments decide which runs are better: the strategy `decisive` beside pools of a depth.

    python bench/decisive.py FOLDER     what nDCG@10 needs
    python bench/decisive.py FOLDER -m P@10 --seeds 5 --unproven
                                        another measure, five draws, and no look for proofs

FOLDER holds `qrels.txt` and `runs/`. A share of the labels is hidden by chance, of documents that
some run retrieves. Each strategy asks
for them in its order, and after each step says for every pair of runs which has the higher mean:
the pool as the measure says, `decisive` as it expects. That is held against what all labels say.
Documents that have no label at all count as not relevant from the start.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import idealist as il
from idealist.comparing.unjudged import coverage, effect_between
from idealist.evaluating.evaluator import Evaluator
from idealist.judging.choosing.decisive import plan_of, ranked_with_names
from idealist.judging.choosing.decisive_plan import Contest
from idealist.judging.choosing.pool_case import PoolCase, ranked_lists
from idealist.measures.instrument import measured
from idealist.ranking.ranked import Ranked
from idealist.rendering.document import COUNT, TEXT, Column, Table
from idealist.rendering.figure import Axis, Figure, Line, Tone

Pair = tuple[str, str]
Labels = Mapping[str, Mapping[str, float]]
#: Labels that are asked for before the strategy plans again, and before proofs are looked for.
STEP, PROOF_STEP = 20, 60


class State(NamedTuple):
    """After some labels: pairs of runs whose verdict is right, and pairs that are proven."""

    labels: int
    right: int
    likely: int
    proven: int
    expected: float


class Simulation:
    """Runs, all labels, those that are hidden, and what the full labels say of each pair."""

    def __init__(
        self, folder: Path, measure: str, share: float, seed: int, proves: bool = True
    ) -> None:
        self.proves = proves
        self.labels = il.read_qrels(folder / "qrels.txt").to_dict()
        self.measure, scale = measure, {g for own in self.labels.values() for g in own.values()}
        self.scale = il.Scale.of(sorted(max(0, grade) for grade in scale))
        files = sorted(path for path in (folder / "runs").iterdir())
        self.case = self._trimmed(
            ranked_lists([il.read_run(path) for path in files], [*self.labels])
        )
        seen = {(q, d) for q, lists in self.case.lists.items() for own in lists for d in own}
        pairs = [(q, d) for q, own in self.labels.items() for d in own if (q, d) in seen]
        chosen = np.random.default_rng(seed).permutation(len(pairs))[: round(share * len(pairs))]
        self.hidden = {pairs[i] for i in chosen}
        full = self._evaluator(set())
        self.truth = self._signs(full, self._ranked(full))
        self.bounds: dict[tuple[int, int], Contest] = {}
        self.proving = 0

    def _trimmed(self, case: PoolCase) -> PoolCase:
        """Leave out what has no label and no measure with a cutoff sees: it only takes time."""
        cutoff = Evaluator({"q": {"d": 1}}, self.measure).measures[self.measure].cutoff or 1000
        lists = {
            query: tuple(
                tuple(d for i, d in enumerate(own) if i < cutoff or d in self.labels[query])
                for own in lists
            )
            for query, lists in case.lists.items()
        }
        runs = tuple(
            il.read_run({q: own[i] for q, own in lists.items()}, name=run.name)
            for i, run in enumerate(case.runs)
        )
        return replace(case, runs=runs, lists=lists)

    def _judged(self, hidden: set[Pair]) -> Labels:
        return {
            q: {d: max(0, g) for d, g in own.items() if (q, d) not in hidden}
            for q, own in self.labels.items()
        }

    def _evaluator(self, hidden: set[Pair]) -> Evaluator:
        """Prepare to evaluate with the labels known, and all that has none as not relevant."""
        found = {q: dict(own) for q, own in self._judged(hidden).items()}
        for query, lists in self.case.lists.items():
            for document in {d for own in lists for d in own} - self.labels[query].keys():
                found[query][document] = 0
        return Evaluator(il.read_qrels(found).on(self.scale), self.measure)

    def _ranked(self, evaluator: Evaluator) -> list[Ranked]:
        return ranked_with_names(self.case, evaluator, self.measure)

    def _means(self, evaluator: Evaluator, runs: list[Ranked]) -> list[float]:
        instrument = evaluator.instruments[self.measure]
        return [measured(instrument, one[instrument.protocol]).aggregate for one in runs]

    def _signs(self, evaluator: Evaluator, runs: list[Ranked]) -> dict[tuple[int, int], float]:
        means = self._means(evaluator, runs)
        return {
            (a, b): float(np.sign(round(means[b] - means[a], 12)))
            for a, b in combinations(range(len(means)), 2)
        }

    def by_depth(self) -> list[Pair]:
        """Order the hidden labels rank by rank."""
        best: dict[Pair, int] = {}
        for query, lists in self.case.lists.items():
            for own in lists:
                for rank, document in enumerate(own, 1):
                    pair = query, document
                    if pair in self.hidden:
                        best[pair] = min(rank, best.get(pair, rank))
        return sorted(best, key=lambda pair: (best[pair], pair))

    def states(self, order: list[Pair] | None, most: int) -> Iterator[State]:
        """Ask for labels in an order, or as `decisive` says, until every pair is proven."""
        hidden, asked = set(self.hidden), 0
        self.bounds.clear()
        self.proving = 0
        while True:
            evaluator = self._evaluator(hidden)
            runs = self._ranked(evaluator)
            contests = self._contests(evaluator, runs, asked)
            case = replace(self.case, qrels=il.read_qrels(self._judged(hidden)))
            plan = plan_of(case, evaluator, self.measure, runs, contests, odds=1.0)
            found = {(one.contest.first, one.contest.second): one for one in plan.open}
            likely = sum(np.sign(one.likely) != self.truth[at] for at, one in found.items())
            signs = self._signs(evaluator, runs)
            wrong = sum(signs[at] != self.truth[at] for at in signs)
            size = len(signs)
            expected = plan.needed if found and self.proves else 0.0
            yield State(asked, size - wrong, size - likely, size - len(found), expected)
            queries, effects = evaluator.qrels.queries, plan.effects
            wanted = [(queries[effects.query[i]], effects.documents[i]) for i in plan.order]
            left = [pair for pair in order or self.by_depth() if pair in hidden]
            step = (left if order is not None or not wanted else wanted)[:STEP]
            if not found or not step or asked >= most:
                return
            hidden -= set(step)
            asked += len(step)

    def _contests(self, evaluator: Evaluator, runs: list[Ranked], asked: int) -> list[Contest]:
        """Bound every open pair anew now and then: bounds only ever narrow."""
        known = [coverage(evaluator, self.measure, one) for one in runs]
        means, proving = self._means(evaluator, runs), asked >= self.proving
        self.proving += (PROOF_STEP if self.proves else 1 << 30) * proving
        for a, b in self.truth:
            if (a, b) in self.bounds and self.bounds[a, b].decided:
                continue
            if proving:
                effect = effect_between(evaluator, known[a], known[b], self.measure)
                self.bounds[a, b] = Contest(effect, a, b)
            effect = replace(self.bounds[a, b].effect, value=means[b] - means[a])
            self.bounds[a, b] = replace(self.bounds[a, b], effect=effect)
            sign = self.bounds[a, b].sign
            if sign is not None and sign != self.truth[a, b]:
                raise SystemExit(f"a decided verdict is wrong: {a}, {b}")
        return [*self.bounds.values()]


def settled(states: list[State], which: str, size: int) -> int | None:
    """Return after how many labels all verdicts are right, and stay so."""
    wrong = [i for i, one in enumerate(states) if getattr(one, which) < size]
    if not wrong:
        return 0
    return states[wrong[-1] + 1].labels if wrong[-1] + 1 < len(states) else None


def wrong_by_labels(draws: list[list[State]], which: str, size: int, places: range) -> list[float]:
    """Return how many pairs are wrong after so many labels, the mean over draws."""
    found = []
    for place in places:
        last = [[one for one in states if one.labels <= place][-1] for states in draws]
        found.append(float(np.mean([size - getattr(one, which) for one in last])))
    return found


def curves(
    pools: list[list[State]], decisive: list[list[State]], measure: str, size: int
) -> Figure:
    """Draw how many pairs of runs have the wrong verdict, by how many labels were asked for."""
    places = range(0, max(one[-1].labels for one in (*pools, *decisive)) + 1, STEP)
    lines: dict[str, tuple[Tone, list[float]]] = {
        "decisive": ("1", wrong_by_labels(decisive, "likely", size, places)),
        "rank by rank": ("2", wrong_by_labels(pools, "right", size, places)),
    }
    marks = [
        Line(tuple(zip(map(float, places), own, strict=True)), tone=tone, label=name, name=name)
        for name, (tone, own) in lines.items()
    ]
    rows = [
        (name, place, wrong)
        for name, (_, own) in lines.items()
        for place, wrong in zip(places, own, strict=True)
    ]
    start, end = (lines[name][1][0] for name in lines)
    return Figure(
        kind="decisive",
        title=f"Pairs with the wrong verdict by {measure}",
        says=f"Of {size} pairs, {start:.1f} have the wrong verdict at first in the order of "
        f"decisive, and {end:.1f} rank by rank (mean of {len(pools)} draws).",
        x=Axis("labels asked for", 0.0, float(places[-1]), format=COUNT),
        y=Axis("pairs", 0.0, float(np.ceil(max(max(own) for _, own in lines.values())))),
        marks=tuple(marks),
        rows=Table((Column("order", TEXT), Column("labels", COUNT), Column("pairs")), tuple(rows)),
    )


def main() -> None:
    """Print a line for each draw, and draw the curves of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-m", "--measure", default="nDCG@10")
    parser.add_argument("--share", type=float, default=0.6)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=int, default=5000)
    parser.add_argument(
        "--unproven", action="store_true", help="look for no proofs, which is faster"
    )
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    draws: tuple[list[list[State]], list[list[State]]] = ([], [])
    for seed in range(given.first, given.first + given.seeds):
        one = Simulation(given.folder, given.measure, given.share, seed, not given.unproven)
        size = len(one.truth)
        pool = list(one.states(one.by_depth(), given.most))
        decisive = list(one.states(None, given.most))
        said: dict[str, Any] = {
            "measure": given.measure, "share": given.share, "seed": seed,
            "pool right": settled(pool, "right", size),
            "pool likely": settled(pool, "likely", size),
            "pool proven": settled(pool, "proven", size),
            "decisive likely": settled(decisive, "likely", size),
            "decisive right": settled(decisive, "right", size),
            "decisive proven": settled(decisive, "proven", size),
            "expected": [(s.labels, round(s.expected)) for s in decisive[::10]],
        }  # fmt: skip
        print(said, flush=True)
        draws[0].append(pool)
        draws[1].append(decisive)
        if given.output:
            curves(*draws, given.measure, size).save(given.output)


if __name__ == "__main__":
    main()
