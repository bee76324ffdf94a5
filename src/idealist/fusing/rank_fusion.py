"""Fusion by ranks: reciprocal ranks, rank-biased centroids, and votes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import ClassVar

import numpy as np

from idealist.data.columns import Floats
from idealist.fusing.candidates import Candidates
from idealist.fusing.fusion import Fusion, Learnt, norm, weights
from idealist.notation import ABOVE_0, Value, axis, number


class ByRank(Fusion):
    """A method that looks at ranks alone, so that scores need not be comparable."""

    uses: ClassVar[str] = "ranks"

    norm: str = norm("none")


class RRF(ByRank):
    """Reciprocal rank fusion.

    Formula: Σ 1 / (k + rank)

    Reference: Cormack, Clarke and Büttcher 2009, doi:10.1145/1571941.1572114
    """

    grid: ClassVar = {"k": (60, 1, 5, 10, 20, 40, 80, 120, 250, 500, 1000)}

    k: float = axis(60, number(0, 1e9), "how little the first ranks stand out")

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the reciprocal rank."""
        return 1 / (self.k + candidates.rank)


class WRRF(ByRank):
    """Reciprocal rank fusion with a weight for each run.

    Formula: Σ w / (k + rank)

    Reference: Cormack, Clarke and Büttcher 2009, doi:10.1145/1571941.1572114; weighted in
    Elasticsearch, Qdrant and Vespa
    """

    grid: ClassVar[dict[str, tuple[Value, ...]]] = {"k": (60, 10), "weights": ()}

    k: float = axis(60, number(0, 1e9), "how little the first ranks stand out")
    weights: str = weights()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the weighted reciprocal rank."""
        return self.weight(candidates.runs)[candidates.run] / (self.k + candidates.rank)


class RBC(ByRank):
    """Rank-biased centroids: what a user who goes on with probability φ sees of a document.

    Formula: Σ (1 - φ) φ^(rank - 1)

    Reference: Bailey, Moffat, Scholer and Thomas 2017, doi:10.1145/3077136.3080839
    """

    grid: ClassVar = {"phi": (0.9, 0.5, 0.8, 0.95, 0.98, 0.99)}

    phi: float = axis(
        0.9,
        number(ABOVE_0, 1, "a number above 0, at most 1"),
        "the chance that a user looks at the next document",
    )

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the chance that a user stops at this rank."""
        return (1 - self.phi) * self.phi ** (candidates.rank - 1)


class ISR(ByRank):
    """Inverse square ranks, times the number of runs that found the document.

    Formula: c Σ 1 / rank²

    Reference: Mourão, Martins and Magalhães 2015, doi:10.1016/j.compmedimag.2014.05.006
    """

    adds_up: ClassVar[bool] = False

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the inverse square of the rank."""
        return 1 / candidates.rank**2

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Multiply by the number of runs."""
        return candidates.total(given) * self.times(candidates.found_by)

    def times(self, found_by: Floats) -> Floats:
        """Return what the sum is multiplied by."""
        return found_by


class LogISR(ISR):
    """Inverse square ranks, times the logarithm of the number of runs: 0 for a document of one run.

    Formula: log c Σ 1 / rank²

    Reference: Mourão, Martins and Magalhães 2015, doi:10.1016/j.compmedimag.2014.05.006
    """

    def times(self, found_by: Floats) -> Floats:
        """Take the logarithm."""
        return np.log(found_by)


class LogNISR(ISR):
    """LogISR that tells documents of one run apart.

    Formula: log(c + σ) Σ 1 / rank²

    Reference: Mourão, Martins and Magalhães 2015, doi:10.1016/j.compmedimag.2014.05.006
    """

    grid: ClassVar = {"sigma": (0.01, 0.1, 0.5, 1.0)}

    sigma: float = axis(0.01, number(0, 1), "what is added to the number of runs")

    def times(self, found_by: Floats) -> Floats:
        """Take the logarithm of a little more."""
        return np.log(found_by + self.sigma)


