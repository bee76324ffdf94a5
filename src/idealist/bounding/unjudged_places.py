"""The unjudged documents that a value depends on, and the ranks they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from idealist.data import Run
from idealist.data.columns import Bools, Floats, Ints, starts_of
from idealist.protocol import Protocol
from idealist.ranking.document_lists import DocumentLists, decoded
from idealist.ranking.order import Ranking
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked, listing


@dataclass(frozen=True, eq=False)
class UnjudgedPlaces:
    """Unjudged documents by query and rank, in the columns that `Placements` has.

    `turn` says how many unjudged documents of the query come before.
    """

    query: Ints
    rank: Ints
    first: Ints
    last: Ints
    score: Floats
    turn: Ints

    def __len__(self) -> int:
        return len(self.query)

    def at(self, kept: Bools) -> UnjudgedPlaces:
        """Keep some of them."""
        return UnjudgedPlaces(*(column[kept] for column in vars(self).values()))

    def counts(self, queries: int) -> Ints:
        """Count them by query."""
        return np.bincount(self.query, minlength=queries)

    @property
    def deepest(self) -> int:
        """How many unjudged documents of a query there are at most, down to the last of these."""
        return int(self.turn.max(initial=-1)) + 1

    @property
    def is_last(self) -> Bools:
        """Which of them are the last of their query."""
        last = np.ones(len(self), dtype=bool)
        last[:-1] = self.query[1:] != self.query[:-1]
        return last


def find_unjudged(
    placements: Placements, cutoff: int | None, run: Run | None = None
) -> UnjudgedPlaces:
    """Find the ranks down to a cutoff, or of whole lists, that hold no judged document.

    Pass the `run` only where scores or ties matter: its documents are then looked up.
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
    turn = np.arange(len(query)) - starts_of(np.bincount(query, minlength=len(length)))[query]
    places = UnjudgedPlaces(query, rank, rank, rank, np.full(len(rank), np.nan), turn)
    return places if run is None or not len(places) else _tied(places, placements, cutoff, run)


def _tied(
    places: UnjudgedPlaces, placements: Placements, cutoff: int | None, run: Run
) -> UnjudgedPlaces:
    """Look up scores and ties; of a tie that begins above the cutoff, all documents matter."""
    ranked, index = _rankings(places, placements, run)
    rows = [(ranked[q].first[i], ranked[q].last[i], ranked[q].scores[i]) for q, i in index]
    first, last, score = (np.array(column) for column in zip(*rows, strict=True))
    known = replace(places, first=first, last=last, score=score.astype(np.float64))
    by_chance = placements.protocol.ties == "expected"
    return known if cutoff is None else known.at((first if by_chance else known.rank) <= cutoff)


def names_of(places: UnjudgedPlaces, names: DocumentLists) -> list[bytes]:
    """Name the unjudged documents, as bytes."""
    at = names.starts[places.query] + places.turn
    ends = zip(names.ends[at].tolist(), names.ends[at + 1].tolist(), strict=True)
    return [names.text[a:b] for a, b in ends]


def documents_of(places: UnjudgedPlaces, ranked: Ranked, protocol: Protocol) -> list[str]:
    """Name the unjudged documents."""
    names = ranked.names(protocol, places.deepest)
    return [decoded(name) for name in names_of(places, names)]


def _rankings(
    places: UnjudgedPlaces, placements: Placements, run: Run
) -> tuple[dict[str, Ranking], list[tuple[str, int]]]:
    """Return the rankings of the queries, and where in them each unjudged document is."""
    names = placements.qrels.queries
    ranked = _documents(placements, run, (names[q] for q in np.unique(places.query)))
    pairs = zip(places.query.tolist(), (places.rank - 1).tolist(), strict=True)
    return ranked, [(names[q], i) for q, i in pairs]


def _documents(placements: Placements, run: Run, queries: Iterable[str]) -> dict[str, Ranking]:
    """Return the documents behind placements, less negative ones where the protocol drops them."""
    ranked = {
        query: replace(one, last=np.minimum(one.last, len(one.documents)))  # a depth may cut a tie
        for query, one in listing(run, placements.protocol, queries).items()
    }
    if placements.protocol.negative != "drop":
        return ranked
    qrels = placements.qrels
    grades = {q: dict(zip(qrels.documents[a:b], qrels.grades[a:b], strict=True))
              for q, a, b in qrels.spans() if q in ranked}  # fmt: skip
    return {query: _without_negative(one, grades[query]) for query, one in ranked.items()}


def _without_negative(ranking: Ranking, grades: dict[str, float]) -> Ranking:
    kept = np.array([grades.get(document, 0) >= 0 for document in ranking.documents], dtype=bool)
    before = np.concatenate(([0], np.cumsum(kept)))
    return replace(
        ranking,
        documents=[ranking.documents[i] for i in np.flatnonzero(kept)],
        scores=ranking.scores[kept],
        first=before[ranking.first[kept] - 1] + 1,
        last=before[ranking.last[kept]],
    )
