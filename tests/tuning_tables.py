"""Tuning over tables of values, settings by queries, so that thousands of trials take a minute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from idealist.comparing.compare_options import Options
from idealist.fusing.tuning.contenders import Contender, Family
from idealist.fusing.tuning.folds import Folds
from idealist.fusing.tuning.looks import search
from idealist.fusing.tuning.trials import Trials
from idealist.measures.instrument import Measured
from idealist.significance.paired import paired

Table = NDArray[np.float64]


class TableSource:
    """Settings are the rows of a table; nothing is learnt or ranked."""

    noun, parallel = "settings", False
    names: tuple[str, ...] = ()
    evaluator: Any = None
    doubts = ()

    def __init__(self, values: Table) -> None:
        self.values = values

    def learns(self, setting: int) -> bool:
        return False

    def measured(self, setting: int, some: Any) -> Measured:
        own = self.values[setting]
        counted = np.ones(len(own), bool)
        return Measured(own, counted, ~counted, float(own.mean()))

    def run(self, setting: int, some: Any = None) -> Any:
        raise NotImplementedError

    final = shown = run

    def listed(self, setting: int, queries: Sequence[str], some: Any) -> Any:
        raise NotImplementedError

    def command(self, setting: int) -> str:
        return ""

    def keep(self, settings: Iterable[int]) -> None:
        pass


class ListSpace:
    """A list of settings, which is not refined."""

    def __init__(self, count: int) -> None:
        self.count = count

    def coarse(self) -> list[int]:
        return list(range(self.count))

    def guesses(self, means: Mapping[int, float]) -> list[int]:
        return []

    def sweep(self, best: int) -> list[int]:
        return []

    def finer(self, best: int, tried: Sequence[int], turn: int) -> list[int]:
        return []


def tuned_table(values: Table, folds: int = 5, seed: int = 0) -> tuple[Contender, Contender]:
    """Tune over the rows of a table; return what was tuned, and the default: the first row."""
    queries = [f"q{i}" for i in range(values.shape[1])]
    dealt = Folds.deal(queries, folds, seed)
    trials = Trials(TableSource(values), queries, np.ones(len(queries), bool), dealt)
    looks = search(trials, ListSpace(len(values)), 0)
    family = Family(looks, "nDCG@10", (-np.inf, np.inf), 0, Options(seed=seed))
    return family.contender("tuned", lambda _: True), family.contender(
        "default", lambda one: one == 0
    )


def is_announced(tuned: Contender, default: Contender) -> bool:
    """Whether it is said that something is better."""
    return tuned.beats(default, 1)


def is_announced_in_sample(values: Table) -> bool:
    """Whether who tests the best setting on the queries it was chosen on would say so."""
    best = int(values.mean(axis=1).argmax())
    found = paired(values[best] - values[0]) if best else None
    return found is not None and found.mean > 0 and found.p < 0.05
