"""Doubts about queries: missing, unknown, without relevant documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from idealist.doubts.case import Case, few, many, prices
from idealist.evaluation import Doubt
from idealist.measures.judged import Count
from idealist.measuring import entering


def missing(case: Case) -> Iterator[Doubt]:
    """Look for judged queries that the run lacks."""
    gone = ~case.first.in_run
    if not gone.any():
        return
    queries = case.named(gone)
    counting = {
        label: one for label, one in case.instruments.items() if one.protocol.missing == "zero"
    }
    how = "as if nothing was retrieved" if counting else "which does not count"
    some = many(len(queries), "judged query is", "judged queries are")
    message = f"{some} not in the run, {how}"
    values = case.without(gone, counting)
    yield Doubt(
        "missing-queries",
        f"{message} ({few(queries)}){prices(values)}",
        len(queries),
        queries,
        values,
    )


def unknown(case: Case) -> Iterator[Doubt]:
    """Look for queries of the run without judgments."""
    queries = case.first.unknown
    if queries:
        some = many(len(queries), "query of the run has", "queries of the run have")
        message = f"{some} no judgments, which is ignored ({few(queries)})"
        yield Doubt("unknown-queries", message, len(queries), queries)


def no_relevant(case: Case) -> Iterator[Doubt]:
    """Look for queries whose value is a convention's word, not a measurement."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for label, instrument in case.instruments.items():
        if "no_relevant" not in instrument.measure.parameters() or isinstance(
            instrument.measure, Count
        ):
            continue
        unsettled = replace(instrument.measure, no_relevant="nan")  # type: ignore[call-arg]
        gaps = np.isnan(unsettled.values(case.placements(label))) & entering(case.placements(label))
        if gaps.any():
            found.setdefault(case.named(gaps), {}).update(case.without(gaps, {label: instrument}))
    for queries, values in found.items():
        some = many(len(queries), "query has", "queries have")
        message = f"{some} no relevant document ({few(queries)}){prices(values)}"
        yield Doubt("no-relevant", message, len(queries), queries, values)
