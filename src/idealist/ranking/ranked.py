"""Ranking: a run ordered under a protocol and joined to judgments.

`rank` is the one heavy function of the system. `order` and this module define what it does, in
plain Python over NumPy; the compiled kernel, where installed, does the same faster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import Faults, IdealistError, UsageError
from idealist.protocol import Protocol
from idealist.ranking.chunk_lists import Coverage, chunked, with_evidence
from idealist.ranking.compiled import Compiled, compiled
from idealist.ranking.document_lists import UNNAMED, DocumentLists
from idealist.ranking.order import Ranking, order
from idealist.ranking.place_columns import PER_PLACE, Columns, spliced
from idealist.ranking.placements import Placements
from idealist.ranking.stored_placements import StoredPlacements

#: No unjudged documents are named.
NOBODY: Mapping[Protocol, int] = {}


def rank(
    qrels: Qrels, run: Run, protocols: Iterable[Protocol], naming: Mapping[Protocol, int] = NOBODY
) -> dict[Protocol, Placements]:
    """Find the judged documents of a run under each protocol; the run is read once.

    `naming` says how many unjudged documents of each query are to be named, by protocol.

    >>> from idealist.formats import read_qrels, read_run
    >>> qrels = read_qrels({"q1": {"d1": 2, "d2": 0, "d9": 1}})
    >>> run = read_run({"q1": {"d2": 0.3, "u": 0.2, "d1": 0.1}})
    >>> found = rank(qrels, run, [Protocol()])[Protocol()]
    >>> found.rank.tolist(), found.grade.tolist(), found.retrieved.tolist()
    ([1, 3], [0.0, 2.0], [3])
    """
    return Ranked(qrels, run, naming).under(protocols)


class Ranked:
    """Judgments, a run, and its placements per protocol: whoever needs a ranking asks here.

    The run is read once for all protocols that are asked for together, and once more only for one
    that orders it by other rules. The other precision is looked at in passing: where scores differ
    in float64 alone, these queries are ranked in both. Rows are held in memory only where they
    cannot be ranked from the file. `naming` says how many unjudged documents of each query will be
    asked for by name, so that they are found when the run is first read.

    >>> from idealist.formats import read_qrels, read_run
    >>> ranked = Ranked(read_qrels({"q1": {"d1": 2}}), read_run({"q1": ["d3", "d1"]}))
    >>> ranked[Protocol()].rank.tolist(), ranked[Protocol()] is ranked[Protocol()]
    ([2], True)
    """

    def __init__(self, qrels: Qrels, run: Run, naming: Mapping[Protocol, int] = NOBODY) -> None:
        self.qrels, self.run, self._naming = qrels, run, naming
        if isinstance(run.source, StoredPlacements):
            self.run = Run(run.source.under(qrels), run.name)
        elif qrels.stated:
            hint = "give the judgments themselves"
            message = f"{qrels.name} is a bundle, whose documents have no names"
            raise UsageError(f"{message}: {run.name} cannot be ranked with its judgments", hint)
        else:
            self.run = chunked(run, qrels)
        self._held: Run | None = None
        self._placed: dict[Protocol, Placements] = {}
        self._found: dict[Protocol, Compiled | Defined | StoredPlacements] = {}
        self._beside: dict[Protocol, Protocol] = {}
        self._columns: dict[Protocol, Columns] = {}

    def __repr__(self) -> str:
        return f"<Ranked {self.run.name}: {len(self._placed)} protocols over {self.qrels!r}>"

    def __getitem__(self, protocol: Protocol) -> Placements:
        return self.under([protocol])[protocol]

    def under(self, protocols: Iterable[Protocol]) -> dict[Protocol, Placements]:
        """Return the placements under each protocol, ranking once under those that are new."""
        asked = dict.fromkeys(protocols)
        if new := [protocol for protocol in asked if protocol not in self._placed]:
            self._order(new)
            self._placed |= {protocol: self._place(protocol) for protocol in new}
        return {protocol: self._placed[protocol] for protocol in asked}

    def names(self, protocol: Protocol, most: int) -> DocumentLists:
        """Return the names of each query's first unjudged documents, `most` at least.

        Those that `naming` did not announce are found by ranking again, and not kept.
        """
        known = self[protocol].names
        if known.most >= most:
            return known
        if isinstance(source := self.run.source, StoredPlacements):
            raise source.has_no_documents()
        return rank(self.qrels, self.held, [protocol], {protocol: most})[protocol].names

    def forget(self) -> None:
        """Let go of rows in memory; they are read again if they are needed."""
        self._held = None
        for known in (self._found, self._beside, self._columns):
            known.clear()

    def _order(self, protocols: Iterable[Protocol]) -> None:
        """Order the run by all rules that are new, in one pass."""
        wanted = dict.fromkeys(protocol.ordering for protocol in protocols)
        new: dict[Protocol, Protocol | None] = dict.fromkeys(
            ordering for ordering in wanted if ordering not in self._found
        )
        if not new:
            return
        if isinstance(source := self.run.source, StoredPlacements):
            self._found |= dict.fromkeys(new, source)
            return
        for ordering in list(new):
            other = ordering.other_precision
            if other and other not in self._found:
                new.setdefault(other, ordering)
        most = self._most
        found: Compiled | Defined | None = compiled(self.qrels, self.held.source, new, most)
        if found is None:
            rows = self.held.rows()
            found = compiled(self.qrels, rows, new, most) or Defined(rows)
        self._found |= {one: found for one, beside in new.items() if beside is None}

    def ordered(self, protocol: Protocol) -> Columns:
        """Return the columns of `Placements` before anything is left out."""
        self._order([protocol])
        return self._ordered(protocol.ordering)

    def _ordered(self, ordering: Protocol) -> Columns:
        """Return the columns of `Placements` before anything is left out; raise faults."""
        if ordering in self._columns:
            return self._columns[ordering]
        found, beside = self._found[ordering], self._beside.get(ordering)
        if beside is None:
            columns = found.columns(self.qrels, ordering)
        else:
            columns = self._ordered(beside)
            close = columns["float32"]
            if ordering.precision != beside.precision and close.any():
                columns = spliced(columns, found.columns(self.qrels, ordering, close), close)
        self._columns[ordering] = columns
        if self.qrels.cover:  # what is covered belongs to one order of the chunks
            return columns
        for other in (ordering.lenient, ordering.other_precision):
            if other and other not in self._found:
                self._found[other], self._beside[other] = found, ordering
        return columns

    @cached_property
    def _most(self) -> dict[Protocol, int]:
        """How many unjudged documents are named under each ordering."""
        most: dict[Protocol, int] = {}
        for protocol, count in self._naming.items():
            most[protocol.ordering] = max(count, most.get(protocol.ordering, 0))
        return most

    def _named(self, protocol: Protocol) -> DocumentLists:
        ordering = protocol.ordering
        most, found = self._most.get(ordering, 0), self._found[ordering]
        if isinstance(found, StoredPlacements):
            return UNNAMED
        if most and protocol.grades == "nonzero":  # then more documents are unjudged
            kept = replace(protocol, grades="keep")
            return rank(self.qrels.nonzero, self.held, [kept], {kept: most})[kept].names
        if not most or ordering in self._beside:
            return UNNAMED
        return found.names(self.qrels, ordering, most)

    def _place(self, protocol: Protocol) -> Placements:
        qrels, ordering = self.qrels.cast(protocol.grades), protocol.ordering
        found = self._found[ordering]
        unknown = tuple(sorted(set(found.queries) - qrels.known - qrels.left_out))
        _check_queries(qrels, found.in_run(qrels), unknown, Faults(found.name), protocol)
        columns = self._ordered(ordering)
        if protocol.grades == "nonzero":
            columns = _without_zeros(columns, self.qrels)
        placements = Placements(
            qrels, protocol, unknown=unknown, unscored=found.unscored, names=self._named(protocol),
            **columns,
        )  # fmt: skip
        if protocol.ties == "expected":
            placements.check_order(protocol.ties)
        if protocol.ties in ("best", "worst"):
            placements = placements.retied(protocol.ties)
        return limited(placements, protocol)

    def tried(self, protocols: Iterable[Protocol]) -> dict[Protocol, Placements | IdealistError]:
        """Return the placements under each protocol, or why it refuses the run."""
        asked = list(protocols)
        with suppress(IdealistError):  # usually none refuses, and the run is read once
            return {**self.under(asked)}
        found: dict[Protocol, Placements | IdealistError] = {}
        for protocol in asked:
            try:
                found[protocol] = self[protocol]
            except IdealistError as error:
                found[protocol] = error
        return found

    @property
    def held(self) -> Run:
        """The run in a form that can be ranked or listed again without parsing it in Python."""
        if self._held is None:
            self._held = self.run.held()
        return self._held


def listing(
    run: Run, protocol: Protocol, queries: Iterable[str], depth: int | None = None
) -> dict[str, Ranking]:
    """Return the ranked documents of some queries, judged or not.

    Ties by grade (worst, best, expected) need judgments; here they are ordered as `docid-desc`.
    `depth` replaces the protocol's.
    """
    queries = list(queries)
    rows = run.source.some(queries)
    spans, faults = rows.spans(), Faults(rows.name)
    protocol = protocol if depth is None else replace(protocol, depth="none")
    rankings = {q: _list(rows, spans[q], q, protocol, faults) for q in queries if q in spans}
    faults.check()
    limit = depth or (protocol.depth if isinstance(protocol.depth, int) else None)
    return {query: _first(ranking, limit) for query, ranking in rankings.items()}


def _list(rows: Rows, span: slice, query: str, protocol: Protocol, faults: Faults) -> Ranking:
    """Order the documents of a query, or the evidence that its chunks find."""
    ranking = order(rows, span, query, protocol, faults)
    return ranking if rows.evidence is None else with_evidence(ranking, query, rows.evidence)


def _first(ranking: Ranking, depth: int | None) -> Ranking:
    names = ("documents", "scores", "first", "last")
    return replace(ranking, **{name: getattr(ranking, name)[:depth] for name in names})


@dataclass(frozen=True)
class Defined:
    """A run's rows, ranked by the Python definition; `Compiled` does the same, but faster."""

    rows: Rows

    @property
    def name(self) -> str:
        """What errors call the run."""
        return self.rows.name

    @property
    def unscored(self) -> int:
        """How many rows came without a score."""
        return self.rows.unscored

    @cached_property
    def spans(self) -> dict[str, slice]:
        """The rows of each query."""
        return self.rows.spans()

    @property
    def queries(self) -> Collection[str]:
        """The queries of the run."""
        return self.spans.keys()

    def in_run(self, qrels: Qrels) -> Bools:
        """Mark the judged queries that the run has."""
        return np.array([query in self.spans for query in qrels.queries], dtype=bool)

    def columns(self, qrels: Qrels, ordering: Protocol, some: Bools | None = None) -> Columns:
        """Return the columns of `Placements`; raise what is wrong with the rows.

        `some` marks queries if only these are asked for.
        """
        rankings = self._rankings(qrels, ordering, some)
        columns = _columns(qrels, rankings)
        if self.rows.evidence is not None:
            columns["coverage"] = Coverage.of(rankings.items(), len(qrels.queries))
        return columns

    def names(self, qrels: Qrels, ordering: Protocol, most: int) -> DocumentLists:
        """Return the names of each query's first unjudged documents."""
        rankings = self._rankings(qrels, ordering)
        return DocumentLists.of(
            (
                _unjudged(rankings[i], qrels.lookup[query]) if i in rankings else ([], np.zeros(0))
                for i, query in enumerate(qrels.queries)
            ),
            most,
        )

    def _rankings(
        self, qrels: Qrels, ordering: Protocol, some: Bools | None = None
    ) -> dict[int, Ranking]:
        faults = Faults(self.name)
        rankings = {
            index: _list(self.rows, self.spans[query], query, ordering, faults)
            for index, query in enumerate(qrels.queries)
            if query in self.spans and (some is None or some[index])
        }
        faults.check()
        return rankings


