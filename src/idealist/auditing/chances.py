"""How likely an unjudged document of a run is relevant.

P(grade | rank, run) is counted among the judged documents of the run, in bands of ranks (Fröbe et
al. 2023, doi:10.1007/978-3-031-28244-7_20, fill holes so). An unjudged document is less likely
relevant than that: in a pool it is one that no other system ranked high. So the odds that it is
relevant are a share of those of a judged document at its rank. Among 50 runs of TREC-COVID's first
round, whose pool is known, this share is about a sixth, whether the pool has 2 teams or 49, and
depth 1 or 7; for most runs it lies between a twelfth and a third.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealist.data.columns import Floats, Ints
from idealist.ranking.placements import Placements

#: How deep coverage is looked at: what people read, and what rerankers read. Suggested.
DEPTHS = (10, 100)
#: The first ranks of the bands in which P(grade | rank) is counted; documents below the deepest of
#: `DEPTHS` say little about the first. Suggested.
BANDS = (1, 2, 4, 6, 11, 21, 51)
#: As many documents of the run's average are mixed into each band. Suggested.
PRIOR = 5
#: As many documents of the average judgment are mixed into the run's average. Suggested.
RUN_PRIOR = 10
#: Share of the judgments that must be of documents that are not relevant: elsewhere only what is
#: relevant was written down, as in MS MARCO. Suggested.
LEAST_NONRELEVANT = 0.05
#: The odds that an unjudged document of a pool is relevant, over those of a judged one at its rank
#: in the same run. Counted on one half of the teams of TREC-COVID's first round.
POOL_ODDS = 1 / 6
#: By how much these odds are more or less from run to run, as a factor. From the same half.
ODDS_SPREAD = 2.0
#: Standard errors to either side that a range allows for: nine in ten. Suggested.
Z = 1.645
#: Standard errors by which judgments must thin out with rank, to be taken for those of a pool.
THINNING = 2.0


def names_nonrelevant(grades: Floats) -> bool:
    """Whether enough judgments are of documents that are not relevant.

    Where only relevant documents were written down, the judged say nothing about the others.
    """
    return bool(np.count_nonzero(grades <= 0) >= max(1, LEAST_NONRELEVANT * len(grades)))


@dataclass(frozen=True, eq=False)
class Chances:
    """How often a document of one run has each of the `grades`, in each band of ranks.

    `shares` is of judged documents. Every band has some of the run's average mixed in, and that
    some of all judgments, so that a few documents do not decide. `odds` says how the odds of an
    unjudged document compare.

    >>> from idealist import Protocol, rank, read_qrels, read_run
    >>> qrels = read_qrels({"q": {"a": 1, "b": 0, "c": 0}})
    >>> found = rank(qrels, read_run({"q": ["a", "x", "b"]}), [Protocol()])[Protocol()]
    >>> Chances(found).shares[:2, 1].round(2).tolist()
    [0.47, 0.3]
    >>> Chances(found).relevant(np.array([1, 2])).round(2).tolist()
    [0.13, 0.07]
    """

    placements: Placements
    odds: float = POOL_ODDS

    @cached_property
    def grades(self) -> Floats:
        """The grades there are, lowest first."""
        return np.unique(self.placements.qrels.grades)

    @cached_property
    def shares(self) -> Floats:
        """The share of each grade in each band, among judged documents."""
        counts, every = self.counts, np.searchsorted(self.grades, self.placements.qrels.grades)
        usual = np.bincount(every, minlength=len(self.grades)) / len(every)
        own = (counts.sum(axis=0) + RUN_PRIOR * usual) / (counts.sum() + RUN_PRIOR)
        return np.asarray((counts + PRIOR * own) / (counts.sum(axis=1, keepdims=True) + PRIOR))

    @cached_property
    def counts(self) -> Ints:
        """The judged documents of each band that have each grade."""
        near = self.placements.rank <= max(DEPTHS)
        counts = np.zeros((len(BANDS), len(self.grades)), dtype=np.int64)
        grade = np.searchsorted(self.grades, self.placements.grade[near])
        np.add.at(counts, (bands_of(self.placements.rank[near]), grade), 1)
        return counts

    def unjudged(self, odds: float) -> Floats:
        """Return the share of each grade in each band, among unjudged documents with such odds."""
        weighed = self.shares * np.where(self.grades > 0, odds, 1.0)
        return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))

    def relevant(self, ranks: Ints) -> Floats:
        """Estimate P(relevant | rank) of unjudged documents."""
        share: Floats = self.unjudged(self.odds)[:, self.grades > 0].sum(axis=1)
        return share[bands_of(ranks)]

    @cached_property
    def usable(self) -> bool:
        """Whether what was judged says anything about what was not."""
        return names_nonrelevant(self.placements.qrels.grades)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the most that the odds may be.

        They differ from run to run, and those of judged documents are themselves an estimate, with
        variance 1/(a + ½) + 1/(b + ½) in logarithms, of a relevant and b other documents. Where
        judgments do not thin out with rank, documents may be unjudged by chance; then they are
        relevant as often as the judged ones are.
        """
        both = [self.counts[:, self.grades > 0].sum(), self.counts[:, self.grades <= 0].sum()]
        error = np.sqrt(sum(1 / (count + 0.5) for count in both))
        spread = np.exp(np.hypot(np.log(ODDS_SPREAD), Z * error))
        high = min(self.odds * spread, 1.0) if self.thins else 1.0
        return float(self.odds / spread), float(high)

    @property
    def thins(self) -> bool:
        """Whether judgments thin out with rank, as they do in a pool.

        This is the Mann-Whitney test of the ranks of judged and unjudged documents.
        """
        judged, reach = judged_at(self.placements)
        unjudged = reach - judged
        pairs = judged.sum() * unjudged.sum()
        above = float(unjudged @ (np.cumsum(judged) - judged / 2))
        error = np.sqrt((reach.sum() + 1) * pairs / 12)
        return bool(above - pairs / 2 > THINNING * error)

    def draw(self, ranks: Ints, odds: float, rng: np.random.Generator) -> Floats:
        """Draw a grade for an unjudged document at each of some ranks."""
        edges = np.cumsum(self.unjudged(odds), axis=1)[bands_of(ranks)]
        index = (rng.random(len(ranks))[:, None] >= edges).sum(axis=1)
        return np.asarray(self.grades[np.minimum(index, len(self.grades) - 1)])


def bands_of(ranks: Ints) -> Ints:
    """Find the band of each rank."""
    return np.searchsorted(BANDS, ranks, side="right") - 1


def judged_at(placements: Placements) -> tuple[Floats, Floats]:
    """Count at each rank the documents judged, and the lists that reach it.

    The ranks are those down to the deepest of `DEPTHS`.
    """
    deepest = max(DEPTHS)
    near = placements.rank[placements.rank <= deepest]
    judged = np.bincount(near, minlength=deepest + 1)[1:].astype(np.float64)
    shorter = np.searchsorted(np.sort(placements.retrieved), np.arange(1, deepest + 1))
    return judged, (len(placements.retrieved) - shorter).astype(np.float64)
