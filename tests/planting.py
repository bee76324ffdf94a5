"""Planted conventions: data with all that conventions differ in, and random rules."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import idealist as il
from idealist.measures import Measure
from idealist.ranking.ranked import Ranked
from idealist.reconciling.facts import Facts
from idealist.reconciling.space import Space

Qrels = dict[str, dict[str, float]]
Rows = dict[str, dict[str, float]]


#: The measures that are planted, those with the largest spaces less often.
PLANTED = [
    "nDCG@10", "DCG@5", "AP@10", "AP", "RR@10", "RR", "P@5", "R@10", "Success@3", "ERR@10", "bpref",
    "F@5", "Rprec", "Judged@5", "CG@3", "RBP@10", "NumRelRet@5", "infAP",
]  # fmt: skip


class Plant(NamedTuple):
    """A number with its convention: a named one, or the default with other rules."""

    qrels: il.Qrels
    run: il.Run
    measure: str
    convention: str
    rules: dict[str, Any]

    def evaluated(self, **more: Any) -> il.Evaluation:
        own = {"grades": "truncate"} if self.convention == "trec_eval" else {}  # as the tool does
        return il.evaluate(
            self.qrels, self.run, self.measure, convention=self.convention,
            **own | self.rules | more,
        )  # fmt: skip

    def values(self, **more: Any) -> dict[str, float]:
        """Give the value of every query that counts."""
        found = self.evaluated(**more)
        columns = (found.queries, found.values[self.measure], found.counted[self.measure])
        return {q: float(value) for q, value, counts in zip(*columns, strict=True) if counts}


def planted(seed: int) -> Plant:
    """Plant a number; every third is a named convention's."""
    rng = random.Random(seed)
    while not _tells(plant := _some_plant(rng, named=seed % 3 == 0)):
        pass
    return plant


def _some_plant(rng: random.Random, named: bool) -> Plant:
    name = rng.choice(PLANTED)
    measure = il.parse(name)
    judged, rows = some_data(rng)
    qrels, run = il.read_qrels(judged), il.read_run(rows)
    if not named:
        return Plant(qrels, run, name, "trec_eval", some_rules(rng, measure, qrels, run))
    tools = [one.name for one in il.CONVENTIONS.values() if one.has(measure)]
    return Plant(qrels, run, name, rng.choice(tools), {})


def _tells(plant: Plant) -> bool:
    """Whether the rules take the data, and make more than one number of its lists."""
    try:
        values = plant.values().values()
    except il.IdealistError:
        return False
    return len(set(values)) > 1 and not any(map(math.isnan, values))


def some_data(rng: random.Random) -> tuple[Qrels, Rows]:
    """Make judgments and a run of 20 to 50 queries, each flaw of real ones present or not."""

    def flaw() -> bool:
        return rng.random() < 0.2

    grades: list[float] = rng.choice([[0, 1], [0, 1, 2], [0, 1, 2, 3]])
    grades = [*([-1] if flaw() else []), *grades, *([0.5] if flaw() else [])]
    ties, near, below, holes, gone, barren, itself = (flaw() for _ in range(7))
    qrels: Qrels = {}
    run: Rows = {}
    for i in range(rng.randint(20, 50)):
        query = f"q{i}"
        ids = [*(f"d{rng.randrange(10**6)}" for _ in range(12)), *([query] if itself else [])]
        judged = rng.sample(ids, rng.randint(5, 10) if holes else len(ids))
        qrels[query] = {d: 0 if barren and i % 8 == 0 else rng.choice(grades) for d in judged}
        if gone and i % 7 == 0:
            continue
        retrieved = rng.sample(ids, rng.randint(3, 11))
        scores = [rng.random() - (0.5 if below else 0) for _ in retrieved]
        if ties and i % 2:
            scores = [round(score, 1) for score in scores]
        if near and i % 5 == 0:
            scores = [1 + score * 1e-8 for score in scores]
        run[query] = dict(zip(retrieved, scores, strict=True))
    return qrels, run


def some_rules(
    rng: random.Random, measure: Measure, qrels: il.Qrels, run: il.Run
) -> dict[str, Any]:
    """Choose rules from the space of a measure, some of them other than the default."""
    protocol = il.CONVENTIONS["trec_eval"].instrument(measure).protocol
    space = Space.of(measure, {}, Facts.of(Ranked(qrels, run), protocol))
    options: dict[str, Sequence[Any]] = dict(space.formulas)
    for one in space.protocols:
        for name, value in one.written().items():
            options[name] = tuple(dict.fromkeys((*options.get(name, ()), value)))
    options |= {"missing": space.missing, "no_relevant": space.no_relevant}
    options |= {"aggregate": space.aggregates, "round": space.roundings}
    chance = rng.choice([0.15, 0.4])
    return {
        name: rng.choice(values[1:])
        for name, values in options.items()
        if name != "cutoff" and len(values) > 1 and rng.random() < chance
    }
