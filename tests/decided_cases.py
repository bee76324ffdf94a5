"""Cases of two runs, and every outcome that grades of their unjudged documents could have."""

from __future__ import annotations

import itertools
import random
from typing import Any, NamedTuple

import numpy as np

import idealist as il
from idealist.data.columns import Floats

#: Measures with exact bounds of a difference, then measures whose bounds may be wider.
MEASURES = (
    "nDCG@3", "nDCG", "nDCG(gain=exp2)@2", "nDCG(no_relevant=skip)@3", "P@3", "P", "RBP(p=0.6)",
    "DCG@2", "CG@3", "AP", "AP@3", "RR", "ERR@3", "R@3", "Success@2", "F@3",
)  # fmt: skip
SCALES = ([0, 1], [0, 1, 2], [0, 1, 3], [1, 2], [0, 0.5, 2])
#: Two means this close are level.
LEVEL = 1e-9

Judged = dict[str, dict[str, float]]
Scored = dict[str, dict[str, float]]


class DecidedCase(NamedTuple):
    """Judgments on a scale, two runs and a measure."""

    judged: Judged
    runs: tuple[Scored, Scored]
    scale: list[float]
    measure: str

    @property
    def qrels(self) -> il.Qrels:
        """The judgments, on their scale."""
        return il.read_qrels(self.judged).on(il.Scale.of(self.scale))

    def unjudged(self, query: str) -> list[str]:
        """Name what either run retrieves and nobody judged."""
        found = dict.fromkeys(d for run in self.runs for d in run.get(query, {}))
        return [one for one in found if one not in self.judged[query]]

    def outcomes(self, query: str, elsewhere: int) -> Floats:
        """Return the values of both runs for all grades of the unjudged documents of a query.

        Some documents `elsewhere`, which no run retrieves, are judged too.
        """
        holes = [*self.unjudged(query), *(f"e{i}" for i in range(elsewhere))]
        ways = list(itertools.product(self.scale, repeat=len(holes)))
        named = [str(i) for i in range(len(ways))]
        qrels = il.read_qrels({
            name: self.judged[query] | dict(zip(holes, way, strict=True))
            for name, way in zip(named, ways, strict=True)
        }).on(il.Scale.of(self.scale))  # fmt: skip
        columns = [self._values(qrels, named, run.get(query)) for run in self.runs]
        return np.unique(np.array(columns).T, axis=0)

    def _values(self, qrels: il.Qrels, named: list[str], listed: Any) -> list[float]:
        run = dict.fromkeys(named, listed) if listed else {"none": {"d": 1.0}}
        found = il.evaluate(qrels, run, self.measure)
        (label,) = found
        known = zip(found.queries, found.values[label], found.counted[label], strict=True)
        values = {query: value if counted else np.nan for query, value, counted in known}
        return [values[name] for name in named]

    def differences(self, elsewhere: int = 0, most: int = 20_000) -> tuple[Floats, Floats]:
        """Return the means of both runs in every outcome, and each query's difference there."""
        own = [self.outcomes(query, elsewhere) for query in self.judged]
        picks = itertools.islice(itertools.product(*map(range, map(len, own))), most)
        at = np.array(list(picks))
        values = np.stack([one[at[:, i]] for i, one in enumerate(own)])  # query, outcome, run
        counted = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            means = np.where(counted, values, 0.0).sum(axis=0) / counted.sum(axis=0)
        return means[:, 1] - means[:, 0], (values[:, :, 1] - values[:, :, 0]).T


def some_decided_case(rng: random.Random) -> DecidedCase:
    """Make a few queries: ties, documents of both runs, queries that a run lacks, few holes.

    One run is often the better one, so that many verdicts are decided.
    """
    scale, measure = rng.choice(SCALES), rng.choice(MEASURES)
    judged: Judged = {}
    first: Scored = {}
    second: Scored = {}
    for i in range(rng.randint(1, 4)):
        query, holes = f"q{i}", [f"u{j}" for j in range(rng.choice([0, 1, 1, 2, 3]))]
        documents = [f"d{j}" for j in range(rng.randint(1, 6))]
        judged[query] = {d: rng.choice(scale) for d in documents}
        best = sorted(documents, key=judged[query].__getitem__, reverse=True)
        good, bad = best[: len(best) // 2 + 1], best[len(best) // 2 :]
        if rng.random() < 0.3:
            good = bad = best
        for run, own in ((first, bad), (second, good)):
            listed = rng.sample(own, rng.randint(0, len(own))) + rng.sample(
                holes, rng.randint(0, len(holes))
            )
            if listed and rng.random() > 0.05:
                scores = [1, 2, 3, 4] if rng.random() < 0.3 else range(1, 50)
                run[query] = {d: float(rng.choice(scores)) for d in listed}
    for run in (first, second):
        run["unknown"] = {"d": 1.0}
    return DecidedCase(judged, (first, second), list(scale), measure)
