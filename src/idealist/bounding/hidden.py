"""Holes: the unjudged documents that a value depends on, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from idealist.data import Run
from idealist.data.columns import Bools, Floats, Ints, starts_of
from idealist.ranking.order import Ranking
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import listing


@dataclass(frozen=True, eq=False)
class Holes:
    """Unjudged documents by query and rank, in columns as `Placements` has them."""

    query: Ints
    rank: Ints
    first: Ints
    last: Ints
    score: Floats

    def __len__(self) -> int:
        return len(self.query)

    def at(self, kept: Bools) -> Holes:
        """Keep some of them."""
        query, rank, score = self.query[kept], self.rank[kept], self.score[kept]
        return Holes(query, rank, self.first[kept], self.last[kept], score)

    def counts(self, queries: int) -> Ints:
        """Count them by query."""
        return np.bincount(self.query, minlength=queries)

    @property
    def is_last(self) -> Bools:
        """Which ones are the last of their query."""
        last = np.ones(len(self), dtype=bool)
        last[:-1] = self.query[1:] != self.query[:-1]
        return last


def find_holes(placements: Placements, cutoff: int | None, run: Run | None = None) -> Holes:
    """Find the holes above a cutoff, or in whole lists: the ranks where nothing judged stands.

    Only where scores or ties matter is the `run` asked for the documents themselves.
    """
    length = placements.retrieved
    if cutoff is not None and run is None:
        length = np.minimum(length, cutoff)
    starts = starts_of(length)
    query = np.repeat(np.arange(len(length)), length)
    rank = np.arange(len(query)) - starts[query] + 1
    near = placements.rank <= length[placements.query]
    unjudged = np.ones(len(query), dtype=bool)
    unjudged[starts[placements.query[near]] + placements.rank[near] - 1] = False
    query, rank = query[unjudged], rank[unjudged]
    holes = Holes(query, rank, rank, rank, np.full(len(rank), np.nan))
    return holes if run is None else _with_ties(holes, placements, cutoff, run)


def _with_ties(holes: Holes, placements: Placements, cutoff: int | None, run: Run) -> Holes:
    """Look up scores and ties; a tie that begins above the cutoff is in reach, all of it."""
    queries = placements.qrels.queries
    ranked = ranked_documents(placements, run, (queries[q] for q in np.unique(holes.query)))
    columns = []
    for name in ("first", "last", "scores"):
        found = {query: getattr(one, name) for query, one in ranked.items()}
        pairs = zip(holes.query.tolist(), (holes.rank - 1).tolist(), strict=True)
        columns.append(np.array([found[queries[q]][i] for q, i in pairs]))
    first, last, score = (np.asarray(column) for column in columns)
    if not len(holes):
        return holes
    known = Holes(holes.query, holes.rank, first, last, score.astype(np.float64))
    chance = placements.protocol.ties == "expected"
    return known if cutoff is None else known.at((first if chance else known.rank) <= cutoff)


def ranked_documents(
    placements: Placements, run: Run, queries: Iterable[str]
) -> dict[str, Ranking]:
    """Give the documents behind placements, less those with a negative grade where these go."""
    ranked = {
        query: replace(one, last=np.minimum(one.last, len(one.documents)))  # a depth may cut a tie
        for query, one in listing(run, placements.protocol, queries).items()
    }
    if placements.protocol.negative != "drop":
        return ranked
    qrels = placements.qrels
    grades = {q: dict(zip(qrels.documents[a:b], qrels.grades[a:b], strict=True))
              for q, a, b in qrels.spans() if q in ranked}  # fmt: skip
    return {query: _kept(one, grades[query]) for query, one in ranked.items()}


def _kept(ranking: Ranking, grades: dict[str, float]) -> Ranking:
    kept = np.array([grades.get(document, 0) >= 0 for document in ranking.documents], dtype=bool)
    before = np.concatenate(([0], np.cumsum(kept)))
    return replace(
        ranking,
        documents=[ranking.documents[i] for i in np.flatnonzero(kept)],
        scores=ranking.scores[kept],
        first=before[ranking.first[kept] - 1] + 1,
        last=before[ranking.last[kept]],
    )


def documents_of(holes: Holes, placements: Placements, run: Run) -> list[str]:
    """Name the documents."""
    queries = placements.qrels.queries
    ranked = ranked_documents(placements, run, (queries[q] for q in np.unique(holes.query)))
    pairs = zip(holes.query.tolist(), (holes.rank - 1).tolist(), strict=True)
    return [ranked[queries[q]].documents[i] for q, i in pairs]
