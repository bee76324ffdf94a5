"""One query's documents themselves: those of its list, and the judged ones among them."""

from __future__ import annotations

from dataclasses import replace

from idealist.placements import Placements
from idealist.ranking import listing
from idealist.tables import Run


def judged_documents(placements: Placements, index: int) -> dict[str, tuple[int, float]]:
    """Give the rank and grade of each judged document found for a query, in their order."""
    begin, end = placements.starts[index : index + 2].tolist()
    documents = (placements.qrels.documents[i] for i in placements.judgment[begin:end])
    ranks, grades = placements.rank[begin:end].tolist(), placements.grade[begin:end].tolist()
    return dict(zip(documents, zip(ranks, grades, strict=True), strict=True))


def listed_documents(run: Run, placements: Placements, index: int) -> list[tuple[str, float]]:
    """Give all documents of a query's list in order, with their scores.

    Placements say where the judged ones stand, after all that the protocol does; the unjudged ones
    come between in the order of the run. Which unjudged ones these are is not decided where a depth
    cuts a tie whose order is that of grades.
    """
    query, protocol = placements.qrels.queries[index], placements.protocol
    whole = replace(protocol, depth="none") if protocol.budget is None else protocol
    ranking = listing(run, whole, [query]).get(query)
    if ranking is None:
        return []
    known = placements.qrels.lookup[query]
    judged = {rank: name for name, (rank, _) in judged_documents(placements, index).items()}
    others = (name for name in ranking.documents if name not in known)
    ranks = range(1, int(placements.retrieved[index]) + 1)
    order = [judged[rank] if rank in judged else next(others) for rank in ranks]
    scores = dict(zip(ranking.documents, ranking.scores.tolist(), strict=True))
    return [(name, scores[name]) for name in order]
