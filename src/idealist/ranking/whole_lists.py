"""Whole lists: all documents of a query in order, the judged ones and those between them.

Placements say where the judged documents are, after everything the protocol does; the unjudged ones
fill the other ranks in the order of the run. Which unjudged ones these are is undecided if a depth
cuts a tie that is ordered by grades.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from idealist.data import Run
from idealist.protocol import Protocol
from idealist.ranking.document_lists import ALL, decoded
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked, listing, rank
from idealist.ranking.stored_placements import StoredPlacements

#: Documents in order, with their scores.
Listed = list[tuple[str, float]]


def judged_documents(placements: Placements, index: int) -> dict[str, tuple[int, float]]:
    """Return the rank and grade of each judged document found for a query, in order."""
    begin, end = placements.starts[index : index + 2].tolist()
    documents = (placements.qrels.documents[i] for i in placements.judgment[begin:end])
    ranks, grades = placements.rank[begin:end].tolist(), placements.grade[begin:end].tolist()
    return dict(zip(documents, zip(ranks, grades, strict=True), strict=True))


def listed_documents(
    run: Run, placements: Placements, indices: Collection[int]
) -> dict[int, Listed]:
    """Return the lists of some queries with the scores; one pass over the run finds all of them."""
    queries, protocol = placements.qrels.queries, placements.protocol
    whole = replace(protocol, depth="none") if protocol.budget is None else protocol
    source, asked = run.source, [queries[index] for index in indices]
    if isinstance(source, StoredPlacements):  # which names the others by their ranks
        rankings = source.listing(whole, asked)
    else:
        rankings = listing(run, whole, asked)
    found: dict[int, Listed] = {index: [] for index in indices}
    for index in indices:
        if ranking := rankings.get(queries[index]):
            known = placements.qrels.lookup[queries[index]]
            others = (name for name in ranking.documents if name not in known)
            scores = dict(zip(ranking.documents, ranking.scores.tolist(), strict=True))
            found[index] = [(one, scores[one]) for one in _filled(placements, index, others)]
    return found


def whole_lists(
    ranked: Ranked, protocol: Protocol, queries: Collection[str]
) -> Iterator[list[str]]:
    """Generate the lists of some judged queries; one pass over the run finds all of them.

    >>> from idealist.formats import read_qrels, read_run
    >>> ranked = Ranked(read_qrels({"q1": {"d1": 2}}), read_run({"q1": ["d3", "d1", "d2"]}))
    >>> list(whole_lists(ranked, Protocol(), ["q1"]))
    [['d3', 'd1', 'd2']]
    """
    if isinstance(source := ranked.run.source, StoredPlacements):
        raise source.has_no_documents()
    placements, some = ranked[protocol], ranked.qrels.only(set(queries))
    names = rank(some, ranked.held, [protocol], {protocol: ALL})[protocol].names
    place = {query: i for i, query in enumerate(placements.qrels.queries)}
    found = {query: i for i, query in enumerate(some.queries)}
    for query in queries:
        unjudged = map(decoded, names.first(found[query], ALL))
        yield _filled(placements, place[query], unjudged)


def _filled(placements: Placements, index: int, unjudged: Iterable[str]) -> list[str]:
    """Put judged documents at their ranks among the unjudged ones."""
    documents = list(unjudged)
    for name, (place, _) in judged_documents(placements, index).items():
        documents.insert(place - 1, name)
    return documents[: int(placements.retrieved[index])]
