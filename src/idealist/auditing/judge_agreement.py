"""How far several judges agree: by two of them, all together, and who stands out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Floats, Ints
from idealist.data.judgments import JudgeRows
from idealist.rendering.document import COUNT, SHARE, TEXT, VALUE, Column, Table
from idealist.rendering.plain_data import record
from idealist.significance.kappas import (
    WEIGHTS,
    Ratings,
    cohen_kappa,
    krippendorff_alpha,
    standing_apart,
)

#: A judge stands out whose absence raises alpha by so much, and who is far from the others more
#: often than at this level. Suggested; of judges who are alike, 1 to 3 in 100 tables then name one.
APART, LEVEL = 0.05, 0.01
#: Judges up to which every two of them are compared. Suggested.
MOST_JUDGES = 200


@dataclass(frozen=True)
class JudgePair:
    """How far two judges agree on the documents that both judged.

    `agree` is the share with the same grade, `kappa` Cohen's kappa, and `linear` and `quadratic`
    its forms that count how far apart the grades are; NaN where both gave one grade only.
    """

    judges: tuple[str, str]
    documents: int
    agree: float
    kappa: float
    linear: float
    quadratic: float

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return record(vars(self))


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """How far the judges agree on the documents that more than one judged.

    >>> from idealist import read_qrels
    >>> rows = [("a", 0, 0), ("b", 1, 1), ("c", 1, 0), ("d", 0, 0)]
    >>> cells = [{"query": "q", "doc": d, "judge": j, "grade": g}
    ...          for d, *both in rows for j, g in zip(("ann", "bob"), both)]
    >>> found = JudgeAgreement.of(read_qrels(cells, merge="max"))
    >>> found.documents, found.agree, found.kappa, round(found.alpha, 4)
    (4, 0.75, 0.5, 0.5333)
    """

    rows: JudgeRows
    levels: Floats

    @classmethod
    def of(cls, qrels: Qrels) -> JudgeAgreement | None:
        """Look at what several judges said; None if nobody judged what another did."""
        rows = qrels.judged_by
        return None if rows is None else cls(rows, np.unique(rows.grade))

    @cached_property
    def judges(self) -> dict[str, int]:
        """How many of these documents each judge judged, if they have names."""
        named, counts = np.unique([name for name in self.rows.judge if name], return_counts=True)
        return dict(zip(named.tolist(), counts.tolist(), strict=True))

    @cached_property
    def documents(self) -> int:
        """How many documents more than one judged."""
        return len(np.unique(self.rows.pair))

    @cached_property
    def counts(self) -> Floats:
        """How many judges gave each document each grade."""
        return self._counts(np.arange(len(self.rows.pair)))

    def _counts(self, kept: Ints) -> Floats:
        counts = np.zeros((self.documents, len(self.levels)))
        np.add.at(counts, (self._place[kept], self._level[kept]), 1)
        return counts

    @cached_property
    def _place(self) -> Ints:
        return np.unique(self.rows.pair, return_inverse=True)[1]

    @cached_property
    def _judge(self) -> Ints:
        index = {name: i for i, name in enumerate(self.judges)}
        return np.array([index.get(name, len(index)) for name in self.rows.judge])

    @cached_property
    def _level(self) -> Ints:
        return np.searchsorted(self.levels, self.rows.grade)

    @cached_property
    def agree(self) -> float:
        """The share of documents of which all that judged them say the same."""
        return float(np.mean(np.count_nonzero(self.counts, axis=1) == 1))

    @cached_property
    def alpha(self) -> float:
        """Krippendorff's alpha of all judges, with grades in order."""
        return float(krippendorff_alpha(Ratings.of(self.counts)))

    @cached_property
    def pairs(self) -> tuple[JudgePair, ...]:
        """Every two judges who judged a document in common, those who agree least first."""
        if len(self.judges) > MOST_JUDGES:
            return ()
        own = {name: self._of(name) for name in self.judges}
        both = (self._pair(a, b, own[a], own[b]) for a, b in combinations(own, 2))
        found = [one for one in both if one is not None]
        return tuple(sorted(found, key=lambda one: (math.isnan(one.kappa), one.kappa)))

    def _of(self, name: str) -> dict[int, int]:
        mine = [i for i, judge in enumerate(self.rows.judge) if judge == name]
        levels = self._level[mine].tolist()
        return dict(zip(self.rows.pair[mine].tolist(), levels, strict=True))

    def _pair(self, a: str, b: str, one: dict[int, int], other: dict[int, int]) -> JudgePair | None:
        shared = [pair for pair in one if pair in other]
        if not shared:
            return None
        table = np.zeros((len(self.levels), len(self.levels)))
        np.add.at(table, ([one[pair] for pair in shared], [other[pair] for pair in shared]), 1)
        kappas = (float(cohen_kappa(table, weights)) for weights in WEIGHTS)
        return JudgePair((a, b), len(shared), float(np.trace(table)) / len(shared), *kappas)

    @cached_property
    def kappa(self) -> float:
        """The mean of the kappas of two judges, each weighted by the documents behind it."""
        known = [(one.kappa, one.documents) for one in self.pairs if not math.isnan(one.kappa)]
        values, weights = zip(*known, strict=True) if known else ((), ())
        return float(np.average(values, weights=weights)) if known else math.nan

    @cached_property
    def apart(self) -> dict[str, float]:
        """The judges without whom the others agree better, and alpha without each.

        If judges are alike, any of those who judged a document may be the one who is far from the
        others. So a judge is who is so more often than that explains, by a test of all judges.
        """
        names = [name for name in self.judges if len(self.judges) > 2]
        surprise = standing_apart(self.counts, self._place, self._level, self._judge)
        told = {
            name: self._without(i)
            for i, name in enumerate(names)
            if surprise[i] > NormalDist().inv_cdf(1 - LEVEL / len(names))
        }
        return {name: alpha for name, alpha in told.items() if alpha - self.alpha >= APART}

    def _without(self, judge: int) -> float:
        counts = self._counts(np.flatnonzero(self._judge != judge))
        return float(krippendorff_alpha(Ratings.of(counts)))

    def table(self) -> Table:
        """Tabulate how far every two judges agree."""
        names = ("documents", "agree", "kappa", "linear", "quadratic")
        forms = (COUNT, SHARE, VALUE, VALUE, VALUE)
        columns = Column("judge", TEXT), Column("and", TEXT), *map(Column, names, forms)
        rows = [(*one.judges, *(getattr(one, name) for name in names)) for one in self.pairs]
        return Table(columns, tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return record({
            "judges": self.judges, "documents": self.documents, "agree": self.agree,
            "alpha": self.alpha, "kappa": self.kappa, "apart": self.apart,
        }) | {"pairs": [one.data() for one in self.pairs]}  # fmt: skip
