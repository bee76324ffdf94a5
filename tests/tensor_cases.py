"""Generated batches of lists, as arrays and as the judgments and run they stand for."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import idealist as il

#: Axes that need no ids, with the values they take here.
AXES: dict[str, list[Any]] = {
    "precision": ["float64", "float32"],
    "order": ["score", "given"],
    "ties": ["input", "input-reversed", "worst", "best"],
    "nonfinite": ["error", "last"],
    "depth": ["none", 1, 3, 5],
    "unjudged": ["zero", "drop"],
    "negative": ["allow", "drop"],
    "grades": ["keep", "truncate"],
}


@dataclass
class Case:
    """Scores and labels with padding, and judgments and a run that say the same."""

    scores: Any
    labels: Any
    more: dict[str, Any]
    qrels: dict[str, dict[str, float]] = field(default_factory=dict)
    run: dict[str, dict[str, float]] = field(default_factory=dict)

    def evaluated(self, measure: Any, **rules: Any) -> Any:
        """Evaluate what the arrays stand for: a value per row, NaN where there is no query."""
        found = il.evaluate(il.read_qrels(self.qrels), il.read_run(self.run), [measure], **rules)
        values = dict(zip(found.queries, next(iter(found.values.values())).tolist(), strict=True))
        return np.array([values.get(f"{i:03d}", math.nan) for i in range(len(self.scores))])


def some_batch(rng: random.Random, fractions: bool = True, nan: bool = False) -> Case:
    """Make a batch with ties, padding of one kind or another, empty rows and judged documents."""
    rows, width = rng.randint(1, 6), rng.randint(1, 14)
    scales: list[list[float]] = [[0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2], [0], [1, 4]]
    scales += [[0, 0.5, 1, 1.7]] if fractions else []
    grades = rng.choice(scales)
    draw: Callable[[], float] = rng.choice([
        rng.random, lambda: float(rng.randint(-2, 2)), lambda: 1 + rng.randint(0, 3) * 1e-9,
        lambda: math.nan if nan and rng.random() < 0.2 else rng.random(),
    ])  # fmt: skip
    scores = np.array([[draw() for _ in range(width)] for _ in range(rows)])
    labels = np.array([[float(rng.choice(grades)) for _ in range(width)] for _ in range(rows)])
    there = np.array([[rng.random() < 0.8 for _ in range(width)] for _ in range(rows)])
    there[[i for i in range(rows) if rng.random() < 0.15]] = False
    more: dict[str, Any] = {}
    how = rng.choice(["mask", "ignore", "-inf", "none"])
    if how == "none":
        there[:] = True
    elif how == "mask":
        more["mask"] = there
        scores[~there], labels[~there] = (
            rng.choice([math.nan, 9.0, 0.0]),
            rng.choice([math.nan, 7.0]),
        )
    elif how == "ignore":
        more["ignore"] = -100
        labels[~there] = -100
        scores[~there] = rng.choice([math.nan, 9.0, 0.0])
    else:
        scores[~there], labels[~there] = -math.inf, rng.choice([math.nan, 7.0, -1.0])
    others = [[float(rng.choice(grades)) for _ in range(rng.randint(0, 3))] for _ in range(rows)]
    if rng.random() < 0.5:
        more["judged"] = others
    case = Case(scores, labels, more)
    for i in range(rows):
        query, columns = f"{i:03d}", np.flatnonzero(there[i]).tolist()
        outside = others[i] if "judged" in more else []
        judged = {f"{j:03d}": float(labels[i, j]) for j in columns}
        judged |= {f"x{j}": grade for j, grade in enumerate(outside)}
        if judged:
            case.qrels[query] = judged
            case.run[query] = {f"{j:03d}": float(scores[i, j]) for j in columns}
    return case
