"""Fusion that learns from judgments where the relevant documents of each run are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import Defect
from idealist.fusing.candidates import Candidates
from idealist.fusing.fusion import Fusion, Learnt, of_runs
from idealist.fusing.normalisations import NORMS
from idealist.measures.average_precision import AP
from idealist.notation import axis, choice, number, whole
from idealist.ranking.placements import Placements
from idealist.significance.means import mean

#: Where the segments of BayesFuse end, as in ranx, and of SegFuse: 10 × 2^(k - 1) - 5.
BAYES_ENDS = np.array([5, 10, 15, 20, 30, 100, 200, 500, 1000])
SEG_ENDS = np.array([10 * 2 ** (k - 1) - 5 for k in range(1, 11)])
#: The odds of a rank at which nothing relevant was found, or that no list reaches.
SMALL = 0.001


#: The normalisations that leave the ranks from which these methods learn as they are.
LEARNING = choice(*(name for name in NORMS if name not in ("min-max-inverted", "borda")))


class Trained(Fusion):
    """A method that learns from where the relevant documents of training queries are."""

    uses: ClassVar[str] = "ranks"
    learns: ClassVar[bool] = True

    norm: str = axis("none", LEARNING, "what makes scores of different runs comparable")
    rel: float = axis(1, number(), "the lowest grade that is relevant")

    def learn(self, placements: Sequence[Placements], some: Bools | None = None) -> Learnt:
        """Learn from each run by itself; `some` marks the queries of which."""
        marked = np.ones(len(placements[0].retrieved), bool) if some is None else some
        return [self.learn_run(one, marked) for one in placements]

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Learn from where the relevant documents of one run are."""
        raise Defect(f"{self.name} does not say what it learns")

    def hits(self, placed: Placements, some: Bools) -> tuple[Ints, Ints]:
        """Return the queries and the ranks of relevant documents."""
        relevant = (placed.grade >= self.rel) & some[placed.query]
        return placed.query[relevant], placed.rank[relevant]

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Look up what was learnt of this rank."""
        return of_runs(learnt, candidates)


class PosFuse(Trained):
    """The chance that a document at this rank of the run is relevant.

    Formula: Σ P(relevant | run, rank), the share of training queries with a list of this length
    whose document at this rank is relevant

    Reference: Lillis, Zhang, Toolan, Collier, Leonard and Dunnion 2010, doi:10.1145/1835449.1835508
    """

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Count relevant documents and lists by rank."""
        return _chances(self.hits(placed, some)[1], placed.retrieved[some])


def _chances(ranks: Ints, lengths: Ints) -> Floats:
    deepest = int(lengths.max(initial=0))
    hits = np.bincount(ranks - 1, minlength=deepest).astype(np.float64)
    ended = np.cumsum(np.bincount(lengths, minlength=deepest + 1))[:deepest]
    return hits / (len(lengths) - ended)


class SlideFuse(Trained):
    """PosFuse smoothed over the neighbouring ranks.

    Formula: Σ mean of P(relevant | run, rank') over ranks rank - w to rank + w of the list

    Reference: Lillis, Toolan, Collier and Dunnion 2008, doi:10.1007/978-3-540-78646-7_33
    """

    grid: ClassVar = {"w": (5, 1, 2, 10, 20)}

    w: int = axis(
        5, whole(0, "a whole number of at least 0"), "the neighbouring ranks on each side"
    )

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Count relevant documents and lists by rank."""
        return _chances(self.hits(placed, some)[1], placed.retrieved[some])

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Average what was learnt of the ranks around this one."""
        size = candidates.sizes[candidates.list]
        low = np.maximum(candidates.rank - 1 - self.w, 0)
        high = np.minimum(candidates.rank + self.w, size)
        sums = [np.append(0.0, np.cumsum(table)) for table in learnt]
        upto = replace(candidates, rank=high + 1)
        before = replace(candidates, rank=low + 1)
        inside = _held(sums, upto) - _held(sums, before)
        found: Floats = inside / (high - low)
        return found


def _held(sums: Sequence[Floats], candidates: Candidates) -> Floats:
    """Look up sums; beyond their end the last one stays."""
    deepest = np.array([len(one) for one in sums])[candidates.run]
    return of_runs(sums, replace(candidates, rank=np.minimum(candidates.rank, deepest)))


