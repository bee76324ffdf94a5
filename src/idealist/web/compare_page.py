"""Runs compared: the verdict, how sure it is, and the queries behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from idealist.comparing import Comparison
from idealist.comparing.comparison_report import way
from idealist.errors import UsageError
from idealist.rendering.document import Block, Doubts, Drawing, Signatures, Text
from idealist.rendering.result import Result
from idealist.web import layout
from idealist.web.query_list import LISTED, WAYS, QueryList, comparable, query_list, shown_runs
from idealist.web.visit import Page, Visit


def page(visit: Visit) -> Page:
    """Compare the runs that are pinned, or all; one run is shown by itself."""
    state, workspace = visit.state, visit.workspace
    listed = query_list(visit)
    found = workspace.measured(state)
    shown = shown_runs(state, comparable(found, state))
    queries = workspace.queries
    filled: dict[str, Any] = {
        "listed": listed, "rows": listed.on_page(state.page), "ways": WAYS, "runs": shown,
        "columns": list(queries.columns) if queries else [], "first": _first(state.page),
        "others": [run for run in shown if run != listed.baseline],
        "told": any(row.text for row in listed.rows),
        "every": comparable(found, state),
        "unmet": [one.run for one in found.evaluations.runs if one.unmatched],
    }  # fmt: skip
    link = _link(visit)
    if not listed.baseline:
        alone = found.of(listed.run)
        spread = [*_drawn(alone, "spread", texts=queries)]
        filled |= {"verdict": alone.summary, "tone": "", "blocks": layout.blocks(spread, link)}
        return Page(listed.run, "compare.html", filled, alone.data, listed.table)
    compared = workspace.compared(state, shown)
    filled |= _parts(compared, listed, queries, link)
    title = f"{listed.run} against {listed.baseline}"
    return Page(title, "compare.html", filled, lambda: _data(compared, listed), listed.table)


def _parts(
    compared: Comparison, listed: QueryList, texts: Any, link: Callable[[str], str]
) -> dict[str, Any]:
    """Write the verdict, its figures, and the evidence that few read."""
    both = {"baseline": listed.baseline, "run": listed.run, "texts": texts}
    document, pair = compared.report(), compared.pair(listed.run)
    many = len(compared.evaluations) > 2
    rest = document.blocks if many else document.blocks[1:]
    figures: list[Block] = [*_drawn(compared, "forest")] if many else []
    pictured = [*_drawn(compared, "differences", **both), *_drawn(compared, "scatter", **both)]
    powered = [*_drawn(compared, "power")] if not many else []
    doubts: list[Block] = [Doubts(compared.doubts)] if compared.doubts else []
    signed = [one for one in document.notes if isinstance(one, Signatures | Text)]
    tone = {"better": "win", "worse": "loss"}.get(way(pair), "same")
    return {
        "verdict": pair.verdict, "tone": tone, "figures": layout.blocks(figures),
        "blocks": layout.blocks(pictured, link), "evidence": layout.blocks(rest),
        "power": layout.blocks(powered), "doubts": layout.blocks(doubts),
        "signed": layout.blocks(signed), "together": len(compared.evaluations),
    }  # fmt: skip


def _drawn(found: Result, kind: str, **options: Any) -> Iterator[Block]:
    """Draw a figure, where the data has one."""
    try:
        yield Drawing(found.figure(kind, **options))
    except UsageError as lacking:
        yield Text(f"No figure: {lacking.message}.")


def _link(visit: Visit) -> Callable[[str], str]:
    return lambda query: visit.state.address("/query", query=query) if query else ""


def _first(page: int) -> int:
    return (max(page, 1) - 1) * LISTED + 1


def _data(compared: Comparison, listed: QueryList) -> dict[str, Any]:
    """Return what ``compare -f json`` gives, and the list."""
    rows = [
        {"query": one.query, "baseline": one.before, "run": one.value, "difference": one.difference}
        for one in listed.rows
    ]
    return {
        **compared.data(),
        "queries": {"baseline": listed.baseline, "run": listed.run, "measure": listed.label,
                    "counts": dict(listed.counts), "rows": rows},
    }  # fmt: skip