class Borda(ByRank):
    """Borda's count: of N candidates, a run gives its first N points, its second N - 1, and so on.

    Formula: Σ N - rank + 1; a run gives documents that it did not find (N - n + 1) / 2 each, the
    mean of the points that its n documents leave

    Reference: Aslam and Montague 2001, doi:10.1145/383952.384007
    """

    def prepared(self, candidates: Candidates) -> Candidates:
        """Give every run an opinion of every candidate."""
        return super().prepared(candidates).completed()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the points."""
        return self.weight(candidates.runs)[candidates.run] * _points(candidates)


class WBorda(Borda):
    """Borda's count with a weight for each run.

    Formula: Σ w (N - rank + 1)

    Reference: Aslam and Montague 2001, doi:10.1145/383952.384007
    """

    grid: ClassVar[dict[str, tuple[Value, ...]]] = {"weights": ()}

    weights: str = weights()


def _points(candidates: Candidates) -> Floats:
    here = np.isfinite(candidates.rank)
    size = np.bincount(candidates.list, here, len(candidates.sizes))[candidates.list]
    every = np.repeat(candidates.per_query, candidates.runs)[candidates.list]
    return np.where(here, every + 1 - candidates.rank, (every - size + 1) / 2)


class Condorcet(ByRank):
    """Votes on every pair: a document comes before another if more runs rank it higher.

    A run ranks a document that it found above one that it did not; what it found neither of, it
    does not vote on. Documents are sorted by these votes, starting from Borda's order, ties by
    document id descending, which decides where votes are even; where votes go round in a circle,
    the order still is one in which no document beats the one directly before it. The score of the
    n-th of N is N - n + 1.

    Reference: Montague and Aslam 2002, doi:10.1145/584792.584881
    """

    adds_up: ClassVar[bool] = False

    def prepared(self, candidates: Candidates) -> Candidates:
        """Give every run an opinion of every candidate."""
        return super().prepared(candidates).completed()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the rank, infinite where the run did not find it."""
        return candidates.rank

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Sort the documents of each query by votes."""
        order, _ = candidates.by_document
        ranks = given[order].reshape(-1, candidates.runs)
        votes = self.weight(candidates.runs)
        votes /= votes.max()
        points = candidates.total(votes[candidates.run] * _points(candidates)).round(9)
        found = np.zeros(len(ranks))
        for query, (start, end) in enumerate(pairwise(candidates.starts.tolist())):
            names, own = candidates.names.first(query), points[start:end].tolist()
            before = sorted(range(end - start), key=lambda i: (own[i], names[i]), reverse=True)
            places = elected([ranks[start + i].tolist() for i in before], votes.tolist())
            found[[start + before[i] for i in places]] = np.arange(end - start, 0, -1)
        return found


class WCondorcet(Condorcet):
    """Condorcet with as many votes for each run as it weighs.

    Reference: Montague and Aslam 2002, doi:10.1145/584792.584881
    """

    grid: ClassVar[dict[str, tuple[Value, ...]]] = {"weights": ()}

    weights: str = weights()


#: A margin below this is none: weights such as 0.1, 0.2 and 0.3 do not add up exactly.
EVEN = 1e-9


def elected(ranks: Sequence[Sequence[float]], weight: Sequence[float]) -> list[int]:
    """Sort documents by majority; each has a rank in every run.

    >>> elected([[2, 1, 2], [1, 2, 1], [3, 3, 3]], [1, 1, 1])
    [1, 0, 2]
    """

    def beats(x: int, y: int) -> int:
        votes = zip(ranks[x], ranks[y], weight, strict=True)
        margin = sum(w if b < a else -w for a, b, w in votes if a != b)
        return (margin > EVEN) - (margin < -EVEN)

    return sorted(range(len(ranks)), key=cmp_to_key(beats))
