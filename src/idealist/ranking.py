"""Ranking: a run ordered under a protocol and joined to judgments.

`rank` is the one heavy function of the system; here it is defined in plain Python over NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.errors import Faults
from idealist.order import Ranking, order
from idealist.placements import Placements
from idealist.protocol import Protocol
from idealist.tables import Qrels, Rows, Run
from idealist.tables.columns import Floats, Ints


def rank(qrels: Qrels, run: Run, protocols: Iterable[Protocol]) -> dict[Protocol, Placements]:
    """Find the judged documents of a run under each protocol; the run is read once.

    >>> from idealist.formats import read_qrels, read_run
    >>> qrels = read_qrels({"q1": {"d1": 2, "d2": 0, "d9": 1}})
    >>> run = read_run({"q1": {"d2": 0.3, "u": 0.2, "d1": 0.1}})
    >>> found = rank(qrels, run, [Protocol()])[Protocol()]
    >>> found.rank.tolist(), found.grade.tolist(), found.retrieved.tolist()
    ([1, 3], [0.0, 2.0], [3])
    """
    rows = run.rows()
    return {protocol: _placed(qrels, rows, protocol) for protocol in protocols}


def listing(
    run: Run, protocol: Protocol, queries: Iterable[str], depth: int | None = None
) -> dict[str, Ranking]:
    """Give the ranked documents themselves, judged or not, of some queries.

    Ties by grade (worst, best, expected) need judgments and are in the order of `docid-desc` here.
    `depth` is in place of the protocol's.
    """
    rows = run.rows()
    spans, faults = rows.spans(), Faults(rows.name)
    protocol = protocol if depth is None else replace(protocol, depth="none")
    rankings = {q: order(rows, spans[q], q, protocol, faults) for q in queries if q in spans}
    faults.check()
    limit = depth or (protocol.depth if isinstance(protocol.depth, int) else None)
    return {query: _first(ranking, limit) for query, ranking in rankings.items()}


def _first(ranking: Ranking, depth: int | None) -> Ranking:
    names = ("documents", "scores", "first", "last")
    return replace(ranking, **{name: getattr(ranking, name)[:depth] for name in names})


def _placed(qrels: Qrels, rows: Rows, protocol: Protocol) -> Placements:
    judged = qrels.cast(protocol.grades)
    _check_queries(judged, rows, protocol)
    spans, faults = rows.spans(), Faults(rows.name)
    rankings = {
        index: order(rows, spans[query], query, protocol, faults)
        for index, query in enumerate(judged.queries)
        if query in spans
    }
    faults.check()
    unknown = tuple(sorted(spans.keys() - judged.lookup.keys() - judged.left_out))
    placements = Placements(judged, protocol, unknown=unknown, **_columns(judged, rankings))
    if protocol.ties in ("best", "worst"):
        placements = placements.retied(protocol.ties)
    return limited(placements, protocol)


def limited(placements: Placements, protocol: Protocol) -> Placements:
    """Leave out what a protocol does not look at: below the depth, negative, unjudged."""
    if isinstance(protocol.depth, int):
        placements = placements.cut(protocol.depth)
    if protocol.negative == "error":
        _check_grades(placements)
    if protocol.negative == "drop":
        placements = placements.without_negative()
    return placements.condensed() if protocol.unjudged == "drop" else placements


def _columns(qrels: Qrels, rankings: Mapping[int, Ranking]) -> dict[str, Any]:
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
    names = ("query", "rank", "first", "last", "score", "judgment")
    joined = [np.concatenate(column) for column in zip(*found, strict=True)] or (
        [np.zeros(0, np.float64 if name == "score" else np.int64) for name in names]
    )
    per_query = {
        "in_run": in_run, "empty": retrieved == 0, "retrieved": retrieved, "duplicates": duplicates,
        "merged": merged, "ties": ties, "float32": float32,
    }  # fmt: skip
    return per_query | dict(zip(names, joined, strict=True))


def _check_queries(qrels: Qrels, rows: Rows, protocol: Protocol) -> None:
    faults = Faults(rows.name)
    if protocol.unknown == "error":
        for query in sorted(set(rows.queries) - qrels.lookup.keys() - qrels.left_out):
            hint = "leave it out of the run, or use --set unknown=skip"
            faults.add("unknown-query", f"query {query!r} has no judgments", hint)
    if protocol.missing == "error":
        for query in sorted(qrels.lookup.keys() - set(rows.queries)):
            hint = "let it count with --set missing=zero, or leave it out with missing=skip"
            faults.add("missing-query", f"judged query {query!r} is not in the run", hint)
    faults.check()


def _check_grades(placements: Placements) -> None:
    """Refuse negative grades among the documents found."""
    qrels, faults = placements.qrels, Faults(placements.qrels.name)
    hint = "leave negatives to the measure with --set negative=allow, or take them out with drop"
    for i in np.flatnonzero(placements.grade < 0).tolist():
        query = qrels.queries[placements.query[i]]
        document = qrels.documents[placements.judgment[i]]
        grade = f"grade {placements.grade[i]:g} is negative"
        faults.add("negative-grade", f"query {query!r}, document {document!r}: {grade}", hint)
    faults.check()
