"""Doubts about queries: not matching, missing, unknown, without relevant documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from idealist.doubts.case import Case, few, prices, seen
from idealist.evaluation import Doubt
from idealist.notation import many
from idealist.ranking import listing, rank
from idealist.tables.columns import Bools


def nothing_matches(case: Case) -> Iterator[Doubt]:
    """Look for ids that never meet, which makes every value 0 for no reason of the system's."""
    first = case.first
    if not np.count_nonzero(first.in_run):
        some, other = few(case.qrels.queries), few(first.unknown)
        message = f"none of the judged queries ({some}) is in the run ({other}): do the ids match?"
        yield Doubt("nothing-matches", message, len(case.qrels.queries), case.qrels.queries)
    elif not len(first.query):
        yield from _no_document(case)


def _no_document(case: Case) -> Iterator[Doubt]:
    """Look past what the protocol leaves out before doubting the ids."""
    whole = replace(case.first.protocol, depth="none", unjudged="zero", negative="allow")
    placements = rank(case.qrels, case.run, [whole])[whole]
    if len(placements.query) or not placements.retrieved.any():
        return
    query = case.qrels.queries[int(np.argmax(placements.retrieved))]
    found = listing(case.run, whole, [query], depth=3)[query].documents
    judged = list(case.qrels.lookup[query])[:3]
    message = (
        f"no judged document was retrieved for any query (query {query}: judged are "
        f"{', '.join(map(seen, judged))}, retrieved {', '.join(map(seen, found))}): do the ids "
        "match?"
    )
    yield Doubt("nothing-matches", message, len(case.qrels.queries), case.qrels.queries)


def missing(case: Case) -> Iterator[Doubt]:
    """Look for judged queries that the run lacks."""
    gone = ~case.first.in_run
    if not np.count_nonzero(gone):
        return
    queries = case.named(gone)
    zero = [label for label, one in case.instruments.items() if one.protocol.missing == "zero"]
    how = "counted as an empty list" if zero else "left out"
    values = case.without(gone, zero)
    some = many(len(queries), "judged query is", "judged queries are")
    cost = prices("without it" if len(queries) == 1 else "without them", values)
    message = f"{some} not in the run, {how} ({few(queries)}){cost}"
    yield Doubt("missing-queries", message, len(queries), queries, values)


def unknown(case: Case) -> Iterator[Doubt]:
    """Look for queries without judgments, in the run or asked for."""
    asked = tuple(sorted(case.asked - case.qrels.known))
    for queries, where in ((case.first.unknown, "of the run"), (asked, "asked for")):
        if queries:
            some = many(len(queries), f"query {where} has", f"queries {where} have")
            message = f"{some} no judgments, left out ({few(queries)})"
            yield Doubt("unknown-queries", message, len(queries), queries)


def no_relevant(case: Case) -> Iterator[Doubt]:
    """Look for queries whose value is a convention's word, not a measurement."""
    found: dict[tuple[str, tuple[str, ...]], tuple[Bools, list[str]]] = {}
    for label, instrument in case.instruments.items():
        gaps = case.measured[label].gaps & case.placed[label].counting
        if np.count_nonzero(gaps) and "no_relevant" in instrument.measure.parameters():
            key = instrument.measure.lacking, case.named(gaps)
            found.setdefault(key, (gaps, []))[1].append(label)
    for (what, queries), (gaps, labels) in found.items():
        values = case.without(gaps, labels)
        some = many(len(queries), "query has", "queries have")
        cost = prices("without it" if len(queries) == 1 else "without them", values)
        listed = any(case.instruments[label].measure.list_only for label in labels)
        where = " among those retrieved" if listed else ""
        message = f"{some} no {what}{where} ({few(queries)}){cost}"
        yield Doubt("no-relevant", message, len(queries), queries, values)
