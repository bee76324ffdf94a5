"""Prices: what measures would be otherwise ranked, without some queries, rows or judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.auditing.audit_case import Case
from idealist.auditing.finding import Cost, price
from idealist.auditing.thresholds import PRICED_ROWS
from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Bools
from idealist.errors import IdealistError
from idealist.measures.instrument import measured
from idealist.ranking.ranked import rank


def otherwise(case: Case, run: str, **axes: Any) -> Cost:
    """Price another protocol for a run."""
    one, then = case.audited[run], {}
    other = {label: replace(mine.protocol, **axes) for label, mine in one.placed.items()}
    with suppress(IdealistError):  # what cannot be ranked has no price
        ranked = rank(case.qrels, one.run, other.values())
        for label, instrument in case.evaluator.instruments.items():
            if instrument.measure.judges:
                then[label] = measured(instrument, ranked[other[label]]).aggregate
    return _cost(case, run, then)


def without_queries(case: Case, run: str, gone: Bools) -> Cost:
    """Price some of the judged queries: what measures of a run would be over the others."""
    then = {}
    for label, instrument in case.evaluator.instruments.items():
        found = measured(instrument, case.audited[run].placed[label])
        left = found.counted & ~gone
        if instrument.measure.judges and left.any():
            then[label] = instrument.aggregate.of(found.values[left], case.named(left))
    return _cost(case, run, then)


def without_rows(case: Case, run: str, stays: Callable[[Rows], Bools]) -> Cost:
    """Price rows of a run; one with too many to read them again has no price."""
    one = case.audited[run]
    if one.whole.retrieved.sum() > PRICED_ROWS:
        return {}
    rows = one.run.rows()
    return _tried(case, run, Run(_some(rows, stays(rows)), run), case.qrels)


def rejudged(case: Case, run: str, qrels: Qrels) -> Cost:
    """Price other judgments."""
    return _tried(case, run, case.audited[run].run, qrels)


def all_runs(case: Case, priced: Callable[[str], Cost]) -> Cost:
    """Price something for every run."""
    return {run: own for name in case.audited for run, own in priced(name).items()}


def _tried(case: Case, run: str, other: Run, qrels: Qrels) -> Cost:
    with suppress(IdealistError):  # what cannot be measured has no price
        return _cost(case, run, case.tried(other, qrels).evaluation.aggregates)
    return {}


def _cost(case: Case, run: str, then: Mapping[str, float]) -> Cost:
    cost = price(case.audited[run].evaluation.aggregates, then)
    return {run: cost} if cost else {}


def _some(rows: Rows, stays: Bools) -> Rows:
    """Keep some rows; a query left without any stays."""
    index = np.flatnonzero(stays)
    names = ("scores", "ranks", "tokens", "lines")
    columns = {key: column[index] for key in names if (column := getattr(rows, key)) is not None}
    documents = [rows.documents[i] for i in index.tolist()]
    starts = np.searchsorted(index, rows.starts)
    return replace(rows, starts=starts, documents=documents, **columns)
