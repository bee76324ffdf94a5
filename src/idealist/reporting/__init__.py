"""Reporting: all that the verbs find about some runs, computed once, on one page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from idealist.conventions import DEFAULT, Convention
from idealist.data import Queries
from idealist.errors import UsageError
from idealist.formats import read_queries
from idealist.reporting import stages
from idealist.reporting.computing import compute
from idealist.reporting.notes import notes_of
from idealist.reporting.provenance import Provenance
from idealist.reporting.query_lists import lists_of, untold
from idealist.reporting.query_rows import QueryRows
from idealist.reporting.report_result import Report

__all__ = ["Report", "report"]

#: How many of the queries that changed most have their lists shown, unless told.
TOP = 30


def report(
    qrels: Any,
    runs: Any,
    measures: Any = None,
    *,
    baseline: str | int | None = None,
    queries: Iterable[Any] | None = None,
    texts: Any = None,
    docs: Any = None,
    slices: str | Mapping[Any, Any] | None = None,
    title: str = "",
    notes: str = "",
    top: int = TOP,
    full: bool = False,
    latency: bool = False,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Report:
    """Report on one run, two or many: evaluated, compared, audited and diagnosed, on one page.

    `runs` is one run, several in a list, or by name; the others are compared with the `baseline`,
    the first unless told. `queries` restricts the judgments to some queries, `texts` are their
    texts, and `docs` those of the documents. `slices` is {query: slice}, or a column of `texts`.
    `notes` are the author's, in plain Markdown. Both lists are shown of the `top` queries that
    changed most and of a third as many that are worst, or of all (`full`). With `latency`, how long
    queries took stands beside the values, of runs that were collected. The rest is as in
    `evaluate`; without measures, each part has its usual ones.

    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": dict.fromkeys(qrels, ["x", "a"]), "new": dict.fromkeys(qrels, ["a"])}
    >>> found = report(qrels, runs, "RR")
    >>> found.summary[:70]
    'new is better than old: its mean RR over 8 queries is 1.0000, against '
    >>> found.save("report.html")  # doctest: +SKIP
    """
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise UsageError(f"top={top!r} is no number of queries", "give a whole number from 0 on")
    known = None if texts is None else read_queries(texts)
    column, parts = _slices(slices, known)
    found = compute(
        qrels, runs, measures, baseline=baseline, queries=queries, texts=known,
        slices=parts, latency=latency, convention=convention, **axes,
    )  # fmt: skip
    stages.enter("setting lists side by side")
    rows = QueryRows.of(found)
    lists = lists_of(found, rows.chosen(top, full), docs)
    said = {one.row.number: one.said for one in lists}
    rows = replace(
        rows, rows=tuple(replace(row, changed=said.get(row.number, "")) for row in rows.rows)
    )
    explained = lists[0].row.query if lists else ""
    made = Provenance.of(found, docs, column, explained, measures is not None)
    return Report(
        title or _title(found.runs), found, rows, tuple(lists), notes_of(notes), made,
        untold(lists, docs),
    )  # fmt: skip


def _slices(given: str | Mapping[Any, Any] | None, texts: Queries | None) -> tuple[str, Any]:
    """Return the column of the slices, if one is named, and the slices."""
    if not isinstance(given, str):
        return "", given
    if texts is None or given not in texts.columns:
        known = ", ".join(texts.columns) if texts else ""
        hint = f"it has {known}" if known else "give texts with such a column, or {query: slice}"
        raise UsageError(f"there is no column {given!r} of the queries", hint)
    return given, texts.column(given)


def _title(runs: list[str]) -> str:
    """Name the report after its runs."""
    if len(runs) == 1:
        return runs[0]
    return " and ".join(runs) if len(runs) == 2 else f"{len(runs)} runs"
