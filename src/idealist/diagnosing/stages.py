"""Two stages: what a reranker made of the documents it was given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from idealist.diagnosing.case import Subject
from idealist.diagnosing.headroom import after, better
from idealist.diagnosing.losses import NOTHING, Losses
from idealist.plain_data import finite
from idealist.tables.columns import Floats

#: The parts, in words; gained - lost + left + beyond is all that the first stage loses.
PARTS: dict[str, str] = {
    "gained": "gained by reranking",
    "lost": "lost by reranking",
    "left": "a perfect reranker would add",
    "beyond": "no reranker could add",
}


@dataclass(frozen=True, eq=False)
class Stages:
    """What a run made of its first stage, in the mean of a measure.

    `first` is the first stage's mean. `parts` holds for every judged query what reranking
    `gained` and `lost`, what a perfect reranker of the same documents would add (`left`), and what
    none could, because the first stage did not find it (`beyond`). Where the run has better
    documents than its first stage, a perfect reranker adds nothing. Only `beyond` may be below 0,
    of a measure that finding more makes worse, such as ARP.
    """

    losses: Losses
    first: float
    parts: Mapping[str, Floats] = field(repr=False)

    @property
    def means(self) -> dict[str, float]:
        """Each part, in the mean."""
        return {name: self.losses.mean(values) for name, values in self.parts.items()}

    def behind(self, part: str) -> dict[str, float]:
        """Give the queries of a part, and how much of it each is, those with most first."""
        values = self.parts[part]
        some = np.flatnonzero(self.losses.counted & (values > NOTHING))
        order = some[np.argsort(-values[some], kind="stable")].tolist()
        return {self.losses.ladder.queries[i]: float(values[i]) for i in order}

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        parts = {
            part: {"words": PARTS[part], "mean": finite(mean), "queries": self.behind(part)}
            for part, mean in self.means.items()
        }
        return {"first_stage": finite(self.first), "run": finite(self.losses.value), **parts}


def stages(first: Subject, losses: Losses) -> Stages:
    """Take apart what separates a first stage from the ideal lists.

    Formula: ideal - first = (gained - lost) + (best - run) + (ideal - best), best the best order of
    the first stage's documents, or the run where that is better
    """
    found, before = losses.ladder, first.measured(losses.measure).values
    best = better(found.direction, found.actual, after(first, losses.measure))
    change = found.direction * (found.actual - before)
    parts = {
        "gained": np.maximum(change, 0.0),
        "lost": np.maximum(-change, 0.0),
        "left": found.direction * (best - found.actual),
        "beyond": found.direction * (found.ideal - best),
    }
    return Stages(losses, losses.mean(before) if losses.queries else math.nan, parts)