def _unjudged(ranking: Ranking, known: Mapping[str, int]) -> tuple[list[str], Floats]:
    """Return the documents of a list that are not judged, with their scores."""
    kept = [i for i, document in enumerate(ranking.documents) if document not in known]
    return [ranking.documents[i] for i in kept], ranking.scores[kept]


def _without_zeros(columns: Columns, qrels: Qrels) -> Columns:
    """Leave out the places of judgments that `Qrels.nonzero` does not have."""
    kept = qrels.truncated.grades != 0
    found = kept[columns["judgment"]]
    places = {name: columns[name][found] for name in PER_PLACE}
    return columns | places | {"judgment": (np.cumsum(kept) - 1)[places["judgment"]]}


def limited(placements: Placements, protocol: Protocol) -> Placements:
    """Leave out what a protocol ignores: documents below the depth, negative, unjudged."""
    if isinstance(protocol.depth, int):
        placements = placements.cut(protocol.depth)
    if protocol.negative == "error":
        _check_grades(placements)
    if protocol.negative == "drop":
        placements = placements.without_negative()
    return placements.condensed() if protocol.unjudged == "drop" else placements


def _columns(qrels: Qrels, rankings: Mapping[int, Ranking]) -> Columns:
    """Join the rankings to the judgments, as the columns of `Placements`."""
    size = len(qrels.queries)
    retrieved, duplicates, merged = (np.zeros(size, dtype=np.int64) for _ in range(3))
    in_run, ties, float32 = (np.zeros(size, dtype=bool) for _ in range(3))
    found: list[tuple[Ints, Ints, Ints, Ints, Floats, Ints]] = []
    for query, ranking in rankings.items():
        index = qrels.lookup[qrels.queries[query]]
        judgment = np.array([index.get(d, -1) for d in ranking.documents], dtype=np.int64)
        place = np.flatnonzero(judgment >= 0)
        in_run[query], retrieved[query] = True, len(ranking.documents)
        duplicates[query], merged[query] = ranking.duplicates, ranking.merged
        ties[query], float32[query] = ranking.tied, ranking.float32
        found.append((
            np.full(len(place), query), place + 1, ranking.first[place], ranking.last[place],
            ranking.scores[place], judgment[place],
        ))  # fmt: skip
    joined = [np.concatenate(column) for column in zip(*found, strict=True)] or (
        [np.zeros(0, np.float64 if name == "score" else np.int64) for name in PER_PLACE]
    )
    per_query = {
        "in_run": in_run, "empty": retrieved == 0, "retrieved": retrieved, "duplicates": duplicates,
        "merged": merged, "ties": ties, "float32": float32,
    }  # fmt: skip
    return per_query | dict(zip(PER_PLACE, joined, strict=True))


def _check_queries(
    qrels: Qrels, in_run: Bools, unknown: Iterable[str], faults: Faults, rules: Protocol
) -> None:
    if rules.unknown == "error":
        for query in unknown:
            hint = "remove it from the run, or use --set unknown=skip"
            faults.add("unknown-query", f"query {query!r} has no judgments", hint)
    if rules.missing == "error":
        for query in sorted(compress(qrels.queries, ~in_run)):
            hint = "count it as 0 with --set missing=zero, or leave it out with missing=skip"
            faults.add("missing-query", f"judged query {query!r} is not in the run", hint)
    faults.check()


def _check_grades(placements: Placements) -> None:
    """Refuse negative grades among the documents found."""
    qrels, faults = placements.qrels, Faults(placements.qrels.name)
    hint = "pass negative grades to the measure with --set negative=allow, or remove them: drop"
    for i in np.flatnonzero(placements.grade < 0).tolist():
        query = qrels.queries[placements.query[i]]
        document = qrels.documents[placements.judgment[i]]
        grade = f"grade {placements.grade[i]:g} is negative"
        faults.add("negative-grade", f"query {query!r}, document {document!r}: {grade}", hint)
    faults.check()
