"""How far judges agree on labels: two of them by kappa and bias, all of them by alpha and AC."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.judging.agreeing.panel import Panel
from idealist.notation import tidy
from idealist.rendering.plain_data import record
from idealist.significance.cluster_bootstrap import drawn_sums, percentiles, varying
from idealist.significance.kappas import Ratings, cohen_kappa, gwet_ac, krippendorff_alpha

#: What each statistic is called for people.
WORDS = {
    "agree": "same grade",
    "kappa": "Cohen's kappa",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "kappa_rel": "kappa, relevant or not",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "ac1": "Gwet's AC1",
    "ac2_linear": "Gwet's AC2, linear weights",
    "ac2": "Gwet's AC2, quadratic weights",
    "bias": "mean difference of grades",
}
#: The grades of a scale, and the words of Landis and Koch for kappa up to a value. These are
#: customary, and arbitrary: doi:10.2307/2529310
STRENGTHS = (
    (0.0, "no better than chance"), (0.2, "slightly"), (0.4, "fairly"), (0.6, "moderately"),
    (0.8, "substantially"), (math.inf, "almost perfectly"),
)  # fmt: skip
#: The prevalence paradox: judges say the same of so many pairs, AC1 is higher than kappa by so
#: much, and both gave one grade to so many. Suggested.
PARADOX_AGREE, PARADOX_GAP, PARADOX_SHARE = 0.75, 0.2, 0.7


def strength(kappa: float) -> str:
    """Say how far judges agree, in a word.

    >>> strength(0.23), strength(-0.1)
    ('fairly', 'no better than chance')
    """
    return next(word for most, word in STRENGTHS if kappa <= most)


#: Statistics of any number of judges, from what they said and the grades there are.
Of = Callable[[Ratings, Floats], Floats]
OF_ALL: dict[str, Of] = {
    "alpha_nominal": lambda said, _: krippendorff_alpha(said, "nominal"),
    "alpha_ordinal": lambda said, _: krippendorff_alpha(said, "ordinal"),
    "alpha_interval": lambda said, grades: krippendorff_alpha(said, "interval", grades),
    "ac1": lambda said, _: gwet_ac(said),
    "ac2_linear": lambda said, _: gwet_ac(said, "linear"),
    "ac2": lambda said, _: gwet_ac(said, "quadratic"),
}


def of_all(ratings: Ratings, grades: Floats) -> dict[str, Floats]:
    """Compute the statistics of any number of judges."""
    return {name: compute(ratings, grades) for name, compute in OF_ALL.items()}


def of_two(table: Floats, grades: Floats, rel: float | None) -> dict[str, Floats]:
    """Compute the statistics of two judges from how often they gave each two grades."""
    total, apart = table.sum(axis=(-2, -1)), grades - grades[:, None]
    found = {
        "agree": np.trace(table, axis1=-2, axis2=-1) / total,
        "kappa": cohen_kappa(table),
        "kappa_linear": cohen_kappa(table, "linear"),
        "kappa_quadratic": cohen_kappa(table, "quadratic"),
        "bias": (table * apart).sum(axis=(-2, -1)) / total,
    }
    if rel is not None:
        found["kappa_rel"] = cohen_kappa(_cut(table, grades >= rel))
    return {**found, **of_all(Ratings.of_two(table), grades)}


def _cut(table: Floats, relevant: Any) -> Floats:
    sides = np.array([~relevant, relevant], dtype=np.float64)
    found: Floats = sides @ table @ sides.T
    return found


@dataclass(frozen=True, eq=False)
class LabelAgreement:
    """How far two judges agree on the pairs that both judged.

    `tables` counts for each query how often they gave each two of the `grades`: a row is a grade of
    the first judge. `values` are the statistics by name, `intervals` their 95 % intervals, by
    drawing queries with replacement. `rel` is the grade from which on a document is relevant.
    """

    judges: tuple[str, str]
    grades: Floats
    tables: Floats
    rel: float | None = None
    seed: int = 0

    @classmethod
    def of(
        cls, panel: Panel, a: int, b: int, rel: float | None = None, seed: int = 0
    ) -> LabelAgreement:
        """Compare two judges of a panel."""
        names = panel.judges[a], panel.judges[b]
        return cls(names, panel.grades, panel.tables(a, b), rel, seed)

    @cached_property
    def confusion(self) -> Floats:
        """How often the judges gave each two grades."""
        found: Floats = self.tables.sum(axis=0)
        return found

    @property
    def n(self) -> int:
        """The pairs that both judged."""
        return int(self.confusion.sum())

    @property
    def queries(self) -> int:
        """The queries with such a pair."""
        return len(self.tables)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The statistics by name."""
        found = of_two(self.confusion, self.grades, self.rel)
        return {name: float(found[name]) for name in WORDS if name in found}

    @cached_property
    def intervals(self) -> Mapping[str, tuple[float, float]]:
        """The interval of each statistic; NaN where queries are one or all alike."""
        drawn = of_two(drawn_sums(self.tables, seed=self.seed), self.grades, self.rel)
        return {name: varying(percentiles(drawn[name], self.queries)) for name in self.values}

    @property
    def marginals(self) -> tuple[Floats, Floats]:
        """The share of the pairs that each judge gave each grade."""
        return self.confusion.sum(axis=1) / self.n, self.confusion.sum(axis=0) / self.n

    @property
    def paradox(self) -> bool:
        """Whether kappa is low because nearly all pairs have one grade."""
        known, (one, other) = self.values, self.marginals
        common = float(np.minimum(one, other).max()) >= PARADOX_SHARE
        gap = known["ac1"] - known["kappa"] >= PARADOX_GAP
        return common and gap and known["agree"] >= PARADOX_AGREE

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        one, other = self.marginals
        return record({
            "n": self.n, "queries": self.queries, **self.values,
            "rel": self.rel, "grades": [tidy(grade) for grade in self.grades.tolist()],
            "confusion": self.confusion.astype(int).tolist(),
            "marginals": dict(zip(self.judges, (one.tolist(), other.tolist()), strict=True)),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
        })  # fmt: skip


@dataclass(frozen=True, eq=False)
class PanelAgreement:
    """How far all judges of a panel agree: alpha and AC, with intervals over queries."""

    panel: Panel
    seed: int = 0

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The statistics by name."""
        total = Ratings(*(part.sum(axis=0) for part in self.panel.ratings))
        return {name: float(one) for name, one in of_all(total, self.panel.grades).items()}

    @cached_property
    def intervals(self) -> Mapping[str, tuple[float, float]]:
        """The interval of each statistic; NaN where queries are one or all alike."""
        drawn = Ratings(*(drawn_sums(part, seed=self.seed) for part in self.panel.ratings))
        found = of_all(drawn, self.panel.grades)
        return {
            name: varying(percentiles(one, len(self.panel.queries))) for name, one in found.items()
        }

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        ends = {name: list(ends) for name, ends in self.intervals.items()}
        facts = {"pairs": len(self.panel.level), "queries": len(self.panel.queries)}
        return record({**facts, **self.values, "intervals": ends})
