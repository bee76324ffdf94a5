"""Generated runs to fuse, with all that goes wrong in real ones, and methods to fuse them with."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import FUSIONS, make_fusion
from idealist.fusing.normalisations import NORMS
from idealist.notation import text

Lists = dict[str, dict[str, float]]

#: Ids whose order by bytes is not what people expect.
IDS = ["a", "B", "10", "9", "é", "日本", "🙂", "d#1", "d#2", "\ue000", "x-y", "0"]

#: What scores may be; ties, negatives, and all the same.
KINDS: list[Callable[[random.Random], Callable[[], float]]] = [
    lambda rng: rng.random,
    lambda rng: lambda: rng.uniform(-5, 5),
    lambda rng: lambda: rng.uniform(-9, -1),
    lambda rng: lambda: rng.uniform(0, 40) ** 3,
    lambda rng: lambda: float(rng.randint(-2, 2)),
    lambda rng: lambda: 1 + rng.randint(0, 3) / 1024,
    lambda rng: lambda: rng.randint(0, 3) * 1e-12,
    lambda rng: partial(float, rng.choice([0, 0.1, -3, 1e6])),
]


def some_list(rng: random.Random) -> dict[str, float]:
    """Draw what a run found for a query: nothing, one document, some or all."""
    size = rng.choice([0, 1, 2, *range(1, len(IDS) + 1)])
    score = rng.choice(KINDS)(rng)
    return {document: score() for document in rng.sample(IDS, size)}


def some_runs(rng: random.Random, runs: int, queries: int, lacking: float = 0.1) -> list[Lists]:
    """Draw runs, the first of which has all queries; the others may lack all but one."""
    return [
        {
            f"q{q}": some_list(rng)
            for q in range(queries)
            if run == 0 or q == run % queries or rng.random() >= lacking
        }
        for run in range(runs)
    ]


def some_judgments(rng: random.Random, queries: int) -> dict[str, dict[str, float]]:
    """Judge the first queries, and some that no run has."""
    names = [*(f"q{q}" for q in range(queries)), "elsewhere"]
    return {
        name: {d: rng.choice([-1.0, 0.0, 1.0, 2.0]) for d in rng.sample([*IDS, "never found"], 7)}
        for name in names
    }


#: Values of each parameter beside its default.
VALUES: dict[str, list[Any]] = {
    "k": [60, 1, 7.5, 1000], "phi": [0.9, 0.5, 1, 0.001], "sigma": [0.01, 0, 1],
    "gamma": [1, 0, 0.3, 4], "w": [5, 0, 1, 2], "parts": [25, 1, 2, 5, 10**7], "rel": [1, 0, 2, 0.5],
}  # fmt: skip


def some_weights(rng: random.Random, runs: int) -> str:
    """Draw weights: equal, some 0, whole or not."""
    kinds: list[Callable[[], float]] = [
        rng.random, lambda: float(rng.randint(0, 2)), lambda: rng.choice([0.1, 0.2, 0.3]),
    ]  # fmt: skip
    weight = rng.choice(kinds)
    drawn = [weight() for _ in range(runs)]
    return f"({','.join(map(text, drawn))})" if any(drawn) and rng.random() < 0.8 else "equal"


def some_parameters(rng: random.Random, name: str, runs: int) -> dict[str, Any]:
    """Draw parameters of a method, but not its normalisation."""
    found: dict[str, Any] = {}
    for parameter in FUSIONS[name].parameters().keys() - {"norm"}:
        if parameter == "weights":
            found[parameter] = some_weights(rng, runs)
        elif rng.random() < 0.8:
            found[parameter] = rng.choice(VALUES[parameter])
    return found


def some_method(rng: random.Random, runs: int, names: Any = tuple(FUSIONS)) -> Fusion:
    """Draw a method with parameters."""
    name = rng.choice(names)
    norm = rng.choice([norm for norm in NORMS if FUSIONS[name].accepts("norm", norm)])
    return make_fusion(name, some_parameters(rng, name, runs) | {"norm": norm})
