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
    how = "count as empty lists" if counting else "do not count"
    message = (
        f"{many(len(queries), 'judged query is', 'judged queries are')} not in the run and {how}"
    )
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
        message = (
            f"{many(len(queries), 'query of the run has', 'queries of the run have')} no judgments"
        )
        yield Doubt(
            "unknown-queries",
            f"{message} and are left out ({few(queries)})",
            len(queries),
            queries,
        )


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