class ProbFuse(Trained):
    """The chance that a document in this part of the run's list is relevant.

    Formula: Σ P(relevant | run, part) / part, where each list has x parts of the same length

    Reference: Lillis, Toolan, Collier and Dunnion 2006, doi:10.1145/1148170.1148197
    """

    grid: ClassVar = {"parts": (25, 5, 10, 50, 100)}

    parts: int = axis(25, whole(1, "a whole number of at least 1"), "the parts of each list")

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Average the share of relevant documents in each part, over all training queries."""
        query, rank = self.hits(placed, some)
        size = self._size(placed.retrieved)
        part = (rank - 1) // size[query]
        start = np.arange(min(self.parts, placed.retrieved.max(initial=1))) * size[:, None]
        length = np.clip(placed.retrieved[:, None] - start, 0, size[:, None])
        hits = np.zeros(length.shape)
        np.add.at(hits, (query, part), 1.0)
        found: Floats = (hits / np.maximum(length, 1)).sum(axis=0) / np.count_nonzero(some)
        return found

    def _size(self, lengths: Any) -> Any:
        return np.maximum(-(-lengths // self.parts), 1)

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Look up what was learnt of this part."""
        part = (candidates.rank - 1) // self._size(candidates.sizes)[candidates.list]
        found: Floats = of_runs(learnt, replace(candidates, rank=part + 1)) / (part + 1)
        return found


class SegFuse(Trained):
    """The chance that a document in this segment is relevant, raised by its score.

    Formula: Σ P(relevant | run, segment) (1 + s), with segments that double in size: ranks 1 to 5,
    6 to 15, 16 to 35, and so on to 5,115

    Reference: Shokouhi 2007, doi:10.1007/978-3-540-71496-5_19
    """

    uses: ClassVar[str] = "scores"

    norm: str = axis("min-max", LEARNING, "what makes scores of different runs comparable")

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Average the share of relevant documents in each segment."""
        return _by_segment(self.hits(placed, some)[1], SEG_ENDS, int(np.count_nonzero(some)))

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Raise what was learnt of this segment by the score."""
        return _in_segment(learnt, candidates, SEG_ENDS, 0.0) * (1 + candidates.score)


class BayesFuse(Trained):
    """The log odds that a document in this segment is relevant, as if runs were independent.

    Formula: Σ log(p / (1 - p)), where p is the share of relevant documents among ranks 1 to 5, 6 to
    10, to 15, 20, 30, 100, 200, 500 and 1000; 0.001 for p or 1 - p where it is 0, and for p where a
    run did not find the document

    Reference: Aslam and Montague 2001, doi:10.1145/383952.384007
    """

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Compute the log odds of each segment."""
        share = _by_segment(self.hits(placed, some)[1], BAYES_ENDS, int(np.count_nonzero(some)))
        share = np.where(share == 0, SMALL, share)
        others = np.where(share == 1, SMALL, 1 - share)
        return np.log(share / others)

    def prepared(self, candidates: Candidates) -> Candidates:
        """Give every run an opinion of every candidate."""
        return super().prepared(candidates).completed()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Look up the log odds of this segment."""
        return _in_segment(learnt, candidates, BAYES_ENDS, float(np.log(SMALL / (1 - SMALL))))


def _by_segment(ranks: Ints, ends: Ints, queries: int) -> Floats:
    """Average over queries the share of relevant documents in each segment."""
    segment = np.searchsorted(ends, ranks[ranks <= ends[-1]])
    hits = np.bincount(segment, minlength=len(ends))
    return hits / np.diff(ends, prepend=0) / queries


def _in_segment(learnt: Learnt, candidates: Candidates, ends: Ints, beyond: float) -> Floats:
    segment = (np.searchsorted(ends, candidates.rank) + 1).astype(np.float64)
    return of_runs(learnt, replace(candidates, rank=segment), beyond)


class MAPFuse(Trained):
    """The run's mean average precision over the rank.

    Formula: Σ MAP(run) / rank

    Reference: Lillis, Zhang, Toolan, Collier, Leonard and Dunnion 2010, doi:10.1145/1835449.1835508
    """

    def learn_run(self, placed: Placements, some: Bools) -> Floats:
        """Compute the mean average precision."""
        values = AP(rel=self.rel, no_relevant=0).values(placed)[some]
        return np.array([mean(values.tolist())])

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Divide by the rank."""
        return np.concatenate(list(learnt))[candidates.run] / candidates.rank
