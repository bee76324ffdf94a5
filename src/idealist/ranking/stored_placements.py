"""Stored placements: a run of which only the places of judged documents were kept.

It stands where a run's file stands, and knows its lists under the orderings that it was made with,
and under all others that cannot differ from these on this run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Bools, Ints
from idealist.data.remarks import Remark
from idealist.errors import NoDocuments, UsageError
from idealist.notation import text
from idealist.protocol import Protocol
from idealist.ranking.order import Ranking
from idealist.ranking.place_columns import Columns, Part, moved

#: The rules that do not matter where something else than scores orders a list, and what they then
#: count as: places in a given order never tie, and neither do ranks care for precision.
IDLE: dict[str, dict[str, Any]] = {
    "score": {},
    "rank": {"precision": "float64", "nonfinite": "error"},
    "given": {"precision": "float64", "nonfinite": "error", "ties": "docid-desc"},
}


def hidden(query: str, digest: str) -> str:
    """Write a query's id as one who has the judgments can compute it, and nobody else.

    >>> hidden("q1", "00" * 32)
    'q-0c76e54d80b81d6c'
    """
    key = bytes.fromhex(digest)
    name = query.encode(errors="surrogatepass")
    return f"q-{hashlib.blake2b(name, digest_size=8, key=key).hexdigest()}"


@dataclass(frozen=True, eq=False)
class StoredPlacements:
    """Where a run had the judged documents of `qrels`, under some orderings.

    `same` holds the rules that change nothing in this run, with the value under which its `lists`
    are kept; what merges chunks is `collapse`. `others` are the queries of the run that are not
    judged. With `private`, queries have the names that `hidden` gives them.
    """

    name: str
    qrels: Qrels
    lists: Mapping[Protocol, Columns]
    same: Mapping[str, Any] = field(default_factory=dict)
    collapse: str = "none"
    others: tuple[str, ...] = ()
    unscored: int = 0
    remarks: tuple[Remark, ...] = ()
    private: bool = False

    @property
    def queries(self) -> Collection[str]:
        """The queries of the run that are not judged."""
        return self.others

    def held(self) -> StoredPlacements:
        """Return the placements themselves: they are in memory."""
        return self

    def has_no_documents(self) -> NoDocuments:
        """Say that what was asked for needs documents."""
        message = f"{self.name} is a bundle: it holds the places of judged documents, and no others"
        return NoDocuments(message, "give the run itself")

    def rows(self) -> Rows:
        """Refuse: there are none."""
        raise self.has_no_documents()

    def some(self, queries: Collection[str]) -> Rows:
        """Refuse: there are none."""
        raise self.has_no_documents()

    def ranked(self, request: Any) -> NoReturn:
        """Refuse: there is nothing to rank."""
        raise self.has_no_documents()

    def in_run(self, qrels: Qrels) -> Bools:
        """Mark the judged queries that the run has."""
        return next(iter(self.lists.values()))["in_run"]  # type: ignore[no-any-return]

    def columns(self, qrels: Qrels, ordering: Protocol, some: Bools | None = None) -> Columns:
        """Return the columns of `Placements`, or refuse rules that they were not made with."""
        key = self._key(ordering)
        if self.collapse != ordering.collapse or key not in self.lists:
            raise self._refusal(ordering, key)
        return self.lists[key]

    def _key(self, ordering: Protocol) -> Protocol:
        """Find the rules under which the lists of an ordering are kept."""
        return plain(replace(ordering, **self.same))

    def _refusal(self, ordering: Protocol, key: Protocol) -> UsageError:
        """Say which rule the lists were not made with."""
        asked = {**key.written(), "collapse": ordering.collapse}
        kept = [{**one.written(), "collapse": self.collapse} for one in self.lists]
        kept = [one for one in kept if one["order"] == asked["order"]] or kept
        axis = next((a for a in asked if all(one[a] != asked[a] for one in kept)), "ties")
        held = dict.fromkeys(text(one[axis]) for one in kept)
        message = f"{self.name} is a bundle of lists with {axis}={' or '.join(held)}"
        hint = f"use the run itself, or a bundle made with --set {axis}={text(asked[axis])}"
        return UsageError(f"{message}, not {axis}={text(asked[axis])}", hint)

    def under(self, qrels: Qrels) -> StoredPlacements:
        """Return the same for the judgments themselves, or for some of the queries.

        They must be those that the lists were made with.
        """
        if qrels is self.qrels:
            return self
        whole = self._scaled(qrels.whole or qrels)
        if not len(whole):  # as where lists are asked for whatever was judged
            raise self.has_no_documents()
        if whole.hash != self.qrels.hash:
            message = f"{self.name} was made with other judgments than {qrels.name}"
            hint = "give those judgments, or the bundle alone"
            raise UsageError(f"{message}: {self.qrels.hash}, not {whole.hash}", hint)
        to = self._places(qrels, whole)
        self._check_grades(qrels, to)
        if qrels.queries == self.qrels.queries:
            return replace(self, qrels=qrels)
        lists = {
            one: moved([Part(columns, self.qrels.starts, to)], qrels.starts)
            for one, columns in self.lists.items()
        }
        return replace(self, qrels=qrels, lists=lists)

    def _scaled(self, whole: Qrels) -> Qrels:
        """Return judgments on the scale that the lists were made with: no list depends on it."""
        same = whole.stated or whole.scale == self.qrels.scale
        return whole if same else replace(whole, scale=self.qrels.scale)

    def _places(self, qrels: Qrels, whole: Qrels) -> Ints:
        """Find each query of the lists among others, of judgments that are `whole`; -1 if gone."""
        if self.private and whole.stated and self.qrels.queries != whole.queries:
            message = f"{self.name} hides its queries, and {whole.name} does not"
            raise UsageError(f"{message}: nobody can tell which is which", "give the judgments")
        hides = self.private and not whole.stated  # these judgments have their own names
        names = [hidden(q, whole.digest) for q in qrels.queries] if hides else qrels.queries
        place = {name: i for i, name in enumerate(names)}
        return np.array([place.get(query, -1) for query in self.qrels.queries], dtype=np.int64)

    def _check_grades(self, qrels: Qrels, to: Ints) -> None:
        """Refuse lists that say they are of these judgments, and have others."""
        own = np.flatnonzero(to >= 0)
        own = own[np.argsort(to[own])]
        kept = [np.arange(*self.qrels.starts[i : i + 2]) for i in own.tolist()]
        grades = self.qrels.grades[np.concatenate([np.zeros(0, np.int64), *kept])]
        sizes = np.diff(self.qrels.starts)[own]
        if not np.array_equal(sizes, np.diff(qrels.starts)) or not np.array_equal(
            grades, qrels.grades
        ):
            message = f"{self.name} says that it was made with {qrels.name}, and was not"
            raise UsageError(f"{message}: grades differ", "make it anew, or ask who made it")

    def listing(self, protocol: Protocol, queries: Iterable[str]) -> dict[str, Ranking]:
        """Return the lists of some judged queries: unjudged documents are named by their rank."""
        columns = self.columns(self.qrels, protocol.ordering)
        place = {query: i for i, query in enumerate(self.qrels.queries)}
        limit = protocol.depth if isinstance(protocol.depth, int) else None
        asked = [query for query in queries if query in place]
        return {
            q: self._list(columns, place[q], limit) for q in asked if columns["in_run"][place[q]]
        }

    def _list(self, columns: Columns, query: int, limit: int | None) -> Ranking:
        begin, end = np.searchsorted(columns["query"], [query, query + 1]).tolist()
        own = slice(begin, end)
        length = int(columns["retrieved"][query])
        documents = [f"unjudged:{rank}" for rank in range(1, length + 1)]
        first, last, scores = (
            np.arange(1, length + 1),
            np.arange(1, length + 1),
            np.full(length, np.nan),
        )
        found = (
            columns[name][own].tolist() for name in ("rank", "first", "last", "score", "judgment")
        )
        for rank, a, b, score, judgment in zip(*found, strict=True):
            documents[rank - 1] = self.qrels.documents[judgment]
            tie = slice(a - 1, b)
            first[tie], last[tie], scores[tie] = a, b, score
        return Ranking(
            documents[:limit], scores[:limit], first[:limit], last[:limit],
            int(columns["duplicates"][query]), int(columns["merged"][query]),
            bool(columns["float32"][query]),
        )  # fmt: skip


def has_documents(run: Run) -> bool:
    """Whether a run is more than places of judged documents."""
    return not isinstance(run.source, StoredPlacements)


def plain(ordering: Protocol) -> Protocol:
    """Leave out the rules that do not matter in this order, and what merges chunks."""
    return replace(ordering, collapse="none", mapping={}, **IDLE[ordering.order])
