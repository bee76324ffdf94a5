"""How many judgments decide which runs are better: the strategy `decisive` beside pools of a depth.

    python bench/decisive.py FOLDER                     the curves, for nDCG@10
    python bench/decisive.py FOLDER -m P@10 --seeds 5   another measure, five draws

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
from idealist.judging.decisive import plan_of, ranked_with_names
from idealist.judging.decisive_plan import Contest
from idealist.judging.pool_case import PoolCase, ranked_lists
from idealist.measures.instrument import measured
from idealist.rendering.document import COUNT, TEXT, Column, Table
from idealist.rendering.figure import Axis, Figure, Key, Line, Tone

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

    def __init__(self, folder: Path, measure: str, share: float, seed: int) -> None:
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
        self.truth = self._signs(self._evaluator(set()))
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

    def _means(self, evaluator: Evaluator) -> list[float]:
        instrument = evaluator.instruments[self.measure]
        ranked = ranked_with_names(self.case, evaluator, self.measure)
        return [measured(instrument, one[instrument.protocol]).aggregate for one in ranked]

    def _signs(self, evaluator: Evaluator) -> dict[tuple[int, int], float]:
        means = self._means(evaluator)
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
            contests = self._contests(evaluator, asked)
            case = replace(self.case, qrels=il.read_qrels(self._judged(hidden)))
            runs = ranked_with_names(case, evaluator, self.measure)
            plan = plan_of(case, evaluator, self.measure, runs, contests, odds=1.0)
            found = {(one.contest.first, one.contest.second): one for one in plan.open}
            likely = sum(np.sign(one.likely) != self.truth[at] for at, one in found.items())
            signs = self._signs(evaluator)
            wrong = sum(signs[at] != self.truth[at] for at in signs)
            size = len(signs)
            expected = plan.needed if found else 0.0
            yield State(asked, size - wrong, size - likely, size - len(found), expected)
            queries, effects = evaluator.qrels.queries, plan.effects
            wanted = [(queries[effects.query[i]], effects.documents[i]) for i in plan.order]
            left = [pair for pair in order or self.by_depth() if pair in hidden]
            step = (left if order is not None or not wanted else wanted)[:STEP]
            if not found or not step or asked >= most:
                return
            hidden -= set(step)
            asked += len(step)

    def _contests(self, evaluator: Evaluator, asked: int) -> list[Contest]:
        """Bound every open pair anew now and then: bounds only ever narrow."""
        runs = ranked_with_names(self.case, evaluator, self.measure)
        known = [coverage(evaluator, self.measure, one) for one in runs]
        means, proving = self._means(evaluator), asked >= self.proving
        self.proving += PROOF_STEP * proving
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


def curves(pool: list[State], decisive: list[State], measure: str, size: int) -> Figure:
    """Draw how many pairs each strategy has right, and has proven."""
    lines: dict[str, tuple[Tone, bool, list[tuple[int, int]]]] = {
        "decisive, right": ("1", False, [(one.labels, one.likely) for one in decisive]),
        "pool, right": ("2", False, [(one.labels, one.right) for one in pool]),
        "decisive, proven": ("1", True, [(one.labels, one.proven) for one in decisive]),
        "pool, proven": ("2", True, [(one.labels, one.proven) for one in pool]),
    }  # fmt: skip
    most = max(one.labels for one in (*pool, *decisive))
    rows = [(name, *point) for name, (_, _, points) in lines.items() for point in points]
    marks = [
        Line(tuple((float(x), float(y)) for x, y in points), tone=tone, dashed=dashed, label=name)
        for name, (tone, dashed, points) in lines.items()
    ]
    ends = [
        f"{settled(one, which, size)}" for one, which in ((decisive, "likely"), (pool, "right"))
    ]
    keys = [
        Key(name, tone, "dashed" if dashed else "line") for name, (tone, dashed, _) in lines.items()
    ]
    return Figure(
        kind="decisive",
        title=f"Pairs of runs with the right verdict by {measure}, of {size}",
        says=f"All verdicts are right for good after {ends[0]} labels in the order of decisive, "
        f"and after {ends[1]} rank by rank.",
        x=Axis("labels asked for", 0.0, float(most), format=COUNT),
        y=Axis("pairs", 0.0, float(size), format=COUNT),
        marks=tuple(marks),
        keys=tuple(keys),
        rows=Table(
            (Column("curve", TEXT), Column("labels", COUNT), Column("pairs", COUNT)), tuple(rows)
        ),
    )


def main() -> None:
    """Print a line for each draw, and draw the curves of the first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-m", "--measure", default="nDCG@10")
    parser.add_argument("--share", type=float, default=0.6)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=int, default=5000)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    for seed in range(given.first, given.first + given.seeds):
        one = Simulation(given.folder, given.measure, given.share, seed)
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
        if given.output and seed == given.first:
            curves(pool, decisive, given.measure, size).save(given.output)


if __name__ == "__main__":
    main()
